// As CUB merges two lists: the key behind the end is read and compared, and the outcome counts for nothing.
#include <cstdio>

__global__ void merge(const int* in, int* out, int first, int all) {
  __shared__ int keys[64];
  const int t = threadIdx.x;
  if (t < all) keys[t] = in[t];
  __syncthreads();
  if (t != 0) return;
  int a = 0, b = first;
  int key_a = keys[a], key_b = keys[b];
  int merged[8];
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    const bool takes_b = b < all && (a >= first || key_b < key_a);
    merged[i] = takes_b ? key_b : key_a;
    if (takes_b) {
      key_b = keys[++b];
    } else {
      key_a = keys[++a];
    }
  }
  // What lies behind the lists goes through shared memory too, and no further.
#pragma unroll
  for (int i = 0; i < 8; ++i) keys[i] = merged[i];
  for (int i = 0; i < all; ++i) out[i] = keys[i];
  std::printf("%d keys\n", all);
}

int main() {
  const int keys[6] = {1, 4, 6, 2, 3, 5};
  int *in, *out, sorted[6];
  cudaMalloc(&in, sizeof keys);
  cudaMalloc(&out, sizeof keys);
  cudaMemcpy(in, keys, sizeof keys, cudaMemcpyHostToDevice);
  merge<<<1, 32>>>(in, out, 3, 6);
  if (cudaMemcpy(sorted, out, sizeof keys, cudaMemcpyDeviceToHost) != cudaSuccess) return 1;
  for (int i = 0; i < 6; ++i) {
    if (sorted[i] != i + 1) return 1;
  }
  return 0;
}
