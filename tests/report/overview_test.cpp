// A run of many stages in a few lines; tables that are wider than the terminal.
#include "common/report/overview.hpp"

#include <algorithm>
#include <cstdlib>
#include <sstream>

#include "common/report/row_tables.hpp"
#include "common/report/terminal.hpp"
#include "tests/catch.hpp"

namespace {

using namespace halo;
using halo::test::contains;

Row checked(const std::string& stage, const std::string& variant, double bytes) {
  Row row;
  row.stage = stage;
  row.backend = "sim";
  row.variant = variant;
  row.source = "stages/" + stage + "/" + variant + ".cu";
  row.problem = {{"length", std::int64_t{100}}};
  row.check = {Outcome::good, "", 47, 0.5, 46};
  row.hazards.outcome = Outcome::good;
  row.traffic.outcome = Outcome::good;
  row.traffic.bytes_per_output_counted = bytes;
  row.time.reason = "no GPU: the simulator counts traffic";
  return row;
}

Row refused(const std::string& stage, const std::string& variant, const std::string& reason) {
  Row row = checked(stage, variant, -1);
  row.check = {Outcome::not_run, reason, 2, 0.5, 2};
  row.hazards = {Outcome::not_run, reason, {}};
  row.traffic = {};
  row.traffic.reason = row.time.reason = reason;
  return row;
}

std::size_t widest(const std::string& text) {
  std::size_t width = 0;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) width = std::max(width, line.size());
  return width;
}

}  // namespace

TEST_CASE("a stage is one line: its variants, ok, and the fewest bytes an output takes") {
  const std::vector<Row> rows = {checked("04_conv1d_tiled_halo", "tiled_halo", 9.25),
                                 checked("04_conv1d_tiled_halo", "warp_tile", 8.36)};
  CHECK(render_stage_line(rows) ==
        "04 conv1d_tiled_halo           2 variants  ok  8.36 bytes/output, warp_tile\n");
  // What has no room is said shorter.
  CHECK(render_stage_line(rows, {.width = 70}) ==
        "04 conv1d_tiled_halo           2 variants  ok  8.36 bytes/output\n");
  CHECK(render_stage_line(rows, {.width = 40}) ==
        "04 conv1d_tiled_halo           2 variants  ok\n");
}

TEST_CASE("where times were measured the figure is the fastest and its share of the roof") {
  Row slow = checked("01_conv1d_cpu", "loop", -1);
  slow.backend = "cpu";
  slow.time = {};
  slow.time.outcome = Outcome::good;
  slow.time.hot.median_ms = 2;
  slow.time.gb_per_s = 9;
  Row fast = slow;
  fast.variant = "shared_loads";
  fast.time.hot.median_ms = 1;
  fast.time.gb_per_s = 18.5;
  fast.time.share_of_copy = 0.9;
  CHECK(render_stage_line({slow, fast}) ==
        "01 conv1d_cpu                  2 variants  ok  fastest shared_loads 18.5 GB/s, 90 % of a "
        "copy\n");
  fast.time.share_of_fp32 = 0.95;
  fast.time.gflop_per_s = 600;
  CHECK_THAT(render_stage_line({slow, fast}), contains("600 GFLOP/s, 95 % of fp32"));
}

TEST_CASE("a stage that fails names what failed, and shows it") {
  Row bad = checked("04_conv1d_tiled_halo", "tiled_halo", 9.25);
  bad.check.outcome = Outcome::bad;
  bad.check.reason = "length 5: output[4] is wrong";
  const std::vector<Row> rows = {bad, checked("04_conv1d_tiled_halo", "warp_tile", 8.36)};
  const std::string line = render_stage_line(rows);
  CHECK_THAT(line, contains("2 variants  FAIL  tiled_halo\n") && contains("output[4] is wrong"));
  CHECK_THAT(render_sum(rows, 1), contains("FAIL: 04; of 1 stage, 2 variants, 94 shapes, 1.0 s") &&
                                      !contains("all good") && !contains("0 hazards"));
}

TEST_CASE("the sum counts what ran, and tells once what did not and why") {
  const std::vector<Row> rows = {
      checked("04_conv1d_tiled_halo", "tiled_halo", 9.25),
      checked("06_conv2d_direct", "channels", 50),
      refused("06_conv2d_direct", "one_channel", "it knows no padding"),
      refused("13_network", "nchw", "too large for the simulator: 1,000 products"),
      refused("13_network", "chwn", "too large for the simulator: 2,000 products"),
  };
  CHECK(render_sum(rows, 40) ==
        "all good: 2 stages, 2 variants, 94 shapes, 0 hazards, traffic as predicted, 40 s\n"
        "NOT RUN times: no GPU\n"
        "NOT RUN 06 one_channel: it knows no padding\n"
        "NOT RUN 13 nchw, 13 chwn: too large for the simulator\n");
  CHECK_THAT(render_sum({rows[2]}, 1), contains("NOT RUN nothing could be run"));
  // Of what is too large to be run some blocks are.
  std::vector<Row> large = {rows[0], rows[1]};
  large[0].check.large = {2, "length 2,147,479,551 (26 of 8,388,592 blocks)", ""};
  large[1].check.large = {0, "", "its one block computes everything"};
  CHECK_THAT(
      render_sum(large, 40),
      contains("94 shapes (a few blocks of 2 near 2^31 cells), 0 hazards") &&
          contains("NOT RUN 06 channels near 2^31 cells: its one block computes everything"));
  CHECK_THAT(render_stage_line({rows[2]}), contains("0 variants  NOT RUN: it knows no padding"));
}

TEST_CASE("what is wider than the terminal is folded, and its notes are broken between words") {
  Row row = checked("04_conv1d_tiled_halo", "tiled_halo", 9.25);
  row.traffic.sectors_per_request = 4.67;
  row.traffic.shared_conflicts = 0;
  Row other = refused("04_conv1d_tiled_halo", "warp_tile",
                      "it is made for masks of up to fifteen taps, and of more it knows nothing");
  const std::string wide = render_table({row, other});
  const std::string folded = render_table({row, other}, {.width = 60});
  CHECK(widest(wide) > 90);
  CHECK(widest(folded) <= 60);
  // Each part begins with the row's name, and nothing is lost.
  std::istringstream in(folded);
  int named = 0;
  for (std::string line; std::getline(in, line);) {
    named += line.starts_with("04     tiled_halo  ");
  }
  CHECK(named == 3);
  CHECK_THAT(folded, contains("9.25") && contains("4.67") &&
                         contains("\n  taps, and of more it knows nothing"));
  CHECK(render_table({row, other}, {.format = Format::markdown, .width = 60}) ==
        render_table({row, other}, {.format = Format::markdown}));
}

TEST_CASE("lines are broken between words and keep their own ends") {
  CHECK(wrapped("one two three", {.width = 8}) == "one two\n  three");
  CHECK(wrapped("one two three", {}) == "one two three");
  CHECK(wrapped("a verylongwordthatfits nowhere", {.width = 10}) ==
        "a\n  verylongwordthatfits\n  nowhere");
  CHECK(wrapped("one\ntwo three", {.width = 9}) == "one\ntwo three");
  CHECK(wrapped("two three", {.width = 9}, "", 4) == "two\nthree");
}

TEST_CASE("the width is COLUMNS, else the terminal's, else 80") {
  const char* const before = std::getenv("COLUMNS");
  const std::string saved = before == nullptr ? "" : before;
  std::FILE* const file = std::tmpfile();
  const auto width = [&](const char* columns) {
    setenv("COLUMNS", columns, 1);
    return terminal_width(file);
  };
  CHECK(width("132") == 132);
  CHECK(width("0") == 0);
  CHECK(width("3") == 20);
  CHECK(width("wide") == 80);
  CHECK(width("-5") == 80);
  CHECK(width("") == 80);
  std::fclose(file);
  saved.empty() ? unsetenv("COLUMNS") : setenv("COLUMNS", saved.c_str(), 1);
}

TEST_CASE("what was not run says what was tried, and a table of nothing else has no rows") {
  const Row row = refused("06_conv2d_direct", "one_channel", "it knows no padding");
  CHECK(render_table({row}) ==
        "On the simulator: length 100\n"
        "NOT RUN one_channel: it knows no padding (its own trials: 2 shapes, all right)\n");
}
