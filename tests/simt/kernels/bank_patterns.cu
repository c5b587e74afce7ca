// One warp reads or writes a shared array at the cells that a table names.
#include <cuda_runtime.h>

#include "bank_patterns.hpp"
#include "device_array.hpp"

namespace bank_patterns {

template <typename T>
__global__ void shared_load(const T* in, const int* cells, T* out) {
  __shared__ T array[kCells];
  const int t = threadIdx.x;
#pragma unroll 1
  for (int s = t; s < kCells; s += 32) array[s] = in[s];
  __syncthreads();
  const int cell = cells[t];
  if (cell >= 0) out[t] = array[cell];
}

template <typename T>
__global__ void shared_store(const T* in, const int* cells, T* out) {
  __shared__ T array[kCells];
  const int t = threadIdx.x;
  const int cell = cells[t];
  if (cell >= 0) array[cell] = in[t];
  __syncthreads();
  const int neighbour = cells[t ^ 1];
  if (neighbour >= 0) out[t] = array[neighbour];
}

// The values are compared as bytes, so that one comparison serves every type.
template <typename T>
static bool run(bool store, const Cells& cells) {
  std::vector<unsigned char> input(kCells * sizeof(T));
  for (std::size_t i = 0; i < input.size(); ++i)
    input[i] = static_cast<unsigned char>(i * 37 % 120);
  std::vector<unsigned char> want(32 * sizeof(T), 255);
  for (int t = 0; t < 32; ++t) {
    const int from = store ? (cells[t ^ 1] >= 0 ? (t ^ 1) : -1) : cells[t];
    if (from < 0) continue;
    for (std::size_t b = 0; b < sizeof(T); ++b)
      want[t * sizeof(T) + b] = input[from * sizeof(T) + b];
  }
  DeviceArray<unsigned char> in(input), out(std::vector<unsigned char>(32 * sizeof(T), 255));
  DeviceArray<int> table(std::vector<int>(cells.begin(), cells.end()));
  const T* source = reinterpret_cast<const T*>(in.get());
  T* target = reinterpret_cast<T*>(out.get());
  if (store) {
    shared_store<T><<<1, 32>>>(source, table.get(), target);
  } else {
    shared_load<T><<<1, 32>>>(source, table.get(), target);
  }
  return cudaGetLastError() == cudaSuccess && out.download() == want;
}

static bool run_width(bool store, int element_bytes, const Cells& cells) {
  switch (element_bytes) {
    case 1:
      return run<unsigned char>(store, cells);
    case 2:
      return run<unsigned short>(store, cells);
    case 4:
      return run<float>(store, cells);
    case 8:
      return run<float2>(store, cells);
    case 16:
      return run<float4>(store, cells);
  }
  return false;
}

bool run_load(int element_bytes, const Cells& load) {
  return run_width(false, element_bytes, load);
}

bool run_store(int element_bytes, const Cells& store) {
  return run_width(true, element_bytes, store);
}

}  // namespace bank_patterns
