// Atomics of shared memory that sm_90 has no instruction for: a load and a compare-and-swap, until each lane got through.
// One warp each, for others would come between.
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include "launches.hpp"

namespace fidelity {
namespace {

constexpr int kWarp = 32;
constexpr int kWords = 512;

__device__ int thread() { return blockIdx.x * blockDim.x + threadIdx.x; }

template <typename T>
__global__ void sums_of_bins(const int* bins, const T* values, T* out, int count) {
  __shared__ T sums[16];
  const int t = threadIdx.x;
  if (t < 16) sums[t] = T(0);
  __syncthreads();
  for (int i = thread(); i < count; i += gridDim.x * blockDim.x) {
    atomicAdd(&sums[bins[i]], values[i]);
  }
  __syncthreads();
  if (t < 16) out[blockIdx.x * 16 + t] = sums[t];
}

// Words of several banks, or of one.
template <typename T>
__global__ void spread_sums(const int* bins, T* out, int stride) {
  __shared__ T sums[kWords];
  const int t = threadIdx.x;
  for (int i = t; i < kWords; i += kWarp) sums[i] = T(i % 5);
  __syncthreads();
  out[thread()] = atomicAdd(&sums[bins[thread()] * stride], T(1)) > T(1) ? T(1) : T(2);
  __syncthreads();
  for (int i = t; i < kWords; i += kWarp) out[64 + i] = sums[i];
}

__global__ void half_sums(const int* bins, __half* out, int stride) {
  __shared__ __half sums[kWords];
  const int t = threadIdx.x;
  for (int i = t; i < kWords; i += kWarp) sums[i] = __int2half_rn(i % 5);
  __syncthreads();
  atomicAdd(&sums[bins[thread()] * stride], __int2half_rn(1));
  __syncthreads();
  for (int i = t; i < kWords; i += kWarp) out[i] = sums[i];
}

__global__ void half2_sums(const int* bins, __half2* out, int stride) {
  __shared__ __half2 sums[kWords];
  const int t = threadIdx.x;
  for (int i = t; i < kWords; i += kWarp) sums[i] = __float2half2_rn(i % 5);
  __syncthreads();
  atomicAdd(&sums[bins[thread()] * stride], __float2half2_rn(1));
  __syncthreads();
  for (int i = t; i < kWords; i += kWarp) out[i] = sums[i];
}

__global__ void marked_in_long(const int* bins, unsigned long long* out, int stride) {
  __shared__ unsigned long long marks[kWords];
  const int t = threadIdx.x;
  for (int i = t; i < kWords; i += kWarp) marks[i] = i % 5;
  __syncthreads();
  atomicOr(&marks[bins[thread()] * stride], 1ull << t);
  __syncthreads();
  for (int i = t; i < kWords; i += kWarp) out[i] = marks[i];
}

__global__ void one_sum(const float* in, float* out, int n) {
  __shared__ float sum;
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  float own = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x) own += in[i];
  atomicAdd(&sum, own);
  __syncthreads();
  if (threadIdx.x == 0) *out = sum;
}

}  // namespace

void shared_sums() {
  Array<int> bins(8192);
  Array<float> values(65536);
  {
    Array<float> out(32, 0);
    sums_of_bins<<<2, kWarp>>>(bins.data(), values.data(), out.data(), 200);
    tell("sums of bins", out);
  }
  {
    Array<double> doubles(256), out(32, 0);
    sums_of_bins<<<2, kWarp>>>(bins.data(), doubles.data(), out.data(), 200);
    tell("double sums of bins", out);
  }
  Array<float> floats(600, 0);
  spread_sums<<<1, kWarp>>>(bins.data(), floats.data(), 1);
  tell("spread 1", floats);
  spread_sums<<<1, kWarp>>>(bins.data(), floats.data(), 32);
  tell("spread 32", floats);
  Array<unsigned long long> longs(600, 0);
  spread_sums<<<1, kWarp>>>(bins.data(), longs.data(), 1);
  tell("long spread 1", longs);
  Array<__half> halves(1024, 0);
  half2_sums<<<1, kWarp>>>(bins.data(), halves.as<__half2>(), 1);
  tell("half2 sums", halves);
  Array<unsigned long long> marks(kWords, 0);
  marked_in_long<<<1, kWarp>>>(bins.data(), marks.data(), 1);
  tell("marked in long", marks);
  Array<float> sum(1, 0);
  one_sum<<<1, kWarp>>>(values.data(), sum.data(), 100);
  tell("one sum 32", sum);
  Array<__half> half_totals(kWords, 0);
  half_sums<<<1, kWarp>>>(bins.data(), half_totals.data(), 1);
  tell("half sums 1", half_totals);
  half_sums<<<1, kWarp>>>(bins.data(), half_totals.data(), 32);
  tell("half sums 32", half_totals);
}

}  // namespace fidelity
