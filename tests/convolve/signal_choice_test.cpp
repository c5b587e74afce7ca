#include "common/convolve/signal_choice.hpp"

#include <algorithm>
#include <compare>
#include <cstdint>
#include <iterator>
#include <map>
#include <stdexcept>
#include <string>
#include <variant>

#include "common/data/file.hpp"
#include "common/json/json.hpp"
#include "common/report/json.hpp"
#include "tests/catch.hpp"

using namespace halo;
using convolve::choose_signal_kernel;

namespace {

struct Size {
  int length, taps;
  auto operator<=>(const Size&) const = default;
};

// Milliseconds of each kernel.
using Signals = std::map<Size, std::map<std::string, double>>;

const char* const kKernels[] = {"quad", "warp_tile", "overlap_save"};

std::string text_of(const std::string& name) {
  return data::read_file(HALO_SOURCE_ROOT "/docs/results/" + name);
}

Signals of_the_benchmark() {
  Signals all;
  for (const Row& row : results_from_json(text_of("bench_conv1d_gpu.json"), "the benchmark").rows) {
    if (std::count(std::begin(kKernels), std::end(kKernels), row.variant) == 0) continue;
    if (row.time.outcome != Outcome::good) continue;
    const auto number = [&](const char* wanted) {
      for (const auto& [named, value] : row.problem) {
        if (named == wanted) return static_cast<int>(std::get<std::int64_t>(value));
      }
      throw std::runtime_error(std::string("a row without ") + wanted);
    };
    all[{number("length"), number("mask_width")}].emplace(row.variant, row.time.hot.median_ms);
  }
  return all;
}

Signals round_the_widths() {
  Signals all;
  const json::Value file = json::Value::parse(text_of("signal_times.json"));
  for (const json::Value& one : file.at("signals").elements()) {
    auto& kernels = all[{one.get<int>("length"), one.get<int>("taps")}];
    for (const char* const kernel : kKernels) {
      if (const double ms = one.get_or(kernel, 0.0); ms > 0) kernels.emplace(kernel, ms);
    }
  }
  return all;
}

}  // namespace

TEST_CASE("signal choice: of every signal that was measured the fastest kernel, or one as fast") {
  // Where two are level, the next run may have the other one ahead.
  constexpr double kLevel = 1.03;
  for (const Signals& signals : {of_the_benchmark(), round_the_widths()}) {
    CHECK(signals.size() >= 11);
    for (const auto& [size, kernels] : signals) {
      INFO(size.length << " cells, " << size.taps << " taps");
      const std::string chosen = choose_signal_kernel(size.taps, size.length);
      REQUIRE(kernels.contains(chosen));
      for (const auto& [kernel, ms] : kernels) {
        INFO(chosen << " takes " << kernels.at(chosen) << " ms, " << kernel << ' ' << ms);
        CHECK(kernels.at(chosen) <= kLevel * ms);
      }
    }
  }
}
