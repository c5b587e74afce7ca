// Asynchronous copies that not every lane makes: behind a condition, its opposite, or one that memory tells; and in loops
// whose count is known only when they run.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda_pipeline.h>
#include <cuda_runtime.h>

#include "launches.hpp"

namespace fidelity {
namespace {

constexpr int kThreads = 64;

__device__ void wait_for_copies() {
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
}

// Only what the array has.
template <int kBytes>
__global__ void copy_within(const float* in, float* out, int n) {
  constexpr int kFloats = kBytes / 4;
  __shared__ __align__(16) float tile[kThreads * kFloats];
  const int t = threadIdx.x, at = (blockIdx.x * kThreads + t) * kFloats;
  if (at < n) __pipeline_memcpy_async(&tile[t * kFloats], &in[at], kBytes);
  wait_for_copies();
  if (at < n) out[at] = tile[t * kFloats] + 1;
}

// A zero is stored where there is nothing to copy.
__global__ void copy_or_store(const float* in, float* out, int width, int height) {
  __shared__ float tile[10][34];
  const int x0 = blockIdx.x * 32 - 1, y0 = blockIdx.y * 8 - 1;
  for (int i = threadIdx.y * 32 + threadIdx.x; i < 340; i += 256) {
    const int r = i / 34, c = i % 34, y = y0 + r, x = x0 + c;
    const bool outside = y < 0 || y >= height || x < 0 || x >= width;
    if (!outside) {
      __pipeline_memcpy_async(&tile[r][c], &in[y * width + x], 4);
    } else {
      tile[r][c] = 0;
    }
  }
  wait_for_copies();
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  if (x >= width || y >= height) return;
  const int r = threadIdx.y, c = threadIdx.x;
  out[y * width + x] = tile[r + 1][c + 1] * 4 - tile[r][c + 1] - tile[r + 2][c + 1] -
                       tile[r + 1][c] - tile[r + 1][c + 2];
}

// Lanes that a word names, and those that it does not.
template <bool kNamed>
__global__ void copy_if_marked(const float* in, const unsigned* marks, float* out) {
  __shared__ __align__(16) float tile[kThreads * 4];
  const int t = threadIdx.x;
  const bool marked = (marks[t / 32] >> (t % 32) & 1) != 0;
  for (int k = 0; k < 4; ++k) tile[k * kThreads + t] = -1;
  __syncthreads();
  if (marked == kNamed) __pipeline_memcpy_async(&tile[t * 4], &in[t * 4], 16);
  wait_for_copies();
  for (int k = 0; k < 4; ++k) out[k * kThreads + t] = tile[k * kThreads + t];
}

// Rows of a list, as long as memory says.
__global__ void copy_rows_of_list(const float* in, const int* rows, const int* lengths,
                                  float* out) {
  __shared__ __align__(16) float tile[16][68];
  const int t = threadIdx.x, warp = t / 32, lane = t % 32;
  for (int r = warp; r < 16; r += 2) {
    const int length = lengths[r] * 4 + 4;
    for (int c = lane * 4; c < length; c += 128)
      __pipeline_memcpy_async(&tile[r][c], &in[rows[r] * 64 + c], 16);
  }
  wait_for_copies();
  if (t < 16) {
    const int length = lengths[t] * 4 + 4;
    float sum = 0;
    for (int c = 0; c < length; ++c) sum += tile[t][c];
    out[t] = sum;
  }
}

// Two buffers, for as many tiles as the call says.
__global__ void copy_ahead(const float* in, float* out, int tiles) {
  __shared__ __align__(16) float buffers[2][kThreads * 4];
  const int t = threadIdx.x;
  const auto begin = [&](int tile) {
    if (tile < tiles) {
      __pipeline_memcpy_async(&buffers[tile & 1][t * 4], &in[(tile * kThreads + t) * 4], 16);
    }
    __pipeline_commit();
  };
  float sum = 0;
  begin(0);
  for (int tile = 0; tile < tiles; ++tile) {
    begin(tile + 1);
    __pipeline_wait_prior(1);
    __syncthreads();
    for (int k = 0; k < 4; ++k) sum += buffers[tile & 1][k * kThreads + (t ^ 1)] * (tile + 1);
    __syncthreads();
  }
  out[blockIdx.x * kThreads + t] = sum;
}

// The last floats of 16 bytes are filled in with zeros.
__global__ void copy_parts(const float* in, float* out, int n) {
  __shared__ __align__(16) float tile[kThreads * 4];
  const int t = threadIdx.x, rest = n - t * 4;
  const int fill = rest >= 4 ? 0 : rest <= 0 ? 16 : 16 - rest * 4;
  __pipeline_memcpy_async(&tile[t * 4], &in[t * 4], 16, fill);
  wait_for_copies();
  for (int k = 0; k < 4; ++k) out[k * kThreads + t] = tile[k * kThreads + t];
}

// Lanes that a word names, behind a branch; kRead bytes of 16, and zeros.
template <int kRead>
__global__ void copy_part_of_named(const float* in, float* out, unsigned names) {
  __shared__ __align__(16) float tile[128];
  const int t = threadIdx.x;
  for (int k = 0; k < 4; ++k) tile[k * 32 + t] = -1;
  __syncwarp();
  if ((names >> t & 1) != 0) {
    __threadfence();  // else ptxas makes a predicate of the branch
    const auto to = static_cast<unsigned>(__cvta_generic_to_shared(&tile[t * 4]));
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(in + t * 4),
                 "n"(kRead));
  }
  wait_for_copies();
  for (int k = 0; k < 4; ++k) out[k * 32 + t] = tile[k * 32 + t];
}

__global__ void copy_by_group(const float* in, float* out, int n) {
  __shared__ __align__(16) float tile[512];
  const auto block = cooperative_groups::this_thread_block();
  cooperative_groups::memcpy_async(block, tile, in, sizeof(float) * n);
  cooperative_groups::wait(block);
  for (int i = threadIdx.x; i < n; i += kThreads) out[i] = tile[n - 1 - i];
}

}  // namespace

void guarded_copies() {
  Array<float> in(8192), out(8192, 2);
  copy_within<4><<<3, kThreads>>>(in.data(), out.data(), 150);
  tell("copies of 4 within", out);
  copy_within<8><<<3, kThreads>>>(in.data(), out.data(), 300);
  tell("copies of 8 within", out);
  copy_within<16><<<3, kThreads>>>(in.data(), out.data(), 604);
  tell("copies of 16 within", out);
  copy_or_store<<<dim3(3, 9), dim3(32, 8)>>>(in.data(), out.data(), 90, 70);
  tell("copies or stores", out);
  {
    Array<unsigned> marks(2);
    const unsigned named[2] = {0x0f3355ffu, 0x80000001u};
    require(cudaMemcpy(marks.data(), named, 8, cudaMemcpyHostToDevice), "cudaMemcpy");
    copy_if_marked<true><<<1, kThreads>>>(in.data(), marks.data(), out.data());
    tell("copies of the marked", out);
    copy_if_marked<false><<<1, kThreads>>>(in.data(), marks.data(), out.data());
    tell("copies of the others", out);
  }
  {
    Array<int> rows(32);
    copy_rows_of_list<<<1, kThreads>>>(in.data(), rows.data() + 2, rows.data(), out.data());
    tell("copies of a list", out);
  }
  copy_ahead<<<2, kThreads>>>(in.data(), out.data(), 7);
  tell("copies ahead", out);
  copy_parts<<<1, kThreads>>>(in.data(), out.data(), 150);
  tell("copies of parts", out);
  for (const unsigned names : {0xffffffffu, 0x7ffffffeu, 0xf0ccaa00u}) {
    const auto run = [&](void (*kernel)(const float*, float*, unsigned), const char* bytes) {
      kernel<<<1, 32>>>(in.data(), out.data(), names);
      char name[64];
      std::snprintf(name, sizeof name, "%s bytes copied by %08x", bytes, names);
      tell(name, out);
    };
    run(copy_part_of_named<0>, "0");
    run(copy_part_of_named<4>, "4");
    run(copy_part_of_named<8>, "8");
    run(copy_part_of_named<16>, "16");
  }
  copy_by_group<<<1, kThreads>>>(in.data(), out.data(), 500);
  tell("copies by a group", out);
}

}  // namespace fidelity
