#include <cub/device/device_merge_sort.cuh>

// CUB reads what the kernel before it wrote, which lets nobody begin early, and waits then. Behind the last keys it
// compares what nobody has written, which counts for nothing.
struct IsGreater {
  __device__ bool operator()(int a, int b) const { return a > b; }
};

int main() {
  constexpr int kCount = 5000;
  static int keys[kCount];
  for (int i = 0; i < kCount; ++i) keys[i] = i * 7919 % kCount;
  int* in;
  cudaMalloc(&in, sizeof keys);
  cudaMemcpy(in, keys, sizeof keys, cudaMemcpyHostToDevice);
  std::size_t bytes = 0;
  cub::DeviceMergeSort::SortKeys(nullptr, bytes, in, kCount, IsGreater{});
  void* workspace;
  cudaMalloc(&workspace, bytes);
  cub::DeviceMergeSort::SortKeys(workspace, bytes, in, kCount, IsGreater{});
  if (cudaMemcpy(keys, in, sizeof keys, cudaMemcpyDeviceToHost) != cudaSuccess) return 1;
  for (int i = 0; i < kCount; ++i) {
    if (keys[i] != kCount - 1 - i) return 1;
  }
  return 0;
}
