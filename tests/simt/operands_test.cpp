// Accesses that are operands of calls are counted and checked as all others are.
#include "kernels/operands.hpp"

#include <cuda_runtime.h>

#include <algorithm>

#include "common/simt/simulator.hpp"
#include "markers.hpp"
#include "tests/catch.hpp"

namespace {

simt::Launch launch_of(void (*run)()) {
  cudaDeviceReset();  // an error of the case before must not be this one's
  simt::simulator()->take_launches();
  run();
  std::vector<simt::Launch> launches = simt::simulator()->take_launches();
  REQUIRE(launches.size() == 1);
  return std::move(launches[0]);
}

}  // namespace

TEST_CASE("structures that functions take and return are counted", "[operands]") {
  for (const operands::Case& one : operands::counted()) {
    INFO(one.name);
    const simt::Launch launch = launch_of(one.run);
    CHECK(launch.findings.empty());
    CHECK(launch.counters.global_load_requests == static_cast<std::uint64_t>(one.loads));
    CHECK(launch.counters.global_load_sectors == static_cast<std::uint64_t>(one.load_sectors));
    CHECK(launch.counters.global_store_requests == static_cast<std::uint64_t>(one.stores));
    CHECK(launch.counters.global_store_sectors == static_cast<std::uint64_t>(one.store_sectors));
    CHECK(launch.counters.shared_store_requests == static_cast<std::uint64_t>(one.shared_stores));
  }
}

TEST_CASE("hazards by what functions take and return are found", "[operands]") {
  for (const operands::Planted& one : operands::planted()) {
    INFO(one.name);
    const simt::Launch launch = launch_of(one.run);
    const int line = line_of("operands.cu", "BUG " + one.name);
    CHECK(std::any_of(launch.findings.begin(), launch.findings.end(), [&](const auto& finding) {
      return finding.kind == one.finding && (finding.line == line || finding.other_line == line) &&
             is_kernel_file(finding.file, "operands.cu");
    }));
    for (const simt::Finding& finding : launch.findings) {
      INFO(finding.kind << " " << finding.file << ":" << finding.line);
      CHECK((finding.kind == one.finding || finding.kind == "uninitialized_shared_read"));
    }
  }
  cudaDeviceReset();
}

TEST_CASE("functions that call each other have their values at each call", "[operands]") {
  CHECK(operands::calls_by_turns_return_the_same());
}

TEST_CASE("a kernel's clock() grows", "[operands]") {
  const std::vector<long> clocks = operands::clocks();
  REQUIRE(clocks.size() == 2);
  CHECK(clocks[1] > clocks[0]);
}
