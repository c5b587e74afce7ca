
int main() {
  float host[12] = {}, *cells;
  cudaMalloc(&cells, 10 * sizeof(float));
  cudaMemcpy(cells, host, sizeof host, cudaMemcpyHostToDevice);
  return cudaDeviceSynchronize();
}
