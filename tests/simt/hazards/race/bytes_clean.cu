// Neighbouring bytes are different places.
__global__ void fill(char* out) { out[blockIdx.x * blockDim.x + threadIdx.x] = threadIdx.x; }

int main() {
  char* out;
  cudaMalloc(&out, 66);
  fill<<<2, 33>>>(out);
  return cudaDeviceSynchronize();
}
