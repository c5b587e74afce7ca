// A warp's lanes try 32 numbers of pieces of one layer at a time, and vote; the figures go round by shuffles.
#include <cuda_runtime.h>

#include "common/exercise/exercise.h"

__global__ void voted(const float* L, int* method, int* pieces, int* bytes, int N, int sms,
                      int shared_bytes, int n_fma) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31;
  if (i - lane >= N) return;
  const bool is = i < N;
  const int w = is ? L[i] : 1, h = is ? L[N + i] : 1, m = is ? L[2 * N + i] : 1,
            kk = is ? L[3 * N + i] : 1;
  int rm = 0, rp = 0, rb = 0;
  for (int s = 0; s < 32; ++s) {
    const int W = __shfl_sync(0xffffffff, w, s), H = __shfl_sync(0xffffffff, h, s),
              M = __shfl_sync(0xffffffff, m, s), K = __shfl_sync(0xffffffff, kk, s);
    const int f = (M + sms - 1) / sms, own = (H + sms - 1) / sms;
    auto D1 = [&](int P) {
      return 4ll * (1ll * W * min((H + P - 1) / P + K - 1, H) + 1ll * K * K * f);
    };
    auto D2 = [&](int Q) {
      return 4ll * (1ll * W * min(own + K - 1, H) + 1ll * K * K * ((M + Q - 1) / Q));
    };
    int P = 1, Q = 1;
    for (int b = 1; b <= H; b += 32) {
      const int p = b + lane;
      const unsigned v = __ballot_sync(
          0xffffffff, p <= H && D1(p) <= shared_bytes && 1ll * K * K * f * W * (H / p) >= n_fma);
      if (v) {
        P = b + __ffs(v) - 1;
        break;
      }
    }
    for (int b = 1; b <= M; b += 32) {
      const int q = b + lane;
      const unsigned v = __ballot_sync(
          0xffffffff, q <= M && D2(q) <= shared_bytes && 1ll * K * K * (M / q) * W * own >= n_fma);
      if (v) {
        Q = b + __ffs(v) - 1;
        break;
      }
    }
    if (lane == s) {
      const bool one = D1(P) < D2(Q);
      rm = one ? 1 : 2;
      rp = one ? P : Q;
      rb = one ? D1(P) : D2(Q);
    }
  }
  if (is) method[i] = rm, pieces[i] = rp, bytes[i] = rb;
}

static int launch(const float* layers, int* method, int* pieces, int* bytes, int N, int sms,
                  int shared_bytes, int n_fma) {
  voted<<<(N + 63) / 64, 64>>>(layers, method, pieces, bytes, N, sms, shared_bytes, n_fma);
  return cudaGetLastError();
}

halo::Exercise halo::exercise() { return launch; }
