// The kernel would have seen the flag, and has an end of its own.
__global__ void work(const volatile int* stop, int* rounds) {
  int done = 0;
  while (done < 100 && *stop == 0) ++done;
  *rounds = done;
}

int main() {
  int *stop, *rounds;
  cudaMallocHost(&stop, sizeof(int));
  cudaMalloc(&rounds, sizeof(int));
  *stop = 0;
  work<<<1, 1>>>(stop, rounds);
  *static_cast<volatile int*>(stop) = 1;
  return cudaDeviceSynchronize();
}
