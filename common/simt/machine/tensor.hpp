// Matrices in the registers of a warp: who of its lanes holds which elements, and what they are worth.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "common/simt/machine/decode.hpp"
#include "common/simt/machine/tensor_sum.hpp"
#include "common/simt/machine/warp.hpp"

namespace simt::machine {

enum class Role : std::uint8_t { a, b, accumulator };
enum class Element : std::uint8_t { f16, bf16, tf32, e4m3, e5m2, s8, u8, f64, f32, s32 };

int bits_of(Element element);
double number_of(Element element, std::uint64_t bits);
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

/// Of "m16n8k16".
struct Shape {
  int m = 0, n = 0, k = 0;
};
Shape shape_of(const Decoder& decoder, const ptx::Instruction& one);
/// The elements that an instruction names, in order.
std::vector<Element> elements_of(const ptx::Instruction& one);

}  // namespace simt::machine
