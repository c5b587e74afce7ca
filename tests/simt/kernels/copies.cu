// Asynchronous copies of one warp: their global loads and shared stores.
#include <cuda_pipeline.h>
#include <cuda_runtime.h>

#include "copies.hpp"
#include "device_array.hpp"

namespace copies {
namespace {

constexpr int kFloats = 256;

// Each kernel writes what arrived to out, from shared memory of kFloats floats.
__device__ void hand_over(const float* tile, float* out) {
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncwarp();
  for (int i = threadIdx.x; i < kFloats; i += 32) out[i] = tile[i];
}

__device__ void clear(float* tile) {
  for (int i = threadIdx.x; i < kFloats; i += 32) tile[i] = 0;
  __syncwarp();
}

__global__ void of_4_bytes(const float* in, float* out) {
  __shared__ float4 tile4[kFloats / 4];
  float* tile = reinterpret_cast<float*>(tile4);
  clear(tile);
  __pipeline_memcpy_async(&tile[threadIdx.x], &in[threadIdx.x], 4);  // COUNTED of_4_bytes
  hand_over(tile, out);
}

__global__ void of_8_bytes(const float* in, float* out) {
  __shared__ float4 tile4[kFloats / 4];
  float* tile = reinterpret_cast<float*>(tile4);
  clear(tile);
  __pipeline_memcpy_async(&tile[2 * threadIdx.x], &in[2 * threadIdx.x], 8);  // COUNTED of_8_bytes
  hand_over(tile, out);
}

__global__ void of_16_bytes(const float* in, float* out) {
  __shared__ float4 tile4[kFloats / 4];
  float* tile = reinterpret_cast<float*>(tile4);
  clear(tile);
  __pipeline_memcpy_async(&tile4[threadIdx.x], &in[4 * threadIdx.x], 16);  // COUNTED of_16_bytes
  hand_over(tile, out);
}

// One float further on: the warp's 128 bytes lie in five sectors.
__global__ void shifted(const float* in, float* out) {
  __shared__ float4 tile4[kFloats / 4];
  float* tile = reinterpret_cast<float*>(tile4);
  clear(tile);
  __pipeline_memcpy_async(&tile[threadIdx.x], &in[threadIdx.x + 1], 4);  // COUNTED shifted
  hand_over(tile, out);
}

// Every second float of shared memory: two lanes to a bank.
__global__ void spread(const float* in, float* out) {
  __shared__ float4 tile4[kFloats / 4];
  float* tile = reinterpret_cast<float*>(tile4);
  clear(tile);
  __pipeline_memcpy_async(&tile[2 * threadIdx.x], &in[threadIdx.x], 4);  // COUNTED spread
  hand_over(tile, out);
}

// Lanes from 20 on read nothing and fill in zeros: 80 bytes are read, 128 written.
__global__ void zeros_at_the_end(const float* in, float* out) {
  __shared__ float4 tile4[kFloats / 4];
  float* tile = reinterpret_cast<float*>(tile4);
  clear(tile);
  const int t = threadIdx.x, fill = t < 20 ? 0 : 4;
  __pipeline_memcpy_async(&tile[t], &in[t], 4, fill);  // COUNTED zeros_at_the_end
  hand_over(tile, out);
}

// Half of the 16 bytes is zeros.
__global__ void half_zeros(const float* in, float* out) {
  __shared__ float4 tile4[kFloats / 4];
  float* tile = reinterpret_cast<float*>(tile4);
  clear(tile);
  __pipeline_memcpy_async(&tile4[threadIdx.x], &in[4 * threadIdx.x], 16, 8);  // COUNTED half_zeros
  hand_over(tile, out);
}

// Half of the lanes take no part.
__global__ void of_half_a_warp(const float* in, float* out) {
  __shared__ float4 tile4[kFloats / 4];
  float* tile = reinterpret_cast<float*>(tile4);
  clear(tile);
  const int t = threadIdx.x;
  if (t < 16) __pipeline_memcpy_async(&tile4[t], &in[4 * t], 16);  // COUNTED of_half_a_warp
  hand_over(tile, out);
}

template <void (*kernel)(const float*, float*)>
bool run(float (*expected)(int i)) {
  cudaDeviceReset();
  std::vector<float> values(kFloats);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i + 1);
  DeviceArray<float> in(values), out(kFloats);
  kernel<<<1, 32>>>(in.get(), out.get());
  return out.holds(expected);
}

template <int kCount>
float first(int i) {
  return i < kCount ? static_cast<float>(i + 1) : 0.0f;
}

}  // namespace

const std::vector<Case>& cases() {
  static const std::vector<Case> all = {
      {"of_4_bytes", [] { return run<of_4_bytes>(first<32>); }, 1, 4, 1, 1, 0},
      {"of_8_bytes", [] { return run<of_8_bytes>(first<64>); }, 1, 8, 1, 2, 0},
      {"of_16_bytes", [] { return run<of_16_bytes>(first<128>); }, 1, 16, 1, 4, 0},
      {"shifted", [] { return run<shifted>([](int i) { return i < 32 ? i + 2.0f : 0.0f; }); }, 1, 5,
       1, 1, 0},
      {"spread",
       [] { return run<spread>([](int i) { return i < 64 && i % 2 == 0 ? i / 2 + 1.0f : 0.0f; }); },
       1, 4, 1, 2, 1},
      {"zeros_at_the_end", [] { return run<zeros_at_the_end>(first<20>); }, 1, 3, 2, 2, 0},
      {"half_zeros",
       [] { return run<half_zeros>([](int i) { return i < 128 && i % 4 < 2 ? i + 1.0f : 0.0f; }); },
       1, 16, 1, 8, 0},
      {"of_half_a_warp", [] { return run<of_half_a_warp>(first<64>); }, 1, 8, 1, 2, 0},
  };
  return all;
}

}  // namespace copies
