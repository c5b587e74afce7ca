// Asynchronous copies of rows and of lanes in any order: past the first cache their cost depends on both sides.
#include <cuda_pipeline.h>
#include <cuda_runtime.h>

#include <functional>

#include "launches.hpp"

namespace fidelity {
namespace {

// A row is kLanes pieces of 16 bytes; 32 rows.
template <int kLanes, int kPitch>
__global__ void copy_rows(const float* in, float* out, int pitch) {
  __shared__ __align__(16) float tile[32][kPitch];
  const int t = threadIdx.x, rows = 128 / kLanes;
  for (int r = t / kLanes; r < 32; r += rows) {
    __pipeline_memcpy_async(&tile[r][(t % kLanes) * 4], &in[r * pitch + (t % kLanes) * 4], 16);
  }
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  for (int i = t; i < 32 * kLanes * 4; i += 128) out[i] = tile[i / (kLanes * 4)][i % (kLanes * 4)];
}

__global__ void copy_rows_swizzled(const float* in, float* out, int pitch) {
  __shared__ __align__(16) float tile[32 * 32];
  const int t = threadIdx.x;
  for (int r = t / 8; r < 32; r += 16) {
    const int c = t % 8;
    __pipeline_memcpy_async(&tile[r * 32 + ((c ^ (r & 7)) * 4)], &in[r * pitch + c * 4], 16);
  }
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  for (int i = t; i < 1024; i += 128) {
    const int r = i / 32, c = i % 32;
    out[i] = tile[r * 32 + (((c / 4) ^ (r & 7)) * 4) + c % 4];
  }
}

// Pieces of 16 bytes, so many apart on each side.
__global__ void copy_steps(const float* in, float* out, int from, int to) {
  __shared__ __align__(16) float tile[32 * 4 * 8];
  const int t = threadIdx.x;
  __pipeline_memcpy_async(&tile[(t * to % 256) * 4], &in[t * from * 4], 16);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncwarp();
  out[t] = tile[(t * to % 256) * 4];
}

// Lanes in any order: through the first cache, or 16 bytes past it where a register says whether they are read.
struct Order {
  short from[32], to[32];
  unsigned readers;  // other lanes fill in zeros
};
template <int kBytes>
__global__ void copy_in_order(const char* in, int* out, const __grid_constant__ Order order) {
  __shared__ __align__(1024) char tile[16384];
  const int t = threadIdx.x;
  const auto to = static_cast<unsigned>(__cvta_generic_to_shared(tile + order.to[t] * kBytes));
  const char* const from = in + order.from[t] * kBytes;
  asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(to), "l"(from), "n"(kBytes));
  asm volatile("cp.async.wait_all;");
  __syncwarp();
  out[t] = *reinterpret_cast<int*>(tile + order.to[t] * kBytes);
}
template <int kBytes>
__global__ void copy_or_zero(const char* in, int* out, const __grid_constant__ Order order) {
  __shared__ __align__(1024) char tile[16384];
  const int t = threadIdx.x;
  const auto to = static_cast<unsigned>(__cvta_generic_to_shared(tile + order.to[t] * kBytes));
  const char* const from = in + order.from[t] * kBytes;
  const int read = (order.readers >> t & 1) != 0 ? kBytes : 0;
  if constexpr (kBytes == 16) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(read));
  } else {
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(to), "l"(from), "n"(kBytes),
                 "r"(read));
  }
  asm volatile("cp.async.wait_all;");
  __syncwarp();
  out[t] = *reinterpret_cast<int*>(tile + order.to[t] * kBytes);
}

using Place = std::function<int(int)>;
template <int kBytes>
void run_order(void (*kernel)(const char*, int*, Order), const char* name, const Place& from,
               const Place& to, unsigned zeros, Array<char>& in, Array<int>& out) {
  Order order{};
  for (int i = 0; i < 32; ++i) {
    order.from[i] = static_cast<short>(from(i));
    order.to[i] = static_cast<short>(to(i));
  }
  order.readers = ~zeros;
  kernel<<<1, 32>>>(in.data(), out.data(), order);
  tell((name + (" " + std::to_string(kBytes))).c_str(), out);
}

Place every(int distance) {
  return [distance](int i) { return i * distance; };
}

template <int kBytes>
void orders(Array<char>& in, Array<int>& out) {
  const auto run = [&](const char* name, const Place& from, const Place& to) {
    run_order<kBytes>(copy_in_order<kBytes>, name, from, to, 0, in, out);
  };
  run("copies of one", every(0), every(1));
  run(
      "copies of pairs", [](int i) { return i / 2; }, every(1));
  run("copies from every second", every(2), every(1));
  run("copies from one bank", every(32), every(1));
  run("copies to every fifth", every(1), every(5));
  run("copies to one bank", every(1), every(32));
}

template <int kBytes>
void orders_with_zeros(Array<char>& in, Array<int>& out) {
  const auto run = [&](const char* name, const Place& from, const Place& to, unsigned zeros) {
    run_order<kBytes>(copy_or_zero<kBytes>, name, from, to, zeros, in, out);
  };
  const Place rows = [](int i) { return 1 + i / 6 * 37 + i % 6; };
  run(
      "or zero none", [](int i) { return i + 1; }, every(1), 0);
  run("or zero the last", every(1), every(1), 0xfff00000u);
  run("or zero all", every(1), every(1), ~0u);
  run("or zero rows", rows, every(1), 0x41041041u);
  run("or zero from every second", every(2), every(1), 0x1u);
  run("or zero to every second", every(1), every(2), 0x00fe00f0u);
  run("or zero from every eighth", every(8), every(1), 0xff03u);
  run("or zero to every eighth", every(1), every(8), 0xfff3u);
}

}  // namespace

void asynchronous_copies() {
  Array<float> in(64 * 1024), out(8192, 2);
  copy_rows<8, 32><<<1, 128>>>(in.data(), out.data(), 256);
  tell("rows 8 to 32", out);
  copy_rows<8, 36><<<1, 128>>>(in.data(), out.data(), 256);
  tell("rows 8 to 36", out);
  copy_rows<4, 16><<<1, 128>>>(in.data(), out.data(), 256);
  tell("rows 4 to 16", out);
  copy_rows<4, 20><<<1, 128>>>(in.data(), out.data(), 256);
  tell("rows 4 to 20", out);
  copy_rows<2, 8><<<1, 128>>>(in.data(), out.data(), 256);
  tell("rows 2 to 8", out);
  copy_rows<2, 12><<<1, 128>>>(in.data(), out.data(), 256);
  tell("rows 2 to 12", out);
  copy_rows<16, 64><<<1, 128>>>(in.data(), out.data(), 256);
  tell("rows 16 to 64", out);
  copy_rows<4, 16><<<1, 128>>>(in.data(), out.data(), 16);
  tell("rows 4 near to 16", out);
  copy_rows<4, 32><<<1, 128>>>(in.data(), out.data(), 16);
  tell("rows 4 near to 32", out);
  copy_rows<2, 32><<<1, 128>>>(in.data(), out.data(), 40);
  tell("rows 2 by 40 to 32", out);
  copy_rows_swizzled<<<1, 128>>>(in.data(), out.data(), 512);
  tell("rows swizzled", out);
  const int steps[][2] = {{1, 2}, {1, 3}, {2, 1}, {2, 2}, {3, 1}, {3, 3}, {5, 1}, {33, 8}};
  for (const auto& [from, to] : steps) {
    copy_steps<<<1, 32>>>(in.data(), out.data(), from, to);
    tell(("copy step " + std::to_string(from) + " to " + std::to_string(to)).c_str(), out);
  }
  Array<char> bytes(65536);
  Array<int> words(32);
  orders<4>(bytes, words);
  orders<8>(bytes, words);
  orders<16>(bytes, words);
  orders_with_zeros<4>(bytes, words);
  orders_with_zeros<16>(bytes, words);
}

}  // namespace fidelity
