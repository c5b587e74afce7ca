#include <limits>
#include <random>
#include <stdexcept>

#include "common/convolve/implicit_gemm/plan.hpp"
#include "tests/catch.hpp"

using namespace halo;
using namespace halo::convolve;
using conv::ConvLayer;

TEST_CASE("implicit_gemm: the plan fills the GPU, and no more") {
  const gpus::GpuLimits h200{
      .sms = 132, .shared_per_sm = 228 << 10, .shared_per_block = 227 << 10, .capability = 90};
  const auto plan_of = [&](const char* label) {
    return plan_gemm(conv::parse_label(label), h200).value();
  };
  const auto blocks_of = [](const char* label, const GemmPlan& plan) {
    const ConvLayer layer = conv::parse_label(label);
    return (layer.N() * layer.P() * layer.Q() + kColumns - 1) / kColumns *
           ((layer.K() + plan.filters - 1) / plan.filters) * plan.split;
  };
  // Few outputs and a long reduction are split; many outputs are not.
  for (const char* label : {"7-1-1-256-832", "14-1-1-128-512", "7-1-3-384-192"}) {
    INFO(label);
    const GemmPlan plan = plan_of(label);
    CHECK(plan.split > 1);
    CHECK(blocks_of(label, plan) >= 132 / 3);
  }
  CHECK(plan_of("56-1-1-64-64").split == 1);
  CHECK(plan_of("224-1-3-64-64").split == 1);
  // On a GPU of half the size as well, and only with blocks that fit.
  gpus::GpuLimits small = h200;
  small.shared_per_block = 16 << 10;
  CHECK(shared_bytes(plan_gemm(conv::parse_label("7-1-1-256-832"), small).value()) <= 16 << 10);
  small.shared_per_block = 2 << 10;
  CHECK(!plan_gemm(conv::parse_label("7-1-1-256-832"), small));
  CHECK(refuses(conv::parse_label("7-1-1-256-832"), GemmPlan{32, 8, 16}, small) ==
        "its blocks take 36880 bytes of shared memory");
  CHECK(refuses(ConvLayer({.C = 4, .H = 2, .W = 2, .K = 65'535 * 16 + 1, .R = 1, .S = 1}),
                GemmPlan{16, 2, 1}, h200) == "it takes at most 1048560 filters");
}

TEST_CASE("implicit_gemm: filters of 1 x 1 are read as they are") {
  const gpus::GpuLimits h200 = gpus::limits_of(gpus::built_in_gpu("h200"));
  for (const char* label : {"27-1-1-192-48", "27-1-1-192-46", "28-1-1-192-48-s2"}) {
    INFO(label);
    const auto plan = plan_unpacked_gemm(conv::parse_label(label), h200);
    REQUIRE(plan);
    CHECK(!plan->packed);
  }
  const ConvLayer larger = conv::parse_label("27-1-3-192-48");
  CHECK(!plan_unpacked_gemm(larger, h200));
  CHECK(refuses(larger, unpacked_gemm_plans().front(), h200) == "it is made for filters of 1 x 1");
}

TEST_CASE("implicit_gemm: a division by a product and a shift is the division") {
  const auto quotient = [](std::int64_t n, Divisor d) {
    return static_cast<std::int64_t>((static_cast<unsigned __int128>(n) * d.multiplier) >> d.shift);
  };
  std::mt19937_64 random(test::seed());
  constexpr std::int64_t kMost = std::numeric_limits<int>::max();
  for (int i = 0; i < 20'000; ++i) {
    const int bits = static_cast<int>(random() % 31);
    const auto d = static_cast<int>(1 + random() % ((std::uint64_t{1} << bits)));
    const auto n = static_cast<std::int64_t>(random() % (kMost + std::uint64_t{1}));
    INFO(n << " / " << d);
    for (const std::int64_t one : {n, n / d * d, n / d * d + d - 1, kMost}) {
      if (one <= kMost) CHECK(quotient(one, Divisor(d)) == one / d);
    }
  }
  CHECK_THROWS_AS(Divisor(0), NoDivisor);
}
