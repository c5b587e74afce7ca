// Shared memory: banks, widths, layouts, dynamic arrays, what ptxas merges.
#include <cuda_runtime.h>

#include "launches.hpp"

namespace fidelity {
namespace {

template <typename T, int kStride>
__global__ void strided_tile(T* out) {
  __shared__ T tile[64 * kStride];
  for (int i = threadIdx.x; i < 64 * kStride; i += blockDim.x) tile[i] = static_cast<T>(i);
  __syncthreads();
  out[blockIdx.x * blockDim.x + threadIdx.x] = tile[threadIdx.x * kStride];
}

template <int kPad>
__global__ void transpose(const float* in, float* out, int n) {
  __shared__ float tile[16][16 + kPad];
  const int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  tile[threadIdx.y][threadIdx.x] = in[y * n + x];
  __syncthreads();
  const int tx = blockIdx.y * 16 + threadIdx.x, ty = blockIdx.x * 16 + threadIdx.y;
  out[ty * n + tx] = tile[threadIdx.x][threadIdx.y];
}

__global__ void transpose_swizzled(const float* in, float* out, int n) {
  __shared__ float tile[32][32];
  const int x = blockIdx.x * 32 + threadIdx.x;
  for (int r = threadIdx.y; r < 32; r += 8) {
    tile[r][threadIdx.x ^ r] = in[(blockIdx.y * 32 + r) * n + x];
  }
  __syncthreads();
  const int tx = blockIdx.y * 32 + threadIdx.x;
  for (int r = threadIdx.y; r < 32; r += 8) {
    out[(blockIdx.x * 32 + r) * n + tx] = tile[threadIdx.x][r ^ threadIdx.x];
  }
}

// Each thread reads so many neighbours: ptxas makes wide loads of those that are aligned.
template <int kCount>
__global__ void neighbours(const float* in, float* out) {
  __shared__ float tile[128 + 16];
  tile[threadIdx.x] = in[threadIdx.x];
  if (threadIdx.x < 16) tile[128 + threadIdx.x] = in[128 + threadIdx.x];
  __syncthreads();
  float sum = 0;
#pragma unroll
  for (int k = 0; k < kCount; ++k) sum += tile[threadIdx.x + k];
  out[threadIdx.x] = sum;
}

// The same from an address that is aligned to all that one thread reads.
template <int kCount>
__global__ void aligned_neighbours(const float* in, float* out) {
  __shared__ __align__(16) float tile[64 * kCount];
  for (int i = threadIdx.x; i < 64 * kCount; i += 64) tile[i] = in[i];
  __syncthreads();
  float sum = 0;
#pragma unroll
  for (int k = 0; k < kCount; ++k) sum = sum * 2 + tile[threadIdx.x * kCount + k];
  out[threadIdx.x] = sum;
}

template <int kCount>
__global__ void aligned_stores(const float* in, float* out) {
  __shared__ __align__(16) float tile[64 * kCount];
  const float value = in[threadIdx.x];
#pragma unroll
  for (int k = 0; k < kCount; ++k) tile[threadIdx.x * kCount + k] = value * k;
  __syncthreads();
  for (int i = threadIdx.x; i < 64 * kCount; i += 64) out[i] = tile[64 * kCount - 1 - i];
}

__global__ void dynamic_parts(const float* in, float* out, int n) {
  extern __shared__ float pool[];
  float* first = pool;
  float* second = pool + n;
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    first[i] = in[i];
    second[i] = in[n - 1 - i];
  }
  __syncthreads();
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    out[i] = first[(i * 5) % n] - second[(i * 3) % n];
}

struct Pixel {
  unsigned char r, g, b;
};

__global__ void pixels(const unsigned char* in, unsigned char* out) {
  __shared__ Pixel tile[128];
  const unsigned char* at = in + 3 * threadIdx.x;
  tile[threadIdx.x] = Pixel{at[0], at[1], at[2]};
  __syncthreads();
  const Pixel other = tile[127 - threadIdx.x];
  out[3 * threadIdx.x] = other.b;
  out[3 * threadIdx.x + 1] = other.g;
  out[3 * threadIdx.x + 2] = other.r;
}

__global__ void broadcast_of_columns(const float* in, float* out) {
  __shared__ float tile[32][33];
  tile[threadIdx.y][threadIdx.x] = in[threadIdx.y * 32 + threadIdx.x];
  __syncthreads();
  float sum = 0;
  for (int k = 0; k < 32; ++k) sum += tile[threadIdx.y][k] * tile[k][threadIdx.x];
  out[threadIdx.y * 32 + threadIdx.x] = sum;
}

__global__ void float4_tile(const float4* in, float* out) {
  __shared__ float4 tile[256];
  tile[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  const float4 a = tile[threadIdx.x ^ 1], b = tile[(threadIdx.x * 3) % 256];
  out[threadIdx.x] = a.x + a.y + b.z + b.w;
}

__global__ void sparse_lanes(const float* in, float* out) {
  __shared__ float tile[256];
  tile[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  if (threadIdx.x % 3 == 0) out[threadIdx.x] = tile[(threadIdx.x * 4) % 256];
}

__global__ void double_tile(const double* in, double* out) {
  __shared__ double tile[16][17];
  const int x = threadIdx.x % 16, y = threadIdx.x / 16;
  tile[y][x] = in[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = tile[x][y];
}

__global__ void volatile_tile(const int* in, int* out) {
  __shared__ volatile int tile[64];
  tile[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = tile[(threadIdx.x + 1) % 64] + tile[(threadIdx.x + 2) % 64];
}

}  // namespace

void shared_memory() {
  Array<float> in(64 * 64), out(64 * 64);
  Array<double> doubles(256), more_doubles(256);
  strided_tile<float, 1><<<3, 64>>>(out.data());
  tell("tile stride 1", out);
  strided_tile<float, 2><<<3, 64>>>(out.data());
  tell("tile stride 2", out);
  strided_tile<float, 17><<<3, 64>>>(out.data());
  tell("tile stride 17", out);
  strided_tile<float, 32><<<3, 64>>>(out.data());
  tell("tile stride 32", out);
  strided_tile<unsigned char, 1><<<3, 64>>>(out.as<unsigned char>());
  tell("tile of bytes", out);
  strided_tile<short, 3><<<3, 64>>>(out.as<short>());
  tell("tile of shorts", out);
  strided_tile<double, 3><<<3, 64>>>(more_doubles.data());
  tell("tile of doubles", more_doubles);
  transpose<0><<<dim3(4, 4), dim3(16, 16)>>>(in.data(), out.data(), 64);
  tell("transpose 16", out);
  transpose<1><<<dim3(4, 4), dim3(16, 16)>>>(in.data(), out.data(), 64);
  tell("transpose 17", out);
  transpose_swizzled<<<dim3(2, 2), dim3(32, 8)>>>(in.data(), out.data(), 64);
  tell("transpose swizzled", out);
  neighbours<3><<<1, 128>>>(in.data(), out.data());
  tell("3 neighbours", out);
  neighbours<8><<<1, 128>>>(in.data(), out.data());
  tell("8 neighbours", out);
  aligned_neighbours<2><<<1, 64>>>(in.data(), out.data());
  tell("2 aligned neighbours", out);
  aligned_neighbours<3><<<1, 64>>>(in.data(), out.data());
  tell("3 aligned neighbours", out);
  aligned_neighbours<4><<<1, 64>>>(in.data(), out.data());
  tell("4 aligned neighbours", out);
  aligned_neighbours<6><<<1, 64>>>(in.data(), out.data());
  tell("6 aligned neighbours", out);
  aligned_neighbours<8><<<1, 64>>>(in.data(), out.data());
  tell("8 aligned neighbours", out);
  aligned_stores<2><<<1, 64>>>(in.data(), out.data());
  tell("2 aligned stores", out);
  aligned_stores<4><<<1, 64>>>(in.data(), out.data());
  tell("4 aligned stores", out);
  aligned_stores<6><<<1, 64>>>(in.data(), out.data());
  tell("6 aligned stores", out);
  dynamic_parts<<<2, 96, 2 * 500 * sizeof(float)>>>(in.data(), out.data(), 500);
  tell("dynamic parts", out);
  pixels<<<1, 128>>>(in.as<unsigned char>(), out.as<unsigned char>());
  tell("pixels", out);
  broadcast_of_columns<<<1, dim3(32, 32)>>>(in.data(), out.data());
  tell("broadcast of columns", out);
  float4_tile<<<1, 256>>>(in.as<float4>(), out.data());
  tell("float4 tile", out);
  sparse_lanes<<<1, 256>>>(in.data(), out.data());
  tell("sparse lanes", out);
  double_tile<<<1, 256>>>(doubles.data(), more_doubles.data());
  tell("double tile", more_doubles);
  volatile_tile<<<1, 64>>>(in.as<int>(), out.as<int>());
  tell("volatile tile", out);
}

}  // namespace fidelity
