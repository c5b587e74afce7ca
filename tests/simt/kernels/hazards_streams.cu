// Work on streams that nothing orders, and a host that does not wait: planted, and the correct twins.
#include <cuda_runtime.h>

#include <cstring>
#include <vector>

#include "device_array.hpp"
#include "hazards.hpp"

namespace {

constexpr int kCount = 1000;

__global__ void fill(float* cells, int count, float value) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) cells[i] = value + i;
}

__global__ void copy_cells(const float* from, float* to) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < kCount) {
    const float cell = from[i];  // BUG copy_cells reads
    to[i] = cell;                // BUG copy_cells writes
  }
}

__global__ void fill_bytes(unsigned char* cells, int from, int to, unsigned char value) {
  const int i = from + blockIdx.x * blockDim.x + threadIdx.x;
  if (i < to) cells[i] = value;
}

__global__ void count_threads(int* count) { atomicAdd(count, 1); }

// What the cases work with. Everything is destroyed only when a case is over.
struct Bench {
  Bench() {
    cudaDeviceReset();
    cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking);
    cudaStreamCreate(&blocking);
    cudaEventCreate(&event);
    cudaMalloc(&a, kCount * sizeof(float));
    cudaMalloc(&b, kCount * sizeof(float));
    cudaMallocHost(&pinned, kCount * sizeof(float));
    cudaMallocManaged(&managed, kCount * sizeof(float));
    cudaMemset(a, 0, kCount * sizeof(float));
    cudaMemset(b, 0, kCount * sizeof(float));
    cudaDeviceSynchronize();
  }
  int end() {
    const int error = cudaDeviceSynchronize();
    cudaDeviceReset();
    return error + wrong;
  }
  cudaStream_t first, second, blocking;
  cudaEvent_t event;
  float *a, *b, *pinned, *managed;
  int wrong = 0;  // results
  std::vector<float> host = std::vector<float>(kCount);
  static constexpr std::size_t kBytes = kCount * sizeof(float);
};

constexpr int kBlocks = 8;
constexpr int kThreads = 128;

void kernel_on_another_stream(Bench& t) {
  fill<<<kBlocks, kThreads>>>(t.a, kCount, 1);  // OTHER kernel_on_another_stream
  copy_cells<<<kBlocks, kThreads, 0, t.first>>>(t.a, t.b);
}

void kernel_on_a_blocking_stream(Bench& t) {
  fill<<<kBlocks, kThreads>>>(t.a, kCount, 1);
  copy_cells<<<kBlocks, kThreads, 0, t.blocking>>>(t.a, t.b);
  fill<<<kBlocks, kThreads>>>(t.b, kCount, 1);
}

void event_not_waited_for(Bench& t) {
  fill<<<kBlocks, kThreads, 0, t.first>>>(t.a, kCount, 1);  // OTHER event_not_waited_for
  cudaEventRecord(t.event, t.first);
  copy_cells<<<kBlocks, kThreads, 0, t.second>>>(t.a, t.b);
}

void event_waited_for(Bench& t) {
  fill<<<kBlocks, kThreads, 0, t.first>>>(t.a, kCount, 1);
  cudaEventRecord(t.event, t.first);
  cudaStreamWaitEvent(t.second, t.event, 0);
  copy_cells<<<kBlocks, kThreads, 0, t.second>>>(t.a, t.b);
  // And on: through the default stream, whose next kernel waits.
  cudaEventRecord(t.event, t.second);
  cudaStreamWaitEvent(nullptr, t.event, 0);
  copy_cells<<<kBlocks, kThreads>>>(t.b, t.a);
}

void event_recorded_too_soon(Bench& t) {
  cudaEventRecord(t.event, t.first);
  fill<<<kBlocks, kThreads, 0, t.first>>>(t.a, kCount, 1);  // OTHER recorded
  cudaStreamWaitEvent(t.second, t.event, 0);
  cudaMemcpyAsync(t.b, t.a, t.kBytes, cudaMemcpyDefault, t.second);  // BUG recorded
}

void writes_what_another_reads(Bench& t) {
  cudaMemcpyAsync(t.pinned, t.b, t.kBytes, cudaMemcpyDefault, t.first);  // OTHER writes_read
  copy_cells<<<kBlocks, kThreads, 0, t.second>>>(t.a, t.b);
}

void memset_and_kernel(Bench& t) {
  cudaMemset(t.a, 0, t.kBytes);  // OTHER memset_and_kernel
  copy_cells<<<kBlocks, kThreads, 0, t.first>>>(t.a, t.b);
}

void copy_and_kernel(Bench& t) {
  cudaMemcpyAsync(t.a, t.pinned, t.kBytes, cudaMemcpyDefault, t.first);  // OTHER copy_first
  copy_cells<<<kBlocks, kThreads, 0, t.second>>>(t.a, t.b);
}

void blocking_copy_and_kernel(Bench& t) {
  cudaMemcpy(t.a, t.host.data(), t.kBytes, cudaMemcpyHostToDevice);
  copy_cells<<<kBlocks, kThreads, 0, t.first>>>(t.a, t.b);
  cudaStreamSynchronize(t.first);
  cudaMemcpy(t.host.data(), t.b, t.kBytes, cudaMemcpyDeviceToHost);
}

void copied_back_too_soon(Bench& t) {
  fill<<<kBlocks, kThreads, 0, t.first>>>(t.a, kCount, 1);           // OTHER copied_back
  cudaMemcpy(t.host.data(), t.a, t.kBytes, cudaMemcpyDeviceToHost);  // BUG copied_back
}

void pinned_read_too_soon(Bench& t) {
  fill<<<kBlocks, kThreads, 0, t.first>>>(t.a, kCount, 1);
  cudaMemcpyAsync(t.pinned, t.a, t.kBytes, cudaMemcpyDefault, t.first);  // OTHER pinned_read
  float sum = 0;
  for (int i = 0; i < kCount; ++i) sum += t.pinned[i];  // BUG pinned_read
  t.wrong = sum < 0;
}

void pinned_copied_too_soon(Bench& t) {
  cudaMemcpyAsync(t.pinned, t.a, t.kBytes, cudaMemcpyDefault, t.first);  // OTHER pinned_copied
  memcpy(t.host.data(), t.pinned, t.kBytes);                             // BUG pinned_copied
}

void pinned_written_too_soon(Bench& t) {
  cudaMemcpyAsync(t.a, t.pinned, t.kBytes, cudaMemcpyDefault, t.first);  // OTHER pinned_written
  t.pinned[0] = 5;                                                       // BUG pinned_written
}

void pinned_in_turn(Bench& t) {
  const int half = kCount / 2;
  cudaMemcpyAsync(t.a, t.pinned, half * sizeof(float), cudaMemcpyHostToDevice, t.first);
  for (int i = half; i < kCount; ++i) t.pinned[i] = i;
  cudaMemcpyAsync(t.a + half, t.pinned + half, half * sizeof(float), cudaMemcpyHostToDevice,
                  t.second);
  while (cudaStreamQuery(t.first) != cudaSuccess) {
  }
  for (int i = 0; i < half; ++i) t.pinned[i] = i;
}

void managed_read_too_soon(Bench& t) {
  fill<<<kBlocks, kThreads>>>(t.managed, kCount, 1);  // OTHER managed_read
  const float cell = t.managed[7];                    // BUG managed_read
  t.wrong = cell < 0;
}

void managed_read_in_time(Bench& t) {
  for (int i = 0; i < kCount; ++i) t.managed[i] = i;
  fill<<<kBlocks, kThreads>>>(t.managed, kCount, 1);
  cudaDeviceSynchronize();
  float sum = 0;
  for (int i = 0; i < kCount; ++i) sum += t.managed[i];
  fill<<<kBlocks, kThreads, 0, t.first>>>(t.managed, kCount, sum);
  cudaEventRecord(t.event, t.first);
  while (cudaEventQuery(t.event) != cudaSuccess) {
  }
  t.managed[3] = 1;
}

void halves_on_two_streams(Bench& t) {
  auto* const bytes = reinterpret_cast<unsigned char*>(t.a);
  fill_bytes<<<2, kThreads, 0, t.first>>>(bytes, 0, 101, 1);
  fill_bytes<<<2, kThreads, 0, t.second>>>(bytes, 101, 202, 2);
}

void both_read(Bench& t) {
  copy_cells<<<kBlocks, kThreads, 0, t.first>>>(t.a, t.b);
  copy_cells<<<kBlocks, kThreads, 0, t.second>>>(t.a, t.managed);
}

void one_of_several_readers(Bench& t) {
  copy_cells<<<kBlocks, kThreads, 0, t.first>>>(t.a, t.b);  // OTHER several
  copy_cells<<<kBlocks, kThreads, 0, t.second>>>(t.a, t.managed);
  cudaMemsetAsync(t.a, 0, t.kBytes, t.second);  // BUG several
}

void both_count(Bench& t) {
  auto* const count = reinterpret_cast<int*>(t.a);
  count_threads<<<2, kThreads, 0, t.first>>>(count);
  count_threads<<<2, kThreads, 0, t.second>>>(count);
  cudaStreamSynchronize(t.first);
  cudaStreamSynchronize(t.second);
  cudaMemcpy(t.host.data(), count, 4, cudaMemcpyDeviceToHost);
}

void count_read_too_soon(Bench& t) {
  auto* const count = reinterpret_cast<int*>(t.a);
  count_threads<<<2, kThreads, 0, t.first>>>(count);            // OTHER count_read
  cudaMemcpy(t.host.data(), count, 4, cudaMemcpyDeviceToHost);  // BUG count_read
}

void per_thread_streams(Bench& t) {
  fill<<<kBlocks, kThreads, 0, t.first>>>(t.a, kCount, 1);  // OTHER per_thread_streams
  copy_cells<<<kBlocks, kThreads, 0, cudaStreamPerThread>>>(t.a, t.b);
  fill<<<kBlocks, kThreads>>>(t.b, kCount, 1);  // waits for the thread's stream
}

void streams_that_are_gone(Bench& t) {
  for (int i = 0; i < 20; ++i) {
    cudaStream_t stream;
    cudaStreamCreate(&stream);
    fill<<<kBlocks, kThreads, 0, stream>>>(t.a, kCount, i);
    cudaStreamDestroy(stream);
    copy_cells<<<kBlocks, kThreads>>>(t.a, t.b);
  }
  cudaStreamSynchronize(nullptr);
}

void freed_too_soon(Bench& t) {
  float* cells = nullptr;
  cudaMallocAsync(&cells, t.kBytes, t.first);
  fill<<<kBlocks, kThreads, 0, t.first>>>(cells, kCount, 1);  // OTHER freed
  cudaFreeAsync(cells, t.second);                             // BUG freed
}

void freed_in_time(Bench& t) {
  float* cells = nullptr;
  cudaMallocAsync(&cells, t.kBytes, t.first);
  fill<<<kBlocks, kThreads, 0, t.first>>>(cells, kCount, 1);
  cudaFreeAsync(cells, t.first);
}

// Kernels read and write memory of the host where it is.
void mapped_memory(Bench& t) {
  float *host = nullptr, *device = nullptr;
  cudaHostAlloc(&host, t.kBytes, cudaHostAllocMapped);
  for (int i = 0; i < kCount; ++i) host[i] = i;
  cudaHostGetDevicePointer(&device, host, 0);
  copy_cells<<<kBlocks, kThreads>>>(device, t.pinned);
  cudaDeviceSynchronize();
  for (int i = 0; i < kCount; ++i) t.wrong += t.pinned[i] != i;
}

void past_mapped_memory(Bench& t) {
  float* host = nullptr;
  cudaHostAlloc(&host, t.kBytes, cudaHostAllocMapped);
  fill<<<kBlocks, kThreads>>>(host, kCount + 1, 0);
}

template <void (*body)(Bench& t)>
int run() {
  Bench t;
  body(t);
  return t.end();
}

}  // namespace

const std::vector<HazardCase>& stream_cases() {
#define CASE(name) \
  { #name, run < name> }
  static const std::vector<HazardCase> cases = {
      CASE(kernel_on_another_stream),
      CASE(kernel_on_a_blocking_stream),
      CASE(event_not_waited_for),
      CASE(event_waited_for),
      CASE(event_recorded_too_soon),
      CASE(writes_what_another_reads),
      CASE(memset_and_kernel),
      CASE(copy_and_kernel),
      CASE(blocking_copy_and_kernel),
      CASE(copied_back_too_soon),
      CASE(pinned_read_too_soon),
      CASE(pinned_written_too_soon),
      CASE(pinned_in_turn),
      CASE(managed_read_too_soon),
      CASE(managed_read_in_time),
      CASE(halves_on_two_streams),
      CASE(both_read),
      CASE(one_of_several_readers),
      CASE(both_count),
      CASE(count_read_too_soon),
      CASE(freed_too_soon),
      CASE(freed_in_time),
      CASE(pinned_copied_too_soon),
      CASE(per_thread_streams),
      CASE(streams_that_are_gone),
      CASE(mapped_memory),
      CASE(past_mapped_memory),
  };
#undef CASE
  return cases;
}
