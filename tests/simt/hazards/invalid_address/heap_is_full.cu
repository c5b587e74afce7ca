// The heap holds 8 MB, and 64 threads ask for 4 MB each.
__global__ void ask(int* out) {
  int* const own = static_cast<int*>(malloc(4 << 20));
  own[0] = threadIdx.x;
  out[threadIdx.x] = own[0];
  free(own);
}

int main() {
  int* out;
  cudaMalloc(&out, 64 * sizeof(int));
  ask<<<1, 64>>>(out);
  return cudaDeviceSynchronize() != cudaErrorIllegalAddress;
}
