// Right in another way: a thread's outputs lie a warp apart, so that each warp has 128 outputs of its own;
// blocks of 64 threads, whatever is asked for; warps in the middle ask for no ends.
#include <cuda_runtime.h>

#include "common/exercise/exercise.h"

constexpr int kThreads = 64;

__global__ void warps_apart(const float* input, const float* mask, float* output, int n,
                            int width) {
  const int warp = (blockIdx.x * kThreads + threadIdx.x) / 32;
  const int lane = threadIdx.x % 32;
  const int first = warp * 128 + lane;
  const int halo = width / 2;
  float a = 0, b = 0, c = 0, d = 0;
  const bool is_inside = warp * 128 >= halo && warp * 128 + 128 + halo <= n;
  for (int j = 0; j < width; ++j) {
    const int k = first - halo + j;
    const float tap = mask[j];
    if (is_inside) {
      a += input[k] * tap;
      b += input[k + 32] * tap;
      c += input[k + 64] * tap;
      d += input[k + 96] * tap;
    } else {
      if (k >= 0 && k < n) a += input[k] * tap;
      if (k + 32 >= 0 && k + 32 < n) b += input[k + 32] * tap;
      if (k + 64 >= 0 && k + 64 < n) c += input[k + 64] * tap;
      if (k + 96 >= 0 && k + 96 < n) d += input[k + 96] * tap;
    }
  }
  if (first < n) output[first] = a;
  if (first + 32 < n) output[first + 32] = b;
  if (first + 64 < n) output[first + 64] = c;
  if (first + 96 < n) output[first + 96] = d;
}

static int launch(const float* input, const float* mask, float* output, int n, int width, int,
                  int) {
  warps_apart<<<(n - 1) / (kThreads * 4) + 1, kThreads>>>(input, mask, output, n, width);
  return cudaGetLastError();
}

halo::Exercise halo::exercise() { return launch; }
