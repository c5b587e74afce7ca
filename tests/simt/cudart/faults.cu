// faults KIND: a kernel that does one thing wrong; says what the calls after it answer.
#include <cooperative_groups.h>

#include <cassert>
#include <cstdio>
#include <cstring>

__global__ void past_the_end(int* numbers, int n) {
  numbers[threadIdx.x + n] = 1;  // past_the_end
}
__global__ void odd_address(int* numbers) {
  *reinterpret_cast<int*>(reinterpret_cast<char*>(numbers) + 2) = 1;  // odd_address
}
__global__ void through_null(int* numbers) {
  *numbers = 1;  // through_null
}
__global__ void wrong_assertion(int n) {
  assert(n > 5);  // wrong_assertion
}
__global__ void trapped() {
  __trap();  // trapped
}
__global__ void updates_beyond(int* numbers, int n) {
  atomicAdd(numbers + n, 1);  // updates_beyond
}
__global__ void half_a_barrier() {
  if (threadIdx.x < 16) cooperative_groups::this_thread_block().sync();  // half_a_barrier
}

int main(int, char** arguments) {
  const char* const kind = arguments[1];
  int *numbers, *others;
  cudaMalloc(&numbers, 32 * sizeof(int));
  cudaMalloc(&others, 32 * sizeof(int));
  const auto is = [&](const char* name) { return std::strcmp(kind, name) == 0; };
  if (is("past_the_end")) past_the_end<<<1, 32>>>(numbers, 1);
  if (is("odd_address")) odd_address<<<1, 1>>>(numbers);
  if (is("through_null")) through_null<<<1, 1>>>(nullptr);
  if (is("after_free")) {
    cudaFree(others);
    through_null<<<1, 1>>>(others);
  }
  if (is("wrong_assertion")) wrong_assertion<<<1, 1>>>(3);
  if (is("trapped")) trapped<<<1, 1>>>();
  if (is("updates_beyond")) updates_beyond<<<1, 1>>>(numbers, 32);
  if (is("half_a_barrier")) half_a_barrier<<<1, 32>>>();
  if (is("host")) numbers[3] = 1;  // host
  // For all that the host knows the kernel is still running.
  std::printf("%s\n", cudaGetErrorName(cudaPeekAtLastError()));
  std::printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
  std::printf("%s\n", cudaGetErrorName(cudaFree(numbers)));
}
