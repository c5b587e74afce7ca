// memcpy copies two words more than there are.
#include <cstring>

__global__ void copy(const int* in, int* out) { memcpy(out + 4 * threadIdx.x, in, 24); }

int main() {
  int *in, *out;
  cudaMalloc(&in, 8 * sizeof(int));
  cudaMalloc(&out, 4 * sizeof(int));
  cudaMemset(in, 0, 8 * sizeof(int));
  copy<<<1, 1>>>(in, out);
  return cudaDeviceSynchronize();
}
