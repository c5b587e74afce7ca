// Behaves, and moves what it can by copies in bulk: output[i] = input[i].
#include <cuda_runtime.h>

#include <cuda/barrier>
#include <cuda/ptx>

#include "common/exercise/exercise.h"

constexpr int kMost = 64;

// One warp; `whole` cells, a multiple of four, in bulk, and the others one by one.
__global__ void in_bulk(const float* input, float* output, int n) {
  __shared__ alignas(16) float cells[kMost];
  __shared__ cuda::barrier<cuda::thread_scope_block> arrived;
  const int whole = n < kMost ? n / 4 * 4 : kMost;
  if (threadIdx.x == 0) init(&arrived, 1);
  __syncthreads();
  if (threadIdx.x == 0 && whole > 0) {
    cuda::device::memcpy_async_tx(cells, input, cuda::aligned_size_t<16>(whole * sizeof(float)),
                                  arrived);
    arrived.wait(cuda::device::barrier_arrive_tx(arrived, 1, whole * sizeof(float)));
    cuda::ptx::cp_async_bulk(cuda::ptx::space_global, cuda::ptx::space_shared, output, cells,
                             static_cast<uint32_t>(whole * sizeof(float)));
    cuda::ptx::cp_async_bulk_commit_group();
    cuda::ptx::cp_async_bulk_wait_group(cuda::ptx::n32_t<0>());
  }
  for (int i = whole + threadIdx.x; i < n; i += blockDim.x) output[i] = input[i];
}

static int launch(const float* input, float* output, int n) {
  in_bulk<<<1, 32>>>(input, output, n);
  return cudaGetLastError();
}

halo::Exercise halo::exercise() { return launch; }
