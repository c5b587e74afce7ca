// Stage 09: cuConv's convolution in two stages, the same in one product, and their variants.
#pragma once

#include <cstdint>

#include "common/harness/families/conv2d.hpp"
#include "common/harness/kernel.h"
#include "stages/09_cuconv_two_stage/division.hpp"

namespace halo::cuconv_two_stage {

// In 1_scalar_products.cu and 2_sum.cu. For each filter k and product m = (n*P + p)*Q + q of the chunk
// and each tap (r, s) whose cell h = p*stride_h - padding_h + r, w = q*stride_w - padding_w + s exists,
//     workspace[r*S + s][k - first_filter][m - first_product] =
//         sum over c of filters[k][c][r][s] * input[n][c][h][w];
// then output[n][k][p][q] = the sum of these over the taps, 0 if there is none. If R*S = 1 the first
// writes the output itself. C <= kMaxChannels. They return the launch's error and do not wait.
int scalar_products(const LayerCall& call, const Chunk& chunk, const Division& division);
int sum(const LayerCall& call, const Chunk& chunk);

// The whole layer: both for each chunk of chunk_temporaries(K, N*P*Q, R*S); the first alone if R*S = 1. The workspace
// holds chunks.floats floats. Returns the first error of a launch, does not wait.
int two_stage(const LayerCall& call, Rows rows, const Chunks& chunks);

// Multiprocessors of the present device; 0 if there is none.
int multiprocessors();

// The stage's variants and its plan, for temporaries of at most `cap` bytes.
void add_variants(Conv2dStage& stage, std::int64_t cap);

}  // namespace halo::cuconv_two_stage
