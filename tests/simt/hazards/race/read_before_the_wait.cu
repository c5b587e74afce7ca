// All arrive at a cuda::barrier, and read what others have left before they wait there.
#include <cuda/barrier>
#include <utility>

__global__ void turned(int* out) {
  __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
  __shared__ int tile[64];
  const int t = threadIdx.x;
  tile[t] = 0;
  if (t == 0) init(&barrier, 64);
  __syncthreads();
  tile[t] = t;
  auto arrival = barrier.arrive();
  out[t] = tile[63 - t];
  barrier.wait(std::move(arrival));
}

int main() {
  int* out;
  cudaMalloc(&out, 64 * sizeof(int));
  turned<<<1, 64>>>(out);
  return cudaDeviceSynchronize();
}
