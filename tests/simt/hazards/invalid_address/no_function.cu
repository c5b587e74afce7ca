using Function = void (*)(int*);
__device__ void set(int* out) { *out = 1; }

__global__ void call(int* out, long skip) {
  Function its = set;
  its = reinterpret_cast<Function>(reinterpret_cast<char*>(its) + skip);
  its(out);
}

int main() {
  int* out;
  cudaMalloc(&out, sizeof(int));
  call<<<1, 1>>>(out, 4);
  return cudaDeviceSynchronize();
}
