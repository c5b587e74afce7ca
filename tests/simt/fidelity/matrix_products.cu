// Matrix products from the plain loop to register tiles, and products of a matrix with a vector.
#include <cuda_runtime.h>

#include "launches.hpp"

namespace fidelity {
namespace {

__global__ void plain_product(const float* a, const float* b, float* c, int m, int n, int k) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= m || column >= n) return;
  float sum = 0;
  for (int i = 0; i < k; ++i) sum += a[row * k + i] * b[i * n + column];
  c[row * n + column] = sum;
}

// The row runs with threadIdx.x: nothing is coalesced.
__global__ void product_by_rows(const float* a, const float* b, float* c, int n) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  const int column = blockIdx.y * blockDim.y + threadIdx.y;
  float sum = 0;
  for (int i = 0; i < n; ++i) sum += a[row * n + i] * b[i * n + column];
  c[row * n + column] = sum;
}

template <int kTile>
__global__ void tiled_product(const float* a, const float* b, float* c, int n) {
  __shared__ float tile_a[kTile][kTile], tile_b[kTile][kTile];
  const int x = threadIdx.x, y = threadIdx.y;
  const int row = blockIdx.y * kTile + y, column = blockIdx.x * kTile + x;
  float sum = 0;
  for (int t = 0; t < n; t += kTile) {
    tile_a[y][x] = a[row * n + t + x];
    tile_b[y][x] = b[(t + y) * n + column];
    __syncthreads();
    for (int i = 0; i < kTile; ++i) sum += tile_a[y][i] * tile_b[i][x];
    __syncthreads();
  }
  c[row * n + column] = sum;
}

__global__ void tiled_product_of_any_size(const float* a, const float* b, float* c, int m, int n,
                                          int k) {
  __shared__ float tile_a[16][16], tile_b[16][16];
  const int x = threadIdx.x, y = threadIdx.y;
  const int row = blockIdx.y * 16 + y, column = blockIdx.x * 16 + x;
  float sum = 0;
  for (int t = 0; t < (k + 15) / 16; ++t) {
    tile_a[y][x] = row < m && t * 16 + x < k ? a[row * k + t * 16 + x] : 0;
    tile_b[y][x] = t * 16 + y < k && column < n ? b[(t * 16 + y) * n + column] : 0;
    __syncthreads();
    for (int i = 0; i < 16; ++i) sum += tile_a[y][i] * tile_b[i][x];
    __syncthreads();
  }
  if (row < m && column < n) c[row * n + column] = sum;
}

// Each thread has a column of 8 results.
__global__ void one_dimensional_tiles(const float* a, const float* b, float* c, int n) {
  __shared__ float tile_a[64 * 8], tile_b[8 * 64];
  const int column = threadIdx.x % 64, strip = threadIdx.x / 64;
  const float* from_a = a + blockIdx.y * 64 * n;
  const float* from_b = b + blockIdx.x * 64;
  float sums[8] = {};
  for (int t = 0; t < n; t += 8) {
    tile_a[threadIdx.x] = from_a[threadIdx.x / 8 * n + t + threadIdx.x % 8];
    tile_b[threadIdx.x] = from_b[(t + threadIdx.x / 64) * n + threadIdx.x % 64];
    __syncthreads();
    for (int i = 0; i < 8; ++i) {
      const float factor = tile_b[i * 64 + column];
      for (int r = 0; r < 8; ++r) sums[r] += tile_a[(strip * 8 + r) * 8 + i] * factor;
    }
    __syncthreads();
  }
  for (int r = 0; r < 8; ++r) {
    c[(blockIdx.y * 64 + strip * 8 + r) * n + blockIdx.x * 64 + column] = sums[r];
  }
}

// 4 x 4 results a thread, float4 to and from memory, the left tile transposed.
__global__ void two_dimensional_tiles(const float* a, const float* b, float* c, int n) {
  __shared__ float tile_a[8][64];
  __shared__ float tile_b[8][64];
  const int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
  float sums[4][4] = {};
  for (int t = 0; t < n; t += 8) {
    if (threadIdx.x < 128) {
      const int row = threadIdx.x / 2, k = threadIdx.x % 2 * 4;
      const float4 four = *reinterpret_cast<const float4*>(a + (blockIdx.y * 64 + row) * n + t + k);
      tile_a[k][row] = four.x;
      tile_a[k + 1][row] = four.y;
      tile_a[k + 2][row] = four.z;
      tile_a[k + 3][row] = four.w;
    } else {
      const int k = (threadIdx.x - 128) / 16, column = threadIdx.x % 16 * 4;
      *reinterpret_cast<float4*>(&tile_b[k][column]) =
          *reinterpret_cast<const float4*>(b + (t + k) * n + blockIdx.x * 64 + column);
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      float left[4], right[4];
#pragma unroll
      for (int r = 0; r < 4; ++r) left[r] = tile_a[i][ty * 4 + r];
#pragma unroll
      for (int s = 0; s < 4; ++s) right[s] = tile_b[i][tx * 4 + s];
#pragma unroll
      for (int r = 0; r < 4; ++r) {
#pragma unroll
        for (int s = 0; s < 4; ++s) sums[r][s] += left[r] * right[s];
      }
    }
    __syncthreads();
  }
#pragma unroll
  for (int r = 0; r < 4; ++r) {
    float4* to = reinterpret_cast<float4*>(c + (blockIdx.y * 64 + ty * 4 + r) * n +
                                           blockIdx.x * 64 + tx * 4);
    *to = make_float4(sums[r][0], sums[r][1], sums[r][2], sums[r][3]);
  }
}

__global__ void vector_by_threads(const float* a, const float* x, float* y, int rows, int columns) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float sum = 0;
  for (int c = 0; c < columns; ++c) sum += a[row * columns + c] * x[c];
  y[row] = sum;
}

__global__ void vector_by_warps(const float* a, const float* x, float* y, int rows, int columns) {
  const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (row >= rows) return;
  float sum = 0;
  for (int c = lane; c < columns; c += 32) sum += a[row * columns + c] * x[c];
  for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(0xffffffff, sum, step);
  if (lane == 0) y[row] = sum;
}

__global__ void sparse_rows(const int* starts, const int* columns, const float* values,
                            const float* x, float* y, int rows) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float sum = 0;
  for (int i = starts[row]; i < starts[row + 1]; ++i) sum += values[i] * x[columns[i]];
  y[row] = sum;
}

__global__ void double_product(const double* a, const double* b, double* c, int n) {
  __shared__ double tile_a[8][8], tile_b[8][9];
  const int x = threadIdx.x, y = threadIdx.y;
  double sum = 0;
  for (int t = 0; t < n; t += 8) {
    tile_a[y][x] = a[(blockIdx.y * 8 + y) * n + t + x];
    tile_b[y][x] = b[(t + y) * n + blockIdx.x * 8 + x];
    __syncthreads();
#pragma unroll
    for (int i = 0; i < 8; ++i) sum += tile_a[y][i] * tile_b[i][x];
    __syncthreads();
  }
  c[(blockIdx.y * 8 + y) * n + blockIdx.x * 8 + x] = sum;
}

}  // namespace

void matrix_products() {
  constexpr int kN = 128;
  Array<float> a(kN * kN), b(kN * kN), c(kN * kN);
  plain_product<<<dim3(3, 5), dim3(32, 8)>>>(a.data(), b.data(), c.data(), 37, 70, 45);
  tell("plain product", c);
  product_by_rows<<<dim3(4, 4), dim3(16, 16)>>>(a.data(), b.data(), c.data(), 64);
  tell("product by rows", c);
  tiled_product<8><<<dim3(8, 8), dim3(8, 8)>>>(a.data(), b.data(), c.data(), 64);
  tell("tiled product 8", c);
  tiled_product<16><<<dim3(4, 4), dim3(16, 16)>>>(a.data(), b.data(), c.data(), 64);
  tell("tiled product 16", c);
  tiled_product<32><<<dim3(4, 4), dim3(32, 32)>>>(a.data(), b.data(), c.data(), kN);
  tell("tiled product 32", c);
  tiled_product_of_any_size<<<dim3(5, 3), dim3(16, 16)>>>(a.data(), b.data(), c.data(), 37, 70, 45);
  tell("tiled product of any size", c);
  one_dimensional_tiles<<<dim3(2, 2), 512>>>(a.data(), b.data(), c.data(), kN);
  tell("one-dimensional tiles", c);
  two_dimensional_tiles<<<dim3(2, 2), 256>>>(a.data(), b.data(), c.data(), kN);
  tell("two-dimensional tiles", c);
  vector_by_threads<<<2, 64>>>(a.data(), b.data(), c.data(), 100, 77);
  tell("vector by threads", c);
  vector_by_warps<<<25, 128>>>(a.data(), b.data(), c.data(), 100, 77);
  tell("vector by warps", c);
  std::vector<int> starts{0}, columns;
  for (int row = 0; row < 100; ++row) {
    for (int i = 0; i < row * 7 % 11; ++i) columns.push_back((row * 13 + i * 17) % 100);
    starts.push_back(static_cast<int>(columns.size()));
  }
  Array<int> device_starts(starts.size()), device_columns(columns.size());
  require(cudaMemcpy(device_starts.data(), starts.data(), starts.size() * sizeof(int),
                     cudaMemcpyHostToDevice),
          "cudaMemcpy");
  require(cudaMemcpy(device_columns.data(), columns.data(), columns.size() * sizeof(int),
                     cudaMemcpyHostToDevice),
          "cudaMemcpy");
  sparse_rows<<<2, 64>>>(device_starts.data(), device_columns.data(), a.data(), b.data(), c.data(),
                         100);
  tell("sparse rows", c);
  Array<double> da(32 * 32), db(32 * 32), dc(32 * 32);
  double_product<<<dim3(4, 4), dim3(8, 8)>>>(da.data(), db.data(), dc.data(), 32);
  tell("double product", dc);
}

}  // namespace fidelity
