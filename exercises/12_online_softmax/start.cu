// Exercise 12: softmax of rows that end where they like, each read twice. The task: README.md beside this file.
//
// Computes   output[n][c] = exp(input[n][c] - m) / (sum over c' < length of exp(input[n][c'] - m)) for
//            c < length = lengths[n], with m the largest of these cells; 0 from there on, and 0 in a row
//            that has no cell above -inf.
// Must cost  each row read twice and written once, however long it is: at most 12.5 bytes per
//            cell; at most two barriers per row.
// Run        ./halo try 12
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
  // TODO 1: the maximum of both, and the sum with each part scaled to it. What is left of a part whose
  // maximum is -inf, and what if both are?
  (void)b;
  return a;
  // END 1
}

// Preconditions: a block of kThreads for each row; 0 <= lengths[n] <= C, a whole number. Cells are finite
// or -inf; what follows from lengths[n] on may be anything, even NaN.
__global__ void __launch_bounds__(kThreads) online_softmax(const float* input,    // [gridDim.x][C]
                                                           const float* lengths,  // [gridDim.x]
                                                           float* output,         // [gridDim.x][C]
                                                           int C) {
  __shared__ Pair of_warps[kWarps];

  const float* row = input + blockIdx.x * C;  // [C]
  float* result = output + blockIdx.x * C;    // [C]
  const int length = static_cast<int>(lengths[blockIdx.x]);

  // TODO 2: the pair of the thread's own cells: threadIdx.x, threadIdx.x + kThreads, ...
  // A single cell is the pair {x, 1}; of x = -inf too, as `combined` drops it.
  Pair pair = {-INFINITY, 0.0f};
  (void)row[0];
  (void)length;
  // END 2

  // TODO 3: the pair of the whole row, in every thread: within the warp by shuffles, between warps by
  // of_warps.
  combined(pair, pair);
  (void)of_warps[0];
  // END 3

  // TODO 4: the outputs of the thread's cells, from the pair and the row, which is read once more.
  (void)result[0];
  (void)pair.sum;
  // END 4
}

// Arrays are on the device.
static int launch(const float* input, const float* lengths, float* output, int N, int C) {
  online_softmax<<<N, kThreads>>>(input, lengths, output, C);
  return cudaGetLastError();
}

halo::Exercise halo::exercise() { return launch; }
