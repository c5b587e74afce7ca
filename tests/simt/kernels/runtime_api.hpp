// What runtime_api.cu offers to the test of the runtime's functions: kernels by name, and copies of
// symbols, which only the file that declares them can name.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

namespace runtime_api {

// Launches with the shape given. `write` needs 4 bytes and writes 1 into them.
void launch_write(int* cell, dim3 grid, dim3 block, std::size_t shared = 0,
                  cudaStream_t stream = nullptr);
void launch_bounded(int* cell, int threads);                       // __launch_bounds__(128)
void launch_static_shared(int* cell, std::size_t dynamic_shared);  // 40,000 bytes static
void launch_dynamic_shared(int* cell, std::size_t bytes);          // 400 bytes static
void launch_write_past_the_end(int* cells, int count);
void launch_trap();
void launch_assert(int value);   // asserts that it is 1
void launch_nested(int* cells);  // an argument of the launch launches too; writes 1 and 2
void launch_lambda(int* cells, int count, int factor);  // cells[i] = factor * i
void launch_strided_struct(int* cells);                 // passes a struct by value; writes 1, 2, 3

const void* write_kernel();
const void* bounded_kernel();
const void* static_shared_kernel();
const void* dynamic_shared_kernel();
cudaError_t allow_dynamic_shared(int bytes);  // for launch_dynamic_shared
cudaError_t allow_dynamic_shared_of_write(int bytes);
cudaError_t largest_block(int* grid, int* block, std::size_t shared, int limit);

// `constant_cells` is __constant__ float[10], `device_cells` __device__ float[10] with 0, 1, ... 9.
cudaError_t to_constant(const void* from, std::size_t bytes, std::size_t offset,
                        cudaMemcpyKind kind);
cudaError_t from_constant(void* to, std::size_t bytes, std::size_t offset, cudaMemcpyKind kind);
cudaError_t to_device_variable(const void* from, std::size_t bytes, std::size_t offset,
                               cudaMemcpyKind kind);
cudaError_t from_device_variable(void* to, std::size_t bytes, std::size_t offset,
                                 cudaMemcpyKind kind);
cudaError_t to_scalar(const int* from, std::size_t bytes);  // __device__ int
cudaError_t from_scalar(int* to, std::size_t bytes);
cudaError_t to_host_variable(const void* from, std::size_t bytes);
cudaError_t device_variable_address(void** address);
cudaError_t device_variable_size(std::size_t* bytes);
cudaError_t host_variable_address(void** address);
void launch_sum_of_symbols(float* out);  // out[i] = constant_cells[i] + device_cells[i], i < 10

}  // namespace runtime_api
