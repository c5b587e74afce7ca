// The product of two matrices. A block has 16 rows and 64 columns of it, a thread four columns side by side; tiles
// of both factors go through shared memory. Four cells of b are read at a time where that can be.
#include <cuda_runtime.h>

#include "common/exercise/exercise.h"

constexpr int kTile = 16;

__global__ void product(const float* a,  // [M][K]
                        const float* b,  // [K][N]
                        float* c,        // [M][N]
                        int M, int N, int K) {
  __shared__ float a_tile[kTile][kTile];
  __shared__ float4 b_tile[kTile][kTile];
  const int row = blockIdx.y * kTile + threadIdx.y;
  const int column = (blockIdx.x * kTile + threadIdx.x) * 4;

  float sums[4] = {};
  for (int first = 0; first < K; first += kTile) {
    const int k_of_a = first + threadIdx.x, k_of_b = first + threadIdx.y;
    a_tile[threadIdx.y][threadIdx.x] = row < M && k_of_a < K ? a[row * K + k_of_a] : 0.0f;

    const float* cells = b + k_of_b * N + column;
    float4 four = {};
    if (k_of_b < K && N % 4 == 0 && column < N) {
      four = *reinterpret_cast<const float4*>(cells);
    } else if (k_of_b < K) {
      if (column < N) four.x = cells[0];
      if (column + 1 < N) four.y = cells[1];
      if (column + 2 < N) four.z = cells[2];
      if (column + 3 < N) four.w = cells[3];
    }
    b_tile[threadIdx.y][threadIdx.x] = four;
    __syncthreads();

    // [doc:sums]
    for (int k = 0; k < kTile; ++k) {
      const float of_a = a_tile[threadIdx.y][k];
      const float4 of_b = b_tile[k][threadIdx.x];
      sums[0] += of_a * of_b.x;
      sums[1] += of_a * of_b.y;
      sums[2] += of_a * of_b.z;
      sums[3] += of_a * of_b.w;
    }
    // [/doc:sums]
    __syncthreads();
  }
  for (int j = 0; j < 4; ++j) {
    if (row < M && column + j < N) c[row * N + column + j] = sums[j];
  }
}

static int launch(const float* a, const float* b, float* c, int M, int N, int K) {
  const dim3 blocks((N + 4 * kTile - 1) / (4 * kTile), (M + kTile - 1) / kTile);
  product<<<blocks, dim3(kTile, kTile)>>>(a, b, c, M, N, K);
  return cudaGetLastError();
}

halo::Exercise halo::exercise() { return launch; }
