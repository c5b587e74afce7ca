// Exercise 07: how layers are divided over a GPU, one thread per layer. The task: README.md beside this file.
//
// Computes   for each layer the division of stage 07, in even pieces: by which method, in how many pieces, and how
//            many bytes an SM then has on chip.
// Must cost  the four figures of a layer read once: at most 5 load requests per warp of layers; one launch.
// Run        ./halo try 07
#include <cuda_runtime.h>

#include "common/exercise/exercise.h"

constexpr int kThreads = 128;

struct Candidate {
  int pieces;       // P or Q; 1 if none is in range
  long long bytes;  // D, of the largest piece
};

__device__ int quotient_up(int a, int b) { return (a + b - 1) / b; }

// Method 1: each SM keeps some of the filters; the map passes by in P strips.
__device__ Candidate over_filters(int W, int H, int M, int K, int sms, int shared_bytes,
                                  int n_fma) {
  // TODO 1: the smallest P from 1 to H for which the largest strip fits (D1 <= shared_bytes) and the smallest
  // feeds the cores (F1 >= n_fma); 1 if there is none.
  (void)W;
  (void)H;
  (void)M;
  (void)K;
  (void)sms;
  (void)shared_bytes;
  (void)n_fma;
  return {1, 0};
  // END 1
}

// Method 2: each SM keeps some rows of the map; the filters pass by in Q groups.
__device__ Candidate over_rows(int W, int H, int M, int K, int sms, int shared_bytes, int n_fma) {
  // TODO 2: the smallest Q from 1 to M in the same way.
  (void)W;
  (void)H;
  (void)M;
  (void)K;
  (void)sms;
  (void)shared_bytes;
  (void)n_fma;
  return {1, 0};
  // END 2
}

// Preconditions: gridDim.x * blockDim.x >= N; all figures are whole numbers, at least 1.
__global__ void __launch_bounds__(kThreads)
    division(const float* layers,  // [4][N]: W, H, M and K of each layer
             int* method,          // [N]: 1 or 2
             int* pieces,          // [N]: P or Q
             int* bytes,           // [N]: D1 or D2
             int N, int sms, int shared_bytes, int n_fma) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= N) return;
  const int W = static_cast<int>(layers[i]);
  const int H = static_cast<int>(layers[N + i]);
  const int M = static_cast<int>(layers[2 * N + i]);
  const int K = static_cast<int>(layers[3 * N + i]);

  const Candidate first = over_filters(W, H, M, K, sms, shared_bytes, n_fma);
  const Candidate second = over_rows(W, H, M, K, sms, shared_bytes, n_fma);
  // TODO 3: the method with the smaller D; the second, if they are equal.
  (void)first;
  (void)second;
  (void)method[0];
  (void)pieces[0];
  (void)bytes[0];
  // END 3
}

// Arrays are on the device.
static int launch(const float* layers, int* method, int* pieces, int* bytes, int N, int sms,
                  int shared_bytes, int n_fma) {
  division<<<(N - 1) / kThreads + 1, kThreads>>>(layers, method, pieces, bytes, N, sms,
                                                 shared_bytes, n_fma);
  return cudaGetLastError();
}

halo::Exercise halo::exercise() { return launch; }
