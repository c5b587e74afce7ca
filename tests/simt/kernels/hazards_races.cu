// Races between the threads of a block, planted, and the correct twins.
#include <cuda_runtime.h>

#include "hazard_runs.cuh"
#include "hazards.hpp"

namespace {

// ---- read after write, write after read, write after write; `fixed`: with what was missing ----

template <bool fixed>
__global__ void missing_barrier(float* out) {
  __shared__ float tile[64];
  const int t = threadIdx.x;
  tile[t] = 0;
  __syncthreads();
  tile[t] = t;  // OTHER missing_barrier
  if (fixed) __syncthreads();
  out[blockIdx.x * 64 + t] = tile[63 - t];  // BUG missing_barrier
}

template <bool fixed>
__global__ void write_after_read(float* out) {
  __shared__ float tile[64];
  const int t = threadIdx.x;
  float sum = 0;
  for (int round = 0; round < 3; ++round) {
    tile[t] = round + t;  // BUG write_after_read
    __syncthreads();
    sum += tile[63 - t];  // OTHER write_after_read
    if (fixed) __syncthreads();
  }
  out[blockIdx.x * 64 + t] = sum;
}

__global__ void two_writers(float* out) {
  __shared__ float tile[64];
  const int t = threadIdx.x;
  tile[t / 2] = t;  // BUG two_writers
  __syncthreads();
  out[blockIdx.x * 64 + t] = tile[t / 2];
}

// A note, not a finding: whoever comes last, the value is the same.
__global__ void same_value(float* out) {
  __shared__ int found;
  const int t = threadIdx.x;
  if (t % 3 == 0) found = 1;  // BUG same_value
  __syncthreads();
  out[blockIdx.x * 64 + t] = found;
}

// ---- global memory ----

template <bool fixed>
__global__ void race_in_global(float* out) {
  const int i = blockIdx.x * 64 + threadIdx.x;
  out[i] = threadIdx.x;  // OTHER race_in_global
  if (fixed) __syncthreads();
  const float mine = out[i ^ 1];  // BUG race_in_global
  __syncthreads();
  out[i] = mine;
}

__device__ float device_cells[64];

__global__ void race_in_device_variable(float* out) {
  const int t = threadIdx.x;
  device_cells[t] = t;            // OTHER race_in_device_variable
  out[t] = device_cells[63 - t];  // BUG race_in_device_variable
}

// ---- within a warp ----

__global__ void lanes_without_syncwarp(float* out) {
  __shared__ float tile[64];
  const int t = threadIdx.x;
  tile[t] = 0;
  __syncthreads();
  tile[t] = t;                             // OTHER lanes_without_syncwarp
  out[blockIdx.x * 64 + t] = tile[t ^ 1];  // BUG lanes_without_syncwarp
}

__global__ void syncwarp_orders_lanes(float* out) {
  __shared__ float tile[64];
  const int t = threadIdx.x;
  tile[t] = t;
  __syncwarp();
  const float mine = tile[t ^ 1];
  __syncwarp();
  tile[t] = mine;
  __syncwarp();
  out[blockIdx.x * 64 + t] = tile[t ^ 3];
}

__global__ void syncwarp_between_warps(float* out) {
  __shared__ float tile[64];
  const int t = threadIdx.x;
  tile[t] = 0;
  __syncthreads();
  tile[t] = t;  // OTHER syncwarp_between_warps
  __syncwarp();
  out[blockIdx.x * 64 + t] = tile[63 - t];  // BUG syncwarp_between_warps
}

// Lanes 0 to 15 wait for each other, and then read what lanes 16 to 31 write.
__global__ void syncwarp_of_half_a_warp(float* out) {
  __shared__ float tile[32];
  const int t = threadIdx.x;
  tile[t] = 0;
  __syncthreads();
  if (t < 16) {
    __syncwarp(0x0000ffffu);
    out[t] = tile[t + 16];  // BUG syncwarp_of_half_a_warp
  } else {
    tile[t] = t;  // OTHER syncwarp_of_half_a_warp
  }
}

__global__ void syncwarp_of_half_a_warp_fixed(float* out) {
  __shared__ float tile[32];
  const int t = threadIdx.x;
  if (t >= 16) return;
  tile[t] = t;
  __syncwarp(0x0000ffffu);
  out[t] = tile[t ^ 1];
}

__global__ void shuffle_orders_nothing(float* out) {
  __shared__ float tile[32];
  const int t = threadIdx.x;
  tile[t] = 0;
  __syncthreads();
  tile[t] = t;  // OTHER shuffle_orders_nothing
  const float other = __shfl_xor_sync(0xffffffffu, 1.0f * t, 1);
  out[t] = other + tile[t ^ 1];  // BUG shuffle_orders_nothing
}

__global__ void vote_orders_nothing(float* out) {
  __shared__ float tile[32];
  const int t = threadIdx.x;
  tile[t] = 0;
  __syncthreads();
  tile[t] = t;  // OTHER vote_orders_nothing
  const int all = __all_sync(0xffffffffu, t >= 0);
  out[t] = all + tile[t ^ 1];  // BUG vote_orders_nothing
}

// The reduction of old textbooks, from the time when the lanes of a warp moved in step.
__global__ void warp_synchronous_reduction(float* out) {
  __shared__ volatile float tile[64];
  const int t = threadIdx.x;
  tile[t] = t;
  __syncthreads();
  if (t < 32) {
    float sum = tile[t] + tile[t + 32];
    tile[t] = sum;  // OTHER warp_synchronous_reduction
    for (int half = 16; half > 0; half /= 2) {
      sum += tile[(t + half) % 32];  // BUG warp_synchronous_reduction
      tile[t] = sum;                 // OTHER2 warp_synchronous_reduction
    }
    if (t == 0) out[blockIdx.x] = sum;
  }
}

// Lanes 0 and 31 read the cell before a __syncwarp, which makes them harmless; after it lane 3
// reads what lane 7 writes. The harmless reads must not hide the harmful one.
__global__ void race_after_harmless_reads(float* out) {
  __shared__ float cell;
  const int t = threadIdx.x;
  if (t == 0) cell = 1;
  __syncthreads();
  float value = 0;
  if (t == 0 || t == 31) value = cell;
  __syncwarp();
  if (t == 3) value = cell;  // OTHER race_after_harmless_reads
  if (t == 7) cell = 5;      // BUG race_after_harmless_reads
  out[t] = value;
}

// ---- bytes ----

__global__ void bytes_of_a_word(float* out) {
  __shared__ unsigned char bytes[64];
  const int t = threadIdx.x;
  bytes[t] = static_cast<unsigned char>(t);
  __syncthreads();
  out[blockIdx.x * 64 + t] = bytes[63 - t];
}

__global__ void byte_of_another_threads_word(float* out) {
  __shared__ unsigned int words[64];
  const int t = threadIdx.x;
  words[t] = 0;
  __syncthreads();
  words[t] = t;  // OTHER byte_of_another_threads_word
  const unsigned char* bytes = reinterpret_cast<const unsigned char*>(words);
  out[blockIdx.x * 64 + t] = bytes[(t ^ 1) * 4 + 3];  // BUG byte_of_another_threads_word
}

// ---- atomics ----

__global__ void atomics_among_themselves(float* out) {
  __shared__ int count;
  const int t = threadIdx.x;
  if (t == 0) count = 0;
  __syncthreads();
  atomicAdd(&count, 1);
  __syncthreads();
  out[blockIdx.x * 64 + t] = count;
}

__global__ void plain_read_beside_atomics(float* out) {
  __shared__ int count;
  const int t = threadIdx.x;
  if (t == 0) count = 0;
  __syncthreads();
  atomicAdd(&count, 1);              // OTHER plain_read_beside_atomics
  out[blockIdx.x * 64 + t] = count;  // BUG plain_read_beside_atomics
}

__global__ void reset_beside_atomics(float* out) {
  __shared__ int count;
  const int t = threadIdx.x;
  if (t == 0) count = 0;  // BUG reset_beside_atomics
  atomicAdd(&count, 1);   // OTHER reset_beside_atomics
  __syncthreads();
  out[blockIdx.x * 64 + t] = count;
}

__global__ void plain_read_beside_global_atomics(int* count, float* out) {
  atomicAdd(count, 1);        // OTHER plain_read_beside_global_atomics
  out[threadIdx.x] = *count;  // BUG plain_read_beside_global_atomics
}

// ---- reads that an atomic of the same thread puts right ----

// As the programming guide makes an atomic of any operation.
__device__ void add_by_cas(double* sum, double value) {
  auto* const bits = reinterpret_cast<unsigned long long*>(sum);
  unsigned long long old = *bits, assumed;
  do {
    assumed = old;
    old = atomicCAS(bits, assumed, __double_as_longlong(value + __longlong_as_double(assumed)));
  } while (assumed != old);
}

__global__ void cas_loop(float* out) {
  __shared__ double sum;
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  add_by_cas(&sum, threadIdx.x);
  __syncthreads();
  out[blockIdx.x * 64 + threadIdx.x] = static_cast<float>(sum);
}

__global__ void cas_loop_in_global(int* cell, float* out) {
  add_by_cas(reinterpret_cast<double*>(cell), 1);
  out[blockIdx.x * 64 + threadIdx.x] = 0;
}

__global__ void test_before_atomic(int* visited, float* out) {
  const int v = threadIdx.x % 2;
  out[blockIdx.x * 64 + threadIdx.x] = 0;
  if (visited[v] == 0 && atomicExch(&visited[v], 1) == 0) out[blockIdx.x * 64 + v] = 1;
}

// ---- locks and flags ----

// Taken by one lane of a warp at a time.
template <bool fenced>
__device__ void add_locked(int* mutex, int* sum) {
  for (unsigned lane = 0; lane < 32; ++lane) {
    if (threadIdx.x % 32 != lane) continue;
    while (atomicCAS(mutex, 0, 1) != 0) {
    }
    if (fenced) __threadfence();
    *sum += 1;  // BUG lock_without_fences
    if (fenced) __threadfence();
    atomicExch(mutex, 0);
  }
}

__global__ void lock(int* cells, float* out) {
  add_locked<true>(cells, cells + 1);
  out[blockIdx.x * 64 + threadIdx.x] = 0;
}

__global__ void lock_without_fences(int* cells, float* out) {
  add_locked<false>(cells, cells + 1);
  out[blockIdx.x * 64 + threadIdx.x] = 0;
}

__global__ void flag_between_warps(float* out) {
  __shared__ volatile int flag;
  __shared__ float data[32];
  const int t = threadIdx.x;
  if (t == 0) flag = 0;
  __syncthreads();
  if (t < 32) {
    data[t] = t;
    __syncwarp();
    __threadfence_block();
    if (t == 0) flag = 1;
  } else {
    while (flag == 0) {
    }
    __threadfence_block();
    out[blockIdx.x * 64 + t] = data[63 - t];
  }
}

__global__ void atomic_flag_between_warps(float* out) {
  __shared__ int flag;
  __shared__ float data;
  const int t = threadIdx.x;
  if (t == 0) flag = 0;
  __syncthreads();
  if (t == 40) {
    data = t;
    __threadfence_block();
    atomicExch(&flag, 1);
  }
  if (t < 32) {
    while (atomicAdd(&flag, 0) == 0) {
    }
    out[blockIdx.x * 64 + t] = data;
  }
}

// The fence comes too early for the second value.
__global__ void flag_before_data(float* out) {
  __shared__ int flag;
  __shared__ float first, second;
  const int t = threadIdx.x;
  if (t == 0) flag = 0;
  __syncthreads();
  if (t == 40) {
    first = t;
    __threadfence_block();
    second = t;  // BUG flag_before_data
    atomicExch(&flag, 1);
  }
  if (t < 32) {
    while (atomicAdd(&flag, 0) == 0) {
    }
    out[blockIdx.x * 64 + t] = first;
    out[blockIdx.x * 64 + t] += second;  // OTHER flag_before_data
  }
}

// A fence does not make lanes move in step.
__global__ void fences_in_a_warp(float* out) {
  __shared__ volatile float tile[32];
  const int t = threadIdx.x;
  tile[t] = t;
  __syncwarp();
  const float sum = tile[t] + tile[t ^ 1];  // OTHER fences_in_a_warp
  __threadfence_block();
  tile[t] = sum;  // BUG fences_in_a_warp
  __syncwarp();
  out[t] = tile[t];
}

// ---- which array, which block, which function ----

__global__ void second_of_two_arrays(float* out) {
  __shared__ float first[64];
  __shared__ float second[64];
  const int t = threadIdx.x;
  first[t] = t;
  second[t] = 0;
  __syncthreads();
  second[t] = first[63 - t];                  // OTHER second_of_two_arrays
  out[blockIdx.x * 64 + t] = second[63 - t];  // BUG second_of_two_arrays
}

__global__ void one_block_of_many(float* out) {
  __shared__ float tile[8][8];
  const int x = threadIdx.x;
  const int y = threadIdx.y;
  tile[y][x] = 0;
  __syncthreads();
  tile[y][x] = x;  // OTHER one_block_of_many
  if (blockIdx.x != 1 || blockIdx.y != 2) __syncthreads();
  out[(blockIdx.y * 2 + blockIdx.x) * 64 + y * 8 + x] =
      tile[7 - y][7 - x];  // BUG one_block_of_many
}

__device__ float read_neighbour(const float* cells, int t) {
  return cells[t ^ 32];  // BUG race_in_a_helper
}

__global__ void race_in_a_helper(float* out) {
  __shared__ float tile[64];
  const int t = threadIdx.x;
  tile[t] = 0;
  __syncthreads();
  tile[t] = t;  // OTHER race_in_a_helper
  out[blockIdx.x * 64 + t] = read_neighbour(tile, t);
}

__global__ void race_in_dynamic_shared(float* out) {
  extern __shared__ float cells[];
  const int t = threadIdx.x;
  cells[t] = 0;
  __syncthreads();
  cells[t] = t;                              // OTHER race_in_dynamic_shared
  out[blockIdx.x * 64 + t] = cells[63 - t];  // BUG race_in_dynamic_shared
}

__global__ void race_on_float4(float* out) {
  __shared__ float4 tile[64];
  const int t = threadIdx.x;
  tile[t] = make_float4(0, 0, 0, 0);
  __syncthreads();
  tile[t] = make_float4(t, t, t, t);  // OTHER race_on_float4
  const float4 other = tile[63 - t];  // BUG race_on_float4
  out[blockIdx.x * 64 + t] = other.x + other.w;
}

// ---- host side ----

int run_one_block_of_many() {
  cudaDeviceReset();
  DeviceArray<float> out(6 * 64);
  one_block_of_many<<<dim3(2, 3), dim3(8, 8)>>>(out.get());
  return cudaDeviceSynchronize();
}

template <auto kernel, unsigned blocks, unsigned threads>
int run_with_cells() {
  cudaDeviceReset();
  DeviceArray<int> cells(std::vector<int>(2, 0));
  DeviceArray<float> out(64 * blocks);
  kernel<<<blocks, threads>>>(cells.get(), out.get());
  return cudaDeviceSynchronize();
}

int run_plain_read_beside_global_atomics() {
  cudaDeviceReset();
  DeviceArray<int> count(std::vector<int>(1, 0));
  DeviceArray<float> out(64);
  plain_read_beside_global_atomics<<<1, 64>>>(count.get(), out.get());
  return cudaDeviceSynchronize();
}

}  // namespace

const std::vector<HazardCase>& race_cases() {
  static const std::vector<HazardCase> cases = {
      {"missing_barrier", run<missing_barrier<false>, 2, 64>},
      {"missing_barrier_in_8_blocks", run<missing_barrier<false>, 8, 64>},
      {"missing_barrier_fixed", run<missing_barrier<true>, 2, 64>},
      {"write_after_read", run<write_after_read<false>, 2, 64>},
      {"write_after_read_fixed", run<write_after_read<true>, 2, 64>},
      {"two_writers", run<two_writers, 2, 64>},
      {"same_value", run<same_value, 2, 64>},
      {"race_in_global", run<race_in_global<false>, 2, 64>},
      {"race_in_global_fixed", run<race_in_global<true>, 2, 64>},
      {"race_in_device_variable", run<race_in_device_variable, 1, 64>},
      {"lanes_without_syncwarp", run<lanes_without_syncwarp, 2, 64>},
      {"syncwarp_orders_lanes", run<syncwarp_orders_lanes, 2, 64>},
      {"syncwarp_between_warps", run<syncwarp_between_warps, 2, 64>},
      {"syncwarp_of_half_a_warp", run<syncwarp_of_half_a_warp, 1, 32>},
      {"syncwarp_of_half_a_warp_fixed", run<syncwarp_of_half_a_warp_fixed, 1, 32>},
      {"shuffle_orders_nothing", run<shuffle_orders_nothing, 1, 32>},
      {"vote_orders_nothing", run<vote_orders_nothing, 1, 32>},
      {"warp_synchronous_reduction", run<warp_synchronous_reduction, 1, 64>},
      {"race_after_harmless_reads", run<race_after_harmless_reads, 1, 32>},
      {"bytes_of_a_word", run<bytes_of_a_word, 2, 64>},
      {"byte_of_another_threads_word", run<byte_of_another_threads_word, 2, 64>},
      {"atomics_among_themselves", run<atomics_among_themselves, 2, 64>},
      {"plain_read_beside_atomics", run<plain_read_beside_atomics, 2, 64>},
      {"reset_beside_atomics", run<reset_beside_atomics, 2, 64>},
      {"plain_read_beside_global_atomics", run_plain_read_beside_global_atomics},
      {"cas_loop", run<cas_loop, 2, 64>},
      {"cas_loop_in_global", run_with_cells<cas_loop_in_global, 1, 64>},
      {"test_before_atomic", run_with_cells<test_before_atomic, 1, 64>},
      {"lock", run_with_cells<lock, 1, 64>},
      {"lock_without_fences", run_with_cells<lock_without_fences, 1, 64>},
      {"flag_between_warps", run<flag_between_warps, 2, 64>},
      {"atomic_flag_between_warps", run<atomic_flag_between_warps, 2, 64>},
      {"flag_before_data", run<flag_before_data, 2, 64>},
      {"fences_in_a_warp", run<fences_in_a_warp, 1, 32>},
      {"second_of_two_arrays", run<second_of_two_arrays, 2, 64>},
      {"one_block_of_many", run_one_block_of_many},
      {"race_in_a_helper", run<race_in_a_helper, 2, 64>},
      {"race_in_dynamic_shared", run<race_in_dynamic_shared, 2, 64, 256>},
      {"race_on_float4", run<race_on_float4, 2, 64>},
  };
  return cases;
}
