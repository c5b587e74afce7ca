// Words of shared memory that ptxas fetches together although a jump, or an atomic of global memory, stands between.
#include <cuda_runtime.h>

#include "launches.hpp"

namespace fidelity {
namespace {

__device__ int fill(int* tile, const int* in) {
  tile[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  return threadIdx.x * 4 % 256;
}

__global__ void up_to_three(const int* in, int* out, int n) {
  __shared__ int tile[256];
  const int k = fill(tile, in);
  int sum = tile[k];
  if (n > 1) {
    sum += tile[k + 1];
    if (n > 2) sum += tile[k + 2];
  }
  out[threadIdx.x] = sum;
}

__global__ void second_if_large(const int* in, int* out, int least) {
  __shared__ int tile[256];
  const int k = fill(tile, in);
  int sum = tile[k];
  if (sum > least) {
    out[threadIdx.x + 256] = sum;
    out[threadIdx.x + 512] = in[sum];
    sum += tile[k + 1];
  }
  out[threadIdx.x] = sum;
}

__global__ void leaves_between(const int* in, int* out, int least) {
  __shared__ int tile[256];
  const int k = fill(tile, in);
  if (tile[k] < least) return;
  out[threadIdx.x] = tile[k + 1];
  if (in[k] > 9) return;
  out[threadIdx.x + 256] = tile[k + 2];
  out[threadIdx.x + 512] = tile[k + 3];
}

// Its address is no multiple of 16.
__global__ void apart(const int* in, int* out, int n) {
  __shared__ int tile[256];
  const int k = fill(tile, in) % 128 + n;
  int sum = tile[k];
  if (sum > 3) sum += tile[k + 1];
  out[threadIdx.x] = sum;
}

// Neither comes before the other.
__global__ void either(const int* in, int* out, int least) {
  __shared__ int tile[256];
  const int k = fill(tile, in);
  if (in[k] > least) out[threadIdx.x] = tile[k];
  if (in[k + 1] > least) out[threadIdx.x + 256] = tile[k + 1];
}

__global__ void either_arm(const float* in, float* out, int least) {
  __shared__ float tile[256];
  tile[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  const int k = threadIdx.x * 4 % 256;
  float sum = tile[k];
  if (sum > least) {
    sum += tile[k + 1];
    out[k + 700] = sum;
  } else {
    sum += tile[k + 2];
    out[k + 1000] = in[k];
  }
  out[threadIdx.x] = sum;
}

__global__ void second_double(const double* in, double* out) {
  __shared__ double tile[64];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  tile[threadIdx.x] = in[i];
  __syncthreads();
  double sum = tile[threadIdx.x & 62];
  if (sum > 3) sum += tile[(threadIdx.x & 62) + 1];
  out[i] = sum;
}

// What is left of four rounds.
__global__ void weighted(const int* begins, const int* columns, const float* values,
                         const float* __restrict__ of, float* out, int rows) {
  __shared__ int column[4][32];
  __shared__ float value[4][32];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, row = blockIdx.x * 4 + warp;
  if (row >= rows) return;
  const int begin = begins[row], end = begin + begins[row + 1];
  float sum = 0;
  for (int first = begin; first < end; first += 32) {
    if (first + lane < end) {
      column[warp][lane] = columns[first + lane] * 32;
      value[warp][lane] = values[first + lane];
    }
    __syncwarp();
    for (int k = 0; k < 32 && first + k < end; ++k) {
      sum += value[warp][k] * of[column[warp][k] + lane];
    }
    __syncwarp();
  }
  out[row * 32 + lane] = sum;
}

__global__ void around_an_atomic(int* in, int* out) {
  __shared__ int pair[2];
  if (threadIdx.x < 2) pair[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  const int first = pair[0];
  const int at = atomicAdd(in + 64 + threadIdx.x, first);
  out[at] = pair[1];
}

// The next of a breadth-first search, gathered by the block.
__global__ void queue(const int* begins, const int* edges, unsigned* level, const int* now,
                      int count, int* next, int* end) {
  __shared__ int own[64];
  __shared__ int filled, start;
  if (threadIdx.x == 0) filled = 0;
  __syncthreads();
  if (threadIdx.x < count) {
    const int node = now[threadIdx.x];
    for (int e = begins[node]; e < begins[node] + begins[node + 1]; ++e) {
      if (atomicCAS(&level[edges[e]], 0u, 9u) != 0) continue;
      const int at = atomicAdd(&filled, 1);
      if (at < 64) {
        own[at] = edges[e];
      } else {
        next[atomicAdd(end, 1)] = edges[e];
      }
    }
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    filled = min(filled, 64);
    start = atomicAdd(end, filled);
  }
  __syncthreads();
  for (int k = threadIdx.x; k < filled; k += blockDim.x) next[start + k] = own[k];
}

}  // namespace

void loads_behind_jumps() {
  Array<int> in(1024), out(1024);
  up_to_three<<<1, 256>>>(in.data(), out.data(), 3);
  tell("up to three words", out);
  second_if_large<<<1, 256>>>(in.data(), out.data(), 5);
  tell("second word if large", out);
  leaves_between<<<1, 256>>>(in.data(), out.data(), 4);
  tell("leaves between words", out);
  apart<<<1, 256>>>(in.data(), out.data(), 3);
  tell("second word apart", out);
  either<<<1, 256>>>(in.data(), out.data(), 5);
  tell("either word", out);
  {
    Array<float> values(1024), of(1024), sums(2048);
    weighted<<<16, 128>>>(in.data(), in.data() + 64, values.data(), of.data(), sums.data(), 61);
    tell("weighted rows", sums);
  }
  {
    Array<int> counts(128);
    around_an_atomic<<<1, 64>>>(counts.data(), out.data());
    tell("around an atomic", out);
  }
  {
    Array<unsigned> level(64, 0);
    Array<int> next(256), end(1, 0);
    queue<<<1, 32>>>(in.data(), in.data() + 40, level.data(), in.data() + 7, 11, next.data(),
                     end.data());
    tell("queue of a block", level);
  }
  {
    Array<float> floats(4096), sums(4096);
    either_arm<<<1, 256>>>(floats.data(), sums.data(), 5);
    tell("either arm", sums);
    Array<double> doubles(128), others(128);
    second_double<<<2, 64>>>(doubles.data(), others.data());
    tell("second double", others);
  }
}

}  // namespace fidelity
