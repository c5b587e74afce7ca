// Stage 07, step 1: prefetching alone.
//
// Computes   output[n][k][p][q] = sum over r, s of input[n][p + r - padding_h][q + s - padding_w] *
//            filters[k][r][s]: one channel, stride 1; cells that do not exist are zero.
// Changed    since 06: while a block computes the strip of the map that it has in shared memory,
//            the next strip is on its way into registers. The division is fixed: 16 filters and
//            a band of 16 rows per block, strips of 4.
// Must cost  the map once for every 16 filters, R - 1 rows more for every strip of 4; the filters
//            once for every band; each output once, in whole sectors where the strip begins on one.
// Run        ./halo run 07 --variant prefetch
#include <cuda_runtime.h>

#include "stages/07_single_channel_adaptive/strip.cuh"

namespace halo::single_channel_adaptive {

constexpr int kFilters = 16;  // of a block
constexpr int kBand = 16;     // rows of outputs of a block

// Preconditions: kThreads threads; a block for each band of rows, group of filters and image; shared
// memory holds min(rows + R - 1, H) * W cells, at most kAhead * kThreads, and kFilters filters.
template <int kSize>
__global__ void __launch_bounds__(kThreads, 2) prefetch_kernel(const float* input,    // [N][H][W]
                                                               const float* filters,  // [K][R][S]
                                                               float* output,  // [N][K][P][Q]
                                                               const LayerNumbers layer, int rows) {
  extern __shared__ float on_chip[];
  float* cells = on_chip;                                              // [rows + R - 1][W]
  float* taps = on_chip + min(rows + layer.R - 1, layer.H) * layer.W;  // [kFilters][R][S]

  // What is this block's: a band of rows, a group of filters.
  const int bands = (layer.P + kBand - 1) / kBand;
  const int groups = (layer.K + kFilters - 1) / kFilters;
  const int band = blockIdx.x % bands;
  const int first_k = blockIdx.x / bands % groups * kFilters;
  const int n = blockIdx.x / bands / groups;
  const int last_p = min((band + 1) * kBand, layer.P);
  const int many = min(kFilters, layer.K - first_k);
  const float* map = input + n * layer.H * layer.W;
  float* out = output + (n * layer.K + first_k) * layer.P * layer.Q;

  // The first strip, and the filters: nothing can be computed yet, so nothing is hidden.
  int p = band * kBand;
  int end_p = min(p + rows, last_p);
  const int size = layer.R * layer.S;
  const float* arriving = map + map_row(layer, p) * layer.W;
  int count = (map_row(layer, end_p - 1 + layer.R) - map_row(layer, p)) * layer.W;
#pragma unroll 1
  for (int i = threadIdx.x; i < count; i += kThreads) cells[i] = arriving[i];
#pragma unroll 1
  for (int i = threadIdx.x; i < many * size; i += kThreads) taps[i] = filters[first_k * size + i];

  for (;;) {
    __syncthreads();  // the strip is on chip
    // Fetch the next: into registers now, on chip when the present one is done. Nobody waits for a
    // load until its register is used. (__pipeline_memcpy_async would need no registers, but a
    // second buffer in shared memory: strips of half the size. The paper's D is one strip, and its
    // GPU has no such copy.)
    // [doc:prefetch]
    const bool more = end_p < last_p;
    float next[kAhead];
    if (more) {
      arriving = map + map_row(layer, end_p) * layer.W;
      count = (map_row(layer, min(end_p + rows, last_p) - 1 + layer.R) - map_row(layer, end_p)) *
              layer.W;
#pragma unroll
      for (int j = 0; j < kAhead; ++j) {  // known when it is compiled, so that next is in registers
        const int i = j * kThreads + threadIdx.x;
        if (i < count) next[j] = arriving[i];
      }
    }
    compute<kSize>(layer, p, end_p, many, cells, taps, out);
    if (!more) return;
    __syncthreads();  // nobody reads the strip any more: put the next there
#pragma unroll
    for (int j = 0; j < kAhead; ++j) {
      const int i = j * kThreads + threadIdx.x;
      if (i < count) cells[i] = next[j];
    }
    // [/doc:prefetch]
    p = end_p;
    end_p = min(p + rows, last_p);
  }
}

// `rows` of outputs in a strip: as many as the precondition allows.
int prefetch(const LayerCall& call, int rows) {
  const LayerNumbers& layer = call.layer;
  const int floats = min(rows + layer.R - 1, layer.H) * layer.W + kFilters * layer.R * layer.S;
  const int bands = (layer.P - 1) / kBand + 1;
  const int groups = (layer.K - 1) / kFilters + 1;
  const int blocks = bands * groups * layer.N;  // fewer than outputs, so it fits a grid
  const auto kernel = dispatch<1, 3, 5, kAnyOther>(
      layer.R == layer.S ? layer.S : 0, [](auto size) { return prefetch_kernel<size.value>; });
  kernel<<<blocks, kThreads, floats * sizeof(float)>>>(call.input, call.filters, call.output, layer,
                                                       rows);
  return cudaGetLastError();
}

}  // namespace halo::single_channel_adaptive
