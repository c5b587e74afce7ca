// Two results files side by side: what counts as faster, slower or the same.
#include "common/report/compare.hpp"

#include <sstream>

#include "tests/catch.hpp"
#include "tests/report/csv.hpp"

using namespace halo;
using test::Approx;
using test::contains;

namespace {

// Hot at `ms` and cold at twice that, p10 and p90 one percent off, A/A spread 0.2 %.
Row timed(const std::string& variant, double ms, Role role = Role::variant) {
  Row row;
  row.stage = role == Role::variant ? "04_tiled" : "peers";
  row.backend = "gpu";
  row.variant = variant;
  row.role = role;
  row.problem = {{"length", std::int64_t{1000}}, {"mask_width", std::int64_t{9}}};
  row.check.outcome = Outcome::good;
  row.time.outcome = Outcome::good;
  row.time.hot = {15, ms, ms * 0.99, ms * 1.01, 0.002};
  row.time.cold = {15, 2 * ms, 2 * ms * 0.99, 2 * ms * 1.01, 0.002};
  return row;
}

void scale(Spread& spread, double by) {
  spread.median_ms *= by;
  spread.p10_ms *= by;
  spread.p90_ms *= by;
}

Comparison compared(const std::vector<Row>& a, const std::vector<Row>& b, double threshold = 0) {
  return compare({"a.json", {"halo bench", "2024-01-02", 1, {}, a}},
                 {"b.json", {"halo bench", "2024-01-03", 1, {}, b}}, threshold);
}

std::string differences(const Machine& a, const Machine& b) {
  return compare({"a", {"", "", 1, a, {}}}, {"b", {"", "", 1, b, {}}}).machines;
}

Machine machine() {
  Machine machine;
  machine.cpu = "a CPU";
  machine.gpu = "a GPU";
  machine.driver = "580";
  machine.cuda = "13.0";
  machine.libraries = {{"cuDNN", "9.14"}};
  machine.roofs = {{"gpu", {.copy_gb_per_s = 4000, .fp32_gflop_per_s = 60000, .clock_mhz = 1980}}};
  return machine;
}

std::vector<std::string> lines(const std::string& text) {
  std::vector<std::string> all;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) all.push_back(line);
  return all;
}

}  // namespace

TEST_CASE("a file compared with itself is all ties") {
  const std::vector<Row> rows = {timed("a", 0.002), timed("b", 3), timed("cudnn", 1, Role::peer)};
  const Comparison same = compared(rows, rows);
  CHECK(same.count(Verdict::tie) == 3);
  CHECK(same.machines.empty());
  CHECK(same.rows[0].hot.median == 1);
  CHECK(same.rows[0].cold.median == 1);
}

TEST_CASE("ratio, interval and verdict") {
  const auto pair = [](double hot, double cold, double threshold = 0) {
    Row b = timed("a", 1);
    scale(b.time.hot, 1 / hot);
    scale(b.time.cold, 1 / cold);
    return compared({timed("a", 1)}, {b}, threshold).rows.at(0);
  };
  const ComparedRow faster = pair(2, 1);
  CHECK(faster.verdict == Verdict::improvement);
  CHECK(faster.cause == "hot");
  CHECK(faster.hot.median == Approx(2));
  CHECK(faster.hot.low == Approx(2 * 0.99 / 1.01));
  CHECK(faster.hot.high == Approx(2 * 1.01 / 0.99));
  CHECK(faster.cold.tie);
  CHECK(pair(2, 2).cause == "hot, cold");
  CHECK(pair(0.5, 0.5).verdict == Verdict::regression);
  // Slower in one state of the caches is slower, whatever the other says.
  CHECK(pair(2, 0.9).verdict == Verdict::regression);
  CHECK(pair(2, 0.9).cause == "cold");
  // [0.99, 1.01] against itself reaches 2 % either way.
  CHECK(pair(1.015, 1).verdict == Verdict::tie);
  CHECK(pair(0.985, 1).verdict == Verdict::tie);
  CHECK(pair(1.03, 1).verdict == Verdict::improvement);
  CHECK(pair(0.97, 1).verdict == Verdict::regression);
  CHECK(pair(0.97, 1, 0.05).verdict == Verdict::tie);
  CHECK(pair(0.9, 1, 0.05).verdict == Verdict::regression);
}

TEST_CASE("a difference within the A/A spread of either is a tie") {
  Row a = timed("a", 1);
  Row b = timed("a", 1);
  scale(b.time.hot, 1 / 1.05);
  CHECK(compared({a}, {b}).rows[0].verdict == Verdict::improvement);
  a.time.hot.repeat_spread = 0.06;
  CHECK(compared({a}, {b}).rows[0].verdict == Verdict::tie);
  std::swap(a.time.hot.repeat_spread, b.time.hot.repeat_spread);
  CHECK(compared({a}, {b}).rows[0].verdict == Verdict::tie);
}

TEST_CASE("a row that is hot only is compared hot") {
  Row a = timed("loop", 1);
  a.time.cold = {};
  Row b = a;
  scale(b.time.hot, 2);
  const Comparison slower = compared({a}, {b});
  CHECK(slower.rows[0].verdict == Verdict::regression);
  CHECK(slower.rows[0].cold.median == -1);
  CHECK_THAT(render_comparison(slower), !contains("cold"));
}

TEST_CASE("what got worse than its time is named") {
  Row bad = timed("a", 1);
  bad.check.outcome = Outcome::bad;
  bad.check.reason = "output 3 is wrong";
  bad.time = {};
  bad.time.reason = "it failed its check";
  const Comparison broken = compared({timed("a", 1)}, {bad});
  CHECK(broken.rows[0].verdict == Verdict::regression);
  CHECK(broken.rows[0].cause == "check");
  CHECK_THAT(render_comparison(broken),
             contains("REGRESSION: gpu 04 a, length 1,000, mask width 9: check"));
  CHECK(compared({bad}, {timed("a", 1)}).rows[0].verdict == Verdict::improvement);
  CHECK(compared({bad}, {bad}).rows[0].verdict == Verdict::not_compared);
  Row racing = timed("a", 1);
  racing.hazards.outcome = Outcome::bad;
  CHECK(compared({timed("a", 1)}, {racing}).rows[0].cause == "hazards");
  Row late = timed("a", 1);
  late.time = {};
  late.time.outcome = Outcome::bad;
  CHECK(compared({timed("a", 1)}, {late}).rows[0].cause == "time");
}

TEST_CASE("rows are paired by what they are, not by where they stand") {
  Row long_one = timed("a", 5);
  long_one.problem[0].second = std::int64_t{2000};
  Row on_cpu = timed("a", 7);
  on_cpu.backend = "cpu";
  Row peer = timed("cudnn", 3, Role::peer);
  Row moved = peer;  // a peer belongs to no stage
  moved.stage = "elsewhere";
  std::swap(moved.problem[0], moved.problem[1]);
  Row other_stage = timed("a", 9);
  other_stage.stage = "05_cached";
  const Comparison all = compared({timed("a", 1), long_one, on_cpu, peer, other_stage},
                                  {moved, other_stage, on_cpu, long_one, timed("a", 1)});
  REQUIRE(all.rows.size() == 5);
  CHECK(all.count(Verdict::tie) == 5);
}

TEST_CASE("what is in one file only, and what was not run, is told apart from a tie") {
  Row missing = timed("npp", 1, Role::peer);
  missing.check = {};
  missing.time = {};
  missing.time.reason = "no NPP in this toolkit";
  const Comparison all = compared({timed("a", 1), timed("old", 1), missing, timed("sim", 1)},
                                  {timed("a", 1), timed("new", 1), missing});
  REQUIRE(all.rows.size() == 5);
  CHECK(all.count(Verdict::tie) == 1);
  CHECK(all.count(Verdict::not_compared) == 4);
  CHECK(all.rows[1].cause == "only in A");
  CHECK(all.rows[4].cause == "only in B");
  CHECK(all.rows[4].row().variant == "new");
  const std::string text = render_comparison(all);
  CHECK_THAT(text, contains("only in A") && contains("only in B") &&
                       contains("NOT RUN npp: A and B: no NPP in this toolkit") &&
                       contains("0 improvements, 1 tie, 0 regressions, 4 not compared"));
  // Run in A only: B's reason is given.
  const Comparison lost = compared({timed("npp", 1, Role::peer)}, {missing});
  CHECK(lost.rows[0].cause == "B: no NPP in this toolkit");
  CHECK(lost.count(Verdict::not_compared) == 1);
}

TEST_CASE("a row that stands twice is paired twice") {
  const Comparison twice = compared({timed("a", 1), timed("a", 1)}, {timed("a", 1), timed("a", 2)});
  REQUIRE(twice.rows.size() == 2);
  CHECK(twice.rows[0].verdict == Verdict::tie);
  CHECK(twice.rows[1].verdict == Verdict::regression);
}

TEST_CASE("machines that differ are named, within what a roof varies") {
  CHECK(differences(machine(), machine()).empty());
  Machine other = machine();
  other.roofs[0].second = {4100, 61000, 1950};  // 2.5 %, 1.7 %, 1.5 %
  CHECK(differences(machine(), other).empty());
  other.roofs[0].second = {4200, 50000, 1900};
  CHECK_THAT(differences(machine(), other),
             contains("GPU copy roof 4000 in A, 4200 GB/s in B (+5.0 %)") &&
                 contains("GPU fp32 roof") && contains("(-16.7 %)") && contains("GPU clock"));
  other = machine();
  other.gpu = "another GPU";
  other.libraries = {{"CUB", "3.0"}};
  const std::string text = differences(machine(), other);
  CHECK_THAT(text, contains("GPU a GPU in A, another GPU in B") &&
                       contains("cuDNN 9.14 in A, none in B") &&
                       contains("CUB none in A, 3.0 in B") && !contains("driver"));
  other = machine();
  other.driver = "590";
  other.cuda = "12.9";
  CHECK(differences(machine(), other) == "driver 580 in A, 590 in B; CUDA 13.0 in A, 12.9 in B");
}

TEST_CASE("the summary holds counts, geometric means, the best and the worst") {
  Row b = timed("b", 1);
  Row c = timed("c", 1);
  scale(b.time.hot, 0.25);
  scale(c.time.hot, 2);
  const auto text = lines(render_comparison(
      compared({timed("a", 1), timed("b", 1), timed("c", 1)}, {timed("a", 1), b, c})));
  const auto summary = std::find_if(text.begin(), text.end(), [](const std::string& line) {
    return line.find("improvement, ") != std::string::npos;
  });
  REQUIRE(text.end() - summary == 4);
  CHECK(summary[0] == "1 improvement, 1 tie, 1 regression, 0 not compared");
  CHECK(summary[1] ==  // the cube root of 1 * 4 * 0.5
        "hot: geometric mean 1.260 over 3 rows; best 4.000 (gpu 04 b, length 1,000, mask width 9); "
        "worst 0.500 (gpu 04 c, length 1,000, mask width 9)");
  CHECK(summary[2].rfind("cold: geometric mean 1.000 over 3 rows", 0) == 0);
  CHECK(summary[3] == "REGRESSION: gpu 04 c, length 1,000, mask width 9: hot");
}

TEST_CASE("a comparison in all formats") {
  Row faster = timed("a", 1);
  scale(faster.time.hot, 0.5);
  const Comparison all = compared({timed("a", 1), timed("old", 0.002)}, {faster});
  const std::string terminal = render_comparison(all);
  CHECK_THAT(terminal, contains("A: a.json, 2024-01-02") && contains("2.000  [1.960, 2.040]") &&
                           contains("improvement: hot"));
  const std::string markdown = render_comparison(all, {.format = Format::markdown});
  CHECK_THAT(
      markdown,
      contains("| 04 | a | 1.00 | 0.500 | 2.000 | \\[1.960, 2.040] | 2.00 | 2.00 | 1.000 |"));
  const auto csv = test::parse_csv(render_comparison(all, {.format = Format::csv}));
  REQUIRE(csv.size() == 2);
  CHECK(csv[0].at("stage") == "04_tiled");
  CHECK(csv[0].at("length") == "1000");
  CHECK(csv[0].at("a_hot_median_ms") == "1");
  CHECK(csv[0].at("b_hot_median_ms") == "0.5");
  CHECK(csv[0].at("hot_ratio") == "2");
  CHECK(std::stod(csv[0].at("hot_ratio_low")) == all.rows[0].hot.low);
  CHECK(csv[0].at("verdict") == "improvement");
  CHECK(csv[0].at("cause") == "hot");
  CHECK(csv[1].at("verdict") == "NOT RUN");
  CHECK(csv[1].at("cause") == "only in A");
  CHECK(csv[1].at("hot_ratio").empty());
  CHECK(csv[1].at("a_hot_median_ms") == "0.002");
  CHECK_THAT(render_comparison(all, {.color = true}), contains("\033[32mimprovement: hot"));
}
