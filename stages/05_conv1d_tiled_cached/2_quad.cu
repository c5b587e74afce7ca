// Stage 05, step 2: four outputs per thread, and everything through the cache.
//
// Computes   output[i] = sum over j of mask[j] * input[i - halo + j]; cells beyond the ends
//            are zero.
// Changed    since 1 tiled_cached: no shared memory and no barrier. A thread reads the cells of its four
//            outputs into registers, 16 bytes at a time; its neighbours read most of them too, so they
//            come from the L1 cache. The width is known when this is compiled, so a tap is an operand
//            of the multiply-add and needs no instruction of its own.
// Must cost  9 taps: 3 requests of 16 to 17 sectors and 1 of 16 for 128 outputs, so 16.5 bytes
//            per output on the way to the L1 cache, and 8 beyond it. Each 8 taps more are two
//            requests more and 8 registers more: for wide masks stage 04's warp_tile is faster.
// Run        ./halo run 05 --variant quad
#include <cuda_runtime.h>

#include "common/harness/kernel.h"

namespace halo::conv1d_tiled_cached {

constexpr int kThreads = 128;
constexpr int kWidestMask = 31;

__constant__ float quad_mask[kWidestMask];

// Where the mask is: there, or among the parameters of a launch, which are in constant memory too.
struct SetMask {
  __device__ float tap(int j) const { return quad_mask[j]; }
};
template <int kWidth>
struct OwnMask {
  float values[kWidth];
  __device__ float tap(int j) const { return values[j]; }
};

// At most 32 registers (16 blocks of 128 threads per SM): a thread has 16 new bytes under way,
// so it takes all 2,048 threads to keep the memory busy. The cells of more than 17 taps do
// not fit into them: the compiler then keeps some in local memory, which costs more than it gains.
//
// Preconditions: input and output are 16-byte aligned; gridDim.x * kThreads * 4 >= n; the mask
// has kWidth taps; 0 <= first, last <= n.
template <int kWidth, class Mask>
__global__ void __launch_bounds__(kThreads, 16)
    quad_kernel(const __grid_constant__ Mask mask,
                const float* __restrict__ input,  // [n]
                float* __restrict__ output,       // [n], written from first to last - 1
                int n, int first, int last) {
  constexpr int kHalo = (kWidth - 1) / 2;
  constexpr int kSide = (kHalo + 3) / 4;     // quads on each side of the thread's own
  constexpr int kShift = 4 * kSide - kHalo;  // cells read before the first that is needed
  constexpr int kCells = 4 * (2 * kSide + 1);

  // [doc:load]
  const long long i = 4 * (static_cast<long long>(blockIdx.x) * kThreads + threadIdx.x);
  if (i >= n) return;

  float cells[kCells];  // cells[c] is input[i - 4 * kSide + c]
  const long long from = i - 4 * kSide;
  if (from >= 0 && from + kCells <= n) {
    const float4* source = reinterpret_cast<const float4*>(input + from);
#pragma unroll
    for (int q = 0; q < kCells / 4; ++q) {
      const float4 quad = source[q];
      cells[4 * q] = quad.x;
      cells[4 * q + 1] = quad.y;
      cells[4 * q + 2] = quad.z;
      cells[4 * q + 3] = quad.w;
    }
  } else {  // near an end: cell by cell
#pragma unroll
    for (int c = 0; c < kCells; ++c) {
      const long long k = from + c;
      cells[c] = k >= 0 && k < n ? input[k] : 0.0f;
    }
  }
  // [/doc:load]

  // [doc:sums]
  float sums[4] = {};
#pragma unroll
  for (int j = 0; j < kWidth; ++j) {
    const float tap = mask.tap(j);
#pragma unroll
    for (int v = 0; v < 4; ++v) sums[v] += cells[kShift + v + j] * tap;
  }
  // [/doc:sums]

  if (i >= first && i + 4 <= last) {
    *reinterpret_cast<float4*>(output + i) = make_float4(sums[0], sums[1], sums[2], sums[3]);
  } else {
#pragma unroll
    for (int v = 0; v < 4; ++v) {
      if (i + v >= first && i + v < last) output[i + v] = sums[v];
    }
  }
}

// make_mask(Number<kWidth>) gives the kernel's mask.
template <class MakeMask>
static int launch_for(const Conv1dCall& c, MakeMask make_mask) {
  const int blocks = (c.length - 1) / (4 * kThreads) + 1;
  return dispatch<1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, kWidestMask>(
      c.mask_width, [&](auto width) -> int {
        quad_kernel<width.value><<<blocks, kThreads, 0, static_cast<cudaStream_t>(c.stream)>>>(
            make_mask(width), c.input, c.output, c.length, c.first, c.last);
        return cudaGetLastError();
      });
}

static int launch_with_taps(const Conv1dCall& c) {
  return launch_for(c, [&](auto width) {
    OwnMask<width.value> mask;
    for (int j = 0; j < width.value; ++j) mask.values[j] = c.taps[j];
    return mask;
  });
}

Conv1dKernel quad() {
  return {
      .description = "4 outputs per thread in registers, up to 31 taps, blocks of 128 threads",
      .launch = [](const Conv1dCall& c) { return launch_for(c, [](auto) { return SetMask(); }); },
      .set_mask = [](const float* mask, int width) -> int {
        return cudaMemcpyToSymbol(quad_mask, mask, width * sizeof(float));
      },
      .widest_mask = kWidestMask,
      .tile = [](int) { return 4 * kThreads; },
      .multiplies_ghosts = true,
      .tuned = true,
      .launch_with_taps = launch_with_taps,
      .widest_taps = kWidestMask};
}

}  // namespace halo::conv1d_tiled_cached
