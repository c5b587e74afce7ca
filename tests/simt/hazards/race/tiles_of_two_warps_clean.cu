#include <cooperative_groups.h>

namespace cg = cooperative_groups;

__global__ void swap_in_tiles(int* out) {
  __shared__ cg::block_tile_memory<128> memory;
  __shared__ int own[128];
  const auto tile = cg::tiled_partition<64>(cg::this_thread_block(memory));
  for (int round = 0; round < 3; ++round) {
    own[threadIdx.x] = threadIdx.x + round;
    tile.sync();
    out[threadIdx.x] = own[threadIdx.x ^ 63];
    tile.sync();
  }
}

int main() {
  int* out;
  cudaMalloc(&out, 128 * sizeof(int));
  swap_in_tiles<<<1, 128>>>(out);
  return cudaDeviceSynchronize();
}
