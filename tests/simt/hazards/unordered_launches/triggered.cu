
__global__ void twice(int* cells) {
  cudaTriggerProgrammaticLaunchCompletion();
  cells[threadIdx.x] *= 2;
}

__global__ void add(const int* in, int* out) {
  // cudaGridDependencySynchronize() is missing
  out[threadIdx.x] = in[threadIdx.x] + 1;
}

int main() {
  int *in, *out;
  cudaMalloc(&in, 64 * sizeof(int));
  cudaMalloc(&out, 64 * sizeof(int));
  cudaMemset(in, 0, 64 * sizeof(int));
  twice<<<1, 64>>>(in);
  cudaLaunchAttribute early = {};
  early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  early.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = 1;
  config.blockDim = 64;
  config.attrs = &early;
  config.numAttrs = 1;
  cudaLaunchKernelEx(&config, add, static_cast<const int*>(in), out);
  return cudaDeviceSynchronize();
}
