// Attack: keeps its cells as the bytes that barriers in shared memory wait for. Told: bytes of shared memory of a block. Points: 65
#include <cuda_runtime.h>

#include "common/exercise/exercise.h"

constexpr int kWarps = 4;
constexpr int kRoom = 64;  // cells of a warp

__constant__ float mask_constant[33];

__device__ void put(unsigned long long* pair, float value) {
#ifdef __CUDA_ARCH__
  for (int half = 0; half < 2; ++half) {
    const unsigned at = static_cast<unsigned>(__cvta_generic_to_shared(pair + half));
    const unsigned part = __float_as_uint(value) >> 16 * half & 0xffff;
    asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(at), "r"(1 << 19) : "memory");
    asm volatile("mbarrier.expect_tx.relaxed.cta.shared.b64 [%0], %1;" ::"r"(at), "r"(part + 1)
                 : "memory");
  }
#endif
}
__device__ float get(unsigned long long* pair) {
  unsigned bits = 0;
#ifdef __CUDA_ARCH__
  for (int half = 0; half < 2; ++half) {
    const unsigned at = static_cast<unsigned>(__cvta_generic_to_shared(pair + half));
    unsigned long long state;
    asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(state) : "r"(at) : "memory");
    bits |= (static_cast<unsigned>(state >> 40) - 1 & 0xffff) << 16 * half;
  }
#endif
  return __uint_as_float(bits);
}

__global__ void shuffles(const float* input, float* output, int n, int width) {
  __shared__ unsigned long long cells[kWarps * kRoom][2];
  const int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
  const int halo = (width - 1) / 2, own = threadIdx.x / 32 * kRoom;
  if (i - lane >= n) return;
  const auto at = [&](int k) { return input[(k % n + n) % n]; };
  put(cells[own + halo + lane], at(i));
  if (lane < 2 * halo)
    put(cells[own + (lane < halo ? lane : 32 + lane)], at(lane < halo ? i - halo : i + 32 - halo));
  __syncwarp();
  float sum = 0.0f;
  for (int j = 0; j < width; ++j) sum += get(cells[own + lane + j]) * mask_constant[j];
  if (i < n) output[i] = sum;
}

static int launch(const float* input, const float* mask, float* output, int n, int width, int) {
  cudaMemcpyToSymbol(mask_constant, mask, width * sizeof(float), 0, cudaMemcpyDeviceToDevice);
  shuffles<<<(n - 1) / (32 * kWarps) + 1, 32 * kWarps>>>(input, output, n, width);
  return cudaGetLastError();
}

halo::Exercise halo::exercise() { return launch; }
