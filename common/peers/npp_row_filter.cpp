// NPP's row filter as a peer: the signal as rows of an image.
//
// nppiFilterRow reads beyond the ends of a row without asking, and the rows here follow each other
// in memory without a gap, so a row's filter reads on into its neighbours: exactly the cells it
// needs. Only the signal's own two ends have no neighbours. Their 2 h outputs are computed from a
// small buffer with zeros beyond the ends, which is filled in each call: a padded copy of the whole
// signal would be another pass over memory, and out of date when the signal changes.
#include <cuda_runtime.h>
#include <npp.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "common/peers/libraries.hpp"
#include "common/peers/plan.hpp"

namespace halo::peers {

namespace {

// Cells of an image row. A step is an int in bytes, so a billion cells can't be one row; nor can
// they be more rows than a grid is high (65,535 blocks).
constexpr int kRow = 32'768;
constexpr int kCell = sizeof(float);

// The padded copy of what the outputs near the ends read.
struct NppPlan {
  // Signals of 2 h cells or more: for each end h zeros and 2 h cells. Shorter ones: h zeros, the
  // whole signal, h zeros.
  DeviceMemory ends;
};

class NppRowFilter {
 public:
  int set_mask(const float* mask, int width) {
    if (mask_.data() == nullptr) {
      if (const cudaError_t error = mask_.allocate(conv::kMaxMaskWidth * sizeof(float));
          error != cudaSuccess) {
        return error;
      }
    }
    // NPP wants the mask back to front: it flips it, as a convolution does.
    std::vector<float> flipped(mask, mask + width);
    std::reverse(flipped.begin(), flipped.end());
    return cudaMemcpy(mask_.data(), flipped.data(), flipped.size() * sizeof(float),
                      cudaMemcpyHostToDevice);
  }

  int launch(const Conv1dCall& call) {
    if (mask_.data() == nullptr) return cudaErrorInvalidValue;  // set_mask was not called
    // Seen with NPP 13.0 on an H200: these three have kernels of their own.
    if (call.mask_width == 3 || call.mask_width == 5 || call.mask_width == 7) {
      refusal_ =
          "NPP's row filter repeats the cells at the ends of its rows for masks of 3, 5 and 7 "
          "taps: it computes something else there";
      return cudaErrorNotSupported;
    }
    const auto make = [this, &call](NppPlan& plan) -> int {
      if (const int code = describe_stream(); code != cudaSuccess) return code;
      const std::size_t bytes = ends_cells(call) * sizeof(float);
      if (bytes == 0) return cudaSuccess;
      if (const int code = plan.ends.allocate(bytes); code != cudaSuccess) return code;
      return cudaMemsetAsync(plan.ends.data(), 0, bytes, cudaStreamPerThread);
    };
    NppPlan* plan = nullptr;
    if (const int code = plans_.find(SignalShape(call), make, plan); code != cudaSuccess)
      return code;

    const int n = call.length;
    const int h = call.halo();
    if (n < 2 * h) return whole(call, plan->ends.floats());
    // Outputs whose cells all exist.
    if (const int code = inner(call, h, n - h); code != cudaSuccess) return code;
    if (call.first > 0 || h == 0)
      return cudaSuccess;  // the report's border: the ends are left alone
    float* const left = plan->ends.floats();
    float* const right = left + 3 * h;
    if (const int code = copy(left + h, call.input, 2 * h); code != cudaSuccess) return code;
    if (const int code = copy(right, call.input + n - 2 * h, 2 * h); code != cudaSuccess)
      return code;
    if (const int code = filter(left + h, call.output, h, 1, call); code != cudaSuccess)
      return code;
    return filter(right + h, call.output + n - h, h, 1, call);
  }

  std::string detail() const {
    if (!refusal_.empty()) return refusal_;
    return version() + ", nppiFilterRow_32f_C1R";
  }

  static std::string version() {
    const NppLibraryVersion* const version = nppGetLibVersion();
    return "NPP " + std::to_string(version->major) + "." + std::to_string(version->minor) + "." +
           std::to_string(version->build);
  }

 private:
  static std::size_t ends_cells(const Conv1dShape& shape) {
    const auto h = static_cast<std::size_t>(shape.halo());
    const auto n = static_cast<std::size_t>(shape.length);
    return n < 2 * h ? n + 2 * h : 6 * h;
  }

  static int copy(float* to, const float* from, int count) {
    return cudaMemcpyAsync(to, from, static_cast<std::size_t>(count) * sizeof(float),
                           cudaMemcpyDeviceToDevice, cudaStreamPerThread);
  }

  // A signal that is shorter than the mask's two sides: no output has all its cells.
  int whole(const Conv1dCall& call, float* padded) {
    const int h = call.halo();
    if (const int code = copy(padded + h, call.input, call.length); code != cudaSuccess)
      return code;
    return filter(padded + h, call.output, call.length, 1, call);
  }

  // Outputs from ... to - 1, straight from the signal: as many whole rows as there are, then the
  // rest.
  int inner(const Conv1dCall& call, int from, int to) {
    const int rows = (to - from) / kRow;
    const int rest = (to - from) % kRow;
    if (rows > 0) {
      const int code = filter(call.input + from, call.output + from, kRow, rows, call);
      if (code != cudaSuccess) return code;
    }
    if (rest == 0) return cudaSuccess;
    return filter(call.input + to - rest, call.output + to - rest, rest, 1, call);
  }

  // rows x width outputs; source + i is the cell in the middle of the mask for output + i.
  int filter(const float* source, float* output, int width, int rows, const Conv1dShape& shape) {
    const NppiSize size = {width, rows};
    const NppStatus status =
        nppiFilterRow_32f_C1R_Ctx(source, width * kCell, output, width * kCell, size,
                                  mask_.floats(), shape.mask_width, shape.halo(), stream_);
    // Above zero are warnings.
    if (status >= NPP_SUCCESS) {
      refusal_.clear();
      return cudaGetLastError();
    }
    if (const cudaError_t error = cudaGetLastError(); error != cudaSuccess) return error;
    if (status == NPP_CUDA_KERNEL_EXECUTION_ERROR) return cudaErrorLaunchFailure;
    refusal_ = "NPP's row filter says no to a mask of " + std::to_string(shape.mask_width) +
               " taps and rows of " + std::to_string(width) + ": NppStatus " +
               std::to_string(static_cast<int>(status));
    return cudaErrorNotSupported;
  }

  int describe_stream() {
    stream_ = {};
    stream_.hStream = cudaStreamPerThread;
    int device = 0;
    cudaDeviceProp properties{};
    cudaError_t error = cudaGetDevice(&device);
    if (error == cudaSuccess) error = cudaGetDeviceProperties(&properties, device);
    if (error == cudaSuccess)
      error = cudaStreamGetFlags(cudaStreamPerThread, &stream_.nStreamFlags);
    stream_.nCudaDeviceId = device;
    stream_.nMultiProcessorCount = properties.multiProcessorCount;
    stream_.nMaxThreadsPerMultiProcessor = properties.maxThreadsPerMultiProcessor;
    stream_.nMaxThreadsPerBlock = properties.maxThreadsPerBlock;
    stream_.nSharedMemPerBlock = properties.sharedMemPerBlock;
    stream_.nCudaDevAttrComputeCapabilityMajor = properties.major;
    stream_.nCudaDevAttrComputeCapabilityMinor = properties.minor;
    return error;
  }

  DeviceMemory mask_;  // [kMaxMaskWidth], flipped
  LastPlan<SignalShape, NppPlan> plans_;
  NppStreamContext stream_{};
  std::string refusal_;  // why the last call was not supported; else empty
};

}  // namespace

void use_npp_row_filter(Conv1dVariant& variant) {
  const auto filter = std::make_shared<NppRowFilter>();
  variant.also([filter](const Conv1dProblem& problem, auto& made) {
    made.set_up = [filter, width = problem.mask_width](const float* mask) {
      return filter->set_mask(mask, width);
    };
  });
  variant.launches([filter](const Conv1dCall& call) { return filter->launch(call); });
  variant.version = NppRowFilter::version();
  variant.tells([filter](const Conv1dProblem&) { return filter->detail(); });
}

}  // namespace halo::peers
