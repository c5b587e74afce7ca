// Barriers that part of a block misses, warp operations that wait for ever, kernels that never end:
// planted, and the correct twins.
#include <cooperative_groups.h>
#include <cuda_runtime.h>

#include "hazard_runs.cuh"
#include "hazards.hpp"

namespace {

// ---- barriers ----

__global__ void barrier_in_both_branches(float* out) {
  const int t = threadIdx.x;
  if (t < 32) {
    out[blockIdx.x * 64 + t] = 1;
    __syncthreads();  // BUG barrier_in_both_branches
  } else {
    out[blockIdx.x * 64 + t] = 2;
    __syncthreads();  // OTHER barrier_in_both_branches
  }
}

__global__ void barrier_after_both_branches(float* out) {
  const int t = threadIdx.x;
  if (t < 32) {
    out[blockIdx.x * 64 + t] = 1;
  } else {
    out[blockIdx.x * 64 + t] = 2;
  }
  __syncthreads();
}

// Half of the block skips the first barrier and waits at the second.
__global__ void barrier_missed(float* out) {
  const int t = threadIdx.x;
  if (t % 2 == 0) __syncthreads();  // BUG barrier_missed
  out[blockIdx.x * 64 + t] = t;
  __syncthreads();  // OTHER barrier_missed
}

// The same where nothing but the barrier is in the branches, and both on one line.
__global__ void same_branches(float* out) {
  __shared__ float tile[64];
  const int t = threadIdx.x;
  tile[t] = t;
  if (t < 32) {
    __syncthreads();  // BUG same_branches
  } else {
    __syncthreads();  // OTHER same_branches
  }
  out[blockIdx.x * 64 + t] = tile[63 - t];
}

#define WAIT __syncthreads()
__global__ void same_branches_on_a_line(float* out) {
  __shared__ float tile[64];
  const int t = threadIdx.x;
  tile[t] = t;
  // clang-format off
  if (t < 32) WAIT; else WAIT;  // BUG same_branches_on_a_line
  // clang-format on
  out[blockIdx.x * 64 + t] = tile[63 - t];
}

__global__ void whole_block_returns(float* out) {
  const int t = threadIdx.x;
  if (blockIdx.x == 1) return;
  __syncthreads();
  out[blockIdx.x * 64 + t] = t;
}

__global__ void barrier_counts(float* out) {
  const int t = threadIdx.x;
  const int odd = __syncthreads_count(t % 2);
  const int any = __syncthreads_or(t == 63);
  const int all = __syncthreads_and(t < 63);
  out[blockIdx.x * 64 + t] = odd + any + all;
}

// ---- warp operations ----

__global__ void shuffle_with_lanes_elsewhere(float* out) {
  const int t = threadIdx.x;
  float value = t;
  if (t < 16) {
    value = __shfl_down_sync(0xffffffffu, value, 1);  // BUG shuffle_with_lanes_elsewhere
  }
  __syncthreads();
  out[t] = value;
}

__global__ void shuffle_with_its_own_mask(float* out) {
  const int t = threadIdx.x;
  float value = t;
  if (t < 16) value = __shfl_down_sync(0x0000ffffu, value, 1, 16);
  __syncthreads();
  out[t] = value;
}

__global__ void mask_without_the_caller(float* out) {
  const int t = threadIdx.x;
  out[t] = __shfl_sync(0x0000fffeu, 1.0f * t, 1);  // BUG mask_without_the_caller
}

__global__ void syncwarp_with_lanes_elsewhere(float* out) {
  const int t = threadIdx.x;
  if (t == 5) {
    __syncwarp();  // BUG syncwarp_with_lanes_elsewhere
  } else {
    __syncthreads();  // OTHER syncwarp_with_lanes_elsewhere
  }
  out[t] = t;
}

// Lanes 16 to 31 are gone; what lane 0 reads from lane 16 is undefined.
__global__ void shuffle_from_ended_lane(float* out) {
  const int t = threadIdx.x;
  if (t >= 16) return;
  out[t] = __shfl_down_sync(0xffffffffu, 1.0f * t, 16);  // BUG shuffle_from_ended_lane
}

__global__ void shuffle_among_lanes_left(float* out) {
  const int t = threadIdx.x;
  if (t >= 16) return;
  out[t] = __shfl_xor_sync(__activemask(), 1.0f * t, 1);
}

// ---- loops ----

__global__ void waits_for_nobody(float* out) {
  __shared__ int flag;
  const int t = threadIdx.x;
  if (t == 0) flag = 0;
  __syncthreads();
  if (t == 3) {
    while (atomicAdd(&flag, 0) == 0) {  // BUG waits_for_nobody
    }
  }
  __syncthreads();
  out[t] = t;
}

__global__ void loops_without_memory(float* out) {
  unsigned n = threadIdx.x + 1;
  while (n != 0) n = 2 * n + 1;  // BUG loops_without_memory
  out[threadIdx.x] = n;
}

// Thread 0 waits for a lane of its own warp, thread 1 for a thread of another warp: both come.
__global__ void waits_for_another_thread(float* out) {
  __shared__ int lane_flag;
  __shared__ int warp_flag;
  const int t = threadIdx.x;
  if (t == 0) {
    lane_flag = 0;
    warp_flag = 0;
  }
  __syncthreads();
  if (t == 0) {
    while (atomicAdd(&lane_flag, 0) == 0) {
    }
  }
  if (t == 1) {
    while (atomicAdd(&warp_flag, 0) == 0) {
    }
  }
  if (t == 31) atomicExch(&lane_flag, 1);
  if (t == 63) atomicExch(&warp_flag, 1);
  __syncthreads();
  out[blockIdx.x * 64 + t] = t;
}

// The same with a volatile variable: it ends, and it is a race.
__global__ void waits_for_a_volatile(float* out) {
  __shared__ volatile int flag;
  const int t = threadIdx.x;
  if (t == 0) flag = 0;
  __syncthreads();
  if (t == 0) {
    while (flag == 0) {  // BUG waits_for_a_volatile
    }
  }
  if (t == 63) flag = 1;  // OTHER waits_for_a_volatile
  __syncthreads();
  out[blockIdx.x * 64 + t] = t;
}

// ---- clusters (more of them in clusters.cu) ----

template <bool waits>
__device__ void read_another_block(float* out) {
  __shared__ float cells[64];
  const auto cluster = cooperative_groups::this_cluster();
  cells[threadIdx.x] = threadIdx.x;
  cluster.sync();
  const float* its = cluster.map_shared_rank(cells, cluster.block_rank() ^ 1);
  out[blockIdx.x * 64 + threadIdx.x] = its[63 - threadIdx.x];  // BUG block_may_have_ended
  if (waits) cluster.sync();
}

__global__ void __cluster_dims__(2) block_may_have_ended(float* out) {
  read_another_block<false>(out);
}

__global__ void __cluster_dims__(2) block_has_not_ended(float* out) {
  read_another_block<true>(out);
}

}  // namespace

const std::vector<HazardCase>& synchronisation_cases() {
  static const std::vector<HazardCase> cases = {
      {"barrier_in_both_branches", run<barrier_in_both_branches, 2, 64>},
      {"barrier_after_both_branches", run<barrier_after_both_branches, 2, 64>},
      {"barrier_missed", run<barrier_missed, 2, 64>},
      {"same_branches", run<same_branches, 2, 64>},
      {"same_branches_on_a_line", run<same_branches_on_a_line, 2, 64>},
      {"whole_block_returns", run<whole_block_returns, 2, 64>},
      {"barrier_counts", run<barrier_counts, 2, 64>},
      {"shuffle_with_lanes_elsewhere", run<shuffle_with_lanes_elsewhere, 1, 32>},
      {"shuffle_with_its_own_mask", run<shuffle_with_its_own_mask, 1, 32>},
      {"mask_without_the_caller", run<mask_without_the_caller, 1, 1>},
      {"syncwarp_with_lanes_elsewhere", run<syncwarp_with_lanes_elsewhere, 1, 32>},
      {"shuffle_from_ended_lane", run<shuffle_from_ended_lane, 1, 32>},
      {"shuffle_among_lanes_left", run<shuffle_among_lanes_left, 1, 32>},
      {"waits_for_nobody", run<waits_for_nobody, 1, 32>},
      {"loops_without_memory", run<loops_without_memory, 1, 32>},
      {"waits_for_another_thread", run<waits_for_another_thread, 2, 64>},
      {"waits_for_a_volatile", run<waits_for_a_volatile, 2, 64>},
      {"block_may_have_ended", run<block_may_have_ended, 2, 64>},
      {"block_has_not_ended", run<block_has_not_ended, 2, 64>},
  };
  return cases;
}
