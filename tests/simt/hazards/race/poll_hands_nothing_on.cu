// Both ask for a flag that nobody has raised. Who asks hands nothing on by that.
__global__ void ask(int* flag, int* data, int* out) {
  if (blockIdx.x == 0) {
    data[0] = 1;
    __threadfence();
    out[0] = atomicAdd(flag, 0);
  } else {
    const int seen = atomicAdd(flag, 0);
    __threadfence();
    out[1] = data[0] + seen;
  }
}

int main() {
  int *flag, *data, *out;
  cudaMalloc(&flag, sizeof(int));
  cudaMalloc(&data, sizeof(int));
  cudaMalloc(&out, 2 * sizeof(int));
  cudaMemset(flag, 0, sizeof(int));
  ask<<<2, 1>>>(flag, data, out);
  return cudaDeviceSynchronize();
}
