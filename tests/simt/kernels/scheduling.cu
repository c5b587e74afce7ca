// Threads, barriers and warps.
#include <cuda_runtime.h>

#include "device_array.hpp"
#include "scheduling.hpp"

namespace scheduling {

namespace {

__device__ int linear_thread() {
  return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
}

__device__ int linear_block() {
  return blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
}

__global__ void write_positions(unsigned* out) {
  unsigned* mine =
      out + 6 * (linear_block() * blockDim.x * blockDim.y * blockDim.z + linear_thread());
  mine[0] = threadIdx.x;
  mine[1] = threadIdx.y;
  mine[2] = threadIdx.z;
  mine[3] = blockIdx.x;
  mine[4] = blockIdx.y;
  mine[5] = blockIdx.z;
}

__global__ void check_sizes(dim3 grid, dim3 block, unsigned* right) {
  if (gridDim.x == grid.x && gridDim.y == grid.y && gridDim.z == grid.z && blockDim.x == block.x &&
      blockDim.y == block.y && blockDim.z == block.z && warpSize == 32) {
    atomicAdd(right, 1u);
  }
}

__global__ void rotate_kernel(int* out, int rounds) {
  __shared__ int cells[1024];
  const int t = threadIdx.x;
  cells[t] = t;
  __syncthreads();
  for (int r = 0; r < rounds; ++r) {
    const int value = cells[t];
    __syncthreads();
    cells[(t + 1) % blockDim.x] = value + 1;
    __syncthreads();
  }
  out[t] = cells[t];
}

__global__ void barrier_votes_kernel(const int* bits, int* out) {
  const int t = threadIdx.x;
  const int count = __syncthreads_count(bits[t]);
  const int any = __syncthreads_or(bits[t]);
  const int all = __syncthreads_and(bits[t]);
  const int none = __syncthreads_count(0);
  if (t == static_cast<int>(blockDim.x) - 1) {
    out[0] = count;
    out[1] = any != 0;
    out[2] = all != 0;
    out[3] = none;
  }
}

__global__ void leave_early_kernel(const int* limits, int barriers, int* out) {
  const int t = threadIdx.x;
  for (int k = 0; k < barriers; ++k) {
    if (t > limits[k]) return;
    __syncthreads();
    out[t] = k + 1;
  }
}

template <typename T>
__global__ void shuffle_kernel(const T* in, T* out, Shuffle kind, int operand, int width) {
  const T value = in[threadIdx.x];
  T result = value;
  switch (kind) {
    case Shuffle::index:
      result = __shfl_sync(0xffffffffu, value, operand, width);
      break;
    case Shuffle::up:
      result = __shfl_up_sync(0xffffffffu, value, operand, width);
      break;
    case Shuffle::down:
      result = __shfl_down_sync(0xffffffffu, value, operand, width);
      break;
    case Shuffle::butterfly:
      result = __shfl_xor_sync(0xffffffffu, value, operand, width);
      break;
  }
  out[threadIdx.x] = result;
}

__global__ void shuffle_in_halves_kernel(int* out) {
  const int t = threadIdx.x;
  int value;
  if (t < 16) {
    value = __shfl_xor_sync(0x0000ffffu, 10 * t, 1);
  } else {
    value = 1 + __shfl_xor_sync(0xffff0000u, 10 * t, 1);
  }
  out[t] = value;
}

__global__ void votes_kernel(const int* keys, unsigned* out) {
  const int t = threadIdx.x;
  const int key = keys[t];
  out[5 * t] = __ballot_sync(0xffffffffu, key % 2);
  out[5 * t + 1] = __any_sync(0xffffffffu, key == 5) != 0;
  out[5 * t + 2] = __all_sync(0xffffffffu, key < 100) != 0;
  out[5 * t + 3] = __match_any_sync(0xffffffffu, key);
  out[5 * t + 4] = __activemask();
}

// One atomic update for all lanes that meet here: each lane gets a number of its own.
__device__ int aggregated_increment(int* count) {
  const unsigned together = __activemask();
  const int lane = threadIdx.x % 32;
  const int leader = __ffs(together) - 1;
  int first = 0;
  if (lane == leader) first = atomicAdd(count, __popc(together));
  first = __shfl_sync(together, first, leader);
  return first + __popc(together & ((1u << lane) - 1));
}

__global__ void aggregated_increments_kernel(int* count, int* out) {
  const int t = threadIdx.x;
  out[t] = -1;
  if (t % 3 == 0) out[t] = aggregated_increment(count);
}

__global__ void block_sums_kernel(int* out) {
  __shared__ int of_warp[32];
  const int t = threadIdx.x;
  const int lane = t % 32;
  const int lanes = min(32, static_cast<int>(blockDim.x) - (t - lane));
  const unsigned mask = lanes == 32 ? 0xffffffffu : (1u << lanes) - 1;
  int sum = t + static_cast<int>(blockIdx.x);
  for (int delta = 16; delta > 0; delta /= 2) {
    const int other = __shfl_down_sync(mask, sum, lane + delta < lanes ? delta : 0);
    if (lane + delta < lanes) sum += other;
  }
  if (lane == 0) of_warp[t / 32] = sum;
  __syncthreads();
  if (t == 0) {
    const int warps = (blockDim.x + 31) / 32;
    int total = 0;
    for (int w = 0; w < warps; ++w) total += of_warp[w];
    out[blockIdx.x] = total;
  }
}

__device__ unsigned int blocks_done;

__global__ void last_block_sums_kernel(volatile int* of_block, int* out) {
  __shared__ bool last;
  const int t = threadIdx.x;
  if (t == 0) {
    of_block[blockIdx.x] = 3 * static_cast<int>(blockIdx.x) + 1;
    __threadfence();
    last = atomicInc(&blocks_done, gridDim.x - 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (!last) return;
  int sum = 0;
  for (int b = t; b < static_cast<int>(gridDim.x); b += blockDim.x) sum += of_block[b];
  atomicAdd(out, sum);
}

__global__ void count_blocks_kernel(unsigned* count) {
  if (linear_thread() == 0) atomicAdd(count, 1u);
}

__global__ void large_local_arrays_kernel(int* out) {
  int mine[4096];
  for (int k = 0; k < 4096; ++k) mine[k] = threadIdx.x ^ k;
  __syncthreads();
  int sum = 0;
  for (int k = 0; k < 4096; ++k) sum += mine[(k * 17 + 5) % 4096];
  out[threadIdx.x] = sum;
}

struct Arguments {
  int start;
  int step[3];
};

__global__ void private_arguments_kernel(Arguments arguments, int* out) {
  arguments.start += threadIdx.x;
  arguments.step[threadIdx.x % 3] *= 2;
  __syncthreads();
  out[threadIdx.x] = arguments.start + arguments.step[0] + arguments.step[1] + arguments.step[2];
}

__global__ void atomics_kernel(int* i, unsigned* u, unsigned long long* l, float* f, double* d,
                               long long* out) {
  int k = 0;
  auto note = [&](long long value) { out[k++] = value; };
  note(atomicAdd(i, -7));
  note(atomicSub(i, 3));
  note(atomicExch(i, 12));
  note(atomicMin(i, -4));
  note(atomicMax(i, 9));
  note(atomicAnd(i, 8));
  note(atomicOr(i, 5));
  note(atomicXor(i, 15));
  note(atomicCAS(i, 1, 100));
  note(atomicCAS(i, 2, 100));
  note(*i);
  note(atomicInc(u, 6));
  note(atomicInc(u, 6));
  note(atomicDec(u, 6));
  note(atomicMax(u, 0xfffffff0u));
  note(*u);
  note(atomicAdd(l, 1ull << 40));
  note(atomicCAS(l, 1ull << 40, 3ull));
  note(*l);
  note(atomicAdd(f, 1.5f));
  note(2 * *f);
  note(atomicAdd(d, 0.25));
  note(4 * *d);
}

}  // namespace

template <typename T, typename... Parameters, typename... Arguments>
static std::vector<T> launch(DeviceArray<T>& out, dim3 grid, dim3 block,
                             void (*kernel)(Parameters...), Arguments... arguments) {
  kernel<<<grid, block>>>(arguments...);
  if (cudaGetLastError() != cudaSuccess) return {};
  return out.download();
}

std::vector<unsigned> positions(dim3 grid, dim3 block) {
  const unsigned threads = grid.x * grid.y * grid.z * block.x * block.y * block.z;
  DeviceArray<unsigned> out(6 * threads);
  return launch(out, grid, block, write_positions, out.get());
}

std::vector<unsigned> sizes_seen(dim3 grid, dim3 block) {
  DeviceArray<unsigned> right(std::vector<unsigned>(1, 0));
  return launch(right, grid, block, check_sizes, grid, block, right.get());
}

std::vector<int> rotate(int threads, int rounds) {
  DeviceArray<int> out(threads);
  return launch(out, 1, threads, rotate_kernel, out.get(), rounds);
}

std::vector<int> barrier_votes(const std::vector<int>& bits) {
  DeviceArray<int> in(bits), out(4);
  return launch(out, 1, static_cast<unsigned>(bits.size()), barrier_votes_kernel, in.get(),
                out.get());
}

std::vector<int> leave_early(int threads, const std::vector<int>& limits) {
  DeviceArray<int> in(limits), out(std::vector<int>(threads, 0));
  return launch(out, 1, threads, leave_early_kernel, in.get(), static_cast<int>(limits.size()),
                out.get());
}

template <typename T>
std::vector<T> shuffle(const std::vector<T>& values, Shuffle kind, int operand, int width) {
  DeviceArray<T> in(values), out(32);
  return launch(out, 1, 32, shuffle_kernel<T>, in.get(), out.get(), kind, operand, width);
}
template std::vector<int> shuffle(const std::vector<int>&, Shuffle, int, int);
template std::vector<unsigned> shuffle(const std::vector<unsigned>&, Shuffle, int, int);
template std::vector<float> shuffle(const std::vector<float>&, Shuffle, int, int);
template std::vector<long long> shuffle(const std::vector<long long>&, Shuffle, int, int);
template std::vector<double> shuffle(const std::vector<double>&, Shuffle, int, int);

std::vector<int> shuffle_in_halves() {
  DeviceArray<int> out(32);
  return launch(out, 1, 32, shuffle_in_halves_kernel, out.get());
}

std::vector<unsigned> votes(const std::vector<int>& keys) {
  DeviceArray<int> in(keys);
  DeviceArray<unsigned> out(5 * 32);
  return launch(out, 1, 32, votes_kernel, in.get(), out.get());
}

std::vector<int> aggregated_increments(int threads) {
  DeviceArray<int> count(std::vector<int>(1, 0)), out(threads);
  return launch(out, 1, threads, aggregated_increments_kernel, count.get(), out.get());
}

std::vector<int> block_sums(int blocks, int threads) {
  DeviceArray<int> out(blocks);
  return launch(out, blocks, threads, block_sums_kernel, out.get());
}

std::vector<int> last_block_sums(int blocks) {
  DeviceArray<int> of_block(blocks), out(std::vector<int>(1, 0));
  return launch(out, blocks, 64, last_block_sums_kernel, of_block.get(), out.get());
}

std::vector<unsigned> count_blocks(dim3 grid, dim3 block) {
  DeviceArray<unsigned> count(std::vector<unsigned>(1, 0));
  return launch(count, grid, block, count_blocks_kernel, count.get());
}

std::vector<int> large_local_arrays(int threads) {
  DeviceArray<int> out(threads);
  return launch(out, 1, threads, large_local_arrays_kernel, out.get());
}

std::vector<int> private_arguments(int threads) {
  DeviceArray<int> out(threads);
  return launch(out, 1, threads, private_arguments_kernel, Arguments{100, {1, 10, 1000}},
                out.get());
}

std::vector<long long> atomics() {
  DeviceArray<int> i(std::vector<int>(1, 10));
  DeviceArray<unsigned> u(std::vector<unsigned>(1, 5));
  DeviceArray<unsigned long long> l(std::vector<unsigned long long>(1, 0));
  DeviceArray<float> f(std::vector<float>(1, 2.0f));
  DeviceArray<double> d(std::vector<double>(1, 7.0));
  DeviceArray<long long> out(23);
  return launch(out, 1, 1, atomics_kernel, i.get(), u.get(), l.get(), f.get(), d.get(), out.get());
}

int host_variables_of_the_same_name() {
  const int threadIdx = 40;
  struct {
    int x;
  } blockIdx = {2};
  return threadIdx + blockIdx.x;
}

}  // namespace scheduling
