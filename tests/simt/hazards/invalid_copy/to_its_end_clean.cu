
int main() {
  float host[12] = {}, *cells;
  cudaMalloc(&cells, 10 * sizeof(float));
  cudaMemcpy(cells, host, 10 * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(host + 1, cells + 1, 9 * sizeof(float), cudaMemcpyDefault);
  cudaMemset(cells + 9, 0, sizeof(float));
  return cudaDeviceSynchronize();
}
