__device__ int first[64], second[64];

__global__ void fill(int n) { first[threadIdx.x + n] = second[threadIdx.x]; }

int main() {
  fill<<<1, 64>>>(1);
  return cudaDeviceSynchronize();
}
