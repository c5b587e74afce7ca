// The warp says that the tile is full before it is.
__global__ void hand_over(int* out) {
  __shared__ int tile[32];
  const int lane = threadIdx.x % 32;
  if (threadIdx.x < 32) {
    tile[lane] = 0;
    asm volatile("bar.arrive 1, 64;" ::: "memory");
    tile[lane] = lane;
  } else {
    asm volatile("bar.sync 1, 64;" ::: "memory");
    out[lane] = tile[lane];
  }
}

int main() {
  int* out;
  cudaMalloc(&out, 32 * sizeof(int));
  hand_over<<<1, 64>>>(out);
  return cudaDeviceSynchronize();
}
