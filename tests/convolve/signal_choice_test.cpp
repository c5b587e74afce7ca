#include "common/convolve/signal_choice.hpp"

#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <variant>

#include "common/data/file.hpp"
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
std::map<Size, std::map<std::string, double>> measured() {
  const std::string file = HALO_SOURCE_ROOT "/docs/results/bench_conv1d_gpu.json";
  std::map<Size, std::map<std::string, double>> times;
  for (const Row& row : rows_from_json(data::read_file(file), file)) {
    if (row.variant != "quad" && row.variant != "warp_tile" && row.variant != "overlap_save") {
      continue;
    }
    if (row.time.outcome != Outcome::good) continue;
    const auto number = [&](const char* wanted) {
      for (const auto& [name, value] : row.problem) {
        if (name == wanted) return static_cast<int>(std::get<std::int64_t>(value));
      }
      throw std::runtime_error(std::string("a row without ") + wanted);
    };
    times[{number("length"), number("mask_width")}].emplace(row.variant, row.time.hot.median_ms);
  }
  return times;
}

}  // namespace

TEST_CASE("signal choice: of every signal that was measured the fastest kernel") {
  const auto times = measured();
  REQUIRE(times.size() >= 11);
  for (const auto& [size, by_kernel] : times) {
    INFO(size.length << " cells, " << size.taps << " taps");
    std::string fastest;
    for (const auto& [kernel, ms] : by_kernel) {
      if (fastest.empty() || ms < by_kernel.at(fastest)) fastest = kernel;
    }
    CHECK(choose_signal_kernel(size.taps, size.length) == fastest);
  }
}

TEST_CASE("signal choice: between two measured widths the kernels change where their times meet") {
  const auto times = measured();
  for (const int length : {10'000'000, 1'000'000'000}) {
    const auto& narrow = times.at({length, 63});
    const auto& wide = times.at({length, 255});
    // warp_tile's time is a straight line, overlap_save's is level.
    const double level = (narrow.at("overlap_save") + wide.at("overlap_save")) / 2;
    const double per_tap = (wide.at("warp_tile") - narrow.at("warp_tile")) / (255 - 63);
    const double meet = 63 + (level - narrow.at("warp_tile")) / per_tap;
    INFO(length << " cells: they meet at " << meet << " taps");
    for (int taps = 33; taps <= 1023; taps += 2) {
      CHECK(choose_signal_kernel(taps, length) == (taps <= meet ? "warp_tile" : "overlap_save"));
    }
  }
}
