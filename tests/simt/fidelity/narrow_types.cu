// Half, bfloat16 and integers of 8 bits; matrix fragments; asynchronous copies.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_pipeline.h>
#include <cuda_runtime.h>
#include <mma.h>

#include "launches.hpp"

namespace fidelity {
namespace {

__global__ void half_saxpy(__half a, const __half* x, __half* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = __hfma(a, x[i], y[i]);
}

__global__ void half2_saxpy(__half2 a, const __half2* x, __half2* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = __hfma2(a, x[i], y[i]);
}

__global__ void half_dot(const __half2* a, const __half2* b, float* out, int n) {
  __shared__ __half2 part[128];
  __half2 sum = __float2half2_rn(0);
  for (int i = threadIdx.x; i < n; i += 128) sum = __hfma2(a[i], b[i], sum);
  part[threadIdx.x] = sum;
  __syncthreads();
  for (int s = 64; s > 0; s /= 2) {
    if (threadIdx.x < s) part[threadIdx.x] = __hadd2(part[threadIdx.x], part[threadIdx.x + s]);
    __syncthreads();
  }
  if (threadIdx.x == 0) out[0] = __low2float(part[0]) + __high2float(part[0]);
}

__global__ void half_transpose(const __half* in, __half* out) {
  __shared__ __half tile[32][34];
  for (int r = threadIdx.y; r < 32; r += 8) tile[r][threadIdx.x] = in[r * 32 + threadIdx.x];
  __syncthreads();
  for (int r = threadIdx.y; r < 32; r += 8) out[r * 32 + threadIdx.x] = tile[threadIdx.x][r];
}

__global__ void bfloat16_scale(const __nv_bfloat16* in, __nv_bfloat16* out, float factor, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = __float2bfloat16(__bfloat162float(in[i]) * factor);
}

__global__ void half_histogram(const __half* in, int* bins, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&bins[static_cast<int>(__half2float(in[i]))], 1);
}

__global__ void to_half(const float4* in, __half2* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float4 four = in[i];
  out[2 * i] = __floats2half2_rn(four.x, four.y);
  out[2 * i + 1] = __floats2half2_rn(four.z, four.w);
}

__global__ void bytes_dot(const int* a, const int* b, int* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = __dp4a(a[i], b[i], i);
}

__global__ void grey(const uchar3* in, unsigned char* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const uchar3 pixel = in[i];
  out[i] = static_cast<unsigned char>((pixel.x * 77 + pixel.y * 150 + pixel.z * 29) >> 8);
}

__global__ void fragments_of_half(const __half* a, const __half* b, float* c, int n) {
  using namespace nvcuda::wmma;
  fragment<matrix_a, 16, 16, 16, __half, row_major> left;
  fragment<matrix_b, 16, 16, 16, __half, row_major> right;
  fragment<accumulator, 16, 16, 16, float> sum;
  fill_fragment(sum, 0);
  for (int k = 0; k < n; k += 16) {
    load_matrix_sync(left, a + blockIdx.y * 16 * n + k, n);
    load_matrix_sync(right, b + k * n + blockIdx.x * 16, n);
    mma_sync(sum, left, right, sum);
  }
  store_matrix_sync(c + blockIdx.y * 16 * n + blockIdx.x * 16, sum, n, mem_row_major);
}

__global__ void fragments_in_shared_memory(const __half* a, const __half* b, __half* c) {
  using namespace nvcuda::wmma;
  __shared__ __half tiles[2][16 * 24];
  for (int i = threadIdx.x; i < 256; i += 32) {
    tiles[0][i / 16 * 24 + i % 16] = a[i];
    tiles[1][i / 16 * 24 + i % 16] = b[i];
  }
  __syncwarp();
  fragment<matrix_a, 16, 16, 16, __half, row_major> left;
  fragment<matrix_b, 16, 16, 16, __half, col_major> right;
  fragment<accumulator, 16, 16, 16, __half> sum;
  fill_fragment(sum, __float2half(0));
  load_matrix_sync(left, tiles[0], 24);
  load_matrix_sync(right, tiles[1], 24);
  mma_sync(sum, left, right, sum);
  __syncwarp();
  store_matrix_sync(tiles[0], sum, 24, mem_row_major);
  __syncwarp();
  for (int i = threadIdx.x; i < 256; i += 32) c[i] = tiles[0][i / 16 * 24 + i % 16];
}

__global__ void fragments_of_bytes(const signed char* a, const signed char* b, int* c) {
  using namespace nvcuda::wmma;
  fragment<matrix_a, 16, 16, 16, signed char, row_major> left;
  fragment<matrix_b, 16, 16, 16, signed char, col_major> right;
  fragment<accumulator, 16, 16, 16, int> sum;
  fill_fragment(sum, 0);
  load_matrix_sync(left, a, 16);
  load_matrix_sync(right, b, 16);
  mma_sync(sum, left, right, sum);
  store_matrix_sync(c, sum, 16, mem_row_major);
}

template <int kBytes>
__global__ void asynchronous_copies(const float* in, float* out, int n) {
  __shared__ __align__(16) float tile[2][512];
  constexpr int kEach = kBytes / 4;
  const auto bring = [&](int stage, int first) {
    for (int i = threadIdx.x * kEach; i < 512; i += 64 * kEach) {
      __pipeline_memcpy_async(&tile[stage][i], in + first + i, kBytes);
    }
    __pipeline_commit();
  };
  bring(0, 0);
  for (int t = 0; t < n / 512; ++t) {
    if (t + 1 < n / 512) {
      bring((t + 1) % 2, (t + 1) * 512);
      __pipeline_wait_prior(1);
    } else {
      __pipeline_wait_prior(0);
    }
    __syncthreads();
    for (int i = threadIdx.x; i < 512; i += 64) out[t * 512 + i] = tile[t % 2][511 - i];
    __syncthreads();
  }
}

}  // namespace

void narrow_types() {
  Array<__half> a(4096), b(4096), c(4096);
  Array<__nv_bfloat16> brain(2048), more_brain(2048);
  Array<float> floats(4096), out(4096);
  Array<int> numbers(1024), results(1024);
  half_saxpy<<<8, 128>>>(__float2half(2), a.data(), b.data(), 1000);
  tell("half saxpy", b);
  half2_saxpy<<<8, 128>>>(__float2half2_rn(2), a.as<__half2>(), b.as<__half2>(), 1000);
  tell("half2 saxpy", b);
  half_dot<<<1, 128>>>(a.as<__half2>(), a.as<__half2>(), out.data(), 200);
  tell("half dot", out);
  half_transpose<<<1, dim3(32, 8)>>>(a.data(), c.data());
  tell("half transpose", c);
  bfloat16_scale<<<8, 128>>>(brain.data(), more_brain.data(), 1.7f, 1000);
  tell("bfloat16 scale", more_brain);
  half_histogram<<<8, 128>>>(a.data(), results.data(), 1000);
  tell("half histogram", results);
  to_half<<<8, 128>>>(floats.as<float4>(), c.as<__half2>(), 1000);
  tell("to half", c);
  bytes_dot<<<8, 128>>>(numbers.data(), numbers.data() + 3, results.data(), 1000);
  tell("bytes dot", results);
  grey<<<8, 128>>>(floats.as<uchar3>(), results.as<unsigned char>(), 1000);
  tell("grey", results);
  fragments_of_half<<<dim3(4, 4), 32>>>(a.data(), a.data(), out.data(), 64);
  tell("fragments of half", out);
  fragments_in_shared_memory<<<1, 32>>>(a.data(), a.data(), c.data());
  tell("fragments in shared memory", c);
  fragments_of_bytes<<<1, 32>>>(numbers.as<signed char>(), numbers.as<signed char>(),
                                results.data());
  tell("fragments of bytes", results);
  asynchronous_copies<4><<<1, 64>>>(floats.data(), out.data(), 2048);
  tell("asynchronous copies of 4", out);
  asynchronous_copies<16><<<1, 64>>>(floats.data(), out.data(), 2048);
  tell("asynchronous copies of 16", out);
}

}  // namespace fidelity
