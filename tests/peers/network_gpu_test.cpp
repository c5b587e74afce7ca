// What a network's library calls compute on a GPU: fully connected layers, bias and ReLU, and the
// convolutions that they are fused with.
#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "common/conv/inputs.hpp"
#include "common/conv/layer_inputs.hpp"
#include "common/peers/network.hpp"
#include "common/peers/true_fp32.hpp"
#include "tests/peers/gpu_peers.hpp"
#include "tests/peers/layer_scene.hpp"

using namespace halo;
using conv::ConvLayer;
using test::batch_of;
using test::outputs_of;
using test::read;

namespace {

constexpr conv::Layout kLayouts[] = {conv::Layout::nchw, conv::Layout::chwn};

// From one of everything to AlexNet's largest.
std::vector<ConvLayer> connected_layers() {
  return {
      conv::parse_label("1-1-1-1-1"),        conv::parse_label("7x4-3-7x4-11-5-p0"),
      conv::parse_label("3-33-3-10-2-p0"),   conv::parse_label("4-128-4-10-64-p0"),
      conv::parse_label("6-5-6-100-256-p0"),
  };
}

std::vector<ConvLayer> convolutions() {
  return {
      conv::parse_label("9x8-2-3-5-3-p0"),
      conv::parse_label("28-3-5-16-1-p0"),
      conv::parse_label("28-8-3-96-64"),
      conv::parse_label("67-4-11-32-3-s4-p0"),
  };
}

std::vector<float> biases(int channels) {
  std::vector<float> values;
  for (int c = 0; c < channels; ++c) values.push_back((c % 2 == 0 ? 1.0f : -1.0f) * (c + 1) / 8);
  return values;
}

}  // namespace

TEST_CASE("network peers-gpu: fully connected layers are right in both layouts") {
  const auto backend = test::usable_backend();
  for (const conv::Layout layout : kLayouts) {
    const Conv2dVariant peer = peers::fully_connected(layout);
    if (!peer.unavailable.empty()) test::skip(peer.unavailable);
    for (const ConvLayer& layer : connected_layers()) {
      Row row;
      Progress progress;
      check_trials(peer, *backend, std::vector{layer}, test::seed(), row, progress);
      INFO(peer.name << ", " << conv::label(layer) << ": " << row.check.reason);
      CHECK(row.check.outcome == Outcome::good);
      CHECK(row.hazards.outcome != Outcome::bad);
      CHECK_THAT(peer.prepared(layer).detail(), test::contains("CUBLAS_DEFAULT_MATH"));
    }
    const ConvLayer other({.H = 5, .W = 5, .R = 3, .S = 3});
    CHECK_THAT(refusal(peer, other), test::contains("cover the whole image"));
  }
}

TEST_CASE("network peers-gpu: fully connected layers are computed in true fp32") {
  const auto backend = test::usable_backend();
  const Conv2dVariant peer = peers::fully_connected();
  if (!peer.unavailable.empty()) test::skip(peer.unavailable);
  for (const ConvLayer& layer : connected_layers()) {
    const peers::Fp32Sample sample(layer);
    const std::vector<float> batch = batch_of(sample, layer);
    Array input(*backend, batch.size());
    Array filters(*backend, sample.filters().size());
    Array output(*backend, static_cast<std::size_t>(layer.output_size()));
    input.write(batch);
    filters.write(sample.filters());
    const Conv2dCall call{layer, input.data(), filters.data(), output.data(), nullptr};
    REQUIRE(peer.prepared(call.layer).launch(call) == cudaSuccess);
    output.poison();
    test::replay([&] { return peer.prepared(call.layer).launch(call); });
    const std::vector<float> found = outputs_of(sample, read(output));
    INFO(conv::label(layer));
    CHECK(sample.relative_error(found) <= peers::kTrueFp32);
  }
}

TEST_CASE("network peers-gpu: bias and ReLU are exact, and NaN stays NaN") {
  const auto backend = test::usable_backend();
  const peers::BiasRelu step = peers::bias_relu();
  if (!step.unavailable.empty()) test::skip(step.unavailable);
  for (const conv::ImagesShape& shape : {conv::ImagesShape{1, 1, 1, 1},
                                         {2, 3, 5, 7},
                                         {128, 10, 1, 1},
                                         {5, 33, 13, 13},
                                         {3, 96, 27, 27}}) {
    const conv::Images images(shape);
    const std::vector<float> bias = biases(images.C());
    std::vector<float> cells =
        conv::make_input(conv::Transform(images, conv::Layout::nchw), 0, test::seed());
    cells[cells.size() / 2] = std::numeric_limits<float>::quiet_NaN();
    Array on_gpu(*backend, cells.size());
    Array bias_on_gpu(*backend, bias.size());
    bias_on_gpu.write(bias);
    for (const bool relu : {false, true}) {
      INFO(images.N() << " x " << images.C() << " x " << images.H() << " x " << images.W()
                      << (relu ? ", with ReLU" : ""));
      const auto call = [&] {
        return step.launch(images, bias_on_gpu.data(), on_gpu.data(), relu);
      };
      on_gpu.write(cells);
      REQUIRE(call() == cudaSuccess);
      const std::vector<float> once = read(on_gpu);
      on_gpu.write(cells);
      REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
      test::replay(call);
      const std::vector<float> again = read(on_gpu);
      int wrong = 0;
      for (std::size_t i = 0; i < cells.size(); ++i) {
        const auto plane =
            static_cast<std::size_t>(images.H()) * static_cast<std::size_t>(images.W());
        const float sum = cells[i] + bias[i / plane % bias.size()];
        const float expected = relu && sum < 0 ? 0.0f : sum;
        for (const float found : {once[i], again[i]}) {
          wrong += !(found == expected || (found != found && expected != expected));
        }
      }
      CHECK(wrong == 0);
      CHECK(on_gpu.stray_write("images") == "");
      CHECK_THAT(step.detail(), test::contains("cuDNN "));
    }
  }
}

TEST_CASE("network peers-gpu: a convolution with bias and ReLU is right, and in true fp32") {
  const auto backend = test::usable_backend();
  for (const ConvLayer& layer : convolutions()) {
    // One for each layer of a chain.
    const peers::ConvolutionBiasRelu peer = peers::convolution_bias_relu();
    if (!peer.unavailable.empty()) test::skip(peer.unavailable);
    const std::vector<float> cells = conv::adversarial_input(layer, test::seed());
    const std::vector<float> taps = conv::adversarial_filters(layer, test::seed());
    const std::vector<float> bias = biases(layer.K());
    Array input(*backend, cells.size());
    Array filters(*backend, taps.size());
    Array bias_on_gpu(*backend, bias.size());
    Array output(*backend, static_cast<std::size_t>(layer.output_size()));
    input.write(cells);
    filters.write(taps);
    bias_on_gpu.write(bias);
    const conv::Reference expected = conv::reference(layer, cells, taps);
    const float largest = std::abs(*std::max_element(
        cells.begin(), cells.end(), [](float a, float b) { return std::abs(a) < std::abs(b); }));
    const auto per_filter = static_cast<std::size_t>(layer.products_per_output());
    std::vector<double> filter_sums(bias.size());
    for (std::size_t i = 0; i < taps.size(); ++i) filter_sums[i / per_filter] += std::abs(taps[i]);
    for (const bool relu : {false, true}) {
      const auto call = [&] {
        return peer.launch(layer, input.data(), filters.data(), bias_on_gpu.data(), output.data(),
                           relu);
      };
      REQUIRE(call() == cudaSuccess);
      INFO(conv::label(layer) << ", " << peer.detail(layer, relu));
      CHECK_THAT(peer.detail(layer, relu), test::contains("fastest of "));
      output.poison();
      test::replay(call);
      const std::vector<float> found = read(output);
      conv::Comparison comparison;
      const std::int64_t plane = std::int64_t{layer.P()} * layer.Q();
      for (std::size_t i = 0; i < found.size(); ++i) {
        const auto k = static_cast<std::size_t>(static_cast<std::int64_t>(i) / plane % layer.K());
        const double sum = expected.value[i] + bias[k];
        // ReLU makes no error larger. One more product: the bias.
        comparison.judge(static_cast<std::int64_t>(i), found[i], relu ? std::max(sum, 0.0) : sum,
                         conv::error_bound(layer.products_per_output() + 1,
                                           expected.scale[i] + std::abs(bias[k])) +
                             conv::transform_error(largest, filter_sums[k]));
      }
      INFO(comparison.describe());
      CHECK(comparison.passed());
      CHECK(output.stray_write("output") == "");
    }

    // True fp32 is proved on the sample again, through the peer.
    const peers::Fp32Sample sample(layer);
    input.write(batch_of(sample, layer));
    filters.write(sample.filters());
    bias_on_gpu.write(std::vector<float>(bias.size()));
    REQUIRE(peer.launch(layer, input.data(), filters.data(), bias_on_gpu.data(), output.data(),
                        true) == cudaSuccess);
    const std::vector<float> found = outputs_of(sample, read(output));
    INFO(conv::label(layer) << ", " << peer.detail(layer, true));
    CHECK(sample.relative_error(found, true) <= peers::kTrueFp32);
  }
}
