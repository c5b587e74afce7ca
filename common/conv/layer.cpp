#include "common/conv/layer.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <mutex>
#include <stdexcept>

#include "common/conv/internal.hpp"

namespace halo::conv {

namespace {

using internal::in_parts;

// Outputs computed at a time: two arrays of doubles that stay in the first-level cache.
constexpr std::int64_t kChunk = 1024;

constexpr std::int64_t kLargestInt = std::numeric_limits<int>::max();

// Half-open.
struct Range {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::int64_t size() const { return std::max<std::int64_t>(end - begin, 0); }
};

// One of the two directions, rows or columns: everything about padding and stride is one-dimensional.
struct Axis {
  std::int64_t cells;    // H or W
  std::int64_t taps;     // R or S
  std::int64_t outputs;  // P or Q
  std::int64_t stride;
  std::int64_t padding;

  // Where the tap looks from output 0; it looks `stride` further from each next output.
  std::int64_t shift(std::int64_t tap) const { return tap - padding; }

  // The outputs from which the tap sees a cell that exists.
  Range outputs_of(std::int64_t tap) const {
    const std::int64_t from = shift(tap);
    const std::int64_t begin = from >= 0 ? 0 : (-from + stride - 1) / stride;
    const std::int64_t end = from >= cells ? 0 : (cells - 1 - from) / stride + 1;
    return {begin, std::min(end, outputs)};
  }

  // The taps that lie over cells that exist.
  Range taps_of(std::int64_t output) const {
    const std::int64_t first_cell = output * stride - padding;
    return {std::max<std::int64_t>(-first_cell, 0), std::min(taps, cells - first_cell)};
  }

  // Pairs of an output and a tap that meet over a cell that exists.
  std::int64_t pairs() const {
    std::int64_t sum = 0;
    for (std::int64_t tap = 0; tap < taps; ++tap) sum += outputs_of(tap).size();
    return sum;
  }

  std::int64_t used_taps() const {
    std::int64_t used = 0;
    for (std::int64_t tap = 0; tap < taps; ++tap) used += outputs_of(tap).size() > 0;
    return used;
  }

  std::int64_t used_cells() const {
    // Steps as long as the filter or longer: no cell is seen twice.
    if (stride >= taps) return pairs();
    // Else the outputs' windows leave no gap, from ghost cells (or the first cell) on.
    return std::clamp<std::int64_t>((outputs - 1) * stride - padding + taps, 0, cells);
  }
};

Axis rows_of(const ConvLayer& layer) {
  return {layer.H(), layer.R(), layer.P(), layer.stride_h(), layer.padding_h()};
}

Axis columns_of(const ConvLayer& layer) {
  return {layer.W(), layer.S(), layer.Q(), layer.stride_w(), layer.padding_w()};
}

// Where a flat index of the output lies.
struct Place {
  std::int64_t n, k, p, q;
};

Place place_of(const ConvLayer& layer, std::int64_t index) {
  const std::int64_t q = index % layer.Q();
  index /= layer.Q();
  const std::int64_t p = index % layer.P();
  index /= layer.P();
  return {index / layer.K(), index % layer.K(), p, q};
}

void require_output(const ConvLayer& layer, std::int64_t first, std::int64_t count) {
  if (first >= 0 && count <= layer.output_size() && first <= layer.output_size() - count) return;
  throw std::invalid_argument("there are no " + std::to_string(count) + " outputs from output " +
                              std::to_string(first) + " on: the layer has " +
                              std::to_string(layer.output_size()));
}

// Adds the products of one tap to a run of neighbouring outputs.
void add_products(std::int64_t count, const float* cells, std::int64_t stride, double tap,
                  double* value, double* scale) {
  // Apart, so that the compiler sees neighbours in memory: several times as fast.
  if (stride == 1) {
    for (std::int64_t i = 0; i < count; ++i) {
      const double product = cells[i] * tap;
      value[i] += product;
      scale[i] += std::fabs(product);
    }
    return;
  }
  for (std::int64_t i = 0; i < count; ++i) {
    const double product = cells[i * stride] * tap;
    value[i] += product;
    scale[i] += std::fabs(product);
  }
}

// Reference and scale of the outputs [q.begin, q.end) of one row of the output. The taps are the
// outer loops, so that the cells that exist are cut out once per tap.
void reference_row(const ConvLayer& layer, const float* input, const float* filters, std::int64_t n,
                   std::int64_t k, std::int64_t p, Range q, double* value, double* scale) {
  const Axis rows = rows_of(layer);
  const Axis columns = columns_of(layer);
  const Range r_range = rows.taps_of(p);
  std::fill_n(value, q.size(), 0.0);
  std::fill_n(scale, q.size(), 0.0);
  for (std::int64_t s = 0; s < layer.S(); ++s) {
    Range seen = columns.outputs_of(s);
    seen = {std::max(seen.begin, q.begin), std::min(seen.end, q.end)};
    if (seen.size() == 0) continue;
    const std::int64_t w = seen.begin * layer.stride_w() + columns.shift(s);
    for (std::int64_t c = 0; c < layer.C(); ++c) {
      for (std::int64_t r = r_range.begin; r < r_range.end; ++r) {
        const std::int64_t h = p * layer.stride_h() + rows.shift(r);
        const float* const cells = input + ((n * layer.C() + c) * layer.H() + h) * layer.W() + w;
        const double tap = filters[((k * layer.C() + c) * layer.R() + r) * layer.S() + s];
        add_products(seen.size(), cells, layer.stride_w(), tap, value + (seen.begin - q.begin),
                     scale + (seen.begin - q.begin));
      }
    }
  }
}

// Calls row(n, k, p, q range, offset from first) for the pieces of rows in [first, first + count).
template <class Row>
void for_each_row(const ConvLayer& layer, std::int64_t first, std::int64_t count, Row row) {
  Place place = place_of(layer, first);
  for (std::int64_t done = 0; done < count;) {
    const std::int64_t here = std::min(layer.Q() - place.q, count - done);
    row(place.n, place.k, place.p, Range{place.q, place.q + here}, done);
    done += here;
    place.q = 0;
    if (++place.p < layer.P()) continue;
    place.p = 0;
    if (++place.k < layer.K()) continue;
    place.k = 0;
    ++place.n;
  }
}

void reference_range(const ConvLayer& layer, const float* input, const float* filters,
                     std::int64_t first, std::int64_t count, double* value, double* scale) {
  for_each_row(layer, first, count,
               [&](std::int64_t n, std::int64_t k, std::int64_t p, Range q, std::int64_t at) {
                 reference_row(layer, input, filters, n, k, p, q, value + at, scale + at);
               });
}

void require_sizes(const ConvLayer& layer, std::span<const float> input,
                   std::span<const float> filters) {
  internal::require_size("input", input.size(), layer.input_size());
  internal::require_size("filters' array", filters.size(), layer.filters_size());
}

// Sum of |tap| of filter k.
double absolute_sum(const ConvLayer& layer, std::span<const float> filters, std::int64_t k) {
  const auto taps = static_cast<std::size_t>(layer.products_per_output());
  double sum = 0;
  for (const float tap : filters.subspan(static_cast<std::size_t>(k) * taps, taps)) {
    sum += std::fabs(tap);
  }
  return sum;
}

void require_values(const ConvLayer& layer, std::span<const float> input,
                    std::span<const float> filters) {
  internal::largest_finite("filters' array", filters);
  const auto count = static_cast<std::int64_t>(filters.size()) / layer.products_per_output();
  double largest_sum = 0;
  for (std::int64_t k = 0; k < count; ++k) {
    largest_sum = std::max(largest_sum, absolute_sum(layer, filters, k));
  }
  // Rounding can carry a float sum a little beyond the true one, hence the half.
  if (internal::largest_finite("input", input) * largest_sum >
      0.5 * std::numeric_limits<float>::max()) {
    throw std::invalid_argument(
        "the values are so large that a sum could overflow float: scale the input or the filters "
        "down");
  }
}

// Bit by bit, so that two zeros of different sign differ: they give products of different sign.
void require_repeat(const char* what, std::span<const float> values, std::int64_t period,
                    std::int64_t elements) {
  const std::int64_t distance = period * elements;
  std::atomic<bool> repeats = true;
  const std::int64_t pairs = static_cast<std::int64_t>(values.size()) - distance;
  in_parts(pairs, 1, [&](std::int64_t first, std::int64_t end) {
    const float* const cells = values.data();
    const auto bytes = static_cast<std::size_t>(end - first) * sizeof(float);
    if (std::memcmp(cells + first, cells + first + distance, bytes) != 0) repeats = false;
  });
  if (!repeats) {
    throw std::invalid_argument("the " + std::string(what) + " do not repeat after " +
                                std::to_string(period));
  }
}

// The largest prime that is at most `most`, from 5 to 127.
int prime_up_to(double most) {
  constexpr int kPrimes[] = {5,  7,  11, 13, 17, 19, 23, 29, 31,  37,  41,  43,  47,  53, 59,
                             61, 67, 71, 73, 79, 83, 89, 97, 101, 103, 107, 109, 113, 127};
  int result = kPrimes[0];
  for (const int prime : kPrimes) {
    if (prime <= most) result = prime;
  }
  return result;
}

void require_at_least(const char* what, std::int64_t found, std::int64_t least) {
  if (found < least) {
    throw std::invalid_argument(std::string("a layer's ") + what + " must be at least " +
                                std::to_string(least) + ", got " + std::to_string(found));
  }
  if (found > kLargestInt) {
    throw std::invalid_argument(std::string("a layer's ") + what + " must be at most " +
                                std::to_string(kLargestInt) + ", got " + std::to_string(found));
  }
}

// P or Q.
int output_extent(const char* what, std::int64_t cells, std::int64_t taps, std::int64_t stride,
                  std::int64_t padding) {
  const std::int64_t padded = cells + 2 * padding;
  const std::string with_padding = padding == 0 ? ""
                                                : " with padding (" + std::to_string(cells) +
                                                      " + 2 * " + std::to_string(padding) + ")";
  if (padded > kLargestInt) {
    throw std::invalid_argument(std::string("an input of ") + std::to_string(padded) + " " + what +
                                with_padding + " is too large: at most " +
                                std::to_string(kLargestInt));
  }
  if (taps > padded) {
    throw std::invalid_argument(std::string("the filter is larger than the input: ") +
                                std::to_string(taps) + " " + what + ", the input has " +
                                std::to_string(padded) + with_padding);
  }
  return static_cast<int>((padded - taps) / stride + 1);
}

// The product of four numbers from 1 to 2^31 - 1, or a value beyond any limit.
std::int64_t elements(std::int64_t a, std::int64_t b, std::int64_t c, std::int64_t d) {
  std::int64_t product = 1;
  for (const std::int64_t factor : {a, b, c, d}) {
    if (__builtin_mul_overflow(product, factor, &product)) {
      return std::numeric_limits<std::int64_t>::max();
    }
  }
  return product;
}

void require_elements(const char* what, const char* letters, std::int64_t a, std::int64_t b,
                      std::int64_t c, std::int64_t d) {
  const std::int64_t found = elements(a, b, c, d);
  if (found <= kMaxElements) return;
  const auto text = [](std::int64_t number) { return std::to_string(number); };
  throw std::invalid_argument(std::string("the ") + what + " is too large: " + letters + " = " +
                              text(a) + " x " + text(b) + " x " + text(c) + " x " + text(d) +
                              " values, at most " + text(kMaxElements) +
                              " can be numbered with 32 bits; use a smaller batch or layer");
}

// "3" or "3x5".
std::string pair(std::int64_t down, std::int64_t across) {
  if (across == down) return std::to_string(down);
  return std::to_string(down).append("x").append(std::to_string(across));
}

}  // namespace

ConvLayer::ConvLayer(const LayerShape& shape) : shape_(shape) {
  require_at_least("N (images)", shape.N, 1);
  require_at_least("C (channels)", shape.C, 1);
  require_at_least("H (rows of the input)", shape.H, 1);
  require_at_least("W (columns of the input)", shape.W, 1);
  require_at_least("K (filters)", shape.K, 1);
  require_at_least("R (rows of a filter)", shape.R, 1);
  require_at_least("S (columns of a filter)", shape.S, 1);
  require_at_least("stride down", shape.stride_h, 1);
  require_at_least("stride across", shape.stride_w, 1);
  require_at_least("padding above and below", shape.padding_h, 0);
  require_at_least("padding left and right", shape.padding_w, 0);
  P_ = output_extent("rows", shape.H, shape.R, shape.stride_h, shape.padding_h);
  Q_ = output_extent("columns", shape.W, shape.S, shape.stride_w, shape.padding_w);
  require_elements("input", "N x C x H x W", shape.N, shape.C, shape.H, shape.W);
  require_elements("filters' array", "K x C x R x S", shape.K, shape.C, shape.R, shape.S);
  require_elements("output", "N x K x P x Q", shape.N, shape.K, P_, Q_);
  if (products_per_output() > kMaxProductsPerOutput) {
    throw std::invalid_argument(
        "an output would be a sum of C x R x S = " + std::to_string(products_per_output()) +
        " products; beyond " + std::to_string(kMaxProductsPerOutput) +
        " nothing can be said of its rounding in float");
  }
}

ConvLayer ConvLayer::with_batch(std::int64_t images) const {
  LayerShape shape = shape_;
  shape.N = images;
  return ConvLayer(shape);
}

std::string label(const ConvLayer& layer) {
  std::string text = pair(layer.H(), layer.W()) + "-" + std::to_string(layer.N()) + "-" +
                     pair(layer.R(), layer.S()) + "-" + std::to_string(layer.K()) + "-" +
                     std::to_string(layer.C());
  if (layer.stride_h() != 1 || layer.stride_w() != 1) {
    text += "-s" + pair(layer.stride_h(), layer.stride_w());
  }
  if (layer.padding_h() != (layer.R() - 1) / 2 || layer.padding_w() != (layer.S() - 1) / 2) {
    text += "-p" + pair(layer.padding_h(), layer.padding_w());
  }
  return text;
}

ConvLayer parse_label(std::string_view text) {
  const auto fail = [&] {
    return std::invalid_argument("'" + std::string(text) +
                                 "' names no layer: it is size-batch-filter-filters-channels, as "
                                 "7-1-3-384-192, or 7x9-1-3x5-384-192-s2-p0x1");
  };
  std::vector<std::string_view> parts;
  for (std::string_view rest = text;;) {
    const std::size_t dash = rest.find('-');
    parts.push_back(rest.substr(0, dash));
    if (dash == std::string_view::npos) break;
    rest.remove_prefix(dash + 1);
  }
  const auto number = [&](std::string_view digits) {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error != std::errc() || end != digits.data() + digits.size()) throw fail();
    return value;
  };
  // "3" or "3x5".
  const auto pair = [&](std::string_view numbers, std::int64_t& down, std::int64_t& across) {
    const std::size_t cross = numbers.find('x');
    down = number(numbers.substr(0, cross));
    across = cross == std::string_view::npos ? down : number(numbers.substr(cross + 1));
  };
  if (parts.size() < 5) throw fail();
  LayerShape shape;
  pair(parts[0], shape.H, shape.W);
  shape.N = number(parts[1]);
  pair(parts[2], shape.R, shape.S);
  shape.K = number(parts[3]);
  shape.C = number(parts[4]);
  shape.padding_h = (shape.R - 1) / 2;
  shape.padding_w = (shape.S - 1) / 2;
  std::size_t at = 5;
  if (at < parts.size() && parts[at].starts_with('s')) {
    pair(parts[at++].substr(1), shape.stride_h, shape.stride_w);
  }
  if (at < parts.size() && parts[at].starts_with('p')) {
    pair(parts[at++].substr(1), shape.padding_h, shape.padding_w);
  }
  if (at < parts.size()) throw fail();
  return ConvLayer(shape);
}

std::string place_of_output(const ConvLayer& layer, std::int64_t index) {
  require_output(layer, index, 1);
  const Place place = place_of(layer, index);
  return "n " + std::to_string(place.n) + ", k " + std::to_string(place.k) + ", p " +
         std::to_string(place.p) + ", q " + std::to_string(place.q);
}

void require_data(const ConvLayer& layer, std::span<const float> input,
                  std::span<const float> filters) {
  require_sizes(layer, input, filters);
  require_values(layer, input, filters);
}

OutputReference output_reference(const ConvLayer& layer, std::span<const float> input,
                                 std::span<const float> filters, std::int64_t index) {
  require_sizes(layer, input, filters);
  require_output(layer, index, 1);
  const Place at = place_of(layer, index);
  OutputReference result;
  reference_row(layer, input.data(), filters.data(), at.n, at.k, at.p, {at.q, at.q + 1},
                &result.value, &result.scale);
  result.products =
      layer.C() * rows_of(layer).taps_of(at.p).size() * columns_of(layer).taps_of(at.q).size();
  return result;
}

Reference reference(const ConvLayer& layer, std::span<const float> input,
                    std::span<const float> filters) {
  require_data(layer, input, filters);
  const auto outputs = static_cast<std::size_t>(layer.output_size());
  Reference result{std::vector<double>(outputs), std::vector<double>(outputs)};
  in_parts(layer.output_size(), layer.products_per_output(),
           [&](std::int64_t first, std::int64_t end) {
             reference_range(layer, input.data(), filters.data(), first, end - first,
                             result.value.data() + first, result.scale.data() + first);
           });
  return result;
}

Repeat affordable_repeat(const ConvLayer& layer, std::int64_t most_products) {
  // The references' memory: 512 MB.
  constexpr double kMostReferences = 1 << 25;
  constexpr int kImages = 3;
  const auto all = static_cast<double>(products(layer));
  if (all <= static_cast<double>(most_products)) return {};
  const double images = std::min(kImages, layer.N());
  // Per filter, on so many images.
  const double cost = all / layer.N() / layer.K() * images;
  const double planes = images * layer.P() * layer.Q();
  const int filters =
      prime_up_to(std::min(static_cast<double>(most_products) / cost, kMostReferences / planes));
  return {layer.N() > kImages ? kImages : 0, layer.K() > filters ? filters : 0};
}

LayerChecker::LayerChecker(const ConvLayer& layer, std::span<const float> input,
                           std::span<const float> filters, Demand demand, Repeat repeat)
    : layer_(layer), input_(input), filters_(filters), demand_(demand) {
  if (repeat.images < 0 || repeat.filters < 0) {
    throw std::invalid_argument("a period must be at least 0 (none), got " +
                                std::to_string(std::min(repeat.images, repeat.filters)));
  }
  period_images_ = repeat.images == 0 ? layer.N() : std::min(repeat.images, layer.N());
  period_filters_ = repeat.filters == 0 ? layer.K() : std::min(repeat.filters, layer.K());
  const std::int64_t image = layer.input_size() / layer.N();
  // One period, or all of them.
  const auto require = [](const char* array, const char* elements, std::span<const float> values,
                          int period, std::int64_t element, std::int64_t all) {
    if (values.size() == static_cast<std::size_t>(period * element)) return;
    internal::require_size(array, values.size(), all);
    require_repeat(elements, values, period, element);
  };
  require("input", "images", input, period_images_, image, layer.input_size());
  require("filters' array", "filters", filters, period_filters_, layer.products_per_output(),
          layer.filters_size());
  require_values(
      layer, input.first(static_cast<std::size_t>(image * period_images_)),
      filters.first(static_cast<std::size_t>(layer.products_per_output() * period_filters_)));
  if (demand == Demand::transformed) {
    for (int n = 0; n < period_images_; ++n) {
      double largest = 0;
      for (const float cell :
           input.subspan(static_cast<std::size_t>(n * image), static_cast<std::size_t>(image))) {
        largest = std::max<double>(largest, std::fabs(cell));
      }
      largest_input_.push_back(largest);
    }
    for (int k = 0; k < period_filters_; ++k)
      filter_sum_.push_back(absolute_sum(layer, filters, k));
  }
  if (period_images_ == layer.N() && period_filters_ == layer.K()) return;
  const std::int64_t plane = std::int64_t{layer.P()} * layer.Q();
  const std::int64_t outputs = plane * period_images_ * period_filters_;
  value_.resize(static_cast<std::size_t>(outputs));
  bound_.resize(static_cast<std::size_t>(outputs));
  // `at` counts in the period, whose planes are not neighbours in the whole output.
  in_parts(outputs, layer.products_per_output(), [&](std::int64_t first, std::int64_t end) {
    for (std::int64_t at = first; at < end;) {
      const std::int64_t n = at / plane / period_filters_;
      const std::int64_t k = at / plane % period_filters_;
      const std::int64_t count = std::min({kChunk, end - at, plane - at % plane});
      expect((n * layer_.K() + k) * plane + at % plane, count, &value_[at], &bound_[at]);
      at += count;
    }
  });
}

// What the outputs [first, first + count) should be, and how far off they may be.
void LayerChecker::expect(std::int64_t first, std::int64_t count, double* value,
                          double* bound) const {
  reference_range(layer_, input_.data(), filters_.data(), first, count, value, bound);
  if (demand_ == Demand::exact) {
    std::fill_n(bound, count, 0.0);
    return;
  }
  const Axis rows = rows_of(layer_);
  const Axis columns = columns_of(layer_);
  for_each_row(layer_, first, count,
               [&](std::int64_t n, std::int64_t k, std::int64_t p, Range q, std::int64_t at) {
                 const double added =
                     demand_ == Demand::transformed
                         ? transform_error(
                               largest_input_[static_cast<std::size_t>(n % period_images_)],
                               filter_sum_[static_cast<std::size_t>(k % period_filters_)])
                         : 0;
                 const std::int64_t down = layer_.C() * rows.taps_of(p).size();
                 for (std::int64_t i = 0; i < q.size(); ++i) {
                   const std::int64_t terms = down * columns.taps_of(q.begin + i).size();
                   bound[at + i] = error_bound(terms, bound[at + i]) + added;
                 }
               });
}

Comparison LayerChecker::judge_part(std::int64_t first, std::span<const float> outputs) const {
  Comparison result;
  std::array<double, kChunk> value_here;
  std::array<double, kChunk> bound_here;
  const std::int64_t plane = std::int64_t{layer_.P()} * layer_.Q();
  const std::int64_t end = first + static_cast<std::int64_t>(outputs.size());
  std::int64_t count = 0;
  for (std::int64_t i = first; i < end; i += count) {
    const double* value = value_here.data();
    const double* bound = bound_here.data();
    if (value_.empty()) {
      count = std::min(kChunk, end - i);
      expect(i, count, value_here.data(), bound_here.data());
    } else {
      const std::int64_t n = i / plane / layer_.K() % period_images_;
      const std::int64_t k = i / plane % layer_.K() % period_filters_;
      const std::int64_t at = (n * period_filters_ + k) * plane + i % plane;
      count = std::min({kChunk, end - i, plane - i % plane});
      value = &value_[static_cast<std::size_t>(at)];
      bound = &bound_[static_cast<std::size_t>(at)];
    }
    const auto from = static_cast<std::size_t>(i - first);
    result.judge_run(i, outputs.subspan(from, static_cast<std::size_t>(count)), value, bound);
  }
  return result;
}

Comparison LayerChecker::judge(std::int64_t first, std::span<const float> outputs) const {
  const auto count = static_cast<std::int64_t>(outputs.size());
  require_output(layer_, first, count);
  Comparison total;
  std::mutex mutex;
  in_parts(count, value_.empty() ? layer_.products_per_output() : 1,
           [&](std::int64_t from, std::int64_t to) {
             const Comparison part =
                 judge_part(first + from, outputs.subspan(static_cast<std::size_t>(from),
                                                          static_cast<std::size_t>(to - from)));
             const std::lock_guard lock(mutex);
             total.merge(part);
           });
  return total;
}

Comparison check(const ConvLayer& layer, std::span<const float> input,
                 std::span<const float> filters, std::span<const float> output, Demand demand) {
  const LayerChecker checker(layer, input, filters, demand);
  internal::require_size("output", output.size(), layer.output_size());
  return checker.judge(0, output);
}

std::int64_t products(const ConvLayer& layer) {
  // At most kMaxElements * kMaxProductsPerOutput < 2^55.
  return std::int64_t{layer.N()} * layer.K() * layer.C() * rows_of(layer).pairs() *
         columns_of(layer).pairs();
}

std::int64_t flops(const ConvLayer& layer) { return 2 * products(layer); }

std::int64_t min_bytes(const ConvLayer& layer) {
  const Axis rows = rows_of(layer);
  const Axis columns = columns_of(layer);
  const std::int64_t cells =
      std::int64_t{layer.N()} * layer.C() * rows.used_cells() * columns.used_cells();
  const std::int64_t taps =
      std::int64_t{layer.K()} * layer.C() * rows.used_taps() * columns.used_taps();
  return 4 * (cells + taps + layer.output_size());
}

double max_intensity(const ConvLayer& layer) {
  return static_cast<double>(flops(layer)) / static_cast<double>(min_bytes(layer));
}

}  // namespace halo::conv
