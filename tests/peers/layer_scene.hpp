// One layer in device memory, and what a peer makes of it.
#pragma once

#include <cuda_runtime.h>

#include <optional>
#include <utility>
#include <vector>

#include "common/conv/layer_inputs.hpp"
#include "common/harness/families/conv2d.hpp"
#include "common/peers/true_fp32.hpp"
#include "tests/backend.hpp"

namespace halo::test {

// What is in an array once all calls have ended.
inline std::vector<float> read(const Array& array) {
  REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
  std::vector<float> values(array.size());
  array.read(values);
  return values;
}

// The sample's image, for each image of the layer.
inline std::vector<float> batch_of(const peers::Fp32Sample& sample, const conv::ConvLayer& layer) {
  std::vector<float> batch;
  for (int n = 0; n < layer.N(); ++n) {
    batch.insert(batch.end(), sample.image().begin(), sample.image().end());
  }
  return batch;
}

// The outputs that the sample compares.
inline std::vector<float> outputs_of(const peers::Fp32Sample& sample,
                                     const std::vector<float>& output) {
  std::vector<float> found;
  for (std::int64_t i = 0; i < sample.count(); ++i) {
    found.push_back(output[static_cast<std::size_t>(i * sample.step())]);
  }
  return found;
}

struct LayerScene {
  LayerScene(Backend& backend, const conv::ConvLayer& of, std::int64_t workspace_floats = 0)
      : LayerScene(backend, of, workspace_floats, conv::adversarial_input(of, seed()),
                   conv::adversarial_filters(of, seed())) {}
  LayerScene(Backend& backend, const conv::ConvLayer& of, const peers::Fp32Sample& sample,
             std::int64_t workspace_floats = 0)
      : LayerScene(backend, of, workspace_floats, batch_of(sample, of),
                   {sample.filters().begin(), sample.filters().end()}) {}

  // What is in the output now.
  std::vector<float> result() const { return read(device_output); }
  conv::Comparison check() const {
    return conv::check(layer, input, filters, result(), conv::Demand::transformed);
  }

  conv::ConvLayer layer;
  std::vector<float> input, filters;
  Array device_input, device_filters, device_output;
  std::optional<Array> workspace;
  Conv2dCall call;

 private:
  LayerScene(Backend& backend, const conv::ConvLayer& of, std::int64_t workspace_floats,
             std::vector<float> cells, std::vector<float> taps)
      : layer(of),
        input(std::move(cells)),
        filters(std::move(taps)),
        device_input(backend, input.size()),
        device_filters(backend, filters.size()),
        device_output(backend, static_cast<std::size_t>(of.output_size())),
        call{of, device_input.data(), device_filters.data(), device_output.data()} {
    device_input.write(input);
    device_filters.write(filters);
    device_output.poison();
    if (workspace_floats == 0) return;
    workspace.emplace(backend, static_cast<std::size_t>(workspace_floats));
    workspace->poison();
    call.workspace = workspace->data();
  }
};

}  // namespace halo::test
