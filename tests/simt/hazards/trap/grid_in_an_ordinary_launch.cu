// The whole grid is waited for in a launch that is not cooperative.
#include <cooperative_groups.h>

__global__ void wait(int* out) {
  out[blockIdx.x] = 1;
  cooperative_groups::this_grid().sync();
  out[blockIdx.x] += out[(blockIdx.x + 1) % gridDim.x];
}

int main() {
  int* out;
  cudaMalloc(&out, 4 * sizeof(int));
  wait<<<4, 1>>>(out);
  return cudaDeviceSynchronize() != cudaErrorLaunchFailure;
}
