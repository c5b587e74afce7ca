// Micro-benchmark: what scattered segments of 32, 64 and 128 bytes cost.
//
// Computes   for each thread the sum of the floats that it read.
// Method     8, 16 or 32 neighbouring lanes read one aligned segment, at a place that no other
//            segment is near. Together they read every segment once, so the bytes are the same
//            whatever their size. In order, for comparison, the same kernel streams the array.
// Must cost  16 requests a warp, of 4 sectors each, whatever the size: a warp reads 128 bytes in one,
//            two or four pieces (and fewer sectors only where two pieces are neighbours by chance).
// Run        build/stages/07_single_channel_adaptive-cuda --measure
#include "stages/07_single_channel_adaptive/measure/kernels.hpp"

namespace halo::single_channel_adaptive::measure {

template <int kLanes>
__global__ void segments_kernel(const float* data,  // [2^log2_segments][kLanes]
                                float* sums,        // [gridDim.x * blockDim.x]
                                int log2_segments, bool scattered) {
  const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned group = thread / kLanes;
  const unsigned lane = thread % kLanes;
  const unsigned groups = gridDim.x * blockDim.x / kLanes;
  float sum = 0.0f;
#pragma unroll
  for (int i = 0; i < kReads; ++i) {  // independent of each other: all are under way together
    const unsigned number = i * groups + group;
    const unsigned place = scattered ? scattered_place(number, log2_segments) : number;
    sum += data[place * kLanes + lane];
  }
  sums[thread] = sum;
}

cudaError_t segments(const float* data, float* sums, int lanes, int log2_segments, bool scattered) {
  const int blocks = (1 << log2_segments) / segments_of_block(lanes);
  const auto kernel = lanes == 8    ? segments_kernel<8>
                      : lanes == 16 ? segments_kernel<16>
                                    : segments_kernel<32>;
  kernel<<<blocks, kSegmentThreads>>>(data, sums, log2_segments, scattered);
  return cudaGetLastError();
}

}  // namespace halo::single_channel_adaptive::measure
