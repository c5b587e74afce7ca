// Blocks of which some are apart and some meet: what is printed and told is the same on any number of threads.
#include <cstdio>
#include <vector>

#include "expect.hpp"

constexpr int kThreads = 256, kBlocks = 64, kCells = kThreads * kBlocks;

__global__ void apart(int* cells) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  cells[i] += i;
}

// The neighbour's first cell may have grown already.
__global__ void meet(int* cells) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  cells[i] += cells[(i + kThreads) % kCells];
}

// The last block's number stays.
__global__ void leave_number(int* last) { *last = static_cast<int>(blockIdx.x); }

// A block's own fault, and one of all of them.
__global__ void forget_barrier(int* cells) {
  __shared__ int part[kThreads];
  const int t = threadIdx.x;
  part[t] = t;
  if (blockIdx.x != 7) __syncthreads();
  cells[blockIdx.x * kThreads + t] = part[(t + 32) % kThreads];
}

__global__ void add(float* sum) {
  atomicAdd(sum, 1.0f / static_cast<float>(1 + blockIdx.x * blockDim.x + threadIdx.x));
}

__global__ void read_unwritten(const int* cells, int* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = cells[i];
}

__global__ void leave_array(int* cells) {
  cells[blockIdx.x == 60 ? kCells + threadIdx.x : blockIdx.x * blockDim.x + threadIdx.x] = 1;
}

int sum_of(const int* cells) {
  std::vector<int> all(kCells);
  expect_error(cudaMemcpy(all.data(), cells, kCells * sizeof(int), cudaMemcpyDeviceToHost),
               cudaSuccess, __LINE__);
  unsigned sum = 0;
  for (const int one : all) sum = sum * 31 + static_cast<unsigned>(one);
  return static_cast<int>(sum);
}

int main() {
  int *cells = nullptr, *unwritten = nullptr, *last = nullptr;
  float* sum = nullptr;
  expect_error(cudaMalloc(&cells, kCells * sizeof(int)), cudaSuccess, __LINE__);
  expect_error(cudaMalloc(&unwritten, kCells * sizeof(int)), cudaSuccess, __LINE__);
  expect_error(cudaMalloc(&last, sizeof(int)), cudaSuccess, __LINE__);
  expect_error(cudaMalloc(&sum, sizeof(float)), cudaSuccess, __LINE__);
  expect_error(cudaMemset(cells, 0, kCells * sizeof(int)), cudaSuccess, __LINE__);
  expect_error(cudaMemset(sum, 0, sizeof(float)), cudaSuccess, __LINE__);
  apart<<<kBlocks, kThreads>>>(cells);
  std::printf("apart %d\n", sum_of(cells));
  for (int i = 0; i < 3; ++i) meet<<<kBlocks, kThreads>>>(cells);
  std::printf("meet %d\n", sum_of(cells));
  leave_number<<<kBlocks, kThreads>>>(last);
  int number = 0;
  expect_error(cudaMemcpy(&number, last, sizeof number, cudaMemcpyDeviceToHost), cudaSuccess,
               __LINE__);
  std::printf("number %d\n", number);
  forget_barrier<<<kBlocks, kThreads>>>(cells);
  std::printf("forget %d\n", sum_of(cells));
  add<<<kBlocks, kThreads>>>(sum);
  float total = 0;
  expect_error(cudaMemcpy(&total, sum, sizeof total, cudaMemcpyDeviceToHost), cudaSuccess,
               __LINE__);
  std::printf("add %.9g\n", total);
  read_unwritten<<<kBlocks, kThreads>>>(unwritten, cells);
  std::printf("unwritten %d\n", sum_of(cells));
  apart<<<kBlocks, kThreads>>>(unwritten);
  leave_array<<<kBlocks, kThreads>>>(cells);
  std::printf("leave %d\n", static_cast<int>(cudaDeviceSynchronize()));
  return verdict();
}
