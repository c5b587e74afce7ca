// The last copy reads what the array still has, three elements, and fills up with a zero; those behind it read nothing.
#include <cuda_pipeline.h>

__global__ void sum(const float* in, int n, float* out) {
  __shared__ __align__(16) float tile[128];
  const int first = 4 * threadIdx.x, left = min(max(n - first, 0), 4);
  __pipeline_memcpy_async(tile + first, in + first, 16, 16 - 4 * left);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  float its = 0;
  for (int i = 0; i < 4; ++i) its += tile[first + i];
  out[threadIdx.x] = its;
}

int main() {
  constexpr int kLength = 103;
  float host[kLength], got[32], *in, *out;
  for (int i = 0; i < kLength; ++i) host[i] = 1;
  cudaMalloc(&in, sizeof host);
  cudaMalloc(&out, sizeof got);
  cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);
  sum<<<1, 32>>>(in, kLength, out);
  if (cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost) != cudaSuccess) return 1;
  return got[24] == 4 && got[25] == 3 && got[26] == 0 ? 0 : 2;
}
