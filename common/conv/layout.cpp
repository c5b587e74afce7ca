#include "common/conv/layout.hpp"

#include <bit>
#include <stdexcept>

#include "common/conv/inputs.hpp"
#include "common/conv/internal.hpp"
#include "common/conv/labels.hpp"

namespace halo::conv {

namespace {

using internal::Range;

constexpr std::uint64_t kLayoutStream = 0x8cb92ba72f3d8dd7u;

// A matrix and its transposition are read and written in squares of so many rows and columns: 16 KB,
// so that every cache line that is touched is used up.
constexpr std::int64_t kSquare = 64;

// The images of a layout as a matrix: [C*H*W][N] or [N][C*H*W].
struct Matrix {
  std::int64_t rows;
  std::int64_t columns;
};

Matrix matrix_of(const Images& images, Layout layout) {
  const std::int64_t cells = images.size() / images.N();
  return layout == Layout::nchw ? Matrix{images.N(), cells} : Matrix{cells, images.N()};
}

// Part of the transposition of input [columns][rows]: to = [rows][columns] of a block.
void transpose_block(const float* input, const Matrix& output, Range rows, Range columns,
                     float* to) {
  for (std::int64_t column = columns.begin; column < columns.end; ++column) {
    const float* const from = input + column * output.rows;
    for (std::int64_t row = rows.begin; row < rows.end; ++row) {
      to[(row - rows.begin) * columns.size() + column - columns.begin] = from[row];
    }
  }
}

}  // namespace

Layout parse_layout(std::string_view text) {
  for (const Layout layout : {Layout::nchw, Layout::chwn}) {
    if (text == to_string(layout)) return layout;
  }
  throw std::invalid_argument(
      "'" + std::string(text) +
      "' names no layout: it is nchw (a row's cells are neighbours) or chwn "
      "(the images' are)");
}

Images::Images(const ImagesShape& shape) : shape_(shape) {
  constexpr const char* kWhose = "a batch of images'";
  internal::require_at_least(kWhose, "N (images)", shape.N, 1);
  internal::require_at_least(kWhose, "C (channels)", shape.C, 1);
  internal::require_at_least(kWhose, "H (rows)", shape.H, 1);
  internal::require_at_least(kWhose, "W (columns)", shape.W, 1);
  internal::require_elements("batch", "N x C x H x W", {shape.N, shape.C, shape.H, shape.W});
}

std::vector<float> rearranged(const Images& images, std::span<const float> cells, Layout from,
                              Layout to) {
  internal::require_size("array of images", cells.size(), images.size());
  if (from == to) return {cells.begin(), cells.end()};
  std::vector<float> result(cells.size());
  const Matrix matrix = matrix_of(images, to);
  internal::in_parts(images.size(), 1, [&](std::int64_t first, std::int64_t end) {
    std::vector<float> block(kSquare * kSquare);
    internal::for_each_block(
        first, end, matrix.columns, kSquare, kSquare,
        [&](Range rows, Range columns) {
          transpose_block(cells.data(), matrix, rows, columns, block.data());
        },
        [&](std::int64_t begin, std::int64_t run_end, std::int64_t at) {
          std::copy_n(block.begin() + at, run_end - begin, result.begin() + begin);
        });
  });
  return result;
}

std::string label(const Transform& transform) {
  const Images& images = transform.images();
  return internal::pair(images.H(), images.W()) + "-" + std::to_string(images.N()) + "-" +
         std::to_string(images.C()) + "-to-" + to_string(transform.to());
}

Transform parse_transform(std::string_view text) {
  internal::LabelReader label(
      text,
      "names no transform: it is size-batch-channels-to-layout, as 28-128-16-to-nchw, or "
      "7x9-128-16-to-chwn");
  ImagesShape shape;
  label.pair(shape.H, shape.W);
  shape.N = label.number();
  shape.C = label.number();
  if (!label.word("to")) throw label.error();
  const std::string_view to = label.part();
  label.end();
  for (const Layout layout : {Layout::nchw, Layout::chwn}) {
    if (to == to_string(layout)) return Transform(Images(shape), other(layout));
  }
  throw label.error();
}

int input_kinds(const Transform&) { return 2; }

std::vector<float> make_input(const Transform& transform, int kind, std::uint64_t seed) {
  internal::require_kind(kind, input_kinds(transform));
  const auto stream = (seed ^ kLayoutStream) + static_cast<std::uint64_t>(kind);
  // One octave: no two of 2^23 neighbours have the same magnitude.
  std::vector<float> cells =
      adversarial_input(Problem1d(transform.input_size(), kMaxMaskWidth), stream);
  if (kind == 0) return cells;
  // Bits that a move keeps and arithmetic may not: -0, subnormals, the largest, infinities, and the
  // NaN that a GPU's own arithmetic makes.
  constexpr std::uint32_t kBits[] = {0x80000000u, 0x00000001u, 0x807FFFFFu, 0x7F7FFFFFu,
                                     0x7F800000u, 0xFF800000u, 0x7FFFFFFFu, 0x00000000u};
  Random random(stream + 1);
  for (std::size_t i = random.below(5); i < cells.size(); i += 1 + random.below(9)) {
    cells[i] = std::bit_cast<float>(kBits[random.below(std::size(kBits))]);
  }
  return cells;
}

TransformChecker::TransformChecker(const Transform& transform, std::span<const float> input)
    : transform_(transform), input_(input) {
  internal::require_size("input", input.size(), transform.input_size());
}

Comparison TransformChecker::judge(std::int64_t first, std::span<const float> outputs) const {
  internal::require_outputs("the transform", transform_.output_size(), first,
                            static_cast<std::int64_t>(outputs.size()));
  const Matrix matrix = matrix_of(transform_.images(), transform_.to());
  return internal::judged_in_parts(
      first, outputs, 1, [&](std::int64_t from, std::span<const float> part) {
        Comparison result;
        std::vector<float> expected(kSquare * kSquare);
        internal::for_each_block(
            from, from + static_cast<std::int64_t>(part.size()), matrix.columns, kSquare, kSquare,
            [&](Range rows, Range columns) {
              transpose_block(input_.data(), matrix, rows, columns, expected.data());
            },
            [&](std::int64_t begin, std::int64_t end, std::int64_t at) {
              result.judge_bits_run(begin,
                                    part.subspan(static_cast<std::size_t>(begin - from),
                                                 static_cast<std::size_t>(end - begin)),
                                    &expected[static_cast<std::size_t>(at)]);
            });
        return result;
      });
}

std::int64_t min_bytes(const Transform& transform) {
  return 4 * (transform.input_size() + transform.output_size());
}

std::int64_t flops(const Transform&) { return 0; }

}  // namespace halo::conv
