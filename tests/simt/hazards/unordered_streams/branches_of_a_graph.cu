__global__ void add(int* to, int by) { to[threadIdx.x] += by; }

int main() {
  int *a, *b;
  cudaMalloc(&a, 64 * sizeof(int));
  cudaMalloc(&b, 64 * sizeof(int));
  cudaMemset(a, 0, 64 * sizeof(int));
  cudaMemset(b, 0, 64 * sizeof(int));
  cudaStream_t one, other;
  cudaStreamCreate(&one);
  cudaStreamCreate(&other);
  cudaDeviceSynchronize();
  cudaEvent_t fork, join;
  cudaEventCreate(&fork);
  cudaEventCreate(&join);
  cudaGraph_t graph;
  cudaGraphExec_t ready;
  cudaStreamBeginCapture(one, cudaStreamCaptureModeGlobal);
  cudaEventRecord(fork, one);
  cudaStreamWaitEvent(other, fork, 0);
  add<<<1, 64, 0, one>>>(a, 1);
  add<<<1, 64, 0, other>>>(a, 2);
  cudaEventRecord(join, other);
  cudaStreamWaitEvent(one, join, 0);
  add<<<1, 64, 0, one>>>(b, 3);
  cudaStreamEndCapture(one, &graph);
  cudaGraphInstantiate(&ready, graph, 0);
  for (int i = 0; i < 2; ++i) cudaGraphLaunch(ready, one);
  return cudaDeviceSynchronize();
}
