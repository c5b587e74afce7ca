// Stage 07: convolution of one channel, divided over the SMs as Chang & Onishi do.
#pragma once

#include <cuda_runtime.h>

#include "common/planning/single_channel_division.hpp"

namespace halo::single_channel {

/// The numbers of a layer with one channel and stride 1.
struct Layer {
  int N, H, W;  // images, their rows and columns
  int K, R, S;  // filters, their rows and columns
  int P, Q;     // rows and columns of the output: H + 2 padding_h - R + 1, and so W
  int padding_h, padding_w;
};

// out[n][k][p][q] = sum over r, s of in[n][p + r - padding_h][q + s - padding_w] * filters[k][r][s];
// cells that do not exist are zero. Device memory: input[N][H][W], filters[K][R][S],
// output[N][K][P][Q]. They return the launch's error and do not wait for the kernel.

/// Prefetching alone, with a fixed division: a block has kPrefetchFilters filters and a band of
/// kPrefetchBand rows of outputs, which it works through in strips of `rows`. `rows` comes from
/// prefetch_rows (adaptive.hpp) and is not 0.
cudaError_t prefetch(const float* input, const float* filters, float* output, const Layer& layer,
                     int rows);

inline constexpr int kPrefetchFilters = 16;  // of a block
inline constexpr int kPrefetchBand = 16;     // rows of outputs of a block

/// The paper's first method: each SM has its filters and works through the map in strips.
/// `division` comes from divide (single_channel_plan.hpp) for a plan of this method.
cudaError_t filters_over_sms(const float* input, const float* filters, float* output,
                             const Layer& layer, const Division& division);

/// The paper's second method: each SM has its rows of the map and works through the filters in
/// groups. `division` comes from divide for a plan of this method.
cudaError_t map_over_sms(const float* input, const float* filters, float* output,
                         const Layer& layer, const Division& division);

}  // namespace halo::single_channel
