// What the GPU peers of the 2D family compute, and that they are compared fairly: the same arrays, true
// fp32, nothing allocated or waited for in a call that is timed.
#include <cuda_runtime.h>

#include <string>
#include <vector>

#include "common/conv/layer_inputs.hpp"
#include "common/peers/conv2d.hpp"
#include "common/peers/true_fp32.hpp"
#include "tests/peers/gpu_peers.hpp"
#include "tests/peers/layer_scene.hpp"

using namespace halo;
using conv::ConvLayer;
using Scene = test::LayerScene;

namespace {

std::vector<Conv2dVariant> available() { return test::peers_there(peers::conv2d()); }

// Whether the peer takes the layer. If not it must say so with this one code, launch nothing and give
// a reason.
bool takes(const Conv2dVariant& peer, const Scene& scene) {
  const int code = peer.prepared(scene.call.layer).launch(scene.call);
  if (code != cudaErrorNotSupported) return true;  // another error is the check's to find
  INFO(peer.name << ", " << conv::label(scene.layer));
  CHECK(peer.prepared(scene.layer).detail().size() > 10);
  CHECK(cudaDeviceSynchronize() == cudaSuccess);
  WARN(peer.name << " does not take " << conv::label(scene.layer) << ": "
                 << peer.prepared(scene.layer).detail());
  return false;
}

// Every size 1 and more, odd and prime, smaller than a tile; strides; no padding, the usual one and
// more; filters of 1, 3, 5, 7 and not square; a batch; layers of the papers.
std::vector<ConvLayer> layers() {
  return {
      conv::parse_label("1-1-1-1-1"),       conv::parse_label("9x13-1-3-1-1-p0"),
      conv::parse_label("64-1-3-32-1-p0"),  conv::parse_label("17-1-3-1-31"),
      conv::parse_label("7x10-2-1-5-3"),    conv::parse_label("11x6-3-3x2-4-5-p0"),
      conv::parse_label("9x12-2-3-3-4-s2"), conv::parse_label("29x31-1-7-8-3-s2"),
      conv::parse_label("28-1-5-96-64"),    conv::parse_label("7-1-1-32-832"),
      conv::parse_label("13-4-3-384-192"),  conv::parse_label("14-1-3-512-256-s2"),
      conv::parse_label("5-1-3-2-2-p3x2"),
  };
}

}  // namespace

TEST_CASE("peers-gpu of layers: every layer is right") {
  const auto backend = test::usable_backend();
  for (const Conv2dVariant& peer : available()) {
    int taken = 0;
    for (const ConvLayer& layer : layers()) {
      Scene scene(*backend, layer);
      if (!takes(peer, scene)) continue;
      ++taken;
      // Once more: the first call has tried all ways on the same output.
      scene.device_output.poison();
      REQUIRE(peer.prepared(scene.call.layer).launch(scene.call) == cudaSuccess);
      const conv::Comparison result = scene.check();
      INFO(peer.name << ", " << conv::label(layer) << ": " << result.describe() << "\n"
                     << peer.prepared(layer).detail());
      CHECK(result.passed());
      // The arrays it was given, and what is around them.
      CHECK(test::read(scene.device_input) == scene.input);
      CHECK(test::read(scene.device_filters) == scene.filters);
      CHECK(scene.device_output.stray_write("output").empty());
      CHECK(scene.device_input.stray_write("input").empty());
    }
    INFO(peer.name);
    CHECK(taken > static_cast<int>(layers().size()) / 2);
  }
}

TEST_CASE("peers-gpu of layers: what was chosen computes in true fp32") {
  const auto backend = test::usable_backend();
  for (const Conv2dVariant& peer : available()) {
    for (const ConvLayer& layer : layers()) {
      const peers::Fp32Sample sample(layer);
      const Scene scene(*backend, layer, sample);
      if (!takes(peer, scene)) continue;
      const std::vector<float> found = test::outputs_of(sample, scene.result());
      INFO(peer.name << ", " << conv::label(layer) << "\n" << peer.prepared(layer).detail());
      CHECK(sample.relative_error(found) <= peers::kTrueFp32);
    }
  }
}

TEST_CASE("peers-gpu of layers: each says what it chose, and of how many") {
  const auto backend = test::usable_backend();
  const ConvLayer layer(
      {.C = 64, .H = 28, .W = 28, .K = 96, .R = 3, .S = 3, .padding_h = 1, .padding_w = 1});
  const ConvLayer other = layer.with_batch(2);
  const Scene scene(*backend, layer);
  for (const Conv2dVariant& peer : available()) {
    INFO(peer.name);
    REQUIRE(takes(peer, scene));
    const std::string detail = peer.prepared(layer).detail();
    INFO(detail);
    CHECK_THAT(detail, test::contains("cuDNN "));
    CHECK_THAT(detail, test::contains("fastest of "));
    CHECK_THAT(detail, test::contains("workspace "));
    if (peer.name == "cudnn") CHECK_THAT(detail, test::contains("CUDNN_FMA_MATH"));
    if (peer.name == "cudnn_graph") {
      CHECK_THAT(detail, test::contains("eng"));
      CHECK_THAT(detail, test::contains("without tensor cores"));
    }
    // Of a layer that was not launched there is nothing to say.
    CHECK(peer.prepared(other).detail() == peer.version);
  }
}

TEST_CASE(
    "peers-gpu of layers: after the first call nothing is allocated, and calls can be captured") {
  const auto backend = test::usable_backend();
  const ConvLayer layer = conv::parse_label("56-16-3-64-32");
  for (const Conv2dVariant& peer : available()) {
    INFO(peer.name);
    Scene first(*backend, layer);
    Scene second(*backend, layer);  // other arrays of the same layer: as for a cold cache
    REQUIRE(takes(peer, first));
    INFO(peer.prepared(layer).detail());
    first.device_output.poison();

    test::replay([&] { return peer.prepared(first.call.layer).launch(first.call); },
                 [&] { return peer.prepared(second.call.layer).launch(second.call); });
    CHECK(first.check().passed());
    CHECK(second.check().passed());

    test::require_no_allocation(*backend,
                                [&] { return peer.prepared(first.call.layer).launch(first.call); });
  }
}

TEST_CASE("peers-gpu of layers: a choice is made outside of a capture or not at all") {
  const auto backend = test::usable_backend();
  for (const Conv2dVariant& peer : available()) {
    INFO(peer.name);
    const Scene scene(*backend, ConvLayer({.C = 7, .H = 23, .W = 19, .K = 11, .R = 3, .S = 3}));
    test::require_no_first_call_in_a_capture(
        [&] { return peer.prepared(scene.call.layer).launch(scene.call); });
    CHECK(takes(peer, scene));
  }
}

TEST_CASE("peers-gpu of layers: one layer's workspace is given back for the next") {
  const auto backend = test::usable_backend();
  const std::vector<ConvLayer> turns = {layers()[8], layers()[10], layers()[8], layers()[2]};
  for (const Conv2dVariant& peer : available()) {
    INFO(peer.name);
    std::int64_t after_first_turn = 0;
    for (int turn = 0; turn < 3; ++turn) {
      for (const ConvLayer& layer : turns) {
        const Scene scene(*backend, layer);
        if (takes(peer, scene)) CHECK(scene.check().passed());
      }
      // The first turn loads kernels.
      if (turn == 0) after_first_turn = backend->free_memory();
    }
    // What is left of a turn is one choice. Two MiB are the granularity of a device's memory.
    CHECK(backend->free_memory() >= after_first_turn - (std::int64_t{64} << 20));
  }
}

// Last, since a library that can't bear a reset may take the program with it.
TEST_CASE("peers-gpu of layers: choices are made anew after the device was reset") {
  const auto backend = test::usable_backend();
  const ConvLayer layer({.C = 16, .H = 20, .W = 20, .K = 24, .R = 3, .S = 3});
  for (const Conv2dVariant& peer : available()) {
    INFO(peer.name);
    {
      const Scene before(*backend, layer);
      REQUIRE(takes(peer, before));
      REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
    }
    REQUIRE(backend->recover());
    const Scene after(*backend, layer);
    CHECK(peer.prepared(after.call.layer).launch(after.call) == cudaSuccess);
    CHECK(after.check().passed());
  }
}
