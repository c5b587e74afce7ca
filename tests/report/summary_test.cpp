// Many problems in a few lines: who is compared with whom, what counts as won, and the means.
#include "common/report/summary.hpp"

#include <algorithm>
#include <cmath>

#include "common/report/row_tables.hpp"
#include "tests/catch.hpp"
#include "tests/report/csv.hpp"

using namespace halo;
using test::Approx;
using test::contains;

namespace {

Problem layer(std::int64_t N, std::int64_t R, std::int64_t K = 64) {
  return {{"N", N},
          {"C", std::int64_t{3}},
          {"H", std::int64_t{9}},
          {"W", std::int64_t{9}},
          {"K", K},
          {"R", R},
          {"S", R},
          {"stride", std::int64_t{1}},
          {"padding", (R - 1) / 2}};
}

// "9-1-3-64-1", as the harness calls such a layer.
std::string word_for(const Problem& problem) {
  std::string word;
  for (const std::size_t field : {2, 0, 5, 4, 1}) {
    word +=
        (word.empty() ? "" : "-") + std::to_string(std::get<std::int64_t>(problem[field].second));
  }
  return word;
}

// p10 and p90 one percent off, A/A spread 0.2 %.
Row timed(const std::string& stage, const std::string& variant, const Problem& problem, double ms) {
  Row row;
  row.stage = stage;
  row.backend = "gpu";
  row.variant = variant;
  row.role = stage == "peers" ? Role::peer : Role::variant;
  row.problem = problem;
  row.label = word_for(problem);
  row.check.outcome = Outcome::good;
  row.time.outcome = Outcome::good;
  row.time.hot = {15, ms, ms * 0.99, ms * 1.01, 0.002};
  return row;
}

const std::string kStage = "09_cuconv_two_stage";

// Ours against a library on four problems: 2.0, 4.0 (batch 1, 1x1), 0.5 (batch 8), a tie (3x3).
std::vector<Row> four_problems() {
  std::vector<Row> rows;
  const auto add = [&](const Problem& problem, double ours, double theirs) {
    rows.push_back(timed(kStage, "two_stage", problem, ours));
    rows.push_back(timed("peers", "cudnn", problem, theirs));
    rows.push_back(timed("peers", "cudnn_graph", problem, theirs * 1.5));
  };
  add(layer(1, 1, 8), 1, 2);
  add(layer(1, 1, 16), 1, 4);
  add(layer(8, 1), 2, 1);
  add(layer(1, 3), 1, 1.005);
  return rows;
}

}  // namespace

TEST_CASE("a variant against the fastest library: wins, ties, losses and means") {
  const std::vector<Standing> standings = against_peers(four_problems());
  REQUIRE(standings.size() == 1);
  const Standing& all = standings[0];
  CHECK(all.variant == "two_stage");
  CHECK(all.problems == 4);
  CHECK(all.wins == 2);
  CHECK(all.ties == 1);
  CHECK(all.losses == 1);
  CHECK(all.geometric_mean == Approx(std::pow(2 * 4 * 0.5 * 1.005, 0.25)));
  CHECK(all.mean_of_wins == Approx(3));
  CHECK(all.best.ratio == Approx(4));
  CHECK(all.best.problem == "9-1-1-16-3");
  CHECK(all.worst.ratio == Approx(0.5));
  CHECK(all.worst.problem == "9-8-1-64-3");
}

TEST_CASE("standings in groups, in the order of the values") {
  const std::vector<Standing> standings = against_peers(four_problems(), {"R", "N"});
  REQUIRE(standings.size() == 4);
  CHECK(standings[0].group.empty());
  using Group = std::vector<std::pair<std::string, std::string>>;
  CHECK(standings[1].group == Group{{"R", "1"}, {"N", "1"}});
  CHECK(standings[1].wins == 2);
  CHECK(standings[2].group == Group{{"R", "1"}, {"N", "8"}});
  CHECK(standings[2].losses == 1);
  CHECK(standings[3].group == Group{{"R", "3"}, {"N", "1"}});
  CHECK(standings[3].ties == 1);
}

TEST_CASE("a problem without a time on either side is counted, not compared") {
  std::vector<Row> rows = four_problems();
  rows[0].time.outcome = Outcome::not_run;         // ours
  rows.erase(rows.begin() + 4, rows.begin() + 6);  // both libraries of the second problem
  const std::vector<Standing> standings = against_peers(rows);
  REQUIRE(standings.size() == 1);
  CHECK(standings[0].problems == 2);
  CHECK(standings[0].not_run == 2);
}

TEST_CASE("nothing to compare is no standing, and the summary says so") {
  const std::vector<Row> alone = {timed(kStage, "two_stage", layer(1, 1), 1)};
  CHECK(against_peers(alone).empty());
  CHECK(against_stage(alone).empty());
  CHECK_THAT(render_summary(alone, {}), contains("NOT RUN"));
}

TEST_CASE("cold times have standings of their own") {
  std::vector<Row> rows = four_problems();
  for (std::size_t i = 0; i < 3; ++i) rows[i].time.cold = rows[i].time.hot;
  rows[0].time.cold = {15, 8, 7.9, 8.1, 0.002};  // the library needs 2
  const std::vector<Standing> standings = against_peers(rows);
  REQUIRE(standings.size() == 2);
  CHECK_FALSE(standings[0].cold);
  CHECK(standings[1].cold);
  CHECK(standings[1].problems == 1);
  CHECK(standings[1].losses == 1);
}

TEST_CASE("against its own stage a variant meets the fastest of the others") {
  std::vector<Row> rows;
  for (const double faster : {1.0, 3.0}) {
    const Problem problem = layer(1, 1, faster < 2 ? 8 : 16);
    rows.push_back(timed(kStage, "a", problem, faster));
    rows.push_back(timed(kStage, "b", problem, 2));
    rows.push_back(timed(kStage, "c", problem, 10));
    rows.push_back(timed("08_other", "d", problem, 0.1));
  }
  const std::vector<Standing> standings = against_stage(rows);
  REQUIRE(standings.size() == 3);  // d has no others
  CHECK(standings[0].variant == "a");
  CHECK(standings[0].wins == 1);
  CHECK(standings[0].losses == 1);
  CHECK(standings[0].geometric_mean == Approx(std::sqrt(2.0 * (2.0 / 3.0))));
  CHECK(standings[2].wins == 0);
  CHECK(standings[2].worst.ratio == Approx(0.1));
}

TEST_CASE("a choice is right where what was chosen is the faster") {
  std::vector<Row> rows;
  const auto add = [&](std::int64_t K, double first, double second, const std::string& chosen) {
    const Problem problem = layer(1, 1, K);
    rows.push_back(timed("07_s", "first", problem, first));
    rows.push_back(timed("07_s", "second", problem, second));
    rows.push_back(timed("07_s", "neither", problem, 0.01));
    Row chooser = timed("07_s", "chooser", problem, 5);  // its own time does not count
    chooser.runs_as = chosen;
    chooser.chooses_from = {"first", "second"};
    rows.push_back(chooser);
  };
  add(1, 1, 2, "first");
  add(2, 1, 2, "second");
  add(3, 4, 1, "second");
  add(4, 1, 1.001, "second");
  const std::vector<Standing> standings = choices(rows);
  REQUIRE(standings.size() == 1);
  CHECK(standings[0].variant == "chooser");
  CHECK(standings[0].wins == 2);
  CHECK(standings[0].losses == 1);
  CHECK(standings[0].ties == 1);
  CHECK(standings[0].best.ratio == Approx(4));
  // Nor does a chooser count among the variants of its stage.
  for (const Standing& standing : against_stage(rows)) CHECK(standing.variant != "chooser");
}

TEST_CASE("the paper's claim stands beside the layers that it is about, and no others") {
  const std::string text = render_summary(four_problems(), {"R", "N"});
  CHECK_THAT(text, contains("wins 50 of 602"));
  CHECK_THAT(text, contains("mean 1.23, best 2.29"));
  CHECK_THAT(text, contains("Tesla V100-SXM2"));
  CHECK_THAT(text, !contains("mean 1.36"));  // no 5x5 among these
  CHECK_THAT(render_summary(four_problems(), {}), !contains("mean 1.23"));
}

TEST_CASE("a summary as CSV has a line for each standing, figures in full") {
  const auto lines =
      test::parse_csv(render_summary(four_problems(), {"R"}, {.format = Format::csv}));
  REQUIRE(lines.size() == 3);
  CHECK(lines[0].at("against") == "library");
  CHECK(lines[0].at("problems") == "all");
  CHECK(lines[0].at("wins") == "2");
  CHECK(std::stod(lines[0].at("best_ratio")) == Approx(4));
  CHECK(lines[1].at("problems") == "R 1");
  CHECK(lines[2].at("ties") == "1");
}

TEST_CASE("a problem without a label is told by its fields") {
  std::vector<Row> rows = four_problems();
  rows.resize(2);
  for (Row& row : rows) row.label.clear();
  CHECK_THAT(against_peers(rows).at(0).best.problem, contains("N 1, C 3") && contains("R 1"));
  for (Row& row : rows) row.problem = {{"length", std::int64_t{1000}}};
  CHECK(against_peers(rows).at(0).best.problem == "length 1,000");
}

TEST_CASE("hundreds of layers are shown in brief, a few one by one, and what failed in any case") {
  std::vector<Row> rows;
  const auto add = [&](std::int64_t filters) {
    rows.push_back(timed(kStage, "two_stage", layer(1, 3, filters), 1));
    rows.push_back(timed("peers", "cudnn", layer(1, 3, filters), 2));
  };
  for (std::int64_t filters = 1; filters <= 40; ++filters) add(filters);
  CHECK(render_brief(rows) == render_table(rows));
  add(41);
  Row bad = timed(kStage, "sum", layer(1, 3, 42), 1);
  bad.check.outcome = Outcome::bad;
  bad.check.reason = "output 7 is wrong";
  rows.push_back(bad);
  const std::string brief = render_brief(rows);
  CHECK_THAT(brief, contains("Against the fastest library") && contains("output 7 is wrong") &&
                        !contains("On the GPU: N 1"));
  CHECK(std::count(brief.begin(), brief.end(), '\n') < 30);
  // Where nothing was timed there is nothing to sum up.
  for (Row& row : rows) row.time = {};
  CHECK(render_brief(rows) == render_table(rows));
  const TableOptions csv{.color = false, .format = Format::csv};
  CHECK(render_brief(rows, csv) == render_table(rows, csv));
}
