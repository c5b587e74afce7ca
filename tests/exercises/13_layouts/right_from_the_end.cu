// Right: from the last layer to the first: what is left to pay from each layout; then along the plan.
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

  float left[kMostLayouts] = {};                  // [A], to the end, from layout a
  unsigned char next[kMostLayers][kMostLayouts];  // [L][A]
  for (int l = L - 1; l >= 0; --l) {
    float now[kMostLayouts];
    for (int a = 0; a < (l == 0 ? 1 : A); ++a) {
      now[a] = INFINITY;
      for (int b = 0; b < A; ++b) {
        const float way = cost[((l * A + a) * A + b) * N + n] + left[b];
        if (way < now[a]) {
          now[a] = way;
          next[l][a] = static_cast<unsigned char>(b);
        }
      }
    }
    for (int a = 0; a < A; ++a) left[a] = now[a];
  }
  int a = 0;
  float sum = 0.0f;
  for (int l = 0; l < L; ++l) {
    const int b = next[l][a];
    sum += cost[((l * A + a) * A + b) * N + n];  // once more
    layout[l * N + n] = b;
    spent[l * N + n] = sum;
    a = b;
  }
}

// Arrays are on the device.
static int launch(const float* cost, float* spent, int* layout, int N, int L, int A) {
  layouts<<<(N - 1) / kThreads + 1, kThreads>>>(cost, spent, layout, N, L, A);
  return cudaGetLastError();
}

halo::Exercise halo::exercise() { return launch; }
