// Two lists are merged, of which one is taken to be longer than it is: the key behind its end is compared, and counts.
__global__ void merge(const int* in, int* out, int first, int all) {
  __shared__ int keys[64];
  const int t = threadIdx.x;
  if (t < all) keys[t] = in[t];
  __syncthreads();
  if (t != 0) return;
  int a = 0, b = first;
  for (int i = 0; i < all; ++i) {
    const int key_a = keys[a], key_b = keys[b];
    const bool takes_b = b <= all && (a >= first || key_b < key_a);  // BUG: b < all
    if (takes_b) {
      ++b;
    } else {
      ++a;
    }
    out[i] = takes_b;
  }
}

int main() {
  const int keys[6] = {1, 4, 6, 2, 3, 5};
  int *in, *out;
  cudaMalloc(&in, sizeof keys);
  cudaMalloc(&out, sizeof keys);
  cudaMemcpy(in, keys, sizeof keys, cudaMemcpyHostToDevice);
  merge<<<1, 32>>>(in, out, 3, 6);
  return cudaDeviceSynchronize();
}
