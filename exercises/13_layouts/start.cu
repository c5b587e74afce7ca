// Exercise 13: the cheapest layouts of many chains of layers, one thread per chain. The task:
// README.md beside this file.
//
// Computes   for each chain n the layouts b[0], b[1], ... of its layers for which the sum over l of
//            cost[l][b[l - 1]][b[l]][n] is smallest, with b[-1] = 0; and what the layers up to l cost together.
// Must cost  each cost read at most once or twice, by neighbouring lanes: at most 300 load requests
//            per warp for 30 layers and 3 layouts; nothing in global memory but the results.
// Run        ./halo try 13
#include <cuda_runtime.h>

#include "common/exercise/exercise.h"

constexpr int kMostLayers = 64;
constexpr int kMostLayouts = 4;
constexpr int kThreads = 64;

// Preconditions: gridDim.x * blockDim.x >= N; 1 <= L <= kMostLayers; 1 <= A <= kMostLayouts. Costs are whole
// numbers from 0 to 1,000, so sums are exact.
__global__ void __launch_bounds__(kThreads) layouts(
    const float* cost,  // [L][A][A][N]: of layer l in layout b, its input coming in layout a
    float* spent,       // [L][N]: what layers 0 ... l of the plan cost together
    int* layout,        // [L][N]: the plan
    int N, int L, int A) {
  const int n = blockIdx.x * blockDim.x + threadIdx.x;
  if (n >= N) return;

  float least[kMostLayouts];  // [A], to have the layers so far, the last in layout a
  unsigned char from[kMostLayers][kMostLayouts];  // [L][A], the layout before, on the way there
  float sums[kMostLayers][kMostLayouts];          // [L][A], least after each layer

  // TODO 1: layer 0. The chain's input is in layout 0.
  (void)cost[0];
  (void)L;
  (void)A;
  // END 1

  // TODO 2: the other layers. For each layout b: the cheapest way to be in it, and where that way comes from.
  (void)least[0];
  (void)from[0][0];
  // END 2

  // TODO 3: the plan: the cheapest end, and back from there.
  (void)sums[0][0];
  (void)spent[0];
  (void)layout[0];
  // END 3
}

// Arrays are on the device.
static int launch(const float* cost, float* spent, int* layout, int N, int L, int A) {
  layouts<<<(N - 1) / kThreads + 1, kThreads>>>(cost, spent, layout, N, L, A);
  return cudaGetLastError();
}

halo::Exercise halo::exercise() { return launch; }
