// Loops that ptxas unrolls, or not, of which lanes take different numbers of rounds. Both blocks write the same.
#include <cuda_runtime.h>

#include "launches.hpp"

namespace fidelity {
namespace {

constexpr int kStep = 64;

__global__ void fill_by_steps(float* out, int n) {
  for (int j = threadIdx.x; j < n; j += kStep) out[j] = j;
}

template <class Count>
__global__ void sum_by_steps(const float* in, float* out, Count n) {
  float sum = 0;
  for (Count j = threadIdx.x; j < n; j += kStep) sum += in[j];
  out[threadIdx.x] = sum;
}

__global__ void sum_downwards(const float* in, float* out, int n) {
  float sum = 0;
  for (int j = threadIdx.x; j >= 0; --j) sum += in[j] * n;
  out[threadIdx.x] = sum;
}

__global__ void sum_to_the_last(const float* in, float* out, int n) {
  float sum = 0;
  for (int j = threadIdx.x; j <= n; ++j) sum += in[j] * in[n - j];
  out[threadIdx.x] = sum;
}

__global__ void sum_by_lengths(const int* lengths, const float* in, float* out) {
  float sum = 0;
  const int n = lengths[threadIdx.x];
  for (int j = 0; j < n; ++j) sum += in[j * 32 + threadIdx.x];
  out[threadIdx.x] = sum;
}

template <int kWork>
__global__ void much_for_each(const float* in, float* out, int n) {
  float sums[kWork] = {};
  for (int j = threadIdx.x; j < n; j += kStep) {
    const float value = in[j];
#pragma unroll
    for (int k = 0; k < kWork; ++k) sums[k] = fmaf(value, sums[k], k);
  }
  float sum = 0;
  for (int k = 0; k < kWork; ++k) sum += sums[k];
  out[threadIdx.x] = sum;
}

}  // namespace

void counted_loops() {
  constexpr int n = 777;
  Array<float> in(70000), out(4096);
  Array<int> lengths(8192);
  fill_by_steps<<<2, 64>>>(out.data(), n);
  tell("fill by steps", out);
  sum_by_steps<std::size_t><<<2, 64>>>(in.data(), out.data(), n);
  tell("counted in 64 bits", out);
  sum_by_steps<unsigned><<<2, 64>>>(in.data(), out.data(), n);
  tell("counted without a sign", out);
  sum_downwards<<<2, 64>>>(in.data(), out.data(), n);
  tell("counted downwards", out);
  sum_to_the_last<<<2, 64>>>(in.data(), out.data(), 99);
  tell("counted to the last", out);
  sum_by_lengths<<<2, 64>>>(lengths.data(), in.data(), out.data());
  tell("lengths of lanes", out);
  much_for_each<8><<<2, 64>>>(in.data(), out.data(), n);
  tell("unrolled work", out);
  much_for_each<10><<<2, 64>>>(in.data(), out.data(), n);
  tell("too much work to unroll", out);
}

}  // namespace fidelity
