// A dilated layer as a plain one on more and smaller images.
//
// Computes   with dilation_kernels round a kernel for plain layers, the layer's definition: outputs whose taps meet the same
//            cells, every dilation-th row and column, are a layer of their own, without dilation.
// How        gather_kernel brings the cells of each such layer together, as an image of the batch, with its ghost cells as zeros;
//            any kernel computes that; scatter_kernel puts its outputs where they belong, adds a bias and
//            applies ReLU. So dilated layers have all that plain ones have: register tiles, Winograd's, Fourier's.
// Must cost  besides the plain layer's, input and output once more in and out.
#include <cuda_runtime.h>

#include "common/convolve/dilated/division.hpp"

namespace halo::convolve {

namespace {

constexpr int kThreads = 256;

// A thread for each cell of gathered, [N][a][b][C][H'][W'].
__global__ void __launch_bounds__(kThreads)
    gather_kernel(const float* __restrict__ input,  // [N][C][H][W]
                  float* gathered, const int cells, const DilatedDivision layer) {
  const int cell = blockIdx.x * kThreads + threadIdx.x;
  if (cell >= cells) return;
  const DilatedAxis &down = layer.down, &across = layer.across;
  int rest = cell / across.plain_cells;
  const int j = cell - rest * across.plain_cells.value;
  const int above = rest / down.plain_cells;
  const int i = rest - above * down.plain_cells.value;
  rest = above / layer.channels;
  const int c = above - rest * layer.channels.value;
  const int of_image = rest / across.phases;
  const int b = rest - of_image * across.phases.value;
  const int n = of_image / down.phases;
  const int a = of_image - n * down.phases.value;
  const int h = i * down.dilation + a * down.stride - down.padding;
  const int w = j * across.dilation + b * across.stride - across.padding;
  const bool exists = h >= 0 && h < down.cells && w >= 0 && w < across.cells;
  gathered[cell] =
      exists ? input[((n * layer.channels.value + c) * down.cells + h) * across.cells + w] : 0.0f;
}

// A thread for each output.
__global__ void __launch_bounds__(kThreads)
    scatter_kernel(const float* __restrict__ sums,  // [N][a][b][K][P'][Q']
                   float* output,                   // [N][K][P][Q]
                   const float* bias,               // [K], or null
                   const bool relu, const int outputs, const Divisor by_row,
                   const Divisor by_column, const DilatedDivision layer) {
  const int at = blockIdx.x * kThreads + threadIdx.x;
  if (at >= outputs) return;
  const DilatedAxis &down = layer.down, &across = layer.across;
  const int row = at / by_row, q = at - row * by_row.value;
  const int plane = row / by_column, p = row - plane * by_column.value;
  const int n = plane / layer.filters, k = plane - n * layer.filters.value;
  const int i = p / down.phases, a = p - i * down.phases.value;
  const int j = q / across.phases, b = q - j * across.phases.value;
  const int image = (n * down.phases.value + a) * across.phases.value + b;
  float sum = sums[((image * layer.filters.value + k) * down.plain_outputs.value + i) *
                       across.plain_outputs.value +
                   j];
  if (bias != nullptr) sum += bias[k];
  output[at] = relu && sum < 0.0f ? 0.0f : sum;  // fmaxf loses NaN
}

int blocks_of(int threads) { return (threads - 1) / kThreads + 1; }

}  // namespace

int gather_dilated(const float* input, float* gathered, int cells, const DilatedDivision& layer,
                   void* stream) {
  gather_kernel<<<blocks_of(cells), kThreads, 0, static_cast<cudaStream_t>(stream)>>>(
      input, gathered, cells, layer);
  return cudaGetLastError();
}

int scatter_dilated(const float* sums, float* output, const float* bias, bool relu, int outputs,
                    const DilatedDivision& layer, void* stream) {
  scatter_kernel<<<blocks_of(outputs), kThreads, 0, static_cast<cudaStream_t>(stream)>>>(
      sums, output, bias, relu, outputs, layer.across.outputs, layer.down.outputs, layer);
  return cudaGetLastError();
}

}  // namespace halo::convolve
