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
// Over 120 lines: fetch, compute and put are one method, and stand here together.
#include <cuda_runtime.h>

#include "common/harness/kernel.h"

namespace halo::single_channel_adaptive {

constexpr int kThreads = 512;  // of a block; two blocks per SM, so a thread has 64 registers
constexpr int kAhead = 24;     // of them for the next strip
constexpr int kFilters = 16;   // of a block
constexpr int kBand = 16;      // rows of outputs of a block

// The row of the map with which the windows of output row p begin, as far as such a row exists.
__device__ inline int map_row(const LayerNumbers& layer, int p) {
  return min(max(p - layer.padding_h, 0), layer.H);
}

// Output rows first_p to end_p of some filters. Neighbouring threads have neighbouring pixels, which
// lie side by side in memory; a warp has one filter at a time, so that it reads a tap as one
// broadcast. Where there are fewer pixels than threads, warps share the filters. As Chen et al.
// (2017), whom the paper follows, a thread keeps its window in registers for all filters.
template <int kSize>  // rows and columns of the filters: 1, 3 or 5; 0: any, and no window
__device__ void compute(const LayerNumbers& layer, int first_p, int end_p, int filters,
                        const float* cells,  // shared, [rows of the map][W]
                        const float* taps,   // shared, [filters][R][S]
                        float* output) {     // [filters][P][Q]
  const int pixels = (end_p - first_p) * layer.Q;
  const int pixel_threads = min(kThreads, (pixels + kWarpSize - 1) / kWarpSize * kWarpSize);
  const int filter_threads = min(kThreads / pixel_threads, filters);
  const int filter_thread = threadIdx.x / pixel_threads;
  if (filter_thread >= filter_threads) return;  // warps left over: idle

  const int top = map_row(layer, first_p);
  for (int pixel = threadIdx.x % pixel_threads; pixel < pixels; pixel += pixel_threads) {
    const int first_h = first_p + pixel / layer.Q - layer.padding_h;  // the window's corner
    const int first_w = pixel % layer.Q - layer.padding_w;
    float window[kSize > 0 ? kSize * kSize : 1];
    if constexpr (kSize > 0) {
#pragma unroll
      for (int i = 0; i < kSize * kSize; ++i) {
        const int h = first_h + i / kSize, w = first_w + i % kSize;
        const bool exists = h >= 0 && h < layer.H && w >= 0 && w < layer.W;
        window[i] = exists ? cells[(h - top) * layer.W + w] : 0.0f;
      }
    }
    for (int f = filter_thread; f < filters; f += filter_threads) {
      float sum = 0.0f;
      if constexpr (kSize > 0) {
#pragma unroll
        for (int i = 0; i < kSize * kSize; ++i) sum += window[i] * taps[f * kSize * kSize + i];
      } else {
        for (int r = 0, h = first_h; r < layer.R; ++r, ++h) {
          if (h < 0 || h >= layer.H) continue;
          for (int s = 0, w = first_w; s < layer.S; ++s, ++w) {
            if (w < 0 || w >= layer.W) continue;
            sum += cells[(h - top) * layer.W + w] * taps[(f * layer.R + r) * layer.S + s];
          }
        }
      }
      output[(f * layer.P + first_p) * layer.Q + pixel] = sum;
    }
  }
}

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
