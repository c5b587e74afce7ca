#include "common/harness/kernels.hpp"
#include "common/harness/operation.hpp"

namespace halo {

namespace {

// What all families' kernels say of themselves.
template <class Problem, class Kernel>
OperationVariant<Problem> begin(const char* name, const char* source, const Kernel& kernel) {
  OperationVariant<Problem> variant;
  variant.name = name;
  variant.source = source;
  variant.description = described(kernel.description, kernel.tuned);
  return variant;
}

}  // namespace

LayerNumbers numbers_of(const conv::PoolingLayer& l) {
  return {l.N(), l.C(), l.H(),        l.W(),        l.C(),         l.R(),        l.S(),
          l.P(), l.Q(), l.stride_h(), l.stride_w(), l.padding_h(), l.padding_w()};
}

void add(PoolingStage& stage, const char* name, const char* source, const PoolingKernel& kernel) {
  auto variant = begin<conv::PoolingLayer>(name, source, kernel);
  variant.layout = kernel.chwn ? conv::Layout::chwn : conv::Layout::nchw;
  variant.launch = [launch = kernel.launch](const OperationCall<conv::PoolingLayer>& c) {
    return launch(
        {numbers_of(c.problem), c.problem.kind() == conv::Pooling::average, c.input, c.output});
  };
  if (kernel.refuses != nullptr) {
    variant.refuses = [refuses = kernel.refuses](const conv::PoolingLayer& layer) -> std::string {
      const char* const why = refuses(numbers_of(layer));
      return why != nullptr ? why : "";
    };
  }
  stage.variants.push_back(std::move(variant));
}

void add(TransformStage& stage, const char* name, const char* source,
         const TransformKernel& kernel) {
  auto variant = begin<conv::Transform>(name, source, kernel);
  variant.launch = [launch = kernel.launch](const OperationCall<conv::Transform>& c) {
    const conv::Images& images = c.problem.images();
    return launch({images.N(), images.C() * images.H() * images.W(),
                   c.problem.to() == conv::Layout::chwn, c.input, c.output});
  };
  stage.variants.push_back(std::move(variant));
}

void add(SoftmaxStage& stage, const char* name, const char* source, const SoftmaxKernel& kernel) {
  auto variant = begin<conv::Softmax>(name, source, kernel);
  variant.launch = [launch = kernel.launch](const OperationCall<conv::Softmax>& c) {
    return launch({c.problem.N(), c.problem.C(), c.input, c.output, c.workspace});
  };
  if (kernel.workspace_floats != nullptr) {
    variant.workspace_floats = [floats = kernel.workspace_floats](const conv::Softmax& problem) {
      return std::int64_t{floats(problem.N(), problem.C())};
    };
  }
  stage.variants.push_back(std::move(variant));
}

}  // namespace halo
