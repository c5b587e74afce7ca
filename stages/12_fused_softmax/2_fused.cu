// Stage 12, step 2: the five steps in one kernel, which pass their results on in shared memory.
//
// Computes   output[n][c] = exp(input[n][c] - m[n]) / sum over c' of exp(input[n][c'] - m[n]) with
//            m[n] = max over c of input[n][c].
// Changed    since 1 five_kernels: each block does all five steps for some images, whose cells it reads
//            once and writes once. Who does what in a step is as before: a thread per image for
//            maximum and sum, all threads for the others. Where kernels ended there are barriers.
// Must cost  per cell one read and one write, 8 bytes, by requests of neighbours; in the shared memory
//            of a block 2 * C requests of one wavefront for its two reductions, however many threads
//            it has: one warp works, seven wait. Rows of more than 11,264 cells: what is beyond is read
//            three times.
// Run        ./halo run 12 --variant fused
#include <cuda_runtime.h>

#include "common/harness/kernel.h"
#include "stages/12_fused_softmax/blocks.h"

namespace halo::fused_softmax {

constexpr int kThreads = 256;

// Preconditions: kThreads threads per block, a block for each tile.images images; dynamic
// shared memory holds the tile.
__global__ void __launch_bounds__(kThreads)
    fused_kernel(const float* input,  // [N][C]
                 float* output,       // [N][C]
                 const int N, const int C, const Tile tile) {
  extern __shared__ float cells[];    // [tile.images][tile.pitch], of which tile.kept are used
  __shared__ float maximum[kImages];  // [tile.images]
  __shared__ float sum[kImages];      // [tile.images]

  const int first_image = blockIdx.x * tile.images;
  const int images = min(tile.images, N - first_image);
  const float* block_input = input + first_image * C;  // [images][C]
  float* block_output = output + first_image * C;      // [images][C]

  // The rows of neighbouring images are one run in memory, numbered consecutively. That costs a
  // division per cell; a warp per row would idle 22 of 32 lanes where there are 10 categories.
  for_own_cells<kThreads>(images * tile.kept, [&](int i) {
    cells[i / tile.kept * tile.pitch + i % tile.kept] = block_input[i];
  });
  __syncthreads();  // the cells are there

  // Step 1, a thread per image. Where rows are kept whole, which is nearly always, the second
  // loop has no turns.
  const int n = threadIdx.x;
  if (n < images) {
    float largest = -INFINITY;
    for (int c = 0; c < tile.kept; ++c) largest = fmaxf(largest, cells[n * tile.pitch + c]);
    for (int c = tile.kept; c < C; ++c) largest = fmaxf(largest, block_input[c]);
    maximum[n] = largest;
  }
  __syncthreads();  // the maxima are there

  // Steps 2 and 3, all threads.
  for_own_cells<kThreads>(images * tile.kept, [&](int i) {
    const int cell = i / tile.kept * tile.pitch + i % tile.kept;
    cells[cell] = expf(cells[cell] - maximum[i / tile.kept]);
  });
  __syncthreads();  // the exponentials are there

  // Step 4, a thread per image.
  if (n < images) {
    const float largest = maximum[n];
    float total = 0.0f;
    for (int c = 0; c < tile.kept; ++c) total += cells[n * tile.pitch + c];
    for (int c = tile.kept; c < C; ++c) total += expf(block_input[c] - largest);
    sum[n] = total;
  }
  __syncthreads();  // the sums are there

  // Step 5, all threads. A cell that was not kept is read once more and its exponential
  // computed again: a second exp costs less than writing the first one out and reading it.
  for_own_cells<kThreads>(images * C, [&](int i) {
    const int row = i / C;
    const int c = i % C;
    const float exponential =
        c < tile.kept ? cells[row * tile.pitch + c] : expf(block_input[i] - maximum[row]);
    block_output[i] = exponential / sum[row];
  });
}

static int launch(const SoftmaxCall& c) {
  const Tile tile = tile_of(c.C);
  const int blocks = (c.N - 1) / tile.images + 1;
  const size_t floats = (tile.images - 1) * tile.pitch + tile.kept;
  fused_kernel<<<blocks, kThreads, floats * sizeof(float)>>>(c.input, c.output, c.N, c.C, tile);
  return cudaGetLastError();
}

SoftmaxKernel fused() {
  return {.description = "one kernel, rows in shared memory; a thread per image in the reductions",
          .launch = launch,
          .tiles = {{.N = kImages}, {.C = kKeptFloats}}};
}

}  // namespace halo::fused_softmax
