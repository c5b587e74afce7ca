// Attack: loads from beyond its kernel's parameters, which nothing counts. Told: a load outside the kernel's parameters
#include <cuda_runtime.h>

#include "common/exercise/exercise.h"

static const char text[] = R"(
.version 8.0
.target sm_90
.address_size 64
.visible .entry naive(.param .u64 input, .param .u64 mask, .param .u64 output, .param .s32 n, .param .s32 width) {
  .reg .pred %p<4>;
  .reg .b32 %r<16>;
  .reg .b64 %d<12>;
  .reg .f32 %f<4>;
  ld.param.f32 %f0, [input+65536];
  ld.param.u64 %d2, [output];
  st.global.f32 [%d2], %f0;
  ret;
}
)";

static int launch(const float* input, const float* mask, float* output, int n, int width,
                  int threads) {
  static cudaLibrary_t library = nullptr;
  static cudaKernel_t kernel = nullptr;
  if (library == nullptr) {
    const cudaError_t error =
        cudaLibraryLoadData(&library, text, nullptr, nullptr, 0, nullptr, nullptr, 0);
    if (error != cudaSuccess) return error;
    cudaLibraryGetKernel(&kernel, library, "naive");
  }
  void* arguments[] = {&input, &mask, &output, &n, &width};
  return cudaLaunchKernel(reinterpret_cast<const void*>(kernel), (n - 1) / threads + 1, threads,
                          arguments, 0, 0);
}

halo::Exercise halo::exercise() { return launch; }
