// Stage 08, step 7: tiles of frequencies.
//
// Computes   output[n][k][p][q] = sum over c, r, s of filters[k][c][r][s]
//            * input[n][c][p - padding_h + r][q - padding_w + s]; cells that do not exist are zero.
// Changed    since 5 outer_product: a sum over taps of cells becomes one product of frequencies. Tiles of 16 x 16
//            cells are transformed (fourier_there), and each of their 144 frequencies is multiplied and added up
//            over the channels, an outer product per thread; then they come back as 17 - R by 17 - S outputs. The
//            number of products does not grow with the filter, until tiles have too few outputs.
// Must cost  the input 256 / ((17 - R) * (17 - S)) times, since tiles overlap; and of each tile 1152 bytes of
//            frequencies for each channel and each filter, written and read: those of the channels are read once
//            for each 64 filters, and those of packed filters once for each 64 tiles.
// Run        ./halo run 08 --variant fourier_tile
#include <cuda_pipeline.h>

#include "stages/08_multi_channel_stride_fixed/fourier_tile.cuh"

namespace halo::multi_channel_stride_fixed {

constexpr int kThreads = 256;

// A block has one frequency of 64 filters and 64 tiles, 4 x 4 per thread, through the channels eight at a time.
// Preconditions: gridDim.x = kFrequencies * filters / kSide * tiles / kSide; blockDim.x = kThreads.
__global__ void __launch_bounds__(kThreads)
    fourier_products(const float2* packed,  // [kFrequencies][channels][filters]
                     const float2* input,   // [kFrequencies][channels][tiles]
                     float2* output,        // [kFrequencies][filters][tiles]
                     const int channels, const int filters, const int tiles) {
  // Two complex numbers per float4. A segment is in use, one under way.
  __shared__ float4 of_filters[2][kDepth][kSide / 2], of_tiles[2][kDepth][kSide / 2];
  const int groups = filters / kSide, frequency = blockIdx.x % kFrequencies;
  const int first_filter = blockIdx.x / kFrequencies % groups * kSide;
  const int first_tile = blockIdx.x / kFrequencies / groups * kSide;

  const int thread = threadIdx.x, own_row = thread / kWarpSize, own_two = thread % kWarpSize * 2;
  const long long own_channel = 1ll * frequency * channels + own_row;
  const float2* next_filters = packed + own_channel * filters + first_filter + own_two;
  const float2* next_tiles = input + own_channel * tiles + first_tile + own_two;
  const auto copy_next = [&](int place) {
    __pipeline_memcpy_async(&of_filters[place][own_row][own_two / 2], next_filters, 16);
    __pipeline_memcpy_async(&of_tiles[place][own_row][own_two / 2], next_tiles, 16);
    next_filters += kDepth * filters;
    next_tiles += kDepth * tiles;
  };

  // Threads are 16 x 16, each with two pairs of filters and two of tiles, 16 pairs apart.
  const int down = thread / 16, across = thread % 16;
  float2 sums[4][4] = {};
  copy_next(0);
  for (int first = 0; first < channels; first += kDepth) {
    const int place = first / kDepth % 2;
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();  // the segment is here, and nobody reads the one before it any more
    if (first + kDepth < channels) copy_next(1 - place);
#pragma unroll
    for (int c = 0; c < kDepth; ++c) {
      const float4 a[2] = {of_filters[place][c][down], of_filters[place][c][down + 16]};
      const float4 b[2] = {of_tiles[place][c][across], of_tiles[place][c][across + 16]};
#pragma unroll
      for (int i = 0; i < 16; ++i) {
        const float2 f = reinterpret_cast<const float2*>(a)[i / 4];
        const float2 x = reinterpret_cast<const float2*>(b)[i % 4];
        float2& sum = sums[i / 4][i % 4];  // f conjugate: no convolution but a correlation
        sum.x += f.x * x.x + f.y * x.y;
        sum.y += f.x * x.y - f.y * x.x;
      }
    }
  }
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    const int k = first_filter + i / 4 * (kSide / 2) + down * 2 + i / 2 % 2;
    float2* const to = output + (1ll * frequency * filters + k) * tiles + first_tile + across * 2;
    const float2* const two = &sums[i / 2][i % 2 * 2];
    *reinterpret_cast<float4*>(to + i % 2 * (kSide / 2)) = {two[0].x, two[0].y, two[1].x, two[1].y};
  }
}

static int there(const float* input, float* spectra, const FourierTiles& of, void* stream) {
  const int blocks = of.depth * (of.row / kWarpSize);
  fourier_there<<<blocks, kTransformThreads, 0, static_cast<cudaStream_t>(stream)>>>(
      input, reinterpret_cast<float2*>(spectra), of);
  return cudaGetLastError();
}

static int pack(const float* filters, float* packed, const LayerNumbers& layer) {
  return there(filters, packed, filter_tiles(layer), nullptr);
}

static int launch(const LayerCall& call) {
  const FourierTiles of = fourier_tiles(call.layer);
  if (const int error = there(call.input, call.workspace, of, call.stream); error != 0)
    return error;
  const auto stream = static_cast<cudaStream_t>(call.stream);
  auto* const spectra = reinterpret_cast<float2*>(call.workspace);
  float2* const products = spectra + 1ll * kFrequencies * of.depth * of.row;
  const int blocks = kFrequencies * (of.filters / kSide) * (of.row / kSide);
  fourier_products<<<blocks, kThreads, 0, stream>>>(reinterpret_cast<const float2*>(call.packed),
                                                    spectra, products, of.depth, of.filters,
                                                    of.row);
  fourier_back<<<call.layer.K*(of.row / kWarpSize), kTransformThreads, 0, stream>>>(
      products, call.output, call.layer, of);
  return cudaGetLastError();
}

static const char* refuses(const LayerNumbers& layer) {
  if (layer.stride_h != 1 || layer.stride_w != 1) return "it is made for stride 1";
  if (layer.R > kSize || layer.S > kSize) return "it is made for filters of up to 16 x 16";
  const long long most = 1ll << 30;
  const bool fits = fourier_workspace_floats(layer) < most && fourier_packed_floats(layer) < most;
  return fits ? nullptr : "its frequencies are more than 2^30 floats";
}

LayerKernel fourier_tile() {
  return {.description = "tiles of 16 x 16 cells, multiplied frequency by frequency",
          .launch = launch,
          .refuses = refuses,
          .workspace_floats = fourier_workspace_floats,
          .packed_floats = fourier_packed_floats,
          .pack = pack,
          .tuned = true,
          .tiles = {{.C = kDepth, .K = kSide, .P = 14, .Q = 14}},
          .arithmetic = Arithmetic::transform,
          .multiplies_ghosts = true};
}

}  // namespace halo::multi_channel_stride_fixed
