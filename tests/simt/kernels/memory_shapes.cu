// Small kernels, one memory shape each: offsets, strides, widths, partial warps, block shapes.
// Their figures can be worked out by hand; they stand in counted_cases.cpp.
#include <cuda_runtime.h>

#include "device_array.hpp"
#include "memory_shapes.hpp"

namespace memory_shapes {

// ---- addresses of one warp in global memory ----

__global__ void offset_by_one(const float* in, float* out) {
  out[threadIdx.x + 3] = in[threadIdx.x + 1];
}

__global__ void first_eight_lanes(const float* in, float* out) {
  if (threadIdx.x < 8) out[threadIdx.x] = in[threadIdx.x];
}

__global__ void odd_lanes(const float* in, float* out) {
  if (threadIdx.x % 2 == 1) out[threadIdx.x] = in[threadIdx.x];
}

__global__ void broadcast(const float* in, float* out, int cell) { out[threadIdx.x] = in[cell]; }

__global__ void strided(const float* in, float* out) { out[8 * threadIdx.x] = in[2 * threadIdx.x]; }

__global__ void eight_lanes_share_a_cell(const float* in, float* out) {
  out[threadIdx.x] = in[threadIdx.x / 8 * 8];
}

__global__ void read_only_cache(const float* in, float* out) {
  out[threadIdx.x] = __ldg(&in[threadIdx.x]);  // LINE ldg
}

__global__ void volatile_pointers(const volatile float* in, volatile float* out) {
  out[threadIdx.x] = in[threadIdx.x];
}

__device__ float device_table[64];

__global__ void device_variable(float* out) {
  out[threadIdx.x] = device_table[threadIdx.x] + device_table[63 - threadIdx.x];
}

// ---- one element a thread, any type, any block ----

template <typename T>
__global__ void copy(const T* in, T* out) {
  const int t = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  out[t] = in[t];
}

// Threads of a block are cut into warps with x running fastest, whatever they read.
__global__ void z_runs_fastest_in_memory(const float* in, float* out) {
  const int cell = threadIdx.z + blockDim.z * (threadIdx.y + blockDim.y * threadIdx.x);
  out[cell] = in[cell];
}

__global__ void grid_stride(const float* in, float* out, int n) {
#pragma unroll 1
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    out[i] = in[i];
  }
}

// ---- shared memory ----

extern __shared__ float dynamic_cells[];

__global__ void reverse_dynamic(float* out, int cells) {
#pragma unroll 1
  for (int s = threadIdx.x; s < cells; s += blockDim.x) dynamic_cells[s] = static_cast<float>(s);
  __syncthreads();
#pragma unroll 1
  for (int s = threadIdx.x; s < cells; s += blockDim.x) out[s] = dynamic_cells[cells - 1 - s];
}

__global__ void shared_double_stride_two(double* out) {
  __shared__ double cells[64];
  cells[threadIdx.x] = threadIdx.x;
  cells[threadIdx.x + 32] = threadIdx.x + 32;
  __syncthreads();
  out[threadIdx.x] = cells[2 * threadIdx.x];
}

// ---- constant memory: the addresses that a warp must be served one after the other ----

__constant__ int constant_cells[32];

__global__ void constant_addresses(const int* cell, int* out) {
  out[threadIdx.x] = constant_cells[cell[threadIdx.x]];
}

// ---- atomics ----

__global__ void atomic_global_distinct(int* cells) {
  atomicAdd(&cells[threadIdx.x], static_cast<int>(threadIdx.x));  // LINE atomic
}

__global__ void atomic_global_same(int* cell) { atomicMax(cell, static_cast<int>(threadIdx.x)); }

__global__ void atomic_global_swap(int* cells, int* old) {
  old[threadIdx.x] = atomicCAS(&cells[threadIdx.x], 1, 2);
}

__global__ void atomic_shared_histogram(const int* in, int* out) {
  __shared__ int bins[8];
  if (threadIdx.x < 8) bins[threadIdx.x] = 0;
  __syncthreads();
  atomicAdd(&bins[in[threadIdx.x]], 1);
  __syncthreads();
  if (threadIdx.x < 8) out[threadIdx.x] = bins[threadIdx.x];
}

// ---- host side ----

static std::vector<float> count_up(int count) {
  std::vector<float> values(count);
  for (int i = 0; i < count; ++i) values[i] = static_cast<float>(i + 1);
  return values;
}

// Launches a float kernel of one warp. `source(t)` is the cell of `in` that thread t must have
// moved to out[target(t)], or -1 for a thread that moves none.
template <typename Source, typename Target>
static bool one_warp(void (*kernel)(const float*, float*), Source source, Target target) {
  const std::vector<float> input = count_up(256);
  DeviceArray<float> in(input), out(std::vector<float>(256, 0.0f));
  kernel<<<1, 32>>>(in.get(), out.get());
  if (cudaGetLastError() != cudaSuccess) return false;
  std::vector<float> want(256, 0.0f);
  for (int t = 0; t < 32; ++t) {
    if (source(t) >= 0) want[target(t)] = input[source(t)];
  }
  return out.download() == want;
}

static int self(int t) { return t; }

bool run_offset_by_one() {
  return one_warp(
      offset_by_one, [](int t) { return t + 1; }, [](int t) { return t + 3; });
}
bool run_first_eight_lanes() {
  return one_warp(
      first_eight_lanes, [](int t) { return t < 8 ? t : -1; }, self);
}
bool run_odd_lanes() {
  return one_warp(
      odd_lanes, [](int t) { return t % 2 == 1 ? t : -1; }, self);
}
bool run_strided() {
  return one_warp(
      strided, [](int t) { return 2 * t; }, [](int t) { return 8 * t; });
}
bool run_eight_lanes_share_a_cell() {
  return one_warp(
      eight_lanes_share_a_cell, [](int t) { return t / 8 * 8; }, self);
}
bool run_read_only_cache() { return one_warp(read_only_cache, self, self); }

bool run_broadcast() {
  DeviceArray<float> in(count_up(32)), out(32);
  broadcast<<<1, 32>>>(in.get(), out.get(), 5);
  return cudaGetLastError() == cudaSuccess && out.download() == std::vector<float>(32, 6.0f);
}

bool run_volatile_pointers() {
  const std::vector<float> input = count_up(32);
  DeviceArray<float> in(input), out(32);
  volatile_pointers<<<1, 32>>>(in.get(), out.get());
  return cudaGetLastError() == cudaSuccess && out.download() == input;
}

bool run_device_variable() {
  const std::vector<float> input = count_up(64);
  cudaMemcpyToSymbol(device_table, input.data(), 64 * sizeof(float));
  DeviceArray<float> out(32);
  device_variable<<<1, 32>>>(out.get());
  return cudaGetLastError() == cudaSuccess && out.download() == std::vector<float>(32, 65.0f);
}

// Copies one element a thread as raw bytes, so that one comparison serves every type.
template <typename T>
static bool copy_is_right(dim3 block) {
  const unsigned threads = block.x * block.y * block.z;
  std::vector<unsigned char> input(threads * sizeof(T));
  for (std::size_t i = 0; i < input.size(); ++i)
    input[i] = static_cast<unsigned char>(i * 37 % 120);
  DeviceArray<unsigned char> in(input), out(input.size());
  copy<T><<<1, block>>>(reinterpret_cast<const T*>(in.get()), reinterpret_cast<T*>(out.get()));
  return cudaGetLastError() == cudaSuccess && out.download() == input;
}

bool run_copy_uchar() { return copy_is_right<unsigned char>(32); }
bool run_copy_short() { return copy_is_right<short>(32); }
bool run_copy_uchar2() { return copy_is_right<uchar2>(32); }
bool run_copy_char4() { return copy_is_right<char4>(32); }
bool run_copy_short4() { return copy_is_right<short4>(32); }
bool run_copy_long_long() { return copy_is_right<long long>(32); }
bool run_copy_double() { return copy_is_right<double>(32); }
bool run_copy_float2() { return copy_is_right<float2>(32); }
bool run_copy_float3() { return copy_is_right<float3>(32); }
bool run_copy_float4() { return copy_is_right<float4>(32); }
bool run_copy_int4() { return copy_is_right<int4>(32); }
bool run_copy_double2() { return copy_is_right<double2>(32); }
bool run_copy_33_threads() { return copy_is_right<float>(33); }
bool run_copy_1000_threads() { return copy_is_right<float>(1000); }
bool run_copy_8x4x2_threads() { return copy_is_right<float>(dim3(8, 4, 2)); }
bool run_copy_5x7_threads() { return copy_is_right<float>(dim3(5, 7)); }

bool run_z_runs_fastest_in_memory() {
  const std::vector<float> input = count_up(64);
  DeviceArray<float> in(input), out(64);
  z_runs_fastest_in_memory<<<1, dim3(8, 4, 2)>>>(in.get(), out.get());
  return cudaGetLastError() == cudaSuccess && out.download() == input;
}

bool run_grid_stride() {
  const std::vector<float> input = count_up(1000);
  DeviceArray<float> in(input), out(1000);
  grid_stride<<<2, 128>>>(in.get(), out.get(), 1000);
  return cudaGetLastError() == cudaSuccess && out.download() == input;
}

bool run_reverse_dynamic_64_kib() {
  constexpr int kCells = 16384;
  if (cudaFuncSetAttribute(reverse_dynamic, cudaFuncAttributeMaxDynamicSharedMemorySize,
                           kCells * sizeof(float)) != cudaSuccess) {
    return false;
  }
  DeviceArray<float> out(kCells);
  reverse_dynamic<<<1, 256, kCells * sizeof(float)>>>(out.get(), kCells);
  if (cudaGetLastError() != cudaSuccess) return false;
  return out.holds([](int i) { return static_cast<float>(kCells - 1 - i); });
}

bool run_shared_double_stride_two() {
  DeviceArray<double> out(32);
  shared_double_stride_two<<<1, 32>>>(out.get());
  std::vector<double> want(32);
  for (int t = 0; t < 32; ++t) want[t] = 2 * t;
  return cudaGetLastError() == cudaSuccess && out.download() == want;
}

static bool constant_is_right(int lanes_a_cell) {
  std::vector<int> cells(32), values(32), want(32);
  for (int t = 0; t < 32; ++t) {
    values[t] = 100 + t;
    cells[t] = t / lanes_a_cell;
    want[t] = 100 + t / lanes_a_cell;
  }
  cudaMemcpyToSymbol(constant_cells, values.data(), 32 * sizeof(int));
  DeviceArray<int> cell(cells), out(32);
  constant_addresses<<<1, 32>>>(cell.get(), out.get());
  return cudaGetLastError() == cudaSuccess && out.download() == want;
}

bool run_constant_one_address() { return constant_is_right(32); }
bool run_constant_16_addresses() { return constant_is_right(2); }
bool run_constant_32_addresses() { return constant_is_right(1); }

bool run_atomic_global_distinct() {
  DeviceArray<int> cells(std::vector<int>(32, 1000));
  atomic_global_distinct<<<1, 32>>>(cells.get());
  std::vector<int> want(32);
  for (int t = 0; t < 32; ++t) want[t] = 1000 + t;
  return cudaGetLastError() == cudaSuccess && cells.download() == want;
}

bool run_atomic_global_same() {
  DeviceArray<int> cell(std::vector<int>(1, 0));
  atomic_global_same<<<1, 64>>>(cell.get());
  return cudaGetLastError() == cudaSuccess && cell.download() == std::vector<int>(1, 63);
}

bool run_atomic_global_swap() {
  std::vector<int> input(32, 0), want(32, 0);
  for (int t = 0; t < 32; t += 3) input[t] = 1, want[t] = 2;
  DeviceArray<int> cells(input), old(32);
  atomic_global_swap<<<1, 32>>>(cells.get(), old.get());
  return cudaGetLastError() == cudaSuccess && cells.download() == want && old.download() == input;
}

bool run_atomic_shared_histogram() {
  std::vector<int> input(64), want(8, 0);
  for (int t = 0; t < 64; ++t) input[t] = t * t % 8, ++want[input[t]];
  DeviceArray<int> in(input), out(8);
  atomic_shared_histogram<<<1, 64>>>(in.get(), out.get());
  return cudaGetLastError() == cudaSuccess && out.download() == want;
}

}  // namespace memory_shapes
