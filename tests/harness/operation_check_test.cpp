// The checks of transforms, pooling and softmax are checked: every wrong variant must be rejected,
// every right one accepted.
#include <algorithm>
#include <type_traits>

#include "common/harness/families/pooling.hpp"
#include "common/harness/families/softmax.hpp"
#include "common/harness/families/transform.hpp"
#include "tests/catch.hpp"
#include "tests/harness/tried.hpp"
#include "tests/harness/wrong_operations.hpp"

using namespace halo;
using conv::PoolingLayer;
using conv::Softmax;
using conv::Transform;
using test::run_one;
using test::try_variant;

namespace {

template <class Problem>
Variant<Problem> wrong(const std::string& name) {
  for (const auto& variant : test::wrong_operations<Problem>()) {
    if (variant.name == name) return variant;
  }
  FAIL("no variant " << name);
  return {};
}

// One of everything is as simple as it gets.
template <class Problem>
Problem some();
template <>
Transform some() {
  return conv::parse_transform("7x5-33-3-to-nchw");
}
template <>
PoolingLayer some() {
  return conv::parse_pooling("13-5-3-3-s2-average");
}
template <>
Softmax some() {
  return conv::parse_softmax("5x1100");
}

}  // namespace

TEMPLATE_TEST_CASE("every wrong operation is rejected, with a reason that names it", "[operation]",
                   Transform, PoolingLayer, Softmax) {
  const auto all = test::wrong_operations<TestType>();
  REQUIRE(all.size() > 20);
  for (const auto& variant : all) {
    INFO(variant.name);
    const Row row = try_variant(variant);
    CHECK(row.check.outcome == Outcome::bad);
    CHECK(row.check.reason.find(": ") != std::string::npos);
    CHECK(exit_status({row}) == 1);
  }
}

TEMPLATE_TEST_CASE("every right operation is accepted", "[operation]", Transform, PoolingLayer,
                   Softmax) {
  const auto problems = adversarial<TestType>(test::seed());
  for (const auto& variant : test::right_operations<TestType>()) {
    INFO(variant.name);
    const Row row = try_variant(variant);
    CHECK(row.check.reason == "");
    CHECK(row.check.outcome == Outcome::good);
    const auto taken =
        std::count_if(problems.begin(), problems.end(),
                      [&](const TestType& problem) { return refusal(variant, problem).empty(); });
    CHECK(row.check.shapes == taken);
    CHECK(row.check.worst_share <= 1);
    CHECK((row.check.worst_share > 0) == !std::is_same_v<TestType, Transform>);
    CHECK(run_one(variant, some<TestType>()).check.outcome == Outcome::good);
  }
}

TEMPLATE_TEST_CASE("stray writes and changed inputs of an operation are hazards too", "[operation]",
                   Transform, PoolingLayer, Softmax) {
  for (const std::string name :
       {"writes one past the end", "writes one before the start",
        "writes past the end of the input", "works in its input", "writes past its workspace"}) {
    INFO(name);
    for (const Row& row :
         {try_variant(wrong<TestType>(name)), run_one(wrong<TestType>(name), some<TestType>())}) {
      CHECK(row.check.outcome == Outcome::bad);
      CHECK(row.hazards.outcome == Outcome::bad);
      REQUIRE(!row.hazards.findings.empty());
      CHECK(row.hazards.findings.front().kind == "stray_write");
    }
  }
}

TEMPLATE_TEST_CASE("an operation that could not be run, or took nothing, has not passed",
                   "[operation]", Transform, PoolingLayer, Softmax) {
  auto absent = test::plain_operation<TestType>();
  absent.unavailable = "its library is missing";
  for (const Row& row : {try_variant(absent), run_one(absent, some<TestType>())}) {
    CHECK(row.check.outcome == Outcome::not_run);
    CHECK(row.check.reason == "its library is missing");
    CHECK(exit_status({row}) == 77);
  }
  auto fastidious = test::plain_operation<TestType>();
  fastidious.refuses([](const TestType&) { return "it takes none"; });
  CHECK(exit_status({try_variant(fastidious)}) == 77);
}

TEST_CASE("a copy is judged as one, and runs where there can be one", "[operation]") {
  TransformVariant copy = wrong<Transform>("copies");
  copy.role = Role::copy;
  CHECK(run_one(copy, some<Transform>()).check.outcome == Outcome::good);
  TransformVariant other = test::plain_operation<Transform>();
  other.role = Role::copy;
  CHECK(run_one(other, some<Transform>()).check.outcome == Outcome::bad);
}

TEST_CASE("transforms of every kind are tried, and each is small", "[operation]") {
  const auto all = adversarial<Transform>(test::seed());
  const auto some_is = [&](const std::function<bool(const conv::ImagesShape&)>& is) {
    for (const conv::Layout from : {conv::Layout::nchw, conv::Layout::chwn}) {
      const bool found = std::any_of(all.begin(), all.end(), [&](const Transform& t) {
        return t.from() == from && is(t.images().shape());
      });
      if (!found) return false;
    }
    return true;
  };
  for (const Transform& transform : all) {
    INFO(conv::label(transform));
    CHECK(transform.input_size() <= 30'000);
  }
  const auto cells = [](const conv::ImagesShape& s) { return s.C * s.H * s.W; };
  CHECK(some_is([&](const auto& s) { return s.N == 1 && cells(s) == 1; }));
  CHECK(some_is([&](const auto& s) { return s.N == 1 && cells(s) > 32; }));
  CHECK(some_is([&](const auto& s) { return s.N > 32 && cells(s) == 1; }));
  CHECK(some_is([&](const auto& s) { return s.N == 64 && cells(s) % 64 == 0; }));
  CHECK(some_is([&](const auto& s) { return s.N % 32 == 1 && s.N > 32 && cells(s) % 32 == 1; }));
  CHECK(some_is([&](const auto& s) { return s.N % 32 == 31 && cells(s) % 32 == 31; }));
  CHECK(some_is([&](const auto& s) { return s.N % 64 == 0 && cells(s) % 2 == 1; }));
  CHECK(some_is([&](const auto& s) { return s.N % 4 == 2 && cells(s) % 2 == 1 && s.N > 32; }));
  CHECK(some_is([&](const auto& s) { return s.N > 1024; }));
  CHECK(some_is([&](const auto& s) { return cells(s) > 1024; }));
  CHECK(some_is([&](const auto& s) { return s.H != s.W && s.C > 1 && s.C != s.N; }));
  CHECK(adversarial<Transform>(test::seed()) == all);
  CHECK(adversarial<Transform>(test::seed() + 1) != all);
}

TEST_CASE("pooling layers of every kind are tried, and each is small", "[operation]") {
  const auto all = adversarial<PoolingLayer>(test::seed());
  const auto some_is = [&](const std::function<bool(const PoolingLayer&)>& is) {
    for (const conv::Pooling kind : {conv::Pooling::max, conv::Pooling::average}) {
      const bool found = std::any_of(all.begin(), all.end(), [&](const PoolingLayer& layer) {
        return layer.kind() == kind && is(layer);
      });
      if (!found) return false;
    }
    return true;
  };
  for (const PoolingLayer& layer : all) {
    INFO(conv::label(layer));
    CHECK(layer.output_size() * layer.R() * layer.S() <= 500'000);
  }
  constexpr auto kCeil = conv::Rounding::ceil;
  CHECK(some_is([](const auto& l) { return l.R() == 1 && l.S() == 1 && l.C() > 1; }));
  CHECK(some_is([](const auto& l) { return l.R() > l.stride_h() && l.R() == 3; }));
  CHECK(some_is([](const auto& l) { return l.R() < l.stride_h(); }));
  CHECK(some_is([](const auto& l) { return l.R() != l.S(); }));
  CHECK(some_is([](const auto& l) { return l.stride_h() != l.stride_w(); }));
  CHECK(some_is([](const auto& l) { return l.padding_h() > 0 && l.padding_w() > 0; }));
  CHECK(some_is([](const auto& l) { return l.padding_h() != l.padding_w(); }));
  CHECK(some_is([](const auto& l) { return l.P() == 1 && l.Q() == 1 && l.R() > 1; }));
  CHECK(some_is([](const auto& l) { return l.R() > l.H() && l.S() > l.W(); }));
  CHECK(some_is([](const auto& l) { return l.N() > 128 && l.C() > 1; }));
  CHECK(some_is([](const auto& l) { return l.N() > 1024; }));
  CHECK(some_is([](const auto& l) { return l.N() % 32 == 1 && l.N() > 32; }));
  CHECK(some_is([](const auto& l) { return l.C() > 128; }));
  CHECK(some_is([](const auto& l) { return l.W() > 1024; }));
  CHECK(some_is([](const auto& l) { return l.H() > 1024; }));
  CHECK(some_is([](const auto& l) {  // a window of ceil that is not whole
    return l.rounding() == kCeil && (l.P() - 1) * l.stride_h() + l.R() > l.H() + 2 * l.padding_h();
  }));
  CHECK(some_is([](const auto& l) {  // a row of windows that ceil would have, outside the image
    return l.rounding() == kCeil &&
           (l.H() + 2 * l.padding_h() - l.R() + l.stride_h() - 1) / l.stride_h() + 1 > l.P();
  }));
  CHECK(adversarial<PoolingLayer>(test::seed()) == all);
  CHECK(adversarial<PoolingLayer>(test::seed() + 1) != all);
}

TEST_CASE("softmaxes of every kind are tried, and each is small", "[operation]") {
  const auto all = adversarial<Softmax>(test::seed());
  const auto some_is = [&](const std::function<bool(const Softmax&)>& is) {
    return std::any_of(all.begin(), all.end(), is);
  };
  for (const Softmax& softmax : all) {
    INFO(conv::label(softmax));
    CHECK(softmax.input_size() <= 20'000);
  }
  CHECK(some_is([](const auto& s) { return s.C() == 1; }));
  CHECK(some_is([](const auto& s) { return s.N() == 1; }));
  CHECK(some_is([](const auto& s) { return s.N() > 1024; }));
  CHECK(some_is([](const auto& s) { return s.C() == 1024 && s.N() > 1; }));
  CHECK(some_is([](const auto& s) { return s.C() == 1025 && s.N() > 1; }));
  CHECK(some_is([](const auto& s) { return s.C() > 48 * 1024 / 4; }));
  CHECK(some_is([](const auto& s) { return s.C() < 32 && s.N() > 32; }));
  CHECK(adversarial<Softmax>(test::seed()) == all);
  CHECK(adversarial<Softmax>(test::seed() + 1) != all);
}
