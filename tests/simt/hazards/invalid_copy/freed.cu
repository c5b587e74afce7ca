
int main() {
  float host[10] = {}, *cells;
  cudaMalloc(&cells, sizeof host);
  cudaMemset(cells, 0, sizeof host);
  cudaFree(cells);
  cudaMemcpy(host, cells, sizeof host, cudaMemcpyDeviceToHost);
  return cudaDeviceSynchronize();
}
