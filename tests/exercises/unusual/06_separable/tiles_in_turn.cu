// As many blocks as the GPU holds, which take one tile after the other; the tile is a class.
#include <cuda_runtime.h>

#include "common/exercise/exercise.h"

__constant__ float column_mask[31], row_mask[31];

class Plane {
 public:
  __device__ Plane(float* cells, int columns) : cells_(cells), columns_(columns) {}
  __device__ float& operator()(int r, int c) const { return cells_[r * columns_ + c]; }

 private:
  float* cells_;
  int columns_;
};

__global__ void separable(const float* input, float* output, int H, int W, int R, int S, int across,
                          int tiles) {
  extern __shared__ float memory[];
  const int rows = blockDim.y + R - 1, columns = blockDim.x + S - 1;
  const Plane cells(memory, columns), sums(memory + rows * columns, blockDim.x);
  for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    const int top = tile / across * blockDim.y, left = tile % across * blockDim.x;
    for (int r = threadIdx.y; r < rows; r += blockDim.y) {
      for (int c = threadIdx.x; c < columns; c += blockDim.x) {
        const int h = top + r - R / 2, w = left + c - S / 2;
        cells(r, c) = h >= 0 && h < H && w >= 0 && w < W ? input[h * W + w] : 0.0f;
      }
    }
    __syncthreads();
    for (int r = threadIdx.y; r < rows; r += blockDim.y) {
      float sum = 0.0f;
      for (int s = 0; s < S; ++s) sum += cells(r, threadIdx.x + s) * row_mask[s];
      sums(r, threadIdx.x) = sum;
    }
    __syncthreads();
    float sum = 0.0f;
    for (int r = 0; r < R; ++r) sum += sums(threadIdx.y + r, threadIdx.x) * column_mask[r];
    const int h = top + threadIdx.y, w = left + threadIdx.x;
    if (h < H && w < W) output[h * W + w] = sum;
    __syncthreads();
  }
}

static int launch(const float* input, const float* column, const float* row, float* output, int H,
                  int W, int R, int S, int rows, int columns) {
  cudaMemcpyToSymbol(column_mask, column, R * sizeof(float), 0, cudaMemcpyDeviceToDevice);
  cudaMemcpyToSymbol(row_mask, row, S * sizeof(float), 0, cudaMemcpyDeviceToDevice);
  const int across = (W - 1) / columns + 1, tiles = across * ((H - 1) / rows + 1);
  const size_t bytes = (rows + R - 1) * (columns + S - 1 + columns) * sizeof(float);
  int multiprocessors = 0, each = 0;
  cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0);
  cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, separable, rows * columns, bytes);
  const int blocks = tiles < multiprocessors * each ? tiles : multiprocessors * each;
  separable<<<blocks, dim3(columns, rows), bytes>>>(input, output, H, W, R, S, across, tiles);
  return cudaGetLastError();
}

halo::Exercise halo::exercise() { return launch; }
