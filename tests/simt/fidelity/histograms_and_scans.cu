// Histograms, scans, compaction and sorting: atomics with and without a result, votes, shuffles.
#include <cuda_runtime.h>

#include "launches.hpp"

namespace fidelity {
namespace {

__global__ void global_histogram(const int* in, int* bins, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&bins[in[i] % 16], 1);
}

__global__ void shared_histogram(const int* in, int* bins, int n) {
  // [doc:histogram]
  __shared__ int own[16];
  if (threadIdx.x < 16) own[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    atomicAdd(&own[in[i] % 16], 1);
  }
  __syncthreads();
  if (threadIdx.x < 16) atomicAdd(&bins[threadIdx.x], own[threadIdx.x]);
  // [/doc:histogram]
}

// A histogram for each warp, in bytes' place: other banks.
__global__ void histogram_of_warps(const int* in, int* bins, int n) {
  __shared__ int own[4][17];
  for (int i = threadIdx.x; i < 4 * 17; i += 128) (&own[0][0])[i] = 0;
  __syncthreads();
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i < n) atomicAdd(&own[threadIdx.x / 32][in[i] % 16], 1);
  __syncthreads();
  if (threadIdx.x < 16) {
    int sum = 0;
    for (int w = 0; w < 4; ++w) sum += own[w][threadIdx.x];
    bins[blockIdx.x * 16 + threadIdx.x] = sum;
  }
}

__global__ void hillis_steele(const int* in, int* out) {
  __shared__ int values[2][128];
  int now = 0;
  values[0][threadIdx.x] = in[blockIdx.x * 128 + threadIdx.x];
  __syncthreads();
  for (int step = 1; step < 128; step *= 2) {
    int sum = values[now][threadIdx.x];
    if (threadIdx.x >= step) sum += values[now][threadIdx.x - step];
    now ^= 1;
    values[now][threadIdx.x] = sum;
    __syncthreads();
  }
  out[blockIdx.x * 128 + threadIdx.x] = values[now][threadIdx.x];
}

template <int kPad>
__global__ void blelloch(const int* in, int* out) {
  __shared__ int values[256 + 256 / 32 * kPad];
  const int t = threadIdx.x;
  const auto place = [](int i) { return i + i / 32 * kPad; };
  values[place(2 * t)] = in[blockIdx.x * 256 + 2 * t];
  values[place(2 * t + 1)] = in[blockIdx.x * 256 + 2 * t + 1];
  int offset = 1;
  for (int d = 128; d > 0; d /= 2) {
    __syncthreads();
    if (t < d) values[place(offset * (2 * t + 2) - 1)] += values[place(offset * (2 * t + 1) - 1)];
    offset *= 2;
  }
  if (t == 0) values[place(255)] = 0;
  for (int d = 1; d < 256; d *= 2) {
    offset /= 2;
    __syncthreads();
    if (t < d) {
      const int a = place(offset * (2 * t + 1) - 1), b = place(offset * (2 * t + 2) - 1);
      const int kept = values[a];
      values[a] = values[b];
      values[b] += kept;
    }
  }
  __syncthreads();
  out[blockIdx.x * 256 + 2 * t] = values[place(2 * t)];
  out[blockIdx.x * 256 + 2 * t + 1] = values[place(2 * t + 1)];
}

__global__ void scan_by_shuffles(const int* in, int* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
  // [doc:scan]
  int sum = i < n ? in[i] : 0;
  for (int step = 1; step < 32; step *= 2) {
    const int other = __shfl_up_sync(0xffffffff, sum, step);
    if (lane >= step) sum += other;
  }
  // [/doc:scan]
  if (i < n) out[i] = sum;
}

__global__ void compact(const int* in, int* out, int* count, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
  const bool keeps = i < n && in[i] > 6;
  const unsigned votes = __ballot_sync(0xffffffff, keeps);
  int first = 0;
  if (lane == 0 && votes) first = atomicAdd(count, __popc(votes));
  first = __shfl_sync(0xffffffff, first, 0);
  if (keeps) out[first + __popc(votes & ((1u << lane) - 1))] = in[i];
}

__global__ void bitonic(int* data) {
  __shared__ int values[128];
  values[threadIdx.x] = data[blockIdx.x * 128 + threadIdx.x];
  __syncthreads();
  for (int k = 2; k <= 128; k *= 2) {
    for (int j = k / 2; j > 0; j /= 2) {
      const int other = threadIdx.x ^ j;
      if (other > threadIdx.x) {
        const bool rises = (threadIdx.x & k) == 0;
        const int a = values[threadIdx.x], b = values[other];
        if ((a > b) == rises) {
          values[threadIdx.x] = b;
          values[other] = a;
        }
      }
      __syncthreads();
    }
  }
  data[blockIdx.x * 128 + threadIdx.x] = values[threadIdx.x];
}

__global__ void odd_even(int* data) {
  __shared__ int values[64];
  values[threadIdx.x] = data[threadIdx.x];
  values[threadIdx.x + 32] = data[threadIdx.x + 32];
  __syncwarp();
  for (int round = 0; round < 64; ++round) {
    const int at = 2 * threadIdx.x + round % 2;
    if (at + 1 < 64 && values[at] > values[at + 1]) {
      const int kept = values[at];
      values[at] = values[at + 1];
      values[at + 1] = kept;
    }
    __syncwarp();
  }
  data[threadIdx.x] = values[threadIdx.x];
  data[threadIdx.x + 32] = values[threadIdx.x + 32];
}

__global__ void largest_by_cas(const float* in, int* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const int mine = __float_as_int(in[i]);
  atomicMax(out, mine);
}

__global__ void neighbours_by_match(const int* in, int* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int value = i < n ? in[i] : -1;
  const unsigned same = __match_any_sync(0xffffffff, value);
  if (i < n) out[i] = __popc(same);
}

__global__ void exchanges(int* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[n + i] = atomicExch(&out[i], i) + atomicOr(&out[i], 1) + atomicXor(&out[i], 5);
}

__global__ void wide_atomics(unsigned long long* sums, double* totals, const int* in, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  atomicAdd(&sums[in[i] % 4], static_cast<unsigned long long>(i));
  atomicAdd(&totals[in[i] % 4], static_cast<double>(i));
}

__global__ void atomics_of_a_block(const int* in, int* out, int n) {
  __shared__ int most, least;
  if (threadIdx.x == 0) {
    most = -1;
    least = 1000;
  }
  __syncthreads();
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    atomicMax(&most, in[i] + i % 7);
    atomicMin(&least, in[i] + i % 7);
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    out[2 * blockIdx.x] = most;
    out[2 * blockIdx.x + 1] = least;
  }
}

__global__ void inverted_index(const unsigned char* text, int* counts, int n) {
  __shared__ unsigned own[256];
  for (int b = threadIdx.x; b < 256; b += blockDim.x) own[b] = 0;
  __syncthreads();
  const uchar4* four = reinterpret_cast<const uchar4*>(text);
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n / 4; i += blockDim.x * gridDim.x) {
    const uchar4 bytes = four[i];
    atomicAdd(&own[bytes.x], 1u);
    atomicAdd(&own[bytes.y], 1u);
    atomicAdd(&own[bytes.z], 1u);
    atomicAdd(&own[bytes.w], 1u);
  }
  __syncthreads();
  for (int b = threadIdx.x; b < 256; b += blockDim.x) {
    if (own[b]) atomicAdd(&counts[b], static_cast<int>(own[b]));
  }
}

}  // namespace

void histograms_and_scans() {
  constexpr int kN = 1500;
  Array<int> in(2048), out(4096);
  Array<float> floats(2048);
  Array<double> totals(8);
  global_histogram<<<12, 128>>>(in.data(), out.data(), kN);
  tell("global histogram", out);
  shared_histogram<<<4, 128>>>(in.data(), out.data(), kN);
  tell("shared histogram", out);
  histogram_of_warps<<<12, 128>>>(in.data(), out.data(), kN);
  tell("histogram of warps", out);
  hillis_steele<<<8, 128>>>(in.data(), out.data());
  tell("hillis steele", out);
  blelloch<0><<<4, 128>>>(in.data(), out.data());
  tell("blelloch", out);
  blelloch<1><<<4, 128>>>(in.data(), out.data());
  tell("blelloch padded", out);
  scan_by_shuffles<<<12, 128>>>(in.data(), out.data(), kN);
  tell("scan by shuffles", out);
  Array<int> count(4);
  compact<<<1, 32>>>(in.data(), out.data(), count.data(), 30);
  tell("compact", out);
  bitonic<<<4, 128>>>(out.data());
  tell("bitonic", out);
  odd_even<<<1, 32>>>(out.data());
  tell("odd even", out);
  largest_by_cas<<<12, 128>>>(floats.data(), out.data(), kN);
  tell("largest", out);
  neighbours_by_match<<<12, 128>>>(in.data(), out.data(), kN);
  tell("match", out);
  exchanges<<<2, 96>>>(out.data(), 150);
  tell("exchanges", out);
  wide_atomics<<<4, 128>>>(totals.as<unsigned long long>(), totals.data() + 4, in.data(), 500);
  tell("wide atomics", totals);
  atomics_of_a_block<<<12, 128>>>(in.data(), out.data(), kN);
  tell("atomics of a block", out);
  inverted_index<<<3, 128>>>(in.as<unsigned char>(), out.data(), 8000);
  tell("bytes counted", out);
}

}  // namespace fidelity
