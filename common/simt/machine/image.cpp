// Textures and surfaces (PTX ISA 9.7.10 and 9.7.11; how texels are chosen and filtered: CUDA C++ Programming Guide,
// "Texture Fetching").
#include "common/simt/machine/image.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <span>

#include "common/simt/machine/decode.hpp"
#include "common/simt/machine/grid.hpp"
#include "common/simt/machine/rounding.hpp"
#include "common/simt/machine/services.hpp"

namespace simt::machine {
namespace {

using ptx::Operand;
using ptx::Type;
using Values = Image::Values;
using Outside = Image::Outside;

// A texel's channels: bits as they lie there, or numbers.
struct Texel {
  std::array<std::uint32_t, 4> bits{};
};
using Numbers = std::array<double, 4>;

constexpr std::int64_t kOutside = -1;

// The texel that an index along an axis means; kOutside: the border's colour.
std::int64_t inside(std::int64_t index, std::int64_t count, Outside how) {
  if (index >= 0 && index < count) return index;
  switch (how) {
    case Outside::wrap:
      return (index % count + count) % count;
    case Outside::mirror: {
      const std::int64_t in_period = (index % (2 * count) + 2 * count) % (2 * count);
      return in_period < count ? in_period : 2 * count - 1 - in_period;
    }
    case Outside::clamp:
      return index < 0 ? 0 : count - 1;
    default:
      return kOutside;
  }
}

Texel texel_of(const Image& image, const std::byte* at) {
  Texel texel;
  for (std::size_t i = 0; i < 4 && image.bits[i] != 0; ++i) {
    const int bits = image.bits[i];
    std::memcpy(&texel.bits[i], at, static_cast<std::size_t>(bits) / 8);
    at += bits / 8;
    if (image.values == Values::with_sign && bits < 32) {
      const int up = 32 - bits;
      texel.bits[i] =
          static_cast<std::uint32_t>(static_cast<std::int32_t>(texel.bits[i] << up) >> up);
    } else if (image.values == Values::floating && bits == 16) {
      texel.bits[i] = std::bit_cast<std::uint32_t>(widen<kF16>(texel.bits[i]));
    }
  }
  return texel;
}

// With a sign the least of all is less than -1, until it is given out.
double number_of(const Image& image, const Texel& texel, std::size_t channel) {
  const std::uint32_t bits = texel.bits[channel];
  if (image.values == Values::floating) return std::bit_cast<float>(bits);
  const int wide = image.bits[channel];
  if (wide == 0) return 0;
  if (image.values == Values::with_sign) {
    return static_cast<std::int32_t>(bits) / (std::ldexp(1.0, wide - 1) - 1);
  }
  const double value = bits / (std::ldexp(1.0, wide) - 1);
  if (!image.is_srgb || channel == 3) return value;
  return value <= 0.04045 ? value / 12.92 : std::pow((value + 0.055) / 1.055, 2.4);
}

// A point of an image: in texels along each axis, and which layer.
struct Point {
  std::array<float, 3> at{};
  std::uint32_t layer = 0;
};

// Along an axis the two texels between which a point lies, and how near it is to the second, in 256 parts.
struct Between {
  std::int64_t first;
  int part;
};
Between between(float at) {
  const auto fixed = static_cast<std::int64_t>(std::floor((double{at} - 0.5) * 256 + 0.5));
  return {fixed >> 8, static_cast<int>(fixed & 255)};
}

// Of each corner round a point how much it counts, of so many parts in all: an H200 splits them along z, then x, then y, and
// rounds the upper share to a whole number; along y, on the lower side of x, the lower one.
std::array<int, 8> weights_of(const std::array<Between, 3>& axes, int dimensions, int all) {
  const auto share = [](int whole, int part) { return (whole * part + 128) >> 8; };
  const int x_part = axes[0].part, y_part = dimensions > 1 ? axes[1].part : 0,
            z_part = dimensions > 2 ? axes[2].part : 0;
  std::array<int, 8> weights{};
  for (std::size_t z = 0; z < 2; ++z) {
    const int of_z = share(all, z_part), here = z != 0 ? of_z : all - of_z;
    for (std::size_t x = 0; x < 2; ++x) {
      const int of_x = share(here, x_part), both = x != 0 ? of_x : here - of_x;
      const int upper = x != 0 ? share(both, y_part) : both - share(both, 256 - y_part);
      weights[4 * z + x] = both - upper;
      weights[4 * z + 2 + x] = upper;
    }
  }
  return weights;
}

// To the nearest float; of two the one farther from zero.
double as_float(double value) {
  const auto nearest = static_cast<float>(value);
  const auto other = std::nextafter(nearest, static_cast<double>(nearest) < value
                                                 ? std::numeric_limits<float>::infinity()
                                                 : -std::numeric_limits<float>::infinity());
  const bool is_tie = value - static_cast<double>(nearest) == static_cast<double>(other) - value;
  return static_cast<double>(is_tie && std::abs(other) > std::abs(nearest) ? other : nearest);
}

// What a filter adds up: numbers, each as often as it counts of 256 parts.
class Addends {
 public:
  /// Those that are added from here on lie in another plane, or on another level.
  void open_plane() { first_[planes_++] = count_; }
  void add(int weight, const Numbers& numbers) { all_[count_++] = {weight, numbers}; }

  double sum(const Image& image, std::size_t channel) const {
    if (image.values == Values::floating) return sum_of_floats(image.bits[channel] == 16, channel);
    double sum = 0;
    for (const Addend& its : used()) sum += its.weight * its.numbers[channel];
    if (image.is_srgb) return sum / 256;
    if (image.values == Values::with_sign && image.bits[channel] == 8) {
      // An H200 adds up bytes, and makes of the sum a number of 16 bits.
      const auto bytes = static_cast<std::int64_t>(std::nearbyint(sum * 127));
      return static_cast<double>((129 * bytes + 64 + 16 * (bytes >> 12)) >> 7) / 32767;
    }
    const double most = image.values == Values::with_sign ? 32767 : 65535;
    // A sum is so many 256ths of such a number: what it lost as a fraction of 1 is less.
    return std::floor(sum / 256 * most + 0.5 + 1e-6) / most;
  }

 private:
  struct Addend {
    int weight;
    Numbers numbers;
  };
  std::span<const Addend> used() const { return {all_.data(), count_}; }
  std::span<const Addend> of_plane(std::size_t plane) const {
    const std::size_t end = plane + 1 < planes_ ? first_[plane + 1] : count_;
    return used().subspan(first_[plane], end - first_[plane]);
  }

  // An H200 adds up each plane; the sum of their sums is rounded, away from zero in the middle. (Where two planes are
  // nearly opposite it has a little less of them: two of 32,768 sums differed.)
  double sum_of_floats(bool is_half, std::size_t channel) const {
    double sum = 0;
    for (std::size_t plane = 0; plane < planes_; ++plane) {
      sum += sum_of_plane(of_plane(plane), is_half ? kF16.places : kF32.places, channel);
    }
    return is_half ? double{widen<kF16>(narrow<kF16>(sum, Rounding::away))} : as_float(sum);
  }
  // There they are brought to the greatest exponent, and cut off four places after the last of the one that has it.
  static double sum_of_plane(std::span<const Addend> addends, int places, std::size_t channel) {
    int greatest = std::numeric_limits<int>::min();
    double sum = 0;
    for (const Addend& its : addends) {
      const double number = its.numbers[channel];
      sum += its.weight * number;
      if (number != 0) greatest = std::max(greatest, std::ilogb(number));
    }
    if (sum == 0 || !std::isfinite(sum)) return sum;
    const int last = greatest - places - 4;
    sum = 0;
    for (const Addend& its : addends) {
      sum += its.weight * std::trunc(std::ldexp(its.numbers[channel], -last));
    }
    return std::ldexp(sum, last) / 256;
  }

  std::array<Addend, 16> all_;
  std::array<std::size_t, 4> first_;
  std::size_t count_ = 0, planes_ = 0;
};

// Visit is told of each texel that is read.
template <class Visit>
class Sampler {
 public:
  Sampler(const Image& image, const Image::Level& level, int dimensions, Visit read)
      : image_(image), level_(level), dimensions_(dimensions), read_(read) {}

  // From a coordinate as the instruction has it to texels.
  float in_texels(float coordinate, int axis) const {
    const float texels = image_.is_normalised
                             ? within_one(coordinate, axis) * static_cast<float>(count(axis))
                             : coordinate;
    // Far beyond any image all is the same, and fits into whole numbers.
    constexpr float kFar = 1 << 28;
    return std::isnan(texels) ? 0 : std::clamp(texels, -kFar, kFar);
  }

  Outside outside(int axis) const {
    const Outside how = image_.outside[static_cast<std::size_t>(axis)];
    if (image_.is_linear_memory) return Outside::border;
    return !image_.is_normalised && how < Outside::clamp ? Outside::clamp : how;
  }
  // Of an image that is repeated a coordinate of 0 to 1, as it is before it is scaled.
  float within_one(float coordinate, int axis) const {
    return outside(axis) == Outside::wrap ? coordinate - std::floor(coordinate) : coordinate;
  }
  // Before it is filtered a coordinate is kept between the middles of the outermost texels.
  float folded(float at, int axis) const {
    const float last = static_cast<float>(count(axis)) - 0.5f;
    return outside(axis) == Outside::clamp ? std::clamp(at, 0.5f, last) : at;
  }

  std::optional<Texel> texel(const std::array<std::int64_t, 3>& index, std::uint32_t layer) const {
    std::array<std::int64_t, 3> at{};
    for (int axis = 0; axis < dimensions_; ++axis) {
      const auto i = static_cast<std::size_t>(axis);
      at[i] = inside(index[i], count(axis), outside(axis));
      if (at[i] == kOutside) return std::nullopt;
    }
    const auto plane = static_cast<std::size_t>(dimensions_ == 3 ? at[2] : 0) + layer;
    const std::byte* const place = level_.texels + plane * level_.plane_bytes +
                                   static_cast<std::size_t>(at[1]) * level_.row_bytes +
                                   static_cast<std::size_t>(at[0]) * image_.texel_bytes();
    read_(place);
    return texel_of(image_, place);
  }
  std::optional<Texel> nearest(const Point& point) const {
    std::array<std::int64_t, 3> index{};
    for (std::size_t i = 0; i < 3; ++i) {
      index[i] = static_cast<std::int64_t>(std::floor(point.at[i]));
    }
    return texel(index, point.layer);
  }
  Numbers numbers(const std::optional<Texel>& texel) const {
    Numbers its{};
    for (std::size_t i = 0; i < 4; ++i) {
      its[i] = texel ? number_of(image_, *texel, i) : double{image_.border[i]};
    }
    return its;
  }
  // The texels round a point, or the nearest one, each as often as it counts of so many parts in all.
  void add(const Point& point, bool filters, int all, Addends& to) const {
    to.open_plane();
    if (!filters) return to.add(all, numbers(nearest(point)));
    std::array<Between, 3> axes{};
    for (int axis = 0; axis < dimensions_; ++axis) {
      const auto i = static_cast<std::size_t>(axis);
      axes[i] = between(folded(point.at[i], axis));
    }
    const std::array<int, 8> weights = weights_of(axes, dimensions_, all);
    for (std::size_t corner = 0; corner < 8; ++corner) {
      if (corner == 4) to.open_plane();
      if (weights[corner] == 0) continue;
      std::array<std::int64_t, 3> index{};
      for (std::size_t axis = 0; axis < static_cast<std::size_t>(dimensions_); ++axis) {
        index[axis] = axes[axis].first + static_cast<std::int64_t>(corner >> axis & 1);
      }
      to.add(weights[corner], numbers(texel(index, point.layer)));
    }
  }
  // One channel of the four texels round a point.
  std::array<std::optional<Texel>, 4> gathered(const Point& point) const {
    const std::int64_t x = between(point.at[0]).first, y = between(point.at[1]).first;
    return {texel({x, y + 1, 0}, point.layer), texel({x + 1, y + 1, 0}, point.layer),
            texel({x + 1, y, 0}, point.layer), texel({x, y, 0}, point.layer)};
  }

 private:
  std::int64_t count(int axis) const {
    return axis == 0 ? level_.width : axis == 1 ? level_.height : level_.depth;
  }

  const Image& image_;
  const Image::Level& level_;
  int dimensions_;
  Visit read_;
};

// Which face of a cube a direction meets, and where: from -1 to 1.
struct OnFace {
  std::uint32_t face;
  float s, t;
};
OnFace on_face(float x, float y, float z) {
  const float ax = std::fabs(x), ay = std::fabs(y), az = std::fabs(z);
  if (ax >= ay && ax >= az) return {x >= 0 ? 0u : 1u, (x >= 0 ? -z : z) / ax, -y / ax};
  if (ay >= az) return {y >= 0 ? 2u : 3u, x / ay, (y >= 0 ? z : -z) / ay};
  return {z >= 0 ? 4u : 5u, (z >= 0 ? x : -x) / az, -y / az};
}

template <class T>
T value_in(Warp& warp, std::uint32_t slot, std::size_t lane) {
  return warp.values<const T>(slot)[lane];
}

const Step* stop(const Step* step, Warp& warp, std::size_t lane, Service what) {
  warp.block->grid->services->call({what, warp, static_cast<int>(lane), step, {}});
  warp.block->cluster->is_ended = true;
  return nullptr;
}

const Image* image_of(Warp& warp, const ImageAccess& access, std::size_t lane) {
  const Images* const all = warp.block->grid->images;
  if (all == nullptr) return nullptr;
  const auto found = all->find(value_in<std::uint64_t>(warp, access.image, lane));
  return found != all->end() ? &found->second : nullptr;
}

// Coordinates as numbers; the layer, where there are some, comes before them.
Point coordinates(Warp& warp, const ImageAccess& access, std::size_t lane, int count) {
  Point point;
  for (int i = 0; i < count; ++i) {
    const std::uint32_t slot = access.at[static_cast<std::size_t>(i)];
    point.at[static_cast<std::size_t>(i)] =
        access.is_by_index ? static_cast<float>(value_in<std::int32_t>(warp, slot, lane))
                           : value_in<float>(warp, slot, lane);
  }
  if (access.is_layered) point.layer = value_in<std::uint32_t>(warp, access.layer, lane);
  return point;
}

float level_asked(Warp& warp, const ImageAccess& access, std::size_t lane,
                  const Image::Level& first) {
  if (access.level == ImageAccess::Level::given) {
    return value_in<float>(warp, access.more[0], lane);
  }
  if (access.level != ImageAccess::Level::by_gradients) return 0;
  float most = 0;
  for (std::size_t side = 0; side < 2; ++side) {
    float sum = 0;
    for (int axis = 0; axis < access.dimensions; ++axis) {
      const auto i = static_cast<std::size_t>(axis);
      const float texels = static_cast<float>(i == 0   ? first.width
                                              : i == 1 ? first.height
                                                       : first.depth);
      const float change = value_in<float>(warp, access.more[side * 3 + i], lane) * texels;
      sum += change * change;
    }
    most = std::max(most, sum);
  }
  return most > 0 ? std::log2(most) / 2 : 0;
}

void give_number(Warp& warp, const ImageAccess& access, std::size_t lane, const Image& image,
                 std::size_t i, double number) {
  const bool is_least = image.values == Values::with_sign && number < -1;
  warp.values<float>(access.values[i])[lane] = is_least ? -1 : static_cast<float>(number);
}

void sample(const Step* step, Warp& warp, const ImageAccess& access, std::size_t lane,
            const Image& image) {
  Point asked = coordinates(warp, access, lane, access.is_cube ? 3 : access.dimensions);
  if (access.is_cube) {
    const OnFace face = on_face(asked.at[0], asked.at[1], asked.at[2]);
    asked.layer = asked.layer * 6 + face.face;
    asked.at = {(face.s + 1) / 2, (face.t + 1) / 2, 0};
  }
  const float level =
      image.levels.size() == 1
          ? 0
          : std::clamp(level_asked(warp, access, lane, image.levels[0]) + image.level_bias,
                       std::max(image.least_level, 0.0f),
                       std::clamp(image.greatest_level, 0.0f,
                                  static_cast<float>(image.levels.size() - 1)));
  const auto on_level = [&](std::size_t which) {
    const Sampler sampler(
        image, image.levels[which], access.dimensions, [&](const std::byte* texel) {
          warp.block->grid->observer->image_access(warp, *step, lane, WarpAccess::Kind::load, image,
                                                   texel, image.texel_bytes());
        });
    Point point = asked;
    if (access.is_layered || access.is_cube) {
      point.layer = std::min(point.layer, std::max(1u, image.levels[which].depth) - 1);
    }
    if (!access.is_by_index) {
      for (int i = 0; i < access.dimensions; ++i) {
        const auto axis = static_cast<std::size_t>(i);
        point.at[axis] = sampler.in_texels(asked.at[axis], i);
      }
    }
    return std::pair(sampler, point);
  };
  const bool is_number = image.values == Values::floating || image.scales;
  const auto nearest_level =
      static_cast<std::size_t>(image.filters_levels ? level : std::floor(level + 0.5f));
  const auto [sampler, point] = on_level(nearest_level);
  if (access.is_gather) {
    const auto all = sampler.gathered(point);
    const auto channel = static_cast<std::size_t>(access.channel);
    for (std::size_t i = 0; i < 4; ++i) {
      if (is_number) {
        give_number(warp, access, lane, image, i, sampler.numbers(all[i])[channel]);
      } else {
        warp.values<std::uint32_t>(access.values[i])[lane] = all[i] ? all[i]->bits[channel] : 0;
      }
    }
    return;
  }
  if (!is_number) {
    const std::optional<Texel> texel = sampler.nearest(point);
    for (std::size_t i = 0; i < 4; ++i) {
      warp.values<std::uint32_t>(access.values[i])[lane] = texel ? texel->bits[i] : 0;
    }
    return;
  }
  const bool filters = image.filters && !access.is_by_index && !image.is_linear_memory;
  const int part = image.filters_levels ? static_cast<int>((level - std::floor(level)) * 256) : 0;
  Numbers numbers;
  if (!filters && part == 0) {
    numbers = sampler.numbers(sampler.nearest(point));
  } else {
    Addends addends;
    sampler.add(point, filters, 256 - part, addends);
    if (part > 0) {
      const auto [finer, there] = on_level(nearest_level + 1);
      finer.add(there, filters, part, addends);
    }
    for (std::size_t i = 0; i < 4; ++i) numbers[i] = addends.sum(image, i);
  }
  for (std::size_t i = 0; i < 4; ++i) give_number(warp, access, lane, image, i, numbers[i]);
}

// Of each active lane, whose object must be one, what visit(access, lane, image) does; false if it may not ask for that.
template <class Visit>
const Step* each_image(const Step* step, Warp& warp, Visit visit) {
  const ImageAccess& access =
      warp.block->grid->code->image_accesses[static_cast<std::size_t>(step->offset)];
  for (std::uint32_t open = warp.active; open != 0; open &= open - 1) {
    const auto lane = static_cast<std::size_t>(std::countr_zero(open));
    const Image* const image = image_of(warp, access, lane);
    if (image == nullptr) return stop(step, warp, lane, Service::no_image);
    if (image->is_freed) return stop(step, warp, lane, Service::freed_image);
    if (!visit(access, lane, *image)) return stop(step, warp, lane, Service::outside_image);
  }
  return step + 1;
}

const Step* read_texture(const Step* step, Warp& warp) {
  return each_image(step, warp,
                    [&](const ImageAccess& access, std::size_t lane, const Image& image) {
                      sample(step, warp, access, lane, image);
                      if (access.has_predicate) warp.predicate(access.predicate) |= 1u << lane;
                      return true;
                    });
}

// Where a surface's access begins; null where the lane has nothing to read or write. `is_fault`: it may not ask for that.
std::byte* surface_place(Warp& warp, const ImageAccess& access, std::size_t lane,
                         const Image& image, std::size_t bytes, bool& is_fault) {
  const Image::Level& level = image.levels.front();
  const auto row = static_cast<std::int64_t>(level.width * image.texel_bytes());
  const auto size = static_cast<std::int64_t>(bytes);
  std::array<std::int64_t, 3> at{};
  std::array<std::int64_t, 3> most = {row - size, std::int64_t{level.height} - 1,
                                      std::int64_t{level.depth} - 1};
  for (int i = 0; i < access.dimensions; ++i) {
    const auto axis = static_cast<std::size_t>(i);
    at[axis] = value_in<std::int32_t>(warp, access.at[axis], lane);
  }
  if (access.is_layered) {
    at[2] = value_in<std::uint32_t>(warp, access.layer, lane);
  }
  for (std::size_t axis = 0; axis < 3; ++axis) {
    if (at[axis] >= 0 && at[axis] <= most[axis]) continue;
    if (access.boundary == ImageAccess::Boundary::zero) return nullptr;
    if (access.boundary == ImageAccess::Boundary::trap) {
      is_fault = true;
      return nullptr;
    }
    at[axis] = at[axis] < 0 ? 0 : most[axis];
  }
  if (at[0] % size != 0) {
    is_fault = true;
    return nullptr;
  }
  return level.texels + static_cast<std::size_t>(at[2]) * level.plane_bytes +
         static_cast<std::size_t>(at[1]) * level.row_bytes + at[0];
}

template <class T, bool loads>
const Step* move_on_surface(const Step* step, Warp& warp) {
  return each_image(
      step, warp, [&](const ImageAccess& access, std::size_t lane, const Image& image) {
        const auto count = static_cast<std::size_t>(access.count);
        bool is_fault = false;
        std::byte* const place =
            surface_place(warp, access, lane, image, count * sizeof(T), is_fault);
        if (is_fault) return false;
        if (place != nullptr) {
          warp.block->grid->observer->image_access(
              warp, *step, lane, loads ? WarpAccess::Kind::load : WarpAccess::Kind::store, image,
              place, count * sizeof(T));
        }
        for (std::size_t i = 0; i < count; ++i) {
          T& value = warp.values<T>(access.values[i])[lane];
          if (loads) {
            value = 0;
            if (place != nullptr) std::memcpy(&value, place + i * sizeof(T), sizeof(T));
          } else if (place != nullptr) {
            std::memcpy(place + i * sizeof(T), &value, sizeof(T));
          }
        }
        return true;
      });
}

template <class T>
constexpr Execute kRead = &move_on_surface<T, true>;
template <class T>
constexpr Execute kWrite = &move_on_surface<T, false>;
Execute surface_mover(int bytes, bool loads) {
  switch (bytes) {
    case 1:
      return loads ? kRead<std::uint8_t> : kWrite<std::uint8_t>;
    case 2:
      return loads ? kRead<std::uint16_t> : kWrite<std::uint16_t>;
    case 4:
      return loads ? kRead<std::uint32_t> : kWrite<std::uint32_t>;
    default:
      return loads ? kRead<std::uint64_t> : kWrite<std::uint64_t>;
  }
}

// txq, suq: what the object's image has.
template <int which>
const Step* ask_image(const Step* step, Warp& warp) {
  return each_image(
      step, warp, [&](const ImageAccess& access, std::size_t lane, const Image& image) {
        const Image::Level& first = image.levels.front();
        warp.values<std::uint32_t>(access.values[0])[lane] = which == 0   ? first.width
                                                             : which == 1 ? first.height
                                                                          : first.depth;
        return true;
      });
}

// "a2d": layers of two dimensions; a cube's faces have two as well.
void set_geometry(const Decoder& decoder, const ptx::Instruction& one, ImageAccess& access) {
  static constexpr struct {
    std::string_view name;
    int dimensions;
    bool is_layered, is_cube;
  } kAll[] = {{"1d", 1, false, false}, {"2d", 2, false, false}, {"3d", 3, false, false},
              {"a1d", 1, true, false}, {"a2d", 2, true, false}, {"cube", 2, false, true},
              {"acube", 2, true, true}};
  for (const auto& its : kAll) {
    if (!one.has(its.name)) continue;
    access.dimensions = its.dimensions;
    access.is_layered = its.is_layered;
    access.is_cube = its.is_cube;
    return;
  }
  decoder.refuse("an image of another kind than known here");
}

// [object, {layer, x, y}]
void set_place(Decoder& decoder, const Operand& operand, Type type, ImageAccess& access) {
  if (operand.kind != Operand::Kind::address || operand.parts.size() != 2 ||
      operand.parts[0].kind != Operand::Kind::reg) {
    decoder.refuse("a texture or surface that is no object");
  }
  access.image = decoder.source(operand.parts[0], Type::u64);
  const Operand& place = operand.parts[1];
  const std::vector<Operand> single = {place};
  const std::vector<Operand>& all = place.kind == Operand::Kind::vector ? place.parts : single;
  const auto many = static_cast<std::size_t>(access.is_cube ? 3 : access.dimensions);
  const std::size_t first = access.is_layered ? 1 : 0;
  if (all.size() < first + many) decoder.refuse("fewer coordinates than known here");
  if (access.is_layered) access.layer = decoder.source(all[0], Type::u32);
  for (std::size_t i = 0; i < many; ++i) access.at[i] = decoder.source(all[first + i], type);
}

void set_values(Decoder& decoder, const Operand& operand, Type type, bool loads,
                ImageAccess& access) {
  const std::vector<Operand> single = {operand};
  const std::vector<Operand>& all = operand.kind == Operand::Kind::vector ? operand.parts : single;
  if (all.size() > 4) decoder.refuse("a vector of more than four");
  access.count = static_cast<int>(all.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    access.values[i] = loads ? decoder.destination(all[i], type) : decoder.source(all[i], type);
  }
}

// tex.2d.v4.f32.f32 {r, g, b, a}[|p], [object, {x, y}][, level] and tld4, of one channel
void build_texture(Decoder& decoder, const ptx::Instruction& one) {
  if (one.operands.size() < 2) decoder.refuse("fewer operands than known here");
  ImageAccess access;
  set_geometry(decoder, one, access);
  const Type of_coordinates = one.type();
  access.is_by_index = of_coordinates == Type::s32;
  set_place(decoder, one.operands[1], of_coordinates, access);
  if (one.opcode == "tld4") {
    access.is_gather = true;
    access.channel = one.has("r") ? 0 : one.has("g") ? 1 : one.has("b") ? 2 : 3;
  }
  const bool is_given = one.has("level");
  if (is_given || one.has("grad")) {
    access.level = is_given ? ImageAccess::Level::given : ImageAccess::Level::by_gradients;
    const std::size_t wanted = is_given ? 1 : 2;
    if (one.operands.size() < 2 + wanted) decoder.refuse("fewer operands than known here");
    for (std::size_t i = 0; i < wanted; ++i) {
      const Operand& its = one.operands[2 + i];
      for (std::size_t j = 0; j < std::min<std::size_t>(its.parts.size(), 3); ++j) {
        access.more[3 * i + j] = decoder.source(its.parts[j], Type::f32);
      }
      if (its.parts.empty()) access.more[3 * i] = decoder.source(its, Type::f32);
    }
  } else if (one.operands.size() > 2) {
    decoder.refuse("an offset or a depth to compare with");
  }
  const Operand* values = &one.operands[0];
  if (values->kind == Operand::Kind::pair) {
    access.predicate = decoder.destination(values->parts[1], Type::pred);
    access.has_predicate = true;
    values = &values->parts[0];
  }
  // Results have the type before the coordinates'.
  set_values(decoder, *values, ptx::type_of(one.modifiers[one.modifiers.size() - 2]), true, access);
  if (access.count != 4) decoder.refuse("another number of values than four");
  decoder.emit_image(&read_texture, access);
  decoder.finish();
}

template <bool loads>
void build_surface(Decoder& decoder, const ptx::Instruction& one) {
  if (one.operands.size() != 2) decoder.refuse("another number of operands than known here");
  ImageAccess access;
  set_geometry(decoder, one, access);
  access.boundary = one.has("trap")    ? ImageAccess::Boundary::trap
                    : one.has("clamp") ? ImageAccess::Boundary::clamp
                                       : ImageAccess::Boundary::zero;
  const Type type = one.type();
  set_place(decoder, one.operands[loads ? 1 : 0], Type::s32, access);
  set_values(decoder, one.operands[loads ? 0 : 1], type, loads, access);
  decoder.emit_image(surface_mover(bytes_of(type), loads), access);
  decoder.finish();
}

void build_ask(Decoder& decoder, const ptx::Instruction& one) {
  if (one.operands.size() != 2 || one.operands[1].parts.size() != 1) {
    decoder.refuse("another number of operands than known here");
  }
  ImageAccess access;
  access.image = decoder.source(one.operands[1].parts[0], Type::u64);
  set_values(decoder, one.operands[0], Type::b32, true, access);
  decoder.emit_image(one.has("width")    ? &ask_image<0>
                     : one.has("height") ? &ask_image<1>
                                         : &ask_image<2>,
                     access);
  decoder.finish();
}

}  // namespace

void add_image_forms(std::vector<Form>& forms) {
  const std::string geometry = "(.1d|.2d|.3d|.a1d|.a2d|.cube|.acube)";
  add_built(forms, "tex[.base|.level|.grad]" + geometry + ".v4(.u32|.s32|.f32)(.s32|.f32)",
            &build_texture);
  add_built(forms, "tld4(.r|.g|.b|.a)(.2d|.a2d|.cube|.acube).v4(.u32|.s32|.f32).f32",
            &build_texture);
  const std::string on_surface =
      ".b(.1d|.2d|.3d|.a1d|.a2d)[.ca|.cg|.cs|.cv|.wb|.wt][.v2|.v4](.b8|.b16|.b32|.b64)(.trap|."
      "clamp|.zero)";
  add_built(forms, "suld" + on_surface, &build_surface<true>);
  add_built(forms, "sust" + on_surface, &build_surface<false>);
  add_built(forms, "txq(.width|.height|.depth).b32", &build_ask);
  add_built(forms, "suq(.width|.height|.depth).b32", &build_ask);
}

}  // namespace simt::machine
