// Copies to and from arrays come in the turn of their own stream.
__global__ void fill(float* out, float value) { out[threadIdx.x] = value; }

int main() {
  cudaStream_t stream, other;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking);
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  cudaArray_t array;
  cudaMallocArray(&array, &format, 32, 2);
  float *rows, *back;
  constexpr int kBytes = 32 * sizeof(float);
  cudaMalloc(&rows, 2 * kBytes);
  cudaMalloc(&back, 2 * kBytes);
  fill<<<1, 64, 0, stream>>>(rows, 1);
  cudaMemcpy2DToArrayAsync(array, 0, 0, rows, kBytes, kBytes, 2, cudaMemcpyDeviceToDevice, stream);
  fill<<<1, 64, 0, stream>>>(rows, 2);
  cudaMemcpy2DToArrayAsync(array, 0, 1, rows, kBytes, kBytes, 1, cudaMemcpyDeviceToDevice, stream);
  cudaMemcpy2DFromArrayAsync(back, kBytes, array, 0, 0, kBytes, 2, cudaMemcpyDeviceToDevice,
                             stream);
  cudaStreamSynchronize(stream);
  float got[64];
  cudaMemcpy(got, back, sizeof got, cudaMemcpyDeviceToHost);
  return got[0] != 1 || got[32] != 2;
}
