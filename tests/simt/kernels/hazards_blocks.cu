// Races between the blocks of a launch, planted, and what is right between blocks.
#include <cuda_runtime.h>

#include "device_array.hpp"
#include "hazards.hpp"

namespace {

constexpr int kBlocks = 8;
constexpr int kThreads = 64;

// ---- nothing orders blocks ----

__device__ float shared_by_all[kThreads];

__global__ void tile_of_all_blocks(int*, float* out) {
  const int t = threadIdx.x;
  shared_by_all[t] = t;  // BUG tile_of_all_blocks
  __syncthreads();
  out[blockIdx.x * 64 + t] = shared_by_all[63 - t];  // OTHER tile_of_all_blocks
}

__global__ void sum_without_atomic(int* cells, float*) {
  if (threadIdx.x == 0) cells[0] += blockIdx.x + 1;  // BUG sum_without_atomic
}

__global__ void overlapping_outputs(int*, float* out) {
  out[blockIdx.x * 60 + threadIdx.x] = blockIdx.x;  // BUG overlapping_outputs
}

__global__ void neighbours_in_place(int*, float* out) {
  const int i = blockIdx.x * 64 + threadIdx.x;
  const float left = i > 0 ? out[i - 1] : 0;  // OTHER neighbours_in_place
  __syncthreads();
  out[i] = left + 1;  // BUG neighbours_in_place
}

__global__ void reset_by_one_block(int* cells, float*) {
  if (blockIdx.x == 3 && threadIdx.x == 0) cells[0] = 0;  // OTHER reset_by_one_block
  __syncthreads();
  atomicAdd(&cells[0], 1);  // BUG reset_by_one_block
}

__global__ void bytes_of_two_blocks(int* cells, float*) {
  auto* const bytes = reinterpret_cast<unsigned char*>(cells);
  if (threadIdx.x < 31)
    bytes[blockIdx.x * 30 + threadIdx.x] = blockIdx.x;  // BUG bytes_of_two_blocks
}

// ---- who hands on what ----

__device__ unsigned arrived;
__device__ float parts[kBlocks];

// As NVIDIA's threadFenceReduction: the last block adds up what all have left.
enum class Part { fenced, without_fence, after_fence };
template <Part part>
__device__ void add_parts(float* out) {
  __shared__ bool is_last;
  if (threadIdx.x == 0) {
    const float mine = blockIdx.x;
    if (part != Part::after_fence) parts[blockIdx.x] = mine;  // BUG last_block_without_fence
    if (part != Part::without_fence) __threadfence();
    if (part == Part::after_fence) parts[blockIdx.x] = mine;  // BUG part_after_fence
    is_last = atomicInc(&arrived, gridDim.x - 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (is_last && threadIdx.x == 0) {
    float sum = 0;
    for (unsigned b = 0; b < gridDim.x; ++b) sum += parts[b];  // adds the parts
    out[0] = sum;
  }
}

__global__ void last_block(int*, float* out) { add_parts<Part::fenced>(out); }
__global__ void last_block_without_fence(int*, float* out) { add_parts<Part::without_fence>(out); }
__global__ void part_after_fence(int*, float* out) { add_parts<Part::after_fence>(out); }

// As that sample resets its counter.
__global__ void last_block_resets(int* cells, float*) {
  if (threadIdx.x != 0) return;
  __threadfence();
  if (atomicAdd(&cells[0], 1) == static_cast<int>(gridDim.x) - 1) cells[0] = 0;
}

template <bool fenced>
__device__ void add_locked(int* cells) {
  if (threadIdx.x != 0) return;
  while (atomicCAS(&cells[0], 0, 1) != 0) {
  }
  if (fenced) __threadfence();
  cells[1] += 1;  // BUG lock_of_blocks_without_fence
  if (fenced) __threadfence();
  atomicExch(&cells[0], 0);
}
__global__ void lock_of_blocks(int* cells, float*) { add_locked<true>(cells); }
__global__ void lock_of_blocks_without_fence(int* cells, float*) { add_locked<false>(cells); }

__device__ unsigned next_turn;
__device__ int flags[kBlocks];
__device__ float sums[kBlocks];

// A chained scan: blocks take turns in the order in which they come.
__global__ void look_back(int*, float* out) {
  __shared__ unsigned turn;
  __shared__ float before;
  volatile int* const ready = flags;
  if (threadIdx.x == 0) {
    turn = atomicAdd(&next_turn, 1);
    float sum = 0;
    if (turn > 0) {
      while (ready[turn - 1] == 0) {
      }
      __threadfence();
      sum = sums[turn - 1];
    }
    sums[turn] = sum + 1;
    __threadfence();
    ready[turn] = 1;
    before = sum;
  }
  __syncthreads();
  out[turn * 64 + threadIdx.x] = before;
}

// All blocks would have to run at once, and an H200 holds 4,224.
__global__ void barrier_of_the_grid(int* cells) {
  if (threadIdx.x == 0) {
    atomicAdd(&cells[0], 1);
    while (atomicAdd(&cells[0], 0) < static_cast<int>(gridDim.x)) {  // BUG barrier_of_the_grid
    }
  }
  __syncthreads();
}

// ---- right without any order ----

__global__ void atomics_of_all_blocks(int* cells, float* out) {
  atomicAdd(&cells[threadIdx.x % 4], 1);
  atomicMax(&cells[4], static_cast<int>(blockIdx.x));
  out[blockIdx.x * 64 + threadIdx.x] = 0;
}

__global__ void halo_read_by_two(int* cells, float* out) {
  const int i = blockIdx.x * 64 + threadIdx.x;
  out[i] = cells[i % 300] + cells[(i + 1) % 300];
}

__global__ void updates_its_own(int*, float* out) {
  const int i = blockIdx.x * 64 + threadIdx.x;
  for (int round = 0; round < 3; ++round) {
    const float other = out[i ^ 1];
    __syncthreads();
    out[i] += other;
    __syncthreads();
  }
}

__global__ void bytes_of_a_row(int* cells, float*) {
  auto* const bytes = reinterpret_cast<unsigned char*>(cells);
  if (threadIdx.x < 30) bytes[blockIdx.x * 30 + threadIdx.x] = blockIdx.x;
}

__global__ void visited_by_blocks(int* cells, float* out) {
  const int v = threadIdx.x % 4;
  out[blockIdx.x * 64 + threadIdx.x] = 0;
  if (cells[v] == 0 && atomicExch(&cells[v], 1) == 0) atomicAdd(&cells[8], 1);
}

// ---- notes ----

__global__ void flag_of_all_blocks(int* cells, float*) {
  if (threadIdx.x == 0) cells[0] = 1;  // BUG flag_of_all_blocks
}

__global__ void relaxation(int* cells, float*) {
  if (threadIdx.x != 0) return;
  const int mine = cells[(blockIdx.x + 1) % kBlocks];  // OTHER relaxation
  atomicMin(&cells[blockIdx.x], mine + 1);             // BUG relaxation
}

template <auto kernel>
int run() {
  cudaDeviceReset();
  DeviceArray<int> cells(std::vector<int>(512, 0));
  DeviceArray<float> out(std::vector<float>(kBlocks * kThreads, 0.0f));
  const int zeros[kBlocks] = {};
  cudaMemcpyToSymbol(arrived, zeros, sizeof(unsigned));
  cudaMemcpyToSymbol(next_turn, zeros, sizeof(unsigned));
  cudaMemcpyToSymbol(flags, zeros, sizeof(zeros));
  kernel<<<kBlocks, kThreads>>>(cells.get(), out.get());
  return cudaDeviceSynchronize();
}

// Whatever order the blocks came in, the sum is that of one after another.
int run_sum_without_atomic() {
  cudaDeviceReset();
  DeviceArray<int> cells(std::vector<int>(512, 5));
  DeviceArray<float> out(std::vector<float>(kBlocks * kThreads, 0.0f));
  sum_without_atomic<<<kBlocks, kThreads>>>(cells.get(), out.get());
  const int error = cudaDeviceSynchronize();
  return error ? error : cells.download().at(0) == 5 + 36 ? 0 : cudaErrorUnknown;
}

int run_barrier_of_the_grid() {
  cudaDeviceReset();
  DeviceArray<int> cells(std::vector<int>(512, 0));
  barrier_of_the_grid<<<5000, 32>>>(cells.get());
  return cudaDeviceSynchronize();
}

}  // namespace

const std::vector<HazardCase>& block_cases() {
  static const std::vector<HazardCase> cases = {
      {"tile_of_all_blocks", run<tile_of_all_blocks>},
      {"sum_without_atomic", run_sum_without_atomic},
      {"overlapping_outputs", run<overlapping_outputs>},
      {"neighbours_in_place", run<neighbours_in_place>},
      {"reset_by_one_block", run<reset_by_one_block>},
      {"bytes_of_two_blocks", run<bytes_of_two_blocks>},
      {"last_block", run<last_block>},
      {"last_block_without_fence", run<last_block_without_fence>},
      {"part_after_fence", run<part_after_fence>},
      {"last_block_resets", run<last_block_resets>},
      {"lock_of_blocks", run<lock_of_blocks>},
      {"lock_of_blocks_without_fence", run<lock_of_blocks_without_fence>},
      {"look_back", run<look_back>},
      {"atomics_of_all_blocks", run<atomics_of_all_blocks>},
      {"halo_read_by_two", run<halo_read_by_two>},
      {"updates_its_own", run<updates_its_own>},
      {"bytes_of_a_row", run<bytes_of_a_row>},
      {"visited_by_blocks", run<visited_by_blocks>},
      {"flag_of_all_blocks", run<flag_of_all_blocks>},
      {"relaxation", run<relaxation>},
      {"barrier_of_the_grid", run_barrier_of_the_grid},
  };
  return cases;
}
