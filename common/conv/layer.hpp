// A 2D convolution layer as all stages mean it: the problem, its reference in double precision, the
// check of an output, and what the work costs at least. Nothing here knows of any device.
//
// The letters are those of docs/notation.md. With the strides u, v and the paddings a, b (down and
// across),
//   output[n][k][p][q] = sum over c, r, s of
//       input[n][c][p*u - a + r][q*v - b + s] * filters[k][c][r][s],
//   0 <= c < C, 0 <= r < R, 0 <= s < S,
//   P = floor((H + 2a - R) / u) + 1,   Q = floor((W + 2b - S) / v) + 1,
// a cross-correlation: the filter is not flipped. Cells beyond the edges (ghost cells) are zero, and
// every output is written. Few layers have groups or dilation. With G groups a filter has C/G channels, those of its group:
// K/G filters one after the other see the same ones, and k / (K/G) * (C/G) + c stands where c does in the input. With
// the dilations d, e its taps are r*d and s*e cells from the first one, and R and S in P and Q are (R-1)*d + 1 and
// (S-1)*e + 1. It is eq. 1 of Chang et al. ("Fast convolution kernels on Pascal GPU
// with high memory efficiency"), and with C = 1 their eq. 2, where stride is 1; batch, stride and
// padding are as in cuDNN.
//
// Arrays, slowest dimension first: input [N][C][H][W], filters [K][C/G][R][S], output [N][K][P][Q],
// all float.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/conv/accuracy.hpp"
#include "common/conv/conv1d.hpp"  // Demand, Reference
#include "common/conv/layout.hpp"
#include "common/conv/limits.hpp"

namespace halo::conv {

/// Most elements that each of the three arrays may have: every index a kernel forms fits a 32-bit
/// int, so that kernels can be read without a thought for it. cuDNN has the same limit. Products
/// (of which there are many more) and bytes are counted in 64 bits. 2,147,479,551.
inline constexpr std::int64_t kMaxElements = kMaxLength;

/// Most products in one output, C*R*S: beyond, gamma(L) bounds nothing (see accuracy.hpp).
inline constexpr std::int64_t kMaxProductsPerOutput = (1 << 24) - 1;

/// The numbers that make a layer, to be named where they are written:
///   ConvLayer({.C = 64, .H = 56, .W = 56, .K = 64, .R = 3, .S = 3, .padding_h = 1, .padding_w = 1})
struct LayerShape {
  std::int64_t N = 1;           // images in the batch
  std::int64_t C = 1;           // channels of an image, and of a filter where there is one group
  std::int64_t H = 0;           // rows of an image
  std::int64_t W = 0;           // columns of an image
  std::int64_t K = 1;           // filters, and channels of the output
  std::int64_t R = 0;           // rows of a filter
  std::int64_t S = 0;           // columns of a filter
  std::int64_t stride_h = 1;    // input rows from one output row to the next
  std::int64_t stride_w = 1;    // input columns from one output column to the next
  std::int64_t padding_h = 0;   // ghost rows above, and as many below
  std::int64_t padding_w = 0;   // ghost columns left, and as many right
  std::int64_t groups = 1;      // of channels, and of the filters that see no others
  std::int64_t dilation_h = 1;  // input rows from one row of taps to the next
  std::int64_t dilation_w = 1;  // input columns from one column of taps to the next

  bool operator==(const LayerShape&) const = default;
};

/// A layer that has been validated: an object of this type is always within the limits.
class ConvLayer {
 public:
  /// Throws std::invalid_argument, in one line, for
  ///   - a dimension, stride, dilation or number of groups below 1, a padding below 0, or any of them beyond 2^31 - 1;
  ///   - groups that channels or filters are not multiples of;
  ///   - a filter larger than the padded input, either way;
  ///   - a padded input of more than 2^31 - 1 rows or columns;
  ///   - an array of more than kMaxElements;
  ///   - more than kMaxProductsPerOutput products in an output.
  /// Padding may be as wide as the filter or wider: some outputs are then sums of nothing, and 0.
  explicit ConvLayer(const LayerShape& shape);

  int N() const { return static_cast<int>(shape_.N); }
  int C() const { return static_cast<int>(shape_.C); }
  int H() const { return static_cast<int>(shape_.H); }
  int W() const { return static_cast<int>(shape_.W); }
  int K() const { return static_cast<int>(shape_.K); }
  int R() const { return static_cast<int>(shape_.R); }
  int S() const { return static_cast<int>(shape_.S); }
  int P() const { return P_; }  // rows of the output
  int Q() const { return Q_; }  // columns of the output
  int stride_h() const { return static_cast<int>(shape_.stride_h); }
  int stride_w() const { return static_cast<int>(shape_.stride_w); }
  int padding_h() const { return static_cast<int>(shape_.padding_h); }
  int padding_w() const { return static_cast<int>(shape_.padding_w); }
  int groups() const { return static_cast<int>(shape_.groups); }
  int dilation_h() const { return static_cast<int>(shape_.dilation_h); }
  int dilation_w() const { return static_cast<int>(shape_.dilation_w); }
  /// Channels of a filter, C / groups.
  int filter_channels() const { return static_cast<int>(shape_.C / shape_.groups); }
  const LayerShape& shape() const { return shape_; }

  /// Elements of the three arrays, each at most kMaxElements: N*C*H*W, K*(C/G)*R*S, N*K*P*Q.
  std::int64_t input_size() const { return shape_.N * shape_.C * shape_.H * shape_.W; }
  std::int64_t filters_size() const { return shape_.K * products_per_output(); }
  std::int64_t output_size() const { return shape_.N * shape_.K * P_ * Q_; }

  /// Products of an output that no ghost cell takes part in: (C/G)*R*S.
  std::int64_t products_per_output() const { return filter_channels() * shape_.R * shape_.S; }

  /// Whether a filter covers the whole map and there is no padding: an image has one output of each filter.
  bool filters_cover_map() const {
    return shape_.R == shape_.H && shape_.S == shape_.W && shape_.padding_h == 0 &&
           shape_.padding_w == 0;
  }

  /// The same layer on another number of images. Throws as the constructor.
  ConvLayer with_batch(std::int64_t images) const;

  bool operator==(const ConvLayer&) const = default;

 private:
  LayerShape shape_;
  int P_ = 0;
  int Q_ = 0;
};

/// Why a layer is not for whoever knows of no groups, or of no dilation, as the end of a sentence; empty: it has none.
std::string refusal_of_groups(const ConvLayer& layer);
std::string refusal_of_dilation(const ConvLayer& layer);

/// A short name, the same for the same layer and different for different ones. It is cuConv's own:
/// size - batch - filter size - filters - channels, "7-1-3-384-192". What is not square is
/// written "7x9" (rows x columns); a stride other than 1 and a padding other than
/// (filter size - 1) / 2 * dilation, which the papers' layers all have, follow as "-s2" and "-p0" (or
/// "-s2x1"), and then groups and a dilation other than 1: "56-1-3-128-128-g32", "33-1-3-512-512-d2".
std::string label(const ConvLayer& layer);

/// The layer of such a name: label(parse_label(text)) is text, but for parts that label leaves out.
/// Throws std::invalid_argument, in one line, for any other text, and as the constructor of ConvLayer.
ConvLayer parse_label(std::string_view text);

/// Throws std::invalid_argument, in one line, unless input holds N*C*H*W values and filters
/// K*C*R*S, all finite and so small that no sum can overflow float (max|input| * max over k of
/// sum|filters[k]| stays below the largest float).
void require_data(const ConvLayer& layer, std::span<const float> input,
                  std::span<const float> filters);

/// The true value of one output, sum|a||b| over its products, and how many of them there are:
/// pairs of a tap and a cell that exists.
struct OutputReference {
  double value = 0;
  double scale = 0;
  std::int64_t products = 0;
};

/// For one output, [n][k][p][q], as `reference`. Throws std::invalid_argument as require_data does
/// for the sizes (values are not looked at: for one output that would cost more than the output),
/// and if there is no such output.
OutputReference output_reference(const ConvLayer& layer, std::span<const float> input,
                                 std::span<const float> filters, std::int64_t index);

/// The true outputs, as near as double gives them, and sum|a||b| for each; both [N][K][P][Q].
/// Products of two floats are exact in double (24 + 24 <= 53 bits) and only the additions round,
/// each within 2^-53: for the same reason as in 1D (see conv1d.hpp) that needs no term of its own
/// in the bound, gamma(L) overestimates the worst float sum by more than L^2/2 * 2^-48 of the
/// scale, the reference is off by less than L * 2^-53 of it. Throws as require_data.
Reference reference(const ConvLayer& layer, std::span<const float> input,
                    std::span<const float> filters);

/// How the data of a large layer repeat: image n equals image n - images, filter k equals filter
/// k - filters, bit for bit. 0 means that all are different. The outputs then repeat as well, and
/// the references of `images` x `filters` planes [P][Q] are all there are to compute.
struct Repeat {
  int images = 0;
  int filters = 0;
  bool operator==(const Repeat&) const = default;
};

/// Products that a reference should not exceed by much: half a second of one core.
inline constexpr std::int64_t kReferenceProducts = std::int64_t{1} << 29;

/// The repeat with which a layer can be judged in about `most_products` products: none if it has no
/// more than that; else 3 images, and as many filters as that allows, a prime from 5 to 127. (With
/// so few images or filters that they would not repeat, 0.)
///
/// Why repeat, and not compare a sample of the outputs? A sample, however drawn, misses the one
/// output that a block left out or wrote twice. With repeated data every output is compared, and
/// what stays unseen is one kind of mistake only: an image or a filter taken for another that lies
/// a multiple of the period away. The periods are odd primes, so no such distance is a tile, a
/// block or a warp, all of them powers of two, nor what an index that wrapped round is off by. And
/// that mistake shows on every layer that is small enough not to repeat, with the same kernel.
/// Repeating along H and W would save more, but there the neighbours are what a convolution is
/// about.
///
/// Use: repeat = affordable_repeat(layer), data from layer_inputs.hpp with that repeat, and a
/// LayerChecker with it.
Repeat affordable_repeat(const ConvLayer& layer, std::int64_t most_products = kReferenceProducts);

/// Judges the outputs of one layer, in pieces of any size: every output against its bound,
/// error_bound(L, sum|a||b|) with L the products that belong to it, fewer at padded edges (with
/// Demand::exact: equal as numbers; with a transform: plus what it adds, of its image
/// and filter). Nothing is left to a sample, and the verdict does not depend on the pieces, on the
/// threads (several are used where there is enough to do) or on the repeat.
class LayerChecker {
 public:
  /// Keeps views of input and filters, which must outlive it. With a repeat each of the two may also
  /// hold its first period only: [images][C][H][W], [filters][C][R][S].
  ///
  /// Without a repeat each reference is computed when it is asked for: C*R*S products an output.
  /// With one the references of one period are computed here, in 16 bytes of memory each, and
  /// judging then takes as long as reading the outputs.
  ///
  /// `layout` is that of the outputs, [N][K][P][Q] or [K][P][Q][N]. Input and filters are given as
  /// always, [N][C][H][W] and [K][C][R][S].
  ///
  /// Throws std::invalid_argument as require_data, for a negative period and for data that do not
  /// repeat.
  LayerChecker(const ConvLayer& layer, std::span<const float> input, std::span<const float> filters,
               Demand demand = Demand::bounded, Repeat repeat = {}, Layout layout = Layout::nchw);

  /// Judges the outputs first, first + 1, ... of the flat array of that layout. May be called from
  /// several threads. Throws std::invalid_argument if the layer has no such outputs.
  Comparison judge(std::int64_t first, std::span<const float> outputs) const;

 private:
  void expect(std::int64_t first, std::int64_t count, double* value, double* bound) const;
  std::int64_t place_in_period(std::int64_t n, std::int64_t plane_cell) const;
  Comparison judge_nchw(std::int64_t first, std::span<const float> outputs) const;
  Comparison judge_chwn(std::int64_t first, std::span<const float> outputs) const;

  ConvLayer layer_;
  std::span<const float> input_;
  std::span<const float> filters_;
  Demand demand_;
  Layout layout_;
  int period_images_;
  int period_filters_;
  // With a transform: max|input| of each image of a period, sum|tap| of each filter.
  std::vector<double> largest_input_;
  std::vector<double> filter_sum_;
  // Of one period of planes, [period_images][period_filters][P][Q]; empty without a repeat.
  std::vector<double> value_;
  std::vector<double> bound_;
};

/// Judges a whole output at once. Throws std::invalid_argument as LayerChecker and if output does
/// not hold N*K*P*Q values.
Comparison check(const ConvLayer& layer, std::span<const float> input,
                 std::span<const float> filters, std::span<const float> output,
                 Demand demand = Demand::bounded);

/// Products that belong to the outputs: pairs of a tap and a cell that exists. Without padding
/// N*K*P*Q * C*R*S.
std::int64_t products(const ConvLayer& layer);

/// Floating-point operations: two (a multiply, an add) for each product. What a figure in GFLOP/s
/// is based on, whatever the algorithm: Winograd and FFT do fewer. Vendors' figures count ghost
/// cells too: 2 * N*K*P*Q * C*R*S.
std::int64_t flops(const ConvLayer& layer);

/// Bytes that must move even with a perfect cache: each input cell and each tap that takes part in
/// some product read once, each output written once, 4 bytes each. Cells that a stride steps over
/// take no part, nor do taps that only ever meet ghost cells.
std::int64_t min_bytes(const ConvLayer& layer);

}  // namespace halo::conv
