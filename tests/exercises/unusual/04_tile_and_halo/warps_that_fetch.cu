// Persistent blocks whose first warp fetches the next tile while the others compute.
#include <cooperative_groups.h>
#include <cuda_runtime.h>

#include <cuda/barrier>

#include "common/exercise/exercise.h"

using Barrier = cuda::barrier<cuda::thread_scope_block>;
__constant__ float taps[1023];
enum Role { fetches, computes };

__global__ void pipelined(const float* input, float* output, int n, int width, int threads) {
  extern __shared__ float tiles[];  // two of them
  __shared__ Barrier full[2], empty[2];
  const int size = threads + width - 1, blocks = (n - 1) / threads + 1, t = threadIdx.x;
  const Role role = t < 32 ? fetches : computes;
  if (t == 0) {
    for (int k = 0; k < 2; ++k) init(&full[k], blockDim.x), init(&empty[k], blockDim.x);
  }
  __syncthreads();
  for (int tile = blockIdx.x, turn = 0; tile < blocks; tile += gridDim.x, ++turn) {
    const int k = turn % 2;
    float* const cells = tiles + k * size;
    if (role == fetches) {
      if (turn >= 2) empty[k].arrive_and_wait();
      const int first = tile * threads - width / 2;
      for (int s = t; s < size; s += 32) cells[s] = input[min(max(first + s, 0), n - 1)];
      (void)full[k].arrive();
    } else {
      full[k].arrive_and_wait();
      for (int i = t - 32; i < threads && tile * threads + i < n; i += blockDim.x - 32) {
        float sum = 0.0f;
        for (int j = 0; j < width; ++j) sum += cells[i + j] * taps[j];
        output[tile * threads + i] = sum;
      }
      if (tile + 2 * gridDim.x < blocks) (void)empty[k].arrive();
    }
  }
}

static int launch(const float* input, const float* mask, float* output, int n, int width,
                  int threads) {
  cudaMemcpyToSymbol(taps, mask, width * sizeof(float), 0, cudaMemcpyDeviceToDevice);
  int device = 0, sms = 0;
  cudaGetDevice(&device);
  cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device);
  const int block = min((threads + 31) / 32 * 32 + 32, 1024), tiles = (n - 1) / threads + 1;
  const size_t bytes = 2 * (threads + width - 1) * sizeof(float);
  pipelined<<<min(tiles, 2 * sms), block, bytes>>>(input, output, n, width, threads);
  return cudaGetLastError();
}

halo::Exercise halo::exercise() { return launch; }
