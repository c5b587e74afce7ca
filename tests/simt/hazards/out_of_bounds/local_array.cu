__global__ void pick(int* out, int n) {
  int a[4] = {1, 2, 3, 4}, b[4] = {5, 6, 7, 8};
  a[n] = 9;
  out[0] = a[n & 3] + b[n & 3];
}

int main() {
  int* out;
  cudaMalloc(&out, sizeof(int));
  pick<<<1, 1>>>(out, 5);
  return cudaDeviceSynchronize();
}
