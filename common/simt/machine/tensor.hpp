// Matrices in the registers of a warp: who of its lanes holds which elements, and what they are worth.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/simt/machine/decode.hpp"
#include "common/simt/machine/tensor_sum.hpp"
#include "common/simt/machine/warp.hpp"

namespace simt::machine {

enum class Role : std::uint8_t { a, b, accumulator };
enum class Element : std::uint8_t {
  f16,
  bf16,
  tf32,
  e4m3,
  e5m2,
  s8,
  u8,
  s4,
  u4,
  b1,
  f64,
  f32,
  s32
};

int bits_of(Element element);
double number_of(Element element, std::uint64_t bits);
bool is_whole_number(Element element);
std::int32_t whole_number_of(Element element, std::uint64_t bits);
bool is_finite(Element element, std::uint64_t bits);
tensor::Factor factor_of(Element element, std::uint64_t bits);

/// A matrix of rows x columns elements, and its registers: A is m x k, B is k x n, C and D are m x n.
struct Fragment {
  Role role = Role::a;
  Element element = Element::f16;
  int rows = 0, columns = 0;

  int per_register() const { return std::max(1, 32 / bits_of(element)); }
  bool operator==(const Fragment&) const = default;
  // Of those that differ: some fragments hold each element twice.
  int registers() const { return rows * columns / kLanes / per_register(); }
};

struct Place {
  int row, column;
};
/// The element at position j of register i of a lane.
Place place_of(const Fragment& its, int i, int j, int lane);

/// Rows of A or columns of B, at most so many: their factors by k, those of neighbours beside each other.
template <int kMost>
struct Lines {
  static constexpr int kDeepest = tensor::kMostProducts;
  alignas(64) std::array<std::array<std::int32_t, kMost>, kDeepest> value;
  alignas(64) std::array<std::array<std::int32_t, kMost>, kDeepest> top;
  std::array<bool, kMost> are_finite;

  /// bits_at(line, k) are those of an element.
  template <class BitsAt>
  void fill(Element element, bool negates, int lines, int depth, BitsAt bits_at) {
    for (int line = 0; line < lines; ++line) {
      const auto l = static_cast<std::size_t>(line);
      are_finite[l] = true;
      for (int i = 0; i < depth; ++i) {
        const auto k = static_cast<std::size_t>(i);
        const std::uint64_t bits = bits_at(line, i);
        are_finite[l] = are_finite[l] && is_finite(element, bits);
        const tensor::Factor its = factor_of(element, bits);
        value[k][l] = negates ? -its.value : its.value;
        top[k][l] = its.top;
      }
    }
  }
  tensor::Factors from(std::size_t line, std::size_t k) const {
    return {&value[k][line], &top[k][line], static_cast<std::size_t>(kMost)};
  }
};

/// Of sparse A, of which half is stored: which column of each four (of TF32 of each two, of 4 bits which two of each eight)
/// an element of the stored half is, of 16 rows. The words are those of a warp's lanes, of which a quad's one, two or all
/// four count.
class Chosen {
 public:
  Chosen(Element element, int depth, unsigned selector, const std::uint32_t* words);
  /// The column of the whole matrix.
  int operator()(int row, int column) const {
    return columns_[static_cast<std::size_t>(row)][static_cast<std::size_t>(column)];
  }

 private:
  std::array<std::array<std::uint8_t, 64>, 16> columns_;
};

/// Of "m16n8k16".
struct Shape {
  int m = 0, n = 0, k = 0;
};
Shape shape_of(const Decoder& decoder, const ptx::Instruction& one);
/// Of wmma.load and wmma.store the bytes of each access of a lane, but for rows that ptxas fetches by ldmatrix.
std::vector<int> widths_of_matrix(const ptx::Instruction& one);
/// The elements that an instruction names, in order.
std::vector<Element> elements_of(const ptx::Instruction& one);

}  // namespace simt::machine
