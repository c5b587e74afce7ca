// Sums an array and counts its values in 64 bins, on the GPU, and checks both on the CPU.
// Build: nvcc -arch=sm_75 reduce_and_histogram.cu -o reduce_and_histogram
#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call)                                                                   \
  do {                                                                                \
    cudaError_t status_ = (call);                                                     \
    if (status_ != cudaSuccess) {                                                     \
      std::fprintf(stderr, "%s:%d: %s failed: %s\n", __FILE__, __LINE__, #call,       \
                   cudaGetErrorString(status_));                                      \
      std::exit(EXIT_FAILURE);                                                        \
    }                                                                                 \
  } while (0)

const int kBins = 64;
const int kThreads = 256;

struct Range {
  float low, high;
};

// Everything that stays the same for all launches.
__constant__ Range c_range;
__constant__ const float c_scale[2] = {1.0f, 0.5f};
__device__ unsigned int d_out_of_range = 0;

__device__ __forceinline__ int bin_of(float x) {
  return static_cast<int>((x - c_range.low) / (c_range.high - c_range.low) * kBins);
}

template <typename T>
struct Plus {
  __host__ __device__ T operator()(T a, T b) const { return a + b; }
};

template <typename T>
struct Max {
  __host__ __device__ T operator()(T a, T b) const { return a > b ? a : b; }
};

// One value per block: a grid-stride loop, then a tree in shared memory.
template <typename T, int THREADS, typename Op>
__global__ void __launch_bounds__(THREADS)
    reduce(const T* __restrict__ in, T* __restrict__ out, int n, Op op, T start) {
  __shared__ T partial[THREADS];
  const int t = threadIdx.x;
  T value = start;
  for (int i = blockIdx.x * THREADS + t; i < n; i += gridDim.x * THREADS) value = op(value, in[i]);
  partial[t] = value;
  __syncthreads();
#pragma unroll
  for (int half = THREADS / 2; half > 0; half >>= 1) {
    if (t < half) partial[t] = op(partial[t], partial[t + half]);
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = partial[0];
}

// Bins of the block in dynamic shared memory, added to the global ones at the end.
__global__ void histogram(const float* in, unsigned int* bins, int n) {
  extern __shared__ unsigned int local[];
  for (int b = threadIdx.x; b < kBins; b += blockDim.x) local[b] = 0;
  __syncthreads();
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    int b = bin_of(in[i] * c_scale[0]);
    if (b >= 0 && b < kBins) {
      atomicAdd(&local[b], 1u);
    } else {
      atomicAdd(&d_out_of_range, 1u);
    }
  }
  __syncthreads();
  for (int b = threadIdx.x; b < kBins; b += blockDim.x) {
    if (local[b] > 0) atomicAdd(&bins[b], local[b]);
  }
}

template <typename Op>
float reduce_all(const float* d_in, int n, Op op, float start = 0) {
  const int blocks = 8;
  float *d_partial = nullptr, *d_result = nullptr;
  CHECK(cudaMalloc((void**)&d_partial, blocks * sizeof(float)));
  CHECK(cudaMalloc(&d_result, sizeof(float)));
  reduce<float, kThreads><<<blocks, kThreads>>>(d_in, d_partial, n, op, start);
  CHECK(cudaGetLastError());
  reduce<float, 32, Op><<<dim3(1), dim3(32)>>>(d_partial, d_result, blocks, op, start);
  CHECK(cudaGetLastError());
  float result;
  CHECK(cudaMemcpy(&result, d_result, sizeof result, cudaMemcpyDeviceToHost));
  CHECK(cudaFree(d_partial));
  CHECK(cudaFree(d_result));
  return result;
}

int main() {
  const int n = 20000;
  std::vector<float> in(n);
  std::vector<unsigned int> expected(kBins), bins(kBins);
  double sum = 0;
  float largest = 0;
  unsigned int state = 1, out_of_range = 0;
  for (float& x : in) {
    state = state * 1664525u + 1013904223u;
    x = (state >> 16) % 1000;  // whole numbers, so that sums are exact in any order
    sum += x;
    largest = x > largest ? x : largest;
    int b = static_cast<int>(x / 960 * kBins);
    if (b < kBins) ++expected[b]; else ++out_of_range;
  }

  float* d_in;
  unsigned int* d_bins;
  CHECK(cudaMalloc(&d_in, n * sizeof(float)));
  CHECK(cudaMalloc(&d_bins, kBins * sizeof(unsigned int)));
  CHECK(cudaMemcpy(d_in, in.data(), n * sizeof(float), cudaMemcpyHostToDevice));
  CHECK(cudaMemset(d_bins, 0, kBins * sizeof(unsigned int)));
  Range range = {0, 960};
  CHECK(cudaMemcpyToSymbol(c_range, &range, sizeof range));

  cudaEvent_t start, stop;
  CHECK(cudaEventCreate(&start));
  CHECK(cudaEventCreate(&stop));
  CHECK(cudaEventRecord(start));
  histogram<<<(n + kThreads - 1) / kThreads, kThreads, kBins * sizeof(unsigned int)>>>(d_in, d_bins, n);
  CHECK(cudaGetLastError());
  CHECK(cudaEventRecord(stop));
  CHECK(cudaEventSynchronize(stop));
  float milliseconds = 0;
  CHECK(cudaEventElapsedTime(&milliseconds, start, stop));

  float gpu_sum = reduce_all(d_in, n, Plus<float>());
  float gpu_largest = reduce_all(d_in, n, Max<float>{});
  unsigned int gpu_out_of_range = 0;
  CHECK(cudaMemcpy(bins.data(), d_bins, kBins * sizeof(unsigned int), cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpyFromSymbol(&gpu_out_of_range, d_out_of_range, sizeof gpu_out_of_range));
  CHECK(cudaEventDestroy(start));
  CHECK(cudaEventDestroy(stop));
  CHECK(cudaFree(d_in));
  CHECK(cudaFree(d_bins));

  bool good = gpu_sum == sum && gpu_largest == largest && bins == expected &&
              gpu_out_of_range == out_of_range && milliseconds >= 0;
  std::printf("sum %.0f, largest %.0f, first bin %u, out of range %u: %s\n", gpu_sum, gpu_largest,
              bins[0], gpu_out_of_range, good ? "PASS" : "FAIL");
  return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
