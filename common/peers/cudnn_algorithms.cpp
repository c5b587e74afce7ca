// cuDNN's eight forward algorithms, for layers and for signals. A signal is an image of one row,
// (1, 1, 1, N), its mask a filter (1, 1, 1, W), padded by the halo; cross-correlation. The rules of
// the comparison are in cudnn.hpp.
#include <cuda_runtime.h>
#include <cudnn.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "common/conv/inputs.hpp"
#include "common/peers/cudnn.hpp"
#include "common/peers/libraries.hpp"

namespace halo::peers {

namespace {

// Cells of a signal that an algorithm is tried on for its accuracy: more than one tile of any of them.
constexpr int kTrialCells = 8192;

using Algorithm = cudnnConvolutionFwdAlgo_t;

constexpr std::array<const char*, CUDNN_CONVOLUTION_FWD_ALGO_COUNT> kAlgorithmNames = {
    "IMPLICIT_GEMM", "IMPLICIT_PRECOMP_GEMM", "GEMM", "DIRECT", "FFT", "FFT_TILING",
    "WINOGRAD",      "WINOGRAD_NONFUSED"};

cudnnStatus_t convolve(cudnnHandle_t handle, const CudnnLayer& descriptors, Algorithm algorithm,
                       void* workspace, std::size_t bytes, const LayerArrays& arrays) {
  const float one = 1.0f;
  const float zero = 0.0f;
  return cudnnConvolutionForward(handle, &one, descriptors.input(), arrays.input,
                                 descriptors.filters(), arrays.filters, descriptors.convolution(),
                                 algorithm, workspace, bytes, &zero, descriptors.output(),
                                 arrays.output);
}

class AlgorithmWay final : public CudnnWay {
 public:
  AlgorithmWay(cudnnHandle_t handle, std::shared_ptr<const CudnnLayer> descriptors,
               Algorithm algorithm)
      : handle_(handle), descriptors_(std::move(descriptors)), algorithm_(algorithm) {}

  Algorithm algorithm() const { return algorithm_; }
  std::string name() const override { return name_of(algorithm_); }
  std::string mathematics() const override { return name_of(descriptors_->math()); }
  cudnnStatus_t prepare(std::size_t& workspace_bytes) override {
    return descriptors_->workspace(handle_, algorithm_, workspace_bytes);
  }
  cudnnStatus_t run(const LayerArrays& arrays, void* workspace, std::size_t bytes) override {
    return convolve(handle_, *descriptors_, algorithm_, workspace, bytes, arrays);
  }

 private:
  cudnnHandle_t handle_;
  std::shared_ptr<const CudnnLayer> descriptors_;
  Algorithm algorithm_;
};

}  // namespace

CudnnLayer::~CudnnLayer() {
  if (filters_ != nullptr) cudnnDestroyFilterDescriptor(filters_);
  if (convolution_ != nullptr) cudnnDestroyConvolutionDescriptor(convolution_);
}

cudnnStatus_t CudnnLayer::make(const conv::ConvLayer& layer, cudnnMathType_t math) {
  cudnnStatus_t status = input_.make({layer.N(), layer.C(), layer.H(), layer.W()});
  const auto then = [&status](auto&& step) {
    if (status == CUDNN_STATUS_SUCCESS) status = step();
  };
  then([&] { return cudnnCreateFilterDescriptor(&filters_); });
  then([&] { return cudnnCreateConvolutionDescriptor(&convolution_); });
  then([&] {
    return cudnnSetFilter4dDescriptor(filters_, CUDNN_DATA_FLOAT, CUDNN_TENSOR_NCHW, layer.K(),
                                      layer.filter_channels(), layer.R(), layer.S());
  });
  then([&] {
    return cudnnSetConvolution2dDescriptor(
        convolution_, layer.padding_h(), layer.padding_w(), layer.stride_h(), layer.stride_w(),
        layer.dilation_h(), layer.dilation_w(), CUDNN_CROSS_CORRELATION, CUDNN_DATA_FLOAT);
  });
  then([&] { return cudnnSetConvolutionGroupCount(convolution_, layer.groups()); });
  then([&] { return cudnnSetConvolutionMathType(convolution_, math); });
  then([&] { return output_.make({layer.N(), layer.K(), layer.P(), layer.Q()}); });
  return status;
}

cudnnMathType_t CudnnLayer::math() const {
  cudnnMathType_t math = CUDNN_DEFAULT_MATH;
  cudnnGetConvolutionMathType(convolution_, &math);
  return math;
}

cudnnStatus_t CudnnLayer::workspace(cudnnHandle_t handle, Algorithm algorithm,
                                    std::size_t& bytes) const {
  return cudnnGetConvolutionForwardWorkspaceSize(handle, input(), filters_, convolution_, output(),
                                                 algorithm, &bytes);
}

std::string name_of(Algorithm algorithm) { return kAlgorithmNames[algorithm]; }

std::string name_of(cudnnMathType_t math) {
  switch (math) {
    case CUDNN_FMA_MATH:
      return "CUDNN_FMA_MATH";
    case CUDNN_DEFAULT_MATH:
      return "CUDNN_DEFAULT_MATH";
    case CUDNN_TENSOR_OP_MATH:
      return "CUDNN_TENSOR_OP_MATH";
    case CUDNN_TENSOR_OP_MATH_ALLOW_CONVERSION:
      return "CUDNN_TENSOR_OP_MATH_ALLOW_CONVERSION";
  }
  return "an unknown math type";
}

CudnnWays list_algorithms(cudnnHandle_t handle, const conv::ConvLayer& layer) {
  CudnnWays listed;
  const auto descriptors = std::make_shared<CudnnLayer>();
  // A layer that can't even be described has no ways.
  if (descriptors->make(layer) != CUDNN_STATUS_SUCCESS) return listed;
  if (descriptors->math() != CUDNN_FMA_MATH) {
    listed.problem = "cuDNN did not take CUDNN_FMA_MATH: it would not be true fp32";
    return listed;
  }
  for (int number = 0; number < CUDNN_CONVOLUTION_FWD_ALGO_COUNT; ++number) {
    listed.ways.push_back(
        std::make_unique<AlgorithmWay>(handle, descriptors, static_cast<Algorithm>(number)));
  }
  return listed;
}

CudnnWays list_tf32_algorithms(cudnnHandle_t handle, const conv::ConvLayer& layer) {
  CudnnWays listed;
  const auto descriptors = std::make_shared<CudnnLayer>();
  if (descriptors->make(layer, CUDNN_DEFAULT_MATH) != CUDNN_STATUS_SUCCESS) return listed;
  for (const Algorithm algorithm :
       {CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM, CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM,
        CUDNN_CONVOLUTION_FWD_ALGO_GEMM, CUDNN_CONVOLUTION_FWD_ALGO_DIRECT}) {
    listed.ways.push_back(std::make_unique<AlgorithmWay>(handle, descriptors, algorithm));
  }
  return listed;
}

namespace {

// The layer that a signal is. Padding by the halo gives every output, no padding those of the
// report's border. Whether it is one of the two.
bool as_layer(const Conv1dShape& shape, conv::LayerShape& layer) {
  const bool all = shape.first == 0 && shape.last == shape.length;
  const bool inner = shape.first == shape.halo() && shape.last == shape.length - shape.halo();
  layer = {.H = 1,
           .W = shape.length,
           .R = 1,
           .S = shape.mask_width,
           .padding_w = all ? shape.halo() : 0};
  return all || inner;
}

// Tries an algorithm on a shorter signal with the same mask width and border, and says in `fault` if
// its outputs are no fp32 sums of products: not within their bound, or not exact for whole numbers,
// whose sums leave nothing to round. An algorithm that does not take the shorter signal has no fault;
// the check of the whole output decides then.
int try_sums(cudnnHandle_t handle, const conv::ConvLayer& signal, Algorithm algorithm,
             std::string& fault) {
  const conv::Problem1d problem(
      std::min(signal.W(), kTrialCells), signal.S(),
      signal.Q() == signal.W() ? conv::Border::zero : conv::Border::report);
  conv::LayerShape shape = signal.shape();
  shape.W = problem.length();
  const auto descriptors = std::make_shared<CudnnLayer>();
  std::size_t bytes = 0;
  if (descriptors->make(conv::ConvLayer(shape)) != CUDNN_STATUS_SUCCESS ||
      descriptors->workspace(handle, algorithm, bytes) != CUDNN_STATUS_SUCCESS) {
    cudaGetLastError();
    return cudaSuccess;
  }
  DeviceMemory workspace;
  DeviceMemory input;
  DeviceMemory mask;
  DeviceMemory output;
  const auto length = static_cast<std::size_t>(problem.length());
  const std::size_t signal_bytes = length * sizeof(float);
  const std::size_t mask_bytes = static_cast<std::size_t>(problem.mask_width()) * sizeof(float);
  cudaError_t error = bytes > 0 ? workspace.allocate(bytes) : cudaSuccess;
  if (error == cudaSuccess) error = input.allocate(signal_bytes);
  if (error == cudaSuccess) error = mask.allocate(mask_bytes);
  if (error == cudaSuccess) error = output.allocate(signal_bytes);
  constexpr std::uint64_t kSeed = 1;  // any: what is judged is a method, not a result
  for (const conv::Demand demand : {conv::Demand::exact, conv::Demand::bounded}) {
    if (error != cudaSuccess) break;
    const bool exact = demand == conv::Demand::exact;
    const std::vector<float> cells =
        exact ? conv::exact_input(problem, kSeed) : conv::adversarial_input(problem, kSeed);
    const std::vector<float> taps =
        exact ? conv::exact_mask(problem, kSeed) : conv::adversarial_mask(problem, kSeed);
    std::vector<float> result(length, conv::poison());
    const auto copy = [&error](void* to, const void* from, std::size_t size) {
      if (error == cudaSuccess) {
        error = cudaMemcpyAsync(to, from, size, cudaMemcpyDefault, cudaStreamPerThread);
      }
    };
    copy(input.data(), cells.data(), signal_bytes);
    copy(mask.data(), taps.data(), mask_bytes);
    copy(output.data(), result.data(), signal_bytes);
    if (error != cudaSuccess) break;
    const LayerArrays arrays{input.floats(), mask.floats(),
                             output.floats() + problem.first_output()};
    if (convolve(handle, *descriptors, algorithm, workspace.data(), bytes, arrays) !=
        CUDNN_STATUS_SUCCESS) {
      cudaGetLastError();
      break;
    }
    copy(result.data(), output.data(), signal_bytes);
    if (error == cudaSuccess) error = cudaStreamSynchronize(cudaStreamPerThread);
    if (error != cudaSuccess) break;
    const conv::Comparison comparison = conv::check(problem, cells, taps, result, demand);
    if (comparison.passed()) continue;
    char share[32];
    std::snprintf(share, sizeof share, "%.3g", comparison.worst_share);
    fault = exact ? "whole numbers are not summed exactly"
                  : std::string("its error is ") + share + " times the fp32 bound";
  }
  return error;
}

TryAccuracy try_sums_of(cudnnHandle_t handle, const conv::ConvLayer& signal, const LayerArrays&) {
  return [handle, signal](CudnnWay& way, void*, std::size_t, std::string& fault) {
    return try_sums(handle, signal, static_cast<AlgorithmWay&>(way).algorithm(), fault);
  };
}

constexpr const char* kNone = "its eight forward algorithms takes this shape";

}  // namespace

void use_cudnn(Conv1dVariant& variant) {
  struct SignalPeer {
    CudnnPeer peer{list_algorithms, try_sums_of, kNone};
    bool described = true;
  };
  const auto cudnn = std::make_shared<SignalPeer>();
  variant.launches([cudnn](const Conv1dCall& call) -> int {
    if (call.first >= call.last) return cudaSuccess;
    conv::LayerShape shape;
    cudnn->described = as_layer(call, shape);
    if (!cudnn->described) return cudaErrorNotSupported;
    return cudnn->peer.launch(conv::ConvLayer(shape),
                              {call.input, call.mask, call.output + call.first});
  });
  variant.version = "cuDNN " + cudnn_version();
  variant.tells([cudnn](const Conv1dProblem&) {
    return cudnn->described ? cudnn->peer.detail()
                            : "cuDNN computes all outputs or those without ghost cells, no others";
  });
}

void use_cudnn(Conv2dVariant& variant) {
  const auto cudnn = std::make_shared<CudnnPeer>(list_algorithms, try_true_fp32, kNone);
  variant.launches([cudnn](const Conv2dCall& call) {
    return cudnn->launch(call.layer, {call.input, call.filters, call.output});
  });
  variant.version = "cuDNN " + cudnn_version();
  variant.tells([cudnn](const conv::ConvLayer& layer) { return cudnn->detail(layer); });
}

}  // namespace halo::peers
