// What the harness says of a variant's launches beyond their numbers: what kernels printed, why they
// ended, whose memory it was.
#include "common/harness/families/conv1d.hpp"
#include "common/report/json.hpp"
#include "common/simt/simulator.hpp"
#include "tests/catch.hpp"
#include "tests/harness/planted/planted.hpp"
#include "tests/harness/planted/planted_launches.hpp"

using namespace halo;

namespace {

using Launcher = cudaError_t (*)(const float*, const float*, float*, int, int, int, int, int);

Conv1dVariant variant_of(const std::string& name, Launcher launcher) {
  Conv1dVariant variant;
  variant.name = name;
  variant.source = "tests/harness/planted/planted_launches.cu";
  variant.launches([launcher](const Conv1dCall& c) {
    return launcher(c.input, c.mask, c.output, c.length, c.mask_width, c.first, c.last, c.threads);
  });
  return variant;
}

std::vector<Conv1dProblem> problems() {
  return {Conv1dProblem(30, 3, 32), Conv1dProblem(100, 5, 64), Conv1dProblem(300, 9, 128)};
}

Row try_variant(const std::string& name, Launcher launcher) {
  const auto backend = make_backend();
  Row row;
  row.stage = "00_planted";
  row.backend = "sim";
  Progress progress;
  check_trials(variant_of(name, launcher), *backend, problems(), 1, row, progress);
  return row;
}

}  // namespace

TEST_CASE("what a variant's kernels print stands in its row") {
  const Row row = try_variant("prints_and_leaks", planted::prints_and_leaks);
  CHECK(row.check.outcome == Outcome::good);
  CHECK(row.printed.total ==
        static_cast<std::uint64_t>(row.check.shapes) * (row.printed.total / row.check.shapes));
  CHECK(row.printed.total >= 3);
  CHECK_THAT(row.printed.where, test::contains("length 30"));
  CHECK(row.printed.lines == std::vector<std::string>{"n is 30"});
  Results results;
  results.rows = {row};
  const Row back = results_from_json(to_json(results), "the results").rows.front();
  CHECK(back.printed.where == row.printed.where);
  CHECK(back.printed.lines == row.printed.lines);
  CHECK(back.printed.total == row.printed.total);
}

TEST_CASE("memory that a launch does not free is seen") {
  const auto backend = make_backend();
  Array input(*backend, 100);
  Array mask(*backend, 1);
  Array output(*backend, 100);
  input.write(std::vector<float>(100, 1.0f));
  mask.write(std::vector<float>{1.0f});
  const auto run = [&](Launcher launcher) {
    return backend->run(
        [&] { return launcher(input.data(), mask.data(), output.data(), 100, 1, 0, 100, 32); });
  };
  CHECK(run(planted::right).unfreed.empty());
  const Observation seen = run(planted::prints_and_leaks);
  REQUIRE(seen.unfreed.size() == 1);
  CHECK(seen.unfreed[0].bytes == 100);
  CHECK_THAT(seen.unfreed[0].file, test::contains("planted_launches.cu"));
}

TEST_CASE("a failed assert is told with its line and its condition") {
  const Row row = try_variant("asserts_few_outputs", planted::asserts_few_outputs);
  CHECK(row.check.outcome == Outcome::bad);
  CHECK_THAT(row.check.reason, test::contains("length 100"));
  CHECK_THAT(row.check.reason, test::contains("device-side assert triggered"));
  CHECK_THAT(row.check.reason, test::contains("planted_launches.cu:"));
  CHECK_THAT(row.check.reason, test::contains("fails the assertion `i < 40`"));
  REQUIRE(!row.hazards.findings.empty());
  CHECK(row.hazards.findings[0].kind == "failed_assert");
  CHECK(row.hazards.findings[0].file == "tests/harness/planted/planted_launches.cu");
}

TEST_CASE("a division by zero fails the run, even where its result is not used") {
  const Row row = try_variant("divides_by_zero", planted::divides_by_zero);
  CHECK(row.check.outcome == Outcome::good);
  CHECK(row.hazards.outcome == Outcome::bad);
  CHECK(exit_status({row}) == 1);
  REQUIRE(row.hazards.findings.size() == 1);
  CHECK(row.hazards.findings[0].kind == "division_by_zero");
  CHECK(row.hazards.findings[0].file == "tests/harness/planted/planted_launches.cu");
  CHECK_THAT(row.hazards.findings[0].message,
             test::contains("divides an integer by zero") && test::contains("does not stop there"));
  // What comes next runs.
  CHECK(try_variant("right", planted::right).check.outcome == Outcome::good);
}

TEST_CASE("a launch that is refused says which limit and what was asked for") {
  const Row row = try_variant("too_many_threads", planted::too_many_threads);
  CHECK_THAT(row.check.reason, test::contains("invalid configuration argument"));
  CHECK_THAT(row.check.reason, test::contains("2048"));
  CHECK_THAT(row.check.reason, test::contains("1024"));
}

TEST_CASE("what SIMT_CHECKS leaves out is not run, and is neither good nor bad") {
  struct RestoreChecks {
    ~RestoreChecks() { simt::simulator()->set_checks("all"); }
  } restore;
  const auto tried = [](const char* checks) {
    simt::simulator()->set_checks(checks);
    const auto backend = make_backend();
    Conv1dVariant variant = variant_of("right", planted::right);
    variant.must_cost([](const Conv1dProblem&) { return Cost(simt::Counters{}); });
    Row row;
    check_problem(variant, *backend, Conv1dProblem(300, 9, 128), 1, row);
    return row;
  };
  const Row none = tried("none");
  CHECK(none.check.outcome == Outcome::good);
  CHECK(none.hazards.outcome == Outcome::not_run);
  CHECK_THAT(none.hazards.reason, test::contains("SIMT_CHECKS"));
  CHECK(none.traffic.outcome == Outcome::not_run);
  CHECK_THAT(none.traffic.reason, test::contains("SIMT_CHECKS=none"));
  CHECK(exit_status({none}) == 0);
  const Row counters = tried("counters");
  CHECK(counters.hazards.outcome == Outcome::not_run);
  CHECK(counters.traffic.outcome == Outcome::bad);  // it was not predicted
}

TEST_CASE("an array has one name in all problems, and what is wrong with it is told once") {
  const Row row = try_variant("reads_past_end", planted::reads_past_end);
  REQUIRE(row.hazards.findings.size() == 1);
  CHECK(row.hazards.findings[0].array == "input");
  CHECK_THAT(row.hazards.findings[0].message, test::contains("outside input"));
}
