// Convolutions and stencils as textbooks write them.
#include <cuda_runtime.h>

#include "launches.hpp"

namespace fidelity {
namespace {

__constant__ float mask[49] = {1, 2, 3, 4, 3, 2, 1, 2, 1, 0, 1, 2, 5,
                               1, 2, 3, 1, 0, 2, 1, 1, 3, 1, 2, 1};

template <int kTaps>
__global__ void convolve_1d(const float* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float sum = 0;
  for (int k = 0; k < kTaps; ++k) {
    const int at = i + k - kTaps / 2;
    if (at >= 0 && at < n) sum += in[at] * mask[k];
  }
  out[i] = sum;
}

template <int kTaps>
__global__ void convolve_1d_tiled(const float* in, float* out, int n) {
  constexpr int kHalo = kTaps / 2;
  __shared__ float tile[128 + 2 * kHalo];
  const int i = blockIdx.x * 128 + threadIdx.x;
  tile[threadIdx.x + kHalo] = i < n ? in[i] : 0;
  if (threadIdx.x < kHalo) {
    tile[threadIdx.x] = i >= kHalo ? in[i - kHalo] : 0;
    tile[128 + kHalo + threadIdx.x] = i + 128 < n ? in[i + 128] : 0;
  }
  __syncthreads();
  if (i >= n) return;
  float sum = 0;
#pragma unroll
  for (int k = 0; k < kTaps; ++k) sum += tile[threadIdx.x + k] * mask[k];
  out[i] = sum;
}

__global__ void convolve_1d_any(const float* in, const float* taps, float* out, int n, int count) {
  extern __shared__ float shared[];
  for (int k = threadIdx.x; k < count; k += blockDim.x) shared[k] = taps[k];
  __syncthreads();
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i + count > n) return;
  float sum = 0;
#pragma unroll 1
  for (int k = 0; k < count; ++k) sum += in[i + k] * shared[k];
  out[i] = sum;
}

__global__ void five_points(const float* in, float* out, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 1 || y < 1 || x >= width - 1 || y >= height - 1) return;
  const int at = y * width + x;
  out[at] = in[at - 1] + in[at + 1] + in[at - width] + in[at + width] - 4 * in[at];
}

__global__ void five_points_tiled(const float* in, float* out, int width, int height) {
  __shared__ float tile[10][34];
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  for (int r = threadIdx.y; r < 10; r += 8) {
    for (int c = threadIdx.x; c < 34; c += 32) {
      const int sx = min(max(static_cast<int>(blockIdx.x * 32 + c) - 1, 0), width - 1);
      const int sy = min(max(static_cast<int>(blockIdx.y * 8 + r) - 1, 0), height - 1);
      tile[r][c] = in[sy * width + sx];
    }
  }
  __syncthreads();
  if (x >= width || y >= height) return;
  const int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
  out[y * width + x] =
      tile[ty][tx - 1] + tile[ty][tx + 1] + tile[ty - 1][tx] + tile[ty + 1][tx] - 4 * tile[ty][tx];
}

template <int kRadius>
__global__ void convolve_2d(const float* in, float* out, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  float sum = 0;
  for (int r = -kRadius; r <= kRadius; ++r) {
    for (int c = -kRadius; c <= kRadius; ++c) {
      const int sx = x + c, sy = y + r;
      if (sx >= 0 && sx < width && sy >= 0 && sy < height) {
        sum += in[sy * width + sx] * mask[(r + kRadius) * (2 * kRadius + 1) + c + kRadius];
      }
    }
  }
  out[y * width + x] = sum;
}

// Four outputs per thread, the inputs slide through registers.
__global__ void register_tile(const float* in, float* out, int n) {
  const int first = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
  if (first + 8 > n) return;
  float window[8];
#pragma unroll
  for (int k = 0; k < 8; ++k) window[k] = in[first + k];
#pragma unroll
  for (int o = 0; o < 4; ++o) {
    float sum = 0;
#pragma unroll
    for (int k = 0; k < 5; ++k) sum += window[o + k] * mask[k];
    out[first + o] = sum;
  }
}

__global__ void seven_points(const float* in, float* out, int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 1 || y < 1 || x >= n - 1 || y >= n - 1) return;
  float below = in[y * n + x], here = in[(n + y) * n + x];
  for (int z = 1; z < n - 1; ++z) {
    const int at = (z * n + y) * n + x;
    const float above = in[at + n * n];
    out[at] = below + above + in[at - 1] + in[at + 1] + in[at - n] + in[at + n] - 6 * here;
    below = here;
    here = above;
  }
}

__global__ void separable_rows(const float* in, float* out, int width, int height) {
  __shared__ float tile[4][64 + 8];
  const int y = blockIdx.y * 4 + threadIdx.y, x = blockIdx.x * 64 + threadIdx.x;
  for (int c = threadIdx.x; c < 72; c += 64) {
    const int sx = static_cast<int>(blockIdx.x) * 64 + c - 4;
    tile[threadIdx.y][c] = sx >= 0 && sx < width && y < height ? in[y * width + sx] : 0;
  }
  __syncthreads();
  float sum = 0;
#pragma unroll
  for (int k = 0; k < 9; ++k) sum += tile[threadIdx.y][threadIdx.x + k] * mask[k];
  if (x < width && y < height) out[y * width + x] = sum;
}

__global__ void max_pool(const float* in, float* out, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width / 2 || y >= height / 2) return;
  const float* at = in + 2 * y * width + 2 * x;
  out[y * (width / 2) + x] = fmaxf(fmaxf(at[0], at[1]), fmaxf(at[width], at[width + 1]));
}

__global__ void channels(const float* in, const float* filters, float* out, int c_in, int size) {
  const int x = threadIdx.x, y = threadIdx.y, k = blockIdx.x, inner = size - 2;
  if (x >= inner || y >= inner) return;
  float sum = 0;
  for (int c = 0; c < c_in; ++c) {
#pragma unroll
    for (int r = 0; r < 3; ++r) {
#pragma unroll
      for (int s = 0; s < 3; ++s) {
        sum += in[(c * size + y + r) * size + x + s] * filters[((k * c_in + c) * 3 + r) * 3 + s];
      }
    }
  }
  out[(k * inner + y) * inner + x] = sum;
}

}  // namespace

void stencils() {
  Array<float> in(20 * 20 * 20), out(20 * 20 * 20);
  convolve_1d<5><<<16, 128>>>(in.data(), out.data(), 2000);
  tell("conv1d 5", out);
  convolve_1d<17><<<16, 128>>>(in.data(), out.data(), 2000);
  tell("conv1d 17", out);
  convolve_1d_tiled<5><<<16, 128>>>(in.data(), out.data(), 2000);
  tell("conv1d tiled 5", out);
  convolve_1d_tiled<31><<<16, 128>>>(in.data(), out.data(), 2000);
  tell("conv1d tiled 31", out);
  convolve_1d_any<<<16, 128, 21 * sizeof(float)>>>(in.data(), in.data() + 3, out.data(), 2000, 21);
  tell("conv1d any", out);
  five_points<<<dim3(3, 9), dim3(32, 8)>>>(in.data(), out.data(), 90, 70);
  tell("five points", out);
  five_points_tiled<<<dim3(3, 9), dim3(32, 8)>>>(in.data(), out.data(), 90, 70);
  tell("five points tiled", out);
  convolve_2d<1><<<dim3(6, 5), dim3(16, 16)>>>(in.data(), out.data(), 90, 70);
  tell("conv2d 3", out);
  convolve_2d<3><<<dim3(6, 5), dim3(16, 16)>>>(in.data(), out.data(), 90, 70);
  tell("conv2d 7", out);
  register_tile<<<4, 128>>>(in.data(), out.data(), 2000);
  tell("register tile", out);
  seven_points<<<dim3(2, 3), dim3(16, 8)>>>(in.data(), out.data(), 20);
  tell("seven points", out);
  separable_rows<<<dim3(2, 18), dim3(64, 4)>>>(in.data(), out.data(), 90, 70);
  tell("separable rows", out);
  max_pool<<<dim3(3, 5), dim3(16, 8)>>>(in.data(), out.data(), 90, 70);
  tell("max pool", out);
  channels<<<6, dim3(14, 14)>>>(in.data(), in.data() + 5000, out.data(), 4, 14);
  tell("channels", out);
}

}  // namespace fidelity
