// What tests of the simulator do around the kernels that they run.
#pragma once

#include <string>
#include <vector>

#include "common/simt/simulator.hpp"
#include "markers.hpp"
#include "tests/catch.hpp"

/// The last launch of what `run` does.
template <typename Run>
simt::Launch last_launch_of(Run run) {
  simt::simulator()->take_launches();
  run();
  const std::vector<simt::Launch> launches = simt::simulator()->take_launches();
  REQUIRE(!launches.empty());
  return launches.back();
}

/// All checks are on again where its scope ends.
struct RestoreChecks {
  ~RestoreChecks() { simt::simulator()->set_checks("all"); }
};

/// A kernel that is right computes what it must, and nothing is said of it.
template <typename Case>
void check_right(const Case& one) {
  INFO(one.name);
  const simt::Launch launch = last_launch_of([&] { CHECK(one.run()); });
  for (const simt::Finding& finding : launch.findings) {
    UNSCOPED_INFO(finding.line << ": " << finding.kind << ": " << finding.message);
  }
  CHECK(launch.findings.empty());
}

/// The mistake of a kernel in `file` is found where it was made; a launch that is its other party has a mark of its own.
template <typename Bug>
void check_bug(const Bug& bug, const std::string& file) {
  INFO(bug.name);
  const simt::Launch launch = last_launch_of(bug.run);
  for (const simt::Finding& finding : launch.findings) {
    UNSCOPED_INFO(finding.line << ": " << finding.kind << " of " << finding.array << ": "
                               << finding.message << " (" << finding.other_line << ")");
  }
  CHECK(!launch.findings.empty());
  for (const simt::Finding& finding : launch.findings) {
    CHECK(finding.kind == bug.kind);
    CHECK(is_kernel_file(finding.file, file));
    CHECK(finding.line == line_of(file, std::string("BUG ") + bug.name));
    if (bug.array != nullptr) CHECK(finding.array == bug.array);
    if (bug.has_other) {
      const bool is_launch = bug.kind == std::string("unordered_launches");
      CHECK(finding.other_line ==
            line_of(file, std::string("OTHER ") + (is_launch ? "launched" : bug.name)));
    }
  }
}
