// Kernels and symbols for the test of the runtime's functions.
#include <cassert>

#include "runtime_api.hpp"

namespace runtime_api {

__global__ void write(int* cell) {
  if (cell != nullptr) *cell = 1;
}

__global__ void __launch_bounds__(128) bounded(int* cell) { *cell = 1; }

__global__ void static_shared(int* cell) {
  __shared__ int cells[10000];
  cells[threadIdx.x] = 1;
  *cell = cells[threadIdx.x];
}

__global__ void dynamic_shared(int* cell, int count) {
  extern __shared__ int cells[];
  volatile __shared__ int more[100];
  for (int i = 0; i < count; ++i) cells[i] = i;
  more[0] = 1;
  *cell = count > 0 ? cells[count - 1] + more[0] : more[0];
}

__global__ void write_past_the_end(int* cells, int count) { cells[count] = 1; }

__global__ void trap() { __trap(); }

__global__ void check(int value) { assert(value == 1); }

__global__ void set(int* cell, int value) { *cell = value; }

template <typename F>
__global__ void for_each(int count, F f) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) f(i);
}

struct Row {
  int* cells;
  float4 values;
};
__global__ void store_row(Row row) {
  row.cells[0] = static_cast<int>(row.values.x);
  row.cells[1] = static_cast<int>(row.values.y);
  row.cells[2] = static_cast<int>(row.values.z);
}

__constant__ float constant_cells[10];
__device__ float device_cells[10] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
__device__ int scalar = 5;
float host_cells[10];

__global__ void sum_of_symbols(float* out) {
  out[threadIdx.x] = constant_cells[threadIdx.x] + device_cells[threadIdx.x];
}

void launch_write(int* cell, dim3 grid, dim3 block, std::size_t shared, cudaStream_t stream) {
  write<<<grid, block, shared, stream>>>(cell);
}
void launch_bounded(int* cell, int threads) { bounded<<<1, threads>>>(cell); }
void launch_static_shared(int* cell, std::size_t dynamic) {
  static_shared<<<1, 1, dynamic>>>(cell);
}
void launch_dynamic_shared(int* cell, std::size_t bytes) {
  dynamic_shared<<<1, 1, bytes>>>(cell, static_cast<int>(bytes / sizeof(int)));
}
void launch_write_past_the_end(int* cells, int count) {
  write_past_the_end<<<1, 1>>>(cells, count);
}
void launch_trap() { trap<<<1, 1>>>(); }
void launch_assert(int value) { check<<<1, 1>>>(value); }

static int launch_and_return(int* cell) {
  set<<<1, 1>>>(cell, 1);
  return 2;
}
void launch_nested(int* cells) { set<<<1, 1>>>(cells + 1, launch_and_return(cells)); }

void launch_lambda(int* cells, int count, int factor) {
  for_each<<<(count + 31) / 32, 32>>>(count, [=] __device__(int i) { cells[i] = factor * i; });
}
void launch_strided_struct(int* cells) { store_row<<<1, 1>>>({cells, make_float4(1, 2, 3, 4)}); }

const void* write_kernel() { return reinterpret_cast<const void*>(write); }
const void* bounded_kernel() { return reinterpret_cast<const void*>(bounded); }
const void* static_shared_kernel() { return reinterpret_cast<const void*>(static_shared); }
const void* dynamic_shared_kernel() { return reinterpret_cast<const void*>(dynamic_shared); }

cudaError_t allow_dynamic_shared(int bytes) {
  return cudaFuncSetAttribute(dynamic_shared, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
}
cudaError_t allow_dynamic_shared_of_write(int bytes) {
  return cudaFuncSetAttribute(write, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
}
cudaError_t largest_block(int* grid, int* block, std::size_t shared, int limit) {
  return cudaOccupancyMaxPotentialBlockSize(grid, block, write, shared, limit);
}

cudaError_t to_constant(const void* from, std::size_t bytes, std::size_t offset,
                        cudaMemcpyKind kind) {
  return cudaMemcpyToSymbol(constant_cells, from, bytes, offset, kind);
}
cudaError_t from_constant(void* to, std::size_t bytes, std::size_t offset, cudaMemcpyKind kind) {
  return cudaMemcpyFromSymbol(to, constant_cells, bytes, offset, kind);
}
cudaError_t to_device_variable(const void* from, std::size_t bytes, std::size_t offset,
                               cudaMemcpyKind kind) {
  return cudaMemcpyToSymbolAsync(device_cells, from, bytes, offset, kind);
}
cudaError_t from_device_variable(void* to, std::size_t bytes, std::size_t offset,
                                 cudaMemcpyKind kind) {
  return cudaMemcpyFromSymbolAsync(to, device_cells, bytes, offset, kind);
}
cudaError_t to_scalar(const int* from, std::size_t bytes) {
  return cudaMemcpyToSymbol(scalar, from, bytes);
}
cudaError_t from_scalar(int* to, std::size_t bytes) {
  return cudaMemcpyFromSymbol(to, scalar, bytes);
}
cudaError_t to_host_variable(const void* from, std::size_t bytes) {
  return cudaMemcpyToSymbol(host_cells, from, bytes);
}
cudaError_t device_variable_address(void** address) {
  return cudaGetSymbolAddress(address, device_cells);
}
cudaError_t device_variable_size(std::size_t* bytes) {
  return cudaGetSymbolSize(bytes, device_cells);
}
cudaError_t host_variable_address(void** address) {
  return cudaGetSymbolAddress(address, host_cells);
}
void launch_sum_of_symbols(float* out) { sum_of_symbols<<<1, 10>>>(out); }

}  // namespace runtime_api
