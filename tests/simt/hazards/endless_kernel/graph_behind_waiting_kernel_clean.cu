// A graph is put behind a kernel that waits for the host, and an event of the stream behind both.
__global__ void wait_for(const volatile int* flag) {
  while (*flag == 0) {
  }
}

__global__ void add(int* data, int more) { data[threadIdx.x] += more; }

int main() {
  int *flag, *data;
  cudaMallocManaged(&flag, sizeof(int));
  cudaMalloc(&data, 32 * sizeof(int));
  cudaMemset(data, 0, 32 * sizeof(int));
  *flag = 0;
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  cudaGraph_t graph;
  cudaGraphExec_t ready;
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
  add<<<1, 32, 0, stream>>>(data, 1);
  add<<<1, 32, 0, stream>>>(data, 2);
  cudaStreamEndCapture(stream, &graph);
  cudaGraphInstantiate(&ready, graph, 0);
  wait_for<<<1, 1, 0, stream>>>(flag);
  cudaGraphLaunch(ready, stream);
  cudaEvent_t behind;
  cudaEventCreate(&behind);
  cudaEventRecord(behind, stream);
  *static_cast<volatile int*>(flag) = 1;
  if (cudaEventSynchronize(behind) != cudaSuccess) return 1;
  int got = 0;
  cudaMemcpy(&got, data + 31, sizeof got, cudaMemcpyDeviceToHost);
  return got == 3 ? 0 : 1;
}
