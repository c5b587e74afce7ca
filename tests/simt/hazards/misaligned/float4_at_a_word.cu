__global__ void copy(const float* in, float4* out) {
  out[0] = *reinterpret_cast<const float4*>(in + 1);
}

int main() {
  float* in;
  float4* out;
  cudaMalloc(&in, 8 * sizeof(float));
  cudaMalloc(&out, sizeof(float4));
  cudaMemset(in, 0, 8 * sizeof(float));
  copy<<<1, 1>>>(in, out);
  return cudaDeviceSynchronize();
}
