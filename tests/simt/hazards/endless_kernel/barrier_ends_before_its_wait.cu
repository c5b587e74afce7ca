#include <cuda/barrier>
#pragma nv_diag_suppress static_var_with_dynamic_init
// The first thread ends the barrier when it has passed; the second warp has arrived, and comes to its wait later.
__global__ void pass(int* out) {
  __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
  __shared__ volatile int has_ended;
  if (threadIdx.x == 0) {
    init(&barrier, blockDim.x);
    has_ended = 0;
  }
  __syncthreads();
  auto token = barrier.arrive();
  if (threadIdx.x >= 32) {
    while (has_ended == 0) {
    }
  }
  barrier.wait(static_cast<decltype(token)&&>(token));
  if (threadIdx.x == 0) {
    barrier.~barrier();
    has_ended = 1;
  }
  out[threadIdx.x] = 1;
}

int main() {
  int* out;
  cudaMalloc(&out, 64 * sizeof(int));
  pass<<<1, 64>>>(out);
  return cudaDeviceSynchronize();
}
