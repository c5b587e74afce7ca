// Exercise 05: neighbours' cells by shuffles, without shared memory. The task: README.md beside this file.
//
// Computes   output[i] = sum over j of mask[j] * input[i - halo + j], of a signal that is a ring: after its
//            last cell comes its first, before its first its last.
// Must cost  a warp reads its 32 cells once, and once the cells of its neighbours: at most 3
//            load requests per warp, 12 bytes per output, and no shared memory.
// Run        ./halo try 05
#include <cuda_runtime.h>

#include "common/exercise/exercise.h"

constexpr int kWarpSize = 32;

constexpr int kMaxMaskWidth = 33;  // a halo of half a warp on each side
__constant__ float mask_constant[kMaxMaskWidth];

// Where cell k of the ring lies in memory. k may be below 0 and beyond n, by more than n where the ring is
// shorter than a warp or than the mask.
__device__ int place_on_ring(int k, int n) {
  // TODO 1: for n = 5, cell 5 lies at 0, cell -1 at 4, and cell -13 at 2.
  const int remainder = k % n;  // of a negative number: negative, or 0
  return remainder < 0 ? remainder + n : remainder;
  // END 1
}

// Preconditions: gridDim.x * blockDim.x >= n; blockDim.x is a multiple of 32; width is odd, 1 to
// kMaxMaskWidth.
__global__ void shuffles(const float* input,  // [n]
                         float* output,       // [n]
                         int n, int width) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int lane = threadIdx.x % kWarpSize;
  const int halo = (width - 1) / 2;

  // TODO 2: each lane reads its own cell, and some lanes one more: together they hold what the warp needs.
  // The last warp may have fewer than 32 outputs. Which of its lanes may leave here?
  // A warp without any output may leave, as all its lanes do. A lane alone may not: the others read from it,
  // and what it holds is the beginning of the ring, the halo of the last outputs.
  if (i - lane >= n) return;
  const float own = input[place_on_ring(i, n)];
  // The first lanes hold the cells after the warp's, the last ones those before it: lane 0 the cell after
  // lane 31's, lane 31 the one before lane 0's. All of it is one request.
  float edge = 0.0f;
  if (lane < halo || lane >= kWarpSize - halo) {
    edge = input[place_on_ring(lane < kWarpSize / 2 ? i + kWarpSize : i - kWarpSize, n)];
  }
  // END 2

  // TODO 3: the sum, and the output of lanes that have one. All 32 lanes must reach each shuffle.
  // For the tap at distance d, lane l wants cell l + d of the warp: all cells move round by d lanes, and
  // lanes at the end get what comes round the other side. So each lane gives to one other: to the one at
  // distance d its own cell, to one for which the warp has ended its edge.
  float sum = 0.0f;
  for (int j = 0; j < width; ++j) {
    const int d = j - halo;
    const bool comes_round = d > 0 ? lane < d : lane >= kWarpSize + d;
    const float given = comes_round ? edge : own;
    sum += __shfl_sync(0xffffffff, given, (lane + d) & (kWarpSize - 1)) * mask_constant[j];
  }
  if (i < n) output[i] = sum;
  // END 3
}

// Arrays are on the device; `threads` of a block, a multiple of 32.
static int launch(const float* input, const float* mask, float* output, int n, int width,
                  int threads) {
  cudaMemcpyToSymbol(mask_constant, mask, width * sizeof(float), 0, cudaMemcpyDeviceToDevice);
  const int blocks = (n - 1) / threads + 1;
  shuffles<<<blocks, threads>>>(input, output, n, width);
  return cudaGetLastError();
}

halo::Exercise halo::exercise() { return launch; }
