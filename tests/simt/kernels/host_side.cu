// Kernels and host code for the test of what the simulator tells a program about itself.
#include <cassert>
#include <cstdio>
#include <cstdlib>

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

__constant__ float constant_cells[4];
__constant__ float unasked_cells[4];
__device__ float device_cells[4];
__managed__ float managed_cells[4];
float namespace_cells[4] = {1, 2, 3, 4};

__global__ void read_array(const float* cells, float* sum) {
  static const float weights[] = {0.5f, 1.5f, 2.5f, 3.5f};
  const char* const letters = "letters";
  *sum = cells[1] * weights[threadIdx.x + 1] + letters[threadIdx.x];
}

__global__ void read_text(const char* text, float* sum) { *sum = text[threadIdx.x]; }

struct Cell {
  int value;
  Cell* next;
  __device__ Cell(int v, Cell* n) : value(v), next(n) {}
};

__device__ Cell* first_cell;

__global__ void make_list(int count, int* made) {
  for (int i = 0; i < count; ++i) {
    void* const room = malloc(sizeof(Cell));
    if (room == nullptr) return;
    Cell* const cell = new (room) Cell(i, first_cell);
    first_cell = cell;
    ++*made;
  }
}

__global__ void sum_list(int* sum) {
  int* const values = (int*)malloc(100 * sizeof(int));
  int count = 0;
  while (first_cell != nullptr) {
    Cell* const cell = first_cell;
    first_cell = cell->next;
    values[count++] = cell->value;
    free(cell);
  }
  for (int i = 0; i < count; ++i) *sum += values[i];
  free(values);
  int* const more = new int[10];
  more[9] = 1000;
  *sum += more[9];
  delete[] more;
}

struct Shape {
  __device__ virtual int area() const { return 1; }
};
struct Square : Shape {
  int side;
  __device__ explicit Square(int s) : side(s) {}
  __device__ int area() const override { return side * side; }
};

__global__ void virtual_areas(int* sum) {
  Shape* const shape = new Square(threadIdx.x);
  atomicAdd(sum, shape->area());
  delete shape;
}

__global__ void use_after_free(int* out) {
  int* const cell = (int*)malloc(sizeof(int));
  *cell = 5;
  free(cell);
  *out = *cell;
}

__global__ void free_twice() {
  void* const block = malloc(8);
  free(block);
  free(block);
}

int* device_integer() {
  int* integer = nullptr;
  cudaMalloc(&integer, sizeof(int));
  cudaMemset(integer, 0, sizeof(int));
  return integer;
}

int value_of(int* integer) {
  int value = 0;
  cudaMemcpy(&value, integer, sizeof(int), cudaMemcpyDeviceToHost);
  return value;
}

}  // namespace

void launch_reading_host_array(int kind) {
  static float local_cells[4] = {1, 2, 3, 4};
  static const float table_cells[4] = {1, 2, 3, 4};
  static const std::vector<float> heap_cells(4, 1.0f);
  float stack_cells[4] = {1, 2, 3, 4};
  const float* const arrays[] = {local_cells,       table_cells, namespace_cells, nullptr,
                                 heap_cells.data(), stack_cells, constant_cells};
  void* address = nullptr;
  if (kind == 7) cudaGetSymbolAddress(&address, constant_cells);
  float* sum = nullptr;
  cudaMalloc(&sum, sizeof(float));
  if (kind == 3) {
    read_text<<<1, 1>>>("a string of some length", sum);
    return;
  }
  read_array<<<1, 1>>>(kind == 7 ? (const float*)address : arrays[kind], sum);
}

std::vector<cudaError_t> copy_by_name() {
  std::vector<cudaError_t> errors;
  float cells[4] = {5, 6, 7, 8};
  errors.push_back(cudaMemcpy(device_cells, cells, sizeof cells, cudaMemcpyHostToDevice));
  errors.push_back(cudaMemcpy(cells, unasked_cells, sizeof cells, cudaMemcpyDeviceToHost));
  errors.push_back(cudaMemset(device_cells, 0, sizeof cells));
  errors.push_back(cudaMemcpyToSymbol(device_cells, cells, sizeof cells));
  void* address = nullptr;
  cudaGetSymbolAddress(&address, device_cells);
  errors.push_back(cudaMemcpy(address, cells, sizeof cells, cudaMemcpyHostToDevice));
  errors.push_back(cudaMemset(address, 0, sizeof cells));
  errors.push_back(cudaMemcpy(managed_cells, cells, sizeof cells, cudaMemcpyDefault));
  return errors;
}

std::vector<int> use_the_heap(std::size_t limit) {
  cudaDeviceSetLimit(cudaLimitMallocHeapSize, limit);
  int* const made = device_integer();
  int* const sum = device_integer();
  make_list<<<1, 1>>>(20, made);
  if (limit >= 10000) {
    sum_list<<<1, 1>>>(sum);
    virtual_areas<<<1, 5>>>(sum);
  }
  return {value_of(made), value_of(sum)};
}

void launch_use_after_free_of_heap() { use_after_free<<<1, 1>>>(device_integer()); }
void launch_free_twice() { free_twice<<<1, 1>>>(); }

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
