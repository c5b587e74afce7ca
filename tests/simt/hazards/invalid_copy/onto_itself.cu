int main() {
  int* data;
  cudaMalloc(&data, 64 * sizeof(int));
  cudaMemset(data, 0, 64 * sizeof(int));
  // The first 48 numbers move up by 16.
  cudaMemcpy(data + 16, data, 48 * sizeof(int), cudaMemcpyDeviceToDevice);
  return cudaDeviceSynchronize();
}
