#include "common/conv/layer.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstring>
#include <limits>
#include <stdexcept>

#include "common/conv/axis.hpp"
#include "common/conv/internal.hpp"
#include "common/conv/labels.hpp"

namespace halo::conv {

namespace {

using internal::Axis;
using internal::in_parts;
using internal::Range;

// Outputs computed at a time: two arrays of doubles that stay in the first-level cache.
constexpr std::int64_t kChunk = 1024;

Axis rows_of(const ConvLayer& layer) {
  return {layer.H(), layer.R(), layer.P(), layer.stride_h(), layer.padding_h(), layer.dilation_h()};
}

Axis columns_of(const ConvLayer& layer) {
  return {layer.W(), layer.S(), layer.Q(), layer.stride_w(), layer.padding_w(), layer.dilation_w()};
}

// Where a flat index of the output, [N][K][P][Q], lies.
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
  internal::require_outputs("the layer", layer.output_size(), first, count);
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
  const std::int64_t channels = layer.filter_channels();
  const std::int64_t first_channel = k / (layer.K() / layer.groups()) * channels;
  std::fill_n(value, q.size(), 0.0);
  std::fill_n(scale, q.size(), 0.0);
  for (std::int64_t s = 0; s < layer.S(); ++s) {
    Range seen = columns.outputs_of(s);
    seen = {std::max(seen.begin, q.begin), std::min(seen.end, q.end)};
    if (seen.size() == 0) continue;
    const std::int64_t w = seen.begin * layer.stride_w() + columns.shift(s);
    for (std::int64_t c = 0; c < channels; ++c) {
      for (std::int64_t r = r_range.begin; r < r_range.end; ++r) {
        const std::int64_t h = p * layer.stride_h() + rows.shift(r);
        const float* const cells =
            input + ((n * layer.C() + first_channel + c) * layer.H() + h) * layer.W() + w;
        const double tap = filters[((k * channels + c) * layer.R() + r) * layer.S() + s];
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

// P or Q.
int output_extent(const char* what, std::int64_t cells, std::int64_t of_filter,
                  std::int64_t dilation, std::int64_t stride, std::int64_t padding) {
  const std::int64_t taps = (of_filter - 1) * dilation + 1;
  const std::int64_t padded = cells + 2 * padding;
  const std::string with_padding = padding == 0 ? ""
                                                : " with padding (" + std::to_string(cells) +
                                                      " + 2 * " + std::to_string(padding) + ")";
  if (padded > internal::kLargestInt) {
    throw std::invalid_argument(std::string("an input of ") + std::to_string(padded) + " " + what +
                                with_padding + " is too large: at most " +
                                std::to_string(internal::kLargestInt));
  }
  if (taps > padded) {
    throw std::invalid_argument(std::string("the filter is larger than the input: ") +
                                std::to_string(taps) + " " + what + ", the input has " +
                                std::to_string(padded) + with_padding);
  }
  return static_cast<int>((padded - taps) / stride + 1);
}

}  // namespace

ConvLayer::ConvLayer(const LayerShape& shape) : shape_(shape) {
  internal::require_at_least("a layer's", "N (images)", shape.N, 1);
  internal::require_at_least("a layer's", "C (channels)", shape.C, 1);
  internal::require_at_least("a layer's", "H (rows of the input)", shape.H, 1);
  internal::require_at_least("a layer's", "W (columns of the input)", shape.W, 1);
  internal::require_at_least("a layer's", "K (filters)", shape.K, 1);
  internal::require_at_least("a layer's", "R (rows of a filter)", shape.R, 1);
  internal::require_at_least("a layer's", "S (columns of a filter)", shape.S, 1);
  internal::require_at_least("a layer's", "stride down", shape.stride_h, 1);
  internal::require_at_least("a layer's", "stride across", shape.stride_w, 1);
  internal::require_at_least("a layer's", "padding above and below", shape.padding_h, 0);
  internal::require_at_least("a layer's", "padding left and right", shape.padding_w, 0);
  internal::require_at_least("a layer's", "groups", shape.groups, 1);
  internal::require_at_least("a layer's", "dilation down", shape.dilation_h, 1);
  internal::require_at_least("a layer's", "dilation across", shape.dilation_w, 1);
  for (const auto& [what, count] : {std::pair("channels", shape.C), {"filters", shape.K}}) {
    if (count % shape.groups == 0) continue;
    throw std::invalid_argument("a layer's " + std::to_string(count) + " " + what +
                                " can't be divided into " + std::to_string(shape.groups) +
                                " equal groups");
  }
  P_ = output_extent("rows", shape.H, shape.R, shape.dilation_h, shape.stride_h, shape.padding_h);
  Q_ =
      output_extent("columns", shape.W, shape.S, shape.dilation_w, shape.stride_w, shape.padding_w);
  internal::require_elements("input", "N x C x H x W", {shape.N, shape.C, shape.H, shape.W});
  internal::require_elements("filters' array", "K x C x R x S",
                             {shape.K, shape.C / shape.groups, shape.R, shape.S});
  internal::require_elements("output", "N x K x P x Q", {shape.N, shape.K, P_, Q_});
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

std::string refusal_of_groups(const ConvLayer& layer) {
  return layer.groups() > 1 ? "it takes one group only" : "";
}

std::string refusal_of_dilation(const ConvLayer& layer) {
  return layer.dilation_h() > 1 || layer.dilation_w() > 1 ? "it takes no dilation" : "";
}

namespace {

// Of the papers' layers, which are as large as their input where there is no stride.
std::int64_t usual_padding(std::int64_t taps, std::int64_t dilation) {
  return (taps - 1) / 2 * dilation;
}

}  // namespace

std::string label(const ConvLayer& layer) {
  std::string text = internal::pair(layer.H(), layer.W()) + "-" + std::to_string(layer.N()) + "-" +
                     internal::pair(layer.R(), layer.S()) + "-" + std::to_string(layer.K()) + "-" +
                     std::to_string(layer.C());
  if (layer.stride_h() != 1 || layer.stride_w() != 1) {
    text += "-s" + internal::pair(layer.stride_h(), layer.stride_w());
  }
  if (layer.padding_h() != usual_padding(layer.R(), layer.dilation_h()) ||
      layer.padding_w() != usual_padding(layer.S(), layer.dilation_w())) {
    text += "-p" + internal::pair(layer.padding_h(), layer.padding_w());
  }
  if (layer.groups() != 1) text += "-g" + std::to_string(layer.groups());
  if (layer.dilation_h() != 1 || layer.dilation_w() != 1) {
    text += "-d" + internal::pair(layer.dilation_h(), layer.dilation_w());
  }
  return text;
}

ConvLayer parse_label(std::string_view text) {
  internal::LabelReader label(text,
                              "names no layer: it is size-batch-filter-filters-channels, as "
                              "7-1-3-384-192, 7x9-1-3x5-384-192-s2-p0x1, or "
                              "56-1-3-128-128-g32 with groups, -d2 with dilation");
  LayerShape shape;
  label.pair(shape.H, shape.W);
  shape.N = label.number();
  label.pair(shape.R, shape.S);
  shape.K = label.number();
  shape.C = label.number();
  constexpr std::int64_t kUsual = -1;  // no number is below 0
  shape.padding_h = shape.padding_w = kUsual;
  label.pair_after('s', shape.stride_h, shape.stride_w);
  label.pair_after('p', shape.padding_h, shape.padding_w);
  label.number_after('g', shape.groups);
  label.pair_after('d', shape.dilation_h, shape.dilation_w);
  label.end();
  if (shape.padding_h == kUsual) {
    // What is too large for a product of the two is refused anyhow.
    const auto most = [](std::int64_t number) { return std::min(number, internal::kLargestInt); };
    shape.padding_h = usual_padding(most(shape.R), most(shape.dilation_h));
    shape.padding_w = usual_padding(most(shape.S), most(shape.dilation_w));
  }
  return ConvLayer(shape);
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
  result.products = layer.filter_channels() * rows_of(layer).taps_of(at.p).size() *
                    columns_of(layer).taps_of(at.q).size();
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
  // With groups, equal filters see other channels.
  const bool repeats = layer.groups() == 1 && layer.K() > filters;
  return {layer.N() > kImages ? kImages : 0, repeats ? filters : 0};
}

LayerChecker::LayerChecker(const ConvLayer& layer, std::span<const float> input,
                           std::span<const float> filters, Demand demand, Repeat repeat,
                           Layout layout)
    : layer_(layer), input_(input), filters_(filters), demand_(demand), layout_(layout) {
  if (repeat.images < 0 || repeat.filters < 0) {
    throw std::invalid_argument("a period must be at least 0 (none), got " +
                                std::to_string(std::min(repeat.images, repeat.filters)));
  }
  if (repeat.filters > 0 && layer.groups() > 1) {
    throw std::invalid_argument(
        "with groups equal filters have other outputs: no period of theirs");
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
  if (is_transform(demand)) {
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
                     is_transform(demand_)
                         ? added_by_transform(
                               demand_,
                               largest_input_[static_cast<std::size_t>(n % period_images_)],
                               filter_sum_[static_cast<std::size_t>(k % period_filters_)])
                         : 0;
                 const std::int64_t down = layer_.filter_channels() * rows.taps_of(p).size();
                 for (std::int64_t i = 0; i < q.size(); ++i) {
                   const std::int64_t terms = down * columns.taps_of(q.begin + i).size();
                   bound[at + i] = sum_bound(demand_, terms, bound[at + i], added);
                 }
               });
}

// Where value_ and bound_ hold output [n][k][p][q], plane_cell being [k][p][q] as one number.
std::int64_t LayerChecker::place_in_period(std::int64_t n, std::int64_t plane_cell) const {
  const std::int64_t plane = std::int64_t{layer_.P()} * layer_.Q();
  const std::int64_t k = plane_cell / plane % period_filters_;
  return (n % period_images_ * period_filters_ + k) * plane + plane_cell % plane;
}

Comparison LayerChecker::judge_nchw(std::int64_t first, std::span<const float> outputs) const {
  Comparison result;
  std::array<double, kChunk> value_here;
  std::array<double, kChunk> bound_here;
  const std::int64_t plane = std::int64_t{layer_.P()} * layer_.Q();
  const std::int64_t image = plane * layer_.K();
  const std::int64_t end = first + static_cast<std::int64_t>(outputs.size());
  std::int64_t count = 0;
  for (std::int64_t i = first; i < end; i += count) {
    const double* value = value_here.data();
    const double* bound = bound_here.data();
    if (value_.empty()) {
      count = std::min(kChunk, end - i);
      expect(i, count, value_here.data(), bound_here.data());
    } else {
      const auto at = static_cast<std::size_t>(place_in_period(i / image, i % image));
      count = std::min({kChunk, end - i, plane - i % plane});
      value = &value_[at];
      bound = &bound_[at];
    }
    const auto from = static_cast<std::size_t>(i - first);
    result.judge_run(i, outputs.subspan(from, static_cast<std::size_t>(count)), value, bound);
  }
  return result;
}

// The outputs are rows of N neighbours, a row for each [k][p][q]. References come as runs along q, so
// blocks of rows x images are computed and turned.
Comparison LayerChecker::judge_chwn(std::int64_t first, std::span<const float> outputs) const {
  constexpr std::int64_t kRows = 64;
  constexpr std::int64_t kImages = 64;
  Comparison result;
  std::vector<double> value(kRows * kImages);
  std::vector<double> bound(kRows * kImages);
  std::array<double, kRows> value_run;
  std::array<double, kRows> bound_run;
  const std::int64_t image = layer_.output_size() / layer_.N();
  const std::int64_t image_of_period = std::int64_t{period_filters_} * layer_.P() * layer_.Q();
  const auto compute = [&](Range rows, Range images) {
    for (std::int64_t n = images.begin; n < images.end; ++n) {
      expect(n * image + rows.begin, rows.size(), value_run.data(), bound_run.data());
      for (std::int64_t i = 0; i < rows.size(); ++i) {
        const auto at = static_cast<std::size_t>(i * images.size() + n - images.begin);
        value[at] = value_run[static_cast<std::size_t>(i)];
        bound[at] = bound_run[static_cast<std::size_t>(i)];
      }
    }
  };
  const auto look_up = [&](Range rows, Range images) {
    std::size_t at = 0;
    for (std::int64_t row = rows.begin; row < rows.end; ++row) {
      const std::int64_t place = place_in_period(0, row);
      std::int64_t n = images.begin % period_images_;
      for (std::int64_t i = 0; i < images.size(); ++i, ++at) {
        const auto from = static_cast<std::size_t>(place + n * image_of_period);
        value[at] = value_[from];
        bound[at] = bound_[from];
        if (++n == period_images_) n = 0;
      }
    }
  };
  internal::for_each_block(
      first, first + static_cast<std::int64_t>(outputs.size()), layer_.N(), kRows, kImages,
      [&](Range rows, Range images) {
        if (value_.empty()) {
          compute(rows, images);
        } else {
          look_up(rows, images);
        }
      },
      [&](std::int64_t begin, std::int64_t end, std::int64_t at) {
        result.judge_run(begin,
                         outputs.subspan(static_cast<std::size_t>(begin - first),
                                         static_cast<std::size_t>(end - begin)),
                         &value[static_cast<std::size_t>(at)],
                         &bound[static_cast<std::size_t>(at)]);
      });
  return result;
}

Comparison LayerChecker::judge(std::int64_t first, std::span<const float> outputs) const {
  require_output(layer_, first, static_cast<std::int64_t>(outputs.size()));
  return internal::judged_in_parts(
      first, outputs, value_.empty() ? layer_.products_per_output() : 1,
      [this](std::int64_t from, std::span<const float> part) {
        return layout_ == Layout::nchw ? judge_nchw(from, part) : judge_chwn(from, part);
      });
}

Comparison check(const ConvLayer& layer, std::span<const float> input,
                 std::span<const float> filters, std::span<const float> output, Demand demand) {
  const LayerChecker checker(layer, input, filters, demand);
  internal::require_size("output", output.size(), layer.output_size());
  return checker.judge(0, output);
}

std::int64_t products(const ConvLayer& layer) {
  // At most kMaxElements * kMaxProductsPerOutput < 2^55.
  return std::int64_t{layer.N()} * layer.K() * layer.filter_channels() * rows_of(layer).pairs() *
         columns_of(layer).pairs();
}

std::int64_t flops(const ConvLayer& layer) { return 2 * products(layer); }

std::int64_t min_bytes(const ConvLayer& layer) {
  const Axis rows = rows_of(layer);
  const Axis columns = columns_of(layer);
  const std::int64_t cells =
      std::int64_t{layer.N()} * layer.C() * rows.used_cells() * columns.used_cells();
  const std::int64_t taps =
      std::int64_t{layer.K()} * layer.filter_channels() * rows.used_taps() * columns.used_taps();
  return 4 * (cells + taps + layer.output_size());
}

}  // namespace halo::conv
