// An array in a parameter, and an index past its end: the next parameter.
struct Weights {
  float all[8];
};

__global__ void pick(const __grid_constant__ Weights weights, float* out, int first) {
  out[threadIdx.x] = weights.all[threadIdx.x + first];
}

int main() {
  float* out;
  cudaMalloc(&out, 8 * sizeof(float));
  pick<<<1, 8>>>({}, out, 0);
  pick<<<1, 8>>>({}, out, 1);
  return cudaDeviceSynchronize() == cudaSuccess;
}
