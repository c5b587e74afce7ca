// What nobody has written chooses, though both that it chooses from are there.
__global__ void choose(const int* in, int* out) {
  __shared__ int flags[32];
  const int t = threadIdx.x;
  if (t < 31) flags[t] = t & 1;
  __syncthreads();
  out[t] = flags[t] != 0 ? in[t] : -in[t];
}

int main() {
  int *in, *out;
  cudaMalloc(&in, 32 * sizeof(int));
  cudaMalloc(&out, 32 * sizeof(int));
  cudaMemset(in, 0, 32 * sizeof(int));
  choose<<<1, 32>>>(in, out);
  return cudaDeviceSynchronize();
}
