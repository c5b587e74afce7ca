__global__ void mirror(cudaSurfaceObject_t image) {
  int value;
  surf2Dread(&value, image, (63 - threadIdx.x) * sizeof(int), 0);
  __syncthreads();
  surf2Dwrite(value, image, threadIdx.x * sizeof(int), 0);
}

int main() {
  cudaArray_t array;
  const cudaChannelFormatDesc texel = cudaCreateChannelDesc<int>();
  cudaMallocArray(&array, &texel, 64, 1, cudaArraySurfaceLoadStore);
  const int values[64] = {1, 2};
  cudaMemcpy2DToArray(array, 0, 0, values, sizeof values, sizeof values, 1, cudaMemcpyHostToDevice);
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  cudaSurfaceObject_t image;
  cudaCreateSurfaceObject(&image, &resource);
  mirror<<<1, 64>>>(image);
  return cudaDeviceSynchronize() != cudaSuccess;
}
