// Both methods are the same search, a template of what a piece costs; threads go over the layers in strides.
#include <cuda_runtime.h>

#include <concepts>

#include "common/exercise/exercise.h"

using Long = long long;

constexpr __host__ __device__ Long up(Long a, Long b) { return (a + b - 1) / b; }

struct Chosen {
  Long pieces, bytes;
};

template <std::invocable<Long> Bytes, std::invocable<Long> Work>
__device__ Chosen first_of(Long most, Long room, Long least, Bytes bytes, Work work) {
  Long pieces = 1;
  while (pieces <= most && (bytes(pieces) > room || work(pieces) < least)) ++pieces;
  if (pieces > most) pieces = 1;
  return {pieces, bytes(pieces)};
}

__global__ void division(const float* layers, int* method, int* pieces, int* bytes, int N, Long sms,
                         Long room, Long least) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < N; i += gridDim.x * blockDim.x) {
    Long of[4];
    for (int k = 0; k < 4; ++k) of[k] = static_cast<Long>(__ldg(layers + k * N + i));
    const auto [W, H, M, K] = of;
    const Long taps = K * K, filters = up(M, sms), rows = up(H, sms), halo = K - 1;
    const Chosen strips = first_of(
        H, room, least, [=](Long P) { return 4 * (W * min(up(H, P) + halo, H) + taps * filters); },
        [=](Long P) { return taps * filters * W * (H / P); });
    const Chosen groups = first_of(
        M, room, least, [=](Long Q) { return 4 * (W * min(rows + halo, H) + taps * up(M, Q)); },
        [=](Long Q) { return taps * (M / Q) * W * rows; });
    const bool first = strips.bytes < groups.bytes;
    method[i] = first ? 1 : 2;
    pieces[i] = first ? strips.pieces : groups.pieces;
    bytes[i] = first ? strips.bytes : groups.bytes;
  }
}

static int launch(const float* layers, int* method, int* pieces, int* bytes, int N, int sms,
                  int room, int least) {
  division<<<4, 96>>>(layers, method, pieces, bytes, N, sms, room, least);
  return cudaGetLastError();
}

halo::Exercise halo::exercise() { return launch; }
