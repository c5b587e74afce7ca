// Fig. 9 of Li et al. (SC'16): "Optimized kernel after kernel fusion (C<11K)". The listing ends behind
// step 2. It calls its reduction without showing it. Both are filled in as the text describes them.
#include "tests/stages/sc16_figure9/figure9.hpp"

namespace halo::sc16_figure9 {

// Not in the listing. Leaves the reduction of in_tile in tmp_tile[0].
template <class Op>
__device__ void reduction_thread_block(const float* in_tile, float* tmp_tile, int num_category,
                                       float identity, Op op) {
  const int tidx = threadIdx.y * blockDim.x + threadIdx.x;
  const int threads = blockDim.y * blockDim.x;
  float mine = identity;
  for (int i = tidx; i < num_category; i += threads) mine = op(mine, in_tile[i]);
  __syncthreads();  // nobody needs tmp_tile[0] any more
  tmp_tile[tidx] = mine;
  __syncthreads();
  if (tidx == 0) {
    for (int t = 1; t < threads; ++t) tmp_tile[0] = op(tmp_tile[0], tmp_tile[t]);
  }
  __syncthreads();
}

__global__ void opt_kernel(float* mat, float* out, int num_category) {
  extern __shared__ float in_tile[];                  // in_tile[C], C < 11K (K = 1024)
  __shared__ float tmp_tile[1024];                    // for reduction
  int tidx = threadIdx.y * blockDim.x + threadIdx.x;  // printed blockDim.xx
  for (int i = tidx; i < num_category; i = i + blockDim.y * blockDim.x)
    in_tile[i] = mat[blockIdx.x * num_category + threadIdx.x];  // sic: it should be i
  // step 1
  reduction_thread_block(in_tile, tmp_tile, num_category, -INFINITY,
                         [](float a, float b) { return fmaxf(a, b); });
  // step 2
  for (int i = tidx; i < num_category; i = i + blockDim.y * blockDim.x)
    in_tile[i] = in_tile[i] - tmp_tile[0];  // tmp_tile[0] store the max

  // Not in the listing: steps 3 to 5.
  for (int i = tidx; i < num_category; i = i + blockDim.y * blockDim.x)
    in_tile[i] = expf(in_tile[i]);
  reduction_thread_block(in_tile, tmp_tile, num_category, 0.0f,
                         [](float a, float b) { return a + b; });
  for (int i = tidx; i < num_category; i = i + blockDim.y * blockDim.x)
    out[blockIdx.x * num_category + i] = in_tile[i] / tmp_tile[0];
}

cudaError_t figure9(float* mat, float* out, int num_img, int num_category, dim3 threads) {
  const dim3 blocks(num_img);
  opt_kernel<<<blocks, threads, num_category * sizeof(float)>>>(mat, out, num_category);
  return cudaGetLastError();
}

}  // namespace halo::sc16_figure9
