#include <cuda_runtime.h>

// A cudaArray_t is no pointer to its texels: cudaMemcpy2DToArray copies there.
int main() {
  const cudaChannelFormatDesc bytes = cudaCreateChannelDesc<unsigned char>();
  static unsigned char texels[32 * 32];
  cudaArray_t array;
  cudaMallocArray(&array, &bytes, 32, 32);
  cudaMemcpy(array, texels, sizeof texels, cudaMemcpyHostToDevice);
  cudaFreeArray(array);
  return 0;
}
