#include <cstdio>
#include <vector>

__global__ void add(const float* a, const float* b, float* sum, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) sum[i] = a[i] + b[i];
}

int main() {
  const int n = 50000;
  std::vector<float> a(n), b(n), sum(n);
  for (int i = 0; i < n; ++i) {
    a[i] = static_cast<float>(i);
    b[i] = static_cast<float>(2 * i);
  }
  float *device_a, *device_b, *device_sum;
  cudaMalloc(&device_a, n * sizeof(float));
  cudaMalloc(&device_b, n * sizeof(float));
  cudaMalloc(&device_sum, n * sizeof(float));
  cudaMemcpy(device_a, a.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(device_b, b.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  add<<<(n + 255) / 256, 256>>>(device_a, device_b, device_sum, n);
  const cudaError_t error = cudaDeviceSynchronize();
  cudaMemcpy(sum.data(), device_sum, n * sizeof(float), cudaMemcpyDeviceToHost);
  int wrong = 0;
  for (int i = 0; i < n; ++i) wrong += sum[i] != static_cast<float>(3 * i);
  std::printf("%s, %d wrong\n", cudaGetErrorName(error), wrong);
  cudaFree(device_a);
  cudaFree(device_b);
  return wrong == 0 ? 0 : 1;
}
