// The GPU peers of the 1D family. What needs nvcc or a library's header is in files of its own.
#include <cuda_runtime.h>

#include <memory>
#include <vector>

#include "common/harness/backend/copy.hpp"
#include "common/peers/conv1d.hpp"
#include "common/peers/cub_and_thrust.hpp"
#include "common/peers/libraries.hpp"
#include "common/peers/plan.hpp"

namespace halo::peers {

namespace {

std::size_t cells(const Conv1dCall& call) {
  return call.first < call.last ? static_cast<std::size_t>(call.last - call.first) : 0;
}

Conv1dVariant copy() {
  Conv1dVariant peer;
  peer.name = "copy";
  peer.source = "common/harness/backend/copy.cu";
  peer.description = "no convolution: our kernel that copies as many bytes";
  peer.role = Role::copy;
  peer.launches([](const Conv1dCall& c) {
    return launch_copy(c.input + c.first, c.output + c.first, static_cast<std::int64_t>(cells(c)));
  });
  return peer;
}

Conv1dVariant memcpy() {
  Conv1dVariant peer;
  peer.name = "memcpy";
  peer.source = "common/peers/conv1d_gpu.cpp";
  peer.description = "no convolution: cudaMemcpyAsync of as many bytes, device to device";
  peer.role = Role::copy;
  peer.launches([](const Conv1dCall& c) -> int {
    return cudaMemcpyAsync(c.output + c.first, c.input + c.first, cells(c) * sizeof(float),
                           cudaMemcpyDeviceToDevice, cudaStreamPerThread);
  });
  return peer;
}

Conv1dVariant thrust_transform_peer() {
  Conv1dVariant peer =
      peer_in_words<Conv1dProblem>("thrust_transform", "thrust_transform.cu",
                                   "thrust::transform, one function object per output");
  peer.launches([](const Conv1dCall& c) {
    return thrust_transform(c.input, c.mask, c.output, c.length, c.mask_width, c.first, c.last);
  });
  return peer;
}

// CUB's temporary storage for one shape.
struct CubPlan {
  DeviceMemory temporary;
  std::size_t bytes = 0;
};

Conv1dVariant cub_segmented_reduce_peer() {
  Conv1dVariant peer = peer_in_words<Conv1dProblem>(
      "cub_segmented_reduce", "cub_segmented_reduce.cu",
      "cub::DeviceSegmentedReduce, one segment of products per output");
  const auto plans = std::make_shared<LastPlan<SignalShape, CubPlan>>();
  peer.launches([plans](const Conv1dCall& c) -> int {
    const auto reduce = [&c](void* temporary, std::size_t& bytes) {
      return cub_segmented_reduce(temporary, bytes, c.input, c.mask, c.output, c.length,
                                  c.mask_width, c.first, c.last);
    };
    const auto make = [&reduce](CubPlan& plan) -> int {
      if (const int code = reduce(nullptr, plan.bytes); code != cudaSuccess) return code;
      // Not null even where CUB wants nothing: null would be taken for the question.
      return plan.temporary.allocate(plan.bytes + 1);
    };
    CubPlan* plan = nullptr;
    if (const int code = plans->find(SignalShape(c), make, plan); code != cudaSuccess) return code;
    return reduce(plan->temporary.data(), plan->bytes);
  });
  peer.version = cub_version();
  peer.tells([](const Conv1dProblem&) { return cub_segmented_reduce_detail(); });
  peer.refuses(up_to_products(
      2'000'000'000, "a segmented reduction of so many products takes a second per call, or more"));
  return peer;
}

Conv1dVariant cudnn_peer() {
  Conv1dVariant peer = peer_in_words<Conv1dProblem>(
      "cudnn", "cudnn_algorithms.cpp",
      "cuDNN's fastest forward algorithm for an image of one row, true fp32");
  peer.refuses(up_to_products(100'000'000'000,
                              "cuDNN takes seconds per call for so many products in one channel"));
#ifdef HALO_HAVE_CUDNN
  use_cudnn(peer);
#else
  peer.unavailable = HALO_NO_CUDNN;
#endif
  return peer;
}

Conv1dVariant cufft_peer() {
  Conv1dVariant peer = peer_in_words<Conv1dProblem>(
      "cufft", "cufft_signal.cpp",
      "cuFFT, overlap-save: tiles of 4,096 cells, the mask's spectrum made beforehand");
  peer.demand = conv::Demand::transformed;
#ifdef HALO_HAVE_CUFFT
  use_cufft(peer);
#else
  peer.unavailable = HALO_NO_CUFFT;
#endif
  return peer;
}

Conv1dVariant npp_row_filter_peer() {
  Conv1dVariant peer = peer_in_words<Conv1dProblem>(
      "npp_row_filter", "npp_row_filter.cpp",
      "NPP's row filter; the ends through a small padded copy, made in each call");
#ifdef HALO_HAVE_NPP
  use_npp_row_filter(peer);
#else
  peer.unavailable = HALO_NO_NPP;
#endif
  return peer;
}

}  // namespace

std::vector<Conv1dVariant> conv1d() {
  return {copy(),       memcpy(),     thrust_transform_peer(), cub_segmented_reduce_peer(),
          cudnn_peer(), cufft_peer(), npp_row_filter_peer()};
}

}  // namespace halo::peers
