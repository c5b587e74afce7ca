// A failure as it is shown: the lines of the program, the smallest shape, and the command.
#include <filesystem>
#include <fstream>

#include "common/report/json.hpp"
#include "common/report/text.hpp"
#include "tests/catch.hpp"
#include "tests/folder.hpp"

namespace {

using namespace halo;
using halo::test::contains;
namespace fs = std::filesystem;

// A repository with one kernel.
class Sources {
 public:
  Sources() {
    fs::create_directories(folder_ / "stages/04_tiled");
    folder_.write(
        "stages/04_tiled/tiled.cu",
        "__global__ void kernel() {\n"
        "  tile[s] = input[k];  // a comment that is longer than the room which is left for it\n"
        "  __syncwarp();\n"
        "  sum += tile[t + j] * mask[j];\n"
        "}\n");
  }
  TableOptions options(int width = 80) const { return {.width = width, .source = folder_.path()}; }

 private:
  test::Folder folder_;
};

Row wrong() {
  Row row;
  row.stage = "04_tiled";
  row.backend = "sim";
  row.variant = "tiled";
  row.source = "stages/04_tiled/tiled.cu";
  row.problem = {{"length", std::int64_t{100}}};
  row.check.outcome = Outcome::bad;
  row.check.reason = "length 1, mask 9: FAIL: 1 of 1 outputs are wrong";
  row.check.shapes = 46;
  row.check.diagnosis = {
      "length 1, mask 9, 256 threads",
      "output[0]",
      "nan",
      "-10934",
      "every wrong output is NaN",
      46,
      44,
      "right: mask 1 only",
      "./halo run 04 --variant tiled --length 1 --mask 9 --threads 256 --data exact "
      "--no-trials --seed 7"};
  return row;
}

Hazard race() {
  Hazard hazard;
  hazard.kind = "race";
  hazard.file = hazard.other_file = "stages/04_tiled/tiled.cu";
  hazard.line = 2;
  hazard.other_line = 4;
  hazard.thread = {1, 0, 0};
  hazard.array = "tile";
  hazard.count = 5230;
  hazard.message =
      "thread (1,0,0) of block (0,0,0) writes tile, which is read, without a barrier between, by "
      "thread (0,0,0) at ../x/stages/04_tiled/tiled.cu:4. Put a __syncthreads() between the two.";
  return hazard;
}

}  // namespace

TEST_CASE("a line in which two threads race is quoted once") {
  const Sources sources;
  Row row = wrong();
  row.hazards.outcome = Outcome::bad;
  row.hazards.findings = {race()};
  row.hazards.findings[0].other_line = 2;
  const std::string text = all_faults({row}, sources.options());
  const std::size_t first = text.find("    2 |   tile[s] = input[k];");
  CHECK(first != std::string::npos);
  CHECK(text.find("    2 |", first + 1) == std::string::npos);
}

TEST_CASE("a failure shows the lines, what was seen, the smallest shape and the command") {
  const Sources sources;
  Row row = wrong();
  row.hazards.outcome = Outcome::bad;
  row.hazards.reason = "first with length 1";
  row.hazards.findings = {race()};
  const std::string text = all_faults({row}, sources.options());
  CHECK(text ==
        "\n"
        "04 tiled  FAIL  race; 44 of 46 shapes wrong (right: mask 1 only)\n"
        "race: tile, 5,230 times\n"
        "  stages/04_tiled/tiled.cu\n"
        "    2 |   tile[s] = input[k];  thread 1 of block 0\n"
        "    4 |   sum += tile[t + j] * mask[j];\n"
        "  thread (1,0,0) of block (0,0,0) writes tile, which is read, without a barrier\n"
        "  between, by thread (0,0,0)\n"
        "  try: Put a __syncthreads() between the two.\n"
        "  first with length 1\n"
        "numbers, smallest wrong shape (length 1, mask 9, 256 threads): output[0] is nan,\n"
        "  should be -10934\n"
        "  every wrong output is NaN\n"
        "again: ./halo run 04 --variant tiled --length 1 --mask 9 --threads 256 --data exact "
        "--no-trials --seed 7\n");
  std::string& message = row.hazards.findings[0].message;
  message.replace(message.find("../x"), 4, "/my course");
  CHECK(all_faults({row}, sources.options()) == text);
}

TEST_CASE(
    "of a function the line that calls it comes first, and its own only if it can be the one") {
  const Sources sources;
  Row row = wrong();
  row.hazards.outcome = Outcome::bad;
  row.hazards.findings = {race()};
  Hazard& hazard = row.hazards.findings[0];
  hazard.other_file.clear();
  hazard.call_file = hazard.file;
  hazard.call_line = 4;
  CHECK_THAT(all_faults({row}, sources.options()),
             contains("    4 |   sum += tile[t + j] * mask[j];  thread 1 of block 0\n"
                      "    2 |   tile[s] = input[k];  called there\n"));
  hazard.line = 3;
  CHECK_THAT(all_faults({row}, sources.options()),
             contains("    4 |   sum += tile[t + j] * mask[j];  thread 1 of block 0\n"
                      "  thread (1,0,0) of block (0,0,0) writes tile"));
}

TEST_CASE("a barrier that not all reach is told before the races that it makes") {
  Row row = wrong();
  row.hazards.outcome = Outcome::bad;
  row.hazards.findings = {race(), race()};
  row.hazards.findings[1].kind = "missed_barrier";
  const std::string text = all_faults({row}, {});
  CHECK(text.find("missed barrier: tile") < text.find("race: tile"));
}

TEST_CASE("a copy that the host asked for is no thread's, one of a kernel's is") {
  const Sources sources;
  Row row = wrong();
  row.hazards.outcome = Outcome::bad;
  row.hazards.findings = {race()};
  Hazard& hazard = row.hazards.findings[0];
  hazard.kind = "invalid_copy";
  hazard.other_file.clear();
  const std::string of_thread = "    2 |   tile[s] = input[k];  thread 1 of block 0\n";
  CHECK_THAT(all_faults({row}, sources.options()), contains(of_thread));
  hazard.message =
      "cudaMemcpyHostToDevice, but the destination is a host pointer. Turn them round.";
  CHECK_THAT(all_faults({row}, sources.options()),
             contains("    2 |   tile[s] = input[k]") && !contains("thread 1"));
}

TEST_CASE("where the source cannot be read the place is named") {
  Row row = wrong();
  row.hazards.outcome = Outcome::bad;
  row.hazards.findings = {race()};
  const std::string text = all_faults({row}, {.source = "/nowhere"});
  CHECK_THAT(text, contains("  stages/04_tiled/tiled.cu:2  thread 1 of block 0\n"
                            "  stages/04_tiled/tiled.cu:4\n"));
}

TEST_CASE("wrong numbers name the kernel's file, and an output that was never written says so") {
  Row row = wrong();
  row.check.diagnosis.found = "never written";
  const std::string text = all_faults({row}, {});
  CHECK_THAT(text, contains("FAIL  44 of 46 shapes wrong (right: mask 1 only)\n"
                            "  stages/04_tiled/tiled.cu\n") &&
                       contains("output[0] was never written, should be -10934"));
}

TEST_CASE("a failure that nobody looked into says its reason") {
  Row row = wrong();
  row.check.diagnosis = {};
  CHECK_THAT(all_faults({row}, {}), contains("FAIL  wrong results\n") &&
                                        contains("length 1, mask 9: FAIL: 1 of 1 outputs"));
  row.check.crash = "signal 11 (Segmentation fault)";
  CHECK_THAT(all_faults({row}, {}),
             contains("04 tiled  CRASHED  signal 11 (Segmentation fault)\n"));
}

TEST_CASE("a flood of findings is counted, and what a kernel prints is told with its total") {
  Row row = wrong();
  row.hazards.outcome = Outcome::bad;
  for (int i = 0; i < 20; ++i) {
    row.hazards.findings.push_back(race());
    row.hazards.findings.back().line = i + 1;
  }
  row.printed = {"length 1", {"debug 1.0", "debug 2.0"}, 94};
  const std::string text = all_faults({row}, {});
  CHECK_THAT(text, contains("and 14 more findings") &&
                       contains("printed by the kernel with length 1 (first 2 of 94 lines; all "
                                "of them: --show-output):\n"
                                "  debug 1.0\n  debug 2.0\n"));
  Row right = wrong();
  right.check = {};
  right.check.outcome = Outcome::good;
  CHECK(all_faults({right}, {}).empty());
  right.printed = row.printed;
  CHECK_THAT(all_faults({right}, {}),
             contains("04 tiled  printed by the kernel") && !contains("FAIL"));
}

TEST_CASE("what fails with several problems is told once, with the names of the others") {
  Row row = wrong();
  Row other = wrong();
  other.label = "28-1-3-16-1";
  Row another = wrong();
  another.variant = "another";
  const std::string text = all_faults({row, another, other}, {});
  CHECK_THAT(text, contains("also with 28-1-3-16-1\n"));
  CHECK(text.find("04 tiled  FAIL") == text.rfind("04 tiled  FAIL"));
  CHECK_THAT(text, contains("04 another  FAIL"));
  // A finding of its own is not lost.
  other.hazards.outcome = Outcome::bad;
  other.hazards.findings = {race()};
  CHECK_THAT(all_faults({row, other}, {}), contains("race: tile") && !contains("also with"));
}

TEST_CASE("a diagnosis comes back from JSON as it went") {
  Row row = wrong();
  row.check.crash = "no sign of life for 300 s";
  row.check.large = {2, "length 2,147,479,551 (26 of 8,388,592 blocks)", "it is 2 launches"};
  Results results;
  results.rows = {row};
  const Row back = results_from_json(to_json(results), "here").rows.at(0);
  CHECK(back.check.diagnosis == row.check.diagnosis);
  CHECK(back.check.crash == row.check.crash);
  CHECK(back.check.large == row.check.large);
}
