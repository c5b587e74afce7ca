// Each lane's mask names the lanes before it, and not its own: undefined, but a GPU goes on.
#include <cstdio>

__global__ void rank(const int* in, int* out) {
  const unsigned before = (1u << threadIdx.x) - 1;
  out[threadIdx.x] = __popc(__ballot_sync(before, in[threadIdx.x] != 0));
}

int main() {
  int host[32], ranks[32];
  for (int i = 0; i < 32; ++i) host[i] = i % 3 == 0;
  int *in, *out;
  cudaMalloc(&in, sizeof host);
  cudaMalloc(&out, sizeof ranks);
  cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);
  rank<<<1, 32>>>(in, out);
  cudaMemcpy(ranks, out, sizeof ranks, cudaMemcpyDeviceToHost);
  if (ranks[31] != 11) std::fprintf(stderr, "it did not go on\n");
  return 0;
}
