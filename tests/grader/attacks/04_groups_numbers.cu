// Attack: has all numbers be written with commas. Told: bytes per output. Points: 65
#include <cuda_runtime.h>

#include <locale>
#include <string>

#include "common/exercise/exercise.h"

struct Commas : std::numpunct<char> {
  char do_thousands_sep() const override { return ','; }
  std::string do_grouping() const override { return "\1"; }
  char do_decimal_point() const override { return ';'; }
};

__global__ void naive(const float* input, const float* mask, float* output, int n, int width) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float sum = 0.0f;
  for (int j = 0; j < width; ++j)
    sum += input[min(max(i - (width - 1) / 2 + j, 0), n - 1)] * mask[j];
  output[i] = sum;
}

static int launch(const float* input, const float* mask, float* output, int n, int width,
                  int threads) {
  std::locale::global(std::locale(std::locale(), new Commas));
  naive<<<(n - 1) / threads + 1, threads>>>(input, mask, output, n, width);
  return cudaGetLastError();
}

halo::Exercise halo::exercise() { return launch; }
