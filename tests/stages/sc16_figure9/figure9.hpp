// The softmax listing of Li et al. (SC'16), Fig. 9, as it was printed, kept as evidence: tests show what
// the simulator says of it. It is no variant of any stage.
#pragma once

#include <cuda_runtime.h>

namespace halo::sc16_figure9 {

// mat[num_img][num_category] and out[num_img][num_category] in device memory. The listing's own launch
// has threads(num_category); its kernel is written for any block.
cudaError_t figure9(float* mat, float* out, int num_img, int num_category, dim3 threads);

}  // namespace halo::sc16_figure9
