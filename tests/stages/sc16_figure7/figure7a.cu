// Fig. 7a. The right side of the assignment is lost in the presentation; only one makes it a transform
// from CHWN.
#include "tests/stages/sc16_figure7/figure7.hpp"

namespace halo::sc16_figure7 {

// [doc:listing]
__global__ void Transformation(const float* in, float* out) {
  // from CHWN to NHWC.
  int tx = threadIdx.x, bx = blockIdx.x;
  int by = blockIdx.y, bz = blockIdx.z;
  out[((tx * gridDim.z + bz) * gridDim.y + by) * gridDim.x + bx] =
      in[((bz * gridDim.y + by) * gridDim.x + bx) * blockDim.x + tx];
}
// [/doc:listing]

cudaError_t naive(const float* input, float* output, int N, int C, int H, int W) {
  Transformation<<<dim3(W, H, C), N>>>(input, output);
  return cudaGetLastError();
}

}  // namespace halo::sc16_figure7
