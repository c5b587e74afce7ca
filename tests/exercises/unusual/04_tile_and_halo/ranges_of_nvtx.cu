// With ranges for a profiler, by NVTX of C and of C++.
#include <cuda_runtime.h>
#include <nvtx3/nvToolsExt.h>

#include <nvtx3/nvtx3.hpp>

#include "common/exercise/exercise.h"

constexpr int kMaxMaskWidth = 1023;
__constant__ float mask_constant[kMaxMaskWidth];

__global__ void tile_and_halo(const float* input,  // [n]
                              float* output,       // [n]
                              int n, int width) {
  extern __shared__ float tile[];  // [blockDim.x + 2 * halo], tile[s] is the cell tile_start + s

  const int halo = (width - 1) / 2;
  const int tile_start = static_cast<int>(blockIdx.x * blockDim.x) - halo;

  const int tile_size = blockDim.x + 2 * halo;
  for (int s = threadIdx.x; s < tile_size; s += blockDim.x) {
    tile[s] = input[min(max(tile_start + s, 0), n - 1)];
  }

  __syncthreads();

  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float sum = 0.0f;
  for (int j = 0; j < width; ++j) {
    sum += tile[threadIdx.x + j] * mask_constant[j];
  }
  output[i] = sum;
}

static int launch(const float* input, const float* mask, float* output, int n, int width,
                  int threads) {
  NVTX3_FUNC_RANGE();
  nvtxRangePushA("copy and kernel");
  cudaMemcpyToSymbol(mask_constant, mask, width * sizeof(float), 0, cudaMemcpyDeviceToDevice);
  const int blocks = (n - 1) / threads + 1;
  const size_t tile_bytes = (threads + width - 1) * sizeof(float);
  tile_and_halo<<<blocks, threads, tile_bytes>>>(input, output, n, width);
  nvtxRangePop();
  return cudaGetLastError();
}

halo::Exercise halo::exercise() { return launch; }
