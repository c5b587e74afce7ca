// Tensor cores by inline PTX, as kernels use them.
#include <cuda_runtime.h>
#include <mma.h>

#include "device_array.hpp"
#include "tensor.hpp"

namespace tensor {
namespace {

__device__ __forceinline__ uint32_t tf32(float value) {
  uint32_t rounded;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(rounded) : "f"(value));
  return rounded;
}

__device__ __forceinline__ void mma(float (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[2]) {
  asm volatile(
      "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32\n"
      "  {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};\n"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));  // COUNTED
}

__global__ void depth_8(const uint32_t* a, const uint32_t* b, const float* c, float* d) {
  const int g = threadIdx.x / 4, t = threadIdx.x % 4;
  const int upper = g * 8 + 2 * t, lower = upper + 64;
  float d0, d1, d2, d3;  // nobody but the instruction writes them
  asm volatile(
      "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
      "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%10,%11,%12,%13};"
      : "=f"(d0), "=f"(d1), "=f"(d2), "=f"(d3)
      : "r"(a[g * 8 + t]), "r"(a[(g + 8) * 8 + t]), "r"(a[g * 8 + t + 4]),
        "r"(a[(g + 8) * 8 + t + 4]), "r"(b[t * 8 + g]), "r"(b[(t + 4) * 8 + g]), "f"(c[upper]),
        "f"(c[upper + 1]), "f"(c[lower]), "f"(c[lower + 1])
      : "memory");
  d[upper] = d0;
  d[upper + 1] = d1;
  d[lower] = d2;
  d[lower + 1] = d3;
}

// The operands in another order than the registers.
__global__ void depth_4(const uint32_t* a, const uint32_t* b, const float* c, float* d) {
  const int g = threadIdx.x / 4, t = threadIdx.x % 4;
  const int upper = g * 8 + 2 * t, lower = upper + 64;
  __asm__(R"({
              mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32
                {%3, %2, %1, %0}, {%10, %9}, {%8}, {%7, %6, %5, %4};
            })"
          : "=f"(d[lower + 1]), "=f"(d[lower]), "=f"(d[upper + 1]), "=&f"(d[upper])
          : "f"(c[lower + 1]), "f"(c[lower]), "f"(c[upper + 1]), "f"(c[upper]), "r"(b[t * 8 + g]),
            "r"(a[(g + 8) * 4 + t]), "r"(a[g * 4 + t]));
}

__global__ void deep(int depth, bool three, const float* a, const float* b, float* d) {
  const int g = threadIdx.x / 4, t = threadIdx.x % 4;
  float sums[4] = {};
  for (int k = t; k < depth; k += 8) {
    const float its[6] = {a[g * depth + k],           a[(g + 8) * depth + k], a[g * depth + k + 4],
                          a[(g + 8) * depth + k + 4], b[g * depth + k],       b[g * depth + k + 4]};
    uint32_t big[6], rest[6];
#pragma unroll
    for (int i = 0; i < 6; ++i) {
      big[i] = tf32(its[i]);
      rest[i] = tf32(its[i] - __uint_as_float(big[i]));
    }
    const uint32_t a_big[4] = {big[0], big[1], big[2], big[3]}, b_big[2] = {big[4], big[5]};
    const uint32_t a_rest[4] = {rest[0], rest[1], rest[2], rest[3]}, b_rest[2] = {rest[4], rest[5]};
    if (three) {
      mma(sums, a_rest, b_big);
      mma(sums, a_big, b_rest);
    }
    mma(sums, a_big, b_big);
  }
  d[g * 8 + 2 * t] = sums[0];
  d[g * 8 + 2 * t + 1] = sums[1];
  d[(g + 8) * 8 + 2 * t] = sums[2];
  d[(g + 8) * 8 + 2 * t + 1] = sums[3];
}

__global__ void round_all(int count, const float* values, uint32_t* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) out[i] = tf32(values[i]);
}

// ---- who takes part ----

#define MMA_OF_ONES                                                     \
  asm volatile(                                                         \
      "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "             \
      "{%0, %1, %2, %3}, {%4, %4, %4, %4}, {%4, %4}, {%0, %1, %2, %3};" \
      : "+f"(sums.x), "+f"(sums.y), "+f"(sums.z), "+f"(sums.w)          \
      : "r"(0x3f800000))

__global__ void whole_warps(float4* out) {
  float4 sums = {};
  if (threadIdx.x / 32 != 1) MMA_OF_ONES;
  out[threadIdx.x] = sums;
}

__global__ void lane_left_out(float4* out) {
  float4 sums = {};
  if (threadIdx.x != 5) MMA_OF_ONES;  // BUG lane_left_out
  out[threadIdx.x] = sums;
}

__global__ void lane_ended(float4* out) {
  float4 sums = {};
  if (threadIdx.x == 40) return;
  MMA_OF_ONES;  // BUG lane_ended
  out[threadIdx.x] = sums;
}

__global__ void half_a_warp(float4* out) {
  float4 sums = {};
  MMA_OF_ONES;  // BUG half_a_warp
  out[threadIdx.x] = sums;
}

__global__ void two_branches(float4* out) {
  float4 sums = {};
  if (threadIdx.x % 2 == 0) {
    MMA_OF_ONES;  // BUG two_branches
    out[threadIdx.x] = sums;
  } else {
    MMA_OF_ONES;  // OTHER two_branches
    out[threadIdx.x] = sums;
  }
}

__global__ void beside_a_shuffle(float4* out) {
  float4 sums = {};
  if (threadIdx.x == 3) sums.x = __shfl_sync(~0u, sums.x, 0);  // OTHER beside_a_shuffle
  MMA_OF_ONES;                                                 // BUG beside_a_shuffle
  out[threadIdx.x] = sums;
}

__global__ void matrix_load_without_a_lane(float4* out) {
  using namespace nvcuda;
  wmma::fragment<wmma::accumulator, 16, 16, 8, float> sum;
  if (threadIdx.x == 31) return;
  wmma::load_matrix_sync(sum, &out->x, 16, wmma::mem_row_major);  // BUG matrix_load_without_a_lane
  wmma::store_matrix_sync(&out->x, sum, 16, wmma::mem_row_major);
}

// Lane 7 is stopped where it reads, and the mma waits for it in vain: one mistake.
__global__ void stopped_before(float4* out) {
  float4 sums = out[threadIdx.x == 7 ? 1000 : threadIdx.x];  // BUG stopped_before
  MMA_OF_ONES;
  out[threadIdx.x] = sums;
}

// ---- what ldmatrix reads ----

#define LOAD_FOUR_MATRICES(address)                                               \
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];" \
               : "=r"(its[0]), "=r"(its[1]), "=r"(its[2]), "=r"(its[3])           \
               : "r"(static_cast<uint32_t>(__cvta_generic_to_shared(address))))

__device__ float4 as_floats(const uint32_t (&its)[4]) {
  return make_float4(__uint_as_float(its[0]), __uint_as_float(its[1]), __uint_as_float(its[2]),
                     __uint_as_float(its[3]));
}

__global__ void rows_not_synchronised(float4* out) {
  __shared__ float4 rows[64];
  uint32_t its[4];
  rows[threadIdx.x + 1] = make_float4(1, 2, 3, 4);  // OTHER rows_not_synchronised
  if (threadIdx.x == 0) rows[0] = rows[1];
  LOAD_FOUR_MATRICES(&rows[threadIdx.x]);  // BUG rows_not_synchronised
  out[threadIdx.x] = as_floats(its);
}

__global__ void rows_beyond(float4* out) {
  extern __shared__ float4 dynamic_rows[];
  uint32_t its[4];
  dynamic_rows[threadIdx.x] = make_float4(1, 2, 3, 4);
  __syncwarp();
  LOAD_FOUR_MATRICES(&dynamic_rows[threadIdx.x + 1]);  // BUG rows_beyond
  out[threadIdx.x] = as_floats(its);
}

__global__ void rows_in_global(float4* out) {
  uint32_t its[4];
  LOAD_FOUR_MATRICES(&out[threadIdx.x]);  // BUG rows_in_global
  out[threadIdx.x] = as_floats(its);
}

template <void (*kernel)(float4*), int threads, int shared_bytes = 0>
int run() {
  cudaDeviceReset();
  DeviceArray<float4> out(std::vector<float4>(256));
  kernel<<<1, threads, shared_bytes>>>(out.get());
  return cudaDeviceSynchronize();
}
}  // namespace

std::vector<float> multiply(int depth, const std::vector<uint32_t>& a,
                            const std::vector<uint32_t>& b, const std::vector<float>& c) {
  DeviceArray<uint32_t> left(a), right(b);
  DeviceArray<float> sums(c), out(std::size_t{128});
  (depth == 8 ? depth_8 : depth_4)<<<1, 32>>>(left.get(), right.get(), sums.get(), out.get());
  return out.download();
}

std::vector<float> multiply_deep(int depth, bool three, const std::vector<float>& a,
                                 const std::vector<float>& b) {
  DeviceArray<float> left(a), right(b), out(std::size_t{128});
  deep<<<1, 32>>>(depth, three, left.get(), right.get(), out.get());
  return out.download();
}

std::vector<uint32_t> rounded(const std::vector<float>& values) {
  DeviceArray<float> in(values);
  DeviceArray<uint32_t> out(values.size());
  const int count = static_cast<int>(values.size());
  round_all<<<(count + 63) / 64, 64>>>(count, in.get(), out.get());
  return out.download();
}

const std::vector<Case>& cases() {
  static const std::vector<Case> all = {
      {"whole_warps", run<whole_warps, 96>},
      {"lane_left_out", run<lane_left_out, 32>},
      {"lane_ended", run<lane_ended, 64>},
      {"half_a_warp", run<half_a_warp, 48>},
      {"two_branches", run<two_branches, 32>},
      {"beside_a_shuffle", run<beside_a_shuffle, 32>},
      {"matrix_load_without_a_lane", run<matrix_load_without_a_lane, 32>},
      {"stopped_before", run<stopped_before, 32>},
      {"rows_not_synchronised", run<rows_not_synchronised, 32>},
      {"rows_beyond", run<rows_beyond, 32, 512>},
      {"rows_in_global", run<rows_in_global, 32>},
  };
  return all;
}

}  // namespace tensor
