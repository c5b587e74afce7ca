// Which peers there are for layers: on every backend, with and without a GPU, with and without cuDNN.
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "common/peers/conv2d.hpp"
#include "tests/catch.hpp"

using namespace halo;

TEST_CASE("peers of layers: each is in the list once, whether or not cuDNN was found") {
  std::vector<std::pair<std::string, Role>> names;
  for (const Conv2dVariant& peer : peers::conv2d()) names.emplace_back(peer.name, peer.role);
  const std::vector<std::pair<std::string, Role>> on_gpu = {{"cudnn", Role::peer},
                                                            {"cudnn_graph", Role::peer}};
  CHECK(names == (make_backend()->name() == "sim" ? decltype(names){} : on_gpu));
}

TEST_CASE("peers of layers: each says what it is, and can be launched or says why not") {
  const auto peers = peers::conv2d();
  if (peers.empty()) test::skip("this backend has none");
  for (const Conv2dVariant& peer : peers) {
    INFO(peer.name);
    CHECK(peer.source.starts_with("common/peers/"));
    CHECK(!peer.description.empty());
    const conv::ConvLayer layer({.H = 5, .W = 5, .R = 3, .S = 3});
    CHECK(peer.unavailable.empty() == static_cast<bool>(peer.prepared(layer).launch));
    CHECK(peer.unavailable.empty() == static_cast<bool>(peer.prepared(layer).detail));
    if (peer.unavailable.empty()) {
      CHECK_THAT(peer.version, test::contains("cuDNN "));
      // Nothing was launched yet.
      CHECK(peer.prepared(layer).detail() == peer.version);
    } else {
      CHECK_THAT(peer.unavailable, test::contains("when this was built"));
    }
    // They may use Winograd's method or an FFT.
    CHECK(peer.demand == conv::Demand::transformed);
  }
}

TEST_CASE("peers of layers: cuDNN in TF32 only where it is asked for, and judged as such") {
  unsetenv("HALO_CUDNN_TF32");
  const std::size_t usual = peers::conv2d().size();
  setenv("HALO_CUDNN_TF32", "1", 1);
  const auto asked = peers::conv2d();
  unsetenv("HALO_CUDNN_TF32");
  if (make_backend()->name() == "sim") {
    CHECK(asked.empty());
    return;
  }
  REQUIRE(asked.size() == usual + 1);
  CHECK(asked.back().name == "cudnn_tf32");
  CHECK(asked.back().role == Role::beside);
  CHECK(asked.back().demand == conv::Demand::tf32);
  CHECK(asked.back().unavailable.empty() ==
        static_cast<bool>(asked.back().prepared(conv::parse_label("5-1-3-1-1")).launch));
}
