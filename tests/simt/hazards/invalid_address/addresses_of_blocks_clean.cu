// What a block finds at its own addresses and at those of others, in every way to write them; and whose they are.
#include <cooperative_groups.h>

__device__ unsigned own_address(const void* at) {
  return static_cast<unsigned>(__cvta_generic_to_shared(at));
}
__device__ int load_of_cluster(unsigned at) {
  int value;
  asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(value) : "r"(at) : "memory");
  return value;
}
__device__ bool is_own(const void* at) {
  int is;
  asm("{.reg .pred p; isspacep.shared::cta p, %1; selp.u32 %0, 1, 0, p;}" : "=r"(is) : "l"(at));
  return is != 0;
}
__device__ bool is_of_cluster(const void* at) {
  int is;
  asm("{.reg .pred p; isspacep.shared::cluster p, %1; selp.u32 %0, 1, 0, p;}" : "=r"(is) : "l"(at));
  return is != 0;
}

__global__ void __cluster_dims__(4) look(int* wrong) {
  __shared__ int tile[64];
  auto cluster = cooperative_groups::this_cluster();
  const unsigned rank = cluster.block_rank(), other = rank ^ 1, lane = threadIdx.x;
  tile[lane] = static_cast<int>(100 * rank + lane);
  tile[lane + 32] = 0;
  cluster.sync();
  const unsigned own = own_address(tile + lane);
  unsigned there;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(own), "r"(other));
  const int* const far = cluster.map_shared_rank(tile + lane, other);
  const int expected = static_cast<int>(100 * other + lane);
  // Lanes of one access that reach different blocks, and their own among them.
  const int* const mixed = cluster.map_shared_rank(tile + lane, lane % 4);
  const bool is_right =
      own >> 24 == rank && there >> 24 == other && (own ^ there) >> 24 == 1 &&
      (own & 0xffffff) == (there & 0xffffff) && load_of_cluster(there) == expected &&
      load_of_cluster(own) == tile[lane] && *far == expected &&
      load_of_cluster((own & 0xffffff) | 3 << 24) == static_cast<int>(300 + lane) &&
      *mixed == static_cast<int>(100 * (lane % 4) + lane) &&
      cluster.query_shared_rank(far) == other && cluster.query_shared_rank(tile) == rank &&
      is_own(tile) && !is_own(far) && is_of_cluster(tile) && is_of_cluster(far) &&
      !is_of_cluster(wrong);
  atomicAdd(cluster.map_shared_rank(tile + 32 + lane, other), 1);
  cluster.sync();
  if (!is_right || tile[32 + lane] != 1) atomicAdd(wrong, 1);
}

int main() {
  int* wrong;
  cudaMalloc(&wrong, sizeof(int));
  cudaMemset(wrong, 0, sizeof(int));
  look<<<8, 32>>>(wrong);
  int count = -1;
  cudaMemcpy(&count, wrong, sizeof count, cudaMemcpyDeviceToHost);
  return count != 0;
}
