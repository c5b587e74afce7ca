// Which peers there are: on every backend, with and without a GPU, with and without the libraries.
#include <string>
#include <utility>
#include <vector>

#include "common/peers/conv1d.hpp"
#include "tests/catch.hpp"

using namespace halo;

namespace {

using Names = std::vector<std::pair<std::string, Role>>;

Names expected(const std::string& backend) {
  if (backend == "sim") return {};
  if (backend == "cpu") return {{"copy", Role::copy}};
  return {{"copy", Role::copy},
          {"memcpy", Role::copy},
          {"thrust_transform", Role::peer},
          {"cub_segmented_reduce", Role::peer},
          {"cudnn", Role::peer},
          {"cufft", Role::peer},
          {"npp_row_filter", Role::peer}};
}

}  // namespace

TEST_CASE("peers: each is in the list once, whether or not its library was found") {
  Names names;
  for (const Conv1dVariant& peer : peers::conv1d()) names.emplace_back(peer.name, peer.role);
  CHECK(names == expected(make_backend()->name()));
}

TEST_CASE("peers: each says what it is, and can be launched or says why not") {
  const auto peers = peers::conv1d();
  if (peers.empty()) test::skip("this backend has none");
  for (const Conv1dVariant& peer : peers) {
    INFO(peer.name);
    CHECK(peer.source.starts_with("common/"));
    CHECK(!peer.description.empty());
    CHECK(peer.unavailable.empty() ==
          static_cast<bool>(peer.prepared(Conv1dProblem(100, 9, 256)).launch));
    if (!peer.unavailable.empty()) {
      CHECK_THAT(peer.unavailable, test::contains("when this was built"));
    }
    // Whoever cannot be launched says why.
    const auto huge = peer.prepared(Conv1dProblem(2'000'000'000, 1023, 256));
    CHECK((!huge.refusal.empty() || huge.launch));
  }
}
