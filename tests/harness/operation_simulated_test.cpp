// In the simulator a stage of transforms, pooling or softmax fails for what its values do not show:
// hazards, and traffic that nobody predicted.
#include <algorithm>

#include "common/harness/families/softmax.hpp"
#include "common/harness/families/transform.hpp"
#include "common/harness/traffic/tally.hpp"
#include "tests/catch.hpp"
#include "tests/harness/marked_line.hpp"
#include "tests/harness/planted/planted_operations.hpp"
#include "tests/harness/tried.hpp"

using namespace halo;
using conv::Softmax;
using conv::Transform;
using test::run_one;
using test::try_variant;

namespace {

constexpr int kSide = 8;

int cells_of(const Transform& t) { return t.images().C() * t.images().H() * t.images().W(); }

TransformVariant transform(const std::string& name,
                           cudaError_t (*launch)(const float*, float*, int, int)) {
  TransformVariant variant;
  variant.name = name;
  variant.source = "tests/harness/planted/planted_operations.cu";
  variant.launches([launch](const ProblemCall<conv::Transform>& c) {
    return launch(c.input, c.output, c.problem.images().N(), cells_of(c.problem));
  });
  variant.refuses([](const Transform& t) {
    return t.from() == conv::Layout::chwn ? "" : "it goes one way only";
  });
  return variant;
}

// Tiles of 8 x 8 by blocks of two warps, four rows each.
Cost predict_tiles(const Transform& t) {
  Tally tally;
  const int images = t.images().N(), cells = cells_of(t);
  // A warp has four rows of a tile of a matrix [rows][columns]. visit(cell in the matrix, row and
  // column in the tile).
  const auto request = [](int row0, int rows, int column0, int columns, auto visit) {
    return lanes({0, kWarpSize}, [=](std::int64_t lane) {
      const std::int64_t row = row0 + lane / kSide, column = column0 + lane % kSide;
      return row < rows && column < columns
                 ? visit(row * columns + column, row % kSide, column % kSide)
                 : kNoCell;
    });
  };
  const auto in_matrix = [](std::int64_t cell, std::int64_t, std::int64_t) { return cell; };
  // The tile is [cell][image].
  const auto by_row = [](std::int64_t, std::int64_t row, std::int64_t column) {
    return row * (kSide + 1) + column;
  };
  const auto by_column = [](std::int64_t, std::int64_t row, std::int64_t column) {
    return column * (kSide + 1) + row;
  };
  for (int n = 0; n < images; n += kSide) {
    for (int cell = 0; cell < cells; cell += kSide) {
      tally.barriers(1);
      for (int half = 0; half < kSide; half += 4) {
        tally.load(request(cell + half, cells, n, images, in_matrix));
        tally.shared_store(request(cell + half, cells, n, images, by_row));
        tally.shared_load(request(n + half, images, cell, cells, by_column));
        tally.store(request(n + half, images, cell, cells, in_matrix));
      }
    }
  }
  return tally.cost();
}

SoftmaxVariant softmax(const std::string& name,
                       cudaError_t (*launch)(const float*, float*, float*, int, int)) {
  SoftmaxVariant variant;
  variant.name = name;
  variant.source = "tests/harness/planted/planted_operations.cu";
  variant.launches([launch](const ProblemCall<conv::Softmax>& c) {
    return launch(c.input, c.output, c.workspace, c.problem.N(), c.problem.C());
  });
  variant.also([](const Softmax& softmax, auto& made) { made.workspace_floats = softmax.N(); });
  return variant;
}

int line_of(const std::string& bug) {
  return test::marked_line("tests/harness/planted/planted_operations.cu", "[bug:" + bug + "]");
}

}  // namespace

TEST_CASE("right kernels of operations pass everything", "[operation]") {
  TransformVariant tiles = transform("right", planted::right_transform);
  tiles.must_cost(predict_tiles);
  const Row trials = try_variant(tiles);
  CHECK(trials.check.reason == "");
  CHECK(trials.check.outcome == Outcome::good);
  CHECK(trials.hazards.outcome == Outcome::good);
  for (const char* label : {"8-8-1-to-nchw", "3x5-33-2-to-nchw", "1-1-9-to-nchw"}) {
    INFO(label);
    const Row row = run_one(tiles, conv::parse_transform(label));
    CHECK(row.traffic.outcome == Outcome::good);
    CHECK(row.traffic.counted == row.traffic.predicted);
    CHECK(row.traffic.bytes_per_output_counted >= 8);
    CHECK(exit_status({row}) == 0);
  }
  const Row staged = try_variant(softmax("staged", planted::staged_softmax));
  CHECK(staged.check.reason == "");
  CHECK(staged.check.outcome == Outcome::good);
  CHECK(staged.hazards.outcome == Outcome::good);
}

TEST_CASE("a missing barrier fails an operation's run", "[operation]") {
  const Row row = try_variant(transform("no_barrier", planted::no_barrier_transform));
  CHECK(row.hazards.outcome == Outcome::bad);
  CHECK(exit_status({row}) == 1);
  REQUIRE(!row.hazards.findings.empty());
  const Hazard& race = row.hazards.findings.front();
  CHECK(race.kind == "race");
  const int bug = line_of("no-barrier-transform");  // between the two lines that race
  CHECK(std::min(race.line, race.other_line) < bug);
  CHECK(std::max(race.line, race.other_line) > bug);
  CHECK_THAT(row.hazards.reason, test::contains("first with transform "));
}

TEST_CASE("an operation's workspace that is stale or too small fails the run", "[operation]") {
  Row row = try_variant(softmax("stale", planted::stale_softmax));
  CHECK(row.check.outcome == Outcome::good);
  CHECK(row.hazards.outcome == Outcome::bad);
  REQUIRE(!row.hazards.findings.empty());
  CHECK(row.hazards.findings.front().kind == "uninitialized_global_read");
  CHECK(row.hazards.findings.front().line == line_of("stale-softmax"));

  SoftmaxVariant small = softmax("small", planted::staged_softmax);
  small.also([](const Softmax& softmax, auto& made) { made.workspace_floats = softmax.N() - 1; });
  row = run_one(small, conv::parse_softmax("33x10"));
  CHECK(row.hazards.outcome == Outcome::bad);
  REQUIRE(!row.hazards.findings.empty());
  CHECK(row.hazards.findings.front().kind == "out_of_bounds");
}

TEST_CASE("a read past an operation's input fails the run", "[operation]") {
  SoftmaxVariant curious = softmax("curious", nullptr);
  curious.launches([](const ProblemCall<conv::Softmax>& c) {
    return planted::curious_softmax(c.input, c.output, c.problem.N(), c.problem.C());
  });
  const Row row = try_variant(curious);
  CHECK(row.hazards.outcome == Outcome::bad);
  REQUIRE(!row.hazards.findings.empty());
  CHECK(row.hazards.findings.front().kind == "out_of_bounds");
  CHECK(row.hazards.findings.front().line == line_of("curious-softmax"));
}

TEST_CASE("an operation's traffic that was not predicted fails a strict run", "[operation]") {
  TransformVariant variant = transform("right", planted::right_transform);
  const Transform problem = conv::parse_transform("3x5-33-2-to-nchw");
  variant.must_cost([](const Transform& t) {
    Cost counters = predict_tiles(t);
    counters.global_load_sectors += 1;
    return counters;
  });
  const Row row = run_one(variant, problem);
  CHECK(row.check.outcome == Outcome::good);
  CHECK(row.hazards.outcome == Outcome::good);
  CHECK(row.traffic.outcome == Outcome::bad);
  CHECK(row.traffic.reason == "transform 3x5-33-2-to-nchw");
  CHECK(exit_status({row}) == 0);
  CHECK(exit_status({row}, true) == 1);
  variant.must_cost(nullptr);
  CHECK(run_one(variant, problem).traffic.reason == "nobody predicted it");
}

TEST_CASE("a peer that does not support an operation's problem is not run", "[operation]") {
  TransformVariant peer = transform("peer", planted::right_transform);
  peer.role = Role::peer;
  peer.launches(
      [](const ProblemCall<conv::Transform>&) { return static_cast<int>(cudaErrorNotSupported); });
  peer.tells([](const Transform&) { return "only whole numbers"; });
  const Row row = run_one(peer, conv::parse_transform("3x5-33-2-to-nchw"));
  CHECK(row.check.outcome == Outcome::not_run);
  CHECK(row.check.reason == "only whole numbers");
}
