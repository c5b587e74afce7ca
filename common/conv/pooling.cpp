#include "common/conv/pooling.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "common/conv/axis.hpp"
#include "common/conv/inputs.hpp"
#include "common/conv/internal.hpp"
#include "common/conv/labels.hpp"

namespace halo::conv {

namespace {

using internal::Axis;
using internal::Range;

constexpr std::uint64_t kPoolingStream = 0xa0761d6478bd642fu;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Outputs computed at a time.
constexpr std::int64_t kPoolingChunk = 1024;

// Most cells of an average. Its bound is gamma of one more.
constexpr std::int64_t kMostAveraged = (1 << 24) - 2;

Axis rows_of(const PoolingLayer& layer) {
  return {layer.H(), layer.R(), layer.P(), layer.stride_h(), layer.padding_h()};
}

Axis columns_of(const PoolingLayer& layer) {
  return {layer.W(), layer.S(), layer.Q(), layer.stride_w(), layer.padding_w()};
}

// P or Q. `what` is "rows".
int output_extent(const char* what, std::int64_t cells, std::int64_t window, std::int64_t stride,
                  std::int64_t padding, Rounding rounding) {
  const std::string extent = std::to_string(window) + " " + what;
  if (padding >= window) {
    throw std::invalid_argument("a padding of " + std::to_string(padding) + " " + what +
                                " is not smaller than the window of " + extent +
                                ": a window could lie outside the image");
  }
  const std::int64_t padded = cells + 2 * padding;
  const std::string with_padding = padding == 0 ? ""
                                                : " with padding (" + std::to_string(cells) +
                                                      " + 2 * " + std::to_string(padding) + ")";
  if (window > padded) {
    throw std::invalid_argument("the window is larger than the input: " + extent +
                                ", the input has " + std::to_string(padded) + with_padding);
  }
  const std::int64_t steps = padded - window;
  std::int64_t outputs =
      (rounding == Rounding::floor ? steps / stride : (steps + stride - 1) / stride) + 1;
  // A window that would begin beyond the image.
  if ((outputs - 1) * stride >= cells + padding) --outputs;
  const std::int64_t reached = std::max(padded, (outputs - 1) * stride + window);
  if (reached > internal::kLargestInt) {
    throw std::invalid_argument("windows that reach over " + std::to_string(reached) + " " + what +
                                with_padding + " are too large: at most " +
                                std::to_string(internal::kLargestInt));
  }
  return static_cast<int>(outputs);
}

// What is known of an output while its window is gone through: the largest cell, or the sum of the
// cells and of their absolute values.
struct Cells {
  double value;
  double scale;
};

constexpr Cells nothing(Pooling kind) { return {kind == Pooling::max ? -kInfinity : 0, 0}; }

// Takes one more cell, or what is known of several, into each of `count` neighbours. Written so that
// the compiler makes vector instructions of it.
template <Pooling kind, class Value>
void take(std::int64_t count, const Value* cells, double* value, double* scale) {
  for (std::int64_t i = 0; i < count; ++i) {
    const double cell = cells[i];
    if constexpr (kind == Pooling::max) {
      value[i] = cell > value[i] ? cell : value[i];
    } else {
      value[i] += cell;
      scale[i] += std::fabs(cell);
    }
  }
}

// A row of the output for as long as it lies in the piece: outputs [p][q.begin, q.end) of the map
// that begins at `map`.
template <Pooling kind>
class RowOfWindows {
 public:
  explicit RowOfWindows(const PoolingLayer& layer)
      : rows_(rows_of(layer)), columns_(columns_of(layer)) {
    // Overlapping windows share the sums of their columns; few windows, or far apart, do not need to.
    constexpr std::int64_t kMostStride = 64;
    constexpr std::int64_t kMostWindow = 4096;
    shares_ = columns_.stride <= kMostStride && columns_.taps <= kMostWindow;
    if (!shares_) return;
    const auto most = static_cast<std::size_t>(
        std::min((kPoolingChunk - 1) * columns_.stride + columns_.taps, columns_.cells));
    column_value_.resize(most);
    column_scale_.resize(most);
  }

  void operator()(const float* map, std::int64_t p, Range q, double* value, double* scale) {
    const std::int64_t h = p * rows_.stride - rows_.padding;
    const Range r = rows_.taps_of(p);
    if (!shares_) {
      for (std::int64_t i = 0; i < q.size(); ++i) {
        const Range w = window(q.begin + i);
        Cells cells = nothing(kind);
        for (std::int64_t row = h + r.begin; row < h + r.end; ++row) {
          for (std::int64_t column = w.begin; column < w.end; ++column) {
            take<kind>(1, map + row * columns_.cells + column, &cells.value, &cells.scale);
          }
        }
        value[i] = cells.value;
        scale[i] = cells.scale;
      }
      return;
    }
    const Range all{window(q.begin).begin, window(q.end - 1).end};
    std::fill_n(column_value_.begin(), all.size(), nothing(kind).value);
    std::fill_n(column_scale_.begin(), all.size(), nothing(kind).scale);
    for (std::int64_t row = h + r.begin; row < h + r.end; ++row) {
      take<kind>(all.size(), map + row * columns_.cells + all.begin, column_value_.data(),
                 column_scale_.data());
    }
    for (std::int64_t i = 0; i < q.size(); ++i) {
      const Range w = window(q.begin + i);
      Cells cells = nothing(kind);
      for (std::int64_t at = w.begin - all.begin; at < w.end - all.begin; ++at) {
        const auto column = static_cast<std::size_t>(at);
        if constexpr (kind == Pooling::max) {
          cells.value = std::max(cells.value, column_value_[column]);
        } else {
          cells.value += column_value_[column];
          cells.scale += column_scale_[column];
        }
      }
      value[i] = cells.value;
      scale[i] = cells.scale;
    }
  }

 private:
  // The columns of the image that window q covers.
  Range window(std::int64_t q) const {
    const Range taps = columns_.taps_of(q);
    const std::int64_t w = q * columns_.stride - columns_.padding;
    return {w + taps.begin, w + taps.end};
  }

  Axis rows_;
  Axis columns_;
  bool shares_;
  std::vector<double> column_value_;
  std::vector<double> column_scale_;
};

// Neighbouring outputs and what they should be: `value` (for an average the sum of the cells),
// `scale` and the number of cells of each.
struct Expected {
  std::array<double, kPoolingChunk> value;
  std::array<double, kPoolingChunk> scale;
  std::array<std::int64_t, kPoolingChunk> cells;
};

// Outputs [first, first + count), count <= kPoolingChunk, of [N][C][P][Q].
template <Pooling kind>
void expect_nchw(const PoolingLayer& layer, const float* input, RowOfWindows<kind>& row_of_windows,
                 std::int64_t first, std::int64_t count, Expected& expected) {
  const Axis rows = rows_of(layer);
  const Axis columns = columns_of(layer);
  for (std::int64_t done = 0; done < count;) {
    const std::int64_t row = (first + done) / layer.Q();
    const std::int64_t begin = (first + done) % layer.Q();
    const Range q{begin, std::min<std::int64_t>(begin + count - done, layer.Q())};
    const std::int64_t map = row / layer.P();
    const std::int64_t p = row % layer.P();
    row_of_windows(input + map * rows.cells * columns.cells, p, q, &expected.value[done],
                   &expected.scale[done]);
    if constexpr (kind == Pooling::average) {
      const std::int64_t down = rows.taps_of(p).size();
      for (std::int64_t i = 0; i < q.size(); ++i) {
        expected.cells[done + i] = down * columns.taps_of(q.begin + i).size();
      }
    }
    done += q.size();
  }
}

// As expect_nchw, of [C][P][Q][N]: the cells of neighbouring images are neighbours.
template <Pooling kind>
void expect_chwn(const PoolingLayer& layer, const float* input, std::int64_t first,
                 std::int64_t count, Expected& expected) {
  const Axis rows = rows_of(layer);
  const Axis columns = columns_of(layer);
  const std::int64_t N = layer.N();
  for (std::int64_t done = 0; done < count;) {
    const std::int64_t window = (first + done) / N;
    const std::int64_t n = (first + done) % N;
    const std::int64_t here = std::min(count - done, N - n);
    const std::int64_t q = window % layer.Q();
    const std::int64_t p = window / layer.Q() % layer.P();
    const std::int64_t c = window / layer.Q() / layer.P();
    const Range r = rows.taps_of(p);
    const Range s = columns.taps_of(q);
    double* const value = &expected.value[done];
    double* const scale = &expected.scale[done];
    std::fill_n(value, here, nothing(kind).value);
    std::fill_n(scale, here, nothing(kind).scale);
    for (std::int64_t i = r.begin; i < r.end; ++i) {
      const std::int64_t h = p * rows.stride - rows.padding + i;
      for (std::int64_t j = s.begin; j < s.end; ++j) {
        const std::int64_t w = q * columns.stride - columns.padding + j;
        take<kind>(here, input + ((c * rows.cells + h) * columns.cells + w) * N + n, value, scale);
      }
    }
    std::fill_n(&expected.cells[done], here, r.size() * s.size());
    done += here;
  }
}

// A maximum is one of the cells: nothing rounds.
void judge_maxima(std::int64_t first, std::span<const float> outputs, const Expected& expected,
                  Comparison& result) {
  std::array<float, kPoolingChunk> largest;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    largest[i] = static_cast<float>(expected.value[i]);
  }
  result.judge_equal_run(first, outputs, largest.data());
}

// An average of L cells: each cell goes through at most L - 1 additions, and then the sum either
// through one division by L (a whole number below 2^24: exact in float) or through one product with
// a rounded 1 / L, which is two roundings. So at most L + 1 factors (1 + d), |d| <= u, and the error
// is at most
//   gamma(L + 1) * sum|cell| / L + 2^-150,
// the last term for a quotient too small for a normal float (sums that small are exact). The
// reference, in double, is off by less than L * 2^-53 of the first term's scale, which gamma
// overestimates by more (see layer.hpp).
//
// Cells of +-inf give what the sum gives, inf or NaN.
void judge_averages(std::int64_t first, std::span<const float> outputs, Expected& expected,
                    Comparison& result) {
  std::array<double, kPoolingChunk> bound;
  std::int64_t cells = 0;
  double divisor = 1;
  double share = 0;
  bool all_finite = true;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (expected.cells[i] != cells) {
      cells = expected.cells[i];
      divisor = static_cast<double>(cells);
      share = gamma(cells + 1) / divisor;
    }
    expected.value[i] /= divisor;
    bound[i] = share * expected.scale[i] + 0x1p-150;
    all_finite = all_finite && expected.scale[i] < kInfinity;
  }
  if (all_finite) {
    result.judge_run(first, outputs, expected.value.data(), bound.data());
    return;
  }
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const std::int64_t index = first + static_cast<std::int64_t>(i);
    if (expected.scale[i] < kInfinity) {
      result.judge(index, outputs[i], expected.value[i], bound[i]);
    } else {
      const auto value = static_cast<float>(expected.value[i]);
      result.judge_equal_run(index, outputs.subspan(i, 1), &value);
    }
  }
}

template <Pooling kind>
Comparison judge_part(const PoolingLayer& layer, Layout layout, const float* input,
                      std::int64_t first, std::span<const float> outputs) {
  Comparison result;
  Expected expected;
  RowOfWindows<kind> row_of_windows(layer);
  for (std::size_t done = 0; done < outputs.size();) {
    const std::span<const float> here =
        outputs.subspan(done, std::min<std::size_t>(kPoolingChunk, outputs.size() - done));
    const auto count = static_cast<std::int64_t>(here.size());
    const std::int64_t index = first + static_cast<std::int64_t>(done);
    // One image lies the same way in both layouts.
    if (layout == Layout::nchw || layer.N() == 1) {
      expect_nchw<kind>(layer, input, row_of_windows, index, count, expected);
    } else {
      expect_chwn<kind>(layer, input, index, count, expected);
    }
    if constexpr (kind == Pooling::max) {
      judge_maxima(index, here, expected, result);
    } else {
      judge_averages(index, here, expected, result);
    }
    done += here.size();
  }
  return result;
}

}  // namespace

PoolingLayer::PoolingLayer(const PoolingShape& shape) : shape_(shape) {
  constexpr const char* kWhose = "a pooling layer's";
  internal::require_at_least(kWhose, "N (images)", shape.N, 1);
  internal::require_at_least(kWhose, "C (channels)", shape.C, 1);
  internal::require_at_least(kWhose, "H (rows of the input)", shape.H, 1);
  internal::require_at_least(kWhose, "W (columns of the input)", shape.W, 1);
  internal::require_at_least(kWhose, "R (rows of a window)", shape.R, 1);
  internal::require_at_least(kWhose, "S (columns of a window)", shape.S, 1);
  internal::require_at_least(kWhose, "stride down", shape.stride_h, 1);
  internal::require_at_least(kWhose, "stride across", shape.stride_w, 1);
  internal::require_at_least(kWhose, "padding above and below", shape.padding_h, 0);
  internal::require_at_least(kWhose, "padding left and right", shape.padding_w, 0);
  P_ = output_extent("rows", shape.H, shape.R, shape.stride_h, shape.padding_h, shape.rounding);
  Q_ = output_extent("columns", shape.W, shape.S, shape.stride_w, shape.padding_w, shape.rounding);
  internal::require_elements("input", "N x C x H x W", {shape.N, shape.C, shape.H, shape.W});
  internal::require_elements("output", "N x C x P x Q", {shape.N, shape.C, P_, Q_});
  const std::int64_t cells = std::min(shape.R, shape.H) * std::min(shape.S, shape.W);
  if (shape.kind == Pooling::average && cells > kMostAveraged) {
    throw std::invalid_argument("an average would be of " + std::to_string(cells) +
                                " cells; beyond " + std::to_string(kMostAveraged) +
                                " nothing can be said of its rounding in float");
  }
}

Images PoolingLayer::input() const {
  return Images({.N = shape_.N, .C = shape_.C, .H = shape_.H, .W = shape_.W});
}

Images PoolingLayer::output() const {
  return Images({.N = shape_.N, .C = shape_.C, .H = P_, .W = Q_});
}

PoolingLayer PoolingLayer::with_batch(std::int64_t images) const {
  PoolingShape shape = shape_;
  shape.N = images;
  return PoolingLayer(shape);
}

std::string label(const PoolingLayer& layer) {
  std::string text = internal::pair(layer.H(), layer.W()) + "-" + std::to_string(layer.N()) + "-" +
                     internal::pair(layer.R(), layer.S()) + "-" + std::to_string(layer.C());
  if (layer.stride_h() != layer.R() || layer.stride_w() != layer.S()) {
    text += "-s" + internal::pair(layer.stride_h(), layer.stride_w());
  }
  if (layer.padding_h() != 0 || layer.padding_w() != 0) {
    text += "-p" + internal::pair(layer.padding_h(), layer.padding_w());
  }
  if (layer.kind() == Pooling::average) text += "-average";
  if (layer.rounding() == Rounding::ceil) text += "-ceil";
  return text;
}

PoolingLayer parse_pooling(std::string_view text) {
  internal::LabelReader label(text,
                              "names no pooling layer: it is size-batch-window-channels, as "
                              "28-128-2-16, or 7x9-1-3x2-16-s2x1-p1-average-ceil");
  PoolingShape shape;
  label.pair(shape.H, shape.W);
  shape.N = label.number();
  label.pair(shape.R, shape.S);
  shape.C = label.number();
  shape.stride_h = shape.R;
  shape.stride_w = shape.S;
  label.pair_after('s', shape.stride_h, shape.stride_w);
  label.pair_after('p', shape.padding_h, shape.padding_w);
  if (label.word("average")) shape.kind = Pooling::average;
  if (label.word("ceil")) shape.rounding = Rounding::ceil;
  label.end();
  return PoolingLayer(shape);
}

int input_kinds(const PoolingLayer&) { return 2; }

std::vector<float> make_input(const PoolingLayer& layer, int kind, std::uint64_t seed) {
  internal::require_kind(kind, input_kinds(layer));
  const auto stream = (seed ^ kPoolingStream) + static_cast<std::uint64_t>(kind);
  // One octave: magnitudes in [1/2, 1), no two alike among 2^23 neighbours.
  std::vector<float> cells =
      adversarial_input(Problem1d(layer.input_size(), kMaxMaskWidth), stream);
  if (kind == 0) return cells;
  constexpr float kLowest = -std::numeric_limits<float>::infinity();
  Random random(stream + 1);
  std::size_t at = 0;
  const std::int64_t maps = std::int64_t{layer.N()} * layer.C();
  for (std::int64_t map = 0; map < maps; ++map) {
    // Of eight maps one is -inf all over, three are in patches of two windows' size, so that some
    // windows see nothing else, and the others have single cells of it.
    const std::uint64_t drawn = random.below(8);
    for (std::int64_t h = 0; h < layer.H(); ++h) {
      for (std::int64_t w = 0; w < layer.W(); ++w, ++at) {
        cells[at] = -std::fabs(cells[at]);
        if (layer.kind() == Pooling::average) continue;
        const bool in_patch =
            (h / (2 * std::int64_t{layer.R()}) + w / (2 * std::int64_t{layer.S()}) + map) % 2 == 1;
        if (drawn == 0 || (drawn < 4 ? in_patch : random.below(8) == 0)) cells[at] = kLowest;
      }
    }
  }
  return cells;
}

PoolingChecker::PoolingChecker(const PoolingLayer& layer, Layout layout,
                               std::span<const float> input)
    : layer_(layer), layout_(layout), input_(input) {
  internal::require_size("input", input.size(), layer.input_size());
}

Comparison PoolingChecker::judge(std::int64_t first, std::span<const float> outputs) const {
  internal::require_outputs("the layer", layer_.output_size(), first,
                            static_cast<std::int64_t>(outputs.size()));
  const std::int64_t cells =
      std::int64_t{std::min(layer_.R(), layer_.H())} * std::min(layer_.S(), layer_.W());
  return internal::judged_in_parts(
      first, outputs, cells, [&](std::int64_t from, std::span<const float> part) {
        return layer_.kind() == Pooling::max
                   ? judge_part<Pooling::max>(layer_, layout_, input_.data(), from, part)
                   : judge_part<Pooling::average>(layer_, layout_, input_.data(), from, part);
      });
}

std::int64_t min_bytes(const PoolingLayer& layer) {
  return 4 * (std::int64_t{layer.N()} * layer.C() * rows_of(layer).used_cells() *
                  columns_of(layer).used_cells() +
              layer.output_size());
}

std::int64_t flops(const PoolingLayer& layer) {
  const std::int64_t maps = std::int64_t{layer.N()} * layer.C();
  const std::int64_t taken = maps * rows_of(layer).pairs() * columns_of(layer).pairs();
  return taken - layer.output_size() + (layer.kind() == Pooling::average ? layer.output_size() : 0);
}

}  // namespace halo::conv
