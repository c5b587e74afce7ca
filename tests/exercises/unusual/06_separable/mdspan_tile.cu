// The picture, the tile and the sums are mdspans; the two passes are lambdas.
#include <cuda_runtime.h>

#include <cuda/std/mdspan>

#include "common/exercise/exercise.h"

__constant__ float column_taps[31], row_taps[31];

template <class T>
using Map = cuda::std::mdspan<T, cuda::std::dextents<int, 2>>;

__global__ void mdspans(Map<const float> input, Map<float> output, int R, int S) {
  extern __shared__ float storage[];
  const int rows = blockDim.y, columns = blockDim.x;
  const Map<float> tile(storage, rows + R - 1, columns + S - 1);
  const Map<float> sums(storage + tile.size(), rows + R - 1, columns);
  const int h0 = blockIdx.y * rows - R / 2, w0 = blockIdx.x * columns - S / 2;
  const auto for_each = [&](const Map<float>& map, auto value) {
    for (int r = threadIdx.y; r < map.extent(0); r += rows) {
      for (int c = threadIdx.x; c < map.extent(1); c += columns) map(r, c) = value(r, c);
    }
    __syncthreads();
  };
  for_each(tile, [&](int r, int c) {
    const int h = h0 + r, w = w0 + c;
    return h >= 0 && h < input.extent(0) && w >= 0 && w < input.extent(1) ? input(h, w) : 0.0f;
  });
  for_each(sums, [&](int r, int c) {
    float sum = 0.0f;
    for (int s = 0; s < S; ++s) sum += tile(r, c + s) * row_taps[s];
    return sum;
  });
  const int h = blockIdx.y * rows + threadIdx.y, w = blockIdx.x * columns + threadIdx.x;
  if (h >= output.extent(0) || w >= output.extent(1)) return;
  float sum = 0.0f;
  for (int r = 0; r < R; ++r) sum += sums(threadIdx.y + r, threadIdx.x) * column_taps[r];
  output(h, w) = sum;
}

static int launch(const float* input, const float* column, const float* row, float* output, int H,
                  int W, int R, int S, int rows, int columns) {
  cudaMemcpyToSymbol(column_taps, column, R * sizeof(float), 0, cudaMemcpyDeviceToDevice);
  cudaMemcpyToSymbol(row_taps, row, S * sizeof(float), 0, cudaMemcpyDeviceToDevice);
  const int floats = (rows + R - 1) * (2 * columns + S - 1);
  mdspans<<<dim3((W - 1) / columns + 1, (H - 1) / rows + 1), dim3(columns, rows),
            floats * sizeof(float)>>>(Map<const float>(input, H, W), Map<float>(output, H, W), R,
                                      S);
  return cudaGetLastError();
}

halo::Exercise halo::exercise() { return launch; }
