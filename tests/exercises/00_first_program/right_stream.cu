// Right in another way: page-locked memory, a stream of its own and asynchronous copies; blocks of 1,024 threads.
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

void must(const char* step, cudaError_t error) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s failed with error %d\n", step, static_cast<int>(error));
  std::exit(1);
}

__global__ void streamed(int n, float a, const float* x, float* y) {
  const unsigned i = threadIdx.x + blockIdx.x * blockDim.x;
  if (i >= n) return;
  y[i] += a * x[i];
}

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: %s N A OUTPUT\n", argv[0]);
    return 2;
  }
  const int n = number_of(argv[1]);
  const float a = factor_of(argv[2]);
  const std::size_t bytes = n * sizeof(float);
  float *x, *y, *on_gpu[2];
  must("cudaMallocHost", cudaMallocHost(&x, bytes));
  must("cudaMallocHost", cudaMallocHost(&y, bytes));
  for (int i = 0; i < n; ++i) x[i] = x_at(i), y[i] = y_at(i);
  for (float*& array : on_gpu) must("cudaMalloc", cudaMalloc(&array, bytes));
  cudaStream_t stream;
  must("cudaStreamCreate", cudaStreamCreate(&stream));
  must("copy", cudaMemcpyAsync(on_gpu[0], x, bytes, cudaMemcpyHostToDevice, stream));
  must("copy", cudaMemcpyAsync(on_gpu[1], y, bytes, cudaMemcpyHostToDevice, stream));
  streamed<<<(n + 1023) / 1024, 1024, 0, stream>>>(n, a, on_gpu[0], on_gpu[1]);
  must("launch", cudaGetLastError());
  must("copy", cudaMemcpyAsync(y, on_gpu[1], bytes, cudaMemcpyDeviceToHost, stream));
  must("kernel", cudaStreamSynchronize(stream));
  for (float* array : on_gpu) must("cudaFree", cudaFree(array));
  const std::vector<float> result(y, y + n);
  must("cudaFreeHost", cudaFreeHost(x));
  must("cudaFreeHost", cudaFreeHost(y));
  must("cudaStreamDestroy", cudaStreamDestroy(stream));
  std::FILE* const file = std::fopen(argv[3], "w");
  if (file == nullptr) {
    std::perror(argv[3]);
    return 1;
  }
  for (const float value : result) std::fprintf(file, "%.9e\n", value);
  if (std::fclose(file) != 0) must("writing", cudaErrorUnknown);
}
