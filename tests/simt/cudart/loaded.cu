// What library.cu loads: no host code calls it.
__constant__ float factor = 2;
__managed__ float managed;

extern "C" __global__ void scale(float* data) {
  data[threadIdx.x] = factor * threadIdx.x + managed;
}
__global__ void other() {}
