// An array of 8 rows, and one row too many.
#include <cuda_runtime.h>

int main() {
  const cudaChannelFormatDesc floats = cudaCreateChannelDesc<float>();
  static float texels[9][8];
  cudaArray_t array;
  cudaMallocArray(&array, &floats, 8, 8);
  cudaMemcpy2DToArray(array, 0, 0, texels, 32, 32, 9, cudaMemcpyHostToDevice);
  cudaFreeArray(array);
  return 0;
}
