// Which peers there are for transforms, pooling and softmax: on every backend, with and without a GPU,
// with and without the libraries.
#include <string>
#include <vector>

#include "common/peers/operation.hpp"
#include "tests/catch.hpp"

using namespace halo;

namespace {

template <class Problem>
std::vector<std::string> names_of(const std::vector<Variant<Problem>>& peers) {
  std::vector<std::string> names;
  for (const auto& peer : peers) names.push_back(peer.name);
  return names;
}

template <class Problem>
void require_described(const std::vector<Variant<Problem>>& peers, const Problem& problem) {
  for (const auto& peer : peers) {
    INFO(peer.name);
    CHECK(peer.role == Role::peer);
    CHECK(peer.source.starts_with("common/peers/"));
    CHECK(!peer.description.empty());
    CHECK(peer.unavailable.empty() == static_cast<bool>(peer.prepared(problem).launch));
    CHECK(peer.unavailable.empty() == static_cast<bool>(peer.prepared(problem).detail));
    if (!peer.unavailable.empty()) {
      CHECK_THAT(peer.unavailable, test::contains("when this was built"));
      continue;
    }
    // Nothing was launched yet.
    CHECK_THAT(peer.version,
               test::contains(peer.name.substr(0, 5) == "cudnn" ? "cuDNN " : "cuBLAS "));
    CHECK(peer.prepared(problem).detail() == peer.version);
    CHECK(peer.prepared(problem).differs() == "");
  }
}

}  // namespace

TEST_CASE("peers of operations: each is in its list once, whether or not its library was found") {
  const bool on_gpu = make_backend()->name() == "gpu";
  using Names = std::vector<std::string>;
  CHECK(names_of(peers::transform()) ==
        (on_gpu ? Names{"cudnn_transform", "cublas_geam"} : Names{}));
  CHECK(names_of(peers::pooling()) == (on_gpu ? Names{"cudnn_nchw", "cudnn_chwn"} : Names{}));
  CHECK(names_of(peers::softmax()) == (on_gpu ? Names{"cudnn"} : Names{}));
}

TEST_CASE("peers of operations: each says what it is, and can be launched or says why not") {
  if (peers::transform().empty()) test::skip("this backend has none");
  require_described(peers::transform(), conv::parse_transform("9-32-3-to-nchw"));
  require_described(peers::pooling(), conv::parse_pooling("9-2-3-4"));
  require_described(peers::softmax(), conv::parse_softmax("3x10"));
}

TEST_CASE("peers of operations: pooling has a peer for each layout") {
  const auto peers = peers::pooling();
  if (peers.empty()) test::skip("this backend has none");
  CHECK(peers.front().layout == conv::Layout::nchw);
  CHECK(peers.back().layout == conv::Layout::chwn);
}
