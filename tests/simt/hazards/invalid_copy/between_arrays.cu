
int main() {
  int value = 7, copy = 0, *from, *to;
  cudaMalloc(&from, sizeof value);
  cudaMalloc(&to, sizeof value);
  cudaMemcpy(from, &value, sizeof value, cudaMemcpyHostToDevice);
  if (cudaMemcpy(to, from, sizeof value, cudaMemcpyHostToDevice) != cudaSuccess) return 1;
  cudaMemcpy(&copy, to, sizeof copy, cudaMemcpyDeviceToHost);
  return copy == value ? cudaDeviceSynchronize() : 1;
}
