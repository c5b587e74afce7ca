// Device functions and vector types, as kernels see them.
#include "tests/simt/kernels/device_functions.hpp"

#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "common/simt/simulator.hpp"
#include "tests/catch.hpp"

TEST_CASE("integer functions and conversions give an H200's results") {
  const std::vector<device_functions::Exact> results = device_functions::exact_results();
  REQUIRE(results.size() == 215);
  for (std::size_t i = 0; i < results.size(); ++i) {
    CAPTURE(i);
    CHECK(results[i].got == results[i].expected);
  }
}

TEST_CASE("atomics return the old value and leave the new one") {
  const std::vector<device_functions::Atomic> results = device_functions::atomic_results();
  REQUIRE(results.size() == 36);
  for (std::size_t i = 0; i < results.size(); ++i) {
    CAPTURE(i);
    CHECK(results[i].got == results[i].expected);
  }
}

TEST_CASE("shuffles and votes give each lane what an H200 gives it") {
  const unsigned odd = 0xaaaaaaaau;
  const auto segment = [](int lane, int width) { return lane / width * width; };
  // The documented meaning of each, for lanes that hold 100 + lane; all confirmed on an H200.
  const std::vector<std::function<long long(int)>> expected = {
      [](int) { return 105; },
      [](int lane) { return 100 + (lane + 1) % 32; },
      [&](int lane) { return 100 + segment(lane, 8) + 3; },
      [](int lane) { return 100 + (lane < 2 ? lane : lane - 2); },
      [](int lane) { return 100 + (lane % 16 < 2 ? lane : lane - 2); },
      [](int lane) { return 100 + (lane + 3 < 32 ? lane + 3 : lane); },
      [](int lane) { return 100 + (lane % 8 + 3 < 8 ? lane + 3 : lane); },
      [](int lane) { return 100 + (lane ^ 7); },
      // Another segment may be read if it is an earlier one.
      [](int lane) { return 100 + (lane % 16 < 8 ? lane : lane - 8); },
      [](int lane) { return 31 - lane; },
      [](int lane) { return lane < 31 ? lane + 1 : lane; },
      [](int lane) { return 1ll << (lane ^ 1); },
      [](int) { return 0x49249249u; },
      [](int) { return 0; },
      [](int) { return 1; },
      [](int) { return 0; },
      [](int) { return 1; },
      [](int lane) { return lane < 30 ? 31ll << lane / 5 * 5 : 3ll << 30; },
      [](int) { return 0xffffffffu; },
      [](int) { return 1; },
      [](int) { return 31 * 32 / 2; },
      [](int) { return 3; },
      [](int lane) { return lane % 2 ? 256 : 240; },
      [&](int lane) { return (lane % 2 ? odd : ~odd) & 0xffffu; },
  };
  const std::vector<device_functions::WarpResult> results = device_functions::warp_results();
  REQUIRE(results.size() == expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    for (int lane = 0; lane < 32; ++lane) {
      CAPTURE(results[i].name, lane);
      CHECK(results[i].lanes[lane] == expected[i](lane));
    }
  }
}

TEST_CASE("threadIdx and its kin") { CHECK(device_functions::run_indices()); }

TEST_CASE("a vector moves as it does on an H200") {
  // All figures were read with Nsight Compute on an H200.
  for (const device_functions::VectorCase& c : device_functions::vector_cases()) {
    CAPTURE(c.name);
    simt::simulator()->take_launches();
    CHECK(c.run());
    const std::vector<simt::Launch> launches = simt::simulator()->take_launches();
    REQUIRE(launches.size() == 1);
    const simt::Counters& counted = launches[0].counters;
    CHECK(counted.global_load_requests == static_cast<std::uint64_t>(c.load_requests));
    CHECK(counted.global_load_sectors == static_cast<std::uint64_t>(c.load_sectors));
    CHECK(counted.global_store_requests == static_cast<std::uint64_t>(c.store_requests));
    CHECK(counted.global_store_sectors == static_cast<std::uint64_t>(c.store_sectors));
    CHECK(launches[0].findings.empty());
  }
}

TEST_CASE("the clock only grows") { CHECK(device_functions::clock_grows()); }

namespace {

using device_functions::Fast;

struct Worst {
  double ulps = 0;  // in units of the last place of the exact value
  double absolute = 0;
};

// The largest errors of a function on many values of [from, to].
Worst worst_error(Fast function, double (*exact)(double), float from, float to) {
  constexpr int kSteps = 50000;
  std::vector<float> values;
  for (int i = 0; i <= kSteps; ++i) {
    values.push_back(from + (to - from) * (static_cast<float>(i) / kSteps));
  }
  const std::vector<float> results = device_functions::fast_results(function, values);
  Worst worst;
  for (std::size_t i = 0; i < results.size(); ++i) {
    const double wanted = exact(static_cast<double>(values[i]));
    const double error = std::abs(static_cast<double>(results[i]) - wanted);
    worst.absolute = std::max(worst.absolute, error);
    if (wanted != 0) {
      worst.ulps = std::max(worst.ulps, std::ldexp(error, 23 - std::ilogb(wanted)));
    }
  }
  return worst;
}

float one(Fast function, float x) { return device_functions::fast_results(function, {x}).at(0); }

}  // namespace

// The bounds are those of the CUDA C++ Programming Guide. A program that assumes the accuracy of expf
// must fail with __expf here as it does on a GPU.
TEST_CASE("the fast functions err as far as a GPU's may, and no further") {
  for (const float limit : {1.0f, 5.0f, 20.0f, 80.0f}) {
    INFO(limit);
    const double worst = worst_error(Fast::exp, std::exp, -limit, limit).ulps;
    CHECK(worst <= 2 + std::floor(1.173 * static_cast<double>(limit)));
    CHECK(worst >= 0.5 * static_cast<double>(limit));
  }
  const auto power = [](double x) { return std::pow(10.0, x); };
  CHECK(worst_error(Fast::exp10, power, -5.0f, 5.0f).ulps <= 2 + std::floor(2.97 * 5));
  CHECK(worst_error(Fast::log, std::log, 0.5f, 2.0f).absolute <= std::exp2(-21.41));
  CHECK(worst_error(Fast::log, std::log, 2.01f, 1e6f).ulps <= 3);
  CHECK(worst_error(Fast::log2, std::log2, 0.5f, 2.0f).absolute <= std::exp2(-22));
  CHECK(worst_error(Fast::log2, std::log2, 2.01f, 1e6f).ulps <= 2);
  CHECK(worst_error(Fast::log10, std::log10, 0.5f, 2.0f).absolute <= std::exp2(-24));
  CHECK(worst_error(Fast::log10, std::log10, 2.01f, 1e6f).ulps <= 3);
  CHECK(worst_error(Fast::sin, std::sin, -3.14159f, 3.14159f).absolute <= std::exp2(-21.41));
  CHECK(worst_error(Fast::cos, std::cos, -3.14159f, 3.14159f).absolute <= std::exp2(-21.19));
  CHECK(worst_error(Fast::sin, std::sin, 1e4f, 2e4f).absolute > std::exp2(-15));
  CHECK(worst_error(Fast::tanh, std::tanh, -3.0f, 3.0f).absolute <= std::exp2(-11));
  const auto exact = [](double x) { return static_cast<double>(3.3f) / x; };
  CHECK(worst_error(Fast::quotient_of_3_3, exact, 0.01f, 1000.0f).ulps <= 2);

  CHECK(one(Fast::exp, 0.0f) == 1.0f);
  CHECK(one(Fast::exp, -INFINITY) == 0.0f);
  CHECK(one(Fast::exp, INFINITY) == INFINITY);
  CHECK(one(Fast::log, 0.0f) == -INFINITY);
  CHECK(one(Fast::log, 1.0f) == 0.0f);
  CHECK(device_functions::fast_power(2.0f, 10.0f) == 1024.0f);
  CHECK(std::isnan(device_functions::fast_power(-2.0f, 2.0f)));
  CHECK(device_functions::fast_quotient(1.0f, 0x1p127f) == 0.0f);
  CHECK(std::isnan(device_functions::fast_quotient(INFINITY, 0x1p127f)));
}
