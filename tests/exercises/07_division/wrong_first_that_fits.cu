// Wrong. Fails: little shared memory: strips and groups are needed
// Whether a strip feeds the cores is not asked.
#include <cuda_runtime.h>

#include "common/exercise/exercise.h"

constexpr int kThreads = 128;

struct Candidate {
  int pieces;       // P or Q; 1 if none is in range
  long long bytes;  // D, of the largest piece
};

__device__ int quotient_up(int a, int b) { return (a + b - 1) / b; }

// Method 1: each SM has some of the filters for good; the map goes by in P strips.
__device__ Candidate over_filters(int W, int H, int M, int K, int sms, int shared_bytes,
                                  int n_fma) {
  const int filters = quotient_up(M, sms);  // of the fullest SM
  const auto bytes = [&](int P) {
    // A strip has K - 1 halo rows, and no strip more rows than there are.
    const long long rows = min(quotient_up(H, P) + K - 1, H);
    return 4 * (W * rows + 1LL * K * K * filters);
  };
  for (int P = 1; P <= H; ++P) {
    // 64 bits: a megabyte holds 125,000 taps and as many pixels, and an int not their product.
    (void)n_fma;
    if (bytes(P) <= shared_bytes) return {P, bytes(P)};
  }
  return {1, bytes(1)};
}

// Method 2: each SM has some rows of the map for good; the filters go by in Q groups.
__device__ Candidate over_rows(int W, int H, int M, int K, int sms, int shared_bytes, int n_fma) {
  const int own = quotient_up(H, sms);  // rows of outputs of the fullest SM
  const long long rows = min(own + K - 1, H);
  const auto bytes = [&](int Q) { return 4 * (W * rows + 1LL * K * K * quotient_up(M, Q)); };
  for (int Q = 1; Q <= M; ++Q) {
    (void)n_fma;
    if (bytes(Q) <= shared_bytes) return {Q, bytes(Q)};
  }
  return {1, bytes(1)};
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
  const bool is_first = first.bytes < second.bytes;
  const Candidate& chosen = is_first ? first : second;
  method[i] = is_first ? 1 : 2;
  pieces[i] = chosen.pieces;
  bytes[i] = static_cast<int>(chosen.bytes);
}

// Arrays are on the device.
static int launch(const float* layers, int* method, int* pieces, int* bytes, int N, int sms,
                  int shared_bytes, int n_fma) {
  division<<<(N - 1) / kThreads + 1, kThreads>>>(layers, method, pieces, bytes, N, sms,
                                                 shared_bytes, n_fma);
  return cudaGetLastError();
}

halo::Exercise halo::exercise() { return launch; }
