// Stage 08, step 6: Winograd's method, F(2 x 2, 3 x 3).
//
// Computes   output[n][k][p][q] = sum over c, r, s of filters[k][c][r][s]
//            * input[n][c][p - padding_h + r][q - padding_w + s], r and s from 0 to 2; cells that do not exist are
//            zero.
// Changed    since 5 outer_product: 2 x 2 outputs together need 16 products of a channel and not 36. A tile of 4 x 4
//            cells is transformed, the filter too (once, when it is packed); the 16 places of both are multiplied
//            place by place and added up over the channels; then 16 sums become 4 outputs. Each place is an
//            outer product of filters and tiles.
// Must cost  the input 4 times for each 32 filters, since tiles overlap; the filters, 16 / 9 of their size, once for
//            each 32 tiles. 256 channels of 56 x 56 (3.2 MB) and 256 filters (4.2 MB packed):
//            8 * 4 * 3.2 + 25 * 4.2 = 207 MB, nearly all of it from the L1 and L2 caches.
// Run        ./halo run 08 --variant winograd_f2
#include <cuda_pipeline.h>

#include "stages/08_multi_channel_stride_fixed/winograd_f2.cuh"

namespace halo::multi_channel_stride_fixed {

// In winograd_f2_filters.cu: G g G^T of each filter, to [segments][kPlaces][kChannels][row], filled up with zeros.
long long winograd_f2_floats(const LayerNumbers& layer);
int pack_winograd_f2(const float* filters, float* packed, const LayerNumbers& layer);

// Preconditions: 3 x 3 filters, packed; stride 1; gridDim.x = groups of filters * groups of
// tiles, which are numbered across all images; blockDim.x = kThreads.
__global__ void __launch_bounds__(kThreads, 2)
    winograd_f2_kernel(const float* input,   // [N][C][H][W]
                       const float* packed,  // [segments][kPlaces][kChannels][row]
                       float* output,        // [N][K][P][Q]
                       const LayerNumbers layer) {
  __shared__ float4 filters[2][kPlaces][kChannels][kTileFilters / 4];  // in use and under way
  __shared__ float4 tiles[kPlaces][kChannels][kTiles / 4];
  const int groups = (layer.K - 1) / kTileFilters + 1, row = groups * kTileFilters;
  const int first_filter = blockIdx.x % groups * kTileFilters;
  const int lane = threadIdx.x % kWarpSize, warp = threadIdx.x / kWarpSize;

  // A lane has a tile to fetch and to store, its warp a channel of each segment.
  const int across = (layer.Q + 1) / 2, in_image = (layer.P + 1) / 2 * across;
  const int tile = blockIdx.x / groups * kTiles + lane, n = tile / in_image;
  const int p = tile % in_image / across * 2, q = tile % in_image % across * 2;
  const int h = n < layer.N ? p - layer.padding_h : layer.H, w = q - layer.padding_w;
  float d[kPlaces];  // its cells of the next segment
  const auto fetch = [&](int segment) {
    const float* from = packed + (segment * kPlaces * kChannels + threadIdx.x / 8) * row +
                        first_filter + threadIdx.x % 8 * 4;
    for (int i = 0; i < kPlaces; i += 4, from += 4 * kChannels * row) {
      __pipeline_memcpy_async(&filters[segment % 2][i][0][threadIdx.x], from, sizeof(float4));
    }
    const int c = segment * kChannels + warp;
    const float* const cells = input + ((n * layer.C + c) * layer.H + h) * layer.W + w;
#pragma unroll
    for (int i = 0; i < kPlaces; ++i) {
      // As unsigned numbers, of which those that would be negative are large.
      const bool exists =
          c < layer.C && 0u + h + i / 4 < 0u + layer.H && 0u + w + i % 4 < 0u + layer.W;
      d[i] = exists ? cells[i / 4 * layer.W + i % 4] : 0.0f;
    }
  };
  // Warp i multiplies places 2 * i and 2 * i + 1. Lanes stand as in step 5: two quads of filters, one of tiles each.
  const int own_filter = lane / 2 % 2 + lane / 16 * 2, own_tile = lane % 2 + lane / 4 % 4 * 2;
  float sums[2][8][4] = {};
  const int segments = (layer.C - 1) / kChannels + 1;
  fetch(0);
  for (int segment = 0; segment < segments; ++segment) {
    for (int i = 0; i < 4; ++i) transform_cells(d + i, 4);
    for (int i = 0; i < 4; ++i) transform_cells(d + 4 * i, 1);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();  // the filters are here, and nobody reads the segment before any more
    for (int i = 0; i < kPlaces; ++i) reinterpret_cast<float*>(tiles[i][warp])[lane] = d[i];
    __syncthreads();
    if (segment + 1 < segments) fetch(segment + 1);
      // [doc:winograd-f2]
#pragma unroll
    for (int i = 0; i < 2 * kChannels; ++i) {
      const int place = 2 * warp + i / kChannels, c = i % kChannels;
      const float4* const quads = filters[segment % 2][place][c] + own_filter;
      const float4 a[2] = {quads[0], quads[4]}, b = tiles[place][c][own_tile];
#pragma unroll
      for (int j = 0; j < 32; ++j) {
        sums[i / kChannels][j / 4][j % 4] +=
            reinterpret_cast<const float*>(a)[j / 4] * reinterpret_cast<const float*>(&b)[j % 4];
      }
    }
    // [/doc:winograd-f2]
  }

  // A tile's 16 sums are in eight warps: they meet in shared memory, first those of the lanes' first quads of filters.
  float* const places = &filters[0][0][0][0].x;  // [4][4][kHalf][kTiles]
  for (int half = 0; half < 2; ++half) {
    __syncthreads();
    for (int i = 0; i < 8; ++i) {
      const float* const sum = half == 0 ? sums[i / 4][i % 4] : sums[i / 4][4 + i % 4];
      const int at = (2 * warp + i / 4) * kHalf + own_filter * 4 + i % 4;
      reinterpret_cast<float4*>(places)[at * 8 + own_tile] = {sum[0], sum[1], sum[2], sum[3]};
    }
    __syncthreads();
    for (int i = warp; i < kHalf; i += kThreads / kWarpSize) {
      const int k = first_filter + half * kHalf + i;
      if (k >= layer.K || n >= layer.N) break;
      float* const to = output + ((n * layer.K + k) * layer.P + p) * layer.Q + q;
      store_outputs(places + i * kTiles + lane, kHalf * kTiles, to, layer, p, q);
    }
  }
}

static int launch(const LayerCall& call) {
  const LayerNumbers& layer = call.layer;
  const int tiles = layer.N * ((layer.P + 1) / 2) * ((layer.Q + 1) / 2);
  const int blocks = ((layer.K - 1) / kTileFilters + 1) * ((tiles - 1) / kTiles + 1);
  const auto stream = static_cast<cudaStream_t>(call.stream);
  winograd_f2_kernel<<<blocks, kThreads, 0, stream>>>(call.input, call.packed, call.output, layer);
  return cudaGetLastError();
}

static const char* refuses(const LayerNumbers& of) {
  const bool fits = of.R == 3 && of.S == 3 && of.stride_h == 1 && of.stride_w == 1;
  return fits ? nullptr : "it is made for 3 x 3 filters and stride 1";
}

LayerKernel winograd_f2() {
  return {.description = "Winograd's F(2 x 2, 3 x 3) in one kernel",
          .launch = launch,
          .refuses = refuses,
          .packed_floats = winograd_f2_floats,
          .pack = pack_winograd_f2,
          .tuned = true,
          .tiles = {{.C = kChannels, .K = kTileFilters, .P = 2, .Q = 2}, {.cells = 4 * kTiles}},
          .arithmetic = Arithmetic::transform,
          .multiplies_ghosts = true};
}

}  // namespace halo::multi_channel_stride_fixed
