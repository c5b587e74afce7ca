// Right in another way: the tile begins on a 16-byte border and is loaded four cells at a time where the
// signal has them all; fma, taps in pairs.
#include <cuda_runtime.h>

#include "common/exercise/exercise.h"

__constant__ float mask_constant[1023];

__global__ void aligned_quads(const float* input, float* output, int n, int width, int quads) {
  extern __shared__ float4 tile4[];
  float* const tile = reinterpret_cast<float*>(tile4);
  const int halo = width / 2;
  const int first = static_cast<int>(blockIdx.x * blockDim.x) - halo;
  const int start = first >= 0 ? first / 4 * 4 : -((3 - first) / 4 * 4);
  for (int q = threadIdx.x; q < quads; q += blockDim.x) {
    const int k = start + 4 * q;
    if (k >= 0 && k + 3 < n) {
      tile4[q] = *reinterpret_cast<const float4*>(input + k);
    } else {
      for (int c = 0; c < 4; ++c) tile[4 * q + c] = input[min(max(k + c, 0), n - 1)];
    }
  }
  __syncthreads();
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float* const cells = tile + (i - halo - start);
  float even = 0.0f, odd = 0.0f;
  for (int j = 0; j + 1 < width; j += 2) {
    even = fmaf(cells[j], mask_constant[j], even);
    odd = fmaf(cells[j + 1], mask_constant[j + 1], odd);
  }
  output[i] = fmaf(cells[width - 1], mask_constant[width - 1], even + odd);
}

static int launch(const float* input, const float* mask, float* output, int n, int width,
                  int threads) {
  cudaMemcpyToSymbol(mask_constant, mask, width * sizeof(float), 0, cudaMemcpyDeviceToDevice);
  const int blocks = (n - 1) / threads + 1;
  const int quads = (threads + width - 1 + 3) / 4 + 1;
  aligned_quads<<<blocks, threads, quads * sizeof(float4)>>>(input, output, n, width, quads);
  return cudaGetLastError();
}

halo::Exercise halo::exercise() { return launch; }
