// tileA[16] lies in tileB.
__global__ void differences(int* out) {
  __shared__ int tileA[16], tileB[16];
  const int t = threadIdx.x;
  tileA[t] = t;
  tileB[t] = 2 * t;
  __syncthreads();
  out[t] = tileA[t + 1] - tileA[t] + tileB[t];
}

int main() {
  int* out;
  cudaMalloc(&out, 16 * sizeof(int));
  differences<<<1, 16>>>(out);
  return cudaDeviceSynchronize();
}
