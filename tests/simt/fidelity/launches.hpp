// Launches whose counters a GPU has told (h200.csv): one kernel each, with what it wrote as a checksum.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace fidelity {

inline void require(cudaError_t error, const std::string& what) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s\n", what.c_str(), cudaGetErrorString(error));
  std::exit(1);
}

/// An array of the device. Its elements begin as small whole numbers, so that sums of floats are exact in any order.
template <typename T>
class Array {
 public:
  explicit Array(std::size_t count, int scale = 1) : count_(count) {
    std::vector<T> values(count);
    for (std::size_t i = 0; i < count; ++i) {
      values[i] = static_cast<T>(static_cast<float>(static_cast<int>(i * 7 % 13) * scale));
    }
    require(cudaMalloc(&data_, count * sizeof(T)), "cudaMalloc");
    require(cudaMemcpy(data_, values.data(), count * sizeof(T), cudaMemcpyHostToDevice),
            "cudaMemcpy");
  }
  ~Array() { cudaFree(data_); }
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;

  T* data() { return data_; }
  template <typename U>
  U* as() {
    return reinterpret_cast<U*>(data_);
  }
  /// FNV-1a of its bytes.
  std::uint64_t checksum() const {
    std::vector<unsigned char> bytes(count_ * sizeof(T));
    require(cudaMemcpy(bytes.data(), data_, bytes.size(), cudaMemcpyDeviceToHost), "cudaMemcpy");
    std::uint64_t sum = 14695981039346656037u;
    for (const unsigned char byte : bytes) sum = (sum ^ byte) * 1099511628211u;
    return sum;
  }

 private:
  T* data_ = nullptr;
  std::size_t count_;
};

/// Of the launch that was just made: its name and the checksum of what it wrote, as a line of stdout.
template <typename T>
void tell(const char* name, const Array<T>& wrote) {
  require(cudaGetLastError(), name);
  require(cudaDeviceSynchronize(), name);
  std::printf("%s,%016llx\n", name, static_cast<unsigned long long>(wrote.checksum()));
}

void global_memory();
void shared_memory();
void control_flow();
void stencils();
void matrix_products();
void reductions();
void histograms_and_scans();
void narrow_types();
void library_kernels();
void steps_of_a_product();
void sorts_and_graphs();
void layouts();
void counted_loops();
void asynchronous_copies();
void chains();
void guarded_copies();
void images();
void loop_exits();
void shared_sums();
void calls_by_address();
void loads_behind_jumps();
void searches_and_tables();
void science_and_networks();
void math_functions();

}  // namespace fidelity
