// As kernels are compiled: the default stream is the calling thread's.
#define CUDA_API_PER_THREAD_DEFAULT_STREAM
#include "common/convolve/convolution.hpp"

#include <cuda_runtime.h>

#include <stdexcept>

namespace halo {

struct Convolution::Plan {
  conv::ConvLayer layer;
  const Conv2dVariant& variant;
  convolve::Epilogue epilogue = convolve::Epilogue::none;
  std::int64_t packed = 0;  // floats; 0: the kernel reads filters as they are
  std::int64_t workspace = 0;

  int launch(const float* input, const float* given, const float* bias, bool relu, float* output,
             float* temporaries, void* stream) const;
};

Convolution::Convolution(const conv::ConvLayer& layer, convolve::Products products,
                         convolve::Epilogue epilogue, convolve::Choice choice)
    : Convolution(layer, convolve::library(products), epilogue, choice) {}

Convolution::Convolution(const conv::ConvLayer& layer, const convolve::Contenders& among,
                         convolve::Epilogue epilogue, convolve::Choice choice) {
  const Conv2dVariant* const chosen = convolve::chosen(layer, among, epilogue, choice);
  if (chosen == nullptr) {
    throw std::invalid_argument("layer " + conv::label(layer) + ": no kernel takes it");
  }
  Plan plan{layer, *chosen, epilogue};
  if (plan.variant.packed_floats) plan.packed = plan.variant.packed_floats(layer);
  if (plan.variant.workspace_floats) plan.workspace = plan.variant.workspace_floats(layer);
  plan_ = std::make_shared<const Plan>(std::move(plan));
}

const conv::ConvLayer& Convolution::layer() const { return plan_->layer; }
const std::string& Convolution::kernel() const { return plan_->variant.name; }
std::int64_t Convolution::packed_floats() const {
  return plan_->packed > 0 ? plan_->packed : plan_->layer.filters_size();
}
std::int64_t Convolution::workspace_floats() const { return plan_->workspace; }

int Convolution::pack(const float* filters, float* packed) const {
  if (plan_->packed > 0) return plan_->variant.pack(filters, packed, plan_->layer);
  const auto bytes = static_cast<std::size_t>(plan_->layer.filters_size()) * sizeof(float);
  return cudaMemcpyAsync(packed, filters, bytes, cudaMemcpyDeviceToDevice, nullptr);
}

int Convolution::launch(const float* input, const float* packed, float* output, float* workspace,
                        void* stream) const {
  return plan_->launch(input, packed, nullptr, false, output, workspace, stream);
}

int Convolution::launch(const float* input, const float* packed, const float* bias, bool relu,
                        float* output, float* workspace, void* stream) const {
  if (plan_->epilogue == convolve::Epilogue::none) return cudaErrorNotSupported;
  return plan_->launch(input, packed, bias, relu, output, workspace, stream);
}

int Convolution::Plan::launch(const float* input, const float* given, const float* bias, bool relu,
                              float* output, float* temporaries, void* stream) const {
  const bool packs = packed > 0;
  return variant.launch({.layer = layer,
                         .input = input,
                         .filters = packs ? nullptr : given,
                         .output = output,
                         .workspace = temporaries,
                         .packed = packs ? given : nullptr,
                         .stream = stream,
                         .bias = bias,
                         .relu = relu});
}

}  // namespace halo
