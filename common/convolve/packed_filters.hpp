// Filters as products of matrices read them: [R * S][channels][row], neighbours are filters, and zeros where there is no
// channel or filter. Launches, which do not wait; they return a CUDA error code.
#pragma once

#include "common/harness/kernel.h"

namespace halo::convolve {

/// With so many channels and filters; after them zeros, up to `floats` in all.
int pack_filters(const float* filters, float* packed, const LayerNumbers& layer, int channels,
                 int row, long long floats);

/// In whole segments of 16 channels and whole tiles of 64 filters; and how many floats they are.
int pack_filters(const float* filters, float* packed, const LayerNumbers& layer);
long long packed_floats(const LayerNumbers& layer);

}  // namespace halo::convolve
