// What lies inside comes by cooperative_groups::memcpy_async, the repeated ends by whoever is free.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda_runtime.h>

#include "common/exercise/exercise.h"

namespace cg = cooperative_groups;

__constant__ float taps[1023];

__global__ void tile_and_halo(const float* input, float* output, int n, int width) {
  extern __shared__ float tile[];
  const cg::thread_block block = cg::this_thread_block();
  const int size = blockDim.x + width - 1;
  const int begin = static_cast<int>(blockIdx.x * blockDim.x) - width / 2;
  const int first = max(begin, 0), last = min(begin + size, n);  // of the signal's own cells
  cg::memcpy_async(block, tile + (first - begin), input + first,
                   sizeof(float) * max(last - first, 0));
  for (int s = threadIdx.x; s < size; s += blockDim.x) {
    if (begin + s < 0) tile[s] = input[0];
    if (begin + s >= n) tile[s] = input[n - 1];
  }
  cg::wait(block);
  block.sync();
  const int i = block.group_index().x * block.group_dim().x + block.thread_rank();
  if (i >= n) return;
  float sum = 0.0f;
  for (int j = 0; j < width; ++j) sum = fmaf(tile[threadIdx.x + j], taps[j], sum);
  output[i] = sum;
}

static int launch(const float* input, const float* mask, float* output, int n, int width,
                  int threads) {
  cudaMemcpyToSymbol(taps, mask, width * sizeof(float), 0, cudaMemcpyDeviceToDevice);
  const auto bytes = (threads + width - 1) * sizeof(float);
  tile_and_halo<<<(n + threads - 1) / threads, threads, bytes>>>(input, output, n, width);
  return cudaGetLastError();
}

halo::Exercise halo::exercise() { return launch; }
