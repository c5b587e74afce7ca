// The plain read saves atomics; whether this thread is the first is what the atomic says.
__global__ void visit(const int* to, int* seen, int* first) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (seen[to[i]] == 0 && atomicExch(&seen[to[i]], 1) == 0) first[i] = 1;
}

int main() {
  int host[64], *to, *seen, *first;
  for (int i = 0; i < 64; ++i) host[i] = i % 8;
  cudaMalloc(&to, sizeof host);
  cudaMalloc(&seen, sizeof host);
  cudaMalloc(&first, sizeof host);
  cudaMemcpy(to, host, sizeof host, cudaMemcpyHostToDevice);
  cudaMemset(seen, 0, sizeof host);
  cudaMemset(first, 0, sizeof host);
  visit<<<2, 32>>>(to, seen, first);
  return cudaDeviceSynchronize();
}
