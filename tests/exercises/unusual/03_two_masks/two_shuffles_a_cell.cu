// Cells come from other lanes by two shuffles each, for both sums at once.
#include <cuda_runtime.h>

#include "common/exercise/exercise.h"
__constant__ float mask[1024];

__global__ void two_shuffles(const float* input, float* o1, float* o2, int n, int w1, int w2) {
  const int i0 = (blockIdx.x * blockDim.x + threadIdx.x) / 32 * 32, lane = threadIdx.x % 32,
            i = i0 + lane;
  if (i0 >= n) return;
  const int h1 = w1 / 2, h2 = w2 / 2, halo = max(h1, h2);
  auto at = [&](int k) { return k >= 0 && k < n ? input[k] : 0.0f; };
  float s1 = 0, s2 = 0, c0 = at(i0 - halo + lane);
  for (int base = -halo; base <= halo; base += 32) {
    const float c1 = at(i0 + base + 32 + lane);
    for (int j = 0; j < 32 && base + j <= halo; ++j) {
      const int from = lane + j, d = base + j;
      const float low = __shfl_sync(0xffffffffu, c0, from & 31),
                  high = __shfl_sync(0xffffffffu, c1, from & 31);
      const float cell = from < 32 ? low : high;
      if (abs(d) <= h1) s1 += cell * mask[d + h1];
      if (abs(d) <= h2) s2 += cell * mask[w1 + d + h2];
    }
    c0 = c1;
  }
  if (i < n) o1[i] = s1, o2[i] = s2;
}

static int launch(const float* input, const float* a, const float* b, float* o1, float* o2, int n,
                  int w1, int w2, int) {
  cudaMemcpyToSymbol(mask, a, w1 * 4, 0, cudaMemcpyDeviceToDevice);
  cudaMemcpyToSymbol(mask, b, w2 * 4, w1 * 4, cudaMemcpyDeviceToDevice);
  two_shuffles<<<(n - 1) / 128 + 1, 128>>>(input, o1, o2, n, w1, w2);
  return cudaGetLastError();
}

halo::Exercise halo::exercise() { return launch; }
