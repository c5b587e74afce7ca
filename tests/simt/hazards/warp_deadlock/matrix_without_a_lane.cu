#include <cuda_fp16.h>
#include <mma.h>

// All 32 lanes of a warp make a product; here one has gone.
__global__ void part(const __half* a, float* c) {
  using namespace nvcuda::wmma;
  if (threadIdx.x == 5) return;
  fragment<matrix_a, 16, 16, 16, __half, row_major> left;
  fragment<matrix_b, 16, 16, 16, __half, col_major> right;
  fragment<accumulator, 16, 16, 16, float> sum;
  fill_fragment(sum, 0.0f);
  load_matrix_sync(left, a, 16);
  load_matrix_sync(right, a, 16);
  mma_sync(sum, left, right, sum);
  store_matrix_sync(c, sum, 16, mem_row_major);
}

int main() {
  __half* a;
  float* c;
  cudaMalloc(&a, 256 * sizeof(__half));
  cudaMalloc(&c, 256 * sizeof(float));
  cudaMemset(a, 0, 256 * sizeof(__half));
  part<<<1, 32>>>(a, c);
  return cudaDeviceSynchronize() == cudaSuccess;
}
