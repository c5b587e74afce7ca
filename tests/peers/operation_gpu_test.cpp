// What the GPU peers of transforms, pooling and softmax compute, and that nothing is allocated or
// waited for in a call that is timed.
#include <cuda_runtime.h>

#include <string>
#include <vector>

#include "common/peers/operation.hpp"
#include "tests/peers/gpu_peers.hpp"

using namespace halo;
using conv::PoolingLayer;
using conv::Softmax;
using conv::Transform;

namespace {

template <class Problem>
std::vector<Variant<Problem>> all_peers();
template <>
std::vector<TransformVariant> all_peers() {
  return peers::transform();
}
template <>
std::vector<PoolingVariant> all_peers() {
  return peers::pooling();
}
template <>
std::vector<SoftmaxVariant> all_peers() {
  return peers::softmax();
}

template <class Problem>
std::vector<Variant<Problem>> available() {
  return test::peers_there(all_peers<Problem>());
}

// Of sizes that the paper's networks have, beside the adversarial ones.
template <class Problem>
std::vector<Problem> usual();
template <>
std::vector<Transform> usual() {
  return {conv::parse_transform("28-128-16-to-nchw"), conv::parse_transform("28-128-16-to-chwn"),
          conv::parse_transform("27-32-96-to-nchw"), conv::parse_transform("55x54-37-48-to-chwn")};
}
template <>
std::vector<PoolingLayer> usual() {
  return {conv::parse_pooling("28-128-2-16"), conv::parse_pooling("55-16-3-96-s2"),
          conv::parse_pooling("24-128-3-64-s2-average-ceil"),
          conv::parse_pooling("24-64-3-64-s2-ceil"), conv::parse_pooling("14-32-3-33-s1-p1")};
}
template <>
std::vector<Softmax> usual() {
  return {Softmax(128, 10), Softmax(128, 1000), Softmax(33, 10'000)};
}

// One problem in device memory.
template <class Problem>
struct Scene {
  Scene(Backend& backend, const Problem& of, std::vector<float> cells)
      : problem(of),
        input(backend, cells.size()),
        output(backend, static_cast<std::size_t>(of.output_size())),
        call{of, input.data(), output.data(), nullptr} {
    input.write(cells);
    output.poison();
  }
  Scene(Backend& backend, const Problem& of)
      : Scene(backend, of, conv::make_input(of, 0, test::seed())) {}

  std::vector<float> result() const {
    REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
    std::vector<float> values(output.size());
    output.read(values);
    return values;
  }

  Problem problem;
  Array input, output;
  Call<Problem> call;
};

// Whether the peer takes the problem. If not it must say so with this one code, launch nothing and give
// a reason.
template <class Problem>
bool takes(const Variant<Problem>& peer, const Scene<Problem>& scene) {
  const int code = peer.prepared(scene.call.problem).launch(scene.call);
  if (code != cudaErrorNotSupported) return true;  // another error is the check's to find
  INFO(peer.name << ", " << conv::label(scene.problem));
  CHECK(peer.prepared(scene.problem).detail().size() > peer.version.size());
  CHECK(cudaDeviceSynchronize() == cudaSuccess);
  WARN(peer.name << " does not take " << conv::label(scene.problem) << ": "
                 << peer.prepared(scene.problem).detail());
  return false;
}

}  // namespace

TEMPLATE_TEST_CASE("peers-gpu of operations: every problem is right", "[operation]", Transform,
                   PoolingLayer, Softmax) {
  const auto backend = test::usable_backend();
  for (const auto& peer : available<TestType>()) {
    std::vector<TestType> problems = adversarial<TestType>(test::seed());
    for (const TestType& problem : usual<TestType>()) problems.push_back(problem);
    std::size_t taken = 0;
    for (const TestType& problem : problems) {
      if (!takes(peer, Scene<TestType>(*backend, problem))) continue;
      ++taken;
      Row row;
      Progress progress;
      check_trials(peer, *backend, std::vector{problem}, test::seed(), row, progress);
      INFO(peer.name << ", " << conv::label(problem) << ": " << row.check.reason << "\n"
                     << peer.prepared(problem).detail());
      CHECK(row.check.outcome == Outcome::good);
      CHECK(row.hazards.outcome != Outcome::bad);
      if (const std::string differs = peer.prepared(problem).differs(); !differs.empty()) {
        WARN(peer.name << ", " << conv::label(problem)
                       << ", was judged on ordinary numbers only: " << differs);
      }
    }
    INFO(peer.name);
    CHECK(taken > problems.size() / 2);
  }
}

TEMPLATE_TEST_CASE("peers-gpu of operations: each says what it chose", "[operation]", Transform,
                   PoolingLayer, Softmax) {
  const auto backend = test::usable_backend();
  for (const auto& peer : available<TestType>()) {
    const TestType problem = usual<TestType>()[0];
    const Scene<TestType> scene(*backend, problem);
    REQUIRE(takes(peer, scene));
    const std::string detail = peer.prepared(problem).detail();
    INFO(detail);
    CHECK_THAT(detail, test::contains(peer.version));
    CHECK_THAT(detail, test::contains("float"));
    // Of a problem that was not launched there is nothing to say.
    CHECK(peer.prepared(usual<TestType>()[1]).detail() == peer.version);
    CHECK(peer.prepared(usual<TestType>()[1]).differs() == "");
  }
}

TEMPLATE_TEST_CASE(
    "peers-gpu of operations: after the first call nothing is allocated, and calls can be captured",
    "[operation]", Transform, PoolingLayer, Softmax) {
  const auto backend = test::usable_backend();
  for (const auto& peer : available<TestType>()) {
    INFO(peer.name);
    const TestType problem = usual<TestType>()[1];
    Scene<TestType> first(*backend, problem);
    Scene<TestType> second(*backend, problem);  // other arrays: as for a cold cache
    test::require_no_first_call_in_a_capture(
        [&] { return peer.prepared(first.call.problem).launch(first.call); });

    REQUIRE(takes(peer, first));
    const std::vector<float> expected = first.result();
    first.output.poison();

    test::replay([&] { return peer.prepared(first.call.problem).launch(first.call); },
                 [&] { return peer.prepared(second.call.problem).launch(second.call); });
    CHECK(first.result() == expected);
    CHECK(second.result() == expected);

    test::require_no_allocation(
        *backend, [&] { return peer.prepared(first.call.problem).launch(first.call); });
  }
}

// Last, since a library that can't bear a reset may take the program with it.
TEMPLATE_TEST_CASE("peers-gpu of operations: choices are made anew after the device was reset",
                   "[operation]", Transform, PoolingLayer, Softmax) {
  const auto backend = test::usable_backend();
  for (const auto& peer : available<TestType>()) {
    INFO(peer.name);
    const TestType problem = usual<TestType>()[1];
    std::vector<float> expected;
    {
      const Scene<TestType> before(*backend, problem);
      REQUIRE(takes(peer, before));
      expected = before.result();
    }
    REQUIRE(backend->recover());
    const Scene<TestType> after(*backend, problem);
    CHECK(peer.prepared(after.call.problem).launch(after.call) == cudaSuccess);
    CHECK(after.result() == expected);
  }
}
