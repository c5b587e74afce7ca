// One block hands a value to the other.
__global__ void pass(int* value, int* flag, int* out) {
  if (blockIdx.x == 0) {
    *value = 7;
    atomicExch(flag, 1);
  } else {
    while (atomicAdd(flag, 0) == 0) {
    }
    __threadfence();
    *out = *value;
  }
}

int main() {
  int* words;
  cudaMalloc(&words, 3 * sizeof(int));
  cudaMemset(words, 0, 3 * sizeof(int));
  pass<<<2, 1>>>(words, words + 1, words + 2);
  return cudaDeviceSynchronize();
}
