// Wrong. Fails: two layers, two layouts
// The cheapest next step in each layer, whatever it leads to.
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

  int a = 0;
  float sum = 0.0f;
  for (int l = 0; l < L; ++l) {
    int best = 0;
    for (int b = 1; b < A; ++b) {
      if (cost[((l * A + a) * A + b) * N + n] < cost[((l * A + a) * A + best) * N + n]) best = b;
    }
    sum += cost[((l * A + a) * A + best) * N + n];
    spent[l * N + n] = sum;
    layout[l * N + n] = a = best;
  }
}

// Arrays are on the device.
static int launch(const float* cost, float* spent, int* layout, int N, int L, int A) {
  layouts<<<(N - 1) / kThreads + 1, kThreads>>>(cost, spent, layout, N, L, A);
  return cudaGetLastError();
}

halo::Exercise halo::exercise() { return launch; }
