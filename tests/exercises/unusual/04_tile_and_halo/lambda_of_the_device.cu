// One kernel for any work, which a lambda of the device has, with a function of the standard library; and what looks at errors
// as in many a book.
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdlib>

#include "common/exercise/exercise.h"

#define CHECK(call)                                                                \
  if (const cudaError_t error = (call); error != cudaSuccess) {                    \
    fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(error)); \
    exit(EXIT_FAILURE);                                                            \
  }

__constant__ float mask_constant[1023];

template <class Work>
__global__ void run(Work work) {
  work(static_cast<int>(blockIdx.x * blockDim.x));
}

static int launch(const float* input, const float* mask, float* output, int n, int width,
                  int threads) {
  CHECK(cudaMemcpyToSymbol(mask_constant, mask, width * sizeof *mask, 0, cudaMemcpyDeviceToDevice));
  const int cells = threads + width - 1;
  run<<<(n - 1) / threads + 1, threads, cells * sizeof *input>>>([=] __device__(int first) {
    extern __shared__ float tile[];
    const int begin = first - width / 2, i = first + threadIdx.x;
    for (int s = threadIdx.x; s < cells; s += blockDim.x) {
      tile[s] = input[std::clamp(begin + s, 0, n - 1)];
    }
    __syncthreads();
    if (i >= n) return;
    float sum = 0.0f;
    for (int j = 0; j < width; ++j) sum += tile[threadIdx.x + j] * mask_constant[j];
    output[i] = sum;
  });
  CHECK(cudaGetLastError());
  return cudaSuccess;
}

halo::Exercise halo::exercise() { return launch; }
