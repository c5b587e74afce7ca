// Which lines of kernels ran, and which did not.
#include "kernels/coverage.hpp"

#include <algorithm>
#include <fstream>
#include <set>
#include <string>

#include "common/simt/simulator.hpp"
#include "markers.hpp"
#include "tests/catch.hpp"

namespace {

// The lines of the kernels that were launched since the last call: all, and those that were not reached.
struct Lines {
  std::set<int> all;
  std::set<int> unreached;
};

Lines lines_of_launched(const simt::Coverage& coverage, const std::string& file) {
  Lines lines;
  for (const simt::FileCoverage& one : coverage.files) {
    if (!is_kernel_file(one.file, file)) continue;
    for (const simt::LineCoverage& line : one.lines) {
      if (!line.launched) continue;
      lines.all.insert(line.line);
      if (!line.reached) lines.unreached.insert(line.line);
    }
  }
  return lines;
}

std::set<int> unreached(const std::string& file = "coverage.cu") {
  return lines_of_launched(simt::simulator()->take_coverage(), file).unreached;
}

// The lines that end in `// <marker>`.
std::set<int> marked(const std::string& marker, const std::string& file = "coverage.cu") {
  std::ifstream in(std::string(SIMT_TEST_KERNELS) + "/" + file);
  std::set<int> lines;
  std::string text;
  for (int line = 1; std::getline(in, text); ++line) {
    if (text.ends_with("// " + marker)) lines.insert(line);
  }
  REQUIRE(!lines.empty());
  return lines;
}

std::uint64_t launches_of(const simt::Coverage& coverage, const std::string& kernel) {
  const auto found = std::find_if(coverage.kernels.begin(), coverage.kernels.end(),
                                  [&](const simt::KernelCoverage& one) {
                                    return one.kernel.find(kernel) != std::string::npos;
                                  });
  REQUIRE(found != coverage.kernels.end());
  return found->launches;
}

}  // namespace

TEST_CASE("the side of a branch that no thread took was not reached", "[coverage]") {
  simt::simulator()->take_coverage();
  coverage::run_one_side_of_a_branch(true);
  CHECK(unreached() == marked("OTHER"));
  coverage::run_one_side_of_a_branch(false);
  CHECK(unreached() == marked("TAKEN"));
  coverage::run_one_side_of_a_branch(true);
  coverage::run_one_side_of_a_branch(false);
  CHECK(unreached().empty());
}

TEST_CASE("the body of a loop that never turned was not reached, its head was", "[coverage]") {
  simt::simulator()->take_coverage();
  coverage::run_loop(0);
  CHECK(unreached() == marked("BODY"));
  coverage::run_loop(1);
  CHECK(unreached().empty());
}

TEST_CASE("what was computed ahead of a loop does not make its body reached", "[coverage]") {
  simt::simulator()->take_coverage();
  coverage::run_hoisted(0);
  CHECK(unreached() == marked("HOISTED"));
  coverage::run_hoisted(1);
  CHECK(unreached().empty());
}

TEST_CASE("a template's line is reached if one instantiation reaches it", "[coverage]") {
  simt::simulator()->take_coverage();
  coverage::run_template(true);
  simt::Coverage ran = simt::simulator()->take_coverage();
  CHECK(lines_of_launched(ran, "coverage.cu").unreached.empty());
  CHECK(launches_of(ran, "instantiated<true>") == 1);
  CHECK(launches_of(ran, "instantiated<false>") == 0);
  // The other's own line is known, as one that no launch could reach.
  for (const simt::FileCoverage& file : ran.files) {
    if (!is_kernel_file(file.file, "coverage.cu")) continue;
    for (const simt::LineCoverage& line : file.lines) {
      if (marked("FIRST").contains(line.line)) CHECK((!line.reached && !line.launched));
      if (marked("SECOND").contains(line.line)) CHECK((line.reached && line.launched));
      if (marked("BOTH").contains(line.line)) CHECK((line.reached && line.launched));
    }
  }
}

TEST_CASE("device functions belong to the kernels that call them, inlined or not", "[coverage]") {
  simt::simulator()->take_coverage();
  coverage::run_helpers(false);
  CHECK(unreached() == marked("APART"));
  coverage::run_helpers(true);
  CHECK(unreached() == marked("INSIDE"));
}

TEST_CASE("lines of an included file are told with its name", "[coverage]") {
  simt::simulator()->take_coverage();
  coverage::run_included(0);
  CHECK(unreached("coverage.cuh") == marked("LARGE", "coverage.cuh"));
  coverage::run_included(2);
  CHECK(unreached("coverage.cuh") == marked("SMALL", "coverage.cuh"));
}

TEST_CASE("only lines with code count, and each launch is counted", "[coverage]") {
  simt::simulator()->take_coverage();
  coverage::run_loop(3);
  coverage::run_loop(2);
  const simt::Coverage ran = simt::simulator()->take_coverage();
  CHECK(launches_of(ran, "loop(") == 2);
  const Lines lines = lines_of_launched(ran, "coverage.cu");
  const std::set<int> body = marked("BODY");
  CHECK(std::includes(lines.all.begin(), lines.all.end(), body.begin(), body.end()));
  CHECK(lines.all.size() <= 7);  // of the kernel's eight
  // Nothing since.
  const simt::Coverage nothing = simt::simulator()->take_coverage();
  CHECK(lines_of_launched(nothing, "coverage.cu").all.empty());
  CHECK(launches_of(nothing, "loop(") == 0);
}

TEST_CASE("a branch that went one way, and a loop that turned once, are told", "[coverage]") {
  const auto untaken = [](const std::set<int>& lines) {
    int ways = 0;
    for (const simt::FileCoverage& file : simt::simulator()->take_coverage().files) {
      if (!is_kernel_file(file.file, "coverage.cu")) continue;
      for (const simt::BranchCoverage& way : file.branches) {
        if (lines.contains(way.line) && !way.taken) ++ways;
      }
    }
    return ways;
  };
  simt::simulator()->take_coverage();
  coverage::run_conditional_expression(false);
  CHECK(untaken(marked("EXPRESSION")) == 1);
  coverage::run_conditional_expression(true);
  CHECK(untaken(marked("EXPRESSION")) == 1);
  coverage::run_conditional_expression(false);
  coverage::run_conditional_expression(true);
  CHECK(untaken(marked("EXPRESSION")) == 0);

  coverage::run_loop(1);
  CHECK(untaken(marked("LOOP")) == 1);
  coverage::run_loop(2);
  CHECK(untaken(marked("LOOP")) == 0);
  // A loop that is not entered says that with its lines.
  coverage::run_loop(0);
  CHECK(untaken(marked("LOOP")) == 0);

  // An if without an else; inside a loop that the compiler unrolls, one copy's way is all copies' way.
  coverage::run_unrolled(4);
  CHECK(untaken(marked("WITHIN")) == 1);
  coverage::run_unrolled(2);
  CHECK(untaken(marked("WITHIN")) == 0);
  coverage::run_unrolled(0);
  CHECK(unreached() == marked("UNROLLED"));
}

TEST_CASE("without checks nothing is recorded", "[coverage]") {
  simt::simulator()->take_coverage();
  simt::simulator()->set_checks("none");
  coverage::run_loop(1);
  simt::simulator()->set_checks("all");
  const simt::Coverage ran = simt::simulator()->take_coverage();
  CHECK(launches_of(ran, "loop(") == 0);
  CHECK(lines_of_launched(ran, "coverage.cu").all.empty());
}
