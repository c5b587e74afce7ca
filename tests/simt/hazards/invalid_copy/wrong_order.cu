
int main() {
  float host[10] = {}, *cells;
  cudaMalloc(&cells, sizeof host);
  cudaMemcpy(host, cells, sizeof host, cudaMemcpyHostToDevice);
  return cudaDeviceSynchronize();
}
