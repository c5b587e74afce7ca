// Stage 07: the map over the SMs, the filters in groups (the paper's second method, formulas 7 to 9).
//
// Computes   output[n][k][p][q] = sum over r, s of input[n][p + r - padding_h][q + s - padding_w] *
//            filters[k][r][s]: one channel, stride 1; cells that do not exist are zero.
// Changed    since 2_filters_over_sms: what stays and what goes by have changed places. An SM has
//            its rows of the map for good; all filters go by, group after group.
// Must cost  the map once, and R - 1 rows more for every SM; all filters once for every SM, or
//            twice where its blocks halve the rows; each output once.
// Run        halo run 07 --variant map_over_sms
#include "stages/07_single_channel_adaptive/piece.cuh"

namespace halo::single_channel {

// [doc:kernel]
// Preconditions: 512 threads; division.blocks blocks for each image; dynamic shared memory holds
// division.shared_floats(layer); what arrives for a next piece is at most kAhead * 512 floats.
template <int kSize>
__global__ void __launch_bounds__(kThreadsPerBlock, kBlocksPerSm)
    map_over_sms_kernel(const float* input,    // [N][H][W]
                        const float* filters,  // [K][R][S]
                        float* output,         // [N][K][P][Q]
                        Layer layer, Division division) {
  extern __shared__ float on_chip[];
  float* cells = on_chip;                  // [rows of the map][W]
  float* taps = on_chip + division.cells;  // [division.filters][R][S]

  // The first block of each SM, then the second of each, as the hardware deals them.
  const int image = blockIdx.x / division.blocks;
  const int share = blockIdx.x % division.shares;
  const int part = blockIdx.x % division.blocks / division.shares;
  const float* map = input + image * layer.H * layer.W;
  float* out = output + image * layer.K * layer.P * layer.Q;

  // What is this block's: a part of the SM's rows, a part of all filters.
  const int sm_row = share * division.sm_rows;
  const int first_row = sm_row + part % division.row_parts * division.block_rows;
  const int last_row =
      min(min(first_row + division.block_rows, layer.P), sm_row + division.sm_rows);
  const int first_filter = part / division.row_parts * division.block_filters;
  const int last_filter = min(first_filter + division.block_filters, layer.K);
  if (first_filter >= last_filter || first_row >= last_row) return;

  const auto piece_at = [&](int row, int filter) {
    return Piece{row, min(row + division.rows, last_row), filter,
                 min(filter + division.filters, last_filter)};
  };
  Piece piece = piece_at(first_row, first_filter);
  Arrivals arrivals = cells_of(layer, piece, map);
  add_taps(arrivals, layer, piece, filters);
  load(arrivals, cells, taps);

  for (;;) {
    __syncthreads();  // the piece is on chip
    // Next: the next filters with the same rows. Only if the rows did not all fit, the filters go by
    // once more, with the next strip of them.
    const bool same_rows = piece.last_filter < last_filter;
    const Piece following = same_rows ? piece_at(piece.first_row, piece.last_filter)
                                      : piece_at(piece.last_row, first_filter);
    const bool more = following.first_row < last_row;
    float next[kAhead];
    if (more) {
      arrivals = cells_of(layer, following, map);
      if (same_rows) arrivals.cell_count = 0;
      // All filters may be here already.
      if (following.first_filter != piece.first_filter) {
        add_taps(arrivals, layer, following, filters);
      }
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

cudaError_t map_over_sms(const float* input, const float* filters, float* output,
                         const Layer& layer, const Division& division) {
  const auto kernel = layer.S == 1   ? map_over_sms_kernel<1>
                      : layer.S == 3 ? map_over_sms_kernel<3>
                      : layer.S == 5 ? map_over_sms_kernel<5>
                                     : map_over_sms_kernel<0>;
  const int bytes = division.shared_floats(layer) * static_cast<int>(sizeof(float));
  const cudaError_t error =
      cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
  if (error != cudaSuccess) return error;
  kernel<<<division.blocks * layer.N, kThreadsPerBlock, bytes>>>(input, filters, output, layer,
                                                                 division);
  return cudaGetLastError();
}

}  // namespace halo::single_channel
