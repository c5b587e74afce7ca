// Loads device code while it runs: loaded.cu, as PTX or as a fat binary. `program FILE` prints "all right".
#include <cuda_runtime.h>

#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "expect.hpp"

#define EXPECT(what) expect(what, #what, __LINE__)

namespace {

constexpr int kThreads = 64;

void use(cudaLibrary_t library) {
  unsigned int count = 0;
  EXPECT(cudaLibraryGetKernelCount(&count, library) == cudaSuccess && count == 2);
  std::vector<cudaKernel_t> kernels(count);
  EXPECT(cudaLibraryEnumerateKernels(kernels.data(), count, library) == cudaSuccess);
  cudaKernel_t kernel = nullptr;
  EXPECT(cudaLibraryGetKernel(&kernel, library, "scale") == cudaSuccess);
  EXPECT(kernel == kernels[0] || kernel == kernels[1]);
  EXPECT(cudaLibraryGetKernel(&kernel, library, "absent") == cudaErrorSymbolNotFound);

  void* factor = nullptr;
  std::size_t bytes = 0;
  EXPECT(cudaLibraryGetGlobal(&factor, &bytes, library, "factor") == cudaSuccess && bytes == 4);
  void* global = nullptr;
  EXPECT(cudaLibraryGetGlobal(&global, &bytes, library, "managed") == cudaSuccess);
  EXPECT(cudaLibraryGetManaged(&global, &bytes, library, "factor") == cudaErrorSymbolNotFound);
  const float three = 3;
  EXPECT(cudaMemcpy(factor, &three, sizeof three, cudaMemcpyHostToDevice) == cudaSuccess);
  float* managed = nullptr;
  EXPECT(cudaLibraryGetManaged(reinterpret_cast<void**>(&managed), &bytes, library, "managed") ==
         cudaSuccess);
  *managed = 0.5f;

  float* data = nullptr;
  EXPECT(cudaMalloc(&data, kThreads * sizeof(float)) == cudaSuccess);
  void* arguments[] = {&data};
  EXPECT(cudaLaunchKernel(reinterpret_cast<void*>(kernel), dim3(1), dim3(kThreads), arguments, 0,
                          nullptr) == cudaSuccess);
  std::vector<float> host(kThreads);
  EXPECT(cudaMemcpy(host.data(), data, kThreads * sizeof(float), cudaMemcpyDeviceToHost) ==
         cudaSuccess);
  for (int i = 0; i < kThreads; ++i) EXPECT(host[i] == 3.0f * i + 0.5f);
  EXPECT(cudaFree(data) == cudaSuccess);
  EXPECT(cudaLibraryUnload(library) == cudaSuccess);
  if (is_simulated()) EXPECT(cudaLibraryUnload(library) == cudaErrorInvalidResourceHandle);
}

}  // namespace

int main(int, char** words) {
  cudaLibrary_t library = nullptr;
  EXPECT(cudaLibraryLoadFromFile(&library, words[1], nullptr, nullptr, 0, nullptr, nullptr, 0) ==
         cudaSuccess);
  if (failures > 0) return verdict();
  use(library);
  std::ifstream file(words[1], std::ios::binary);
  const std::string image{std::istreambuf_iterator<char>(file), {}};
  // Once more: nothing of the first is left.
  EXPECT(cudaLibraryLoadData(&library, image.c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0) ==
         cudaSuccess);
  use(library);
  EXPECT(cudaLibraryLoadFromFile(&library, "absent", nullptr, nullptr, 0, nullptr, nullptr, 0) ==
         cudaErrorFileNotFound);
  EXPECT(!is_simulated() ||
         cudaLibraryLoadData(&library, ".version 9.0\nnonsense", nullptr, nullptr, 0, nullptr,
                             nullptr, 0) == cudaErrorInvalidPtx);
  return verdict();
}
