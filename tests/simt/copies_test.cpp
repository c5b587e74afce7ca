// Asynchronous copies: the data arrive, and the traffic is a global load and a shared store.
#include "kernels/copies.hpp"

#include <algorithm>
#include <string>

#include "common/simt/simulator.hpp"
#include "launches.hpp"
#include "markers.hpp"
#include "tests/catch.hpp"

TEST_CASE("an asynchronous copy is counted as a global load and a shared store", "[copies]") {
  const auto index = static_cast<std::size_t>(GENERATE(range(0, 8)));
  REQUIRE(copies::cases().size() == 8);
  const copies::Case& one = copies::cases()[index];
  INFO(one.name);
  const simt::Launch launch = last_launch_of([&] { CHECK(one.run()); });
  CHECK(launch.findings.empty());
  const int line = line_of("copies.cu", std::string("COUNTED ") + one.name);
  const auto found =
      std::find_if(launch.lines.begin(), launch.lines.end(), [&](const simt::LineCounters& l) {
        return l.line == line && is_kernel_file(l.file, "copies.cu");
      });
  REQUIRE(found != launch.lines.end());
  simt::Counters expected;
  expected.global_load_requests = static_cast<std::uint64_t>(one.load_requests);
  expected.global_load_sectors = static_cast<std::uint64_t>(one.load_sectors);
  expected.shared_store_requests = static_cast<std::uint64_t>(one.store_requests);
  expected.shared_store_wavefronts = static_cast<std::uint64_t>(one.store_wavefronts);
  expected.shared_store_conflicts = static_cast<std::uint64_t>(one.store_conflicts);
  for (const simt::CounterField& field : simt::counter_fields()) {
    INFO(field.name);
    CHECK(found->counters.*field.member == expected.*field.member);
  }
}

TEST_CASE("copies arrive without any check", "[copies]") {
  const RestoreChecks restore;
  simt::simulator()->set_checks("none");
  for (const copies::Case& one : copies::cases()) {
    INFO(one.name);
    CHECK(one.run());
  }
}
