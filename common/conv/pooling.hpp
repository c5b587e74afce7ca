// A pooling layer as all stages mean it: the problem, its reference, the check of an output, and what
// the work costs at least. Nothing here knows of any device.
//
// The letters are those of docs/notation.md. With the strides u, v and the paddings a, b (down and
// across), output [n][c][p][q] is the largest or the average of the cells
//   input[n][c][p*u - a + r][q*v - b + s],   0 <= r < R, 0 <= s < S,
// that exist: ghost cells take no part, neither in a maximum (they count as -inf) nor in an average
// (which divides by the number of cells that exist; cuDNN's COUNT_EXCLUDE_PADDING).
//   P = floor or ceil of ((H + 2a - R) / u), + 1,   and Q alike.
// With ceil the last window may reach beyond the bottom or right edge by more than the padding; one
// that would begin beyond the image and its left or upper padding is left out, as Caffe and PyTorch
// do, so every window has a cell.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/conv/accuracy.hpp"
#include "common/conv/layout.hpp"

namespace halo::conv {

enum class Pooling { max, average };
enum class Rounding { floor, ceil };

/// The numbers that make a pooling layer, to be named where they are written.
struct PoolingShape {
  std::int64_t N = 1;          // images in the batch
  std::int64_t C = 1;          // channels, of input and output
  std::int64_t H = 0;          // rows of an image
  std::int64_t W = 0;          // columns of an image
  std::int64_t R = 0;          // rows of a window
  std::int64_t S = 0;          // columns of a window
  std::int64_t stride_h = 1;   // input rows from one window to the next
  std::int64_t stride_w = 1;   // input columns from one window to the next
  std::int64_t padding_h = 0;  // ghost rows above, and as many below
  std::int64_t padding_w = 0;  // ghost columns left, and as many right
  Pooling kind = Pooling::max;
  Rounding rounding = Rounding::floor;

  bool operator==(const PoolingShape&) const = default;
};

/// A pooling layer that has been validated.
class PoolingLayer {
 public:
  /// Throws std::invalid_argument, in one line, for
  ///   - a dimension or stride below 1, a padding below 0, or any of them beyond 2^31 - 1;
  ///   - a padding as wide as the window or wider (a window could lie outside the image);
  ///   - a window larger than the padded input, either way (with Rounding::ceil too);
  ///   - windows that reach over more than 2^31 - 1 rows or columns;
  ///   - an array of more than kMaxLength cells;
  ///   - an average of more than 2^24 - 2 cells (gamma bounds no longer sum).
  explicit PoolingLayer(const PoolingShape& shape);

  int N() const { return static_cast<int>(shape_.N); }
  int C() const { return static_cast<int>(shape_.C); }
  int H() const { return static_cast<int>(shape_.H); }
  int W() const { return static_cast<int>(shape_.W); }
  int R() const { return static_cast<int>(shape_.R); }
  int S() const { return static_cast<int>(shape_.S); }
  int P() const { return P_; }  // rows of the output
  int Q() const { return Q_; }  // columns of the output
  int stride_h() const { return static_cast<int>(shape_.stride_h); }
  int stride_w() const { return static_cast<int>(shape_.stride_w); }
  int padding_h() const { return static_cast<int>(shape_.padding_h); }
  int padding_w() const { return static_cast<int>(shape_.padding_w); }
  Pooling kind() const { return shape_.kind; }
  Rounding rounding() const { return shape_.rounding; }
  const PoolingShape& shape() const { return shape_; }

  Images input() const;   // [N][C][H][W], in either layout
  Images output() const;  // [N][C][P][Q], in either layout
  std::int64_t input_size() const { return shape_.N * shape_.C * shape_.H * shape_.W; }
  std::int64_t output_size() const { return shape_.N * shape_.C * P_ * Q_; }

  /// The same layer on another number of images. Throws as the constructor.
  PoolingLayer with_batch(std::int64_t images) const;

  bool operator==(const PoolingLayer&) const = default;

 private:
  PoolingShape shape_;
  int P_ = 0;
  int Q_ = 0;
};

/// A short name, different for different layers: size - batch - window - channels, "55-128-3-96",
/// then what is not usual: "-s2" a stride other than the window's size, "-p1" a padding, "-average",
/// "-ceil". What is not square is written "7x9" (rows x columns).
std::string label(const PoolingLayer& layer);
/// The layer of such a name. Throws std::invalid_argument, in one line, for any other text, and as
/// the constructor.
PoolingLayer parse_pooling(std::string_view text);

/// How many different kinds of input there are to try; kind 0 is the one that is timed.
int input_kinds(const PoolingLayer& layer);
/// Cells in NCHW order, from a seed. Kind 0: distinct values of both signs. Kind 1: all negative,
/// with some -inf where the kind is max (windows of nothing else among them), so that a ghost cell
/// taken for 0 or for the lowest finite number shows. Throws std::invalid_argument for another kind.
std::vector<float> make_input(const PoolingLayer& layer, int kind, std::uint64_t seed);

/// Judges the outputs of a pooling layer, in pieces of any size. A maximum must be equal to the true
/// one. An average of L cells may be off by what L - 1 additions in any order and a division, or a
/// product with 1/L, round: gamma(L + 1) * sum|cell| / L + 2^-150 (see pooling.cpp); with infinite
/// cells it must be what the sum is, infinite or NaN. Inputs must not be NaN, and no sum may overflow
/// float.
class PoolingChecker {
 public:
  /// `layout` is that of input and outputs. Keeps a view of the input, which must outlive it. Throws
  /// std::invalid_argument unless it has the right size.
  PoolingChecker(const PoolingLayer& layer, Layout layout, std::span<const float> input);
  /// Judges the outputs first, first + 1, ... of the flat array. May be called from several threads.
  /// Throws std::invalid_argument if the layer has no such outputs.
  Comparison judge(std::int64_t first, std::span<const float> outputs) const;

 private:
  PoolingLayer layer_;
  Layout layout_;
  std::span<const float> input_;
};

/// Bytes that must move even with a perfect cache: each input cell that is in some window read once,
/// each output written once, 4 bytes each.
std::int64_t min_bytes(const PoolingLayer& layer);
/// One comparison or addition for each cell of a window beyond its first; a division more for each
/// average.
std::int64_t flops(const PoolingLayer& layer);

}  // namespace halo::conv
