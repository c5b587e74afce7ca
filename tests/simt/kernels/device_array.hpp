// An array in GPU memory for the host side of the test kernels: allocated on construction, freed on
// destruction. Plain CUDA, so the same file serves the simulator and a GPU.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <vector>

template <typename T>
class DeviceArray {
 public:
  // `count` elements that nobody has written yet.
  explicit DeviceArray(std::size_t count) : count_(count) {
    if (cudaMalloc(reinterpret_cast<void**>(&data_), count * sizeof(T)) != cudaSuccess) {
      data_ = nullptr;
    }
  }

  explicit DeviceArray(const std::vector<T>& values) : DeviceArray(values.size()) {
    cudaMemcpy(data_, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice);
  }

  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;
  ~DeviceArray() { cudaFree(data_); }

  T* get() { return data_; }

  // Waits for the kernels before it and copies the elements back. Empty if any of that failed.
  std::vector<T> download() const {
    std::vector<T> values(count_);
    const cudaError_t error =
        cudaMemcpy(values.data(), data_, count_ * sizeof(T), cudaMemcpyDeviceToHost);
    if (error != cudaSuccess) values.clear();
    return values;
  }

  // Whether element i is expected(i), for all. False too if a kernel before it failed.
  template <typename Expected>
  bool holds(Expected expected) const {
    const std::vector<T> values = download();
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (values[i] != expected(static_cast<int>(i))) return false;
    }
    return !values.empty();
  }

 private:
  T* data_ = nullptr;
  std::size_t count_ = 0;
};
