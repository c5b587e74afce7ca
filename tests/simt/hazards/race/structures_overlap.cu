// Records of 24 bytes, 16 bytes apart.
struct Six {
  int value[6];
};

__global__ void fill(int* out) {
  const int t = threadIdx.x;
  *reinterpret_cast<Six*>(out + 4 * t) = {{t, t, t, t, t, t}};
}

int main() {
  int* out;
  cudaMalloc(&out, 130 * sizeof(int));
  fill<<<1, 32>>>(out);
  return cudaDeviceSynchronize();
}
