int main() {
  int* data;
  cudaMalloc(&data, 64 * sizeof(int));
  cudaMemset(data, 0, 64 * sizeof(int));
  cudaMemcpy(data + 32, data, 32 * sizeof(int), cudaMemcpyDeviceToDevice);
  cudaMemcpy2D(data + 8, 64, data, 64, 32, 4, cudaMemcpyDeviceToDevice);
  return cudaDeviceSynchronize();
}
