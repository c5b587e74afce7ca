__global__ void count(int* cells) { cells[threadIdx.x] = threadIdx.x; }
__global__ void sum(const int* cells, int* total) { atomicAdd(total, cells[threadIdx.x]); }

int main() {
  int *total, *cells;
  cudaMalloc(&total, sizeof(int));
  cudaMemset(total, 0, sizeof(int));
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
  cudaMallocAsync(&cells, 32 * sizeof(int), stream);
  count<<<1, 32, 0, stream>>>(cells);
  sum<<<1, 32, 0, stream>>>(cells, total);
  cudaFreeAsync(cells, stream);
  cudaGraph_t graph;
  cudaStreamEndCapture(stream, &graph);
  cudaGraphExec_t ready;
  cudaGraphInstantiate(&ready, graph, 0);
  for (int i = 0; i < 2; ++i) cudaGraphLaunch(ready, stream);
  return cudaStreamSynchronize(stream) != cudaSuccess;
}
