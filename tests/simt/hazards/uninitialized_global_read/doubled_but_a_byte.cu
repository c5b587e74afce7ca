// The last byte of the last number is not set: what is worked out with it is not set either, though it is stored only.
__global__ void twice(const int* in, int* out) { out[threadIdx.x] = in[threadIdx.x] * 2; }

int main() {
  int *in, *out;
  cudaMalloc(&in, 40 * sizeof(int));
  cudaMalloc(&out, 40 * sizeof(int));
  cudaMemset(in, 0, 40 * sizeof(int) - 1);
  twice<<<1, 40>>>(in, out);
  return cudaDeviceSynchronize();
}
