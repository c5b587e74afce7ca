__constant__ float weights[32];

__global__ void replace(float* as_memory, float* out) {
  as_memory[threadIdx.x] = 2;
  __syncthreads();
  out[threadIdx.x] = weights[threadIdx.x];
}

int main() {
  float *weights_of_device, *out;
  cudaGetSymbolAddress(reinterpret_cast<void**>(&weights_of_device), weights);
  cudaMalloc(&out, 32 * sizeof(float));
  replace<<<1, 32>>>(weights_of_device, out);
  return cudaDeviceSynchronize();
}
