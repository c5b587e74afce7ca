// Accesses to memory that is not there, not aligned or not written, planted, and the correct twins.
#include <cuda_runtime.h>

#include "hazard_runs.cuh"
#include "hazards.hpp"

namespace {

constexpr int kLength = 128;  // two blocks of 64

// ---- out of bounds ----

template <bool fixed>
__global__ void global_read_past_end(const float* in, float* out) {
  const int i = blockIdx.x * 64 + threadIdx.x;
  out[i] = fixed && i + 1 == kLength ? 0.0f : in[i + 1];  // BUG global_read_past_end
}

__global__ void memcpy_past_end(const float* in, float* out) {
  const int i = blockIdx.x * 64 + threadIdx.x;
  float two[2] = {0.0f, 0.0f};
  memcpy(two, in + i, sizeof two);  // BUG memcpy_past_end
  out[i] = two[1];
}

__global__ void global_read_before_start(const float* in, float* out) {
  const int i = blockIdx.x * 64 + threadIdx.x;
  out[i] = in[i - 1];  // BUG global_read_before_start
}

__global__ void global_write_past_end(const float* in, float* out) {
  const int i = blockIdx.x * 64 + threadIdx.x;
  out[i + 1] = in[i];  // BUG global_write_past_end
}

__global__ void global_write_before_start(const float* in, float* out) {
  const int i = blockIdx.x * 64 + threadIdx.x;
  out[i - 1] = in[i];  // BUG global_write_before_start
}

__global__ void global_read_far_away(const float* in, float* out) {
  const int i = blockIdx.x * 64 + threadIdx.x;
  out[i] = in[i == 70 ? 1 << 28 : i];  // BUG global_read_far_away
}

__global__ void atomic_past_end(int* cells, int count) {
  atomicAdd(&cells[threadIdx.x + count - 31], 1);  // BUG atomic_past_end
}

// Five bytes were allocated: the sixth is outside although it shares a word with the fifth.
__global__ void byte_past_end(const unsigned char* in, unsigned char* out) {
  out[threadIdx.x] = in[threadIdx.x];  // BUG byte_past_end
}

__global__ void float4_across_the_end(const float* six_floats, float* out) {
  const float4* quads = reinterpret_cast<const float4*>(six_floats);
  const float4 value = quads[threadIdx.x];  // BUG float4_across_the_end
  out[threadIdx.x] = value.x + value.w;
}

__global__ void shared_read_past_end(float* out) {
  __shared__ float tile[64];
  const int t = threadIdx.x;
  tile[t] = t;
  __syncthreads();
  out[blockIdx.x * 64 + t] = tile[t + 1];  // BUG shared_read_past_end
}

__global__ void shared_read_before_start(float* out) {
  __shared__ float tile[64];
  const int t = threadIdx.x;
  tile[t] = t;
  __syncthreads();
  out[blockIdx.x * 64 + t] = tile[t - 1];  // BUG shared_read_before_start
}

__global__ void shared_write_past_end(float* out) {
  __shared__ float tile[64];
  const int t = threadIdx.x;
  tile[t + 1] = t;  // BUG shared_write_past_end
  __syncthreads();
  out[blockIdx.x * 64 + t] = t == 0 ? 0 : tile[t];
}

// Past the end of one array lies another one of the same kernel.
__global__ void shared_read_into_neighbour(float* out) {
  __shared__ float first[64];
  __shared__ float second[64];
  __shared__ float third[64];
  const int t = threadIdx.x;
  first[t] = t;
  second[t] = t;
  third[t] = t;
  __syncthreads();
  out[blockIdx.x * 64 + t] = first[t] + second[t + 1] + third[t];  // BUG shared_read_into_neighbour
}

__global__ void shared_write_before_start(float* out) {
  __shared__ float tile[64];
  const int t = threadIdx.x;
  tile[t - 1] = t;  // BUG shared_write_before_start
  __syncthreads();
  out[blockIdx.x * 64 + t] = t == 63 ? 0 : tile[t];
}

__global__ void dynamic_read_past_end(float* out) {
  extern __shared__ float cells[];
  const int t = threadIdx.x;
  cells[t] = t;
  __syncthreads();
  out[blockIdx.x * 64 + t] = cells[t + 1];  // BUG dynamic_read_past_end
}

__global__ void dynamic_read_before_start(float* out) {
  extern __shared__ float cells[];
  const int t = threadIdx.x;
  cells[t] = t;
  __syncthreads();
  out[blockIdx.x * 64 + t] = cells[t - 1];  // BUG dynamic_read_before_start
}

__global__ void dynamic_write_past_end(float* out) {
  extern __shared__ float cells[];
  const int t = threadIdx.x;
  cells[t + 1] = t;  // BUG dynamic_write_past_end
  __syncthreads();
  out[blockIdx.x * 64 + t] = t == 0 ? 0 : cells[t];
}

__constant__ float nine_constants[9];

__global__ void constant_past_end(float* out) {
  out[threadIdx.x] = nine_constants[threadIdx.x];  // BUG constant_past_end
}

__device__ float ten_cells[10];

__global__ void device_variable_past_end(float* out) {
  out[threadIdx.x] = ten_cells[threadIdx.x];  // BUG device_variable_past_end
}

// ---- no memory of the GPU at all ----

__global__ void use_after_free(const float* in, float* out) {
  out[threadIdx.x] = in[threadIdx.x];  // BUG use_after_free
}

__global__ void null_pointer(const float* in, float* out) {
  out[threadIdx.x] = in[threadIdx.x];  // BUG null_pointer
}

__global__ void host_pointer_read(const float* in, float* out) {
  out[threadIdx.x] = in[threadIdx.x];  // BUG host_pointer_read
}

__global__ void host_pointer_write(float* out) {
  out[threadIdx.x] = 7;  // BUG host_pointer_write
}

// ---- alignment: x86 forgives, a GPU traps ----

__global__ void misaligned_int(const unsigned char* in, float* out) {
  out[threadIdx.x] = *reinterpret_cast<const int*>(in + 4 * threadIdx.x + 2);  // BUG misaligned_int
}

__global__ void misaligned_store(float* out) {
  double* halves = reinterpret_cast<double*>(out + 1);
  halves[threadIdx.x] = 1;  // BUG misaligned_store
}

// ---- read before written ----

template <bool fixed>
__global__ void shared_cell_not_written(float* out) {
  __shared__ float tile[64];
  const int t = threadIdx.x;
  if (fixed || t != 40) tile[t] = t;
  __syncthreads();
  out[blockIdx.x * 64 + t] = tile[63 - t];  // BUG shared_cell_not_written
}

// What block 0 left in shared memory is garbage to block 1.
__global__ void shared_of_an_earlier_block(float* out) {
  __shared__ float tile[64];
  const int t = threadIdx.x;
  if (blockIdx.x == 0) tile[t] = t;
  out[blockIdx.x * 64 + t] = tile[t];  // BUG shared_of_an_earlier_block
}

__global__ void dynamic_cell_not_written(float* out) {
  extern __shared__ float cells[];
  const int t = threadIdx.x;
  if (t < 60) cells[t] = t;
  __syncthreads();
  out[blockIdx.x * 64 + t] = cells[t];  // BUG dynamic_cell_not_written
}

__global__ void shared_counter_not_set(float* out) {
  __shared__ int count;
  atomicAdd(&count, 1);  // BUG shared_counter_not_set
  __syncthreads();
  out[blockIdx.x * 64 + threadIdx.x] = count;
}

__global__ void one_byte_of_a_word_not_written(float* out) {
  __shared__ __align__(4) unsigned char bytes[256];
  const int t = threadIdx.x;
  bytes[4 * t] = bytes[4 * t + 1] = bytes[4 * t + 3] = 1;
  const int* words = reinterpret_cast<const int*>(bytes);
  out[blockIdx.x * 64 + t] = words[t];  // BUG one_byte_of_a_word_not_written
}

__global__ void copy_all(const float* in, float* out) {
  const int i = blockIdx.x * 64 + threadIdx.x;
  out[i] = in[i];  // BUG copy_all
}

// ---- host side ----

std::vector<float> zeros(int count = kLength) { return std::vector<float>(count, 0.0f); }

// A kernel that goes from one array of kLength floats to another.
template <auto kernel>
int run_copy() {
  cudaDeviceReset();
  DeviceArray<float> in(zeros()), out(zeros());
  kernel<<<2, 64>>>(in.get(), out.get());
  return cudaDeviceSynchronize();
}

int run_atomic_past_end() {
  cudaDeviceReset();
  DeviceArray<int> cells(std::vector<int>(100, 0));
  atomic_past_end<<<1, 32>>>(cells.get(), 100);
  return cudaDeviceSynchronize();
}

int run_byte_past_end() {
  cudaDeviceReset();
  DeviceArray<unsigned char> in(std::vector<unsigned char>(5, 1)), out(8);
  byte_past_end<<<1, 6>>>(in.get(), out.get());
  return cudaDeviceSynchronize();
}

int run_float4_across_the_end() {
  cudaDeviceReset();
  DeviceArray<float> in(zeros(6)), out(2);
  float4_across_the_end<<<1, 2>>>(in.get(), out.get());
  return cudaDeviceSynchronize();
}

int run_constant_past_end() {
  cudaDeviceReset();
  cudaMemcpyToSymbol(nine_constants, zeros(9).data(), 9 * sizeof(float));
  DeviceArray<float> out(10);
  constant_past_end<<<1, 10>>>(out.get());
  return cudaDeviceSynchronize();
}

int run_use_after_free() {
  cudaDeviceReset();
  DeviceArray<float> out(32);
  const float* freed;
  {
    DeviceArray<float> in(zeros(32));
    freed = in.get();
  }
  use_after_free<<<1, 32>>>(freed, out.get());
  return cudaDeviceSynchronize();
}

int run_null_pointer() {
  cudaDeviceReset();
  DeviceArray<float> out(32);
  null_pointer<<<1, 32>>>(nullptr, out.get());
  return cudaDeviceSynchronize();
}

int run_host_pointer_read() {
  cudaDeviceReset();
  const std::vector<float> host = zeros(32);
  DeviceArray<float> out(32);
  host_pointer_read<<<1, 32>>>(host.data(), out.get());
  return cudaDeviceSynchronize();
}

// The write must never happen: -1 if it did.
int run_host_pointer_write() {
  cudaDeviceReset();
  std::vector<float> host = zeros(32);
  host_pointer_write<<<1, 32>>>(host.data());
  const int error = cudaDeviceSynchronize();
  return host == zeros(32) ? error : -1;
}

int run_misaligned_int() {
  cudaDeviceReset();
  DeviceArray<unsigned char> in(std::vector<unsigned char>(256, 0));
  DeviceArray<float> out(32);
  misaligned_int<<<1, 32>>>(in.get(), out.get());
  return cudaDeviceSynchronize();
}

// 48 of 64 floats are written by a copy from the host.
int run_global_partly_copied() {
  cudaDeviceReset();
  DeviceArray<float> in(64), out(64);
  cudaMemcpy(in.get(), zeros(48).data(), 48 * sizeof(float), cudaMemcpyHostToDevice);
  copy_all<<<1, 64>>>(in.get(), out.get());
  return cudaDeviceSynchronize();
}

int run_global_partly_set() {
  cudaDeviceReset();
  DeviceArray<float> in(64), out(64);
  cudaMemset(in.get(), 0, 63 * sizeof(float));
  copy_all<<<1, 64>>>(in.get(), out.get());
  return cudaDeviceSynchronize();
}

// A copy on the device hands on what is not written.
int run_global_copied_unwritten() {
  cudaDeviceReset();
  DeviceArray<float> in(64), between(64), out(64);
  cudaMemset(in.get(), 0, 32 * sizeof(float));
  cudaMemcpy(between.get(), in.get(), 64 * sizeof(float), cudaMemcpyDeviceToDevice);
  copy_all<<<1, 64>>>(between.get(), out.get());
  return cudaDeviceSynchronize();
}

// Memory that was used and freed is garbage again when it is allocated again.
int run_global_allocated_again() {
  cudaDeviceReset();
  { DeviceArray<float> before(zeros(64)); }
  DeviceArray<float> in(64), out(64);
  copy_all<<<1, 64>>>(in.get(), out.get());
  return cudaDeviceSynchronize();
}

// Copies, cudaMemset and kernels all count as writing.
int run_global_written_in_every_way() {
  cudaDeviceReset();
  DeviceArray<float> in(64), between(64), out(64);
  cudaMemset(in.get(), 0, 32 * sizeof(float));
  cudaMemcpy(in.get() + 32, zeros(32).data(), 32 * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(between.get(), in.get(), 64 * sizeof(float), cudaMemcpyDeviceToDevice);
  copy_all<<<1, 64>>>(between.get(), out.get());
  copy_all<<<1, 64>>>(out.get(), in.get());
  return cudaDeviceSynchronize();
}

}  // namespace

const std::vector<HazardCase>& memory_cases() {
  static const std::vector<HazardCase> cases = {
      {"global_read_past_end", run_copy<global_read_past_end<false>>},
      {"global_read_past_end_fixed", run_copy<global_read_past_end<true>>},
      {"memcpy_past_end", run_copy<memcpy_past_end>},
      {"global_read_before_start", run_copy<global_read_before_start>},
      {"global_write_past_end", run_copy<global_write_past_end>},
      {"global_write_before_start", run_copy<global_write_before_start>},
      {"global_read_far_away", run_copy<global_read_far_away>},
      {"atomic_past_end", run_atomic_past_end},
      {"byte_past_end", run_byte_past_end},
      {"float4_across_the_end", run_float4_across_the_end},
      {"shared_read_past_end", run<shared_read_past_end>},
      {"shared_read_before_start", run<shared_read_before_start>},
      {"shared_write_past_end", run<shared_write_past_end>},
      {"shared_write_before_start", run<shared_write_before_start>},
      {"shared_read_into_neighbour", run<shared_read_into_neighbour>},
      {"dynamic_read_past_end", run<dynamic_read_past_end, 2, 64, 256>},
      {"dynamic_read_before_start", run<dynamic_read_before_start, 2, 64, 256>},
      {"dynamic_write_past_end", run<dynamic_write_past_end, 2, 64, 256>},
      {"constant_past_end", run_constant_past_end},
      {"device_variable_past_end", run<device_variable_past_end, 1, 11>},
      {"use_after_free", run_use_after_free},
      {"null_pointer", run_null_pointer},
      {"host_pointer_read", run_host_pointer_read},
      {"host_pointer_write", run_host_pointer_write},
      {"misaligned_int", run_misaligned_int},
      {"misaligned_store", run<misaligned_store, 1, 32>},
      {"shared_cell_not_written", run<shared_cell_not_written<false>>},
      {"shared_cell_not_written_fixed", run<shared_cell_not_written<true>>},
      {"shared_of_an_earlier_block", run<shared_of_an_earlier_block>},
      {"dynamic_cell_not_written", run<dynamic_cell_not_written, 2, 64, 256>},
      {"shared_counter_not_set", run<shared_counter_not_set>},
      {"one_byte_of_a_word_not_written", run<one_byte_of_a_word_not_written>},
      {"global_partly_copied", run_global_partly_copied},
      {"global_partly_set", run_global_partly_set},
      {"global_copied_unwritten", run_global_copied_unwritten},
      {"global_allocated_again", run_global_allocated_again},
      {"global_written_in_every_way", run_global_written_in_every_way},
  };
  return cases;
}
