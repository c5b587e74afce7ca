// The function stands on another stream than the kernel.
__global__ void fill(int* out) { out[threadIdx.x] = 1; }

void change(void* data) { *static_cast<int*>(data) = 2; }

int main() {
  int* data;
  cudaStream_t one, other;
  cudaStreamCreate(&one);
  cudaStreamCreate(&other);
  cudaMallocManaged(&data, 4096);
  fill<<<1, 32, 0, one>>>(data);
  cudaLaunchHostFunc(other, change, data);
  return cudaDeviceSynchronize();
}
