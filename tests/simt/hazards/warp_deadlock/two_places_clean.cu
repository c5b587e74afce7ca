// Lanes of one mask meet in what they do together, wherever each of them does it; an H200 answers the same.
__global__ void exchange(int* out) {
  const int t = threadIdx.x;
  __shared__ int cells[32];
  cells[t] = t;
  if (t % 2 == 0) {
    __syncwarp();
    out[t] = cells[t + 1];
    out[t + 32] = __shfl_xor_sync(~0u, t + 100, 3);
    out[t + 64] = __ballot_sync(~0u, t > 5);
  } else {
    cells[t] *= 2;
    __syncwarp();
    out[t] = cells[t - 1];
    out[t + 32] = __shfl_xor_sync(~0u, t, 1);
    out[t + 64] = __ballot_sync(~0u, !(t <= 3)) + 1;
  }
}

int main() {
  int *out, found[96], wrong = 0;
  cudaMalloc(&out, sizeof found);
  exchange<<<1, 32>>>(out);
  cudaMemcpy(found, out, sizeof found, cudaMemcpyDeviceToHost);
  for (int t = 0; t < 32; ++t) {
    wrong += found[t] != (t % 2 == 0 ? 2 * (t + 1) : t - 1);
    wrong += found[t + 32] != (t % 2 == 0 ? (t ^ 3) : (t ^ 1) + 100);
    wrong += found[t + 64] != static_cast<int>(0xffffffe0u) + t % 2;
  }
  return wrong;
}
