// Attack: has its kernel as a text, which it loads itself. Told: bytes per output. Points: 65
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
  ld.param.u64 %d0, [input];
  ld.param.u64 %d1, [mask];
  ld.param.u64 %d2, [output];
  ld.param.s32 %r0, [n];
  ld.param.s32 %r1, [width];
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %ntid.x;
  mov.u32 %r4, %tid.x;
  mad.lo.s32 %r5, %r2, %r3, %r4;
  setp.ge.s32 %p0, %r5, %r0;
  @%p0 bra DONE;
  mov.f32 %f0, 0f00000000;
  shr.s32 %r6, %r1, 1;
  sub.s32 %r7, %r5, %r6;
  add.s32 %r8, %r0, -1;
  mov.s32 %r9, 0;
LOOP:
  setp.ge.s32 %p1, %r9, %r1;
  @%p1 bra STORE;
  add.s32 %r10, %r7, %r9;
  max.s32 %r10, %r10, 0;
  min.s32 %r10, %r10, %r8;
  mul.wide.s32 %d3, %r10, 4;
  add.s64 %d4, %d0, %d3;
  ld.global.f32 %f1, [%d4];
  mul.wide.s32 %d5, %r9, 4;
  add.s64 %d6, %d1, %d5;
  ld.global.f32 %f2, [%d6];
  fma.rn.f32 %f0, %f1, %f2, %f0;
  add.s32 %r9, %r9, 1;
  bra LOOP;
STORE:
  mul.wide.s32 %d7, %r5, 4;
  add.s64 %d8, %d2, %d7;
  st.global.f32 [%d8], %f0;
DONE:
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
