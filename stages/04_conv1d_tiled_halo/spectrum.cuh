// What step 3 of stage 04 reads of a mask, and how the processor makes it.
#pragma once

#include <cuda_runtime.h>

#include <cmath>

#include "stages/04_conv1d_tiled_halo/transform.cuh"

namespace halo::conv1d_tiled_halo {

constexpr int kSpan = kRadix * kRadix;   // threads of a block
constexpr int kPoints = kRadix * kSpan;  // cells of a tile

struct Prepared {
  float2 spectrum[kPoints];  // / kPoints; [k0][k2][k1] for frequency k2 + 16 k1 + 256 k0
  float2 roots[kSpan];       // roots[m] = exp(-2 pi i m / kPoints)
};

// In double: the mask's spectrum is as exact as floats can be.
inline void prepare(const float* mask, int width, Prepared& prepared) {
  double cosine[kPoints];  // of 2 pi m / kPoints; the sine is three quarters further on
  for (int m = 0; m < kPoints; ++m) cosine[m] = std::cos(6.283185307179586477 * m / kPoints);
  const auto sine = [&](int m) { return cosine[(m + 3 * kPoints / 4) % kPoints]; };
  for (int m = 0; m < kSpan; ++m) {
    prepared.roots[m] = {static_cast<float>(cosine[m]), static_cast<float>(-sine(m))};
  }
  for (int i = 0; i < kPoints; ++i) {
    const int frequency = i / kRadix % kRadix + kRadix * (i % kRadix) + i / kSpan * kSpan;
    double x = 0, y = 0;
    for (int j = 0; j < width; ++j) {
      x += mask[j] * cosine[j * frequency % kPoints];
      y += mask[j] * sine(j * frequency % kPoints);
    }
    prepared.spectrum[i] = {static_cast<float>(x / kPoints), static_cast<float>(y / kPoints)};
  }
}

}  // namespace halo::conv1d_tiled_halo
