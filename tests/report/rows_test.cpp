// Rows as text and JSON, and what they say of a run.
#include "common/report/rows.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <locale>
#include <sstream>

#include "common/report/json.hpp"
#include "common/report/row_tables.hpp"
#include "common/report/terminal.hpp"
#include "common/report/text.hpp"
#include "common/report/traffic_words.hpp"
#include "tests/catch.hpp"
#include "tests/folder.hpp"
#include "tests/report/csv.hpp"

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
  row.time.hot.rounds = 15;
  row.time.hot.median_ms = ms;
  row.time.hot.p10_ms = ms * 0.9;
  row.time.hot.p90_ms = ms * 1.1;
  row.time.transfers.median_ms = transfers;
  return row;
}

// A GPU variant with every figure, between neighbours: all columns have something to show.
std::vector<Row> measured_rows() {
  Row row = timed("gpu", "tiled", 10'000'000, 0.03125, 6.25);
  row.check.worst_share = 0.4375;
  row.time.method = "graph of 200 calls";
  row.time.hot = {15, 0.03125, 0.03, 0.0325, 0.0025};
  row.time.cold = {15, 0.0390625, 0.0380, 0.0400, 0.004};
  row.time.gb_per_s = 2560;
  row.time.cold_gb_per_s = 2048;
  row.time.gflop_per_s = 1920;
  Row before = row;
  before.stage = "02_conv1d_global";
  before.variant = "grid";
  before.time.hot.median_ms = 0.0625;
  before.time.cold.median_ms = 0.078125;
  Row peer = row;
  peer.stage = "peers";
  peer.variant = "cudnn";
  peer.role = Role::peer;
  peer.description = "implicit GEMM, FMA math";
  peer.time.cold.median_ms = 0.1171875;
  Row other = peer;
  other.variant = "cub";
  other.description = "transform";
  other.time.cold.median_ms = 0.1953125;
  Row copy = peer;
  copy.variant = "device_copy";
  copy.description = "float4";
  copy.role = Role::copy;
  copy.time.cold.median_ms = 0.0375;
  Row missing = good_row();
  missing.stage = "peers";
  missing.backend = "gpu";
  missing.variant = "npp";
  missing.role = Role::peer;
  missing.problem = row.problem;
  missing.traffic = {};
  missing.check = {Outcome::not_run, "no NPP, \"11\" or newer,\nin this toolkit", 0, 0};
  missing.hazards = {Outcome::not_run, "no NPP", {}};
  missing.time.reason = "no NPP here";
  std::vector<Row> rows = {before, row, peer, other, copy, missing};
  Machine machine;
  machine.roofs = {{"gpu", {.copy_gb_per_s = 4096, .fp32_gflop_per_s = 61440}}};
  fill_ratios(rows);
  fill_shares(rows, machine);
  return rows;
}

// The cells of a line of the terminal's table: two spaces or more stand between them.
std::vector<std::string> cells(const std::string& line) {
  std::vector<std::string> all;
  for (std::size_t at = line.find_first_not_of(' '); at != std::string::npos;) {
    const std::size_t end = line.find("  ", at);
    all.push_back(line.substr(at, end == std::string::npos ? end : end - at));
    at = end == std::string::npos ? end : line.find_first_not_of(' ', end);
  }
  return all;
}

// The cells of a line of a Markdown table.
std::vector<std::string> pipe_cells(const std::string& line) {
  std::vector<std::string> all;
  for (std::size_t at = line.find("| "); at != std::string::npos && at + 2 < line.size();) {
    const std::size_t end = line.find(" |", at + 1);
    all.push_back(line.substr(at + 2, end - at - 2));
    at = end + 1;
  }
  return all;
}

std::vector<std::string> table_lines(const std::string& text) {
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
  results.machine.cpu = "a CPU";
  results.machine.gpu = "a GPU";
  results.machine.driver = results.machine.cuda = "13.0";
  results.machine.compiler = "g++ 12";
  results.machine.build = "optimised";
  results.machine.libraries = {{"cuDNN", "9.14"}};
  results.machine.multiprocessors = 132;
  results.machine.l2_bytes = 62914560;
  results.machine.roofs = {{"gpu", {.copy_gb_per_s = 4000, .fp32_gflop_per_s = 60000}}};
  results.rows = {good_row(), bad_row(), timed("gpu", "grid", 1000, 0.25, 1.5)};
  results.rows[2].time.ratio_to_previous = 1.25;
  results.rows[2].time.cold = {15, 2.0, 1.9, 2.2, 0.01};
  results.rows[2].time.overlapped = {9, 0.1875, 0.17, 0.2, 0.02};
  results.rows[2].time.packing_ms = 0.0625;
  results.rows[2].time.best_peer = "cudnn";
  results.rows[2].role = Role::peer;
  results.rows[2].label = "9-1-1-16-3";
  results.rows[1].traffic.lines = {{"a.cu", 12, {{"global_load_sectors", 99999}}}};
  Figures& figures = results.rows[1].traffic.figures;
  figures = {{{1, 391, 256, 1056}, {2, 10, 32, 0}},
             {{1, 1, 256, 1056}},
             0,
             1'234'567'890'123,
             {{"a.cu", 14, {{"fp64_operations", 1'234'567'890'123}}}},
             0,
             40,
             16,
             96,
             97,
             {{"a.cu", 15, {{"tensor_instructions", 97}}}}};
  results.rows[2].published = {"a report, Table 1", {{"gpu_ms", 33.7104}}};

  const std::string text = to_json(results);
  const Results back = results_from_json(text, "here");
  CHECK(to_json(back) == text);
  CHECK(back.seed == results.seed);
  CHECK(back.machine.gpu == "a GPU");
  CHECK(back.machine.roofs[0].second.copy_gb_per_s == 4000);
  CHECK(back.machine.roofs[0].second.clock_mhz == -1);
  CHECK(back.machine.l2_bytes == 62914560);
  REQUIRE(back.rows.size() == 3);
  CHECK(back.rows[0].problem == results.rows[0].problem);
  CHECK(back.rows[0].traffic.counted == results.rows[0].traffic.counted);
  CHECK(back.rows[0].time.hot.median_ms == -1);
  CHECK(std::isinf(back.rows[1].check.worst_share));
  CHECK(back.rows[1].hazards.findings == results.rows[1].hazards.findings);
  CHECK(back.rows[1].traffic.lines == results.rows[1].traffic.lines);
  CHECK(back.rows[1].traffic.figures == figures);
  CHECK(back.rows[0].traffic.figures == Figures());
  CHECK(back.rows[1].check.outcome == Outcome::bad);
  CHECK(back.rows[2].time.transfers.median_ms == 1.5);
  CHECK(back.rows[2].time.ratio_to_previous == 1.25);
  CHECK(back.rows[2].time.cold.p90_ms == 2.2);
  CHECK(back.rows[2].time.overlapped.median_ms == 0.1875);
  CHECK(back.rows[2].time.overlapped.rounds == 9);
  CHECK(back.rows[2].time.packing_ms == 0.0625);
  CHECK(back.rows[0].time.packing_ms == -1);
  CHECK(back.rows[2].published.figures == results.rows[2].published.figures);
  CHECK(render_table(back.rows) == render_table(results.rows));
  CHECK(back.rows[2].label == "9-1-1-16-3");
  CHECK(back.rows[0].label == "");
  CHECK_THAT(text, contains("\"schema_version\": 4"));
  CHECK_THAT(text, contains("\"status\":\"NOT RUN\""));
  // A row a line, without what is not known of it.
  const std::string rows = text.substr(text.find("\"rows\""));
  CHECK(std::count(rows.begin(), rows.end(), '\n') == 6);  // with the brackets' lines
  CHECK_THAT(rows, !contains("null") && !contains("\"\"") && !contains("runs_as"));
}

TEST_CASE("tables that come in parts say what one table of all says, the legend once") {
  const std::vector<Row> rows = measured_rows();
  std::string parts;
  for (const Row& row : rows) parts += render_rows({row}) + "\n";
  const std::string legend = render_legend(rows);
  CHECK_THAT(legend, contains("hot: all calls on the same arrays"));
  CHECK_THAT(parts, contains("tiled") && !contains("hot: all calls on the same arrays"));
  CHECK(render_rows(rows) + "\n" + legend == render_table(rows));
  CHECK_THAT(render_legend({good_row()}),
             contains("trials: small shapes") && contains("NOT RUN time: no GPU"));
  Row large = good_row();
  large.check.large = {2, "length 2,147,479,551 (26 of 8,388,592 blocks)", "it is 2 launches"};
  CHECK_THAT(render_legend({large}),
             contains("of which a few blocks were run: ") && contains(large.variant + " 2") &&
                 contains("NOT RUN large of " + large.variant + ": it is 2 launches"));
  Row refused = good_row();
  refused.check = {};
  CHECK(render_legend({refused}) == "");
  CHECK_THAT(render_rows({bad_row()}), contains("output[32] is NaN"));
}

TEST_CASE("JSON tells what a row runs as, and figures with six digits") {
  Row row = good_row();
  row.runs_as = "sum";
  row.time.hot.median_ms = 0.123456789;
  const std::string text = to_json({"c", "d", 1, {}, {row}});
  CHECK_THAT(text, contains("\"runs_as\":\"sum\"") && contains("\"median_ms\":0.123457"));
  const Row back = results_from_json(text, "here").rows.at(0);
  CHECK(back.runs_as == "sum");
  CHECK(back.time.hot.median_ms == 0.123457);
  CHECK_THAT(render_table({back}), contains("runs as sum"));
  CHECK_THAT(render_table({back}, {.color = false, .format = Format::csv}), contains("runs_as"));
}

TEST_CASE("what all rows of a variant say alike stands in a file once") {
  // Three layers: the same choice each time, one of them counted, and problems alike but for a field.
  std::vector<Row> rows;
  for (const std::int64_t length : {1000, 2000, 3000}) {
    rows.push_back(timed("gpu", "chooser", length, static_cast<double>(length)));
    rows.back().chooses_from = {"first", "second"};
    rows.back().detail = "row " + std::to_string(length);
    rows.push_back(timed("gpu", "other", length, 1));
  }
  rows[0].traffic.figures.registers = 40;
  rows[2].published = {"a report", {{"cpu_ms", 2.0}, {"gpu_ms", 1.0}}};
  rows[4].published = {"a report", {{"cpu_ms", 2.0}, {"gpu_ms", 3.0}}};
  rows.push_back(bad_row());
  const std::string text = to_json({"c", "d", 1, {}, rows});

  const auto times = [&](const std::string& word) {
    std::size_t found = 0;
    for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) {
      ++found;
    }
    return found;
  };
  CHECK(times("\"chooses_from\"") == 1);
  CHECK(times("\"hazards\"") == 3);  // of two variants, and of a row alone
  CHECK(times("\"mask_width\"") == rows.size());
  CHECK(times("\"registers\"") == 1);
  CHECK(times("\"cpu_ms\"") == 2);

  const std::vector<Row> back = results_from_json(text, "here").rows;
  REQUIRE(back.size() == rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    INFO(i);
    CHECK(row_line(back[i]) == row_line(rows[i]));  // with the order of its members
  }

  // However the rows came.
  const test::Folder folder;
  GrowingResults file(folder / "out.json", {"c", "d", 1, {}, {rows[0]}});
  for (std::size_t i = 1; i < rows.size(); ++i) file.add({rows[i]});
  std::ifstream in(folder / "out.json");
  CHECK(std::string(std::istreambuf_iterator<char>(in), {}) == text);
}

TEST_CASE("results files of schema 3, whose rows are whole, are read as well; of 2 no more") {
  std::string text = to_json({"c", "d", 1, {}, {}});
  text.replace(text.find("\"schema_version\": 4"), 19, "\"schema_version\": 3");
  const std::vector<Row> rows = {timed("gpu", "grid", 5, 2.5), timed("gpu", "grid", 6, 2.5)};
  const std::string lines = row_line(rows[0]) + ",\n" + row_line(rows[1]);
  text.insert(text.rfind(']'), lines);
  const std::vector<Row> back = results_from_json(text, "old.json").rows;
  REQUIRE(back.size() == 2);
  CHECK(row_line(back[0]) + ",\n" + row_line(back[1]) == lines);

  text.replace(text.find("\"schema_version\": 3"), 19, "\"schema_version\": 2");
  CHECK_THROWS_WITH(
      results_from_json(text, "older.json").rows,
      "older.json: not a results file of Halo: schema_version 2 is not 3 or 4, which this "
      "program reads: measure again");
}

TEST_CASE("a results file grows, whole after each step") {
  const test::Folder folder;
  const std::string path = folder / "out.json";
  Results results{"c", "d", 5, {}, {good_row()}};
  GrowingResults file(path, results);
  CHECK_FALSE(std::filesystem::exists(path));
  file.add({bad_row()});
  CHECK(read_json(path).rows.size() == 2);
  file.add({good_row(), timed("gpu", "grid", 1000, 0.25, 1.5)});
  results.rows.insert(results.rows.end(),
                      {bad_row(), good_row(), timed("gpu", "grid", 1000, 0.25, 1.5)});
  CHECK(to_json(read_json(path)) == to_json(results));
  CHECK(folder.names().size() == 1);
}

TEST_CASE("what is no results file is refused in one line that names it") {
  const std::string good = to_json({"c", "d", 1, {}, {good_row()}});
  const std::string truncated = good.substr(0, good.size() / 2);
  std::string newer = good;
  newer.replace(newer.find("\"schema_version\": 4"), 19, "\"schema_version\": 5");
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

TEST_CASE("a results file is not believed") {
  Row second = good_row();
  second.variant = "second";
  const std::string good = to_json({"c", "d", 1, {}, {good_row(), second}});
  // What it says with the last `from` made `to`.
  const auto changed = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    const std::size_t at = text.rfind(from);
    REQUIRE(at != std::string::npos);
    text.replace(at, from.size(), to);
    try {
      results_from_json(text, "some.json");
    } catch (const std::runtime_error& error) {
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  const std::string start = "some.json: not a results file of Halo: ";
  CHECK(changed("\"check\"", "\"chick\"") ==
        start + "row 2: a member \"check\" expected, but there is none");
  CHECK(changed("\"length\":100000", "\"length\":\"abc\"") ==
        start + "row 2: \"length\": a whole number expected, found a string");
  CHECK(changed("\"length\":100000", "\"length\":-1") == start + "row 2: \"length\" is negative");
  CHECK_THAT(changed("\"global_load_sectors\":16405", "\"global_load_sectors\":-1"),
             contains("row 2: \"global_load_sectors\": a whole number of 0 to"));
  CHECK_THAT(changed("\"shapes\":47", "\"shapes\":-47"), contains("\"shapes\" is negative"));
  CHECK_THAT(changed("\"sectors_per_request\":4.67", "\"sectors_per_request\":-4"),
             contains("\"sectors_per_request\" is negative"));
  CHECK_THAT(changed("\"seed\": 1", "\"seed\": -1"), contains("\"seed\": a whole number of 0"));
  CHECK_THAT(changed("\"backend\"", "\"back\""), contains("row 2: a member \"backend\" expected"));
  CHECK_THAT(changed("\"PASS\"", "\"\\u001b[1m\""), contains("unknown status '?[1m'"));
}

TEST_CASE("what a results file holds is safe to show") {
  Row row = good_row();
  row.variant = "red\x1b[31m\nPASS " + std::string(100'000, 'x');
  row.problem.emplace_back("kind\r", std::string("a\tb"));
  row.check.reason = "two\nlines\a";
  const Row back = results_from_json(to_json({"c", "d", 1, {}, {row}}), "some.json").rows.at(0);
  CHECK(back.variant.starts_with("red?[31m?PASS xxx"));
  CHECK(back.variant.size() == 123);
  CHECK(back.problem.back() == std::pair<std::string, Value>{"kind?", std::string("a?b")});
  CHECK(back.check.reason == "two\nlines?");
  const test::Folder folder;
  const std::string large = folder / "large.json";
  std::ofstream(large).close();
  std::filesystem::resize_file(large, 65 << 20);
  CHECK_THROWS_WITH(read_json(large), contains("more than 64 MiB"));
  CHECK_THROWS_WITH(read_json("/dev/zero"), contains("not a regular file"));
  CHECK_THROWS_WITH(read_json(folder.path()), contains("it is a folder"));
}

TEST_CASE("a JSON file is written whole or not at all") {
  const test::Folder folder;
  const std::string path = folder / "out.json";
  write_json(path, {"first", "d", 1, {}, {good_row()}});
  CHECK(read_json(path).command == "first");
  write_json(path, {"second", "d", 1, {}, {good_row(), bad_row()}});
  CHECK(read_json(path).rows.size() == 2);
  CHECK(folder.names().size() == 1);
  CHECK_THROWS_AS(write_json(folder / "no/such/folder.json", {}), std::runtime_error);
  CHECK_THROWS_AS(write_json(folder.path(), {}), std::runtime_error);
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
    // Traffic may differ, unless somebody wants it as predicted.
    CHECK(exit_status({good_row(), row}) == (column == 2 ? 0 : 1));
    CHECK(exit_status({good_row(), row}, true) == 1);
  }
}

TEST_CASE("of several faults the exit status tells the worst") {
  Row uncompiled = bad_row();
  uncompiled.start.compiled = false;
  CHECK(exit_status({uncompiled}) == 2);
  CHECK(exit_status({good_row(), uncompiled}) == 2);
  CHECK(exit_status({bad_row(), uncompiled}) == 1);
  CHECK_FALSE(
      results_from_json(to_json({"", "", 0, {}, {uncompiled}}), "test").rows[0].start.compiled);
  Results results;
  results.rows = {bad_row(), uncompiled};
  CHECK(run_status(results) == 1);
  results.end.not_written = "the disk is full";
  CHECK(run_status(results) == 74);
  results.end.interrupted = 15;
  CHECK(run_status(results) == 143);
}

TEST_CASE("traffic that differs is told as less or more, with the line that makes it") {
  CHECK(told_traffic(good_row()) == "");
  Row row = good_row();
  row.traffic.outcome = Outcome::bad;
  row.traffic.counted[1].second = 16015;
  row.traffic.bytes_per_output_counted = 9.1248;
  row.traffic.lines = {{row.source, 36, {{"global_load_sectors", 16015}}}};
  CHECK(told_traffic(row) ==
        "right; 9.12 bytes per output instead of 9.25, 1 % less; line 36: 16,405 -> 16,015 load "
        "sectors");
  const std::vector<TrafficDifference> all = traffic_differences(row);
  REQUIRE(all.size() == 1);
  CHECK(all[0].name == "global_load_sectors");
  CHECK(all[0].change == "2 % less");
  CHECK_THAT(render_table({row}),
             contains("04 tiled_halo  DIFFERS  right, but not the traffic predicted: 9.12 bytes "
                      "per output instead of 9.25") &&
                 contains("  global_load_sectors: predicted 16,405, counted 16,015, 2 % less\n"
                          "  stages/04_conv1d_tiled_halo/tiled_halo.cu:36  16,015\n"));
  // Made by several lines, it is nobody's alone.
  row.traffic.lines.push_back({row.source, 40, {{"global_load_sectors", 15}}});
  CHECK_THAT(told_traffic(row), contains("; 16,405 -> 16,015 load sectors"));
  row.hazards.outcome = Outcome::bad;
  CHECK_THAT(told_traffic(row), !contains("right"));
}

TEST_CASE("launches that differ are told although the traffic is equal") {
  Row row = good_row();
  row.traffic.outcome = Outcome::bad;
  row.traffic.figures.predicted = {{1, 391, 256, 1056}};
  row.traffic.figures.counted = {{1, 1, 256, 49152}};
  row.traffic.figures.fp64_predicted = 0;
  row.traffic.figures.fp64_counted = 12;
  row.traffic.figures.fp64_lines = {{row.source, 47, {{"fp64_operations", 12}}}};
  row.traffic.figures.unfreed_bytes = 4;
  CHECK(told_traffic(row) ==
        "right; 391 -> 1 blocks; 1,056 -> 49,152 bytes of shared memory per block; "
        "line 47: 12 operations in double precision; 4 bytes allocated and not freed");
  Row multiplies = good_row();
  multiplies.traffic.outcome = Outcome::bad;
  multiplies.traffic.figures.tensor_predicted = 96;
  multiplies.traffic.figures.tensor_counted = 32;
  CHECK(told_traffic(multiplies) == "right; 96 -> 32 instructions of tensor cores");
  // What few kernels have is not there at all where nothing was counted, or predicted.
  Row reaches = good_row();
  reaches.traffic.outcome = Outcome::bad;
  reaches.traffic.predicted.emplace_back("dshared_load_sectors", 1024);
  CHECK(told_traffic(reaches) == "right; 1,024 -> 0 distributed shared load sectors");
  reaches.traffic.counted.emplace_back("dshared_load_sectors", 2048);
  reaches.traffic.predicted.pop_back();
  CHECK(told_traffic(reaches) == "right; 2,048 distributed shared load sectors");
  row.traffic.figures.predicted.push_back({2, 10, 32, 0});
  CHECK_THAT(
      told_traffic(row),
      contains("right; 1 block of 256 threads with 49,152 bytes of shared memory instead of 391 "
               "blocks of 256 threads with 1,056 bytes of shared memory and 2 times 10 "
               "blocks of 32 threads; "));
}

TEST_CASE("changes are told as people say them") {
  CHECK(told_change(100, 98) == "2 % less");
  CHECK(told_change(1000, 1001) == "under 1 % more");
  CHECK(told_change(100, 190) == "90 % more");
  CHECK(told_change(100, 250) == "2.5 times as much");
  CHECK(told_change(1, 40) == "40 times as much");
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
  const auto plain = table_lines(render_table({good_row(), longer}));
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

TEST_CASE("lines that were never reached are told once for each variant, and fail nothing") {
  Row first = good_row();
  first.coverage.outcome = Outcome::bad;
  first.coverage.lines = 40;
  first.coverage.unreached = {{"stages/a/1_a.cu", 118, 121}, {"stages/a/1_a.cu", 130, 130}};
  first.coverage.untaken = {{"stages/a/1_a.cu", 99, 3, 0, false},
                            {"stages/a/1_a.cu", 107, 31, 107, true}};
  // What it was tried with next reached the first of them.
  Row second = first;
  second.problem[0].second = std::int64_t{5};
  second.coverage.unreached.erase(second.coverage.unreached.begin());
  CHECK(unreached_lines(first.coverage) == "lines 118-121 and 130 of 1_a.cu were never reached");
  CHECK(unreached_lines(second.coverage) == "line 130 of 1_a.cu was never reached");
  CHECK(unreached_lines({}).empty());
  Coverage files = first.coverage;
  files.unreached.insert(files.unreached.begin(), {"stages/a/a.cuh", 3, 4});
  CHECK(unreached_lines(files) ==
        "lines 3-4 of a.cuh, 118-121 and 130 of 1_a.cu were never reached");

  const std::vector<Row> rows = {first, second};
  const std::string text = render_table(rows);
  CHECK_THAT(text, contains("04 tiled_halo: line 130 of 1_a.cu was never reached"));
  CHECK_THAT(text, !contains("118"));
  CHECK(exit_status(rows) == 0);
  // A variant that failed, or whose lines nobody looked at, has nothing to say of them.
  Row failed = good_row();
  failed.coverage.reason = "it failed its check";
  CHECK_THAT(render_table({failed}), !contains("never reached"));

  Results results;
  results.rows = {first, failed, good_row()};
  const std::string json = to_json(results);
  const std::vector<Row> back = results_from_json(json, "here").rows;
  CHECK(back[0].coverage.outcome == Outcome::bad);
  CHECK(back[0].coverage.lines == 40);
  CHECK(back[0].coverage.unreached == first.coverage.unreached);
  CHECK(back[0].coverage.untaken == first.coverage.untaken);
  CHECK(back[1].coverage.outcome == Outcome::not_run);
  CHECK(back[1].coverage.reason == failed.coverage.reason);
  // A row that nobody looked at is written as it always was.
  CHECK(row_line(good_row()).find("coverage") == std::string::npos);
}

TEST_CASE("the table tells what failed, where and by how much") {
  const std::string text = render_table({good_row(), bad_row()});
  CHECK_THAT(text, contains("FAIL"));
  CHECK_THAT(text, contains("output[32] is NaN"));
  CHECK_THAT(text, contains("race: tile, 7 times\n  a.cu:12  thread 5 of block 1\n  a.cu:14\n"));
  CHECK_THAT(text, contains("two threads touch tile[3]"));
  CHECK_THAT(text, contains("traffic: ") && contains("16,405 -> 99,999 load sectors"));
  CHECK_THAT(text, !contains("load requests"));
}

TEST_CASE("rows with other problems and backends have tables of their own") {
  const std::string text =
      render_table({timed("cpu", "loop", 1000, 1), good_row(), timed("gpu", "grid", 1000, 1, 2),
                    timed("cpu", "simd", 1000, 0.5)});
  const auto all = table_lines(text);
  CHECK(std::count_if(all.begin(), all.end(),
                      [](const std::string& line) { return line.rfind("On the ", 0) == 0; }) == 3);
  CHECK(text.find("simd") < text.find("On the simulator"));
  CHECK_THAT(text, contains("total ms"));
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

TEST_CASE("what stands beside a table's rows is the peer of none, and is read back as that") {
  std::vector<Row> rows = {timed("gpu", "ours", 1000, 8), timed("gpu", "library", 1000, 4),
                           timed("gpu", "library_tf32", 1000, 1)};
  rows[1].role = Role::peer;
  rows[2].role = Role::beside;
  fill_ratios(rows);
  CHECK(rows[0].time.best_peer == "library");
  CHECK(rows[0].time.ratio_to_best_peer == Approx(0.5));
  CHECK(results_from_json(to_json({"c", "d", 1, {}, rows}), "some.json").rows.at(2).role ==
        Role::beside);
}

TEST_CASE("all formats hold the same numbers") {
  const std::vector<Row> rows = measured_rows();
  const auto terminal = table_lines(render_table(rows));
  const auto markdown = table_lines(render_table(rows, {.format = Format::markdown}));
  const auto csv = test::parse_csv(render_table(rows, {.format = Format::csv}));
  const std::vector<std::string> expected = {
      "04",   "tiled", "PASS", "0.44", "none", "0.0312", "0.0300-0.0325", "0.0391", "6.25",
      "2048", "50.0",  "1920", "3.1",  "2.00", "0.96",   "3.00",          "0.2"};
  CHECK(cells(terminal[1]) ==
        std::vector<std::string>{"stage", "variant", "check", "err/bound", "hazards", "hot ms",
                                 "p10-p90", "cold ms", "total ms", "cold GB/s", "%copy", "GFLOP/s",
                                 "%fp32", "x before", "x copy", "x peer", "A/A %"});
  CHECK(cells(terminal[3]) == expected);
  CHECK(terminal[0] == "On the GPU: length 10,000,000, mask width 9, threads 256, border zero");

  CHECK(markdown[0] == "**" + terminal[0] + "**");
  CHECK(pipe_cells(markdown[2]) == cells(terminal[1]));
  for (std::size_t row = 0; row < rows.size(); ++row) {
    CHECK(pipe_cells(markdown[4 + row]) == cells(terminal[2 + row]));
  }
  // Words to the left, figures to the right.
  CHECK_THAT(markdown[3], contains("| :--- | :--- | :--- | ---: | :--- | ---: |"));

  // CSV has them in full; rounded they are the table's.
  REQUIRE(csv.size() == rows.size());
  const auto figure = [&](const char* name) { return std::stod(csv[1].at(name)); };
  CHECK(csv[1].at("stage") == "04_conv1d_tiled_halo");
  CHECK(csv[1].at("variant") == expected[1]);
  CHECK(csv[1].at("check") == expected[2]);
  CHECK(rounded(figure("worst_error_per_bound"), 2) == expected[3]);
  CHECK(csv[1].at("hazards") == expected[4]);
  CHECK(rounded(figure("hot_median_ms")) == expected[5]);
  CHECK(rounded(figure("hot_p10_ms")) + "-" + rounded(figure("hot_p90_ms")) == expected[6]);
  CHECK(rounded(figure("cold_median_ms")) == expected[7]);
  CHECK(rounded(figure("transfers_median_ms")) == expected[8]);
  CHECK(rounded(figure("cold_gb_per_s")) == expected[9]);
  CHECK(fixed(100 * figure("share_of_copy_ratio"), 1) == expected[10]);
  CHECK(rounded(figure("hot_gflop_per_s")) == expected[11]);
  CHECK(fixed(100 * figure("share_of_fp32_ratio"), 1) == expected[12]);
  CHECK(fixed(figure("speedup_over_previous_ratio"), 2) == expected[13]);
  CHECK(fixed(figure("speedup_over_copy_ratio"), 2) == expected[14]);
  CHECK(fixed(figure("speedup_over_best_peer_ratio"), 2) == expected[15]);
  CHECK(fixed(100 * figure("hot_repeat_spread_ratio"), 1) == expected[16]);
}

TEST_CASE("CSV: one header for all rows, full figures, reasons, empty where not measured") {
  std::vector<Row> rows = measured_rows();
  rows.push_back(good_row());
  rows.push_back(bad_row());
  rows.back().problem.emplace_back("channels", std::int64_t{2});
  rows[0].time.hot.median_ms = 0.1 + 0.2;
  rows[0].published = {"a report, Table 1", {{"gpu_ms", 33.7104}}};
  const std::string text = render_table(rows, {.color = true, .format = Format::csv});
  const auto csv = test::parse_csv(text);
  REQUIRE(csv.size() == rows.size());
  CHECK(text.find('\033') == std::string::npos);
  CHECK(std::stod(csv[0].at("hot_median_ms")) == 0.1 + 0.2);
  CHECK(csv[0].at("role") == "variant");
  CHECK(csv[2].at("role") == "peer");
  CHECK(csv[4].at("role") == "copy");
  CHECK(csv[0].at("length") == "10000000");
  CHECK(csv[0].at("channels").empty());
  CHECK(csv[7].at("channels") == "2");
  CHECK(csv[0].at("published_gpu_ms") == "33.7104");
  CHECK(csv[1].at("published_gpu_ms").empty());
  const auto& missing = csv[5];
  CHECK(missing.at("check") == "NOT RUN");
  CHECK(missing.at("check_reason") == "no NPP, \"11\" or newer,\nin this toolkit");
  CHECK(missing.at("time") == "NOT RUN");
  CHECK(missing.at("time_reason") == "no NPP here");
  for (const char* name : {"hot_median_ms", "cold_p90_ms", "transfers_median_ms", "cold_gb_per_s",
                           "speedup_over_copy_ratio", "worst_error_per_bound", "hot_rounds"}) {
    CAPTURE(name);
    CHECK(missing.at(name).empty());
    CHECK_FALSE(csv[0].at("hot_rounds").empty());
  }
  CHECK(csv[6].at("bytes_per_output_counted") == "9.2496");
  CHECK(csv[7].at("check") == "FAIL");
  CHECK(csv[7].at("worst_error_per_bound") == "inf");
  CHECK(csv[7].at("hazards") == "FOUND");
}

TEST_CASE("numbers do not depend on the locale") {
  struct Commas : std::numpunct<char> {
    char do_decimal_point() const override { return ','; }
    char do_thousands_sep() const override { return '.'; }
    std::string do_grouping() const override { return "\3"; }
  };
  const std::vector<Row> rows = measured_rows();
  const auto all = [&] {
    std::string text;
    for (const Format format : {Format::terminal, Format::markdown, Format::csv}) {
      text += render_table(rows, {.format = format});
    }
    return text;
  };
  const std::string plain = all();
  const std::locale before = std::locale::global(std::locale(std::locale(), new Commas));
  // Where this machine has a language that writes commas, C's functions follow it too.
  for (const char* name : {"de_DE.UTF-8", "fr_FR.UTF-8"}) std::setlocale(LC_NUMERIC, name);
  const std::string with_commas = all();
  std::setlocale(LC_NUMERIC, "C");
  std::locale::global(before);
  CHECK(with_commas == plain);
}

TEST_CASE("figures are rounded, fixed or exact") {
  CHECK(rounded(-1) == "-");
  CHECK(rounded(0) == "0.00");
  CHECK(rounded(1234.5) == "1234");
  CHECK(rounded(0.00212345) == "0.00212");
  CHECK(rounded(std::numeric_limits<double>::infinity()) == "inf");
  CHECK(fixed(2.346, 2) == "2.35");
  CHECK(fixed(-1, 2) == "-");
  CHECK(exact(-1).empty());
  CHECK(exact(0.1) == "0.1");
  CHECK(exact(1e300) == "1e+300");
}

TEST_CASE("columns without a figure are left out, and a dash stands for a missing one") {
  Row cpu = timed("cpu", "loop", 1000, 2);
  const auto alone = table_lines(render_table({cpu}));
  CHECK_THAT(alone[1], contains("ms") && !contains("cold") && !contains("total") &&
                           !contains("%copy") && !contains("x peer") && !contains("traffic"));
  CHECK(cells(alone[1]).size() == cells(alone[2]).size());

  Row other = cpu;
  other.variant = "simd";
  other.time.cold = {15, 3, 2.9, 3.1, 0.01};
  const auto both = table_lines(render_table({cpu, other}));
  REQUIRE_THAT(both[1], contains("cold ms"));
  const std::vector<std::string> headers = cells(both[1]);
  const auto column = std::find(headers.begin(), headers.end(), "cold ms") - headers.begin();
  CHECK(cells(both[2])[column] == "-");
  CHECK(cells(both[3])[column] == "3.00");
}

TEST_CASE("overlapped calls and packing have columns where a row has them, and a legend") {
  const Row plain = timed("gpu", "plain", 1000, 2);
  CHECK_THAT(render_table({plain}), !contains("overlapped") && !contains("packing"));
  const TableOptions as_csv{.format = Format::csv};
  CHECK_THAT(render_table({plain}, as_csv), !contains("overlapped") && !contains("packing"));
  Row row = plain;
  row.variant = "packed";
  row.time.overlapped = {9, 1.5, 1.4, 1.6, 0.01};
  row.time.packing_ms = 0.25;
  const std::string table = render_table({plain, row});
  const auto all = table_lines(table);
  const std::vector<std::string> headers = cells(all[1]);
  const auto cell_of = [&](const std::string& header, std::size_t line) {
    const auto at = std::find(headers.begin(), headers.end(), header) - headers.begin();
    REQUIRE(at < static_cast<std::ptrdiff_t>(headers.size()));
    return cells(all[line])[static_cast<std::size_t>(at)];
  };
  CHECK(cell_of("overlapped ms", 2) == "-");
  CHECK(cell_of("overlapped ms", 3) == "1.50");
  CHECK(cell_of("packing ms", 2) == "-");
  CHECK(cell_of("packing ms", 3) == "0.250");
  CHECK_THAT(table, contains("overlapped: as hot") && contains("packing: of the filters"));
  const std::string csv = render_table({plain, row}, as_csv);
  CHECK_THAT(csv, contains("overlapped_median_ms") && contains("packing_ms"));
}

TEST_CASE("peers and the copy are marked, and whose ratio it is is said once") {
  const auto all = table_lines(render_table(measured_rows()));
  CHECK(cells(all[4])[0] == "peer");
  CHECK(cells(all[6])[0] == "copy");
  const std::string text = render_table(measured_rows());
  CHECK_THAT(text, contains("x peer: cudnn's time / this time (cudnn against cub)"));
  CHECK_THAT(text, contains("peer cudnn: implicit GEMM, FMA math"));
  CHECK_THAT(text, contains("NOT RUN npp: no NPP, \"11\" or newer"));
  CHECK_THAT(text, !contains("THROTTLED") && !contains("over 100"));

  std::vector<Row> rows = measured_rows();
  rows[1].time.discarded_rounds = 3;
  rows[1].time.share_of_copy = 1.31;
  const std::string disturbed = render_table(rows);
  CHECK_THAT(disturbed, contains("THROTTLED: rounds left out because the clock was low: tiled 3"));
  CHECK_THAT(disturbed, contains("%copy over 100") && contains("(tiled)"));
}

TEST_CASE("Markdown escapes what it would take for its own marks") {
  Row row = good_row();
  row.variant = "a|b*c";
  row.time.reason = "needs <cuda.h>";
  row.check = {Outcome::bad, "length 3\n  *output*", 3, 2};
  const std::string text = render_table({row}, {.color = true, .format = Format::markdown});
  CHECK_THAT(text, contains("a\\|b\\*c") && contains("- **NOT RUN** time: needs &lt;cuda.h>"));
  CHECK_THAT(text, contains("``````text\n04 a|b*c"));
  CHECK_THAT(text, !contains("\033"));
  for (const std::string& line : table_lines(text)) {
    if (line.rfind("| 04", 0) == 0) CHECK(pipe_cells(line).size() == 10);
  }
}

TEST_CASE("the machine is told with its roofs") {
  Machine machine;
  CHECK(render_machine(machine).empty());
  machine.cpu = "a CPU";
  machine.cpu_threads = 8;
  machine.compiler = "g++ 12";
  machine.build = "optimised";
  CHECK(render_machine(machine) == "CPU: a CPU, 8 threads, g++ 12\n");
  machine.gpu = "a GPU";
  machine.multiprocessors = 132;
  machine.l2_bytes = 62914560;
  machine.driver = "580.95";
  machine.cuda = "13.0";
  machine.libraries = {{"cuDNN", "9.14"}};
  machine.roofs = {{"gpu", {4270.4, 65700, 1980, 12.25, 11}}, {"cpu", {21.32, 900.4}}};
  machine.build = "-O0: times mean nothing";
  CHECK(table_lines(render_machine(machine)) ==
        std::vector<std::string>{
            "GPU: a GPU, 132 multiprocessors, L2 60 MiB, driver 580.95, CUDA 13.0, cuDNN 9.14",
            "GPU roofs: copy 4,270 GB/s, fp32 65,700 GFLOP/s, clock 1,980 MHz, host to GPU 12.2 "
            "GB/s, back 11.0 GB/s",
            "CPU: a CPU, 8 threads, g++ 12", "CPU roofs: copy 21.3 GB/s, fp32 900 GFLOP/s",
            "BUILD: -O0: times mean nothing"});
  CHECK_THAT(render_machine(machine, {.format = Format::markdown}), contains("- **CPU:** a CPU"));
  CHECK(render_machine(machine, {.format = Format::csv}).empty());
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

TEST_CASE("on which side of its bound an error is shows in the table") {
  const auto shown = [](double share) {
    Row row = good_row();
    row.check.worst_share = share;
    return cells(table_lines(render_table({row}))[2])[4];
  };
  CHECK(shown(0.5) == "0.50");
  CHECK(shown(0.998) == "0.998");
  CHECK(shown(1.04) == "1.04");
  CHECK(shown(1.004) == "1.004");
  CHECK(shown(1.0000001) == ">1");
  CHECK(shown(0.9999999) == "<1");
}
