// A graph's function reads what the copy before it has brought.
__global__ void fill(int* out) { out[threadIdx.x] = 1; }

void take(void* pointer) {
  int* const data = static_cast<int*>(pointer);
  data[32] = data[5];
}

int main() {
  int *data, *filled_here;
  cudaMallocHost(&data, 33 * sizeof(int));
  cudaMalloc(&filled_here, 32 * sizeof(int));
  cudaGraph_t graph;
  cudaGraphCreate(&graph, 0);
  cudaGraphNode_t filled, copied, taken;
  void* arguments[] = {&filled_here};
  cudaKernelNodeParams kernel{};
  kernel.func = reinterpret_cast<void*>(&fill);
  kernel.gridDim = 1;
  kernel.blockDim = 32;
  kernel.kernelParams = arguments;
  cudaGraphAddKernelNode(&filled, graph, nullptr, 0, &kernel);
  cudaGraphAddMemcpyNode1D(&copied, graph, &filled, 1, data, filled_here, 32 * sizeof(int),
                           cudaMemcpyDeviceToHost);
  const cudaHostNodeParams look{&take, data};
  cudaGraphAddHostNode(&taken, graph, &copied, 1, &look);
  cudaGraphExec_t ready;
  cudaGraphInstantiate(&ready, graph, 0);
  cudaGraphLaunch(ready, nullptr);
  cudaDeviceSynchronize();
  return data[32] != 1;
}
