// Wrong. Fails: rows that end earlier
// What is beyond the length is multiplied by 0; it may be NaN.
#include <cuda_runtime.h>

#include "common/exercise/exercise.h"

constexpr int kWarp = 32;
constexpr int kThreads = 256;
constexpr int kWarps = kThreads / kWarp;

// Of some cells of a row: the largest m, and the sum of exp(x - m). Of no cell: {-INFINITY, 0}.
struct Pair {
  float maximum;
  float sum;
};

// The pair of all cells of both.
__device__ Pair combined(Pair a, Pair b) {
  const float maximum = fmaxf(a.maximum, b.maximum);
  // -inf - (-inf) is NaN, and such a pair has nothing to scale.
  if (maximum == -INFINITY) return {-INFINITY, 0.0f};
  // One of the two exponents is 0. Of a pair without cells the factor is exp(-inf) = 0.
  return {maximum, a.sum * expf(a.maximum - maximum) + b.sum * expf(b.maximum - maximum)};
}

// Preconditions: a block of kThreads for each row; 0 <= lengths[n] <= C, a whole number. Cells are finite
// or -inf; what stands from lengths[n] on may be anything, NaN too.
__global__ void __launch_bounds__(kThreads) online_softmax(const float* input,    // [gridDim.x][C]
                                                           const float* lengths,  // [gridDim.x]
                                                           float* output,         // [gridDim.x][C]
                                                           int C) {
  __shared__ Pair of_warps[kWarps];

  const float* row = input + blockIdx.x * C;  // [C]
  float* result = output + blockIdx.x * C;    // [C]
  const int length = static_cast<int>(lengths[blockIdx.x]);

  Pair pair = {-INFINITY, 0.0f};
  for (int c = threadIdx.x; c < length; c += kThreads) pair = combined(pair, {row[c], 1.0f});

  // Both numbers of a pair come from the same lane. After distances 16 to 1 all lanes have the warp's.
  for (int distance = kWarp / 2; distance > 0; distance /= 2) {
    const Pair other = {__shfl_xor_sync(0xffffffff, pair.maximum, distance),
                        __shfl_xor_sync(0xffffffff, pair.sum, distance)};
    pair = combined(pair, other);
  }
  if (threadIdx.x % kWarp == 0) of_warps[threadIdx.x / kWarp] = pair;
  __syncthreads();  // every warp has left its own
  // Each thread does this for itself: telling the others would cost a second barrier.
  pair = of_warps[0];
  for (int warp = 1; warp < kWarps; ++warp) pair = combined(pair, of_warps[warp]);

  for (int c = threadIdx.x; c < C; c += kThreads) {
    // Selected, not multiplied by 0: what stands beyond the length may be NaN. Without a finite cell there
    // is nothing to divide by.
    const float share = pair.sum > 0.0f ? expf(row[c] - pair.maximum) / pair.sum : 0.0f;
    result[c] = share * (c < length ? 1.0f : 0.0f);
  }
}

// Arrays are on the device.
static int launch(const float* input, const float* lengths, float* output, int N, int C) {
  online_softmax<<<N, kThreads>>>(input, lengths, output, C);
  return cudaGetLastError();
}

halo::Exercise halo::exercise() { return launch; }
