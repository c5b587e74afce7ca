// Filters as fourier.cu and fourier_split.cu read them: transformed, once per layer.
#include <cuda_pipeline.h>
#include <cuda_runtime.h>

#include "common/convolve/fourier/fourier.cuh"
#include "common/harness/async_copy.h"

namespace halo::convolve {

// A filter is a tile of which only R x S cells are not zero, so a column of its transform is a sum of few terms, and no row
// waits for other threads' columns. A lane has a filter, so that what is stored together are 32 neighbours, and a warp one
// row of its frequencies, or rows 0 and kHalf, which are real before they are transformed: one complex row.
// Preconditions: blockDim.x = kFourierThreads; gridDim.x = C * warps of pitch, gridDim.y * blockDim.x = kHalf * 32; dynamic
// shared memory holds 32 * (R * S | 1) floats.
template <int kSize>
__global__ void __launch_bounds__(kFourierThreads)
    pack_fourier_kernel(const float* filters,  // [K][C][R][S]
                        float2* packed,        // [kFrequencies][C][pitch], twice as large
                        LayerNumbers layer, Divisor of_filter, int pitch) {
  using F = Fourier<kSize>;
  extern __shared__ float taps[];   // [32][R * S | 1]: odd, for the banks
  __shared__ float2 circle[kSize];  // twice its points, backwards
  const int row_of_taps = of_filter.value | 1;
  const int warps = (pitch - 1) / kWarpSize + 1;  // of a channel
  const int lane = threadIdx.x % kWarpSize, warp = threadIdx.x / kWarpSize;
  const int first = static_cast<int>(blockIdx.x) % warps * kWarpSize;
  const int c = static_cast<int>(blockIdx.x) / warps, k = first + lane;
  const long long next_filter = static_cast<long long>(layer.C) * of_filter.value;
  const float* const from = filters + first * next_filter + c * of_filter.value;
  for (int i = threadIdx.x; i < kWarpSize * of_filter.value; i += kFourierThreads) {
    const int filter = i / of_filter, tap = i - filter * of_filter.value;
    const bool exists = first + filter < layer.K;
    copy_or_zero_async<4>(taps + filter * row_of_taps + tap,
                          exists ? from + filter * next_filter + tap : filters, exists);
  }
  __pipeline_commit();
  if (threadIdx.x < kSize) {
    const int point = threadIdx.x * (32 / kSize);
    circle[threadIdx.x] = turned<false>({point < 16 ? 2.0f : -2.0f, 0}, point % 16);
  }
  __pipeline_wait_prior(0);
  __syncthreads();

  const int u = blockIdx.y * (kFourierThreads / kWarpSize) + warp;
  const float* const own = taps + lane * row_of_taps;
  float2 z[kSize] = {};
  for (int r = 0; r < layer.R; ++r) {
    float2 point = circle[u * r % kSize];
    if (u == 0) point.y = circle[F::kHalf * r % kSize].x;
#pragma unroll
    for (int s = 0; s < F::kHalf; ++s) {  // there are no wider filters
      if (s < layer.S) {                  // (a break took a fifth longer with few filters)
        const float tap = own[r * layer.S + s];
        z[s].x += point.x * tap;
        z[s].y += point.y * tap;
      }
    }
  }
  transform<false>(z);
  if (k >= pitch) return;
  float2* const to = packed + c * pitch + k;
  const int next = layer.C * pitch;  // from one frequency to the next
  if (u > 0) {
#pragma unroll
    for (int v = 0; v < kSize; ++v) to[((u - 1) * kSize + v) * next] = z[v];
  } else {
#pragma unroll
    for (int v = 0; v <= F::kHalf; ++v) {
      const float2 a = z[v], b = z[(kSize - v) % kSize];
      to[(F::kRealRows + v) * next] = {0.5f * (a.x + b.x), 0.5f * (a.y - b.y)};
      to[(F::kRealRows + F::kHalf + 1 + v) * next] = {0.5f * (a.y + b.y), 0.5f * (b.x - a.x)};
    }
  }
}

int pack_fourier(const float* filters, float* packed, const LayerNumbers& layer,
                 const FourierDivision& division) {
  return dispatch<16, 32>(division.size, [&](auto size) {
    constexpr int kRows = kFourierThreads / kWarpSize;  // of a block
    const int pitch = division.filter_pitch, warps = (pitch - 1) / kWarpSize + 1;
    const int bytes = kWarpSize * (layer.R * layer.S | 1) * static_cast<int>(sizeof(float));
    pack_fourier_kernel<size.value>
        <<<dim3(warps * layer.C, size.value / 2 / kRows), kFourierThreads, bytes>>>(
            filters, reinterpret_cast<float2*>(packed), layer, layer.R * layer.S, pitch);
    return static_cast<int>(cudaGetLastError());
  });
}

}  // namespace halo::convolve
