__constant__ float weights[9];

__global__ void part(float* out) { out[threadIdx.x] = weights[threadIdx.x * 3000]; }

int main() {
  float* out;
  cudaMalloc(&out, 32 * sizeof(float));
  part<<<1, 32>>>(out);
  return cudaDeviceSynchronize() == cudaSuccess;
}
