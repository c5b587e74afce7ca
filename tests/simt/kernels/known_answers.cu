// Nine kernels whose memory traffic was read with Nsight Compute on an H200. The figures stand in
// counted_cases.cpp. Each run_* function launches one kernel once and says whether its values are
// right; the data are small whole numbers, so that all sums but softmax are exact.
#include <cuda_runtime.h>

#include <cmath>

#include "device_array.hpp"
#include "known_answers.hpp"

namespace known_answers {

constexpr int kLength = 100000;
constexpr int kMaskWidth = 9;
constexpr int kRadius = kMaskWidth / 2;
constexpr int kThreads = 256;
constexpr int kBlocks = (kLength + kThreads - 1) / kThreads;

__constant__ float constant_mask[kMaskWidth];

// ---- 1D cross-correlation of n cells, zero beyond the ends ----

__global__ void conv1d_mask_global(const float* N, const float* M, float* P, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float acc = 0;
  for (int j = 0; j < kMaskWidth; ++j) {
    const int k = i - kRadius + j;
    if (k >= 0 && k < n) acc += N[k] * M[j];
  }
  P[i] = acc;
}

__global__ void conv1d_mask_constant(const float* N, float* P, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float acc = 0;
  for (int j = 0; j < kMaskWidth; ++j) {
    const int k = i - kRadius + j;
    if (k >= 0 && k < n) acc += N[k] * constant_mask[j];
  }
  P[i] = acc;
}

__global__ void conv1d_tile_and_halo(const float* N, float* P, int n) {
  constexpr int kTile = kThreads + kMaskWidth - 1;  // 264 cells
  __shared__ float tile[kTile];
  const int t = threadIdx.x;
  const int first = blockIdx.x * kThreads - kRadius;
  for (int s = t; s < kTile; s += kThreads) {
    const int k = first + s;
    tile[s] = k >= 0 && k < n ? N[k] : 0.0f;
  }
  __syncthreads();
  const int i = blockIdx.x * kThreads + t;
  if (i >= n) return;
  float acc = 0;
  for (int j = 0; j < kMaskWidth; ++j) acc += tile[t + j] * constant_mask[j];
  P[i] = acc;
}

// ---- transpose of `height` rows of `width` floats; 32 x 8 threads move a square of 32 x 32 ----

__global__ void transpose_global(const float* in, float* out, int width, int height) {
  const int x = blockIdx.x * 32 + threadIdx.x;
  const int y = blockIdx.y * 32 + threadIdx.y;
  for (int r = 0; r < 32; r += 8) out[x * height + y + r] = in[(y + r) * width + x];
}

template <int kPitch>
__global__ void transpose_tile(const float* in, float* out, int width, int height) {
  __shared__ float tile[32][kPitch];
  const int tx = threadIdx.x;
  const int ty = threadIdx.y;
  const int x = blockIdx.x * 32 + tx;
  const int y = blockIdx.y * 32 + ty;
  for (int r = 0; r < 32; r += 8) tile[ty + r][tx] = in[(y + r) * width + x];
  __syncthreads();
  const int out_x = blockIdx.y * 32 + tx;
  const int out_y = blockIdx.x * 32 + ty;
  for (int r = 0; r < 32; r += 8) out[(out_y + r) * height + out_x] = tile[tx][ty + r];
}

// ---- copy that reverses each block's 256 float4 ----

__global__ void reverse_float4(const float4* in, float4* out) {
  __shared__ float4 tile[kThreads];
  const int t = threadIdx.x;
  const int i = blockIdx.x * kThreads + t;
  tile[t] = in[i];
  __syncthreads();
  out[i] = tile[kThreads - 1 - t];
}

// ---- softmax, one row a block of 128 threads ----

constexpr int kSoftmaxThreads = 128;

template <bool kMaximum>
__device__ float block_reduce(float value, float* scratch) {
  const int t = threadIdx.x;
  scratch[t] = value;
  __syncthreads();
  for (int half = kSoftmaxThreads / 2; half > 0; half /= 2) {
    if (t < half) {
      const float other = scratch[t + half];
      scratch[t] = kMaximum ? fmaxf(scratch[t], other) : scratch[t] + other;
    }
    __syncthreads();
  }
  const float result = scratch[0];
  __syncthreads();
  return result;
}

__global__ void softmax_three_passes(const float* in, float* out, int columns) {
  __shared__ float scratch[kSoftmaxThreads];
  const float* row = in + blockIdx.x * columns;
  float largest = -INFINITY;
#pragma unroll 1
  for (int c = threadIdx.x; c < columns; c += kSoftmaxThreads) largest = fmaxf(largest, row[c]);
  largest = block_reduce<true>(largest, scratch);
  float sum = 0;
#pragma unroll 1
  for (int c = threadIdx.x; c < columns; c += kSoftmaxThreads) sum += expf(row[c] - largest);
  sum = block_reduce<false>(sum, scratch);
#pragma unroll 1
  for (int c = threadIdx.x; c < columns; c += kSoftmaxThreads) {
    out[blockIdx.x * columns + c] = expf(row[c] - largest) / sum;
  }
}

// ---- 3 x 3 filter over height x width, zero beyond the edges ----

__constant__ float constant_filter[3][3];

__global__ void conv3x3_zero_padded(const float* in, float* out, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  float acc = 0;
  for (int fy = 0; fy < 3; ++fy) {
    for (int fx = 0; fx < 3; ++fx) {
      const int iy = y + fy - 1;
      const int ix = x + fx - 1;
      if (iy >= 0 && iy < height && ix >= 0 && ix < width) {
        acc += in[iy * width + ix] * constant_filter[fy][fx];
      }
    }
  }
  out[y * width + x] = acc;
}

// ---- host side ----

static std::vector<float> whole_numbers(int count, int modulus) {
  std::vector<float> values(count);
  for (int i = 0; i < count; ++i) values[i] = static_cast<float>((i * 7 + i / 11) % modulus - 3);
  return values;
}

static const std::vector<float> kMask = {1, -2, 3, 5, -7, 4, 6, -1, 2};

static bool conv1d_is_right(const std::vector<float>& in, const std::vector<float>& out) {
  if (out.size() != in.size()) return false;
  const int n = static_cast<int>(in.size());
  for (int i = 0; i < n; ++i) {
    double acc = 0;
    for (int j = 0; j < kMaskWidth; ++j) {
      const int k = i - kRadius + j;
      if (k >= 0 && k < n) acc += static_cast<double>(in[k]) * kMask[j];
    }
    if (acc != out[i]) return false;
  }
  return true;
}

bool run_conv1d_mask_global() {
  const std::vector<float> input = whole_numbers(kLength, 17);
  DeviceArray<float> N(input), M(kMask), P(kLength);
  conv1d_mask_global<<<kBlocks, kThreads>>>(N.get(), M.get(), P.get(), kLength);
  return cudaGetLastError() == cudaSuccess && conv1d_is_right(input, P.download());
}

bool run_conv1d_mask_constant() {
  const std::vector<float> input = whole_numbers(kLength, 17);
  DeviceArray<float> N(input), P(kLength);
  cudaMemcpyToSymbol(constant_mask, kMask.data(), kMaskWidth * sizeof(float));
  conv1d_mask_constant<<<kBlocks, kThreads>>>(N.get(), P.get(), kLength);
  return cudaGetLastError() == cudaSuccess && conv1d_is_right(input, P.download());
}

bool run_conv1d_tile_and_halo() {
  const std::vector<float> input = whole_numbers(kLength, 17);
  DeviceArray<float> N(input), P(kLength);
  cudaMemcpyToSymbol(constant_mask, kMask.data(), kMaskWidth * sizeof(float));
  conv1d_tile_and_halo<<<kBlocks, kThreads>>>(N.get(), P.get(), kLength);
  return cudaGetLastError() == cudaSuccess && conv1d_is_right(input, P.download());
}

constexpr int kWidth = 512;
constexpr int kHeight = 256;

static bool transpose_is_right(void (*kernel)(const float*, float*, int, int)) {
  std::vector<float> input(kWidth * kHeight);
  for (int i = 0; i < kWidth * kHeight; ++i) input[i] = static_cast<float>(i);
  DeviceArray<float> in(input), out(kWidth * kHeight);
  kernel<<<dim3(kWidth / 32, kHeight / 32), dim3(32, 8)>>>(in.get(), out.get(), kWidth, kHeight);
  if (cudaGetLastError() != cudaSuccess) return false;
  const std::vector<float> output = out.download();
  if (output.size() != input.size()) return false;
  for (int y = 0; y < kHeight; ++y) {
    for (int x = 0; x < kWidth; ++x) {
      if (output[x * kHeight + y] != input[y * kWidth + x]) return false;
    }
  }
  return true;
}

bool run_transpose_global() { return transpose_is_right(transpose_global); }
bool run_transpose_tile_32() { return transpose_is_right(transpose_tile<32>); }
bool run_transpose_tile_33() { return transpose_is_right(transpose_tile<33>); }

bool run_reverse_float4() {
  constexpr int kCount = 131072 / 4;
  std::vector<float4> input(kCount);
  for (int i = 0; i < kCount; ++i) {
    input[i].x = 4.0f * i;
    input[i].y = 4.0f * i + 1;
    input[i].z = 4.0f * i + 2;
    input[i].w = 4.0f * i + 3;
  }
  DeviceArray<float4> in(input), out(kCount);
  reverse_float4<<<kCount / kThreads, kThreads>>>(in.get(), out.get());
  if (cudaGetLastError() != cudaSuccess) return false;
  const std::vector<float4> output = out.download();
  if (output.size() != input.size()) return false;
  for (int i = 0; i < kCount; ++i) {
    const float4 want = input[i / kThreads * kThreads + kThreads - 1 - i % kThreads];
    const float4 got = output[i];
    if (got.x != want.x || got.y != want.y || got.z != want.z || got.w != want.w) return false;
  }
  return true;
}

bool run_softmax_three_passes() {
  constexpr int kRows = 64;
  constexpr int kColumns = 1000;
  std::vector<float> input = whole_numbers(kRows * kColumns, 13);
  DeviceArray<float> in(input), out(kRows * kColumns);
  softmax_three_passes<<<kRows, kSoftmaxThreads>>>(in.get(), out.get(), kColumns);
  if (cudaGetLastError() != cudaSuccess) return false;
  const std::vector<float> output = out.download();
  if (output.size() != input.size()) return false;
  for (int r = 0; r < kRows; ++r) {
    double sum = 0;
    for (int c = 0; c < kColumns; ++c)
      sum += std::exp(static_cast<double>(input[r * kColumns + c]));
    for (int c = 0; c < kColumns; ++c) {
      const double want = std::exp(static_cast<double>(input[r * kColumns + c])) / sum;
      if (!(std::fabs(output[r * kColumns + c] - want) <= 1e-4 * want)) return false;
    }
  }
  return true;
}

bool run_conv3x3_zero_padded() {
  constexpr int kImageWidth = 64;
  constexpr int kImageHeight = 8;
  const float filter[3][3] = {{1, 2, -3}, {4, -5, 6}, {7, 8, -9}};
  const std::vector<float> input = whole_numbers(kImageWidth * kImageHeight, 19);
  DeviceArray<float> in(input), out(input.size());
  cudaMemcpyToSymbol(constant_filter, filter, sizeof(filter));
  conv3x3_zero_padded<<<dim3(2, 2), dim3(32, 4)>>>(in.get(), out.get(), kImageWidth, kImageHeight);
  if (cudaGetLastError() != cudaSuccess) return false;
  const std::vector<float> output = out.download();
  if (output.size() != input.size()) return false;
  for (int y = 0; y < kImageHeight; ++y) {
    for (int x = 0; x < kImageWidth; ++x) {
      double acc = 0;
      for (int fy = 0; fy < 3; ++fy) {
        for (int fx = 0; fx < 3; ++fx) {
          const int iy = y + fy - 1;
          const int ix = x + fx - 1;
          if (iy < 0 || iy >= kImageHeight || ix < 0 || ix >= kImageWidth) continue;
          acc += static_cast<double>(input[iy * kImageWidth + ix]) * filter[fy][fx];
        }
      }
      if (acc != output[y * kImageWidth + x]) return false;
    }
  }
  return true;
}

}  // namespace known_answers
