// Views with call operators, of a base that knows its heirs; arguments of the kernel in one structure.
#include <cuda_runtime.h>

#include "common/exercise/exercise.h"

__constant__ float taps[2][1024];

template <class Heir>
struct Padded {
  __device__ float operator()(int k) const {
    const Heir& its = static_cast<const Heir&>(*this);
    return k < its.first() || k > its.last() ? 0.0f : its.at(k);
  }
};
struct Mask : Padded<Mask> {
  int number, width;
  __device__ Mask(int which, int taps_of_it) : number(which), width(taps_of_it) {}
  __device__ int halo() const { return (width - 1) / 2; }
  __device__ int first() const { return -halo(); }
  __device__ int last() const { return halo(); }
  __device__ float at(int d) const { return taps[number][halo() + d]; }
};

struct Arguments {
  const float* input;
  float* outputs[2];
  int n, widths[2];
};

__global__ void two_masks(const Arguments all) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= all.n) return;
  const Mask smooth(0, all.widths[0]), slope(1, all.widths[1]);
  const int halo = max(smooth.halo(), slope.halo());
  float2 sums = make_float2(0.0f, 0.0f);
  for (int k = max(i - halo, 0); k <= min(i + halo, all.n - 1); ++k) {
    const float cell = all.input[k];
    if (abs(k - i) <= smooth.halo()) sums.x += cell * smooth(k - i);
    if (abs(k - i) <= slope.halo()) sums.y += cell * slope(k - i);
  }
  all.outputs[0][i] = sums.x;
  all.outputs[1][i] = sums.y;
}

static int launch(const float* input, const float* smooth_mask, const float* slope_mask,
                  float* smooth, float* slope, int n, int smooth_width, int slope_width,
                  int threads) {
  cudaMemcpyToSymbol(taps, smooth_mask, smooth_width * sizeof(float), 0, cudaMemcpyDeviceToDevice);
  cudaMemcpyToSymbol(taps, slope_mask, slope_width * sizeof(float), sizeof taps[0],
                     cudaMemcpyDeviceToDevice);
  const Arguments all{input, {smooth, slope}, n, {smooth_width, slope_width}};
  two_masks<<<(n + threads - 1) / threads, threads>>>(all);
  return cudaGetLastError();
}

halo::Exercise halo::exercise() { return launch; }
