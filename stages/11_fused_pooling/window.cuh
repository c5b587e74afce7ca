// What is done with the cells of a window, one after the other. All kernels of this stage include it.
#pragma once

#include <cmath>

namespace halo::fused_pooling {

// [doc:window]
// What a ghost cell counts as: nothing that joins it is changed.
template <bool kAverage>
__device__ inline float nothing() {
  return kAverage ? 0.0f : -INFINITY;
}

template <bool kAverage>
__device__ inline float joined(float result, float cell) {
  return kAverage ? result + cell : fmaxf(result, cell);
}

// `cells` exist in the window. The quotient is rounded once; times 1 / cells would be twice.
template <bool kAverage>
__device__ inline float finished(float result, int cells) {
  return kAverage ? result / static_cast<float>(cells) : result;
}
// [/doc:window]

}  // namespace halo::fused_pooling
