// Stores to the shared memory of a cluster's blocks that arrive at a barrier there: kernels that are right, and such
// that are not.
#include <cooperative_groups.h>
#include <cuda_runtime.h>

#include <cstdint>
#include <cuda/ptx>

#include "device_array.hpp"
#include "sends.hpp"

namespace cg = cooperative_groups;
namespace ptx = cuda::ptx;

namespace sends {
namespace {

constexpr int kThreads = 64;

// ---- What all of them do ----

// One thread sets the barrier up for so many bytes, before its block says that it has begun.
__device__ void set_up(std::uint64_t* arrived, std::uint32_t bytes) {
  if (threadIdx.x == 0) {
    ptx::mbarrier_init(arrived, 1);
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
    ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, arrived,
                                   bytes);
  }
  __cluster_barrier_arrive_relaxed();
}

// And all blocks of the cluster have begun.
__device__ void begin(std::uint64_t* arrived, std::uint32_t bytes) {
  set_up(arrived, bytes);
  cg::this_cluster().barrier_wait();
}

__device__ void wait_for(std::uint64_t* arrived, std::uint32_t parity) {
  while (!ptx::mbarrier_try_wait_parity(ptx::sem_acquire, ptx::scope_cluster, arrived, parity)) {
  }
}

__device__ int neighbour() {
  const cg::cluster_group cluster = cg::this_cluster();
  return (cluster.block_rank() + 1) % cluster.num_blocks();
}

// ---- Right ----

// Each block sends a tile to the next one.
__global__ void __cluster_dims__(4) ring(float* out) {
  __shared__ float4 tile[kThreads];
  __shared__ std::uint64_t arrived;
  const cg::cluster_group cluster = cg::this_cluster();
  begin(&arrived, sizeof tile);
  const float value = static_cast<float>(blockIdx.x * kThreads + threadIdx.x);
  float4* const its = cluster.map_shared_rank(tile, neighbour());
  ptx::st_async(reinterpret_cast<float*>(its + threadIdx.x), {value, 1.0f, 2.0f, 3.0f},
                cluster.map_shared_rank(&arrived, neighbour()));
  wait_for(&arrived, 0);
  const float4 got = tile[kThreads - 1 - threadIdx.x];
  out[blockIdx.x * kThreads + threadIdx.x] = got.x + got.y + got.z + got.w;
}

bool run_ring() {
  DeviceArray<float> out(8 * kThreads);
  ring<<<8, kThreads>>>(out.get());
  return out.holds([](int i) {
    const int block = i / kThreads, from = block / 4 * 4 + (block + 3) % 4;
    return from * kThreads + kThreads - 1 - i % kThreads + 6;
  });
}

// Each lane of the first warp sends to one block: to its own as well. The barrier lies in dynamic shared memory.
__global__ void __cluster_dims__(8) to_all(float* out) {
  extern __shared__ std::uint64_t arrived[];
  __shared__ float cells[8];
  const cg::cluster_group cluster = cg::this_cluster();
  begin(arrived, sizeof cells);
  const unsigned rank = cluster.block_rank();
  if (threadIdx.x < 8) {
    ptx::st_async(cluster.map_shared_rank(cells + rank, threadIdx.x), static_cast<float>(rank + 1),
                  cluster.map_shared_rank(arrived, threadIdx.x));
  }
  wait_for(arrived, 0);
  float sum = 0;
  for (const float cell : cells) sum += cell;
  out[blockIdx.x * kThreads + threadIdx.x] = sum;
}

bool run_to_all() {
  DeviceArray<float> out(16 * kThreads);
  to_all<<<16, kThreads, sizeof(std::uint64_t)>>>(out.get());
  return out.holds([](int) { return 36; });
}

// One barrier, again and again: a step's bytes are expected before anybody may send them, and what one step brought
// has been read before the next is sent.
__global__ void __cluster_dims__(2) steps(int* out) {
  __shared__ int2 tile[kThreads];
  __shared__ std::uint64_t arrived;
  const cg::cluster_group cluster = cg::this_cluster();
  const int other = cluster.block_rank() ^ 1;
  begin(&arrived, sizeof tile);
  int sum = 0;
  for (int step = 0; step < 4; ++step) {
    ptx::st_async(reinterpret_cast<int*>(cluster.map_shared_rank(tile, other) + threadIdx.x),
                  {static_cast<int>(threadIdx.x), step}, cluster.map_shared_rank(&arrived, other));
    wait_for(&arrived, step % 2);
    if (threadIdx.x == 0) {
      ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &arrived,
                                     sizeof tile);
    }
    const int2 got = tile[kThreads - 1 - threadIdx.x];
    sum += got.x * (got.y + 1);
    cluster.sync();
  }
  out[blockIdx.x * kThreads + threadIdx.x] = sum;
}

bool run_steps() {
  DeviceArray<int> out(2 * kThreads);
  steps<<<2, kThreads>>>(out.get());
  return out.holds([](int i) { return 10 * (kThreads - 1 - i % kThreads); });
}

// Without clusters it is a barrier for the threads of a block.
__global__ void arrivals(float* out) {
  __shared__ float tile[kThreads];
  __shared__ std::uint64_t all;
  if (threadIdx.x == 0) ptx::mbarrier_init(&all, kThreads);
  __syncthreads();
  tile[threadIdx.x] = static_cast<float>(threadIdx.x);
  ptx::mbarrier_arrive(&all);
  while (!ptx::mbarrier_try_wait_parity(&all, 0)) {
  }
  out[threadIdx.x] = tile[kThreads - 1 - threadIdx.x];
}

bool run_arrivals() {
  DeviceArray<float> out(kThreads);
  arrivals<<<1, kThreads>>>(out.get());
  return out.holds([](int i) { return kThreads - 1 - i; });
}

// A thread that looks now and then, and sends what the other block needs before it can go on.
__global__ void __cluster_dims__(2) looks_now_and_then(int* out) {
  __shared__ int cell;
  __shared__ std::uint64_t arrived;
  const cg::cluster_group cluster = cg::this_cluster();
  const int other = cluster.block_rank() ^ 1;
  begin(&arrived, sizeof cell);
  if (threadIdx.x == 0) {
    int looks = 0;
    while (!ptx::mbarrier_try_wait_parity(&arrived, 0)) {
      if (looks++ == 1) {
        ptx::st_async(cluster.map_shared_rank(&cell, other), static_cast<int>(blockIdx.x),
                      cluster.map_shared_rank(&arrived, other));
      }
    }
    if (looks < 2) {
      ptx::st_async(cluster.map_shared_rank(&cell, other), static_cast<int>(blockIdx.x),
                    cluster.map_shared_rank(&arrived, other));
    }
    out[blockIdx.x] = cell;
  }
  cluster.sync();
}

bool run_looks_now_and_then() {
  DeviceArray<int> out(4);
  looks_now_and_then<<<4, kThreads>>>(out.get());
  return out.download() == std::vector<int>{1, 0, 3, 2};
}

// ---- Counted ----

template <typename T>
__device__ void send(T* to, std::uint64_t* arrived);
template <>
__device__ void send(float* to, std::uint64_t* arrived) {
  ptx::st_async(to, 1.0f, arrived);
}
template <>
__device__ void send(float2* to, std::uint64_t* arrived) {
  ptx::st_async(reinterpret_cast<float*>(to), {1.0f, 2.0f}, arrived);
}
template <>
__device__ void send(float4* to, std::uint64_t* arrived) {
  ptx::st_async(reinterpret_cast<float*>(to), {1.0f, 2.0f, 3.0f, 4.0f}, arrived);
}

// Lane l sends to block (own + first + l * step) of four.
template <typename T, int stride, int first, int step>
__global__ void __cluster_dims__(4) counted_send(float* out) {
  __shared__ T cells[kThreads * stride];
  __shared__ std::uint64_t arrived;
  const cg::cluster_group cluster = cg::this_cluster();
  begin(&arrived, kThreads * sizeof(T));
  const int to = (cluster.block_rank() + first + threadIdx.x * step) % 4;
  T* const its = cluster.map_shared_rank(cells, to) + threadIdx.x * stride;
  std::uint64_t* const there = cluster.map_shared_rank(&arrived, to);
  send(its, there);
  wait_for(&arrived, 0);
  out[blockIdx.x * kThreads + threadIdx.x] = 1;
}

template <void (*kernel)(float*)>
bool run_counted() {
  DeviceArray<float> out(4 * kThreads);
  kernel<<<4, kThreads>>>(out.get());
  return out.download() == std::vector<float>(4 * kThreads, 1.0f);
}

// ---- Not right ----

__global__ void __cluster_dims__(2) read_too_early(float* out) {
  __shared__ float tile[kThreads];
  __shared__ std::uint64_t arrived;
  const cg::cluster_group cluster = cg::this_cluster();
  const int other = cluster.block_rank() ^ 1;
  tile[threadIdx.x] = 0;
  begin(&arrived, sizeof tile);
  cluster.sync();
  ptx::st_async(cluster.map_shared_rank(tile + threadIdx.x, other), 1.0f,  // BUG read_too_early
                cluster.map_shared_rank(&arrived, other));
  const float value = tile[threadIdx.x];  // OTHER read_too_early
  wait_for(&arrived, 0);
  out[blockIdx.x * kThreads + threadIdx.x] = value;
}

// One thread waits, and the others do not wait for that one.
__global__ void __cluster_dims__(2) one_thread_waits(float* out) {
  __shared__ float tile[kThreads];
  __shared__ std::uint64_t arrived;
  const cg::cluster_group cluster = cg::this_cluster();
  const int other = cluster.block_rank() ^ 1;
  tile[threadIdx.x] = 0;
  begin(&arrived, sizeof tile);
  cluster.sync();
  ptx::st_async(cluster.map_shared_rank(tile + threadIdx.x, other), 1.0f,  // BUG one_thread_waits
                cluster.map_shared_rank(&arrived, other));
  if (threadIdx.x == 0) wait_for(&arrived, 0);
  out[blockIdx.x * kThreads + threadIdx.x] = tile[threadIdx.x];  // OTHER one_thread_waits
  cluster.sync();
}

// The barrier says that the second store has arrived, and says nothing of the first.
__global__ void __cluster_dims__(2) plain_store_before(float* out) {
  __shared__ float tile[kThreads];
  __shared__ float last;
  __shared__ std::uint64_t arrived;
  const cg::cluster_group cluster = cg::this_cluster();
  const int other = cluster.block_rank() ^ 1;
  begin(&arrived, sizeof last);
  cluster.map_shared_rank(tile, other)[threadIdx.x] = 1;  // BUG plain_store_before
  if (threadIdx.x == kThreads - 1) {
    ptx::st_async(cluster.map_shared_rank(&last, other), 1.0f,
                  cluster.map_shared_rank(&arrived, other));
  }
  wait_for(&arrived, 0);
  const float value = tile[threadIdx.x];  // OTHER plain_store_before
  cluster.sync();
  out[blockIdx.x * kThreads + threadIdx.x] = value;
}

// The second store does not know whether the first has been waited for.
__global__ void __cluster_dims__(2) sent_twice(float* out) {
  __shared__ float cell;
  __shared__ std::uint64_t arrived;
  const cg::cluster_group cluster = cg::this_cluster();
  const int other = cluster.block_rank() ^ 1;
  begin(&arrived, 2 * sizeof cell);
  if (threadIdx.x == 0) {
    float* const its = cluster.map_shared_rank(&cell, other);
    std::uint64_t* const there = cluster.map_shared_rank(&arrived, other);
    ptx::st_async(its, 1.0f, there);  // BUG sent_twice
    ptx::st_async(its, 2.0f, there);  // OTHER sent_twice
  }
  wait_for(&arrived, 0);
  out[blockIdx.x * kThreads + threadIdx.x] = cell;
}

// Nothing says that the other block has read what is overwritten.
__global__ void __cluster_dims__(2) still_read(float* out) {
  __shared__ float tile[kThreads];
  __shared__ std::uint64_t arrived;
  const cg::cluster_group cluster = cg::this_cluster();
  const int other = cluster.block_rank() ^ 1;
  tile[threadIdx.x] = 0;
  begin(&arrived, sizeof tile);
  cluster.sync();
  float* const its = cluster.map_shared_rank(tile, other) + threadIdx.x;
  std::uint64_t* const there = cluster.map_shared_rank(&arrived, other);
  float value = tile[threadIdx.x];  // OTHER still_read
  ptx::st_async(its, 1.0f, there);  // BUG still_read
  wait_for(&arrived, 0);
  __syncthreads();
  value += tile[kThreads - 1 - threadIdx.x];
  out[blockIdx.x * kThreads + threadIdx.x] = value;
}

// The arrival is relaxed, and no fence says that the barrier is there.
__global__ void __cluster_dims__(2) without_fence(float* out) {
  __shared__ float tile[kThreads];
  __shared__ std::uint64_t arrived;
  const cg::cluster_group cluster = cg::this_cluster();
  const int other = cluster.block_rank() ^ 1;
  if (threadIdx.x == 0) {
    ptx::mbarrier_init(&arrived, 1);  // OTHER without_fence
    ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &arrived,
                                   sizeof tile);
  }
  __syncthreads();
  __cluster_barrier_arrive_relaxed();
  cluster.barrier_wait();
  ptx::st_async(cluster.map_shared_rank(tile + threadIdx.x, other), 1.0f,  // BUG without_fence
                cluster.map_shared_rank(&arrived, other));
  wait_for(&arrived, 0);
  out[blockIdx.x * kThreads + threadIdx.x] = tile[threadIdx.x];
}

__global__ void __cluster_dims__(2) without_syncthreads(float* out) {
  __shared__ std::uint64_t all;
  if (threadIdx.x == 0) ptx::mbarrier_init(&all, kThreads);  // OTHER without_syncthreads
  ptx::mbarrier_arrive(&all);                                // BUG without_syncthreads
  out[blockIdx.x * kThreads + threadIdx.x] = 1;
}

__global__ void __cluster_dims__(2) never_set_up(float* out) {
  __shared__ std::uint64_t all;
  ptx::mbarrier_arrive(&all);  // BUG never_set_up
  out[blockIdx.x * kThreads + threadIdx.x] = 1;
}

__global__ void __cluster_dims__(2) too_few_bytes(float* out) {
  __shared__ float tile[kThreads];
  __shared__ std::uint64_t arrived;
  const cg::cluster_group cluster = cg::this_cluster();
  const int other = cluster.block_rank() ^ 1;
  begin(&arrived, sizeof tile);
  if (threadIdx.x < kThreads - 1) {
    ptx::st_async(cluster.map_shared_rank(tile + threadIdx.x, other), 1.0f,
                  cluster.map_shared_rank(&arrived, other));
  }
  while (!ptx::mbarrier_try_wait_parity(&arrived, 0)) {  // BUG too_few_bytes
  }
  out[blockIdx.x * kThreads + threadIdx.x] = tile[threadIdx.x];
}

__global__ void __cluster_dims__(2) barrier_of_another(float* out) {
  __shared__ float tile[kThreads];
  __shared__ std::uint64_t arrived;
  const cg::cluster_group cluster = cg::this_cluster();
  begin(&arrived, sizeof tile);
  float* const its = cluster.map_shared_rank(tile + threadIdx.x, cluster.block_rank() ^ 1);
  ptx::st_async(its, 1.0f, &arrived);  // BUG barrier_of_another
  out[blockIdx.x * kThreads + threadIdx.x] = 1;
  cluster.sync();
}

__global__ void __cluster_dims__(2) waits_at_another(float* out) {
  __shared__ std::uint64_t arrived;
  const cg::cluster_group cluster = cg::this_cluster();
  begin(&arrived, 0);
  std::uint64_t* const its = cluster.map_shared_rank(&arrived, cluster.block_rank() ^ 1);
  const bool is_there = ptx::mbarrier_try_wait_parity(its, 0);  // BUG waits_at_another
  out[blockIdx.x * kThreads + threadIdx.x] = is_there;
  cluster.sync();
}

__global__ void __cluster_dims__(2) nobody_waits(float* out) {
  __shared__ float tile[kThreads];
  __shared__ std::uint64_t arrived;
  const cg::cluster_group cluster = cg::this_cluster();
  const int other = cluster.block_rank() ^ 1;
  begin(&arrived, sizeof tile);
  ptx::st_async(cluster.map_shared_rank(tile + threadIdx.x, other), 1.0f,  // BUG nobody_waits
                cluster.map_shared_rank(&arrived, other));
  out[blockIdx.x * kThreads + threadIdx.x] = 1;
}

__global__ void __cluster_dims__(2) sent_before_it_begins(float* out) {
  __shared__ float tile[kThreads];
  __shared__ std::uint64_t arrived;
  const cg::cluster_group cluster = cg::this_cluster();
  set_up(&arrived, sizeof tile);
  if (cluster.block_rank() == 1) {
    ptx::st_async(cluster.map_shared_rank(tile + threadIdx.x, 0), 1.0f,
                  cluster.map_shared_rank(&arrived, 0));
  }
  cluster.barrier_wait();
  if (cluster.block_rank() == 0) wait_for(&arrived, 0);
  out[blockIdx.x * kThreads + threadIdx.x] = 1;
}

__global__ void __cluster_dims__(2) past_its_end(float* out) {
  __shared__ float tile[kThreads];
  __shared__ std::uint64_t arrived;
  const cg::cluster_group cluster = cg::this_cluster();
  const int other = cluster.block_rank() ^ 1;
  begin(&arrived, sizeof tile);
  float* const its = cluster.map_shared_rank(tile, other);
  ptx::st_async(its + threadIdx.x + 1, 1.0f,  // BUG past_its_end
                cluster.map_shared_rank(&arrived, other));
  out[blockIdx.x * kThreads + threadIdx.x] = 1;
  cluster.sync();
}

template <void (*kernel)(float*)>
void run_bug() {
  DeviceArray<float> out(2 * kThreads);
  kernel<<<2, kThreads>>>(out.get());
  cudaDeviceSynchronize();
  cudaDeviceReset();
}

}  // namespace

const std::vector<Case>& cases() {
  static const std::vector<Case> all = {
      {"a ring of blocks", &run_ring},
      {"all to all", &run_to_all},
      {"one barrier, step by step", &run_steps},
      {"arrivals of a block's threads", &run_arrivals},
      {"a thread that looks now and then", &run_looks_now_and_then},
  };
  return all;
}

const std::vector<Counted>& counted() {
  static const std::vector<Counted> all = {
      {"4_bytes", &run_counted<counted_send<float, 1, 1, 0>>, 8, 32},
      {"4_bytes_apart", &run_counted<counted_send<float, 4, 1, 0>>, 8, 128},
      {"8_bytes", &run_counted<counted_send<float2, 1, 1, 0>>, 8, 64},
      {"16_bytes", &run_counted<counted_send<float4, 1, 1, 0>>, 8, 128},
      {"4_bytes_to_all", &run_counted<counted_send<float, 1, 0, 1>>, 8, 128},
      {"16_bytes_to_all", &run_counted<counted_send<float4, 1, 0, 1>>, 8, 256},
      {"4_bytes_to_own", &run_counted<counted_send<float, 1, 0, 0>>, 8, 32},
      {"16_bytes_to_own", &run_counted<counted_send<float4, 1, 0, 0>>, 8, 128},
  };
  return all;
}

const std::vector<Bug>& bugs() {
  static const std::vector<Bug> all = {
      {"read_too_early", "race", true, "tile", &run_bug<read_too_early>},
      {"one_thread_waits", "race", true, "tile", &run_bug<one_thread_waits>},
      {"plain_store_before", "race", true, "tile", &run_bug<plain_store_before>},
      {"sent_twice", "race", true, "cell", &run_bug<sent_twice>},
      {"still_read", "race", true, "tile", &run_bug<still_read>},
      {"without_fence", "race", true, "arrived", &run_bug<without_fence>},
      {"without_syncthreads", "race", true, "all", &run_bug<without_syncthreads>},
      {"never_set_up", "uninitialized_shared_read", false, "all", &run_bug<never_set_up>},
      {"too_few_bytes", "endless_kernel", false, "", &run_bug<too_few_bytes>},
      {"barrier_of_another", "invalid_copy", false, "", &run_bug<barrier_of_another>},
      {"waits_at_another", "invalid_address", false, "", &run_bug<waits_at_another>},
      {"past_its_end", "out_of_bounds", false, "tile", &run_bug<past_its_end>},
      {"nobody_waits", "absent_block", false, "", &run_bug<nobody_waits>},
  };
  return all;
}

void send_before_it_begins() { run_bug<sent_before_it_begins>(); }

}  // namespace sends
