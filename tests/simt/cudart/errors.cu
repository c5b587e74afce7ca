// What CUDA answers to wrong use.
#include "expect.hpp"

__global__ void nothing() {}
__global__ void __launch_bounds__(64) bounded() {}
extern __shared__ char dynamic[];
__global__ void shared(char* out) {
  dynamic[threadIdx.x] = 1;
  out[threadIdx.x] = dynamic[threadIdx.x];
}
__global__ void roomy(char* out, int at) {
  volatile char own[(512 << 10) + 16];
  own[at] = 1;
  out[at] = own[threadIdx.x];
}

int main() {
  nothing<<<1, 1025>>>();
  expect_error(cudaGetLastError(), cudaErrorInvalidConfiguration, __LINE__);
  expect_error(cudaGetLastError(), cudaSuccess, __LINE__);
  nothing<<<0, 1>>>();
  expect_error(cudaPeekAtLastError(), cudaErrorInvalidConfiguration, __LINE__);
  expect_error(cudaGetLastError(), cudaErrorInvalidConfiguration, __LINE__);
  bounded<<<1, 128>>>();
  expect_error(cudaGetLastError(), cudaErrorInvalidValue, __LINE__);

  char* memory;
  cudaMalloc(&memory, 1024);
  shared<<<1, 32, 48 * 1024 + 1>>>(memory);
  expect_error(cudaGetLastError(), cudaErrorInvalidValue, __LINE__);
  roomy<<<1, 1>>>(memory, 0);
  expect_error(cudaGetLastError(), cudaErrorLaunchOutOfResources, __LINE__);
  const auto attribute = cudaFuncAttributeMaxDynamicSharedMemorySize;
  expect_error(cudaFuncSetAttribute(shared, attribute, 227 * 1024 + 1), cudaErrorInvalidValue,
               __LINE__);
  expect_error(cudaGetLastError(), cudaErrorInvalidValue, __LINE__);
  expect_error(cudaFuncSetAttribute(shared, attribute, 227 * 1024), cudaSuccess, __LINE__);
  shared<<<1, 32, 227 * 1024>>>(memory);
  expect_error(cudaGetLastError(), cudaSuccess, __LINE__);
  int blocks = 0;
  cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, shared, 256, 100 * 1024);
  expect(blocks == 2, "two blocks of 100 KB on a multiprocessor", __LINE__);

  char host[16];
  expect_error(cudaMemcpy(host, host, 16, cudaMemcpyHostToDevice), cudaErrorInvalidValue, __LINE__);
  expect_error(cudaMemcpy(host, memory, 1025, cudaMemcpyDeviceToHost), cudaErrorInvalidValue,
               __LINE__);
  expect_error(cudaMemset(host, 0, 16), cudaErrorInvalidValue, __LINE__);
  expect_error(cudaFree(memory + 1), cudaErrorInvalidValue, __LINE__);
  expect_error(cudaFree(memory), cudaSuccess, __LINE__);
  expect_error(cudaFree(memory), cudaErrorInvalidValue, __LINE__);
  void* too_much;
  expect_error(cudaMalloc(&too_much, std::size_t{1} << 40), cudaErrorMemoryAllocation, __LINE__);
  int count = 0;
  expect_error(cudaMemcpyToSymbol(&count, &count, 4), cudaErrorInvalidSymbol, __LINE__);
  expect_error(cudaSetDevice(1), cudaErrorInvalidDevice, __LINE__);
  expect_error(cudaLaunchKernel(reinterpret_cast<const void*>(&main), 1, 1, nullptr, 0, nullptr),
               cudaErrorInvalidDeviceFunction, __LINE__);
  cudaIpcEventHandle_t handle;
  expect_error(cudaIpcGetEventHandle(&handle, nullptr), cudaErrorNotSupported, __LINE__);
  return verdict();
}
