// Stage 07: the filters over the SMs, the map in strips (the paper's first method, formulas 4 to 6).
//
// Computes   output[n][k][p][q] = sum over r, s of input[n][p + r - padding_h][q + s - padding_w] *
//            filters[k][r][s]: one channel, stride 1; cells that do not exist are zero.
// Changed    since 1_prefetch: the planner says how large a piece is. An SM has its filters for
//            good; the whole map goes by, strip after strip, the next one in registers while the
//            present one is computed.
// Must cost  the map once for every SM that has filters, and R - 1 rows more for every strip; each
//            filter once for each of the SM's blocks that needs it; each output once.
// Run        halo run 07 --variant filters_over_sms
#include "stages/07_single_channel_adaptive/piece.cuh"

namespace halo::single_channel {

// [doc:kernel]
// Preconditions: 512 threads; division.blocks blocks for each image; dynamic shared memory holds
// division.shared_floats(layer); what arrives for a next piece is at most kAhead * 512 floats.
template <int kSize>
__global__ void __launch_bounds__(kThreadsPerBlock, kBlocksPerSm)
    filters_over_sms_kernel(const float* input,    // [N][H][W]
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

  // What is this block's: a part of the SM's filters, a part of all rows.
  const int sm_filter = share * division.sm_filters;
  const int first_filter = sm_filter + part / division.row_parts * division.block_filters;
  const int last_filter =
      min(min(first_filter + division.block_filters, layer.K), sm_filter + division.sm_filters);
  const int first_row = part % division.row_parts * division.block_rows;
  const int last_row = min(first_row + division.block_rows, layer.P);
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
    // Next: the next strip with the same filters. Only if the filters did not all fit, the map goes
    // by once more, with the next group of them.
    const bool same_filters = piece.last_row < last_row;
    const Piece following = same_filters ? piece_at(piece.last_row, piece.first_filter)
                                         : piece_at(first_row, piece.last_filter);
    const bool more = following.first_filter < last_filter;
    float next[kAhead];
    if (more) {
      arrivals = cells_of(layer, following, map);
      if (following.first_row == piece.first_row) arrivals.cell_count = 0;  // they are all here
      if (!same_filters) add_taps(arrivals, layer, following, filters);
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

cudaError_t filters_over_sms(const float* input, const float* filters, float* output,
                             const Layer& layer, const Division& division) {
  const auto kernel = layer.S == 1   ? filters_over_sms_kernel<1>
                      : layer.S == 3 ? filters_over_sms_kernel<3>
                      : layer.S == 5 ? filters_over_sms_kernel<5>
                                     : filters_over_sms_kernel<0>;
  const int bytes = division.shared_floats(layer) * static_cast<int>(sizeof(float));
  const cudaError_t error =
      cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
  if (error != cudaSuccess) return error;
  kernel<<<division.blocks * layer.N, kThreadsPerBlock, bytes>>>(input, filters, output, layer,
                                                                 division);
  return cudaGetLastError();
}

}  // namespace halo::single_channel
