// Stage 07, step 2: the filters over the SMs, the map in strips.
//
// Computes   output[n][k][p][q] = sum over r, s of input[n][p + r - padding_h][q + s - padding_w] *
//            filters[k][r][s]: one channel, stride 1; cells that do not exist are zero.
// Changed    since 1 prefetch: how the work is divided, by the paper's first method (formulas 4 to 6).
//            The planner says how large a piece is. An SM keeps its filters; the whole map passes
//            by, strip after strip. Only if its filters do not all fit, the map passes by again.
// Must cost  the map once for every SM that has filters, and R - 1 rows more for every strip; each
//            filter once for each of the SM's blocks that needs it; each output once.
// Run        ./halo run 07 --variant filters_over_sms
#include <cuda_runtime.h>

#include "stages/07_single_channel_adaptive/division.hpp"
#include "stages/07_single_channel_adaptive/pieces.cuh"

namespace halo::single_channel_adaptive {

// Preconditions: kThreads threads; division.blocks() blocks for each image; shared memory holds
// division.shared_floats(layer); of a next piece at most kAhead * kThreads floats are new.
template <int kSize>
__global__ void __launch_bounds__(kThreads, 2)
    filters_over_sms_kernel(const float* input,    // [N][H][W]
                            const float* filters,  // [K][R][S]
                            float* output,         // [N][K][P][Q]
                            const LayerNumbers layer, const Division division) {
  extern __shared__ float on_chip[];
  float* cells = on_chip;  // [rows of the map][W]
  float* taps =
      on_chip + min(division.rows + layer.R - 1, layer.H) * layer.W;  // [division.filters][R][S]

  // The first block of each SM, then the second of each, as the hardware deals them.
  const bool halves_rows = division.block_rows < division.sm_rows;
  const bool halves_filters = division.block_filters < division.sm_filters;
  const int parts = halves_rows || halves_filters ? 2 : 1;
  const int share = blockIdx.x % division.shares;
  const int part = blockIdx.x / division.shares % parts;
  const int n = blockIdx.x / division.shares / parts;
  // The SM keeps its filters; its two blocks halve them, or else the rows that pass by.
  const int sm_k = share * division.sm_filters;
  const int first_k = sm_k + (halves_filters ? part * division.block_filters : 0);
  const int last_k =
      min(min(first_k + division.block_filters, sm_k + division.sm_filters), layer.K);
  const int first_p = halves_rows ? part * division.block_rows : 0;
  const int last_p = min(first_p + division.block_rows, layer.P);
  if (first_p >= last_p || first_k >= last_k) return;
  const float* map = input + n * layer.H * layer.W;
  float* out = output + n * layer.K * layer.P * layer.Q;

  // The first piece: nothing can be computed yet, so nothing is hidden.
  Piece piece{first_p, min(first_p + division.rows, last_p), first_k,
              min(first_k + division.filters, last_k)};
  Arriving arriving = arriving_of(layer, map, filters, piece, true, true);
  load(arriving, cells, taps);

  for (;;) {
    __syncthreads();  // the piece is on chip
    // Next: the next strip, with the same filters; after the last strip the next filters.
    const int p = piece.end_p < last_p ? piece.end_p : first_p;
    const int k = piece.end_p < last_p ? piece.k : piece.end_k;
    const bool more = k < last_k;
    const Piece next{p, min(p + division.rows, last_p), k, min(k + division.filters, last_k)};
    float fetched[kAhead];
    if (more) {  // what is not here yet
      arriving = arriving_of(layer, map, filters, next, next.p != piece.p, next.k != piece.k);
      fetch(arriving, fetched);
    }
    compute<kSize>(layer, piece.p, piece.end_p, piece.end_k - piece.k, cells, taps,
                   out + piece.k * layer.P * layer.Q);
    if (!more) return;
    __syncthreads();  // nobody reads the piece any more: put the next there
    put(arriving, fetched, cells, taps);
    piece = next;
  }
}

int filters_over_sms(const LayerCall& call, const Division& division) {
  const LayerNumbers& layer = call.layer;
  const auto kernel = dispatch<1, 3, 5, kAnyOther>(
      layer.S, [](auto size) { return filters_over_sms_kernel<size.value>; });
  const int bytes = division.shared_floats(layer) * static_cast<int>(sizeof(float));
  const cudaError_t error =
      cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
  if (error != cudaSuccess) return error;
  kernel<<<division.blocks() * layer.N, kThreads, bytes>>>(call.input, call.filters, call.output,
                                                           layer, division);
  return cudaGetLastError();
}

}  // namespace halo::single_channel_adaptive
