// Stage 09: cuConv's convolution in two stages.
#pragma once

#include <cuda_runtime.h>

#include "common/planning/two_stage_division.hpp"

namespace halo::cuconv_two_stage {

// The numbers of a layer, with the letters of docs/notation.md. Arrays are NCHW and of fewer than
// 2^31 - 4096 elements each.
struct Layer {
  int N, C, H, W;            // input [N][C][H][W]
  int K, R, S;               // filters [K][C][R][S]
  int P, Q;                  // output [N][K][P][Q]
  int stride_h, stride_w;    // input cells from one output to the next, down and across
  int padding_h, padding_w;  // ghost rows above and below, ghost columns left and right
};

// Stage one. For each filter k and product m = (n*P + p)*Q + q of the chunk and each tap (r, s) whose
// cell y = p*stride_h - padding_h + r, x = q*stride_w - padding_w + s exists,
//     temporaries[r*S + s][k - first_filter][m - first_product] =
//         sum over c of filters[k][c][r][s] * input[n][c][y][x].
// Temporaries whose cell is a ghost are not written. If R*S = 1, `temporaries` is the output
// [N][K][P][Q] itself, which is written as a whole, 0 where the cell is a ghost; the chunk must then
// be the whole layer. C <= kMaxChannels; the division is of chunk.products products.
// Returns the launch's error, does not wait.
cudaError_t scalar_products(const float* input, const float* filters, float* temporaries,
                            const Layer& layer, const Chunk& chunk, const Division& division);

// Stage two. For each filter k and output m = (n*P + p)*Q + q of the chunk
//     output[n][k][p][q] = sum of temporaries[r*S + s][k - first_filter][m - first_product]
// over the taps (r, s) whose cell exists; 0 if there is none.
// Returns the launch's error, does not wait.
cudaError_t sum(const float* temporaries, float* output, const Layer& layer, const Chunk& chunk);

// The whole layer: stage one and stage two for each chunk; stage one alone if R*S = 1.
// `temporaries` holds chunk_temporaries(K, N*P*Q, R*S, cap).floats floats. C <= kMaxChannels.
// Returns the first error of a launch, does not wait. Throws as chunk_temporaries.
cudaError_t two_stage(const float* input, const float* filters, float* output, float* temporaries,
                      const Layer& layer, Rows rows, std::int64_t cap = kTemporariesCap);

// Multiprocessors of the present device; 0 if there is none.
int multiprocessors();

}  // namespace halo::cuconv_two_stage
