// What textbooks use and CUDA 13 dropped.
#include "expect.hpp"

__global__ void twice(int* numbers) { numbers[threadIdx.x] *= 2; }

__global__ void sums(float* numbers) {
  float sum = numbers[threadIdx.x];
  for (int distance = 16; distance > 0; distance /= 2) sum += __shfl_xor(sum, distance);
  const int next = __shfl_down(static_cast<int>(threadIdx.x), 1, 8);
  const double before = __shfl_up(1.0 * threadIdx.x, 1);
  numbers[threadIdx.x] = sum + next + static_cast<float>(before) + __shfl(100u * threadIdx.x, 3);
}

cudaDeviceProp properties_of(int device) {
  cudaDeviceProp properties;
  expect_error(cudaGetDeviceProperties(&properties, device), cudaSuccess, __LINE__);
  return properties;
}

int main() {
  int device;
  expect_error(cudaGetDevice(&device), cudaSuccess, __LINE__);
  const cudaDeviceProp properties = properties_of(device);
  expect(sizeof properties == SIZE, "the size is that of CUDA 13", __LINE__);
  struct {
    int told;
    cudaDeviceAttr attribute;
  } members[] = {
      {properties.clockRate, cudaDevAttrClockRate},
      {properties.deviceOverlap, cudaDevAttrGpuOverlap},
      {properties.kernelExecTimeoutEnabled, cudaDevAttrKernelExecTimeout},
      {properties.computeMode, cudaDevAttrComputeMode},
      {properties.memoryClockRate, cudaDevAttrMemoryClockRate},
      {properties.singleToDoublePrecisionPerfRatio, cudaDevAttrSingleToDoublePrecisionPerfRatio},
  };
  for (const auto& one : members) {
    int value = -1;
    expect_error(cudaDeviceGetAttribute(&value, one.attribute, device), cudaSuccess, __LINE__);
    expect(one.told == value, "a member is the attribute", __LINE__);
  }
  expect(properties.clockRate > 100000, "a clock", __LINE__);
  cudaGraph_t graph;
  expect_error(cudaGraphCreate(&graph, 0), cudaSuccess, __LINE__);
  cudaGraphNode_t first, second, found;
  expect_error(cudaGraphAddEmptyNode(&first, graph, nullptr, 0), cudaSuccess, __LINE__);
  expect_error(cudaGraphAddEmptyNode(&second, graph, nullptr, 0), cudaSuccess, __LINE__);
  expect_error(cudaGraphAddDependencies(graph, &first, &second, 1), cudaSuccess, __LINE__);
  size_t edges = 1;
  expect_error(cudaGraphNodeGetDependencies(second, &found, &edges), cudaSuccess, __LINE__);
  expect(edges == 1 && found == first, "what a node waits for", __LINE__);
  expect_error(cudaGraphNodeGetDependentNodes(first, &found, &edges), cudaSuccess, __LINE__);
  expect(edges == 1 && found == second, "what waits for a node", __LINE__);
  expect_error(cudaGraphRemoveDependencies(graph, &first, &second, 1), cudaSuccess, __LINE__);
  expect_error(cudaGraphGetEdges(graph, nullptr, nullptr, &edges), cudaSuccess, __LINE__);
  expect(edges == 0, "no edge is left", __LINE__);
  expect_error(cudaGraphDestroy(graph), cudaSuccess, __LINE__);

  const size_t size = 32 * sizeof(int);
  int* numbers;
  expect_error(cudaMallocManaged(&numbers, size), cudaSuccess, __LINE__);
  for (int i = 0; i < 32; ++i) numbers[i] = i;
  expect_error(cudaMemAdvise(numbers, size, cudaMemAdviseSetPreferredLocation, device), cudaSuccess,
               __LINE__);
  expect_error(cudaMemPrefetchAsync(numbers, size, device), cudaSuccess, __LINE__);
  twice<<<1, 32>>>(numbers);
  expect_error(cudaMemPrefetchAsync(numbers, size, cudaCpuDeviceId, 0), cudaSuccess, __LINE__);
  expect_error(cudaThreadSynchronize(), cudaSuccess, __LINE__);
  for (int i = 0; i < 32; ++i) expect(numbers[i] == 2 * i, "twice the number", __LINE__);

  float* floats;
  expect_error(cudaMallocManaged(&floats, 32 * sizeof(float)), cudaSuccess, __LINE__);
  for (int i = 0; i < 32; ++i) floats[i] = 1;
  sums<<<1, 32>>>(floats);
  expect_error(cudaThreadSynchronize(), cudaSuccess, __LINE__);
  for (int i = 0; i < 32; ++i) {
    const int next = i % 8 == 7 ? i : i + 1, before = i == 0 ? 0 : i - 1;
    expect(floats[i] == 32 + next + before + 300, "shuffles", __LINE__);
  }
  size_t old_limit, limit;
  expect_error(cudaDeviceGetLimit(&old_limit, cudaLimitStackSize), cudaSuccess, __LINE__);
  expect_error(cudaThreadSetLimit(cudaLimitStackSize, 2 * old_limit), cudaSuccess, __LINE__);
  expect_error(cudaThreadGetLimit(&limit, cudaLimitStackSize), cudaSuccess, __LINE__);
  expect(limit == 2 * old_limit, "the limit is as it was set", __LINE__);
  expect_error(cudaThreadSetCacheConfig(cudaFuncCachePreferL1), cudaSuccess, __LINE__);
  cudaFuncCache config;
  expect_error(cudaThreadGetCacheConfig(&config), cudaSuccess, __LINE__);
  expect_error(cudaThreadExit(), cudaSuccess, __LINE__);
  return verdict();
}
