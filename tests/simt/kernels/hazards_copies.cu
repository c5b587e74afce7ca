// Asynchronous copies from global to shared memory: what is read, overwritten or waited for too early,
// planted, and the correct twins.
#include <cuda_pipeline.h>
#include <cuda_runtime.h>

#include "device_array.hpp"
#include "hazards.hpp"

namespace {

constexpr int kThreads = 64;
constexpr int kTiles = 4;  // of kThreads floats, what a block reads of `in`

// ---- too early: no barrier could help, the wait is missing or in the wrong place ----

template <bool waits>
__global__ void read_before_wait(float* in, float* out) {
  __shared__ float tile[kThreads];
  const int t = threadIdx.x;
  tile[t] = -1;
  __pipeline_memcpy_async(&tile[t], &in[t], 4);  // OTHER read_before_wait
  __pipeline_commit();
  if (waits) __pipeline_wait_prior(0);
  out[blockIdx.x * kThreads + t] = tile[t];  // BUG read_before_wait
  __pipeline_wait_prior(0);
}

// A wait is for batches that were committed.
__global__ void copy_not_committed(float* in, float* out) {
  __shared__ float tile[kThreads];
  const int t = threadIdx.x;
  __pipeline_memcpy_async(&tile[t], &in[t], 4);  // OTHER copy_not_committed
  __pipeline_wait_prior(0);
  __syncthreads();
  out[blockIdx.x * kThreads + t] = tile[kThreads - 1 - t];  // BUG copy_not_committed
}

template <bool waits>
__global__ void barrier_without_wait(float* in, float* out) {
  __shared__ float tile[kThreads];
  const int t = threadIdx.x;
  __pipeline_memcpy_async(&tile[t], &in[t], 4);  // OTHER barrier_without_wait
  __pipeline_commit();
  if (waits) __pipeline_wait_prior(0);
  __syncthreads();
  out[blockIdx.x * kThreads + t] = tile[kThreads - 1 - t];  // BUG barrier_without_wait
}

__global__ void barrier_before_wait(float* in, float* out) {
  __shared__ float tile[kThreads];
  const int t = threadIdx.x;
  __pipeline_memcpy_async(&tile[t], &in[t], 4);  // OTHER barrier_before_wait
  __pipeline_commit();
  __syncthreads();
  __pipeline_wait_prior(0);
  out[blockIdx.x * kThreads + t] = tile[kThreads - 1 - t];  // BUG barrier_before_wait
}

// Two buffers: while one is used, the other is filled. `kPending` is the right one or one too many.
template <int kPending>
__device__ float sum_of_tiles(float* in) {
  __shared__ float tile[2][kThreads];
  const int t = threadIdx.x;
  float sum = 0;
  __pipeline_memcpy_async(&tile[0][t], &in[t], 4);
  __pipeline_commit();
  for (int i = 0; i < kTiles; ++i) {
    if (i + 1 < kTiles) {
      const float* next = &in[(i + 1) * kThreads + t];
      __pipeline_memcpy_async(&tile[(i + 1) % 2][t], next, 4);  // OTHER one_batch_too_many
    }
    __pipeline_commit();
    __pipeline_wait_prior(kPending);
    __syncthreads();
    sum += tile[i % 2][kThreads - 1 - t];  // BUG one_batch_too_many
    __syncthreads();
  }
  return sum;
}

__global__ void one_batch_too_many(float* in, float* out) {
  out[blockIdx.x * kThreads + threadIdx.x] = sum_of_tiles<2>(in);
}

__global__ void double_buffered(float* in, float* out) {
  out[blockIdx.x * kThreads + threadIdx.x] = sum_of_tiles<1>(in);
}

// Three buffers need one barrier a round.
__global__ void three_buffers(float* in, float* out) {
  extern __shared__ float buffers[];
  const int t = threadIdx.x;
  float sum = 0;
  for (int i = 0; i < 2; ++i) {
    __pipeline_memcpy_async(&buffers[i * kThreads + t], &in[i * kThreads + t], 4);
    __pipeline_commit();
  }
  for (int i = 0; i < kTiles; ++i) {
    __pipeline_wait_prior(1);
    __syncthreads();
    if (i + 2 < kTiles) {
      __pipeline_memcpy_async(&buffers[(i + 2) % 3 * kThreads + t], &in[(i + 2) * kThreads + t], 4);
    }
    __pipeline_commit();
    sum += buffers[i % 3 * kThreads + kThreads - 1 - t];
  }
  out[blockIdx.x * kThreads + t] = sum;
}

// Many copies in one barrier interval: each thread has two cells of its own.
template <int kPending>
__device__ float sum_of_many(const float* in) {
  __shared__ float cells[2][kThreads];
  const int t = threadIdx.x;
  float sum = 0;
  __pipeline_memcpy_async(&cells[0][t], &in[t], 4);
  __pipeline_commit();
  for (int i = 0; i < 1000; ++i) {
    const float* next = &in[(i + 1) % kTiles * kThreads + t];
    __pipeline_memcpy_async(&cells[(i + 1) % 2][t], next, 4);  // OTHER last_of_many
    __pipeline_commit();
    __pipeline_wait_prior(i < 999 ? 1 : kPending);
    sum += cells[i % 2][t];
  }
  sum += cells[0][t];  // BUG last_of_many
  __pipeline_wait_prior(0);
  return sum;
}

__global__ void last_of_many(float* in, float* out) {
  out[blockIdx.x * kThreads + threadIdx.x] = sum_of_many<1>(in);
}

__global__ void many_copies(float* in, float* out) {
  out[blockIdx.x * kThreads + threadIdx.x] = sum_of_many<0>(in);
}

template <bool waits>
__global__ void overwritten_in_flight(float* in, float* out) {
  __shared__ float tile[kThreads];
  const int t = threadIdx.x;
  __pipeline_memcpy_async(&tile[t], &in[t], 4);  // OTHER overwritten_in_flight
  __pipeline_commit();
  if (waits) __pipeline_wait_prior(0);
  if (in[t] > 30) tile[t] = 0;  // BUG overwritten_in_flight
  __pipeline_wait_prior(0);
  out[blockIdx.x * kThreads + t] = tile[t];
}

template <bool waits>
__global__ void source_overwritten(float* in, float* out) {
  __shared__ float tile[kThreads];
  const int t = threadIdx.x;
  float* mine = out + blockIdx.x * kThreads;
  mine[t] = in[t];
  __pipeline_memcpy_async(&tile[t], &mine[t], 4);  // OTHER source_overwritten
  __pipeline_commit();
  if (waits) __pipeline_wait_prior(0);
  mine[t] = 0;  // BUG source_overwritten
  __pipeline_wait_prior(0);
  mine[t] = tile[t];
}

// The copy crosses the barrier, and behind it another thread writes to what it reads.
__global__ void source_overwritten_by_another(float* in, float* out) {
  __shared__ float tile[kThreads];
  const int t = threadIdx.x;
  float* mine = out + blockIdx.x * kThreads;
  mine[t] = in[t];
  __pipeline_memcpy_async(&tile[t], &mine[t], 4);  // OTHER source_overwritten_by_another
  __pipeline_commit();
  __syncthreads();
  mine[kThreads - 1 - t] = 0;  // BUG source_overwritten_by_another
  __pipeline_wait_prior(0);
}

__device__ float device_cells[2 * kThreads];

__global__ void copy_of_device_variable(float* in, float* out) {
  extern __shared__ float buffers[];
  const int t = threadIdx.x;
  float* const cells = &device_cells[blockIdx.x * kThreads];
  cells[t] = in[t];
  __syncthreads();
  __pipeline_memcpy_async(&buffers[t], &cells[t], 4);
  __pipeline_commit();
  __syncthreads();
  __pipeline_wait_prior(0);
  __syncthreads();
  out[blockIdx.x * kThreads + t] = buffers[kThreads - 1 - t];
}

__global__ void two_copies_at_once(float* in, float* out) {
  __shared__ float tile[kThreads];
  const int t = threadIdx.x;
  __pipeline_memcpy_async(&tile[t], &in[t], 4);  // OTHER two_copies_at_once
  __pipeline_commit();
  __pipeline_memcpy_async(&tile[t], &in[t + kThreads], 4);  // BUG two_copies_at_once
  __pipeline_commit();
  __pipeline_wait_prior(0);
  out[blockIdx.x * kThreads + t] = tile[t];
}

// ---- in time for its own thread, without a barrier for the others ----

__global__ void wait_without_barrier(float* in, float* out) {
  __shared__ float tile[kThreads];
  const int t = threadIdx.x;
  tile[t] = 0;
  __syncthreads();
  __pipeline_memcpy_async(&tile[t], &in[t], 4);  // OTHER wait_without_barrier
  __pipeline_commit();
  __pipeline_wait_prior(0);
  out[blockIdx.x * kThreads + t] = tile[kThreads - 1 - t];  // BUG wait_without_barrier
}

__global__ void copy_over_what_is_read(float* in, float* out) {
  __shared__ float tile[kThreads];
  const int t = threadIdx.x;
  float sum = 0;
  for (int i = 0; i < 2; ++i) {
    __pipeline_memcpy_async(&tile[t], &in[i * kThreads + t], 4);  // BUG copy_over_what_is_read
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    sum += tile[kThreads - 1 - t];  // OTHER copy_over_what_is_read
  }
  out[blockIdx.x * kThreads + t] = sum;
}

__global__ void copies_of_two_threads(float* in, float* out) {
  __shared__ float tile[kThreads];
  const int t = threadIdx.x;
  __pipeline_memcpy_async(&tile[t / 2], &in[t], 4);  // BUG copies_of_two_threads
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  out[blockIdx.x * kThreads + t] = tile[t / 2];
}

// Neighbours copy the same element to the same place: a note.
__global__ void same_copy_twice(float* in, float* out) {
  __shared__ float tile[kThreads];
  const int t = threadIdx.x;
  __pipeline_memcpy_async(&tile[t / 2], &in[t / 2], 4);  // BUG same_copy_twice
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  out[blockIdx.x * kThreads + t] = tile[t / 2];
}

template <bool waits>
__global__ void syncwarp_before_wait(float* in, float* out) {
  __shared__ float tile[kThreads];
  const int t = threadIdx.x;
  __pipeline_memcpy_async(&tile[t], &in[t], 4);  // OTHER syncwarp_before_wait
  __pipeline_commit();
  if (waits) __pipeline_wait_prior(0);
  __syncwarp();
  out[blockIdx.x * kThreads + t] = tile[t ^ 1];  // BUG syncwarp_before_wait
  __pipeline_wait_prior(0);
}

// The copy crosses a barrier, then a wait and __syncwarp give it to the warp.
__global__ void syncwarp_after_late_wait(float* in, float* out) {
  __shared__ float tile[kThreads];
  const int t = threadIdx.x;
  __pipeline_memcpy_async(&tile[t], &in[t], 4);
  __pipeline_commit();
  __syncthreads();
  __pipeline_wait_prior(0);
  __syncwarp();
  out[blockIdx.x * kThreads + t] = tile[t ^ 1];
}

// ---- copies that cannot be ----

__global__ void copy_of_12_bytes(float* in, float* out) {
  __shared__ __align__(16) float tile[4 * kThreads];
  const int t = threadIdx.x;
  __pipeline_memcpy_async(&tile[4 * t], &in[4 * t], 12);  // BUG copy_of_12_bytes
  out[blockIdx.x * kThreads + t] = t;
}

__global__ void fill_beyond_size(float* in, float* out) {
  __shared__ float tile[kThreads];
  const int t = threadIdx.x;
  __pipeline_memcpy_async(&tile[t], &in[t], 4, 8);  // BUG fill_beyond_size
  out[blockIdx.x * kThreads + t] = t;
}

__global__ void copy_from_shared(float* in, float* out) {
  __shared__ float tile[2 * kThreads];
  const int t = threadIdx.x;
  tile[t] = in[t];
  __pipeline_memcpy_async(&tile[t + kThreads], &tile[t], 4);  // BUG copy_from_shared
  out[blockIdx.x * kThreads + t] = t;
}

__global__ void copy_to_global(float* in, float* out) {
  const int t = threadIdx.x;
  __pipeline_memcpy_async(&out[blockIdx.x * kThreads + t], &in[t], 4);  // BUG copy_to_global
}

__global__ void copy_from_misaligned(float* in, float* out) {
  __shared__ float4 tile[8];
  const int t = threadIdx.x;
  if (t < 8) __pipeline_memcpy_async(&tile[t], &in[4 * t + 1], 16);  // BUG copy_from_misaligned
  out[blockIdx.x * kThreads + t] = t;
}

__global__ void copy_to_misaligned(float* in, float* out) {
  __shared__ __align__(16) float tile[40];
  const int t = threadIdx.x;
  if (t < 8) __pipeline_memcpy_async(&tile[4 * t + 1], &in[4 * t], 16);  // BUG copy_to_misaligned
  out[blockIdx.x * kThreads + t] = t;
}

__global__ void copy_from_past_end(float* in, float* out) {
  __shared__ float tile[kThreads];
  const int t = threadIdx.x;
  const int tiles = kTiles * kThreads - 10;
  __pipeline_memcpy_async(&tile[t], &in[tiles + t], 4);  // BUG copy_from_past_end
  out[blockIdx.x * kThreads + t] = t;
}

// Beyond the end nothing is read, zeros are filled in.
__global__ void zeros_past_end(float* in, float* out) {
  __shared__ float tile[kThreads];
  const int t = threadIdx.x;
  const int k = kTiles * kThreads - 10 + t;
  __pipeline_memcpy_async(&tile[t], &in[k], 4, k < kTiles * kThreads ? 0 : 4);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  out[blockIdx.x * kThreads + t] = tile[t];
}

// Eight floats of `in` are left, and the copy of the last thread begins two before the end.
__global__ void part_past_end(float* in, float* out) {
  __shared__ float4 tile[kThreads];
  const int t = threadIdx.x;
  const int k = 4 * t - 2 * kThreads;
  if (k >= 0) {
    const int left = kTiles * kThreads / 2 - k;
    __pipeline_memcpy_async(&tile[t], &in[k], 16, left >= 4 ? 0 : left > 0 ? 16 - 4 * left : 16);
    __pipeline_commit();
    __pipeline_wait_prior(0);
  } else {
    tile[t] = make_float4(0, 0, 0, 0);
  }
  const float4 v = tile[t];
  out[blockIdx.x * kThreads + t] = v.x + v.y + v.z + v.w;
}

__global__ void copy_to_past_end(float* in, float* out) {
  __shared__ float tile[kThreads - 1];
  const int t = threadIdx.x;
  __pipeline_memcpy_async(&tile[t], &in[t], 4);  // BUG copy_to_past_end
  out[blockIdx.x * kThreads + t] = t;
}

__global__ void copy_from_null(float*, float* out) {
  __shared__ float tile[kThreads];
  const int t = threadIdx.x;
  const float* nothing = nullptr;
  __pipeline_memcpy_async(&tile[t], nothing + t, 4);  // BUG copy_from_null
  out[blockIdx.x * kThreads + t] = t;
}

__global__ void copy_of_unwritten(float* in, float* out) {
  __shared__ float tile[kThreads];
  const int t = threadIdx.x;
  __pipeline_memcpy_async(&tile[t], &in[kTiles * kThreads + t], 4);  // BUG copy_of_unwritten
  __pipeline_commit();
  __pipeline_wait_prior(0);
  out[blockIdx.x * kThreads + t] = tile[t];
}

// `in` holds 0, 1, 2, ... in kTiles tiles; `unwritten` more floats follow them. -1 if the output is not as expected.
template <void (*kernel)(float*, float*), int kUnwritten = 0>
int run_and_compare(float (*expected)(int t)) {
  cudaDeviceReset();
  std::vector<float> values(kTiles * kThreads);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  DeviceArray<float> in(values.size() + kUnwritten), out(2 * kThreads);
  cudaMemcpy(in.get(), values.data(), values.size() * sizeof(float), cudaMemcpyHostToDevice);
  kernel<<<2, kThreads, 3 * kThreads * sizeof(float)>>>(in.get(), out.get());
  const int error = cudaDeviceSynchronize();
  if (error || !expected) return error;
  return out.holds([=](int i) { return expected(i % kThreads); }) ? 0 : -1;
}

template <void (*kernel)(float*, float*), int kUnwritten = 0>
int run() {
  return run_and_compare<kernel, kUnwritten>(nullptr);
}

float same(int t) { return static_cast<float>(t); }
float reversed(int t) { return static_cast<float>(kThreads - 1 - t); }
float neighbour(int t) { return static_cast<float>(t ^ 1); }
float small_ones(int t) { return t > 30 ? 0.0f : static_cast<float>(t); }
float sum_of_reversed(int t) {
  return static_cast<float>(kTiles * (kThreads - 1 - t) + kThreads * kTiles * (kTiles - 1) / 2);
}
// in[t] to in[t + 3 * kThreads], 250 times, and in[t] once more.
float sum_of_thousand(int t) {
  return 1001.0f * static_cast<float>(t) + 250.0f * kThreads * (kTiles * (kTiles - 1) / 2);
}
float last_ten(int t) { return t < 10 ? static_cast<float>(kTiles * kThreads - 10 + t) : 0.0f; }
float sums_of_four(int t) {
  const int k = 4 * t - 2 * kThreads;
  float sum = 0;
  for (int i = k; i < k + 4; ++i) sum += i >= 0 && i < kTiles * kThreads / 2 ? i : 0;
  return sum;
}

}  // namespace

const std::vector<HazardCase>& copy_cases() {
  static const std::vector<HazardCase> cases = {
      // What is read too early holds its old value.
      {"read_before_wait",
       [] { return run_and_compare<read_before_wait<false>>([](int) { return -1.0f; }); }},
      {"read_after_wait", [] { return run_and_compare<read_before_wait<true>>(same); }},
      {"copy_not_committed", run<copy_not_committed>},
      {"barrier_without_wait", run<barrier_without_wait<false>>},
      {"barrier_before_wait", run<barrier_before_wait>},
      {"wait_then_barrier", [] { return run_and_compare<barrier_without_wait<true>>(reversed); }},
      {"one_batch_too_many", run<one_batch_too_many>},
      {"double_buffered", [] { return run_and_compare<double_buffered>(sum_of_reversed); }},
      {"three_buffers", [] { return run_and_compare<three_buffers>(sum_of_reversed); }},
      {"last_of_many", run<last_of_many>},
      {"many_copies", [] { return run_and_compare<many_copies>(sum_of_thousand); }},
      {"overwritten_in_flight", run<overwritten_in_flight<false>>},
      {"overwritten_after_wait",
       [] { return run_and_compare<overwritten_in_flight<true>>(small_ones); }},
      {"source_overwritten", run<source_overwritten<false>>},
      {"source_overwritten_after_wait",
       [] { return run_and_compare<source_overwritten<true>>(same); }},
      {"source_overwritten_by_another", run<source_overwritten_by_another>},
      {"copy_of_device_variable",
       [] { return run_and_compare<copy_of_device_variable>(reversed); }},
      {"two_copies_at_once", run<two_copies_at_once>},
      {"wait_without_barrier", run<wait_without_barrier>},
      {"copy_over_what_is_read", run<copy_over_what_is_read>},
      {"copies_of_two_threads", run<copies_of_two_threads>},
      {"same_copy_twice", run<same_copy_twice>},
      {"syncwarp_before_wait", run<syncwarp_before_wait<false>>},
      {"syncwarp_after_wait",
       [] { return run_and_compare<syncwarp_before_wait<true>>(neighbour); }},
      {"syncwarp_after_late_wait",
       [] { return run_and_compare<syncwarp_after_late_wait>(neighbour); }},
      {"copy_of_12_bytes", run<copy_of_12_bytes>},
      {"fill_beyond_size", run<fill_beyond_size>},
      {"copy_from_shared", run<copy_from_shared>},
      {"copy_to_global", run<copy_to_global>},
      {"copy_from_misaligned", run<copy_from_misaligned>},
      {"copy_to_misaligned", run<copy_to_misaligned>},
      {"copy_from_past_end", run<copy_from_past_end>},
      {"zeros_past_end", [] { return run_and_compare<zeros_past_end>(last_ten); }},
      {"part_past_end", [] { return run_and_compare<part_past_end>(sums_of_four); }},
      {"copy_to_past_end", run<copy_to_past_end>},
      {"copy_from_null", run<copy_from_null>},
      {"copy_of_unwritten", run<copy_of_unwritten, kThreads>},
  };
  return cases;
}
