// The kernels of tensor.cu: tensor cores by inline PTX.
#pragma once

#include <cstdint>
#include <vector>

namespace tensor {

// One mma of a warp: D = A B + C, with A 16 x depth, B depth x 8, C and D 16 x 8, all row after row; A and
// B go in bit by bit. Depth 8 or 4. Empty if the kernel failed.
std::vector<float> multiply(int depth, const std::vector<std::uint32_t>& a,
                            const std::vector<std::uint32_t>& b, const std::vector<float>& c);

// The same of any depth that 8 divides, with B column after column and without C: inputs rounded to TF32;
// `three`: and the products of what that cuts off with the other's first part (3xTF32).
std::vector<float> multiply_deep(int depth, bool three, const std::vector<float>& a,
                                 const std::vector<float>& b);

// cvt.rna.tf32.f32 of each.
std::vector<std::uint32_t> rounded(const std::vector<float>& values);

// ---- who takes part (the markers are in the source) ----
struct Case {
  const char* name;
  int (*run)();  // a CUDA error
};
const std::vector<Case>& cases();

}  // namespace tensor
