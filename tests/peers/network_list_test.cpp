// What a network of library calls consists of: on every backend, with and without a GPU, with and
// without the libraries.
#include <string>

#include "common/peers/network.hpp"
#include "tests/catch.hpp"

using namespace halo;
using conv::ConvLayer;

namespace {

// Why a library can't be used here: it was not found, or there is none in the simulator.
void require_reason(const std::string& unavailable) {
  CHECK_THAT(unavailable, test::contains(make_backend()->name() == "sim" ? "needs a GPU"
                                                                         : "when this was built"));
}

}  // namespace

TEST_CASE("peers of a network: the fully connected layer takes those that it is, in both layouts") {
  for (const conv::Layout layout : {conv::Layout::nchw, conv::Layout::chwn}) {
    const Conv2dVariant peer = peers::fully_connected(layout);
    INFO(peer.name);
    CHECK(peer.name == std::string("cublas_sgemm_") + conv::to_string(layout));
    CHECK(peer.layout == layout);
    CHECK(peer.role == Role::peer);
    CHECK(peer.demand == conv::Demand::bounded);
    // Where it is there it takes such a layer.
    CHECK(refusal(peer, ConvLayer({.N = 4, .C = 3, .H = 5, .W = 6, .K = 7, .R = 5, .S = 6})) ==
          peer.unavailable);
    const auto covered = peer.prepared(ConvLayer({.H = 5, .W = 5, .R = 5, .S = 5}));
    CHECK(peer.unavailable.empty() == static_cast<bool>(covered.launch));
    if (!peer.unavailable.empty()) {
      require_reason(peer.unavailable);
      continue;
    }
    CHECK_THAT(peer.version, test::contains("cuBLAS "));
    CHECK(covered.detail() == peer.version);
    for (const ConvLayer& other :
         {ConvLayer({.H = 5, .W = 6, .R = 5, .S = 5}), ConvLayer({.H = 5, .W = 6, .R = 4, .S = 6}),
          ConvLayer({.H = 5, .W = 6, .R = 5, .S = 6, .padding_w = 1}),
          // One output, and yet it sees ghost cells.
          ConvLayer({.H = 3, .W = 3, .R = 5, .S = 5, .padding_h = 1, .padding_w = 1})}) {
      CHECK_THAT(refusal(peer, other), test::contains("cover the whole image"));
    }
  }
}

TEST_CASE("peers of a network: bias and ReLU can be launched or say why not") {
  const peers::BiasRelu step = peers::bias_relu();
  const peers::ConvolutionBiasRelu fused = peers::convolution_bias_relu();
  CHECK(step.unavailable.empty() == static_cast<bool>(step.launch));
  CHECK(fused.unavailable.empty() == static_cast<bool>(fused.launch));
  CHECK(step.unavailable == fused.unavailable);
  if (!step.unavailable.empty()) {
    require_reason(step.unavailable);
    return;
  }
  CHECK_THAT(step.version, test::contains("cuDNN "));
  CHECK(step.detail() == step.version);
  CHECK(fused.version == step.version);
  CHECK(fused.detail(ConvLayer({.H = 5, .W = 5, .R = 3, .S = 3}), true) == fused.version);
}
