// The sum of the products by a function that calls itself on both halves, and a tile behind an operator [].
#include <cuda_runtime.h>

#include "common/exercise/exercise.h"

__constant__ float mask_constant[1023];

class Tile {
 public:
  __device__ Tile(float* cells, int begin) : cells_(cells), begin_(begin) {}
  __device__ float& operator[](int k) const { return cells_[k - begin_]; }

 private:
  float* cells_;
  int begin_;
};

__device__ __noinline__ float sum_of(const Tile& tile, int k, int first, int count) {
  if (count <= 4) {
    float sum = 0.0f;
    while (count-- > 0) sum += tile[k + first + count] * mask_constant[first + count];
    return sum;
  }
  const int half = count / 2;
  return sum_of(tile, k, first, half) + sum_of(tile, k, first + half, count - half);
}

__global__ void recursive(const float* input, float* output, int n, int width) {
  extern __shared__ float cells[];
  const int begin = static_cast<int>(blockIdx.x * blockDim.x) - (width - 1) / 2;
  const Tile tile(cells, begin);
  for (int k = begin + threadIdx.x; k < begin + static_cast<int>(blockDim.x) + width - 1;
       k += blockDim.x) {
    tile[k] = input[k < 0 ? 0 : k >= n ? n - 1 : k];
  }
  __syncthreads();
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) output[i] = sum_of(tile, begin + threadIdx.x, 0, width);
}

static int launch(const float* input, const float* mask, float* output, int n, int width,
                  int threads) {
  cudaMemcpyToSymbol(mask_constant, mask, width * sizeof *mask, 0, cudaMemcpyDeviceToDevice);
  recursive<<<(n + threads - 1) / threads, threads, (threads + width - 1) * sizeof *input>>>(
      input, output, n, width);
  return cudaPeekAtLastError();
}

halo::Exercise halo::exercise() { return launch; }
