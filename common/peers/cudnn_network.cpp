// cuDNN's bias and ReLU, alone and with a convolution.
#include <cuda_runtime.h>
#include <cudnn.h>

#include <memory>
#include <string>
#include <utility>

#include "common/peers/cudnn.hpp"
#include "common/peers/libraries.hpp"

namespace halo::peers {

namespace {

constexpr float kOne = 1.0f;
constexpr float kZero = 0.0f;

// Of one array's sizes: a bias for each channel, then ReLU, both in place.
class BiasReluStep {
 public:
  // Once only.
  cudnnStatus_t make(const conv::Images& of) {
    cudnnStatus_t status = images_.make({of.N(), of.C(), of.H(), of.W()});
    if (status == CUDNN_STATUS_SUCCESS) status = bias_.make({1, of.C(), 1, 1});
    if (status == CUDNN_STATUS_SUCCESS) status = relu_.make(true, CUDNN_PROPAGATE_NAN);
    return status;
  }

  cudnnStatus_t run(cudnnHandle_t handle, const float* bias, float* images, bool relu) const {
    const cudnnStatus_t status =
        cudnnAddTensor(handle, &kOne, bias_.get(), bias, &kOne, images_.get(), images);
    if (status != CUDNN_STATUS_SUCCESS || !relu) return status;
    return cudnnActivationForward(handle, relu_.get(), &kOne, images_.get(), images, &kZero,
                                  images_.get(), images);
  }

 private:
  CudnnTensor images_;
  CudnnTensor bias_;
  CudnnRelu relu_;
};

conv::Images output_of(const conv::ConvLayer& layer) {
  return conv::Images({.N = layer.N(), .C = layer.K(), .H = layer.P(), .W = layer.Q()});
}

// One of cuDNN's convolutions, then bias and ReLU in calls of their own.
class SeparateWay final : public CudnnWay {
 public:
  SeparateWay(cudnnHandle_t handle, std::unique_ptr<CudnnWay> convolution,
              std::shared_ptr<const BiasReluStep> step)
      : handle_(handle), convolution_(std::move(convolution)), step_(std::move(step)) {}

  std::string name() const override { return convolution_->name() + ", then bias and ReLU"; }
  std::string mathematics() const override { return convolution_->mathematics(); }
  cudnnStatus_t prepare(std::size_t& workspace_bytes) override {
    return convolution_->prepare(workspace_bytes);
  }
  cudnnStatus_t run(const LayerArrays& arrays, void* workspace, std::size_t bytes) override {
    const cudnnStatus_t status = convolution_->run(arrays, workspace, bytes);
    if (status != CUDNN_STATUS_SUCCESS) return status;
    return step_->run(handle_, arrays.bias, arrays.output, arrays.relu);
  }

 private:
  cudnnHandle_t handle_;
  std::unique_ptr<CudnnWay> convolution_;
  std::shared_ptr<const BiasReluStep> step_;
};

// What the fused call needs of one layer.
struct FusedDescriptors {
  // Once only. The frameworks that use the fused call give it CUDNN_NOT_PROPAGATE_NAN.
  cudnnStatus_t make(const conv::ConvLayer& of, bool relu) {
    cudnnStatus_t status = layer.make(of);
    if (status == CUDNN_STATUS_SUCCESS) status = bias.make({1, of.K(), 1, 1});
    if (status == CUDNN_STATUS_SUCCESS) status = activation.make(relu, CUDNN_NOT_PROPAGATE_NAN);
    return status;
  }

  CudnnLayer layer;
  CudnnTensor bias;
  CudnnRelu activation;
};

class FusedWay final : public CudnnWay {
 public:
  FusedWay(cudnnHandle_t handle, std::shared_ptr<const FusedDescriptors> descriptors,
           cudnnConvolutionFwdAlgo_t algorithm)
      : handle_(handle), descriptors_(std::move(descriptors)), algorithm_(algorithm) {}

  std::string name() const override { return name_of(algorithm_) + " fused with bias and ReLU"; }
  std::string mathematics() const override { return name_of(descriptors_->layer.math()); }
  cudnnStatus_t prepare(std::size_t& workspace_bytes) override {
    return descriptors_->layer.workspace(handle_, algorithm_, workspace_bytes);
  }
  cudnnStatus_t run(const LayerArrays& arrays, void* workspace, std::size_t bytes) override {
    const CudnnLayer& layer = descriptors_->layer;
    // The third summand is the output, times 0.
    return cudnnConvolutionBiasActivationForward(
        handle_, &kOne, layer.input(), arrays.input, layer.filters(), arrays.filters,
        layer.convolution(), algorithm_, workspace, bytes, &kZero, layer.output(), arrays.output,
        descriptors_->bias.get(), arrays.bias, descriptors_->activation.get(), layer.output(),
        arrays.output);
  }

 private:
  cudnnHandle_t handle_;
  std::shared_ptr<const FusedDescriptors> descriptors_;
  cudnnConvolutionFwdAlgo_t algorithm_;
};

CudnnWays list_fused_and_separate(cudnnHandle_t handle, const conv::ConvLayer& layer, bool relu) {
  CudnnWays algorithms = list_algorithms(handle, layer);
  CudnnWays listed;
  listed.problem = algorithms.problem;
  if (!listed.problem.empty()) return listed;
  const auto fused = std::make_shared<FusedDescriptors>();
  // Without ReLU cuDNN fuses with one of its algorithms, and refuses the others.
  if (fused->make(layer, relu) == CUDNN_STATUS_SUCCESS) {
    for (int number = 0; number < CUDNN_CONVOLUTION_FWD_ALGO_COUNT; ++number) {
      listed.ways.push_back(std::make_unique<FusedWay>(
          handle, fused, static_cast<cudnnConvolutionFwdAlgo_t>(number)));
    }
  }
  const auto step = std::make_shared<BiasReluStep>();
  if (step->make(output_of(layer)) == CUDNN_STATUS_SUCCESS) {
    CudnnWays plans = list_plans(handle, layer);
    // So that each of the three kinds has its turn.
    listed.most = static_cast<int>(listed.ways.size() + algorithms.ways.size()) + plans.most;
    listed.considered = plans.considered;
    for (CudnnWays* ways : {&algorithms, &plans}) {
      for (std::unique_ptr<CudnnWay>& way : ways->ways) {
        listed.ways.push_back(std::make_unique<SeparateWay>(handle, std::move(way), step));
      }
    }
  }
  return listed;
}

// Of one array's sizes. Empty where cuDNN can't even describe them.
struct BiasReluPlan {
  std::unique_ptr<BiasReluStep> step;
};

struct BiasReluPeer {
  int launch(const conv::Images& of, const float* bias, float* images, bool relu) {
    problem.clear();
    const auto make = [&](BiasReluPlan& plan) -> int {
      if (const int code = handle->open(); code != cudaSuccess) return code;
      auto step = std::make_unique<BiasReluStep>();
      if (step->make(of) == CUDNN_STATUS_SUCCESS) plan.step = std::move(step);
      return cudaSuccess;
    };
    BiasReluPlan* plan = nullptr;
    if (const int code = plans.find(of, make, plan); code != cudaSuccess) return code;
    const cudnnStatus_t status = plan->step == nullptr
                                     ? CUDNN_STATUS_NOT_SUPPORTED
                                     : plan->step->run(handle->get(), bias, images, relu);
    if (status != CUDNN_STATUS_NOT_SUPPORTED) return code_of(status);
    problem = ", which says no to these sizes: " + std::string(cudnnGetErrorString(status));
    return cudaErrorNotSupported;
  }
  std::string detail() const {
    if (!handle->problem().empty()) return handle->problem();
    return "cuDNN " + cudnn_version() + problem;
  }

  std::shared_ptr<CudnnHandle> handle = shared_cudnn();
  LastPlan<conv::Images, BiasReluPlan> plans;
  std::string problem;
};

}  // namespace

void use_cudnn(BiasRelu& step) {
  const auto peer = std::make_shared<BiasReluPeer>();
  step.launch = [peer](const conv::Images& of, const float* bias, float* images, bool relu) {
    return peer->launch(of, bias, images, relu);
  };
  step.detail = [peer] { return peer->detail(); };
  step.version = "cuDNN " + cudnn_version();
}

void use_cudnn(ConvolutionBiasRelu& step) {
  // With and without ReLU the choices differ.
  const auto peer_of = [](bool relu) {
    return std::make_shared<CudnnPeer>(
        [relu](cudnnHandle_t handle, const conv::ConvLayer& layer) {
          return list_fused_and_separate(handle, layer, relu);
        },
        try_true_fp32, "its ways takes this layer");
  };
  const auto with = peer_of(true);
  const auto without = peer_of(false);
  step.launch = [with, without](const conv::ConvLayer& layer, const float* input,
                                const float* filters, const float* bias, float* output, bool relu) {
    return (relu ? with : without)->launch(layer, {input, filters, output, bias, relu});
  };
  step.detail = [with, without](const conv::ConvLayer& layer, bool relu) {
    return (relu ? with : without)->detail(layer);
  };
  step.version = "cuDNN " + cudnn_version();
}

}  // namespace halo::peers
