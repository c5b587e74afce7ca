// Macros that make code, literals of its own, digits apart, what is computed while compiling.
#include <cuda_runtime.h>

#include <cstdio>

#include "common/exercise/exercise.h"

#define CHECKED(call)                                                          \
  do {                                                                         \
    if (const cudaError_t error = (call); error != cudaSuccess) [[unlikely]] { \
      std::fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call,       \
                   cudaGetErrorString(error));                                 \
      return error;                                                            \
    }                                                                          \
  } while (false)

#define WIDTHS(USE) USE(1) USE(3) USE(5) USE(7) USE(9)

namespace literal {
consteval std::size_t operator""_floats(unsigned long long count) { return count * sizeof(float); }
constexpr const char* operator""_R(const char* text, std::size_t) { return text; }
}  // namespace literal
using namespace literal;

constexpr int kMostTaps = 1'023;
__constant__ float taps[kMostTaps];
[[maybe_unused]] static constexpr const char* kAbout = R"(a tile "(" and its halo)"_R;

template <int kWidth>
__device__ float sum_of(const float* cells, int width) {
  float sum = 0.0f;
  if constexpr (kWidth > 0) {
#pragma unroll
    for (int j = 0; j < kWidth; ++j) sum = fmaf(cells[j], taps[j], sum);
  } else {
#pragma unroll 1
    for (int j = 0; j < width; ++j) sum = fmaf(cells[j], taps[j], sum);
  }
  return sum;
}

template <int kWidth>
__global__ void tile_and_halo(const float* __restrict__ input, float* __restrict__ output, int n,
                              int width) {
  extern __shared__ float tile[];
  const int first = static_cast<int>(blockIdx.x * blockDim.x) - width / 2;
  for (int s = threadIdx.x; s < blockDim.x + width - 1; s += blockDim.x) {
    tile[s] = __ldg(input + min(max(first + s, 0), n - 1));
  }
  __syncthreads();
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) [[likely]]
    __stcs(output + i, sum_of<kWidth>(tile + threadIdx.x, width));
}

static int launch(const float* input, const float* mask, float* output, int n, int width,
                  int threads) {
  CHECKED(cudaMemcpyToSymbol(taps, mask, width * 1_floats, 0, cudaMemcpyDeviceToDevice));
  const int blocks = (n + threads - 1) / threads;
  const std::size_t bytes = (threads + width - 1) * 1_floats;
  switch (width) {
#define CASE(WIDTH)                                                            \
  case WIDTH:                                                                  \
    tile_and_halo<WIDTH><<<blocks, threads, bytes>>>(input, output, n, width); \
    break;
    WIDTHS(CASE)
#undef CASE
    default:
      tile_and_halo<0><<<blocks, threads, bytes>>>(input, output, n, width);
  }
  CHECKED(cudaPeekAtLastError());
  return cudaSuccess;
}

halo::Exercise halo::exercise() { return launch; }
