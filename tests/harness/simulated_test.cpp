// In the simulator a stage fails for what its values do not show: hazards, and traffic that nobody
// predicted.
#include <cuda_runtime.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <set>

#include "common/conv/inputs.hpp"
#include "common/harness/core/some_blocks.hpp"
#include "common/harness/families/conv1d.hpp"
#include "common/harness/traffic/tally.hpp"
#include "common/report/json.hpp"
#include "common/report/row_tables.hpp"
#include "common/report/traffic_words.hpp"
#include "tests/catch.hpp"
#include "tests/harness/captured.hpp"
#include "tests/harness/marked_line.hpp"
#include "tests/harness/planted/planted.hpp"
#include "tests/harness/planted/planted_costs.hpp"
#include "tests/harness/tried.hpp"

using namespace halo;
using test::try_variant;

namespace {

using Launcher = cudaError_t (*)(const float*, const float*, float*, int, int, int, int, int);

// One request a tap for the signal and one for the mask, as `planted::right` makes.
Cost predict(const Conv1dShape& shape) {
  Tally tally;
  for (const Cells block : Cells{0, shape.length}.pieces(shape.threads)) {
    for (const Cells lanes : block.pieces(kWarpSize)) {
      const Cells warp = lanes.within({shape.first, shape.last});
      for (int j = 0; j < shape.mask_width; ++j) {
        const Cells cells = warp.shifted(j - shape.halo()).within({0, shape.length});
        tally.load(cells);
        tally.load(one(j), !cells.empty());
      }
      tally.store(warp);
    }
  }
  return tally.cost();
}

Conv1dVariant variant_of(const std::string& name, Launcher launcher) {
  Conv1dVariant variant;
  variant.name = name;
  variant.source = "tests/harness/planted/planted.cu";
  variant.launches([launcher](const Conv1dCall& c) {
    return launcher(c.input, c.mask, c.output, c.length, c.mask_width, c.first, c.last, c.threads);
  });
  variant.must_cost(predict);
  return variant;
}

int line_of(const std::string& bug, const std::string& file = "planted.cu") {
  return test::marked_line("tests/harness/planted/" + file, "[bug:" + bug + "]");
}

Row run_channels(const Conv1dVariant& variant, int channels = 1) {
  const auto backend = make_backend();
  const Conv1dProblem problem(3000, 9, 100);
  std::vector<DatasetPtr> data;
  for (int i = 0; i < channels; ++i) {
    data.push_back(conv1d_data(problem, conv::adversarial_input(problem.problem, i),
                               conv::adversarial_mask(problem.problem, 1)));
  }
  Row row;
  check_problem(variant, *backend, problem, 1, row, data);
  return row;
}

const Hazard* find(const Row& row, const std::string& kind) {
  for (const Hazard& hazard : row.hazards.findings) {
    if (hazard.kind == kind) return &hazard;
  }
  return nullptr;
}

}  // namespace

// Run by the next one.
TEST_CASE("what there is with these addresses", "[.addresses]") {
  std::puts(make_backend()->unavailable().c_str());
}

TEST_CASE("a limit that leaves no addresses for device memory is no kernel's fault", "[check]") {
  // Another program: this one has them already.
  const std::string limited =
      "ulimit -v 8000000; exec /proc/" + std::to_string(getpid()) + "/exe '[addresses]'";
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> its(popen(limited.c_str(), "r"), pclose);
  std::string said;
  for (char line[256]; std::fgets(line, sizeof line, its.get()) != nullptr;) said += line;
  CHECK(said.find("ulimit -v unlimited") != std::string::npos);
}

TEST_CASE("a right kernel passes everything") {
  const Conv1dVariant variant = variant_of("right", planted::right);
  const Row trials = try_variant(variant);
  CHECK(trials.check.outcome == Outcome::good);
  CHECK(trials.hazards.outcome == Outcome::good);
  const Row row = run_channels(variant, 3);
  CHECK(row.check.shapes == 3);
  CHECK(row.traffic.outcome == Outcome::good);
  CHECK(row.traffic.counted == row.traffic.predicted);
  CHECK(row.traffic.bytes_per_output_counted > 8);
  CHECK(exit_status({row}) == 0);
}

namespace {

// A few blocks of a signal of nearly 2^31 cells, and a small one.
Row try_large(const std::string& name, Launcher launcher, int threads = 256) {
  const auto backend = make_backend();
  const Conv1dVariant variant = variant_of(name, launcher);
  Row row;
  Progress progress;
  check_trials(variant, *backend,
               std::vector<Trial<Conv1dProblem>>{
                   Conv1dProblem(1000, 9, 100),
                   {Conv1dProblem(conv::kMaxLength, 9, threads), TrialOn::some_blocks}},
               test::seed(), row, progress);
  return row;
}

}  // namespace

TEST_CASE("the longest signal is tried by a few of its blocks") {
  const Row row = try_large("right", planted::right);
  INFO(row.check.reason);
  CHECK(row.check.outcome == Outcome::good);
  CHECK(row.hazards.outcome == Outcome::good);
  CHECK(row.check.shapes == 2);
  CHECK(row.check.large.tried == 1);
  CHECK_THAT(row.check.large.which, test::contains("length 2,147,479,551"));
  CHECK_THAT(row.check.large.which, test::contains(" of 8,388,592 blocks"));
  CHECK(row.check.large.reason.empty());
  // A grid as large as it can be.
  CHECK(try_large("right", planted::right, 1).check.outcome == Outcome::good);
}

TEST_CASE("an index that is exact to 2^24 only leaves out outputs of the longest signal") {
  const Row row = try_large("float_index", planted::float_index);
  CHECK(row.check.outcome == Outcome::bad);
  CHECK_THAT(row.check.reason, test::contains("others are left out"));
  CHECK_THAT(row.check.diagnosis.smallest, test::contains("a few of its blocks"));
  CHECK(row.check.diagnosis.tried == 2);
  CHECK(row.check.diagnosis.wrong == 1);
  CHECK(exit_status({row}) == 1);
}

TEST_CASE("a change of the longest signal is found where a block made it") {
  const Row row = try_large("changes_input", planted::changes_input);
  CHECK_THAT(row.check.reason, test::contains("the input was changed, at input[1073739775]"));
}

TEST_CASE("what a few blocks cannot show is not claimed") {
  const auto tried = [](const Conv1dVariant& variant, int threads) {
    const auto backend = make_backend();
    Row row;
    Progress progress;
    check_trials(variant, *backend,
                 std::vector<Trial<Conv1dProblem>>{
                     {Conv1dProblem(conv::kMaxLength, 9, threads), TrialOn::some_blocks}},
                 1, row, progress);
    CHECK(row.check.shapes == 0);
    CHECK(row.check.large.tried == 0);
    return row.check.large.reason;
  };
  Conv1dVariant variant = variant_of("right", planted::right);
  SECTION("of two launches the second needs all of the first") {
    variant.launches([](const Conv1dCall& c) {
      planted::right(c.input, c.mask, c.output, c.length, c.mask_width, c.first, c.last, c.threads);
      return planted::right(c.input, c.mask, c.output, c.length, c.mask_width, c.first, c.last,
                            c.threads);
    });
    CHECK_THAT(tried(variant, 256), test::contains("2 launches"));
  }
  SECTION("so do temporaries") {
    variant.also([](const Conv1dProblem&, auto& made) { made.workspace_floats = 4; });
    CHECK_THAT(tried(variant, 256), test::contains("temporaries"));
  }
}

TEST_CASE("the blocks of a large launch are the first, the last, and those round powers of two") {
  const auto runs = [](const std::vector<simt::BlockRange>& ranges, std::uint64_t block) {
    return std::any_of(ranges.begin(), ranges.end(), [&](const simt::BlockRange& range) {
      return range.first <= block && block < range.last;
    });
  };
  constexpr std::int64_t kOutputs = std::int64_t{1} << 31;
  const auto ranges = blocks_to_run(1 << 23, kOutputs);  // 256 outputs each
  for (const std::uint64_t block :
       {0, 1, (1 << 23) - 1, 1 << 15, 1 << 16, (1 << 16) - 1, (1 << 24) / 256, (1 << 30) / 256}) {
    CHECK(runs(ranges, block));
  }
  std::uint64_t run = 0, end = 0;
  for (const simt::BlockRange& range : ranges) {
    CHECK(range.first < range.last);
    CHECK((range.first > end || end == 0));
    end = range.last;
    run += range.last - range.first;
  }
  CHECK(end == 1 << 23);
  CHECK(run < 40);
  CHECK(blocks_to_run(1, kOutputs).empty());
  CHECK(blocks_to_run(132, kOutputs).empty());
  CHECK(blocks_to_run(0, kOutputs).empty());
  CHECK(runs(blocks_to_run(2, 10), 1));
}

TEST_CASE("a missing barrier fails the run") {
  const Row row = try_variant(variant_of("no_barrier", planted::no_barrier));
  CHECK(row.hazards.outcome == Outcome::bad);
  CHECK(exit_status({row}) == 1);
  const Hazard* race = find(row, "race");
  REQUIRE(race != nullptr);
  const int bug = line_of("no-barrier");  // between the two lines that race
  CHECK(std::min(race->line, race->other_line) < bug);
  CHECK(std::max(race->line, race->other_line) > bug);
  CHECK_THAT(row.hazards.reason, test::contains("length "));
  // The first problem has no more than a warp's worth of work: its advice is too little for the others.
  CHECK_THAT(race->message, test::contains("__syncthreads()"));
  CHECK_THAT(race->message, !test::contains("__syncwarp()"));
}

TEST_CASE("a read past the end fails the run although it is not used") {
  const Row row = try_variant(variant_of("reads_past_end", planted::reads_past_end));
  CHECK(row.hazards.outcome == Outcome::bad);
  CHECK(row.check.outcome == Outcome::bad);  // the kernel was stopped there
  const Hazard* finding = find(row, "out_of_bounds");
  REQUIRE(finding != nullptr);
  CHECK(finding->line == line_of("past-end"));
  CHECK(finding->file == "tests/harness/planted/planted.cu");
  // The device is usable again.
  CHECK(try_variant(variant_of("right", planted::right)).check.outcome == Outcome::good);
}

TEST_CASE("an uninitialised shared cell fails the run although the values are right") {
  const Row row = try_variant(variant_of("uninitialised", planted::uninitialised));
  CHECK(row.check.outcome == Outcome::good);
  CHECK(row.hazards.outcome == Outcome::bad);
  CHECK(exit_status({row}) == 1);
  const Hazard* finding = find(row, "uninitialized_shared_read");
  REQUIRE(finding != nullptr);
  CHECK(finding->line == line_of("uninitialised"));
}

TEST_CASE("traffic that was not predicted is right, and fails a strict run") {
  const Row row = run_channels(variant_of("reads_twice", planted::reads_twice));
  CHECK(row.check.outcome == Outcome::good);
  CHECK(row.hazards.outcome == Outcome::good);
  CHECK(row.traffic.outcome == Outcome::bad);
  CHECK(exit_status({row}) == 0);
  CHECK(exit_status({row}, true) == 1);
  CHECK_THAT(render_table({row}), test::contains("global_load_requests: predicted "));
  CHECK_THAT(told_traffic(row), test::contains("right; ") && test::contains("bytes per output") &&
                                    test::contains(" more; "));
  // The lines that made what was counted, all of it.
  std::uint64_t loads = 0;
  for (const LineCounts& line : row.traffic.lines) {
    CHECK(line.file == "tests/harness/planted/planted.cu");
    for (const auto& [name, value] : line.counted) {
      if (name == "global_load_sectors") loads += value;
    }
  }
  CHECK(loads == row.traffic.counted[1].second);

  Conv1dVariant unpredicted = variant_of("right", planted::right);
  unpredicted.must_cost(nullptr);
  const Row silent = run_channels(unpredicted);
  CHECK(silent.traffic.outcome == Outcome::not_run);
  CHECK(silent.traffic.reason != "");
}

TEST_CASE(
    "what costs more with equal traffic is told: launches, shared memory, double precision, "
    "leaks") {
  const auto run = [](planted::Waste waste) {
    Conv1dVariant variant = variant_of("wasteful", planted::right);
    variant.source = "tests/harness/planted/planted_costs.cu";
    variant.launches([waste](const Conv1dCall& c) {
      return planted::wasteful(waste, c.input, c.mask, c.output, c.length, c.mask_width, c.first,
                               c.last, c.threads);
    });
    variant.must_cost([](const Conv1dShape& shape) {
      Cost cost = predict(shape);
      cost.add({.launches = 1,
                .blocks = (shape.length + shape.threads - 1u) / shape.threads,
                .threads = static_cast<std::uint64_t>(shape.threads)});
      return cost;
    });
    const Row row = run_channels(variant);
    CHECK(row.check.outcome == Outcome::good);
    CHECK(row.hazards.outcome == Outcome::good);
    CHECK(row.traffic.counted == row.traffic.predicted);
    CHECK(row.traffic.outcome == (waste == planted::Waste::none ? Outcome::good : Outcome::bad));
    CHECK(exit_status({row}) == 0);
    return row;
  };
  const Row none = run(planted::Waste::none);
  CHECK(none.traffic.figures.counted == none.traffic.figures.predicted);
  CHECK(none.traffic.figures.fp64_counted == 0);
  CHECK(none.traffic.figures.unfreed_bytes == 0);
  CHECK(told_traffic(run(planted::Waste::one_block)) == "right; 30 -> 1 blocks");
  CHECK(told_traffic(run(planted::Waste::shared_memory)) ==
        "right; 49,152 bytes of shared memory per block");
  CHECK(told_traffic(run(planted::Waste::leak)) == "right; 256 bytes allocated and not freed");
  const Row doubles = run(planted::Waste::doubles);
  // For each of 3,000 outputs: a conversion and a sum for each of 9 taps, less those beyond the ends,
  // and the conversion of the result.
  CHECK(doubles.traffic.figures.fp64_counted == 2 * (3000 * 9 - 20) + 3000);
  std::set<int> lines;
  for (const LineCounts& line : doubles.traffic.figures.fp64_lines) {
    CHECK(line.file == "tests/harness/planted/planted_costs.cu");
    lines.insert(line.line);
  }
  const std::set<int> marked = {line_of("doubles", "planted_costs.cu"),
                                line_of("doubles-end", "planted_costs.cu")};
  CHECK(lines == marked);
  CHECK_THAT(told_traffic(doubles), test::contains(" operations in double precision"));

  CHECK(none.traffic.figures.tensor_counted == -1);
  const Figures multiplies = run(planted::Waste::tensor_cores).traffic.figures;
  CHECK(multiplies.tensor_predicted == 0);
  CHECK(multiplies.tensor_counted == 2);
  REQUIRE(multiplies.tensor_lines.size() == 1);
  CHECK(multiplies.tensor_lines[0].line == line_of("tensor_cores", "planted_costs.cu"));
}

TEST_CASE("an output cell that is read before it is written is a hazard: poison is no value") {
  // A shared check of the backend itself: the poison is there, and does not count as initialised.
  const auto backend = make_backend();
  Array output(*backend, 100);
  output.poison();
  std::vector<float> cells(100);
  output.read(cells);
  CHECK(std::all_of(cells.begin(), cells.end(), conv::is_poison));
  Array mask(*backend, 1);
  mask.write(std::vector<float>{1.0f});
  Array result(*backend, 100);
  const Observation seen = backend->run([&] {
    return planted::right(output.data(), mask.data(), result.data(), 100, 1, 0, 100, 32);
  });
  REQUIRE(!seen.hazards.empty());
  CHECK(seen.hazards[0].kind == "uninitialized_global_read");
  CHECK(seen.kernels == 1);
}

TEST_CASE("a run says which lines of a variant's own kernel nothing reached") {
  Conv1dStage stage;
  stage.name = "04_conv1d_tiled_halo";
  stage.variants = {variant_of("right", planted::right),
                    variant_of("seldom_wrong", planted::seldom_wrong)};
  const auto run = [&](std::vector<const char*> arguments) {
    arguments.insert(arguments.end(), {"--length", "1000", "--color", "never"});
    return test::captured(arguments, [&](int argc, const char* const* argv) {
      return run_program<Conv1dProblem>(argc, argv, {stage}, {}, make_backend());
    });
  };
  const std::string sentence = "lines " + std::to_string(line_of("seldom")) + "-" +
                               std::to_string(line_of("seldom-end")) +
                               " of planted.cu were never reached";
  const test::Folder folder;
  const std::string file = folder / "rows.json";
  const auto [status, out, err] = run({"--json", file.c_str()});
  CHECK(status == 0);  // a gap in the trials is no fault of the variant
  CHECK(out.find("04 seldom_wrong: " + sentence) != std::string::npos);
  CHECK(out.find("04 right:") == std::string::npos);
  const std::vector<Row> rows = read_json(file).rows;
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].coverage.outcome == Outcome::good);
  CHECK(rows[0].coverage.lines > 5);
  CHECK(rows[1].coverage.outcome == Outcome::bad);
  CHECK(rows[1].coverage.unreached ==
        std::vector<LineRange>{
            {"tests/harness/planted/planted.cu", line_of("seldom"), line_of("seldom-end")}});

  // One problem alone says little of lines.
  const auto without = run({"--no-trials", "--json", file.c_str()});
  CHECK(without.status == 0);
  CHECK(without.out.find("never reached") == std::string::npos);
  CHECK(read_json(file).rows[1].coverage.outcome == Outcome::not_run);
}

TEST_CASE("a variant that failed is not blamed for lines that it could not reach") {
  Conv1dStage stage;
  stage.name = "04_conv1d_tiled_halo";
  stage.variants = {variant_of("no_barrier", planted::no_barrier)};
  const auto ended = test::captured({"--length", "1000"}, [&](int argc, const char* const* argv) {
    return run_program<Conv1dProblem>(argc, argv, {stage}, {}, make_backend());
  });
  CHECK(ended.status == 1);
  CHECK(ended.out.find("never reached") == std::string::npos);
}

TEST_CASE("on the tiny GPU programs find two SMs, and afterwards what was there before") {
  const auto backend = make_backend();
  const auto multiprocessors = [] {
    int sms = 0;
    REQUIRE(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0) == cudaSuccess);
    return sms;
  };
  const int sms = multiprocessors();
  {
    const TinyGpu tiny(*backend);
    REQUIRE(tiny.is_there());
    CHECK(multiprocessors() == 2);
  }
  CHECK(multiprocessors() == sms);
  CHECK(sms > 2);
}
