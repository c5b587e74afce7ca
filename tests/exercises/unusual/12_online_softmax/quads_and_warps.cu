// Four cells at a time where a row begins on 16 bytes, a kernel for each number of warps, votes for rows without a cell.
#include <cuda_runtime.h>

#include <cuda/cmath>
#include <cuda/std/bit>

#include "common/exercise/exercise.h"

struct alignas(8) Pair {
  float maximum = -INFINITY, sum = 0.0f;
  __device__ void add(float m, float s) {
    const float larger = fmaxf(maximum, m);
    if (larger == -INFINITY) return;
    sum = sum * expf(maximum - larger) + s * expf(m - larger);
    maximum = larger;
  }
};

// As one word of 64 bits through a shuffle.
__device__ Pair from_lane(const Pair& pair, int distance) {
  const auto word = cuda::std::bit_cast<unsigned long long>(pair);
  return cuda::std::bit_cast<Pair>(__shfl_xor_sync(0xffffffff, word, distance));
}

// Four cells each where all four are there and lie on 16 bytes, alone at both ends.
template <class One, class Four>
__device__ void for_cells(const float* row, int begin, int end, int step, One one, Four four) {
  const auto misfit = static_cast<int>(reinterpret_cast<unsigned long long>(row) / 4 % 4);
  const int head = min((4 - misfit) % 4, end), quads = (end - head) / 4;
  for (int c = begin; c < head; c += step) one(c);
  for (int k = begin; k < quads; k += step) four(head + 4 * k);
  for (int c = head + 4 * quads + begin; c < end; c += step) one(c);
}

template <int kWarps>
__global__ void __launch_bounds__(kWarps * 32)
    softmax(const float* input, const float* lengths, float* output, int C) {
  constexpr int kThreads = kWarps * 32;
  __shared__ Pair of_warps[kWarps];
  const float* const row = input + size_t{blockIdx.x} * C;
  float* const result = output + size_t{blockIdx.x} * C;
  const int length = __float2int_rn(lengths[blockIdx.x]), t = threadIdx.x;
  Pair pair;
  for_cells(
      row, t, length, kThreads, [&](int c) { pair.add(row[c], 1.0f); },
      [&](int c) {
        const float4 cells = __ldcg(reinterpret_cast<const float4*>(row + c));
        for (const float cell : {cells.x, cells.y, cells.z, cells.w}) pair.add(cell, 1.0f);
      });
#pragma unroll
  for (int distance = 16; distance >= 1; distance >>= 1) {
    const Pair other = from_lane(pair, distance);
    pair.add(other.maximum, other.sum);
  }
  if constexpr (kWarps > 1) {
    if (t % 32 == 0) of_warps[t / 32] = pair;
    __syncthreads();
    pair = of_warps[t % kWarps];
#pragma unroll
    for (int distance = kWarps / 2; distance >= 1; distance >>= 1) {
      const Pair other = from_lane(pair, distance);
      pair.add(other.maximum, other.sum);
    }
  }
  const bool is_empty = __all_sync(0xffffffff, pair.sum == 0.0f);
  for (int c = (is_empty ? 0 : length) + t; c < C; c += kThreads) result[c] = 0.0f;
  if (is_empty) return;
  const auto share = [pair](float cell) { return __fdiv_rn(expf(cell - pair.maximum), pair.sum); };
  for_cells(
      row, t, length, kThreads, [=](int c) { result[c] = share(row[c]); },
      [=](int c) {
        const float4 cells = *reinterpret_cast<const float4*>(row + c);
        *reinterpret_cast<float4*>(result + c) = {share(cells.x), share(cells.y), share(cells.z),
                                                  share(cells.w)};
      });
}

static int launch(const float* input, const float* lengths, float* output, int N, int C) {
  switch (const int warps = cuda::ceil_div(C, 256); warps) {
    case 1:
      softmax<1><<<N, 32>>>(input, lengths, output, C);
      break;
    case 2:
    case 3:
    case 4:
      softmax<4><<<N, 128>>>(input, lengths, output, C);
      break;
    default:
      softmax<16><<<N, 512>>>(input, lengths, output, C);
  }
  return cudaGetLastError();
}

halo::Exercise halo::exercise() { return launch; }
