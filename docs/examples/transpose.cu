// A transpose through shared memory, with and without padding: what ./halo trace draws on docs/trace.md.
#include <cuda_runtime.h>

#include <cstdio>

constexpr int kTile = 32;
constexpr int kRows = 8;  // of threads; each takes four rows of the tile

// kPitch: floats of a row of the tile. 32: a column lies in one bank; 33: each row begins a bank further on.
template <int kPitch>
__global__ void transpose(const float* input,  // [height][width], both multiples of kTile
                          float* output,       // [width][height]
                          int width, int height) {
  __shared__ float tile[kTile][kPitch];
  const int column = blockIdx.x * kTile + threadIdx.x;
  const int row = blockIdx.y * kTile + threadIdx.y;
  for (int r = 0; r < kTile; r += kRows) {
    tile[threadIdx.y + r][threadIdx.x] = input[(row + r) * width + column];
  }
  __syncthreads();
  const int new_column = blockIdx.y * kTile + threadIdx.x;
  const int new_row = blockIdx.x * kTile + threadIdx.y;
  for (int r = 0; r < kTile; r += kRows) {
    output[(new_row + r) * height + new_column] = tile[threadIdx.x][threadIdx.y + r];
  }
}

int main() {
  constexpr int width = 512, height = 256;
  float *input, *output;
  cudaMalloc(&input, width * height * sizeof(float));
  cudaMalloc(&output, width * height * sizeof(float));
  cudaMemset(input, 0, width * height * sizeof(float));
  const dim3 blocks(width / kTile, height / kTile), threads(kTile, kRows);
  transpose<kTile><<<blocks, threads>>>(input, output, width, height);
  transpose<kTile + 1><<<blocks, threads>>>(input, output, width, height);
  std::printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
  cudaFree(input);
  cudaFree(output);
}
