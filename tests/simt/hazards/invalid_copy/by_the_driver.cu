#include <cuda.h>
#include <cuda_runtime.h>

// What is told of the driver's calls are the program's lines and names.
template <class Function>
Function driver(const char* name) {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found;
  cudaGetDriverEntryPointByVersion(name, &function, 12000, cudaEnableDefault, &found);
  return reinterpret_cast<Function>(function);
}

int main() {
  const auto cuMemAllocate = driver<CUresult (*)(CUdeviceptr*, size_t)>("cuMemAlloc");
  const auto cuMemcpyBack = driver<CUresult (*)(void*, CUdeviceptr, size_t)>("cuMemcpyDtoH");
  cudaFree(nullptr);
  CUdeviceptr cells = 0;
  cuMemAllocate(&cells, 16);
  float taken[8];
  cuMemcpyBack(taken, cells, sizeof taken);
  cudaFree(reinterpret_cast<void*>(cells));
  return 0;
}
