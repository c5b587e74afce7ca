// One-dimensional convolution in two steps: a copy of the signal with zeros around it, then sums that need not ask
// where the signal ends. The two halves of the signal go on two streams, so that their kernels may overlap.
#include <cuda_runtime.h>

#include "common/exercise/exercise.h"

__global__ void pad(const float* input,  // [n]
                    float* padded,       // [n + 2 * halo]
                    int first, int last, int n, int halo) {
  const int i = first + blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= last) return;
  padded[i] = i >= halo && i < n + halo ? input[i - halo] : 0.0f;
}

__global__ void convolve(const float* padded,  // [n + 2 * halo]
                         const float* mask,    // [width]
                         float* output,        // [n]
                         int first, int last, int width) {
  const int i = first + blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= last) return;
  float sum = 0.0f;
  for (int j = 0; j < width; ++j) sum += padded[i + j] * mask[j];
  output[i] = sum;
}

static int launch(const float* input, const float* mask, float* output, int n, int width,
                  int threads) {
  const int halo = width / 2, middle = n / 2;
  const int blocks = (n - middle + 2 * halo) / threads + 1;
  float* padded = nullptr;
  cudaMalloc(&padded, (n + 2 * halo) * sizeof(float));
  cudaStream_t streams[2];
  cudaEvent_t is_padded[2];

  for (int half = 0; half < 2; ++half) {
    cudaStreamCreate(&streams[half]);
    cudaEventCreate(&is_padded[half]);
    const int first = half * middle, last = half == 0 ? middle : n + 2 * halo;
    pad<<<blocks, threads, 0, streams[half]>>>(input, padded, first, last, n, halo);
    cudaEventRecord(is_padded[half], streams[half]);
  }
  for (int half = 0; half < 2; ++half) {
    const int first = half * middle, last = half == 0 ? middle : n;
    cudaStreamWaitEvent(streams[half], is_padded[half], 0);
    convolve<<<blocks, threads, 0, streams[half]>>>(padded, mask, output, first, last, width);
  }

  for (int half = 0; half < 2; ++half) {
    cudaStreamSynchronize(streams[half]);
    cudaStreamDestroy(streams[half]);
    cudaEventDestroy(is_padded[half]);
  }
  cudaFree(padded);
  return cudaGetLastError();
}

halo::Exercise halo::exercise() { return launch; }
