#include <cstdio>

__global__ void moved(const int* in, int* out) { out[threadIdx.x + 1] = in[threadIdx.x]; }

// The host has waited, and heard that the device is lost: what it writes next races with nothing.
int main() {
  int* in;
  int* out;
  cudaMallocManaged(&in, 32 * sizeof(int));
  cudaMalloc(&out, 32 * sizeof(int));
  for (int turn = 0; turn < 2; ++turn) {
    for (int i = 0; i < 32; ++i) in[i] = i;
    moved<<<1, 32>>>(in, out);
    std::printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
  }
  return 0;
}
