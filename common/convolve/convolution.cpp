// As kernels are compiled: the default stream is the calling thread's.
#define CUDA_API_PER_THREAD_DEFAULT_STREAM
#include "common/convolve/convolution.hpp"

#include <cuda_runtime.h>

#include <stdexcept>

namespace halo {

struct Convolution::Plan {
  conv::ConvLayer layer;
  Prepared<conv::ConvLayer> variant;
  convolve::Epilogue epilogue = convolve::Epilogue::none;
  convolve::Calls calls = convolve::Calls::packed;

  int launch(const float* input, const float* given, const float* bias, bool relu, float* output,
             float* temporaries, void* stream) const;
};

Convolution::Convolution(const conv::ConvLayer& layer, convolve::Products products,
                         convolve::Epilogue epilogue, convolve::Choice choice,
                         convolve::Calls calls)
    : Convolution(layer, convolve::library(products), epilogue, choice, calls) {}

Convolution::Convolution(const conv::ConvLayer& layer, const convolve::Contenders& among,
                         convolve::Epilogue epilogue, convolve::Choice choice,
                         convolve::Calls calls) {
  const Conv2dVariant* const chosen = convolve::chosen(layer, among, epilogue, choice, calls);
  if (chosen == nullptr) {
    throw std::invalid_argument("layer " + conv::label(layer) + ": no kernel takes it");
  }
  plan_ = std::make_shared<const Plan>(Plan{layer, chosen->prepared(layer), epilogue, calls});
  if (plan_->variant.set_up) {
    throw std::logic_error(kernel() + " is not a contender: it keeps its filters elsewhere");
  }
}

const conv::ConvLayer& Convolution::layer() const { return plan_->layer; }
const std::string& Convolution::kernel() const { return plan_->variant.name; }
std::int64_t Convolution::packed_floats() const {
  const std::int64_t packed = plan_->variant.packed_floats;
  const bool as_they_are = packed == 0 && plan_->calls != convolve::Calls::packing;
  return as_they_are ? plan_->layer.filters_size() : packed;
}
std::int64_t Convolution::workspace_floats() const { return plan_->variant.workspace_floats; }

int Convolution::pack(const float* filters, float* packed) const {
  if (plan_->variant.packed_floats > 0) return plan_->variant.pack(filters, packed);
  if (packed_floats() == 0) return cudaSuccess;
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
  const bool packs = variant.packed_floats > 0;
  return variant.launch({.layer = layer,
                         .input = input,
                         .filters = packs ? nullptr : given,
                         .output = output,
                         .workspace = temporaries,
                         .packed = packs ? given : nullptr,
                         .overlaps = calls == convolve::Calls::overlapping && variant.can_overlap,
                         .stream = stream,
                         .bias = bias,
                         .relu = relu});
}

}  // namespace halo
