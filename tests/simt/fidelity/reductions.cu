// Sums and maxima: trees in shared memory, shuffles, atomics, groups.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda_runtime.h>

#include "launches.hpp"

namespace fidelity {
namespace {

// Each step doubles the stride: lanes drift apart.
__global__ void interleaved(const float* in, float* out) {
  __shared__ float part[128];
  part[threadIdx.x] = in[blockIdx.x * 128 + threadIdx.x];
  __syncthreads();
  for (int s = 1; s < 128; s *= 2) {
    if (threadIdx.x % (2 * s) == 0) part[threadIdx.x] += part[threadIdx.x + s];
    __syncthreads();
  }
  if (threadIdx.x == 0) out[blockIdx.x] = part[0];
}

__global__ void strided_index(const float* in, float* out) {
  __shared__ float part[128];
  part[threadIdx.x] = in[blockIdx.x * 128 + threadIdx.x];
  __syncthreads();
  for (int s = 1; s < 128; s *= 2) {
    const int at = 2 * s * threadIdx.x;
    if (at < 128) part[at] += part[at + s];
    __syncthreads();
  }
  if (threadIdx.x == 0) out[blockIdx.x] = part[0];
}

__global__ void sequential(const float* in, float* out) {
  __shared__ float part[128];
  part[threadIdx.x] = in[blockIdx.x * 128 + threadIdx.x];
  __syncthreads();
  for (int s = 64; s > 0; s /= 2) {
    if (threadIdx.x < s) part[threadIdx.x] += part[threadIdx.x + s];
    __syncthreads();
  }
  if (threadIdx.x == 0) out[blockIdx.x] = part[0];
}

template <int kBlock>
__global__ void unrolled(const float* in, float* out, int n) {
  __shared__ float part[kBlock];
  float sum = 0;
  for (int i = blockIdx.x * kBlock * 2 + threadIdx.x; i < n; i += kBlock * 2 * gridDim.x) {
    sum += in[i] + (i + kBlock < n ? in[i + kBlock] : 0);
  }
  part[threadIdx.x] = sum;
  __syncthreads();
  if (kBlock >= 256) {
    if (threadIdx.x < 128) part[threadIdx.x] += part[threadIdx.x + 128];
    __syncthreads();
  }
  if (threadIdx.x < 64) part[threadIdx.x] += part[threadIdx.x + 64];
  __syncthreads();
  if (threadIdx.x < 32) {
    float mine = part[threadIdx.x] + part[threadIdx.x + 32];
    for (int s = 16; s > 0; s /= 2) mine += __shfl_down_sync(0xffffffff, mine, s);
    if (threadIdx.x == 0) out[blockIdx.x] = mine;
  }
}

__global__ void by_shuffles(const float* in, float* out, int n) {
  __shared__ float of_warp[32];
  const int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
  float sum = i < n ? in[i] : 0;
  for (int s = 16; s > 0; s /= 2) sum += __shfl_xor_sync(0xffffffff, sum, s);
  if (lane == 0) of_warp[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x < 32) {
    sum = threadIdx.x < blockDim.x / 32 ? of_warp[threadIdx.x] : 0;
    for (int s = 16; s > 0; s /= 2) sum += __shfl_xor_sync(0xffffffff, sum, s);
    if (threadIdx.x == 0) out[blockIdx.x] = sum;
  }
}

__global__ void by_atomics(const float* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(out, in[i]);
}

__global__ void one_atomic_a_warp(const float* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = i < n ? in[i] : 0;
  for (int s = 16; s > 0; s /= 2) sum += __shfl_down_sync(0xffffffff, sum, s);
  if (threadIdx.x % 32 == 0) atomicAdd(out, sum);
}

__global__ void by_redux(const int* in, int* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int sum = __reduce_add_sync(0xffffffff, i < n ? in[i] : 0);
  const int most = __reduce_max_sync(0xffffffff, i < n ? in[i] : 0);
  if (threadIdx.x % 32 == 0) {
    atomicAdd(out, sum);
    atomicMax(out + 1, most);
  }
}

__global__ void by_groups(const float* in, float* out, int n) {
  namespace cg = cooperative_groups;
  const auto block = cg::this_thread_block();
  const auto tile = cg::tiled_partition<8>(block);
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float sum = cg::reduce(tile, i < n ? in[i] : 0.0f, cg::plus<float>());
  if (tile.thread_rank() == 0) out[i / 8] = sum;
}

__device__ unsigned finished = 0;

// The block that ends last adds up what the others left.
__global__ void last_block(const float* in, float* parts, float* out, int n) {
  __shared__ float part[128];
  __shared__ bool is_last;
  const int i = blockIdx.x * 128 + threadIdx.x;
  part[threadIdx.x] = i < n ? in[i] : 0;
  __syncthreads();
  for (int s = 64; s > 0; s /= 2) {
    if (threadIdx.x < s) part[threadIdx.x] += part[threadIdx.x + s];
    __syncthreads();
  }
  if (threadIdx.x == 0) {
    parts[blockIdx.x] = part[0];
    __threadfence();
    is_last = atomicAdd(&finished, 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (is_last && threadIdx.x == 0) {
    __threadfence();
    float sum = 0;
    for (unsigned b = 0; b < gridDim.x; ++b) sum += static_cast<volatile float*>(parts)[b];
    *out = sum;
    finished = 0;
  }
}

__global__ void dot_product(const float* a, const float* b, float* out, int n) {
  __shared__ float part[256];
  float sum = 0;
  for (int i = threadIdx.x + blockIdx.x * blockDim.x; i < n; i += blockDim.x * gridDim.x) {
    sum += a[i] * b[i];
  }
  part[threadIdx.x] = sum;
  __syncthreads();
  int half = blockDim.x / 2;
  while (half != 0) {
    if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
    __syncthreads();
    half /= 2;
  }
  if (threadIdx.x == 0) out[blockIdx.x] = part[0];
}

__global__ void largest_with_index(const float* in, int* out, int n) {
  __shared__ float values[64];
  __shared__ int places[64];
  float best = -1;
  int place = 0;
  for (int i = threadIdx.x; i < n; i += 64) {
    if (in[i] > best) {
      best = in[i];
      place = i;
    }
  }
  values[threadIdx.x] = best;
  places[threadIdx.x] = place;
  __syncthreads();
  for (int s = 32; s > 0; s /= 2) {
    if (threadIdx.x < s && values[threadIdx.x + s] > values[threadIdx.x]) {
      values[threadIdx.x] = values[threadIdx.x + s];
      places[threadIdx.x] = places[threadIdx.x + s];
    }
    __syncthreads();
  }
  if (threadIdx.x == 0) *out = places[0];
}

__global__ void rows_normalised(const float* in, float* out, int columns) {
  __shared__ float part[128];
  const float* row = in + blockIdx.x * columns;
  float most = 0;
  for (int c = threadIdx.x; c < columns; c += 128) most = fmaxf(most, row[c]);
  part[threadIdx.x] = most;
  __syncthreads();
  for (int s = 64; s > 0; s /= 2) {
    if (threadIdx.x < s) part[threadIdx.x] = fmaxf(part[threadIdx.x], part[threadIdx.x + s]);
    __syncthreads();
  }
  for (int c = threadIdx.x; c < columns; c += 128) out[blockIdx.x * columns + c] = row[c] - part[0];
}

}  // namespace

void reductions() {
  Array<float> in(8192), out(8192);
  Array<int> numbers(2048), results(64);
  interleaved<<<10, 128>>>(in.data(), out.data());
  tell("interleaved", out);
  strided_index<<<10, 128>>>(in.data(), out.data());
  tell("strided index", out);
  sequential<<<10, 128>>>(in.data(), out.data());
  tell("sequential", out);
  unrolled<256><<<4, 256>>>(in.data(), out.data(), 5000);
  tell("unrolled", out);
  by_shuffles<<<10, 160>>>(in.data(), out.data(), 1500);
  tell("by shuffles", out);
  by_atomics<<<4, 128>>>(in.data(), out.data(), 500);
  tell("by atomics", out);
  one_atomic_a_warp<<<4, 128>>>(in.data(), out.data(), 500);
  tell("one atomic a warp", out);
  by_redux<<<10, 128>>>(numbers.data(), results.data(), 1200);
  tell("by redux", results);
  by_groups<<<10, 128>>>(in.data(), out.data(), 1200);
  tell("by groups", out);
  last_block<<<10, 128>>>(in.data(), out.data() + 100, out.data(), 1200);
  tell("last block", out);
  dot_product<<<5, 256>>>(in.data(), in.data() + 1, out.data(), 5000);
  tell("dot product", out);
  largest_with_index<<<1, 64>>>(in.data(), results.data(), 1000);
  tell("largest with index", results);
  rows_normalised<<<9, 128>>>(in.data(), out.data(), 300);
  tell("rows normalised", out);
}

}  // namespace fidelity
