// Code 3 of the BU report as printed. It does not compile: halo_width is never declared.
#include <cuda_runtime.h>

#define MASK_WIDTH 3  // array size for mask (M)
__constant__ float d_mask_constant[MASK_WIDTH];

__global__ void cuda_conv_1D_multi_block_with_mask_in_constant_memory(float* N, float* P,
                                                                      int mask_width,
                                                                      int N_rowlen) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;  // i is [0, P_ARR_LEN-1]
  float Pvalue = 0;
  // Skip halo cells
  if (i < halo_width || i > (N_rowlen - 1 - halo_width)) return;
  for (int j = 0; j < mask_width; j++) {
    Pvalue += N[i - halo_width + j] * d_mask_constant[j];
  }
  P[i] = Pvalue;
}
