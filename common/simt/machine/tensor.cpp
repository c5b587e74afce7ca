// Tensor cores (PTX ISA 9.7.14): what a warp multiplies, who of its lanes holds which elements, and how matrices come from memory
// and go there. A fragment of wmma is laid out as the operands of mma are: that is what ptxas makes of it.
#include "common/simt/machine/tensor.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/simt/machine/access.hpp"
#include "common/simt/machine/lanes.hpp"
#include "common/simt/machine/rounding.hpp"
#include "common/simt/machine/tensor_sum.hpp"

namespace simt::machine {
namespace {

using ptx::Operand;
using ptx::Type;
using U32 = std::uint32_t;
using U64 = std::uint64_t;

}  // namespace

// ---- For wgmma as well ----

int bits_of(Element element) {
  switch (element) {
    case Element::f16:
    case Element::bf16:
      return 16;
    case Element::e4m3:
    case Element::e5m2:
    case Element::s8:
    case Element::u8:
      return 8;
    case Element::s4:
    case Element::u4:
      return 4;
    case Element::b1:
      return 1;
    case Element::f64:
      return 64;
    default:
      return 32;
  }
}

// By the tables of 9.7.14.5: tiles of 8 rows and 4 registers' width, two of them below each other; accumulators have two
// columns in a row.
Place place_of(const Fragment& its, int i, int j, int lane) {
  const int group = lane / 4, in_group = lane % 4;
  const int per = its.per_register();
  if (its.role == Role::b) {
    const int deep = its.rows / (4 * per);
    return {i % deep * 4 * per + in_group * per + j, i / deep * 8 + group};
  }
  const int below = std::min(its.rows / 8, 2);
  if (its.role == Role::a) {
    const int in_tile = below * its.columns / (4 * per);
    const int at = i % in_tile;
    return {i / in_tile * 16 + group + at % below * 8, at / below * 4 * per + in_group * per + j};
  }
  const int pairs_before = per == 2 ? i : i / 2;
  const int tile = pairs_before / below;
  const int tiles_below = std::max(its.rows / 16, 1);
  return {tile % tiles_below * 16 + group + pairs_before % below * 8,
          tile / tiles_below * 8 + in_group * 2 + (per == 2 ? j : i % 2)};
}

double number_of(Element element, U64 bits) {
  const auto word = static_cast<U32>(bits);
  switch (element) {
    case Element::f16:
      return static_cast<double>(widen<kF16>(word));
    case Element::bf16:
      return static_cast<double>(widen<kBf16>(word));
    case Element::e4m3:
      return static_cast<double>(widen<kE4m3>(word));
    case Element::e5m2:
      return static_cast<double>(widen<kE5m2>(word));
    case Element::tf32:
      return static_cast<double>(std::bit_cast<float>(word & ~0x1fffu));
    case Element::f64:
      return std::bit_cast<double>(bits);
    default:
      return static_cast<double>(std::bit_cast<float>(word));
  }
}

bool is_whole_number(Element element) {
  return element == Element::s32 ||
         (bits_of(element) <= 8 && element != Element::e4m3 && element != Element::e5m2);
}
std::int32_t whole_number_of(Element element, U64 bits) {
  if (element == Element::s8) return static_cast<std::int8_t>(bits);
  if (element == Element::s4) return static_cast<std::int8_t>(bits << 4) >> 4;
  return static_cast<std::int32_t>(bits);
}

bool is_finite(Element element, U64 bits) {
  const auto word = static_cast<U32>(bits);
  switch (element) {
    case Element::f16:
      return (word & 0x7c00) != 0x7c00;
    case Element::bf16:
      return (word & 0x7f80) != 0x7f80;
    case Element::tf32:
    case Element::f32:
      return (word & 0x7f80'0000) != 0x7f80'0000;
    default:
      return std::isfinite(number_of(element, bits));
  }
}

tensor::Factor factor_of(Element element, U64 bits) {
  const auto word = static_cast<U32>(bits);
  switch (element) {
    case Element::f16:
      return tensor::factor(word, kF16.places, kF16.exponent_bits);
    case Element::bf16:
      return tensor::factor(word, kBf16.places, kBf16.exponent_bits);
    case Element::e4m3:
    case Element::e5m2:
      // By way of f16, which holds all of them.
      return factor_of(Element::f16, narrow<kF16>(number_of(element, bits), Rounding::nearest));
    default:
      return tensor::factor(word, kF32.places, kF32.exponent_bits);
  }
}

Chosen::Chosen(Element element, int depth, unsigned selector, const U32* words) {
  const int bits = bits_of(element);
  const int wide = bits == 32 ? 2 : bits == 4 ? 8 : 4;  // as many columns have four bits
  const int kept = wide / 2, groups = depth / wide;
  for (int row = 0; row < 16; ++row) {
    const int upper = row / 8;
    for (int group = 0; group < groups; ++group) {
      // Of 16 bits and more a lane has four groups of both rows of the quad, else eight of one.
      int lane = row % 8 * 4, at = 0;
      if (bits >= 16) {
        lane +=
            groups == 4 ? static_cast<int>(selector) : 2 * static_cast<int>(selector) + group / 4;
        at = group % 4 + 4 * upper;
      } else {
        lane += (groups == 8 ? 2 * static_cast<int>(selector) : group / 8 * 2) + upper;
        at = group % 8;
      }
      const U32 its = words[lane] >> 4 * at & 15;
      for (int i = 0; i < kept; ++i) {
        const U32 first = its & 3, second = its >> 2;
        const U32 place = bits == 32  ? first / 2
                          : bits == 4 ? (i < 2 ? first : second) * 2 + static_cast<U32>(i % 2)
                          : i == 0    ? first
                                      : second;
        columns_[static_cast<std::size_t>(row)][static_cast<std::size_t>(group * kept + i)] =
            static_cast<std::uint8_t>(group * wide + static_cast<int>(place));
      }
    }
  }
}

namespace {

std::optional<Shape> shape_named(const ptx::Instruction& one) {
  for (const std::string_view word : one.modifiers) {
    const std::size_t n = word.find('n'), k = word.find('k');
    if (word.size() < 6 || word[0] != 'm' || n == word.npos || k == word.npos) continue;
    const auto number = [&](std::size_t from, std::size_t to) {
      return std::stoi(std::string(word.substr(from, to - from)));
    };
    return Shape{number(1, n), number(n + 1, k), number(k + 1, word.size())};
  }
  return std::nullopt;
}

constexpr std::pair<std::string_view, Element> kElements[] = {
    {"f16", Element::f16},   {"bf16", Element::bf16}, {"tf32", Element::tf32},
    {"e4m3", Element::e4m3}, {"e5m2", Element::e5m2}, {"s8", Element::s8},
    {"u8", Element::u8},     {"s4", Element::s4},     {"u4", Element::u4},
    {"b1", Element::b1},     {"f64", Element::f64},   {"f32", Element::f32},
    {"s32", Element::s32}};

}  // namespace

Shape shape_of(const Decoder& decoder, const ptx::Instruction& one) {
  const std::optional<Shape> shape = shape_named(one);
  if (!shape) decoder.refuse("no shape");
  return *shape;
}

std::vector<Element> elements_of(const ptx::Instruction& one) {
  std::vector<Element> all;
  for (const std::string_view word : one.modifiers) {
    for (const auto& [name, element] : kElements) {
      if (word == name) all.push_back(element);
    }
  }
  return all;
}

namespace {

// Elements by row and column, each as the bits that it has.
struct Matrix {
  int columns = 0;
  std::array<U64, 4096> bits;  // as many as the largest has
  U64& at(int row, int column) { return bits[static_cast<std::size_t>(row * columns + column)]; }
  U64 at(int row, int column) const {
    return bits[static_cast<std::size_t>(row * columns + column)];
  }
};

// Registers in a row: the first one's slot, and how many. Operands are copied there before the step, results from there behind
// it.
struct Registers {
  U32 first = 0;
  int bytes = 4;
  U32 slot(int i) const { return first + static_cast<U32>(i * bytes * kLanes); }
};

// Of each register, lane and position, in this order, where the element is in Matrix::bits. Each thread works them out once:
// there are few fragments, and multiplications ask for the same ones again and again.
std::span<const std::uint16_t> places_of(const Fragment& its) {
  thread_local std::vector<std::pair<Fragment, std::vector<std::uint16_t>>> known;
  for (const auto& [fragment, places] : known) {
    if (fragment == its) return places;
  }
  std::vector<std::uint16_t> places;
  for (int i = 0; i < its.registers(); ++i) {
    for (int lane = 0; lane < kLanes; ++lane) {
      for (int j = 0; j < its.per_register(); ++j) {
        const Place place = place_of(its, i, j, lane);
        places.push_back(static_cast<std::uint16_t>(place.row * its.columns + place.column));
      }
    }
  }
  return known.emplace_back(its, std::move(places)).second;
}

Matrix gather(Warp& warp, const Fragment& its, Registers registers) {
  Matrix all;
  all.columns = its.columns;
  const int bits = bits_of(its.element), per = its.per_register();
  const std::uint16_t* place = places_of(its).data();
  for (int i = 0; i < its.registers(); ++i) {
    const U32 slot = registers.slot(i);
    for (int lane = 0; lane < kLanes; ++lane) {
      if (bits == 64) {
        all.bits[*place++] = warp.values<const U64>(slot)[lane];
        continue;
      }
      const U64 word = warp.values<const U32>(slot)[lane];
      for (int j = 0; j < per; ++j) {
        all.bits[*place++] = word >> bits * j & ((U64{1} << bits) - 1);
      }
    }
  }
  return all;
}

void scatter(Warp& warp, const Fragment& its, Registers registers, const Matrix& all) {
  const int bits = bits_of(its.element), per = its.per_register();
  const std::uint16_t* place = places_of(its).data();
  for (int i = 0; i < its.registers(); ++i) {
    for (int lane = 0; lane < kLanes; ++lane, place += per) {
      if (warp.lanes[static_cast<std::size_t>(lane)] == 0) continue;
      U64 word = 0;
      for (int j = 0; j < per; ++j) word |= all.bits[place[j]] << bits * j;
      if (bits == 64) {
        warp.values<U64>(registers.slot(i))[lane] = word;
      } else {
        warp.values<U32>(registers.slot(i))[lane] = static_cast<U32>(word);
      }
    }
  }
}

// ---- What is computed ----

// What a step says of it, in Step::offset.
struct Kind {
  std::uint8_t m, n, fours_of_k;
  Element d, a, b, c;
  bool saturates;
};
// And further, in Step::source_offset.
struct Further {
  Rounding rounding = Rounding::nearest;  // of doubles
  bool differ = false;  // of single bits those that differ are counted, else common ones
  bool is_sparse = false;
  std::uint8_t selector = 0;
  std::uint8_t unused[4] = {};
};
static_assert(sizeof(Kind) == 8 && sizeof(Further) == 8);
struct Product {
  Fragment a, b, c, d;
  bool saturates = false;
  Further further;

  explicit Product(const Kind& its, const Further& more)
      : a{Role::a, its.a, its.m, its.fours_of_k * (more.is_sparse ? 2 : 4)},
        b{Role::b, its.b, its.fours_of_k * 4, its.n},
        c{Role::accumulator, its.c, its.m, its.n},
        d{Role::accumulator, its.d, its.m, its.n},
        saturates(its.saturates),
        further(more) {}
};
// Where B has what is multiplied by an element of A: of sparse A as its words say.
int row_of_b(const Chosen* chosen, int row, int k) {
  return chosen == nullptr ? k : (*chosen)(row, k);
}

double whole_of(const tensor::Sums& sums, std::size_t i) {
  return std::ldexp(static_cast<double>(sums.value[i]), sums.top[i] - tensor::kKeptPlaces);
}
float rounded_to_half(const tensor::Sums& sums, std::size_t i) {
  return widen<kF16>(narrow<kF16>(whole_of(sums, i), Rounding::nearest));
}

void multiply_floats(const Product& its, const Matrix& a, const Matrix& b, const Matrix& c,
                     const Chosen* chosen, Matrix& d) {
  const int depth = its.a.columns;
  // For Hopper ptxas makes f16 of 8-bit numbers and two multiplications of one: with the first two of each four of a lane, and
  // with the others. The accumulator is added in the end.
  const bool in_halves = bits_of(its.a.element) == 8;
  // wmma of TF32 is made of instructions that are 4 deep.
  const bool is_shallow = its.a.element == Element::tf32 && its.b.columns == 16;
  const int half = depth / 2;
  const int at_once = is_shallow ? 4 : in_halves ? half : static_cast<int>(tensor::kMostAtOnce);
  const auto order = [&](int i) { return in_halves ? i % half / 2 * 4 + i % 2 + i / half * 2 : i; };
  Lines<32> left, right;
  left.fill(its.a.element, false, its.a.rows, depth,
            [&](int row, int k) { return a.at(row, order(k)); });
  const auto fill_right = [&](int row) {
    right.fill(its.b.element, false, its.b.columns, depth,
               [&](int column, int k) { return b.at(row_of_b(chosen, row, order(k)), column); });
  };
  if (chosen == nullptr) fill_right(0);

  const auto multiply_wide = [&](int row, int first) {
    std::array<float, tensor::kWide> start, before;
    for (int i = 0; i < tensor::kWide; ++i) {
      const auto at = static_cast<std::size_t>(i);
      start[at] = static_cast<float>(number_of(its.c.element, c.at(row, first + i)));
      before[at] = in_halves ? 0.0f : start[at];
    }
    tensor::Sums sums;
    for (int k = 0; k < depth; k += at_once) {
      tensor::add_products(
          before, left.from(static_cast<std::size_t>(row), static_cast<std::size_t>(k)),
          right.from(static_cast<std::size_t>(first), static_cast<std::size_t>(k)),
          static_cast<unsigned>(std::min(depth - k, at_once)), tensor::kKeptPlaces, sums);
      for (std::size_t i = 0; i < tensor::kWide; ++i) {
        before[i] = tensor::to_float({sums.value[i], sums.top[i]});
        if (in_halves && its.d.element == Element::f16) before[i] = rounded_to_half(sums, i);
      }
    }
    for (int i = 0; i < tensor::kWide; ++i) {
      const auto at = static_cast<std::size_t>(i);
      const int column = first + i;
      U64& to = d.at(row, column);
      if (!left.are_finite[static_cast<std::size_t>(row)] ||
          !right.are_finite[static_cast<std::size_t>(column)] || !std::isfinite(start[at])) {
        auto all = static_cast<double>(start[at]);
        for (int k = 0; k < depth; ++k) {
          all += number_of(its.a.element, a.at(row, order(k))) *
                 number_of(its.b.element, b.at(row_of_b(chosen, row, order(k)), column));
        }
        to = its.d.element == Element::f16 ? narrow<kF16>(all, Rounding::nearest)
                                           : std::bit_cast<U32>(settled(static_cast<float>(all)));
      } else if (in_halves && its.d.element == Element::f16) {
        to = narrow<kF16>(static_cast<double>(start[at] + before[at]), Rounding::nearest);
      } else if (in_halves) {
        to = std::bit_cast<U32>(start[at] + before[at]);
      } else if (its.d.element != Element::f16) {
        to = std::bit_cast<U32>(before[at]);
      } else {
        // Among f16 it is rounded from the whole sum, to nearest; else a float is made of it first.
        to = narrow<kF16>(
            its.c.element == Element::f16 ? whole_of(sums, at) : static_cast<double>(before[at]),
            Rounding::nearest);
      }
    }
  };
  for (int row = 0; row < its.a.rows; ++row) {
    if (chosen != nullptr) fill_right(row);
    for (int column = 0; column < its.b.columns; column += tensor::kWide) {
      multiply_wide(row, column);
    }
  }
}

void multiply_doubles(const Product& its, const Matrix& a, const Matrix& b, const Matrix& c,
                      Matrix& d) {
  for (int row = 0; row < its.a.rows; ++row) {
    for (int column = 0; column < its.b.columns; ++column) {
      auto sum = std::bit_cast<double>(c.at(row, column));
      for (int k = 0; k < its.a.columns; ++k) {
        const auto x = std::bit_cast<double>(a.at(row, k)),
                   y = std::bit_cast<double>(b.at(k, column));
        const double made = its.further.rounding == Rounding::nearest
                                ? std::fma(x, y, sum)
                                : machine::multiply_add(x, y, sum, its.further.rounding);
        sum = settled(made, x, sum, y);
      }
      d.at(row, column) = std::bit_cast<U64>(sum);
    }
  }
}

void multiply_integers(const Product& its, const Matrix& a, const Matrix& b, const Matrix& c,
                       const Chosen* chosen, Matrix& d) {
  const auto product = [&](U64 left, U64 right) -> std::int64_t {
    if (its.further.differ) return static_cast<std::int64_t>(left ^ right);
    return std::int64_t{whole_number_of(its.a.element, left)} *
           whole_number_of(its.b.element, right);
  };
  for (int row = 0; row < its.a.rows; ++row) {
    for (int column = 0; column < its.b.columns; ++column) {
      std::int64_t sum = static_cast<std::int32_t>(c.at(row, column));
      for (int k = 0; k < its.a.columns; ++k) {
        sum += product(a.at(row, k), b.at(row_of_b(chosen, row, k), column));
      }
      using Limits = std::numeric_limits<std::int32_t>;
      if (its.saturates) sum = std::clamp<std::int64_t>(sum, Limits::min(), Limits::max());
      d.at(row, column) = static_cast<U32>(sum);
    }
  }
}

// ---- mma and wmma.mma ----

constexpr int kSparse = 3;  // of the words of sparse A in Step::from

bool is_whole(const Warp& warp) { return warp.active == kAllLanes; }
// All 32 lanes take part. Where one has ended, or never was, what comes is not defined: the launch ends there.
const Step* wait_for_warp(const Step* step, Warp& warp) {
  if (warp.live != kAllLanes) {
    return stop(step, warp, static_cast<std::size_t>(std::countr_zero(warp.active)),
                "lacking_lane");
  }
  return warp.leave(step, Group::State::in_warp, kAllLanes);
}

const Step* multiply(const Step* step, Warp& warp) {
  if (!is_whole(warp)) return wait_for_warp(step, warp);
  const Product product(std::bit_cast<Kind>(step->offset),
                        std::bit_cast<Further>(step->source_offset));
  const int bytes = bits_of(product.a.element) == 64 ? 8 : 4;
  const Matrix a = gather(warp, product.a, {step->from[0], bytes});
  const Matrix b = gather(warp, product.b, {step->from[1], bytes});
  const Matrix c = gather(warp, product.c, {step->from[2], bytes});
  if (!is_whole_number(product.a.element)) {
    warp.products +=
        static_cast<std::uint64_t>(product.a.rows * product.a.columns * product.b.columns) / kLanes;
  }
  std::optional<Chosen> sparse;
  if (product.further.is_sparse) {
    sparse.emplace(product.a.element, product.b.rows, product.further.selector,
                   warp.values<const U32>(step->from[kSparse]));
  }
  const Chosen* const chosen = sparse ? &*sparse : nullptr;
  Matrix d;
  d.columns = product.d.columns;
  if (product.a.element == Element::f64) {
    multiply_doubles(product, a, b, c, d);
  } else if (is_whole_number(product.a.element)) {
    multiply_integers(product, a, b, c, chosen, d);
  } else {
    multiply_floats(product, a, b, c, chosen, d);
  }
  scatter(warp, product.d, {step->to, bytes}, d);
  return step + 1;
}

// mma.m8n8k4 of f16: four products of 8 x 8 x 4, each of a quad of lanes and of the one 16 lanes on (9.7.14.5.1). ptxas makes
// ordinary arithmetic of it: the four products are added up, and then the accumulator; to one of f16 two and two of them.
constexpr std::size_t kQuads = 4;
// Where element i of a lane is in the product of its quad: of A where it is held by rows, of B where by columns, and of an
// accumulator of f16; else the other way round.
Place place_in_quad(int lane, int i, bool along) {
  const int beyond = lane < 16 ? 0 : 4;
  return along ? Place{lane % 4 + beyond, i} : Place{i + beyond, lane % 4};
}
Place place_of_float(int lane, int i) {
  return {(lane & 1) + (i & 2) + (lane < 16 ? 0 : 4), (i & 4) + (lane & 2) + (i & 1)};
}

const Step* multiply_quads(const Step* step, Warp& warp) {
  if (!is_whole(warp)) return wait_for_warp(step, warp);
  const Product product(std::bit_cast<Kind>(step->offset),
                        std::bit_cast<Further>(step->source_offset));
  const bool by_twos = product.c.element == Element::f16;
  float a[kQuads][8][4], b[kQuads][8][4];
  const auto half = [&](U32 first, int i, int lane) {
    const U32 word = warp.values<const U32>(Registers{first}.slot(i / 2))[lane];
    return widen<kF16>(word >> 16 * (i % 2) & 0xffff);
  };
  for (int lane = 0; lane < kLanes; ++lane) {
    const int quad = lane % 16 / 4;
    for (int i = 0; i < 4; ++i) {
      const Place left = place_in_quad(lane, i, (step->count & 1) != 0);
      const Place right = place_in_quad(lane, i, (step->count & 2) != 0);
      a[quad][left.row][left.column] = half(step->from[0], i, lane);
      b[quad][right.row][right.column] = half(step->from[1], i, lane);
    }
  }
  std::array<std::array<U32, 8>, kLanes> results;
  for (int lane = 0; lane < kLanes; ++lane) {
    for (int i = 0; i < 8; ++i) {
      const auto place = [&](Element element) {
        return element == Element::f32 ? place_of_float(lane, i) : place_in_quad(lane, i, true);
      };
      const Place its = place(product.d.element);
      const float* const x = a[lane % 16 / 4][its.row];
      const float* const y = b[lane % 16 / 4][its.column];
      const float start =
          product.c.element == Element::f32
              ? std::bit_cast<float>(warp.values<const U32>(Registers{step->from[2]}.slot(i))[lane])
              : half(step->from[2], i, lane);
      U32& to = results[static_cast<std::size_t>(lane)][static_cast<std::size_t>(i)];
      float sum = 0;
      if (by_twos) {
        sum = start + std::fma(x[1], y[1], x[0] * y[0]) + std::fma(x[3], y[3], x[2] * y[2]);
      } else {
        for (int k = 0; k < 4; ++k) sum = std::fma(x[k], y[k], sum);
        sum += start;
      }
      to = product.d.element == Element::f32
               ? std::bit_cast<U32>(settled(sum))
               : narrow<kF16>(static_cast<double>(sum), Rounding::nearest);
    }
  }
  for (int lane = 0; lane < kLanes; ++lane) {
    const auto& its = results[static_cast<std::size_t>(lane)];
    for (int i = 0; i < 8; ++i) {
      if (product.d.element == Element::f32) {
        warp.values<U32>(Registers{step->to}.slot(i))[lane] = its[static_cast<std::size_t>(i)];
      } else if (i % 2 == 0) {
        warp.values<U32>(Registers{step->to}.slot(i / 2))[lane] =
            its[static_cast<std::size_t>(i)] | its[static_cast<std::size_t>(i + 1)] << 16;
      }
    }
  }
  return step + 1;
}

Type register_type(Element element) { return element == Element::f64 ? Type::b64 : Type::b32; }

std::span<const Operand> registers_of(const Operand& operand) {
  if (operand.kind == Operand::Kind::vector) return operand.parts;
  return {&operand, 1};
}

void emit_part_copy(Decoder& decoder, U32 from, U32 to, int bytes) {
  const auto same = [](auto value) { return value; };
  Step& step = decoder.emit(bytes == 8 ? &map_lanes<decltype(same), U64, U64>
                                       : &map_lanes<decltype(same), U32, U32>);
  step.from[0] = from;
  step.to = to;
}
// Copies an operand's registers to new ones in a row. Where there are more than the matrix needs they hold it again.
U32 take(Decoder& decoder, const Operand& operand, const Fragment& its, int many = 0) {
  const std::span<const Operand> all = registers_of(operand);
  const int count = many != 0 ? many : its.registers();
  const int bytes = bytes_of(register_type(its.element));
  if (static_cast<int>(all.size()) < count) decoder.refuse("fewer registers than known here");
  const Registers made{decoder.fresh(count * bytes), bytes};
  for (int i = 0; i < count; ++i) {
    const U32 from = decoder.source(all[static_cast<std::size_t>(i)], register_type(its.element));
    emit_part_copy(decoder, from, made.slot(i), bytes);
  }
  return made.first;
}
// Copies registers in a row to those of a result.
void give(Decoder& decoder, const Operand& operand, const Fragment& its, U32 first, int many = 0) {
  const std::span<const Operand> all = registers_of(operand);
  const int count = many != 0 ? many : its.registers();
  const int bytes = bytes_of(register_type(its.element));
  const Registers made{first, bytes};
  if (static_cast<int>(all.size()) < count) decoder.refuse("fewer registers than known here");
  for (std::size_t i = 0; i < all.size(); ++i) {
    const U32 to = decoder.destination(all[i], register_type(its.element));
    emit_part_copy(decoder, made.slot(static_cast<int>(i) % count), to, bytes);
  }
  decoder.finish();
}

// mma.sync.aligned.shape.row.col.d.a.b.c d, a, b, c; wmma.mma.sync.aligned.row.col.shape.d.c, where a and b are f16, or
// .d.a.b.c.
// Of sparse A (.sp) also the words that say which half it is, and which lanes of a quad have them.
void build_multiply(Decoder& decoder, const ptx::Instruction& one) {
  Further further;
  further.is_sparse = one.has("sp") || one.has("sp::ordered_metadata");
  further.differ = one.has("xor");
  further.rounding = one.has("rz")   ? Rounding::zero
                     : one.has("rm") ? Rounding::down
                     : one.has("rp") ? Rounding::up
                                     : Rounding::nearest;
  if (one.operands.size() != (further.is_sparse ? 6 : 4)) {
    decoder.refuse("another number of operands than known here");
  }
  if (further.is_sparse) {
    if (one.operands[5].kind != Operand::Kind::number || one.operands[5].bits > 3) {
      decoder.refuse("a choice of lanes that is no number");
    }
    further.selector = static_cast<std::uint8_t>(one.operands[5].bits);
  }
  const Shape shape = shape_of(decoder, one);
  std::vector<Element> named = elements_of(one);
  if (named.size() == 2) named = {named[0], Element::f16, Element::f16, named[1]};
  if (named.size() != 4) decoder.refuse("other types than known here");
  const auto byte = [](int value) { return static_cast<std::uint8_t>(value); };
  const Kind kind{byte(shape.m), byte(shape.n), byte(shape.k / 4), named[0],
                  named[1],      named[2],      named[3],          one.has("satfinite")};
  const Product its(kind, further);
  // Of four products at once a lane has eight elements of an accumulator, and four of A and B.
  const bool is_of_quads = shape.m == 8 && shape.k == 4 && its.a.element == Element::f16;
  const auto many = [&](const Fragment& fragment) {
    if (!is_of_quads) return 0;
    return fragment.role == Role::accumulator ? 8 / fragment.per_register() : 2;
  };
  const U32 a = take(decoder, one.operands[1], its.a, many(its.a));
  const U32 b = take(decoder, one.operands[2], its.b, many(its.b));
  const U32 c = take(decoder, one.operands[3], its.c, many(its.c));
  const U32 sparse = further.is_sparse ? decoder.source(one.operands[4], Type::b32) : 0;
  const int results = is_of_quads ? many(its.d) : its.d.registers();
  const U32 d = decoder.fresh(results * bytes_of(register_type(its.d.element)));
  Step& step = decoder.emit(is_of_quads ? &multiply_quads : &multiply);
  step.from[kSparse] = sparse;
  step.source_offset = std::bit_cast<std::int64_t>(further);
  if (is_of_quads) {
    const bool is_a_by_rows = one.modifiers[3] == "row",
               is_b_by_columns = one.modifiers[4] == "col";
    step.count = static_cast<std::uint8_t>((is_a_by_rows ? 1 : 0) | (is_b_by_columns ? 2 : 0));
  }
  step.from[0] = a;
  step.from[1] = b;
  step.from[2] = c;
  step.to = d;
  step.offset = std::bit_cast<std::int64_t>(kind);
  give(decoder, one.operands[0], its.d, d, many(its.d));
}

// ---- Matrices in memory ----

// What one request of a warp moves: so many elements of a lane, from (major, minor) on, in the order in which they lie in memory.
struct Request {
  int count = 1;
  U32 lanes = kAllLanes;
  std::array<int, kLanes> major{}, minor{};
};

// Elements of 16 bits are fetched in blocks of 8 x 8 as they lie, and transposed in registers where that is not as they are
// held: from shared memory four blocks at once, a row of one by each lane; else two elements by each lane.
std::vector<Request> requests_of_blocks(int majors, int minors, bool by_rows) {
  std::vector<Request> all;
  const int across = minors / 8, blocks = majors / 8 * across;
  if (!by_rows) {
    for (int block = 0; block < blocks; ++block) {
      Request& made = all.emplace_back();
      made.count = 2;
      for (std::size_t lane = 0; lane < kLanes; ++lane) {
        made.major[lane] = block / across * 8 + static_cast<int>(lane) / 4;
        made.minor[lane] = block % across * 8 + static_cast<int>(lane) % 4 * 2;
      }
    }
    return all;
  }
  for (int first = 0; first < blocks; first += 4) {
    Request& made = all.emplace_back();
    made.count = 8;
    const int rows = std::min(blocks - first, 4) * 8;
    made.lanes = rows == kLanes ? kAllLanes : (1u << rows) - 1;
    for (int lane = 0; lane < rows; ++lane) {
      const int block = first + lane / 8;
      made.major[static_cast<std::size_t>(lane)] = block / across * 8 + lane % 8;
      made.minor[static_cast<std::size_t>(lane)] = block % across * 8;
    }
  }
  return all;
}

// As ptxas 13.0 does it for sm_90.
std::vector<Request> requests_of(const Fragment& its, bool is_row_major, bool is_shared) {
  const int majors = is_row_major ? its.rows : its.columns;
  const int minors = is_row_major ? its.columns : its.rows;
  if (bits_of(its.element) == 16) {
    return requests_of_blocks(majors, minors, is_shared && its.role != Role::accumulator);
  }
  // A lane's elements that lie behind each other come at once: of a register, or of an accumulator's two.
  const bool is_along = is_row_major == (its.role != Role::b);
  const bool in_pairs = its.role == Role::accumulator && is_along;
  const int per = its.per_register();
  std::vector<Request> all;
  for (int i = 0; i < its.registers(); i += in_pairs ? 2 : 1) {
    for (int j = 0; j < (is_along ? 1 : per); ++j) {
      Request& made = all.emplace_back();
      made.count = in_pairs ? 2 : is_along ? per : 1;
      for (int lane = 0; lane < kLanes; ++lane) {
        const Place place = place_of(its, i, j, lane);
        made.major[static_cast<std::size_t>(lane)] = is_row_major ? place.row : place.column;
        made.minor[static_cast<std::size_t>(lane)] = is_row_major ? place.column : place.row;
      }
    }
  }
  return all;
}

// What a step says of a matrix in memory, in Step::source_offset.
struct Stored {
  Role role;
  Element element;
  std::uint8_t rows, columns;
  bool is_row_major;
  std::uint8_t unused[3];
};

constexpr int kStride = 0;  // of the slot in Step::from

template <bool loads>
const Step* move_matrix(const Step* step, Warp& warp) {
  if (!is_whole(warp)) return wait_for_warp(step, warp);
  const auto stored = std::bit_cast<Stored>(step->source_offset);
  const Fragment its{stored.role, stored.element, stored.rows, stored.columns};
  const auto size = static_cast<std::size_t>(bits_of(its.element) / 8);
  const Registers registers{loads ? step->to : step->from[1], size == 8 ? 8 : 4};
  Matrix matrix;
  matrix.columns = its.columns;
  if (!loads) matrix = gather(warp, its, registers);
  const U32* const stride = warp.values<const U32>(step->from[kStride]);
  for (const Request& request :
       requests_of(its, stored.is_row_major, step->window == Window::shared)) {
    Addresses64 addresses = addresses_of(warp, step->from[kAddress], step->offset);
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      addresses[lane] += (static_cast<U64>(request.major[lane]) * stride[lane] +
                          static_cast<U64>(request.minor[lane])) *
                         size;
    }
    const auto move = [&](const Places& places, const memory::WarpAddresses& lanes, const Block*) {
      for (U32 open = lanes.mask; open != 0; open &= open - 1) {
        const auto lane = static_cast<std::size_t>(std::countr_zero(open));
        std::byte* const at = places.of(lanes, lane);
        for (int i = 0; i < request.count; ++i) {
          const int major = request.major[lane], minor = request.minor[lane] + i;
          U64& bits = stored.is_row_major ? matrix.at(major, minor) : matrix.at(minor, major);
          std::byte* const one = at + static_cast<std::size_t>(i) * size;
          if constexpr (loads) {
            bits = 0;
            std::memcpy(&bits, one, size);
          } else {
            std::memcpy(one, &bits, size);
          }
        }
      }
    };
    if (!access(step, warp, loads ? WarpAccess::Kind::load : WarpAccess::Kind::store, step->window,
                request.count * static_cast<int>(size), addresses, request.lanes & warp.active,
                move)) {
      return nullptr;
    }
  }
  if (loads) scatter(warp, its, registers, matrix);
  return step + 1;
}

struct DividedBy {
  U32 divisor;
  explicit DividedBy(std::int64_t variant) : divisor(static_cast<U32>(variant)) {}
  U32 operator()(U32 value) const { return value / divisor; }
};

// What wmma.load and wmma.store move.
struct Moved {
  Fragment its;
  int in_word = 1;  // of less than a byte a lane has a word of neighbours: as one element
};
Moved moved_by(const ptx::Instruction& one, Shape shape) {
  Element element = elements_of(one).at(0);
  const int in_word = bits_of(element) < 8 ? 32 / bits_of(element) : 1;
  if (in_word != 1) {
    element = Element::s32;
    shape.k /= in_word;
  }
  return {one.has("a")   ? Fragment{Role::a, element, shape.m, shape.k}
          : one.has("b") ? Fragment{Role::b, element, shape.k, shape.n}
                         : Fragment{Role::accumulator, element, shape.m, shape.n},
          in_word};
}

// wmma.load.a.sync.aligned.layout.shape[.space].type r, [p]{, stride}; wmma.store.d ... [p], r{, stride}
template <bool loads>
void build_move_matrix(Decoder& decoder, const ptx::Instruction& one) {
  if (one.operands.size() != 2 && one.operands.size() != 3) {
    decoder.refuse("another number of operands than known here");
  }
  const auto [its, in_word] = moved_by(one, shape_of(decoder, one));
  const Element element = its.element;
  const bool is_row_major = one.has("row");
  const Operand& place = one.operands[loads ? 1 : 0];
  const Operand& values = one.operands[loads ? 0 : 1];
  const int usual = is_row_major ? its.columns : its.rows;
  U32 stride = one.operands.size() == 3 ? decoder.source(one.operands[2], Type::u32)
                                        : decoder.constant(static_cast<U64>(usual), 4);
  if (in_word != 1 && one.operands.size() == 3) {
    Step& divide = decoder.emit(&map_variant<DividedBy, U32, U32>);
    divide.from[0] = stride;
    divide.offset = in_word;
    divide.to = stride = decoder.fresh(4);
  }
  const U32 registers = loads ? decoder.fresh(its.registers() * bytes_of(register_type(element)))
                              : take(decoder, values, its);
  const Decoder::Address at = decoder.address(place);
  const auto byte = [](int value) { return static_cast<std::uint8_t>(value); };
  Step& step = decoder.emit(&move_matrix<loads>);
  step.from[kStride] = stride;
  step.from[1] = registers;
  step.to = registers;
  step.from[kAddress] = at.base;
  step.offset = at.offset;
  step.window = window_named(decoder, one, place);
  step.source_offset = std::bit_cast<std::int64_t>(
      Stored{its.role, element, byte(its.rows), byte(its.columns), is_row_major, {}});
  if (loads) give(decoder, values, its, registers);
}

}  // namespace

std::vector<int> widths_of_matrix(const ptx::Instruction& one) {
  const std::optional<Shape> shape = shape_named(one);
  if (one.opcode != "wmma" || !(one.has("load") || one.has("store")) || !shape) return {};
  const Fragment its = moved_by(one, *shape).its;
  const bool is_shared = one.has("shared") || one.has("shared::cta");
  const bool is_by_rows = is_shared && bits_of(its.element) == 16 && its.role != Role::accumulator;
  std::vector<int> widths;
  if (is_by_rows) return widths;
  for (const Request& request : requests_of(its, one.has("row"), is_shared)) {
    widths.push_back(request.count * bits_of(its.element) / 8);
  }
  return widths;
}

namespace {

// ldmatrix, stmatrix: 1, 2 or 4 matrices of 8 x 8 halves. Of each, a lane names a row, and holds two elements.
using Rows = std::array<std::array<std::uint16_t, 8>, kLanes>;

std::uint16_t& element_of(Rows& rows, int matrix, int lane, int j, bool is_transposed) {
  const int along = lane / 4, across = lane % 4 * 2 + j;
  const int row = is_transposed ? across : along, column = is_transposed ? along : across;
  return rows[static_cast<std::size_t>(matrix * 8 + row)][static_cast<std::size_t>(column)];
}

template <bool loads>
const Step* move_rows(const Step* step, Warp& warp) {
  if (!is_whole(warp)) return wait_for_warp(step, warp);
  const bool is_transposed = !step->keeps;
  const int matrices = step->count;
  Rows rows{};
  const auto each_pair = [&](auto visit) {
    for (int i = 0; i < matrices; ++i) {
      U32* const words = warp.values<U32>(value_slot(*step, i));
      for (int lane = 0; lane < kLanes; ++lane) {
        visit(words[lane], element_of(rows, i, lane, 0, is_transposed),
              element_of(rows, i, lane, 1, is_transposed));
      }
    }
  };
  if (!loads) {
    each_pair([](U32 word, std::uint16_t& low, std::uint16_t& high) {
      low = static_cast<std::uint16_t>(word);
      high = static_cast<std::uint16_t>(word >> 16);
    });
  }
  const U32 namers = matrices == 4 ? kAllLanes : (1u << matrices * 8) - 1;
  Addresses64 addresses = addresses_of(warp, step->from[kAddress], step->offset);
  const auto move = [&](const Places& places, const memory::WarpAddresses& lanes, const Block*) {
    for (U32 open = lanes.mask; open != 0; open &= open - 1) {
      const auto lane = static_cast<std::size_t>(std::countr_zero(open));
      std::byte* const at = places.of(lanes, lane);
      if constexpr (loads) {
        std::memcpy(rows[lane].data(), at, sizeof rows[lane]);
      } else {
        std::memcpy(at, rows[lane].data(), sizeof rows[lane]);
      }
    }
  };
  constexpr int kRowBytes = 16;
  if (!access(step, warp, loads ? WarpAccess::Kind::load : WarpAccess::Kind::store, Window::shared,
              kRowBytes, addresses, namers & warp.active, move)) {
    return nullptr;
  }
  if (loads) {
    each_pair([](U32& word, std::uint16_t low, std::uint16_t high) {
      word = static_cast<U32>(high) << 16 | low;
    });
  }
  return step + 1;
}

template <bool loads>
void build_move_rows(Decoder& decoder, const ptx::Instruction& one) {
  if (one.operands.size() != 2) decoder.refuse("another number of operands than known here");
  const std::span<const Operand> values = registers_of(one.operands[loads ? 0 : 1]);
  if (values.size() > 4) decoder.refuse("more than four matrices");
  U32 slots[4] = {};
  for (std::size_t i = 0; i < values.size(); ++i) {
    slots[i] =
        loads ? decoder.destination(values[i], Type::b32) : decoder.source(values[i], Type::b32);
  }
  const Decoder::Address at = decoder.address(one.operands[loads ? 1 : 0]);
  Step& step = decoder.emit(&move_rows<loads>);
  step.to = slots[0];
  std::copy(slots + 1, slots + 4, step.from);
  step.from[kAddress] = at.base;
  step.offset = at.offset;
  step.window = Window::shared;
  step.count = static_cast<std::uint8_t>(values.size());
  step.keeps = !one.has("trans");
  decoder.finish();
}

const Step* transpose(const Step* step, Warp& warp) {
  if (!is_whole(warp)) return wait_for_warp(step, warp);
  warp.exchanged += 32;
  Rows rows{};
  const U32* const from = warp.values<const U32>(step->from[0]);
  for (int lane = 0; lane < kLanes; ++lane) {
    element_of(rows, 0, lane, 0, false) = static_cast<std::uint16_t>(from[lane]);
    element_of(rows, 0, lane, 1, false) = static_cast<std::uint16_t>(from[lane] >> 16);
  }
  U32* const to = warp.values<U32>(step->to);
  for (int lane = 0; lane < kLanes; ++lane) {
    to[lane] = static_cast<U32>(element_of(rows, 0, lane, 1, true)) << 16 |
               element_of(rows, 0, lane, 0, true);
  }
  return step + 1;
}

}  // namespace

void add_tensor_forms(std::vector<Form>& forms) {
  constexpr auto apart = Form::Guarding::apart;
  const auto built = [&](const std::string& pattern,
                         void (*build)(Decoder&, const ptx::Instruction&)) {
    add_built(forms, pattern, build, apart);
  };
  const std::string mma = "mma.sync.aligned", in_order = ".row.col";
  built(mma + "(.m16n8k8|.m16n8k16)" + in_order + ".f32.bf16.bf16.f32", &build_multiply);
  built(mma + "(.m16n8k8|.m16n8k16)" + in_order + "(.f16|.f32).f16.f16(.f16|.f32)",
        &build_multiply);
  built(mma + "(.m16n8k4|.m16n8k8)" + in_order + ".f32.tf32.tf32.f32", &build_multiply);
  built(
      mma + "(.m8n8k16|.m16n8k16|.m16n8k32)" + in_order + "[.satfinite].s32(.s8|.u8)(.s8|.u8).s32",
      &build_multiply);
  const std::string rounding = "[.rn|.rz|.rm|.rp]";
  built(mma + "(.m8n8k4|.m16n8k4|.m16n8k8|.m16n8k16)" + in_order + rounding + ".f64.f64.f64.f64",
        &build_multiply);
  const std::string bytes = "(.e4m3|.e5m2)(.e4m3|.e5m2)", saturated = "[.satfinite].s32";
  built(mma + "(.m16n8k16|.m16n8k32)" + in_order + ".f32" + bytes + ".f32", &build_multiply);
  built(mma + "(.m16n8k16|.m16n8k32)" + in_order + ".f16" + bytes + ".f16", &build_multiply);
  built(mma + "(.m8n8k32|.m16n8k32|.m16n8k64)" + in_order + saturated + "(.s4|.u4)(.s4|.u4).s32",
        &build_multiply);
  built(mma + "(.m8n8k128|.m16n8k128|.m16n8k256)" + in_order + ".s32.b1.b1.s32(.and|.xor).popc",
        &build_multiply);
  for (const std::string sums : {".f16.f16.f16.f16", ".f32.f16.f16.f32"}) {
    built(mma + ".m8n8k4(.row|.col)(.row|.col)" + sums, &build_multiply);
  }
  for (const std::string sparse : {"mma.sp", "mma.sp::ordered_metadata"}) {
    const auto its = [&](const std::string& shapes_and_types) {
      const std::size_t types = shapes_and_types.find(')') + 1;
      built(sparse + ".sync.aligned" + shapes_and_types.substr(0, types) + in_order +
                shapes_and_types.substr(types),
            &build_multiply);
    };
    its("(.m16n8k16|.m16n8k32)(.f16|.f32).f16.f16(.f16|.f32)");
    its("(.m16n8k16|.m16n8k32).f32.bf16.bf16.f32");
    its("(.m16n8k8|.m16n8k16).f32.tf32.tf32.f32");
    its("(.m16n8k32|.m16n8k64)" + saturated + "(.s8|.u8)(.s8|.u8).s32");
    its("(.m16n8k64|.m16n8k128)" + saturated + "(.s4|.u4)(.s4|.u4).s32");
    its("(.m16n8k64).f32" + bytes + ".f32");
  }

  const std::string wmma = "wmma.mma.sync.aligned(.row|.col)(.row|.col)";
  const std::string shapes = "(.m16n16k16|.m8n32k16|.m32n8k16)";
  built(wmma + shapes + "(.f16|.f32)(.f16|.f32)", &build_multiply);
  built(wmma + shapes + ".f32.bf16.bf16.f32", &build_multiply);
  built(wmma + shapes + ".s32(.s8|.u8)(.s8|.u8).s32[.satfinite]", &build_multiply);
  built(wmma + ".m16n16k8.f32.tf32.tf32.f32", &build_multiply);
  built(wmma + ".m8n8k4" + rounding + ".f64.f64.f64.f64" + rounding, &build_multiply);
  built(wmma + ".m8n8k32.s32(.s4|.u4)(.s4|.u4).s32[.satfinite]", &build_multiply);
  built("wmma.mma(.and|.xor).popc.sync.aligned.row.col.m8n8k128.s32.b1.b1.s32", &build_multiply);
  const std::string layout = ".sync.aligned(.row|.col)";
  const std::string all_shapes = "(.m16n16k16|.m8n32k16|.m32n8k16|.m16n16k8|.m8n8k4)";
  const std::string space = "[.global|.shared|.shared::cta]";
  built("wmma.load(.a|.b)" + layout + all_shapes + space + "(.f16|.bf16|.tf32|.s8|.u8|.f64)",
        &build_move_matrix<true>);
  built("wmma.load.c" + layout + all_shapes + space + "(.f16|.f32|.s32|.f64)",
        &build_move_matrix<true>);
  built("wmma.store.d" + layout + all_shapes + space + "(.f16|.f32|.s32|.f64)",
        &build_move_matrix<false>);
  for (const std::string small : {".m8n8k32(.s4|.u4)", ".m8n8k128.b1"}) {
    const std::size_t types = small.find_first_of("(.", 1);
    const std::string its = small.substr(0, types) + space + small.substr(types);
    built("wmma.load.a.sync.aligned.row" + its, &build_move_matrix<true>);
    built("wmma.load.b.sync.aligned.col" + its, &build_move_matrix<true>);
  }
  built("wmma.load.c" + layout + "(.m8n8k32|.m8n8k128)" + space + ".s32", &build_move_matrix<true>);
  built("wmma.store.d" + layout + "(.m8n8k32|.m8n8k128)" + space + ".s32",
        &build_move_matrix<false>);
  const std::string rows = ".sync.aligned.m8n8(.x1|.x2|.x4)[.trans][.shared|.shared::cta].b16";
  built("ldmatrix" + rows, &build_move_rows<true>);
  built("stmatrix" + rows, &build_move_rows<false>);
  forms.push_back({.pattern = "movmatrix.sync.aligned.m8n8.trans.b16",
                   .to = Type::b32,
                   .from = {Type::b32},
                   .run = &transpose,
                   .guarding = apart});
}

}  // namespace simt::machine
