// Kernels and host code for the test of what the simulator tells a program about itself.
#include <cassert>
#include <cstdio>

#include "host_side.hpp"

namespace host_side {

namespace {

__global__ void greet() {
  printf("block %d thread %d\n", blockIdx.x, threadIdx.x);
  printf("a line\n");
}

__global__ void print_lines(int lines) {
  for (int l = 0; l < lines; ++l) printf("line %d of block %d\n", l, blockIdx.x);
}

__global__ void print_pieces() {
  printf("one ");
  printf("%s", "and ");
  printf("two%c", '\n');
  printf("three");
}

__global__ void add_one(int* cells, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) cells[i]++;
}

__global__ void loop_without_end() {
  while (true) asm volatile("");
}

__global__ void assert_few_threads() { assert(threadIdx.x < 3); }

__global__ void write_at(float* cells, int index) { cells[index] = 1; }

}  // namespace

void launch_greetings(int blocks, int threads) { greet<<<blocks, threads>>>(); }
void launch_many_lines(int blocks, int lines) { print_lines<<<blocks, 1>>>(lines); }
void launch_pieces() { print_pieces<<<1, 1>>>(); }
void launch_add_one(int* cells, int count) { add_one<<<(count + 511) / 512, 512>>>(cells, count); }
void launch_endless_loop() { loop_without_end<<<1, 1>>>(); }
void launch_failing_assert() { assert_few_threads<<<1, 8>>>(); }
void launch_write_at(float* cells, int index) { write_at<<<1, 1>>>(cells, index); }

const int allocating_line = __LINE__ + 3;
float* allocate_floats(int count) {
  float* cells = nullptr;
  cudaMalloc(&cells, count * sizeof(float));
  return cells;
}

}  // namespace host_side
