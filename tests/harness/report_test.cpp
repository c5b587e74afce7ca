// Rows as text and JSON, and what they say of a run.
#include "common/harness/report.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>

#include "common/harness/terminal.hpp"
#include "tests/catch.hpp"

using namespace halo;
using test::Approx;
using test::contains;

namespace {

Row good_row() {
  Row row;
  row.stage = "04_conv1d_tiled_halo";
  row.backend = "sim";
  row.variant = "tiled_halo";
  row.source = "stages/04_conv1d_tiled_halo/tiled_halo.cu";
  row.description = "the block loads \"tile\" and halo";
  row.task = 4;
  row.problem = {{"length", std::int64_t{100000}},
                 {"mask_width", std::int64_t{9}},
                 {"threads", std::int64_t{256}},
                 {"border", std::string("zero")}};
  row.check = {Outcome::good, "", 47, 0.41};
  row.hazards.outcome = Outcome::good;
  row.traffic.outcome = Outcome::good;
  row.traffic.predicted = {{"global_load_requests", 3516}, {"global_load_sectors", 16405}};
  row.traffic.counted = row.traffic.predicted;
  row.traffic.bytes_per_output_predicted = 9.2496;
  row.traffic.bytes_per_output_counted = 9.2496;
  row.traffic.sectors_per_request = 4.67;
  row.traffic.shared_conflicts = 0;
  row.time.reason = "no GPU";
  return row;
}

Row bad_row() {
  Row row = good_row();
  row.variant = "broken";
  row.check = {Outcome::bad, "length 33, mask 3, 16 threads: fail\n  output[32] is NaN", 3,
               std::numeric_limits<double>::infinity()};
  row.hazards.outcome = Outcome::bad;
  row.hazards.reason = "first with length 33";
  row.hazards.findings.push_back({"race",
                                  "a.cu",
                                  12,
                                  "a.cu",
                                  14,
                                  {1, 0, 0},
                                  {5, 0, 0},
                                  "tile",
                                  7,
                                  "two threads touch tile[3] with no barrier between"});
  row.traffic.outcome = Outcome::bad;
  row.traffic.reason = "length 33";
  row.traffic.counted[1].second = 99999;
  return row;
}

Row timed(const std::string& backend, const std::string& variant, std::int64_t length, double ms,
          double transfers = -1) {
  Row row = good_row();
  row.backend = backend;
  row.variant = variant;
  row.problem[0].second = length;
  row.traffic = {};
  row.time = {};
  row.time.outcome = Outcome::good;
  row.time.rounds = 15;
  row.time.median_ms = ms;
  row.time.p10_ms = ms * 0.9;
  row.time.p90_ms = ms * 1.1;
  row.time.transfers_ms = transfers;
  return row;
}

std::filesystem::path temporary_folder() {
  std::string pattern = (std::filesystem::temp_directory_path() / "halo-test-XXXXXX").string();
  REQUIRE(mkdtemp(pattern.data()) != nullptr);
  return pattern;
}

std::vector<std::string> lines(const std::string& text) {
  std::vector<std::string> all;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) all.push_back(line);
  return all;
}

}  // namespace

TEST_CASE("JSON comes back as it went") {
  Results results;
  results.command = "04_conv1d_tiled_halo-sim --length \"1\"";
  results.date = "2024-01-02T03:04:05Z";
  results.seed = 0xFFFFFFFFFFFFFFFFu;
  results.machine = {"a CPU", "a GPU", "13.0", "13.0", "g++ 12"};
  results.rows = {good_row(), bad_row(), timed("gpu", "grid", 1000, 0.25, 1.5)};
  results.rows[2].time.ratio_to_previous = 1.25;

  const std::string text = to_json(results);
  const Results back = results_from_json(text, "here");
  CHECK(to_json(back) == text);
  CHECK(back.seed == results.seed);
  CHECK(back.machine.gpu == "a GPU");
  REQUIRE(back.rows.size() == 3);
  CHECK(back.rows[0].problem == results.rows[0].problem);
  CHECK(back.rows[0].traffic.counted == results.rows[0].traffic.counted);
  CHECK(back.rows[0].time.median_ms == -1);
  CHECK(back.rows[0].task == 4);
  CHECK(std::isinf(back.rows[1].check.worst_share));
  CHECK(back.rows[1].hazards.findings == results.rows[1].hazards.findings);
  CHECK(back.rows[1].check.outcome == Outcome::bad);
  CHECK(back.rows[2].time.transfers_ms == 1.5);
  CHECK(back.rows[2].time.ratio_to_previous == 1.25);
  CHECK(render_table(back.rows) == render_table(results.rows));
  CHECK_THAT(text, contains("\"schema_version\": 1"));
  CHECK_THAT(text, contains("\"status\": \"NOT RUN\""));
  CHECK_THAT(text, contains("\"median_ms\": null"));
}

TEST_CASE("what is no results file is refused in one line that names it") {
  const std::string good = to_json({"c", "d", 1, {}, {good_row()}});
  const std::string truncated = good.substr(0, good.size() / 2);
  std::string newer = good;
  newer.replace(newer.find("\"schema_version\": 1"), 19, "\"schema_version\": 2");
  std::string status = good;
  status.replace(status.find("PASS"), 4, "GOOD");
  for (const std::string& text :
       {std::string(), std::string("[]"), std::string("{}"), truncated, newer, status}) {
    INFO(text.substr(0, 60));
    try {
      results_from_json(text, "some.json");
      FAIL("accepted");
    } catch (const std::runtime_error& error) {
      CHECK_THAT(error.what(), contains("some.json"));
      CHECK(std::string(error.what()).find('\n') == std::string::npos);
    }
  }
  CHECK_THROWS(read_json("/nowhere/at/all.json"));
}

TEST_CASE("a JSON file is written whole or not at all") {
  const auto folder = temporary_folder();
  const std::string path = (folder / "out.json").string();
  write_json(path, {"first", "d", 1, {}, {good_row()}});
  CHECK(read_json(path).command == "first");
  write_json(path, {"second", "d", 1, {}, {good_row(), bad_row()}});
  CHECK(read_json(path).rows.size() == 2);
  CHECK(std::distance(std::filesystem::directory_iterator(folder), {}) == 1);
  CHECK_THROWS_AS(write_json((folder / "no/such/folder.json").string(), {}), std::runtime_error);
  CHECK_THROWS_AS(write_json(folder.string(), {}), std::runtime_error);
  std::filesystem::remove_all(folder);
}

TEST_CASE("the exit status says 0 only when something was checked and nothing is bad") {
  CHECK(exit_status({}) == 77);
  CHECK(exit_status({good_row()}) == 0);
  CHECK(exit_status({good_row(), bad_row()}) == 1);
  Row absent = good_row();
  absent.check = {Outcome::not_run, "missing", 0, 0};
  CHECK(exit_status({absent}) == 77);
  CHECK(exit_status({absent, good_row()}) == 0);
  for (const int column : {0, 1, 2, 3}) {
    Row row = good_row();
    if (column == 0) row.check.outcome = Outcome::bad;
    if (column == 1) row.hazards.outcome = Outcome::bad;
    if (column == 2) row.traffic.outcome = Outcome::bad;
    if (column == 3) row.time.outcome = Outcome::bad;
    INFO(column);
    CHECK(exit_status({good_row(), row}) == 1);
  }
}

TEST_CASE("the table says PASS, EQUAL and why a time is missing") {
  const std::string text = render_table({good_row()});
  CHECK_THAT(text, contains("On the simulator: length 100,000, mask width 9, threads 256"));
  CHECK_THAT(text, contains("PASS"));
  CHECK_THAT(text, contains("EQUAL"));
  CHECK_THAT(text, contains("none"));
  CHECK_THAT(text, contains("9.25"));
  CHECK_THAT(text, contains("NOT RUN time: no GPU"));
  CHECK_THAT(text, !contains("FAIL"));
  CHECK_THAT(text, !contains("\033"));
}

TEST_CASE("the table's columns stand in line, with colour too") {
  Row longer = good_row();
  longer.variant = "a_much_longer_name";
  longer.traffic.shared_conflicts = 126976;
  const auto plain = lines(render_table({good_row(), longer}));
  REQUIRE(plain.size() >= 4);
  const auto at = plain[1].find("check");
  CHECK(plain[2].find("PASS") == at);
  CHECK(plain[3].find("PASS") == at);
  const auto right = plain[1].find("conflicts") + 9;
  CHECK(plain[3].find("126,976") + 7 == right);

  std::string colored = render_table({good_row(), longer}, {true});
  CHECK_THAT(colored, contains("\033[32mPASS\033[0m"));
  for (std::size_t from; (from = colored.find('\033')) != std::string::npos;) {
    colored.erase(from, colored.find('m', from) - from + 1);
  }
  CHECK(colored == render_table({good_row(), longer}));
}

TEST_CASE("the table tells what failed, where and by how much") {
  const std::string text = render_table({good_row(), bad_row()});
  CHECK_THAT(text, contains("FAIL"));
  CHECK_THAT(text, contains("output[32] is NaN"));
  CHECK_THAT(text, contains("race at a.cu:12 and a.cu:14, block (1,0,0), thread (5,0,0), 7 times"));
  CHECK_THAT(text, contains("two threads touch tile[3]"));
  CHECK_THAT(text, contains("global_load_sectors: predicted 16,405, counted 99,999"));
  CHECK_THAT(text, !contains("global_load_requests: predicted"));
}

TEST_CASE("rows with other problems and backends have tables of their own") {
  const std::string text =
      render_table({timed("cpu", "loop", 1000, 1), good_row(), timed("gpu", "grid", 1000, 1, 2),
                    timed("cpu", "simd", 1000, 0.5)});
  const auto all = lines(text);
  CHECK(std::count_if(all.begin(), all.end(),
                      [](const std::string& line) { return line.rfind("On the ", 0) == 0; }) == 3);
  CHECK(text.find("simd") < text.find("On the simulator"));
  CHECK_THAT(text, contains("ms with transfers"));
}

TEST_CASE("ratios are taken within one problem and backend") {
  std::vector<Row> rows = {timed("gpu", "a", 1000, 8), timed("cpu", "b", 1000, 100),
                           timed("gpu", "c", 1000, 4), timed("gpu", "d", 2000, 3),
                           timed("gpu", "e", 1000, 5)};
  rows[4].time.ratio_to_previous = 77;
  fill_ratios(rows);
  CHECK(rows[0].time.ratio_to_previous == -1);
  CHECK(rows[1].time.ratio_to_previous == -1);
  CHECK(rows[2].time.ratio_to_previous == Approx(2));
  CHECK(rows[3].time.ratio_to_previous == -1);
  CHECK(rows[4].time.ratio_to_previous == Approx(0.8));
}

TEST_CASE("the report's table pairs the CPU loop with each GPU variant") {
  const std::vector<Row> rows = {timed("cpu", "loop", 1000, 2), timed("cpu", "simd", 1000, 0.1),
                                 timed("cpu", "loop", 100000, 200),
                                 timed("gpu", "grid", 1000, 0.5, 4),
                                 timed("gpu", "grid", 100000, 10, 50)};
  const auto all = lines(render_report_table(rows));
  REQUIRE(all.size() == 4);
  CHECK_THAT(all[0], contains("grid"));
  std::istringstream first(all[2]);
  std::string length;
  double cpu = 0, gpu = 0, speedup = 0, kernel = 0, kernel_speedup = 0;
  first >> length >> cpu >> gpu >> speedup >> kernel >> kernel_speedup;
  CHECK(length == "1,000");
  CHECK(cpu == 2);
  CHECK(gpu == 4);
  CHECK(speedup == 0.5);
  CHECK(kernel == 0.5);
  CHECK(kernel_speedup == 4);

  Row untimed = good_row();
  const std::string sim = render_report_table({untimed, timed("cpu", "loop", 100000, 7)});
  CHECK_THAT(sim, contains("7.0000"));
  CHECK_THAT(sim, contains("NOT RUN"));
  CHECK_THAT(render_report_table({timed("cpu", "loop", 1000, 2)}), contains("NOT RUN"));
}

TEST_CASE("colour follows the option, then the environment, then the terminal") {
  const auto with = [](const char* name, const char* value, const std::string& choice) {
    setenv(name, value, 1);
    const bool color = use_color(choice, stdout);
    unsetenv(name);
    return color;
  };
  unsetenv("NO_COLOR");
  unsetenv("CLICOLOR_FORCE");
  CHECK(use_color("always", stdout));
  CHECK_FALSE(use_color("never", stdout));
  CHECK(with("NO_COLOR", "1", "always"));
  CHECK(with("CLICOLOR_FORCE", "1", "auto"));
  CHECK_FALSE(with("CLICOLOR_FORCE", "1", "never"));
  CHECK_FALSE(with("NO_COLOR", "1", "auto"));
  CHECK_THROWS_AS(use_color("red", stdout), std::invalid_argument);
  std::FILE* file = std::tmpfile();
  CHECK_FALSE(use_color("auto", file));
  std::fclose(file);
}
