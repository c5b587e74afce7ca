// The last float4 reaches over the end.
__global__ void copy(const float* in, float4* out) {
  out[threadIdx.x] = reinterpret_cast<const float4*>(in)[threadIdx.x];
}

int main() {
  float* in;
  float4* out;
  cudaMalloc(&in, 30 * sizeof(float));
  cudaMalloc(&out, 8 * sizeof(float4));
  cudaMemset(in, 0, 30 * sizeof(float));
  copy<<<1, 8>>>(in, out);
  return cudaDeviceSynchronize();
}
