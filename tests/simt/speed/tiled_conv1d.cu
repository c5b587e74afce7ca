// The tiled 1D kernel whose speed is compared: cross-correlation with a mask of 9 cells, zeros beyond
// the ends; a block of 256 threads loads its tile and its halo into shared memory.
// Usage: tiled_conv1d LENGTH LAUNCHES OUTPUT-FILE. Prints `seconds S` for each launch.
#include <cuda_runtime.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

constexpr int kMaskWidth = 9;
constexpr int kThreads = 256;
constexpr int kTile = kThreads + kMaskWidth - 1;

__constant__ float mask[kMaskWidth];

__global__ void tiled_conv1d(const float* N, float* P, int n) {
  __shared__ float tile[kTile];
  const int t = threadIdx.x;
  const int first = blockIdx.x * kThreads - kMaskWidth / 2;
  for (int s = t; s < kTile; s += kThreads) {
    const int k = first + s;
    tile[s] = k >= 0 && k < n ? N[k] : 0.0f;
  }
  __syncthreads();
  const int i = blockIdx.x * kThreads + t;
  if (i >= n) return;
  float acc = 0;
  for (int j = 0; j < kMaskWidth; ++j) acc += tile[t + j] * mask[j];
  P[i] = acc;
}

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  const int n = std::atoi(argv[1]);
  const int launches = std::atoi(argv[2]);
  const float host_mask[kMaskWidth] = {1, -2, 3, 5, -7, 4, 6, -1, 2};
  std::vector<float> host(n);
  for (int i = 0; i < n; ++i) host[i] = static_cast<float>((i * 7 + i / 11) % 17 - 3);
  float *N = nullptr, *P = nullptr;
  cudaMalloc(&N, n * sizeof(float));
  cudaMalloc(&P, n * sizeof(float));
  cudaMemcpy(N, host.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpyToSymbol(mask, host_mask, sizeof(host_mask));
  for (int l = 0; l < launches; ++l) {
    const auto start = std::chrono::steady_clock::now();
    tiled_conv1d<<<(n + kThreads - 1) / kThreads, kThreads>>>(N, P, n);
    if (cudaDeviceSynchronize() != cudaSuccess) return 1;
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    std::printf("seconds %.9f\n", took.count());
  }
  if (cudaMemcpy(host.data(), P, n * sizeof(float), cudaMemcpyDeviceToHost) != cudaSuccess)
    return 1;
  std::FILE* file = std::fopen(argv[3], "wb");
  if (!file || std::fwrite(host.data(), sizeof(float), n, file) != static_cast<std::size_t>(n)) {
    return 1;
  }
  return std::fclose(file) == 0 ? 0 : 1;
}
