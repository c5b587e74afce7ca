// A function that is called has more registers than its kernel, and loads of which ptxas takes a part: whose they are
// decides what is known of them.
#include <cuda_runtime.h>

constexpr int kVectors = 256;

__noinline__ __device__ void scale(float* to, const float4* from, float by) {
  float values[kVectors];
#pragma unroll
  for (int i = 0; i < kVectors; ++i) {
    const float4 all = from[i];
    values[i] = all.x + all.y;
  }
#pragma unroll
  for (int i = 0; i < kVectors; ++i) to[i] = values[kVectors - 1 - i] * by;
}

__global__ void run(float* to, const float4* from) { scale(to, from, 3); }

int main() {
  float *to, cells[kVectors];
  float4 *from, vectors[kVectors];
  for (int i = 0; i < kVectors; ++i) vectors[i] = make_float4(i, 1, 0, 0);
  cudaMalloc(&to, sizeof cells);
  cudaMalloc(&from, sizeof vectors);
  cudaMemcpy(from, vectors, sizeof vectors, cudaMemcpyHostToDevice);
  run<<<1, 1>>>(to, from);
  if (cudaMemcpy(cells, to, sizeof cells, cudaMemcpyDeviceToHost) != cudaSuccess) return 1;
  for (int i = 0; i < kVectors; ++i) {
    if (cells[i] != 3 * (kVectors - i)) return 1;
  }
  return 0;
}
