// The rules of the counters, one small kernel each, and the figures per source line.
#include <cuda_runtime.h>

#include <algorithm>
#include <stdexcept>
#include <tuple>

#include "common/simt/simulator.hpp"
#include "counted.hpp"
#include "kernels/bank_patterns.hpp"
#include "markers.hpp"
#include "tests/catch.hpp"

namespace {

const CountedCase& case_named(const std::vector<CountedCase>& cases, const std::string& name) {
  for (const CountedCase& one : cases) {
    if (one.name == name) return one;
  }
  throw std::runtime_error("no case " + name);
}

// The counters of the marked line; all zero if the launch has none there.
simt::Counters at_line(const simt::Launch& launch, const std::string& file,
                       const std::string& marker) {
  const int line = line_of(file, marker);
  simt::Counters found;
  for (const simt::LineCounters& one : launch.lines) {
    if (one.line == line && is_kernel_file(one.file, file)) found += one.counters;
  }
  return found;
}

simt::Launch only_launch() {
  std::vector<simt::Launch> launches = simt::simulator()->take_launches();
  REQUIRE(launches.size() == 1);
  return launches[0];
}

}  // namespace

TEST_CASE("memory shapes", "[counters]") {
  const CountedCase one = GENERATE(from_range(memory_shape_cases()));
  check_case(one);
}

TEST_CASE("control flow", "[counters]") {
  const CountedCase one = GENERATE(from_range(control_path_cases()));
  check_case(one);
}

TEST_CASE("figures per source line", "[counters]") {
  const char* file = "control_paths.cu";
  const simt::Launch branches = check_case(case_named(control_path_cases(), "if_else"));
  CHECK(at_line(branches, file, "LINE if-branch").global_load_requests == 1);
  CHECK(at_line(branches, file, "LINE if-branch").global_load_sectors == 4);
  CHECK(at_line(branches, file, "LINE else-branch").global_load_requests == 1);
  CHECK(at_line(branches, file, "LINE after-branches").global_store_requests == 1);
  CHECK(at_line(branches, file, "LINE after-branches").global_load_requests == 0);
  CHECK(branches.lines.size() == 3);
  CHECK(std::is_sorted(branches.lines.begin(), branches.lines.end(),
                       [](const simt::LineCounters& a, const simt::LineCounters& b) {
                         return std::tie(a.file, a.line) < std::tie(b.file, b.line);
                       }));
}

TEST_CASE("a load in a helper counts at the helper's line", "[counters]") {
  const simt::Launch inlined = check_case(case_named(control_path_cases(), "inline_helper_twice"));
  CHECK(at_line(inlined, "helper_loads.hpp", "LINE inline-helper").global_load_requests == 2);
  const simt::Launch called = check_case(case_named(control_path_cases(), "continue_and_helper"));
  CHECK(at_line(called, "helper_loads.hpp", "LINE noinline-helper").global_load_requests == 8);
}

TEST_CASE("a function of CUDA counts at its caller's line", "[counters]") {
  const simt::Launch read = check_case(case_named(memory_shape_cases(), "read_only_cache"));
  CHECK(at_line(read, "memory_shapes.cu", "LINE ldg").global_load_requests == 1);
  const simt::Launch atomic =
      check_case(case_named(memory_shape_cases(), "atomic_global_distinct"));
  CHECK(at_line(atomic, "memory_shapes.cu", "LINE atomic").global_atomic_requests == 1);
}

TEST_CASE("shared memory as an H200 serves it", "[counters]") {
  using bank_patterns::Measured;
  const std::vector<Measured> table =
      bank_patterns::read_measured(std::string(SIMT_TEST_KERNELS) + "/bank_patterns.csv");
  CHECK(table.size() > 300);
  std::vector<int> widths;
  for (const Measured& row : table) {
    INFO((row.store ? "store of " : "load of ")
         << row.element_bytes << " bytes, pattern " << row.name);
    cudaDeviceReset();
    simt::simulator()->take_launches();
    CHECK((row.store ? bank_patterns::run_store(row.element_bytes, row.cells)
                     : bank_patterns::run_load(row.element_bytes, row.cells)));
    const simt::Launch launch = only_launch();
    const simt::Counters& c = launch.counters;
    CHECK(launch.findings.empty());
    CHECK((row.store ? c.shared_store_requests : c.shared_load_requests) == 1);
    CHECK((row.store ? c.shared_store_wavefronts : c.shared_load_wavefronts) ==
          static_cast<std::uint64_t>(row.wavefronts));
    CHECK((row.store ? c.shared_store_conflicts : c.shared_load_conflicts) ==
          static_cast<std::uint64_t>(row.conflicts));
    widths.push_back(row.element_bytes);
  }
  for (int width : {1, 2, 4, 8, 16}) CHECK(std::count(widths.begin(), widths.end(), width) > 20);
}
