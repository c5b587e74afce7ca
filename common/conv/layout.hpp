// Batches of images, the two orders in which their cells may lie in memory, and the problem of
// changing one order into the other. Nothing here knows of any device.
//
// The letters are those of docs/notation.md. A layout is written slowest dimension first: in NCHW
// neighbours along a row of one image are neighbours in memory (cuDNN, Caffe); in CHWN the same cell
// of neighbouring images is (cuda-convnet). Li et al., "Optimizing Memory Efficiency for Deep
// Convolutional Neural Networks on GPUs" (SC'16), section II.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/conv/accuracy.hpp"
#include "common/conv/limits.hpp"

namespace halo::conv {

enum class Layout { nchw, chwn };

/// "nchw", "chwn".
constexpr const char* to_string(Layout layout) { return layout == Layout::nchw ? "nchw" : "chwn"; }
/// The opposite; throws std::invalid_argument, in one line, for other words.
Layout parse_layout(std::string_view text);
/// The one that it is not.
constexpr Layout other(Layout layout) {
  return layout == Layout::nchw ? Layout::chwn : Layout::nchw;
}

/// The numbers of a batch of images, to be named where they are written: {.N = 128, .C = 3, ...}
struct ImagesShape {
  std::int64_t N = 1;  // images in the batch
  std::int64_t C = 1;  // channels of an image
  std::int64_t H = 0;  // rows of an image
  std::int64_t W = 0;  // columns of an image

  bool operator==(const ImagesShape&) const = default;
};

/// A batch of images that has been validated, in whatever order its cells lie.
class Images {
 public:
  /// Throws std::invalid_argument, in one line, for a dimension that is below 1 or beyond 2^31 - 1,
  /// and for more than kMaxLength cells: every index that a kernel forms fits an int.
  explicit Images(const ImagesShape& shape);

  int N() const { return static_cast<int>(shape_.N); }
  int C() const { return static_cast<int>(shape_.C); }
  int H() const { return static_cast<int>(shape_.H); }
  int W() const { return static_cast<int>(shape_.W); }
  const ImagesShape& shape() const { return shape_; }
  std::int64_t size() const { return shape_.N * shape_.C * shape_.H * shape_.W; }

  bool operator==(const Images&) const = default;

 private:
  ImagesShape shape_;
};

/// Where cell [n][c][h][w] lies in an array of this layout, counted in floats.
constexpr std::int64_t index_of(const ImagesShape& shape, Layout layout, std::int64_t n,
                                std::int64_t c, std::int64_t h, std::int64_t w) {
  return layout == Layout::nchw ? ((n * shape.C + c) * shape.H + h) * shape.W + w
                                : ((c * shape.H + h) * shape.W + w) * shape.N + n;
}

/// The same images in another order. Throws std::invalid_argument unless there are N*C*H*W cells.
std::vector<float> rearranged(const Images& images, std::span<const float> cells, Layout from,
                              Layout to);

/// The problem of stage 10: images of one layout are to be written in the other. As matrices:
/// CHWN is [C*H*W][N] and NCHW is [N][C*H*W], so it is a transposition.
class Transform {
 public:
  Transform(const Images& images, Layout from) : images_(images), from_(from) {}

  const Images& images() const { return images_; }
  Layout from() const { return from_; }
  Layout to() const { return other(from_); }
  std::int64_t input_size() const { return images_.size(); }
  std::int64_t output_size() const { return images_.size(); }

  bool operator==(const Transform&) const = default;

 private:
  Images images_;
  Layout from_;
};

/// A short name, different for different problems: size - batch - channels - to - layout,
/// "28-128-16-to-nchw"; what is not square is "28x30" (rows x columns).
std::string label(const Transform& transform);
/// The transform of such a name. Throws std::invalid_argument, in one line, for any other text, and
/// as the constructors.
Transform parse_transform(std::string_view text);

/// How many different kinds of input there are to try; kind 0 is the one that is timed.
int input_kinds(const Transform& transform);
/// Cells from a seed, in the transform's own layout `from`. Kind 0: no two of 2^23 neighbours are
/// alike. Kind 1: among them -0, subnormals, infinities and NaN, whose bits arithmetic might change.
/// Throws std::invalid_argument for another kind.
std::vector<float> make_input(const Transform& transform, int kind, std::uint64_t seed);

/// Judges the outputs of a transform, in pieces of any size: each must be its input cell, bit for
/// bit. Keeps a view of the input, which must outlive it. Throws std::invalid_argument unless the
/// input has the right size.
class TransformChecker {
 public:
  TransformChecker(const Transform& transform, std::span<const float> input);
  /// Judges the outputs first, first + 1, ... of the array of layout `to`. May be called from several
  /// threads. Throws std::invalid_argument if there are no such outputs.
  Comparison judge(std::int64_t first, std::span<const float> outputs) const;

 private:
  Transform transform_;
  std::span<const float> input_;
};

/// Bytes that must move even with a perfect cache: each cell read once and written once.
std::int64_t min_bytes(const Transform& transform);
/// No arithmetic: 0.
std::int64_t flops(const Transform& transform);

}  // namespace halo::conv
