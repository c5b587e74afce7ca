// Stage 07: prefetching alone.
//
// Computes   output[n][k][p][q] = sum over r, s of input[n][p + r - padding_h][q + s - padding_w] *
//            filters[k][r][s]: one channel, stride 1; cells that do not exist are zero.
// Changed    since 06: while a block computes the strip of the map that it has in shared memory,
//            the next strip is on its way into registers. The division is fixed: 16 filters and a
//            band of 16 rows a block, strips of 4.
// Must cost  the map once for every 16 filters, R - 1 rows more for every strip of 4; the filters
//            once for every band; each output once, in whole sectors where the strip begins on one.
// Run        halo run 07 --variant prefetch
#include <algorithm>

#include "stages/07_single_channel_adaptive/piece.cuh"

namespace halo::single_channel {

// [doc:kernel]
// Preconditions: 512 threads; a block for each band of rows, group of filters and image;
// dynamic shared memory holds min(rows + R - 1, H) * W cells and kPrefetchFilters * R * S taps;
// the cells are at most kAhead * 512.
template <int kSize>
__global__ void __launch_bounds__(kThreadsPerBlock, kBlocksPerSm)
    prefetch_kernel(const float* input,    // [N][H][W]
                    const float* filters,  // [K][R][S]
                    float* output,         // [N][K][P][Q]
                    Layer layer, int rows) {
  extern __shared__ float on_chip[];
  float* cells = on_chip;                                              // [rows + R - 1][W]
  float* taps = on_chip + min(rows + layer.R - 1, layer.H) * layer.W;  // [filters][R][S]

  const int bands = (layer.P + kPrefetchBand - 1) / kPrefetchBand;
  const int groups = (layer.K + kPrefetchFilters - 1) / kPrefetchFilters;
  const int band = blockIdx.x % bands;
  const int group = blockIdx.x / bands % groups;
  const int image = blockIdx.x / bands / groups;
  const float* map = input + image * layer.H * layer.W;
  float* out = output + image * layer.K * layer.P * layer.Q;
  const int last_row = min((band + 1) * kPrefetchBand, layer.P);

  Piece piece;
  piece.first_row = band * kPrefetchBand;
  piece.last_row = min(piece.first_row + rows, last_row);
  piece.first_filter = group * kPrefetchFilters;
  piece.last_filter = min(piece.first_filter + kPrefetchFilters, layer.K);

  Arrivals first = cells_of(layer, piece, map);
  add_taps(first, layer, piece, filters);
  load(first, cells, taps);

  for (;;) {
    __syncthreads();  // the piece is on chip
    Piece following = piece;
    following.first_row = piece.last_row;
    following.last_row = min(following.first_row + rows, last_row);
    const bool more = following.first_row < last_row;

    Arrivals arrivals;
    float next[kAhead];
    if (more) {
      arrivals = cells_of(layer, following, map);
      fetch(arrivals, next);
    }
    compute<kSize>(layer, piece, cells, taps, out);
    if (!more) return;
    __syncthreads();  // nobody reads the piece any more
    put(arrivals, next, cells, taps);
    piece = following;
  }
}
// [/doc:kernel]

namespace {

constexpr int kMostFloats = 48 * 1024 / 4;  // of shared memory, without asking for more

int floats_on_chip(const Layer& layer, int rows) {
  return std::min(rows + layer.R - 1, layer.H) * layer.W + kPrefetchFilters * layer.R * layer.S;
}

}  // namespace

int prefetch_rows(const Layer& layer) {
  for (int rows = 4; rows >= 1; rows /= 2) {
    const long long cells = static_cast<long long>(rows + layer.R - 1) * layer.W;
    const long long taps = static_cast<long long>(kPrefetchFilters) * layer.R * layer.S;
    if (cells + taps <= kMostFloats) return rows;
  }
  return 0;
}

cudaError_t prefetch(const float* input, const float* filters, float* output, const Layer& layer) {
  const int rows = prefetch_rows(layer);
  const long long bands = (layer.P - 1) / kPrefetchBand + 1;
  const long long groups = (layer.K - 1) / kPrefetchFilters + 1;
  const long long blocks = bands * groups * layer.N;  // fewer than outputs, so it fits a grid
  if (rows == 0) return cudaErrorNotSupported;
  const size_t bytes = floats_on_chip(layer, rows) * sizeof(float);
  const auto kernel = layer.R != layer.S ? prefetch_kernel<0>
                      : layer.S == 1     ? prefetch_kernel<1>
                      : layer.S == 3     ? prefetch_kernel<3>
                      : layer.S == 5     ? prefetch_kernel<5>
                                         : prefetch_kernel<0>;
  kernel<<<static_cast<unsigned>(blocks), kThreadsPerBlock, bytes>>>(input, filters, output, layer,
                                                                     rows);
  return cudaGetLastError();
}

}  // namespace halo::single_channel
