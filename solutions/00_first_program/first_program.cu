// Exercise 00: a whole program. The task: README.md beside this file.
//
// Computes   y[i] = a * x[i] + y[i] for i = 0 ... n - 1 on the GPU, called as
//                first_program N A OUTPUT
//            x and y are given below; the result goes to the file OUTPUT, one number per line.
// Must cost  12 bytes of global memory per output, in one kernel that uses as many threads as there is
//            work for. Every call that fails ends the program with one line on stderr and a status that
//            is not 0, before OUTPUT is written.
// Run        ./halo try 00
#include <cuda_runtime.h>

#include <cerrno>
#include <climits>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

float x_at(int i) { return 1.0f + 0.25f * (i % 1009); }
float y_at(int i) { return (i % 13) - 6.0f; }

// Ends the program with one line on stderr that says `what` failed and why, status 1, if there was an error.
void check(cudaError_t error, const char* what) {
  // TODO 1: cudaGetErrorString(error) has the words.
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "first_program: %s: %s\n", what, cudaGetErrorString(error));
  std::exit(1);
  // END 1
}

// Preconditions: gridDim.x * blockDim.x >= n.
__global__ void saxpy(int n, float a, const float* x, float* y) {  // x, y: [n]
  // TODO 2: the thread's output; the last block may reach past the end.
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
  // END 2
}

// Ends the program with one line on stderr, status 1, if the file cannot be written.
void write_numbers(const char* path, const std::vector<float>& numbers) {
  std::FILE* const file = std::fopen(path, "w");
  if (file == nullptr) {
    std::perror(path);
    std::exit(1);
  }
  for (const float number : numbers) std::fprintf(file, "%.9g\n", number);
  if (std::fclose(file) != 0) {
    std::perror(path);
    std::exit(1);
  }
}

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: first_program N A OUTPUT\n");
    return 2;
  }

  // TODO 3: n from argv[1], a whole number of at least 1, and a from argv[2], any finite
  // number. Anything else, such as "0", "-5", "12x" or "", is one line on stderr and status 2.
  // atoi would make 0 of "zwei" and 12 of "12x", and say nothing.
  char* end = nullptr;
  errno = 0;
  const long length = std::strtol(argv[1], &end, 10);
  if (end == argv[1] || *end != '\0' || errno != 0 || length < 1 || length > INT_MAX) {
    std::fprintf(stderr, "first_program: N must be a whole number from 1 on, not \"%s\"\n",
                 argv[1]);
    return 2;
  }
  const int n = static_cast<int>(length);
  const float a = std::strtof(argv[2], &end);
  if (end == argv[2] || *end != '\0' || !std::isfinite(a)) {
    std::fprintf(stderr, "first_program: A must be a number, not \"%s\"\n", argv[2]);
    return 2;
  }
  // END 3

  std::vector<float> x(n), y(n);
  for (int i = 0; i < n; ++i) {
    x[i] = x_at(i);
    y[i] = y_at(i);
  }

  // TODO 4: memory on the GPU for both, both copied there, the kernel, y copied back, the memory freed.
  // Each step can fail, the launch too.
  const std::size_t bytes = n * sizeof(float);
  float* x_device = nullptr;
  float* y_device = nullptr;
  check(cudaMalloc(&x_device, bytes), "memory for x");
  check(cudaMalloc(&y_device, bytes), "memory for y");
  check(cudaMemcpy(x_device, x.data(), bytes, cudaMemcpyHostToDevice), "copying x to the GPU");
  check(cudaMemcpy(y_device, y.data(), bytes, cudaMemcpyHostToDevice), "copying y to the GPU");

  constexpr int kThreads = 256;
  saxpy<<<(n - 1) / kThreads + 1, kThreads>>>(n, a, x_device, y_device);
  check(cudaGetLastError(), "starting saxpy");  // a launch returns nothing
  check(cudaDeviceSynchronize(),
        "running saxpy");  // what goes wrong inside is known when it has ended

  check(cudaMemcpy(y.data(), y_device, bytes, cudaMemcpyDeviceToHost), "copying y back");
  check(cudaFree(x_device), "freeing x");
  check(cudaFree(y_device), "freeing y");
  // END 4

  write_numbers(argv[3], y);
  return 0;
}
