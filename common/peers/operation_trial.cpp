#include "common/peers/operation_trial.hpp"

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <span>
#include <vector>

#include "common/peers/plan.hpp"

namespace halo::peers {

namespace {

constexpr std::int64_t kCells = std::int64_t{1} << 20;

// Images and channels of a pooling layer's trial: enough that some windows see nothing but -inf.
constexpr std::int64_t kMaps = 4;
// A softmax's rows of edge cases come in turns of seven.
constexpr std::int64_t kRows = 14;

// "output 12 is -3.40282e+38, not -inf".
std::string worst_of(const conv::Comparison& comparison) {
  const conv::Failure& worst = comparison.worst.front();
  char text[128];
  std::snprintf(text, sizeof text, "output %lld of a trial is %g, not %g",
                static_cast<long long>(worst.index), static_cast<double>(worst.found),
                worst.expected);
  return text;
}

}  // namespace

conv::Transform trial_of(const conv::Transform& transform) {
  conv::ImagesShape shape = transform.images().shape();
  while (conv::Images(shape).size() > kCells) {
    std::int64_t* const largest =
        std::max({&shape.N, &shape.C, &shape.H, &shape.W},
                 [](const std::int64_t* a, const std::int64_t* b) { return *a < *b; });
    *largest = (*largest + 1) / 2;
  }
  return {conv::Images(shape), transform.from()};
}

conv::PoolingLayer trial_of(const conv::PoolingLayer& layer) {
  conv::PoolingShape shape = layer.shape();
  shape.N = shape.C = shape.H * shape.W * kMaps * kMaps > 16 * kCells ? 1 : kMaps;
  return conv::PoolingLayer(shape);
}

conv::Softmax trial_of(const conv::Softmax& softmax) {
  const std::int64_t categories = softmax.C();
  return {std::clamp<std::int64_t>(16 * kCells / categories, 1, kRows), categories};
}

template <class Problem>
int try_operation(const Problem& problem, conv::Layout layout,
                  const std::function<int(const float* input, float* output)>& call,
                  Verdict& verdict) {
  verdict = {};
  DeviceMemory from;
  DeviceMemory to;
  const std::size_t input_bytes = static_cast<std::size_t>(problem.input_size()) * sizeof(float);
  const std::size_t output_bytes = static_cast<std::size_t>(problem.output_size()) * sizeof(float);
  cudaError_t error = from.allocate(input_bytes);
  if (error == cudaSuccess) error = to.allocate(output_bytes);
  const auto copy = [&error](void* target, const void* source, std::size_t bytes) {
    if (error != cudaSuccess) return;
    error = cudaMemcpyAsync(target, source, bytes, cudaMemcpyDefault, cudaStreamPerThread);
  };
  constexpr std::uint64_t kSeed = 1;  // any: what is judged is a method, not a result
  const AnyProblemPtr any = erased(problem);
  for (const DataKind& kind : any->kinds()) {
    if (!verdict.fault.empty()) break;
    const DatasetPtr data = any->data(kind, kSeed);
    const std::span<const float> input = data->first_input(layout);
    std::vector<float> output(static_cast<std::size_t>(problem.output_size()), conv::poison());
    copy(from.data(), input.data(), input_bytes);
    copy(to.data(), output.data(), output_bytes);
    if (error != cudaSuccess) return error;
    const int code = call(from.floats(), to.floats());
    if (code == cudaErrorNotSupported) {
      cudaGetLastError();
      return cudaStreamSynchronize(cudaStreamPerThread);
    }
    if (code != cudaSuccess) return code;
    copy(output.data(), to.data(), output_bytes);
    if (error == cudaSuccess) error = cudaStreamSynchronize(cudaStreamPerThread);
    if (error != cudaSuccess) return error;
    const conv::Comparison result = data->judge(layout, conv::Demand::bounded)(0, output);
    if (result.passed()) continue;
    std::string& reason = kind.of == DataKind::Of::ordinary ? verdict.fault : verdict.differs;
    if (reason.empty()) reason = worst_of(result);
  }
  return cudaSuccess;
}

template int try_operation(const conv::Transform&, conv::Layout,
                           const std::function<int(const float*, float*)>&, Verdict&);
template int try_operation(const conv::PoolingLayer&, conv::Layout,
                           const std::function<int(const float*, float*)>&, Verdict&);
template int try_operation(const conv::Softmax&, conv::Layout,
                           const std::function<int(const float*, float*)>&, Verdict&);

}  // namespace halo::peers
