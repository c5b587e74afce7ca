#include <cstdlib>

__global__ void fill(int* out) { out[threadIdx.x] = 1; }

int main() {
  fill<<<1, 32>>>(static_cast<int*>(malloc(32 * sizeof(int))));
  return cudaDeviceSynchronize();
}
