// Right in another way: one allocation for both arrays, owned by an object; errors are exceptions; a loop over the
// grid's width.
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

void require(cudaError_t error) {
  if (error != cudaSuccess) throw std::runtime_error(cudaGetErrorString(error));
}

class DeviceFloats {
 public:
  explicit DeviceFloats(std::size_t count) { require(cudaMalloc(&data_, count * sizeof(float))); }
  ~DeviceFloats() {
    if (data_ != nullptr) cudaFree(data_);  // something else has failed already
  }
  DeviceFloats(const DeviceFloats&) = delete;
  DeviceFloats& operator=(const DeviceFloats&) = delete;
  float* get() const { return data_; }
  void free() {
    float* const data = data_;
    data_ = nullptr;
    require(cudaFree(data));
  }

 private:
  float* data_ = nullptr;
};

__global__ void strides(int n, float a, const float* x, float* y) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    const float sum = a * x[i];
    y[i] = sum + y[i];
  }
}

std::vector<float> compute(int n, float a) {
  std::vector<float> both(2 * static_cast<std::size_t>(n));
  for (int i = 0; i < n; ++i) {
    both[i] = x_at(i);
    both[n + i] = y_at(i);
  }
  DeviceFloats device(both.size());
  require(cudaMemcpy(device.get(), both.data(), both.size() * sizeof(float), cudaMemcpyDefault));
  strides<<<64, 512>>>(n, a, device.get(), device.get() + n);
  require(cudaGetLastError());
  require(cudaMemcpy(both.data(), device.get() + n, n * sizeof(float), cudaMemcpyDeviceToHost));
  device.free();
  both.resize(n);
  return both;
}

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: %s N A OUTPUT\n", argv[0]);
    return 2;
  }
  const int n = number_of(argv[1]);
  const float a = factor_of(argv[2]);
  try {
    const std::vector<float> result = compute(n, a);
    std::ofstream file(argv[3]);
    file.precision(9);
    for (const float value : result) file << value << '\n';
    if (!file.flush()) throw std::runtime_error(std::string(argv[3]) + " cannot be written");
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 3;
  }
}
