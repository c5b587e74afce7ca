// The checks are checked: every wrong variant must be rejected, every right one accepted.
#include <algorithm>
#include <cmath>
#include <set>

#include "common/conv/inputs.hpp"
#include "common/harness/families/conv1d.hpp"
#include "common/harness/families/trials.hpp"
#include "tests/catch.hpp"
#include "tests/harness/tried.hpp"
#include "tests/harness/wrong_variants.hpp"

using namespace halo;
using test::try_variant;

TEST_CASE("every wrong variant is rejected, with a reason that names a shape") {
  const auto trials = adversarial<Conv1dProblem>(test::seed());
  REQUIRE(test::wrong_variants().size() > 30);
  for (const Conv1dVariant& variant : test::wrong_variants()) {
    INFO(variant.name);
    const Row row = try_variant(variant, trials);
    CHECK(row.check.outcome == Outcome::bad);
    CHECK_THAT(row.check.reason, test::contains("length "));
  }
}

TEST_CASE("every right variant is accepted") {
  const auto trials = adversarial<Conv1dProblem>(test::seed());
  for (const Conv1dVariant& variant : test::right_variants()) {
    INFO(variant.name);
    const Row row = try_variant(variant, trials);
    CHECK(row.check.reason == "");
    CHECK(row.check.outcome == Outcome::good);
    CHECK(row.check.shapes == static_cast<int>(trials.size()));
    CHECK(row.check.worst_share > 0);
    CHECK(row.check.worst_share <= 1);
  }
}

TEST_CASE("stray writes and changed inputs are hazards too") {
  const std::set<std::string> stray = {
      "writes one past the end",     "writes the whole last block",
      "writes one before the start", "writes past the end of the input",
      "clears its first input",      "changes its mask"};
  int seen = 0;
  for (const Conv1dVariant& variant : test::wrong_variants()) {
    if (!stray.count(variant.name)) continue;
    ++seen;
    INFO(variant.name);
    const Row row = try_variant(variant, adversarial<Conv1dProblem>(test::seed()));
    CHECK(row.hazards.outcome == Outcome::bad);
    REQUIRE(!row.hazards.findings.empty());
    CHECK(row.hazards.findings.front().kind == "stray_write");
    CHECK(exit_status({row}) == 1);
  }
  CHECK(seen == static_cast<int>(stray.size()));
}

TEST_CASE("a variant that could not be run, or tried on nothing, has not passed") {
  Conv1dVariant absent = test::plain_variant();
  absent.unavailable = "its library is missing";
  Row row = try_variant(absent, adversarial<Conv1dProblem>(1));
  CHECK(row.check.outcome == Outcome::not_run);
  CHECK(row.check.reason == "its library is missing");
  CHECK(exit_status({row}) == 77);

  row = try_variant(test::plain_variant(), {});
  CHECK(row.check.outcome == Outcome::not_run);
  CHECK(exit_status({row}) == 77);
}

TEST_CASE("a problem of its own is compared as strictly as a trial") {
  const auto backend = make_backend();
  for (const Conv1dVariant& variant : test::wrong_variants()) {
    if (variant.name != "off by one" && variant.name != "last output not written" &&
        variant.name != "one NaN in a thousand" && variant.name != "writes one past the end") {
      continue;
    }
    INFO(variant.name);
    Row row;
    check_problem(variant, *backend, Conv1dProblem(5000, 9, 64), test::seed(), row);
    CHECK(row.check.outcome == Outcome::bad);
  }
  Row row;
  SavedOutputs outputs;
  const Conv1dProblem problem(5000, 9, 64, conv::Border::report);
  check_problem(test::plain_variant(), *backend, problem, test::seed(), row, {}, &outputs);
  CHECK(row.check.outcome == Outcome::good);
  REQUIRE(outputs.size() == 1);
  CHECK(outputs[0].size() == 5000);
  CHECK(conv::is_poison(outputs[0][3]));
  CHECK_FALSE(conv::is_poison(outputs[0][4]));
}

TEST_CASE("a failed trial stays failed when the problem is right") {
  const auto backend = make_backend();
  Row row;
  row.check.outcome = Outcome::bad;
  row.check.reason = "before";
  check_problem(test::plain_variant(), *backend, Conv1dProblem(100, 3, 64), test::seed(), row);
  CHECK(row.check.outcome == Outcome::bad);
  CHECK(row.check.reason == "before");
}

TEST_CASE("the trials hold every kind of shape") {
  const auto trials = adversarial<Conv1dProblem>(test::seed());
  const auto some = [&](const std::function<bool(const Conv1dProblem&)>& is) {
    return std::any_of(trials.begin(), trials.end(), is);
  };
  for (const int threads : {1, 16, 33, 256, 1024}) {
    INFO(threads);
    CHECK(some([&](const Conv1dProblem& t) { return t.threads == threads; }));
  }
  CHECK(some([](const Conv1dProblem& t) { return t.length == 1; }));
  CHECK(some([](const Conv1dProblem& t) { return t.mask_width == 1; }));
  CHECK(some([](const Conv1dProblem& t) { return t.mask_width == conv::kMaxMaskWidth; }));
  CHECK(some([](const Conv1dProblem& t) { return t.mask_width > t.length; }));
  CHECK(some([](const Conv1dProblem& t) { return t.length < t.threads; }));
  CHECK(some([](const Conv1dProblem& t) { return t.length % t.threads == 0; }));
  CHECK(some([](const Conv1dProblem& t) { return t.length % t.threads == 1; }));
  CHECK(some([](const Conv1dProblem& t) { return t.mask_width / 2 > t.threads; }));
  CHECK(some([](const Conv1dProblem& t) { return t.problem.border() == conv::Border::report; }));
  // The random ones come from the seed, and only from it.
  const auto again = adversarial<Conv1dProblem>(test::seed());
  const auto other = adversarial<Conv1dProblem>(test::seed() + 1);
  CHECK(again.back().length == trials.back().length);
  CHECK((other.back().length != trials.back().length ||
         other.back().threads != trials.back().threads));
}

TEST_CASE("a kernel's method is the bound that it is held to, and a failure names that bound") {
  // A sum that is off by some thousand roundings, as on tensor cores.
  Conv1dVariant coarse = test::plain_variant();
  coarse.also([](const Conv1dProblem&, auto& made) {
    made.launch = [plain = made.launch](const Conv1dCall& c) {
      plain(c);
      for (int i = c.first; i < c.last; ++i) c.output[i] *= 1 + 1e-6f;
      return 0;
    };
  });
  const auto run = [&](Arithmetic arithmetic) {
    coarse.demand = demand_of(arithmetic);
    const auto backend = make_backend();
    Row row;
    check_problem(coarse, *backend, Conv1dProblem(500, 9, 64), test::seed(), row);
    return row;
  };
  const Row definition = run(Arithmetic::definition);
  CHECK(definition.check.outcome == Outcome::bad);
  CHECK_THAT(definition.check.reason,
             test::contains(" times it") &&
                 test::contains("The bound is that of products, sums and expf in float") &&
                 test::contains("Arithmetic in common/harness/kernel.h"));
  CHECK(run(Arithmetic::tf32).check.outcome == Outcome::good);
  CHECK(run(Arithmetic::transform).check.outcome == Outcome::good);
  CHECK(run(Arithmetic::transform_split).check.outcome == Outcome::good);
  CHECK(run(Arithmetic::exp2).check.outcome == Outcome::bad);

  Conv1dStage stage;
  add(stage, "split", "x.cu",
      Conv1dKernel{.description = "", .launch = nullptr, .arithmetic = Arithmetic::tf32_split});
  CHECK(stage.variants.front().demand == conv::Demand::tf32_split);
}

TEST_CASE("a set-up that reads more of the mask than there is has not passed") {
  static float kept[kMaxMaskWidth];
  Conv1dVariant variant = test::plain_variant();
  const auto run = [&](int too_many) {
    variant.also([too_many](const Conv1dProblem& problem, auto& made) {
      const int count = too_many < 0 ? kMaxMaskWidth : problem.mask_width + too_many;
      made.set_up = [count](const float* mask) {
        std::copy_n(mask, count, kept);
        return 0;
      };
    });
    return try_variant(variant, {Conv1dProblem(500, 9, 64), Conv1dProblem(100, 31, 64)});
  };
  CHECK(run(0).check.outcome == Outcome::good);
  CHECK(run(0).hazards.outcome != Outcome::bad);
  for (const int too_many : {1, -1}) {
    const Row row = run(too_many);
    CHECK(row.check.outcome == Outcome::bad);
    CHECK_THAT(row.check.reason,
               test::contains("setting the mask reads past the end of the mask in host memory"));
    REQUIRE(row.hazards.findings.size() == 1);
    CHECK(row.hazards.findings.front().kind == "out_of_bounds");
    CHECK(row.hazards.findings.front().array == "mask");
  }
  CHECK(run(0).check.outcome == Outcome::good);
}

TEST_CASE("what is computed from memory that nobody set was written: it is another NaN") {
  const auto backend = make_backend();
  const Array fresh(*backend, 3);
  std::vector<float> cells(3);
  fresh.read(cells);
  for (const float cell : cells) {
    CHECK(std::isnan(cell));
    CHECK_FALSE(conv::is_poison(cell));
    CHECK_FALSE(conv::is_poison(cell * 2.0f + 1.0f));
  }
}

TEST_CASE("a tile is tried with one less, as many and one more of each of its letters") {
  const std::vector<TileSizes> tiles = {{.K = 4, .P = 8}, {.K = 64}, {.N = 1}};
  CHECK(sizes_round(tiles, &TileSizes::P, {3}) == std::vector<int>{3, 7, 8, 9});
  CHECK(sizes_round(tiles, &TileSizes::Q, {3, 5}) == std::vector<int>{3, 5});
  CHECK(sizes_round(tiles, &TileSizes::N, {}) == std::vector<int>{1, 2});
  // Vectors of 4 in a row of 64: one less and more of these too. What is plain stands first, and once.
  CHECK(sizes_round(tiles, &TileSizes::K, {5}) == std::vector<int>{5, 3, 4, 60, 63, 64, 65, 68});
}

TEST_CASE("a variant that takes few problems gets its own, one that takes many not") {
  Conv1dVariant choosy = test::plain_variant();
  choosy.tiles = [](const Conv1dProblem&) { return std::vector<TileSizes>{{.cells = 10}}; };
  choosy.refuses([](const Conv1dProblem& problem) {
    return problem.mask_width % 2 == 1 && problem.mask_width < 30 ? "" : "it is choosy";
  });
  const auto own = trials(choosy, test::seed());
  CHECK(own.size() >= kFewestTrials);
  for (const auto& trial : own) CHECK(refusal(choosy, trial.problem) == "");
  for (const int near : {-3, -2, -1, 0, 1, 2, 3}) {
    CHECK(std::any_of(own.begin(), own.end(), [&](const auto& trial) {
      return trial.problem.length > 5 && (trial.problem.length - near) % 10 == 0;
    }));
  }
}
