// Images of one to five channels, interleaved and apart: filters, sums of rows, other sizes, and what is counted of them.
#include <cooperative_groups.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <mma.h>

#include "launches.hpp"

namespace fidelity {
namespace {

// All channels of a pixel are neighbours.
template <int kChannels>
__global__ void blur_of_channels(const float* in, float* out, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 1 || y < 1 || x >= width - 1 || y >= height - 1) return;
  float sums[kChannels] = {};
#pragma unroll
  for (int r = -1; r <= 1; ++r) {
#pragma unroll
    for (int s = -1; s <= 1; ++s) {
#pragma unroll
      for (int c = 0; c < kChannels; ++c) sums[c] += in[((y + r) * width + x + s) * kChannels + c];
    }
  }
#pragma unroll
  for (int c = 0; c < kChannels; ++c) out[(y * width + x) * kChannels + c] = sums[c];
}
__global__ void five_channels_tiled(const float* in, float* out, int width, int height) {
  __shared__ float tile[6][18][5];
  const int t = threadIdx.y * 16 + threadIdx.x;
  const int x0 = blockIdx.x * 16 - 1, y0 = blockIdx.y * 4 - 1;
  for (int i = t; i < 540; i += 64) {
    const int r = i / 90, rest = i % 90, y = y0 + r, x = x0 + rest / 5;
    const bool inside = y >= 0 && y < height && x >= 0 && x < width;
    tile[r][rest / 5][rest % 5] = inside ? in[(y * width + x) * 5 + rest % 5] : 0;
  }
  __syncthreads();
  const int x = x0 + 1 + threadIdx.x, y = y0 + 1 + threadIdx.y;
  if (x >= width || y >= height) return;
  for (int c = 0; c < 5; ++c) {
    float most = 0;
#pragma unroll
    for (int r = 0; r < 3; ++r) {
#pragma unroll
      for (int s = 0; s < 3; ++s) most = fmaxf(most, tile[threadIdx.y + r][threadIdx.x + s][c]);
    }
    out[(y * width + x) * 5 + c] = most;
  }
}
__global__ void channels_apart(const float* in, float* out, int pixels, int channels) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= pixels) return;
  for (int c = 0; c < channels; ++c) out[c * pixels + i] = in[i * channels + c];
}

__device__ void in_order(float& a, float& b) {
  const float least = fminf(a, b);
  b = fmaxf(a, b);
  a = least;
}
__global__ void median(const float* in, float* out, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  float v[9];
#pragma unroll
  for (int r = 0; r < 3; ++r) {
#pragma unroll
    for (int s = 0; s < 3; ++s) {
      const int sy = min(max(y + r - 1, 0), height - 1), sx = min(max(x + s - 1, 0), width - 1);
      v[r * 3 + s] = in[sy * width + sx];
    }
  }
#pragma unroll
  for (int i = 0; i < 5; ++i) {
#pragma unroll
    for (int j = i + 1; j < 9; ++j) in_order(v[i], v[j]);
  }
  out[y * width + x] = v[4];
}

__global__ void half_size(const float* in, float* out, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width / 2 || y >= height / 2) return;
  const float2 upper = *reinterpret_cast<const float2*>(&in[2 * y * width + 2 * x]);
  const float2 lower = *reinterpret_cast<const float2*>(&in[(2 * y + 1) * width + 2 * x]);
  out[y * (width / 2) + x] = (upper.x + upper.y + lower.x + lower.y) * 0.25f;
}
// Between four pixels, at quarters.
__global__ void other_size(const float* in, float* out, int width, int height, int to_width,
                           int to_height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= to_width || y >= to_height) return;
  const float fx = x * 0.75f, fy = y * 0.75f;
  const int left = static_cast<int>(fx), upper = static_cast<int>(fy);
  const int right = min(left + 1, width - 1), lower = min(upper + 1, height - 1);
  const float wx = fx - left, wy = fy - upper;
  const float above = in[upper * width + left] * (1 - wx) + in[upper * width + right] * wx;
  const float below = in[lower * width + left] * (1 - wx) + in[lower * width + right] * wx;
  out[y * to_width + x] = above * (1 - wy) + below * wy;
}

// A thread a column; the window's sum moves on by what comes in and what goes out.
__global__ void running_sums(const float* in, float* out, int width, int height, int radius) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  if (x >= width) return;
  float sum = 0;
  for (int y = 0; y < radius; ++y) sum += in[y * width + x];
  for (int y = 0; y < height; ++y) {
    if (y + radius < height) sum += in[(y + radius) * width + x];
    if (y - radius - 1 >= 0) sum -= in[(y - radius - 1) * width + x];
    out[y * width + x] = sum;
  }
}

// Lanes with the same bin add together: one atomic for each bin in the warp, or for all lanes that are there.
__global__ void counted_by_matches(const float* in, int* bins, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    const int bin = static_cast<int>(in[i]);
    const unsigned same = __match_any_sync(__activemask(), bin);
    if ((threadIdx.x & 31) == __ffs(same) - 1) atomicAdd(&bins[bin], __popc(same));
  }
}
__global__ void kept_by_groups(const float* in, float* out, int* count, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n || in[i] < 7) return;
  const auto group = cooperative_groups::coalesced_threads();
  int place = 0;
  if (group.thread_rank() == 0)
    place = atomicAdd(&count[blockIdx.x], static_cast<int>(group.size()));
  place = group.shfl(place, 0) + group.thread_rank();
  out[blockIdx.x * 64 + place] = in[i];
}

__global__ void half2_stencil(const __half2* in, __half2* out, int pairs) {
  __shared__ __half2 tile[130];
  const int t = threadIdx.x, i = blockIdx.x * 128 + t;
  tile[t + 1] = i < pairs ? in[i] : __half2{};
  if (t == 0) tile[0] = i > 0 ? in[i - 1] : __half2{};
  if (t == 127) tile[129] = i + 1 < pairs ? in[i + 1] : __half2{};
  __syncthreads();
  const __half2 left = __halves2half2(__high2half(tile[t]), __low2half(tile[t + 1]));
  const __half2 right = __halves2half2(__high2half(tile[t + 1]), __low2half(tile[t + 2]));
  if (i < pairs) out[i] = __hadd2(__hadd2(left, right), tile[t + 1]);
}

// Tensor cores on the filters and on columns that are gathered in shared memory: 16 filters of 3 x 3 in 4 channels.
__global__ void gathered_product(const float* in, const __half* filters, float* out, int width) {
  __shared__ __align__(32) __half left[16][48], right[48][24];
  __shared__ __align__(32) float sums[16][16];
  const int lane = threadIdx.x, x0 = blockIdx.x * 16;
  for (int i = lane; i < 16 * 48; i += 32) {
    const int k = i / 48, rest = i % 48;
    left[k][rest] = rest < 36 ? filters[k * 36 + rest] : __half(0.0f);
  }
  for (int i = lane; i < 48 * 16; i += 32) {
    const int row = i / 16, x = i % 16, c = row / 9, r = row % 9 / 3, s = row % 3;
    right[row][x] = row < 36 ? __float2half(in[(c * 3 + r) * width + x0 + x + s]) : __half(0.0f);
  }
  __syncwarp();
  namespace wmma = nvcuda::wmma;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
  wmma::fill_fragment(sum, 0);
  for (int k = 0; k < 48; k += 16) {
    wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> a;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::row_major> b;
    wmma::load_matrix_sync(a, &left[0][k], 48);
    wmma::load_matrix_sync(b, &right[k][0], 24);
    wmma::mma_sync(sum, a, b, sum);
  }
  wmma::store_matrix_sync(&sums[0][0], sum, 16, wmma::mem_row_major);
  __syncwarp();
  for (int i = lane; i < 256; i += 32)
    out[(i / 16) * (width - 2) + x0 + i % 16] = sums[i / 16][i % 16];
}

}  // namespace

void images() {
  Array<float> in(90 * 70 * 5), out(90 * 70 * 5);
  blur_of_channels<5><<<dim3(3, 9), dim3(32, 8)>>>(in.data(), out.data(), 90, 70);
  tell("blur of five channels", out);
  blur_of_channels<2><<<dim3(3, 9), dim3(32, 8)>>>(in.data(), out.data(), 90, 70);
  tell("blur of two channels", out);
  five_channels_tiled<<<dim3(6, 18), dim3(16, 4)>>>(in.data(), out.data(), 90, 70);
  tell("five channels tiled", out);
  channels_apart<<<25, 256>>>(in.data(), out.data(), 6300, 5);
  tell("channels apart", out);
  median<<<dim3(6, 5), dim3(16, 16)>>>(in.data(), out.data(), 90, 70);
  tell("median", out);
  half_size<<<dim3(3, 5), dim3(16, 8)>>>(in.data(), out.data(), 90, 70);
  tell("half the size", out);
  other_size<<<dim3(4, 12), dim3(32, 8)>>>(in.data(), out.data(), 90, 70, 120, 93);
  tell("other size", out);
  running_sums<<<1, 96>>>(in.data(), out.data(), 90, 70, 4);
  tell("running sums", out);
  {
    Array<int> bins(13), counts(40);
    counted_by_matches<<<4, 128>>>(in.data(), bins.data(), 1234);
    tell("counted by matches", bins);
    kept_by_groups<<<39, 32>>>(in.data(), out.data(), counts.data(), 1234);
    tell("kept by groups", out);
  }
  {
    Array<__half> a(2048), b(2048);
    half2_stencil<<<8, 128>>>(a.as<__half2>(), b.as<__half2>(), 1000);
    tell("half2 stencil", b);
    gathered_product<<<4, 32>>>(in.data(), a.data(), out.data(), 66);
    tell("gathered product", out);
  }
}

}  // namespace fidelity
