// Six kernels for docs/real_bugs.md, each with the bug of a public program and nothing else of it:
// written for that page, as short as the bug allows. docs/results/make_findings.py sets BUG and keeps
// what the simulator says of each.
#include <cuda_pipeline.h>
#include <cuda_runtime.h>

#include <cstdio>

constexpr int kThreads = 64;

#if BUG == 1
// A tile with two halo cells on the right. In a last block that is not full they are not where its
// last outputs look for them.
// [doc:halo]
__global__ void bug(const float* input, float* output, int n) {  // input: [n + 2]
  __shared__ float tile[kThreads + 2];
  const int t = threadIdx.x, i = blockIdx.x * kThreads + t;
  if (i < n) tile[t] = input[i];
  if (t < 2 && i + kThreads < n + 2) tile[t + kThreads] = input[i + kThreads];
  __syncthreads();
  if (i < n) output[i] = tile[t] + tile[t + 1] + tile[t + 2];
}
// [/doc:halo]
#elif BUG == 2
// Running sums within a warp, in place.
// [doc:scan]
__global__ void bug(const float* input, float* output, int n) {
  __shared__ float sums[32];
  const int t = threadIdx.x;
  if (t < 32) sums[t] = input[t];
  __syncthreads();
  if (t >= 1 && t < 32) sums[t] += sums[t - 1];
  __syncthreads();
  if (t < 32) output[t] = sums[t];
}
// [/doc:scan]
#elif BUG == 3
// Threads without an output leave before the barrier.
// [doc:left]
__global__ void bug(const float* input, float* output, int n) {
  __shared__ float cells[kThreads];
  const int t = threadIdx.x, i = blockIdx.x * kThreads + t;
  if (i >= n) return;
  cells[t] = input[i];
  __syncthreads();
  output[i] = cells[t ^ 1];
}
// [/doc:left]
#elif BUG == 4
// The block's maximum, then its sum, through the same cells.
// [doc:reused]
__global__ void bug(const float* input, float* output, int n) {
  __shared__ float parts[kThreads / 32];
  const int t = threadIdx.x;
  const float x = input[t];
  if (t % 32 == 0) parts[t / 32] = x;
  __syncthreads();
  const float largest = fmaxf(parts[0], parts[1]);
  if (t % 32 == 0) parts[t / 32] = x - largest;
  __syncthreads();
  output[t] = parts[0] + parts[1];
}
// [/doc:reused]
#elif BUG == 5
// What an asynchronous copy fills is used for something else while the copy is on its way.
// [doc:copy]
__global__ void bug(const float* input, float* output, int n) {
  __shared__ float stage[kThreads];
  const int t = threadIdx.x;
  __pipeline_memcpy_async(&stage[t], &input[t], sizeof(float));  // one more than is needed
  __pipeline_commit();
  stage[t] = 2.0f * t;  // the results, on their way to memory
  output[t] = stage[t];
}
// [/doc:copy]
#else
__global__ void bug(const float*, float*, int) {}
#endif

int main() {
  const int n = 100;  // two blocks, the last not full
  float *input, *output;
  cudaMalloc(&input, 2 * kThreads * sizeof(float));
  cudaMalloc(&output, 2 * kThreads * sizeof(float));
  cudaMemset(input, 0, 2 * kThreads * sizeof(float));
#if BUG == 6
  // One row of the grid for each of 65,536 images.
  // [doc:grid]
  bug<<<dim3(1, 65536), kThreads>>>(input, output, n);
  // [/doc:grid]
#else
  bug<<<(BUG == 1 || BUG == 3) ? 2 : 1, kThreads>>>(input, output, n);
#endif
  std::printf("%s\n", cudaGetErrorString(cudaGetLastError()));
  cudaDeviceSynchronize();
  cudaFree(input);
  cudaFree(output);
}
