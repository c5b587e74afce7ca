// The last number of one vector was never set, and goes into a product: that is no padding.
__global__ void doubled(const float4* in, float4* out) {
  float4 its = in[threadIdx.x];
  its.w *= 2;
  out[threadIdx.x] = its;
}

int main() {
  float4 *in, *out;
  cudaMalloc(&in, 32 * sizeof(float4));
  cudaMalloc(&out, 32 * sizeof(float4));
  cudaMemset(in, 0, 32 * sizeof(float4) - sizeof(float));
  doubled<<<1, 32>>>(in, out);
  return cudaDeviceSynchronize();
}
