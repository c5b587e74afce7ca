// Which FFT peers there are for layers: on every backend, with and without a GPU, with and without
// cuFFT.
#include <string>
#include <vector>

#include "common/peers/fft_convolution.hpp"
#include "tests/catch.hpp"

using namespace halo;
using conv::ConvLayer;

TEST_CASE("fft peers: each is in the list once, whether or not its libraries were found") {
  std::vector<std::string> names;
  for (const Conv2dVariant& peer : peers::fft_convolution()) names.push_back(peer.name);
  const std::vector<std::string> on_gpu = {"cufft", "cufft_tiled"};
  CHECK(names == (make_backend()->name() == "sim" ? decltype(names){} : on_gpu));
}

TEST_CASE("fft peers: each says what it is, and can be launched or says why not") {
  const auto peers = peers::fft_convolution();
  if (peers.empty()) test::skip("this backend has none");
  const ConvLayer layer({.N = 2, .C = 3, .H = 12, .W = 12, .K = 4, .R = 3, .S = 3});
  for (const Conv2dVariant& peer : peers) {
    INFO(peer.name);
    CHECK(peer.role == Role::peer);
    CHECK(peer.layout == conv::Layout::nchw);
    CHECK(peer.demand == conv::Demand::transformed);
    CHECK(peer.source.starts_with("common/peers/"));
    CHECK(!peer.description.empty());
    CHECK(peer.unavailable.empty() == static_cast<bool>(peer.prepared(layer).launch));
    CHECK(peer.unavailable.empty() == static_cast<bool>(peer.prepared(layer).detail));
    if (!peer.unavailable.empty()) {
      CHECK_THAT(peer.unavailable, test::contains("when this was built"));
      continue;
    }
    CHECK_THAT(peer.version, test::contains("cuFFT "));
    CHECK_THAT(peer.version, test::contains("cuBLAS "));
    CHECK(peer.prepared(layer).detail() == peer.version);
    CHECK(refusal(peer, layer) == "");
    CHECK(peer.prepared(layer).workspace_floats > layer.input_size());
    CHECK_THAT(
        refusal(peer, ConvLayer({.H = 12, .W = 12, .R = 3, .S = 3, .stride_h = 2, .stride_w = 2})),
        test::contains("stride 1"));
  }
}
