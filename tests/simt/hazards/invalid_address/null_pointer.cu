__global__ void fill(int* out) { out[threadIdx.x] = 1; }

int main() {
  fill<<<1, 32>>>(nullptr);
  return cudaDeviceSynchronize();
}
