// Transforms of Fourier in the registers of a thread, what a block of fourier.cu keeps on chip, and how fourier_split.cu uses
// its transforms.
//
// A convolution is a product of transforms, frequency by frequency. A tile of kSize x kSize real cells has
// kSize^2 / 2 + 2 complex frequencies that are not another one's conjugate: the rows of frequencies 1 ... kSize / 2 - 1
// whole, then row 0 and row kSize / 2, whose second half repeats the first.
#pragma once

#include <cuda_runtime.h>

#include "common/convolve/fourier/division.hpp"
#include "common/harness/kernel.h"

namespace halo::convolve {

template <int kSize>
struct Fourier {
  static constexpr int kHalf = kSize / 2;
  static constexpr int kFrequencies = fourier_frequencies(kSize);
  static constexpr int kRealRows = (kHalf - 1) * kSize;      // the first frequency of row 0
  static constexpr int kTiles = fourier_block_tiles(kSize);  // of a block that transforms
  static constexpr int kWarpTiles = kTiles / (kFourierThreads / kWarpSize);
  // On chip: half transformed, [kTiles][kHalf][kPitch] with one more number than a row has, so that lanes with
  // neighbouring rows find theirs in different banks; else [kFrequencies][kTiles], one or two numbers more after each
  // kSize frequencies for the same reason.
  static constexpr int kPitch = kSize + 1, kMore = kWarpSize / kSize;
  static constexpr int kOnChip = kTiles * kHalf * kPitch;
  static_assert(kOnChip >= kFrequencies * kTiles + kHalf * kMore);

  static __device__ int place(int frequency, int tile) {
    return frequency * kTiles + frequency / kSize * kMore + tile;
  }
};

// A block of the products: kSide filters x kSide tiles.
template <int kSide>
struct FourierBlock {
  static constexpr int kThreads = fourier_product_threads(kSide);
  static constexpr int kResident = fourier_resident(kSide);
  static constexpr int kOwn = fourier_own_tiles(kSide);  // tiles of a thread, beside 8 filters
  static constexpr int kRow = kSide / 2;     // float4 of a row: two complex numbers each
  static constexpr int kTurn = 128 / kSide;  // channels from branch to branch
};

// z turned by k/32 of a circle, backwards unless kInverse. k, 0 to 15, is known when this is compiled, and so are
// sine and cosine.
template <bool kInverse>
__device__ inline float2 turned(float2 z, int k) {
  constexpr float kCosine[] = {1,           0.98078528f, 0.92387953f,
                               0.83146961f, 0.70710678f, 0.55557023f,
                               0.38268343f, 0.19509032f, 0};
  if (k == 0) return z;
  if (k == 8) return kInverse ? float2{-z.y, z.x} : float2{z.y, -z.x};
  const float cosine = k < 8 ? kCosine[k] : -kCosine[16 - k];
  const float sine = (kInverse ? 1 : -1) * (k < 8 ? kCosine[8 - k] : kCosine[k - 8]);
  return {z.x * cosine - z.y * sine, z.x * sine + z.y * cosine};
}

// [doc:fourier-line]
// Sums and differences of numbers that are kHalf apart, the differences turned; then the same within each half. (Cooley
// & Tukey's method, decimation in frequency.)
template <bool kInverse, int kHalf, int kSize>
__device__ inline void butterflies(float2 (&z)[kSize]) {
#pragma unroll
  for (int first = 0; first < kSize; first += 2 * kHalf) {
#pragma unroll
    for (int i = first; i < first + kHalf; ++i) {
      const float2 a = z[i], b = z[i + kHalf];
      z[i] = {a.x + b.x, a.y + b.y};
      z[i + kHalf] = turned<kInverse>({a.x - b.x, a.y - b.y}, (i - first) * (16 / kHalf));
    }
  }
  if constexpr (kHalf > 1) butterflies<kInverse, kHalf / 2>(z);
}
// [/doc:fourier-line]

// z[k] becomes the sum over j of z[j] * exp(-2 pi i j k / kSize), with kInverse exp(+...), undivided.
template <bool kInverse, int kSize>
__device__ inline void transform(float2 (&z)[kSize]) {
  butterflies<kInverse, kSize / 2>(z);
  // Now number k stands where its bits are read backwards. All is in registers: nothing moves.
  float2 in_order[kSize];
#pragma unroll
  for (int k = 0; k < kSize; ++k) {
    const int backwards =
        (k & 1) << 4 | (k & 2) << 2 | (k & 4) | (k & 8) >> 2 | (k & 16) >> 4;  // of five bits
    in_order[k] = z[backwards / (32 / kSize)];
  }
#pragma unroll
  for (int k = 0; k < kSize; ++k) z[k] = in_order[k];
}

// Launches what multiplies: for each frequency packed[C][filter_pitch], conjugated, times transformed[C][tile_pitch],
// to sums[K][tile_pitch].
using FourierProducts = int (*)(const float2* packed, const float2* transformed, float2* sums,
                                const LayerNumbers& layer, const FourierDivision& division,
                                cudaStream_t stream);

// In fourier.cu: a call, its products by another's launch.
int by_fourier(const LayerCall& call, const FourierDivision& division, FourierProducts products);

}  // namespace halo::convolve
