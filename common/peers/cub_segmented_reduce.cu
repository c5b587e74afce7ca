// CUB as a peer: an output is the sum of a segment of `width` products, which an iterator makes as
// they are read.
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

#include <cub/device/device_segmented_reduce.cuh>
#include <cub/version.cuh>

#include "common/peers/cub_and_thrust.hpp"

// From 3.1 on CUB can be told that all segments are of one size, and then gives short ones to a
// warp or a part of it. Before, each segment has a block of its own.
#if defined(CCCL_VERSION) && CCCL_VERSION >= 3001000
#define HALO_FIXED_SEGMENTS 1
#else
#define HALO_FIXED_SEGMENTS 0
#endif

namespace halo::peers {

namespace {

// Product number p: tap p % width of output first + p / width. 64 bits: there may be more than
// 2^31.
struct Product {
  const float* input;  // [n], device memory
  const float* mask;   // [width], device memory
  int n, width, first;

  __host__ __device__ float operator()(long long p) const {
    const auto j = static_cast<int>(p % width);
    const auto k = static_cast<int>(p / width) + first - (width - 1) / 2 + j;
    return k >= 0 && k < n ? input[k] * mask[j] : 0.0f;
  }
};

struct Sum {
  __host__ __device__ float operator()(float a, float b) const { return a + b; }
};

#if !HALO_FIXED_SEGMENTS
// Where segment s begins.
struct SegmentStart {
  int width;
  __host__ __device__ long long operator()(long long s) const { return s * width; }
};
#endif

}  // namespace

int cub_segmented_reduce(void* temporary, std::size_t& temporary_bytes, const float* input,
                         const float* mask, float* output, int n, int width, int first, int last) {
  if (first >= last) {
    if (temporary == nullptr) temporary_bytes = 0;
    return cudaSuccess;
  }
  const thrust::counting_iterator<long long> numbers(0);
  const auto products =
      thrust::make_transform_iterator(numbers, Product{input, mask, n, width, first});
  const int segments = last - first;
#if HALO_FIXED_SEGMENTS
  return cub::DeviceSegmentedReduce::Reduce(temporary, temporary_bytes, products, output + first,
                                            segments, width, Sum{}, 0.0f, cudaStreamPerThread);
#else
  const auto starts = thrust::make_transform_iterator(numbers, SegmentStart{width});
  return cub::DeviceSegmentedReduce::Reduce(temporary, temporary_bytes, products, output + first,
                                            segments, starts, starts + 1, Sum{}, 0.0f,
                                            cudaStreamPerThread);
#endif
}

std::string cub_version() {
  return "CUB " + std::to_string(CUB_MAJOR_VERSION) + "." + std::to_string(CUB_MINOR_VERSION) +
         "." + std::to_string(CUB_SUBMINOR_VERSION);
}

std::string cub_segmented_reduce_detail() {
  return cub_version() +
         (HALO_FIXED_SEGMENTS ? ", segments of one size" : ", a block for each segment");
}

}  // namespace halo::peers
