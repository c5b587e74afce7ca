#include <mma.h>

using namespace nvcuda;

__global__ void product(float* out, int row) {
  __shared__ __align__(32) half a[256], b[256];
  for (int i = threadIdx.x; i < 256; i += 32) a[i] = b[i] = __float2half(1.0f);
  __syncwarp();
  wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> left;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> right;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
  wmma::fill_fragment(sum, 0.0f);
  wmma::load_matrix_sync(left, a, row);
  wmma::load_matrix_sync(right, b, 16);
  wmma::mma_sync(sum, left, right, sum);
  wmma::store_matrix_sync(out, sum, 16, wmma::mem_row_major);
}

int main() {
  float* out;
  cudaMalloc(&out, 256 * sizeof(float));
  product<<<1, 32>>>(out, 24);
  return cudaDeviceSynchronize();
}
