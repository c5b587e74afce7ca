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
  for (int b = 0; b < A; ++b) {
    least[b] = cost[b * N + n];
    from[0][b] = 0;
    sums[0][b] = least[b];
  }
  // END 1

  // TODO 2: the other layers. For each layout b: the cheapest way to be in it, and where that way comes from.
  for (int l = 1; l < L; ++l) {
    float next[kMostLayouts];  // least is still needed for the other b
    for (int b = 0; b < A; ++b) {
      next[b] = INFINITY;
      for (int a = 0; a < A; ++a) {
        const float way = least[a] + cost[((l * A + a) * A + b) * N + n];
        if (way < next[b]) {
          next[b] = way;
          from[l][b] = static_cast<unsigned char>(a);
        }
      }
    }
    for (int b = 0; b < A; ++b) sums[l][b] = least[b] = next[b];
  }
  // END 2

  // TODO 3: the plan: the cheapest end, and back from there.
  int b = 0;
  for (int a = 1; a < A; ++a) {
    if (least[a] < least[b]) b = a;
  }
  for (int l = L - 1; l >= 0; --l) {
    layout[l * N + n] = b;
    // On the cheapest plan the way up to here is the cheapest way to be here.
    spent[l * N + n] = sums[l][b];
    b = from[l][b];
  }
  // END 3
}

// Arrays are on the device.
static int launch(const float* cost, float* spent, int* layout, int N, int L, int A) {
  layouts<<<(N - 1) / kThreads + 1, kThreads>>>(cost, spent, layout, N, L, A);
  return cudaGetLastError();
}

halo::Exercise halo::exercise() { return launch; }
