// Right in another way: managed memory, which host and kernel both use; four outputs per thread, a block's width
// apart.
#include <cuda_runtime.h>

#include <cerrno>
#include <climits>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

float x_at(int i) { return 1.0f + 0.25f * (i % 1009); }
float y_at(int i) { return (i % 13) - 6.0f; }

int number_of(const std::string& word) {
  std::size_t used = 0;
  long number = 0;
  try {
    number = std::stol(word, &used);
  } catch (const std::exception&) {
    used = 0;
  }
  if (used == 0 || used != word.size() || number < 1 || number > INT_MAX) {
    std::fprintf(stderr, "N is no length: %s\n", word.c_str());
    std::exit(2);
  }
  return static_cast<int>(number);
}

float factor_of(const std::string& word) {
  char* end = nullptr;
  const float factor = std::strtof(word.c_str(), &end);
  if (word.empty() || *end != '\0' || !std::isfinite(factor)) {
    std::fprintf(stderr, "A is no number: %s\n", word.c_str());
    std::exit(2);
  }
  return factor;
}

#define TRY(call)                                                             \
  if (const cudaError_t error = call; error != cudaSuccess) {                 \
    std::fprintf(stderr, "line %d: %s\n", __LINE__, cudaGetErrorName(error)); \
    return 1;                                                                 \
  }

__global__ void managed(int n, float a, const float* x, float* y) {
  const int start = 4 * blockIdx.x * blockDim.x + threadIdx.x;
  for (int r = 0; r < 4; ++r) {
    const int i = start + r * blockDim.x;
    if (i < n) y[i] = fmaf(a, x[i], y[i]);
  }
}

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "three words, please\n");
    return 2;
  }
  const int n = number_of(argv[1]);
  const float a = factor_of(argv[2]);
  float* x = nullptr;
  float* y = nullptr;
  TRY(cudaMallocManaged(&x, n * sizeof(float)));
  TRY(cudaMallocManaged(&y, n * sizeof(float)));
  for (int i = 0; i < n; ++i) {
    x[i] = x_at(i);
    y[i] = y_at(i);
  }
  managed<<<(n + 511) / 512, 128>>>(n, a, x, y);
  TRY(cudaPeekAtLastError());
  TRY(cudaDeviceSynchronize());
  std::vector<float> result(y, y + n);
  TRY(cudaFree(y));
  TRY(cudaFree(x));
  std::ofstream file(argv[3]);
  file.precision(9);
  for (const float value : result) file << value << '\n';
  if (!file.flush()) {
    std::fprintf(stderr, "%s cannot be written\n", argv[3]);
    return 1;
  }
}
