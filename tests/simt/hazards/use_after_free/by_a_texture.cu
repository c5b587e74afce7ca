__global__ void fetch(cudaTextureObject_t linear, float* out) {
  out[threadIdx.x] = tex1Dfetch<float>(linear, threadIdx.x);
}

int main() {
  float *data, *out;
  cudaMalloc(&data, 32 * sizeof(float));
  cudaMalloc(&out, 32 * sizeof(float));
  cudaMemset(data, 0, 32 * sizeof(float));
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeLinear;
  resource.res.linear.devPtr = data;
  resource.res.linear.desc = cudaCreateChannelDesc<float>();
  resource.res.linear.sizeInBytes = 32 * sizeof(float);
  cudaTextureDesc texture{};
  cudaTextureObject_t linear;
  cudaCreateTextureObject(&linear, &resource, &texture, nullptr);
  fetch<<<1, 32>>>(linear, out);
  cudaFree(data);
  fetch<<<1, 32>>>(linear, out);
  cudaDeviceSynchronize();
  return 0;
}
