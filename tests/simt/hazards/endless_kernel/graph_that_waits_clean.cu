// A graph whose first kernel waits for the host, one of which a branch waits for another, and one whose nodes are behind both.
__global__ void wait_for(const volatile int* flag, int* out) {
  while (*flag == 0) {
  }
  *out += 1;
}

__global__ void add(int* data, int more) { data[threadIdx.x] += more; }

__global__ void raise(int* flag) { atomicExch(flag, 1); }

__host__ void count(void* calls) { ++*static_cast<int*>(calls); }

cudaGraphExec_t ready_of(cudaStream_t stream) {
  cudaGraph_t graph;
  cudaGraphExec_t ready;
  cudaStreamEndCapture(stream, &graph);
  cudaGraphInstantiate(&ready, graph, 0);
  cudaGraphDestroy(graph);
  return ready;
}

int main() {
  int *flag, *on_device, *data, calls = 0;
  cudaMallocManaged(&flag, sizeof(int));
  cudaMalloc(&on_device, 2 * sizeof(int));
  cudaMalloc(&data, 32 * sizeof(int));
  cudaMemset(on_device, 0, 2 * sizeof(int));
  cudaMemset(data, 0, 32 * sizeof(int));
  *flag = 0;
  cudaStream_t s, t;
  cudaStreamCreate(&s);
  cudaStreamCreate(&t);
  cudaEvent_t fork, join;
  cudaEventCreate(&fork);
  cudaEventCreate(&join);

  cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
  wait_for<<<1, 1, 0, s>>>(flag, data);
  add<<<1, 32, 0, s>>>(data, 1);
  cudaLaunchHostFunc(s, count, &calls);
  const cudaGraphExec_t chain = ready_of(s);

  cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
  cudaEventRecord(fork, s);
  cudaStreamWaitEvent(t, fork);
  wait_for<<<1, 1, 0, s>>>(on_device, data);
  raise<<<1, 1, 0, t>>>(on_device);
  raise<<<1, 1, 0, t>>>(on_device + 1);
  cudaEventRecord(join, t);
  cudaStreamWaitEvent(s, join);
  add<<<1, 32, 0, s>>>(data, 10);
  const cudaGraphExec_t branches = ready_of(s);

  cudaGraphLaunch(branches, s);
  if (cudaStreamSynchronize(s) != cudaSuccess) return 1;
  cudaMemset(on_device, 0, 2 * sizeof(int));

  cudaGraphLaunch(chain, s);
  cudaGraphLaunch(branches, s);
  cudaGraphLaunch(chain, s);
  cudaGraphExecDestroy(chain);
  cudaMemcpyAsync(on_device + 1, data, sizeof(int), cudaMemcpyDeviceToDevice, s);
  if (cudaStreamQuery(s) != cudaErrorNotReady || calls != 0) return 2;
  *static_cast<volatile int*>(flag) = 1;
  if (cudaStreamSynchronize(s) != cudaSuccess || calls != 2) return 3;
  int got[2];
  cudaMemcpy(got, data, sizeof got, cudaMemcpyDeviceToHost);
  if (got[0] != 26 || got[1] != 22) return 4;
  cudaMemcpy(got, on_device + 1, sizeof(int), cudaMemcpyDeviceToHost);
  return got[0] == 26 ? 0 : 5;
}
