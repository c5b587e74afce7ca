// The last turn reads behind one array of constants, where another begins.
__constant__ float weights[9];
__constant__ float offsets[9];

__global__ void sum(float* out, int n) {
  float all = offsets[0];
  for (int i = 0; i < n; ++i) all += weights[i];
  out[threadIdx.x] = all;
}

int main() {
  float* out;
  cudaMalloc(&out, 32 * sizeof(float));
  sum<<<1, 32>>>(out, 10);
  return cudaDeviceSynchronize() == cudaSuccess;
}
