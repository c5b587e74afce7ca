#include "tests/harness/planted/planted_operations.hpp"

namespace halo::planted {

namespace {

constexpr int kSide = 8;
constexpr int kThreads = 64;

template <bool waits>
__global__ void transform_kernel(const float* input, float* output, int images, int cells) {
  __shared__ float tile[kSide][kSide + 1];  // [cell][image]
  const int n = blockIdx.x * kSide + threadIdx.x, cell = blockIdx.y * kSide + threadIdx.y;
  if (n < images && cell < cells) tile[threadIdx.y][threadIdx.x] = input[cell * images + n];
  // [bug:no-barrier-transform] unless it waits.
  if (waits) __syncthreads();
  const int to_n = blockIdx.x * kSide + threadIdx.y, to_cell = blockIdx.y * kSide + threadIdx.x;
  if (to_n < images && to_cell < cells) {
    output[to_n * cells + to_cell] = tile[threadIdx.x][threadIdx.y];
  }
}

// The largest, or NaN.
__device__ float largest_of(const float* row, int cells) {
  float largest = row[0];
  for (int c = 1; c < cells; ++c) {
    if (!(row[c] <= largest)) largest = row[c];
    if (isnan(largest)) break;
  }
  return largest;
}

__device__ float sum_of(const float* row, int cells, float largest) {
  float sum = 0;
  for (int c = 0; c < cells; ++c) sum += expf(row[c] - largest);
  return sum;
}

__global__ void largest_kernel(const float* input, float* workspace, int images, int cells) {
  const int n = blockIdx.x * blockDim.x + threadIdx.x;
  if (n < images) workspace[n] = largest_of(input + n * cells, cells);
}

__global__ void rows_kernel(const float* input, float* output, const float* workspace, int images,
                            int cells) {
  const int n = blockIdx.x * blockDim.x + threadIdx.x;
  if (n >= images) return;
  const float* row = input + n * cells;
  const float largest = workspace[n];
  const float sum = sum_of(row, cells, largest);
  for (int c = 0; c < cells; ++c) output[n * cells + c] = expf(row[c] - largest) / sum;
}

__global__ void stale_kernel(const float* input, float* output, const float* workspace, int images,
                             int cells) {
  const int n = blockIdx.x * blockDim.x + threadIdx.x;
  if (n >= images) return;
  const float* row = input + n * cells;
  const float old = workspace[n];  // [bug:stale-softmax]
  const float largest = largest_of(row, cells) + (old == 1e30f ? old : 0.0f);
  const float sum = sum_of(row, cells, largest);
  for (int c = 0; c < cells; ++c) output[n * cells + c] = expf(row[c] - largest) / sum;
}

__global__ void curious_kernel(const float* input, float* output, int images, int cells) {
  const int n = blockIdx.x * blockDim.x + threadIdx.x;
  if (n >= images) return;
  const float* row = input + n * cells;
  const float largest = largest_of(row, cells);
  float sum = 0;
  for (int c = 0; c <= cells; ++c) {
    const float one = expf(row[c] - largest);  // [bug:curious-softmax] c == cells
    if (c < cells) sum += one;
  }
  for (int c = 0; c < cells; ++c) output[n * cells + c] = expf(row[c] - largest) / sum;
}

dim3 tiles(int images, int cells) {
  return dim3((images + kSide - 1) / kSide, (cells + kSide - 1) / kSide);
}

int blocks(int images) { return (images + kThreads - 1) / kThreads; }

}  // namespace

cudaError_t right_transform(const float* input, float* output, int images, int cells) {
  transform_kernel<true>
      <<<tiles(images, cells), dim3(kSide, kSide)>>>(input, output, images, cells);
  return cudaGetLastError();
}

cudaError_t no_barrier_transform(const float* input, float* output, int images, int cells) {
  transform_kernel<false>
      <<<tiles(images, cells), dim3(kSide, kSide)>>>(input, output, images, cells);
  return cudaGetLastError();
}

cudaError_t staged_softmax(const float* input, float* output, float* workspace, int images,
                           int cells) {
  largest_kernel<<<blocks(images), kThreads>>>(input, workspace, images, cells);
  rows_kernel<<<blocks(images), kThreads>>>(input, output, workspace, images, cells);
  return cudaGetLastError();
}

cudaError_t stale_softmax(const float* input, float* output, float* workspace, int images,
                          int cells) {
  stale_kernel<<<blocks(images), kThreads>>>(input, output, workspace, images, cells);
  return cudaGetLastError();
}

cudaError_t curious_softmax(const float* input, float* output, int images, int cells) {
  curious_kernel<<<blocks(images), kThreads>>>(input, output, images, cells);
  return cudaGetLastError();
}

}  // namespace halo::planted
