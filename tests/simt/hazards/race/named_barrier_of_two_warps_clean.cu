// A warp fills the tile and the other reads it: each arrives at one barrier and waits at the other.
__global__ void hand_over(int* out) {
  __shared__ int tile[32];
  const int lane = threadIdx.x % 32;
  for (int round = 0; round < 3; ++round) {
    if (threadIdx.x < 32) {
      tile[lane] = lane + round;
      asm volatile("bar.arrive 1, 64;" ::: "memory");
      asm volatile("bar.sync 2, 64;" ::: "memory");
    } else {
      asm volatile("bar.sync 1, 64;" ::: "memory");
      out[round * 32 + lane] = tile[31 - lane];
      asm volatile("bar.arrive 2, 64;" ::: "memory");
    }
  }
}

int main() {
  int* out;
  cudaMalloc(&out, 96 * sizeof(int));
  hand_over<<<1, 64>>>(out);
  return cudaDeviceSynchronize();
}
