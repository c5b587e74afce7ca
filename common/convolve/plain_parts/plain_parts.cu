// A layer with groups or dilation as plain layers.
//
// Computes   with the kernels here round a kernel for plain layers, the layer's definition: a group is a layer of its own;
//            and outputs whose taps meet the same cells, every dilation-th row and column, are one without dilation.
// How        gather_kernel brings the cells of each plain layer together: a group's channels, and for each place among cells
//            that lie a dilation apart an image of the batch, with its ghost cells as zeros. Any kernel computes
//            that, a launch for each group; scatter_kernel puts its outputs where they belong, adds a bias and
//            applies ReLU. So such layers have all that plain ones have: register tiles, Winograd's, Fourier's.
//            One image without dilation has its groups side by side already: nothing is gathered or scattered.
// Must cost  besides the plain layers', input and output once more in and out.
#include <cuda_runtime.h>

#include "common/convolve/plain_parts/division.hpp"

namespace halo::convolve {

namespace {

constexpr int kThreads = 256;

// A thread for each cell of gathered, [groups][input_pitch], in it [N][a][b][C/G][H'][W']: axis by axis, from the last.
__global__ void __launch_bounds__(kThreads)
    gather_kernel(const float* __restrict__ input,  // [N][C][H][W]
                  float* gathered, const int cells, const PartsDivision layer) {
  const int cell = blockIdx.x * kThreads + threadIdx.x;
  if (cell >= cells) return;
  const PartsAxis &down = layer.down, &across = layer.across;
  const int group = cell / layer.input_pitch;
  int from = cell - group * layer.input_pitch.value, rest = from / across.plain_cells;
  const int j = from - rest * across.plain_cells.value;
  from = rest, rest = from / down.plain_cells;
  const int i = from - rest * down.plain_cells.value;
  from = rest, rest = from / layer.channels;
  const int c = group * layer.channels.value + from - rest * layer.channels.value;
  from = rest, rest = from / across.phases;
  const int b = from - rest * across.phases.value;
  const int n = rest / down.phases, a = rest - n * down.phases.value;
  const int h = i * down.dilation + a * down.stride - down.padding;
  const int w = j * across.dilation + b * across.stride - across.padding;
  // After the last image there may be cells that only fill the pitch.
  const bool exists =
      n < layer.images.value && h >= 0 && h < down.cells && w >= 0 && w < across.cells;
  const int map = n * layer.groups * layer.channels.value + c;
  gathered[cell] = exists ? input[(map * down.cells + h) * across.cells + w] : 0.0f;
}

// A thread for each output. `sums` may be `output`, where each is in its place already.
__global__ void __launch_bounds__(kThreads)
    scatter_kernel(const float* sums,  // [groups][output_pitch], in it [N][a][b][K/G][P'][Q']
                   float* output,      // [N][K][P][Q]
                   const float* bias,  // [K], or null
                   const bool relu, const int outputs, const Divisor by_row,
                   const Divisor by_column, const Divisor by_image, const PartsDivision layer) {
  const int at = blockIdx.x * kThreads + threadIdx.x;
  if (at >= outputs) return;
  const PartsAxis &down = layer.down, &across = layer.across;
  const int row = at / by_row, q = at - row * by_row.value;
  const int plane = row / by_column, p = row - plane * by_column.value;
  const int n = plane / by_image, k = plane - n * by_image.value;
  const int group = k / layer.filters, own_k = k - group * layer.filters.value;
  const int i = p / down.phases, a = p - i * down.phases.value;
  const int j = q / across.phases, b = q - j * across.phases.value;
  const int image = (n * down.phases.value + a) * across.phases.value + b;
  const int own_row = (image * layer.filters.value + own_k) * down.plain_outputs.value + i;
  float sum = sums[group * layer.output_pitch.value + own_row * across.plain_outputs.value + j];
  if (bias != nullptr) sum += bias[k];
  output[at] = relu && sum < 0.0f ? 0.0f : sum;  // fmaxf loses NaN
}

int blocks_of(int threads) { return (threads - 1) / kThreads + 1; }

}  // namespace

int gather_parts(const float* input, float* gathered, const PartsDivision& layer, void* stream) {
  const int cells = layer.groups * layer.input_pitch;
  gather_kernel<<<blocks_of(cells), kThreads, 0, static_cast<cudaStream_t>(stream)>>>(
      input, gathered, cells, layer);
  return cudaGetLastError();
}

int scatter_parts(const float* sums, float* output, const float* bias, bool relu,
                  const PartsDivision& layer, void* stream) {
  const int P = layer.down.outputs, Q = layer.across.outputs, K = layer.groups * layer.filters;
  const int outputs = layer.images * K * P * Q;
  scatter_kernel<<<blocks_of(outputs), kThreads, 0, static_cast<cudaStream_t>(stream)>>>(
      sums, output, bias, relu, outputs, Q, P, K, layer);
  return cudaGetLastError();
}

int copy_filters(const float* filters, float* packed, long long floats) {
  return cudaMemcpyAsync(packed, filters, floats * sizeof(float), cudaMemcpyDeviceToDevice,
                         cudaStreamPerThread);
}

}  // namespace halo::convolve
