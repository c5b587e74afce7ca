// Twelve threads are no tile.
#include <cooperative_groups.h>

__global__ void divide(int* out) {
  const auto tile =
      cooperative_groups::tiled_partition(cooperative_groups::this_thread_block(), 12);
  out[threadIdx.x] = tile.thread_rank();
}

int main() {
  int* out;
  cudaMalloc(&out, 24 * sizeof(int));
  divide<<<1, 24>>>(out);
  return cudaDeviceSynchronize() != cudaErrorLaunchFailure;
}
