// What CUDA answers to wrong use. On an H200, CUDA 13.0 has less telling answers to wrong extents; all others are its own.
// With an argument: to what the simulator lacks.
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

int main(int argc, char**) {
  if (argc > 1) {
    cudaIpcEventHandle_t handle;
    expect_error(cudaIpcGetEventHandle(&handle, nullptr), cudaErrorNotSupported, __LINE__);
    return verdict();
  }
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
  expect_error(cudaGetLastError(), cudaErrorInvalidValue, __LINE__);
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
               cudaErrorInvalidResourceHandle, __LINE__);
  expect_error(cudaLaunchKernel(static_cast<const void*>(nullptr), 1, 1, nullptr, 0, nullptr),
               cudaErrorInvalidDeviceFunction, __LINE__);
  const cudaChannelFormatDesc channels = cudaCreateChannelDesc<float>();
  cudaArray_t array;
  expect_error(cudaMallocArray(&array, &channels, 8, 2), cudaSuccess, __LINE__);
  char texels[64] = {};
  constexpr auto kToDevice = cudaMemcpyHostToDevice;
  expect_error(cudaMemcpy2DToArray(array, 0, 0, texels, 32, 32, 2, kToDevice), cudaSuccess,
               __LINE__);
  expect_error(cudaMemcpy2DToArray(array, 4, 0, texels, 32, 32, 1, kToDevice),
               cudaErrorInvalidValue, __LINE__);
  expect_error(cudaMemcpy2DToArray(array, 0, 1, texels, 32, 32, 2, kToDevice),
               cudaErrorInvalidValue, __LINE__);
  float* row;
  cudaMalloc(&row, 1024);
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeLinear;
  resource.res.linear = {row, channels, 64};
  const cudaTextureDesc how{};
  cudaTextureObject_t texture;
  expect_error(cudaCreateTextureObject(&texture, &resource, &how, nullptr), cudaSuccess, __LINE__);
  resource.res.linear.devPtr = row + 1;
  expect_error(cudaCreateTextureObject(&texture, &resource, &how, nullptr), cudaErrorInvalidValue,
               __LINE__);
  resource.resType = cudaResourceTypePitch2D;
  resource.res.pitch2D = {row, channels, 4, 2, 20};
  expect_error(cudaCreateTextureObject(&texture, &resource, &how, nullptr), cudaErrorInvalidValue,
               __LINE__);
  resource.res.pitch2D.pitchInBytes = 32;
  expect_error(cudaCreateTextureObject(&texture, &resource, &how, nullptr), cudaSuccess, __LINE__);
  cudaStream_t stream;
  cudaEvent_t event;
  cudaStreamCreate(&stream);
  cudaEventCreate(&event);
  expect_error(cudaStreamWaitEvent(stream, event, 7), cudaErrorInvalidValue, __LINE__);
  cudaGraph_t graph;
  cudaGraphExec_t ready;
  cudaGraphCreate(&graph, 0);
  expect_error(cudaGraphInstantiate(&ready, graph, 0), cudaSuccess, __LINE__);
  expect_error(cudaGraphLaunch(nullptr, stream), cudaErrorInvalidValue, __LINE__);
  expect_error(cudaGraphExecDestroy(ready), cudaSuccess, __LINE__);
  return verdict();
}
