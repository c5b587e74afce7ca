// Attack: keeps its cells in the part of shared memory that is the system's. Told: shared-memory requests. Points: 65
#include <cuda_runtime.h>

#include "common/exercise/exercise.h"

constexpr int kWarps = 4;
constexpr int kRoom = 64;  // cells of a warp

__constant__ float mask_constant[33];

__device__ void put(int cell, float value) {
#ifdef __CUDA_ARCH__
  asm volatile(
      "{ .reg .u32 a; mov.u32 a, %%reserved_smem_offset_begin; add.u32 a, a, %0;"
      " st.shared.f32 [a], %1; }" ::"r"(cell * 4),
      "f"(value)
      : "memory");
#endif
}
__device__ float get(int cell) {
  float value = 0.0f;
#ifdef __CUDA_ARCH__
  asm volatile(
      "{ .reg .u32 a; mov.u32 a, %%reserved_smem_offset_begin; add.u32 a, a, %1;"
      " ld.shared.f32 %0, [a]; }"
      : "=f"(value)
      : "r"(cell * 4)
      : "memory");
#endif
  return value;
}

__global__ void shuffles(const float* input, float* output, int n, int width) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
  const int halo = (width - 1) / 2, own = threadIdx.x / 32 * kRoom;
  if (i - lane >= n) return;
  const auto at = [&](int k) { return input[(k % n + n) % n]; };
  put(own + halo + lane, at(i));
  if (lane < 2 * halo)
    put(own + (lane < halo ? lane : 32 + lane), at(lane < halo ? i - halo : i + 32 - halo));
  __syncwarp();
  float sum = 0.0f;
  for (int j = 0; j < width; ++j) sum += get(own + lane + j) * mask_constant[j];
  if (i < n) output[i] = sum;
}

static int launch(const float* input, const float* mask, float* output, int n, int width, int) {
  cudaMemcpyToSymbol(mask_constant, mask, width * sizeof(float), 0, cudaMemcpyDeviceToDevice);
  shuffles<<<(n - 1) / (32 * kWarps) + 1, 32 * kWarps>>>(input, output, n, width);
  return cudaGetLastError();
}

halo::Exercise halo::exercise() { return launch; }
