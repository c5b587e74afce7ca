// Shared memory is one object of a class with members and static helpers; its size is known when it is compiled.
#include <cuda_runtime.h>

#include "common/exercise/exercise.h"

namespace {

template <int kOutputs, int kMostTaps>
class Tile {
 public:
  static constexpr int kThreads = kOutputs;
  __device__ void load(const float* __restrict__ signal, int first, int n, int halo) {
    for (int s = threadIdx.x; s < kOutputs + 2 * halo; s += kThreads)
      cells_[s] = signal[nearest(first - halo + s, n)];
  }
  template <class Taps>
  __device__ float dot(const Taps& taps, int count) const {
    float sum = 0.0f;
    for (int j = 0; j < count; ++j) sum += cells_[threadIdx.x + j] * taps(j);
    return sum;
  }

 private:
  static __device__ constexpr int nearest(int k, int n) { return k < 0 ? 0 : k < n ? k : n - 1; }
  struct alignas(16) {
    float cells_[kOutputs + kMostTaps - 1];
  };
};

using Usual = Tile<256, 1023>;
__constant__ float taps[1023];

__global__ void __launch_bounds__(Usual::kThreads, 4)
    by_class(const float* input, float* output, int n, int width) {
  __shared__ Usual tile;
  const int first = blockIdx.x * Usual::kThreads, i = first + threadIdx.x;
  tile.load(input, first, n, width / 2);
  __syncthreads();
  const float sum = tile.dot([](int j) { return taps[j]; }, width);
  if (i < n) output[i] = sum;
}

struct Launcher {
  static int start(const float* input, const float* mask, float* output, int n, int width, int) {
    cudaMemcpyToSymbolAsync(taps, mask, width * sizeof(float), 0, cudaMemcpyDeviceToDevice);
    by_class<<<(n + Usual::kThreads - 1) / Usual::kThreads, Usual::kThreads>>>(input, output, n,
                                                                               width);
    return cudaPeekAtLastError();
  }
};

}  // namespace

halo::Exercise halo::exercise() { return &Launcher::start; }
