
int main() {
  float* cells;
  cudaMalloc(&cells, 10 * sizeof(float));
  cudaMemset(cells + 2, 0, 10 * sizeof(float));
  return cudaDeviceSynchronize();
}
