#include <cassert>

__global__ void check(int n) { assert(threadIdx.x < n); }

int main() {
  check<<<1, 32>>>(30);
  return cudaDeviceSynchronize();
}
