// What the GPU's FFT peers compute, and that nothing is allocated or waited for in a call that is timed.
#include <cuda_runtime.h>

#include <string>
#include <vector>

#include "common/conv/layer_inputs.hpp"
#include "common/peers/fft_convolution.hpp"
#include "common/peers/true_fp32.hpp"
#include "tests/peers/gpu_peers.hpp"
#include "tests/peers/layer_scene.hpp"

using namespace halo;
using conv::ConvLayer;
using Scene = test::LayerScene;

namespace {

std::vector<Conv2dVariant> available() { return test::peers_there(peers::fft_convolution()); }

// Beside the adversarial ones: more than one tile, filters wider than the tiles' usual size allows,
// padding wider than the filter, the shapes of the paper's networks.
std::vector<ConvLayer> usual() {
  return {
      conv::parse_label("70x45-2-5x3-5-3-p2x0"), conv::parse_label("40x90-2-3x20-3-1-p0x7"),
      conv::parse_label("9x8-1-2x1-2-2-p6x3"),   conv::parse_label("14-64-5-16-16-p0"),
      conv::parse_label("56-16-3-96-64"),        conv::parse_label("13-1-3-384-256"),
  };
}

std::int64_t workspace_of(const Conv2dVariant& peer, const ConvLayer& layer) {
  return peer.prepared(layer).workspace_floats;
}

}  // namespace

TEST_CASE("fft peers-gpu: every layer of stride 1 is right") {
  const auto backend = test::usable_backend();
  for (const Conv2dVariant& peer : available()) {
    std::vector<ConvLayer> layers = adversarial<conv::ConvLayer>(test::seed());
    for (const ConvLayer& layer : usual()) layers.push_back(layer);
    int taken = 0;
    for (const ConvLayer& layer : layers) {
      if (!refusal(peer, layer).empty()) continue;
      ++taken;
      Row row;
      Progress progress;
      check_trials(peer, *backend, std::vector{layer}, test::seed(), row, progress);
      INFO(peer.name << ", " << conv::label(layer) << ": " << row.check.reason << "\n"
                     << peer.prepared(layer).detail());
      CHECK(row.check.outcome == Outcome::good);
      CHECK(row.hazards.outcome != Outcome::bad);
    }
    INFO(peer.name);
    CHECK(taken > static_cast<int>(usual().size()));
  }
}

TEST_CASE("fft peers-gpu: passes over images and filters leave nothing out") {
  const auto backend = test::usable_backend();
  // More than 1 GiB at once, either way; few products, so that the reference is soon there.
  const ConvLayer many_images(
      {.N = 2400, .C = 4, .H = 126, .W = 126, .K = 4, .R = 1, .S = 1, .padding_h = 1});
  const ConvLayer many_filters({.N = 3, .C = 96, .H = 62, .W = 62, .K = 2400, .R = 1, .S = 1});
  for (const Conv2dVariant& peer : available()) {
    for (const ConvLayer& layer : {many_images, many_filters}) {
      if (backend->free_memory() < (std::int64_t{6} << 30)) test::skip("too little memory");
      Row row;
      check_problem(peer, *backend, layer, test::seed(), row);
      INFO(peer.name << ", " << conv::label(layer) << ": " << row.check.reason << "\n"
                     << peer.prepared(layer).detail());
      CHECK(row.check.outcome == Outcome::good);
      CHECK_THAT(peer.prepared(layer).detail(), test::contains("passes"));
    }
  }
}

TEST_CASE("fft peers-gpu: they compute in true fp32") {
  const auto backend = test::usable_backend();
  for (const Conv2dVariant& peer : available()) {
    for (const ConvLayer& layer : usual()) {
      const peers::Fp32Sample sample(layer);
      const Scene scene(*backend, layer, sample, workspace_of(peer, layer));
      REQUIRE(peer.prepared(scene.call.layer).launch(scene.call) == cudaSuccess);
      const std::vector<float> found = test::outputs_of(sample, scene.result());
      INFO(peer.name << ", " << conv::label(layer) << "\n" << peer.prepared(layer).detail());
      CHECK(sample.relative_error(found) <= peers::kTrueFp32);
    }
  }
}

TEST_CASE("fft peers-gpu: after the first call nothing is allocated, and calls can be captured") {
  const auto backend = test::usable_backend();
  const ConvLayer layer = usual()[4];
  for (const Conv2dVariant& peer : available()) {
    INFO(peer.name);
    Scene first(*backend, layer, workspace_of(peer, layer));
    Scene second(*backend, layer,
                 workspace_of(peer, layer));  // other arrays of the same layer: as for a cold cache
    test::require_no_first_call_in_a_capture(
        [&] { return peer.prepared(first.call.layer).launch(first.call); });

    REQUIRE(peer.prepared(first.call.layer).launch(first.call) == cudaSuccess);
    const std::string detail = peer.prepared(layer).detail();
    INFO(detail);
    CHECK_THAT(detail, test::contains("transform"));
    CHECK_THAT(detail, test::contains("workspace "));
    CHECK(peer.prepared(layer.with_batch(2)).detail() == peer.version);
    const std::vector<float> expected = first.result();
    CHECK(conv::check(layer, first.input, first.filters, expected, conv::Demand::transformed)
              .passed());
    first.device_output.poison();

    test::replay([&] { return peer.prepared(first.call.layer).launch(first.call); },
                 [&] { return peer.prepared(second.call.layer).launch(second.call); });
    CHECK(first.result() == expected);
    CHECK(second.result() == expected);

    test::require_no_allocation(*backend,
                                [&] { return peer.prepared(first.call.layer).launch(first.call); });
  }
}

// Last, since a library that can't bear a reset may take the program with it.
TEST_CASE("fft peers-gpu: plans are made anew after the device was reset") {
  const auto backend = test::usable_backend();
  const ConvLayer layer = usual()[3];
  for (const Conv2dVariant& peer : available()) {
    INFO(peer.name);
    {
      const Scene before(*backend, layer, workspace_of(peer, layer));
      REQUIRE(peer.prepared(before.call.layer).launch(before.call) == cudaSuccess);
      REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
    }
    REQUIRE(backend->recover());
    const Scene after(*backend, layer, workspace_of(peer, layer));
    CHECK(peer.prepared(after.call.layer).launch(after.call) == cudaSuccess);
    CHECK(after.check().passed());
  }
}
