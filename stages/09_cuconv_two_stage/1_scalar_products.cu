// Stage 09, step 1: scalar products along the channels.
//
// Computes   for each tap (r, s) of each filter k and each output it takes part in, the sum over
//            the channels c of filters[k][c][r][s] * input[n][c][h][w]: one number each, kept in
//            memory for step 2. With 1x1 filters these are the outputs already, and there is no
//            step 2.
// Changed    since the direct convolution of 06: a block belongs to one tap of one filter, not to a
//            piece of the output, so a small map still gives K*R*S blocks.
// Must cost  a warp reads up to 32 neighbouring cells per channel, 4 or 5 sectors, for 32
//            multiply-adds: nothing but the filter row is reused within the block. That row's
//            values lie R*S floats apart, so each is a sector of its own from 3x3 on; from shared
//            memory four are one read (LDS.128), of two wavefronts. Then one number per product
//            is written, and read again by step 2.
// Run        ./halo run 09 --variant two_stage
#include <cuda_runtime.h>

#include "common/harness/kernel.h"
#include "stages/09_cuconv_two_stage/division.hpp"

namespace halo::cuconv_two_stage {

// Preconditions: gridDim.x is R*S * chunk.filters * division.blocks; blockDim.x is
// division.threads; dynamic shared memory holds C floats, rounded up to four. kFinal: R*S = 1.
template <bool kFinal>
__global__ void __launch_bounds__(kMaxThreads) scalar_products_kernel(
    const float* input,    // [N][C][H][W]
    const float* filters,  // [K][C][R][S]
    float* products,       // [R*S][chunk.filters][chunk.products]; if kFinal, [N][K][P][Q]
    const LayerNumbers layer, const Chunk chunk, const Division division) {
  extern __shared__ float row[];  // [C], row[c] is filters[k][c][r][s]

  // Neighbouring blocks share a filter row if it is split, else a tap: then they read the same cells
  // of the input, which the L2 cache has.
  const int block_row = blockIdx.x / division.blocks;  // [R*S][chunk.filters]
  const int block_part = blockIdx.x % division.blocks;
  const int tap = block_row / chunk.filters;
  const int k = chunk.first_filter + block_row % chunk.filters;
  const int taps = layer.R * layer.S;
  const int r = tap / layer.S;
  const int s = tap % layer.S;

  // All threads load the row together. NCHW puts its values R*S floats apart: other orders of the
  // filters would make this one read of neighbours, but someone would have to transform them.
  for (int c = threadIdx.x; c < layer.C; c += blockDim.x) {
    row[c] = filters[(k * layer.C + c) * taps + tap];
  }
  __syncthreads();

  const int plane = layer.H * layer.W;
  const int first = block_part * division.share;
  const int last = min(division.share, chunk.products - first) + first;
  // [doc:products]
  for (int i = first + threadIdx.x; i < last; i += blockDim.x) {
    // Lanes are neighbours in q, so they are in w. Where a map's row ends inside a warp, p changes.
    const int m = chunk.first_product + i;
    const int q = m % layer.Q;
    const int p = m / layer.Q % layer.P;
    const int n = m / layer.Q / layer.P;
    const int h = p * layer.stride_h - layer.padding_h + r;
    const int w = q * layer.stride_w - layer.padding_w + s;
    const bool exists = h >= 0 && h < layer.H && w >= 0 && w < layer.W;

    float product = 0.0f;
    if (exists) {
      const float* cell = input + (n * layer.C * layer.H + h) * layer.W + w;
      for (int c = 0; c < layer.C; ++c) product += row[c] * cell[c * plane];
    }
    if (kFinal) {
      products[((n * layer.K + k) * layer.P + p) * layer.Q + q] = product;
    } else if (exists) {
      // The product with a ghost cell is 0. Step 2 knows as well as we do which they are, so
      // nobody writes or reads them.
      products[block_row * chunk.products + i] = product;
    }
  }
  // [/doc:products]
}

// Writes call.workspace, [R*S][chunk.filters][chunk.products]; where R*S = 1, call.output, and the chunk
// must then be the whole layer. The division is of chunk.products products.
int scalar_products(const LayerCall& call, const Chunk& chunk, const Division& division) {
  const LayerNumbers& layer = call.layer;
  const int taps = layer.R * layer.S;
  const int blocks = taps * chunk.filters * division.blocks;
  // Whole float4: nvcc reads the row four values at a time, and past its end where C % 4 leaves some
  // (compute-sanitizer's memcheck saw it).
  const size_t row_bytes = (layer.C + 3) / 4 * 4 * sizeof(float);
  const auto stream = static_cast<cudaStream_t>(call.stream);
  if (taps == 1) {
    scalar_products_kernel<true><<<blocks, division.threads, row_bytes, stream>>>(
        call.input, call.filters, call.output, layer, chunk, division);
  } else {
    scalar_products_kernel<false><<<blocks, division.threads, row_bytes, stream>>>(
        call.input, call.filters, call.workspace, layer, chunk, division);
  }
  return cudaGetLastError();
}

}  // namespace halo::cuconv_two_stage
