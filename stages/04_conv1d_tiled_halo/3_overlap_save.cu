// Stage 04, step 3: a tile and its halo are convolved by a Fourier transform, so the mask's width costs nothing.
//
// Computes   output[i] = sum over j of mask[j] * input[i - halo + j]; cells beyond the ends
//            are zero.
// Changed    since 2 warp_tile: a tile of 4,096 cells is transformed on chip, multiplied by the mask's spectrum and
//            transformed back ("overlap-save"). The last width - 1 results of a tile have met its other end: they are
//            thrown away, and the next tile begins there. Two tiles are one complex signal: the mask is real, so the one
//            stays in the real part and the other in the imaginary part, and nothing has to be taken apart.
// Must cost  1,023 taps: 3,072 outputs for 4,096 cells, so 9.4 bytes per output to and from memory; with the mask's spectrum
//            and roots of unity 18.3 from the L1 cache. Some 120 operations instead of 2,046. Two barriers per block:
//            all other exchanges stay within half a warp. Two blocks on an SM: registers for three would spill.
// Run        ./halo run 04 --variant overlap_save --mask 1023
#include <cuda_runtime.h>

#include "common/harness/kernel.h"
#include "stages/04_conv1d_tiled_halo/spectrum.cuh"

namespace halo::conv1d_tiled_halo {

// Numbers of a row on chip: 17 for 16, so that lanes that are a row apart have no bank conflict.
constexpr int kPitch = kRadix * (kRadix + 1);

__device__ Prepared prepared_mask;

// Preconditions: blockDim.x == kSpan; `valid` <= kPoints - width + 1; gridDim.x * 2 * valid >= n; the mask is one of
// `width` taps; 0 <= first, last <= n.
__global__ void __launch_bounds__(kSpan, 2)
    overlap_save_kernel(const Prepared* __restrict__ mask,
                        const float* __restrict__ input,  // [n]
                        float* __restrict__ output,       // [n], written from first to last - 1
                        unsigned n, unsigned halo, unsigned valid, unsigned first, unsigned last) {
  __shared__ float2 on_chip[kRadix][kPitch];

  const int t = threadIdx.x, row = t / kRadix, lane = t % kRadix;
  const unsigned start = blockIdx.x * 2 * valid;  // the first output
  const float2 root = mask->roots[t], row_root = mask->roots[kRadix * lane];
  const auto cell = [&](unsigned i) { return i < n ? input[i] : 0.0f; };  // below 0 is far above n

  // A number of the signal is n0 + 16 n1 + 256 n2, and a frequency k2 + 16 k1 + 256 k0. At first a thread has all n2.
  float2 v[kRadix];
  for (int i = 0; i < kRadix; ++i) {
    const unsigned place = start - halo + t + kSpan * i;
    v[i] = {cell(place), cell(place + valid)};
  }
  transform16(v);
  turn(v, root);
  for (int i = 0; i < kRadix; ++i) on_chip[i][t] = v[i];
  __syncthreads();
  for (int i = 0; i < kRadix; ++i) v[i] = on_chip[row][kRadix * i + lane];  // k2 is the row: all n1
  transform16(v);
  turn(v, row_root);
  __syncwarp();
  for (int i = 0; i < kRadix; ++i) on_chip[row][(kRadix + 1) * i + lane] = v[i];
  __syncwarp();
  for (int i = 0; i < kRadix; ++i) v[i] = on_chip[row][(kRadix + 1) * lane + i];  // all n0
  transform16(v);

  // With real and imaginary parts exchanged the same transform leads back, through the axes in the opposite order.
  for (int i = 0; i < kRadix; ++i) {
    const float2 product = times(v[i], mask->spectrum[kSpan * i + t]);
    v[i] = {product.y, product.x};
  }
  transform16(v);
  for (int i = 0; i < kRadix; ++i) on_chip[row][(kRadix + 1) * lane + i] = v[i];
  __syncwarp();
  for (int i = 0; i < kRadix; ++i) v[i] = on_chip[row][(kRadix + 1) * i + lane];
  turn(v, row_root);
  transform16(v);
  __syncwarp();
  for (int i = 0; i < kRadix; ++i) on_chip[row][kRadix * i + lane] = v[i];
  __syncthreads();
  for (int i = 0; i < kRadix; ++i) v[i] = on_chip[i][t];
  turn(v, root);
  transform16(v);
  for (int i = 0; i < kRadix && t + kSpan * i < valid; ++i) {
    const unsigned one = start + t + kSpan * i, other = one + valid;
    if (one >= first && one < last) output[one] = v[i].y;
    if (other >= first && other < last) output[other] = v[i].x;
  }
}

static int set_mask(const float* mask, int width) {
  static Prepared prepared;
  prepare(mask, width, prepared);
  return cudaMemcpyToSymbol(prepared_mask, &prepared, sizeof(prepared));
}

// Of a tile, outputs in whole sectors.
static int valid_of(int mask_width) { return (kPoints + 1 - mask_width) / kWarpSize * kWarpSize; }

static int launch_for(const Conv1dCall& c, const void* mask) {
  const int valid = valid_of(c.mask_width), blocks = (c.length - 1) / (2 * valid) + 1;
  overlap_save_kernel<<<blocks, kSpan, 0, static_cast<cudaStream_t>(c.stream)>>>(
      static_cast<const Prepared*>(mask), c.input, c.output, c.length, c.halo(), valid, c.first,
      c.last);
  return cudaGetLastError();
}

static int launch(const Conv1dCall& c) {
  void* mask = nullptr;
  const int code = cudaGetSymbolAddress(&mask, prepared_mask);
  return code != cudaSuccess ? code : launch_for(c, mask);
}

Conv1dKernel overlap_save() {
  return {.description = "two tiles of 4,096 cells per block, by a Fourier transform on chip",
          .launch = launch,
          .set_mask = set_mask,
          .tile = [](int mask_width) { return 2 * valid_of(mask_width); },
          .multiplies_ghosts = true,
          .tuned = true,
          .arithmetic = Arithmetic::transform,
          .launch_with_taps = [](const Conv1dCall& c) { return launch_for(c, c.prepared); },
          .widest_taps = kMaxMaskWidth,
          .prepared_floats = sizeof(Prepared) / sizeof(float),
          .prepare_taps =
              [](const float* taps, int width, float* prepared) {
                prepare(taps, width, *reinterpret_cast<Prepared*>(prepared));
              }};
}

}  // namespace halo::conv1d_tiled_halo
