/* A layer of 64 filters of 3 x 3 on one image, with a bias and ReLU. */
/* [doc:program] */
#include <halo/convolve.h>
#include <stdio.h>

static void* device_memory(size_t bytes) {
  void* memory = NULL;
  cudaMalloc(&memory, bytes);
  cudaMemset(memory, 0, bytes);
  return memory;
}

int main(void) {
  halo_convolve_layer layer = {.size = sizeof layer,
                               .images = 1, .channels = 64, .height = 56, .width = 56,
                               .filters = 64, .filter_height = 3, .filter_width = 3,
                               .padding_h = 1, .padding_w = 1,
                               .bias = 1};
  halo_convolve_plan* plan;
  if (halo_convolve_create(&plan, &layer) != HALO_CONVOLVE_OK) {
    fprintf(stderr, "%s\n", halo_convolve_last_error());
    return 1;
  }

  /* Yours: from wherever your network has them. */
  float* input = device_memory(sizeof(float) * 64 * 56 * 56);
  float* filters = device_memory(sizeof(float) * 64 * 64 * 3 * 3);
  float* bias = device_memory(sizeof(float) * 64);
  float* output = device_memory(sizeof(float) * 64 * 56 * 56);

  float* packed = device_memory(halo_convolve_packed_bytes(plan));
  float* workspace = device_memory(halo_convolve_workspace_bytes(plan));
  cudaStream_t stream = 0;
  int failed = halo_convolve_pack(plan, filters, packed, stream); /* once for these filters */
  failed |= halo_convolve_run(plan, input, packed, bias, 1, output, workspace, stream);
  if (failed || cudaDeviceSynchronize() != cudaSuccess) {
    fprintf(stderr, "%s\n", halo_convolve_last_error());
    return 1;
  }
  printf("%s has run\n", halo_convolve_kernel(plan));
  halo_convolve_destroy(plan);
  return 0;
}
/* [/doc:program] */
