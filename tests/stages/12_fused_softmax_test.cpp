#include "stages/12_fused_softmax.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

#include "stages/12_fused_softmax/blocks.h"
#include "stages/12_fused_softmax/registers.h"
#include "tests/catch.hpp"
#include "tests/stages/stage.hpp"
#include "tests/stages/stage_checks.hpp"

using namespace halo;
using conv::Softmax;

namespace {

// What the usual sizes do not meet: a block of `fused` with several long rows; the last row that fits
// shared memory, and the first that does not; a tail of one cell, and one that ends inside a warp; as
// many categories as a block has threads, and one more; many images of little; the last row that is
// for a block, and the first for a cluster; blocks of a cluster of each size, of 16 bytes a piece and of 4.
const std::vector<Softmax> kMore = {
    Softmax(13, 1000),  Softmax(7, 5000),  Softmax(2, 11263),  Softmax(3, 11264), Softmax(3, 11265),
    Softmax(2, 12345),  Softmax(1, 23000), Softmax(5, 1024),   Softmax(5, 1025),  Softmax(300, 1),
    Softmax(128, 10),   Softmax(1030, 3),  Softmax(70, 36),    Softmax(34, 351),  Softmax(33, 352),
    Softmax(40000, 10), Softmax(2, 40000), Softmax(1, 300001), Softmax(2, 8196),  Softmax(3, 2052),
    Softmax(2, 8192),   Softmax(1, 70000), Softmax(1, 140000), Softmax(1, 70001), Softmax(4096, 20),
};

std::vector<float> outputs_of(Backend& backend, const SoftmaxVariant& variant,
                              const Softmax& problem, const std::vector<float>& cells) {
  Array input(backend, cells.size());
  Array output(backend, cells.size());
  const auto prepared = variant.prepared(problem);
  const std::int64_t temporaries = prepared.workspace_floats;
  Array workspace(backend, temporaries);
  input.write(cells);
  output.poison();
  const Observation seen = backend.run([&] {
    return prepared.launch({problem, input.data(), output.data(), workspace.data()});
  });
  REQUIRE(seen.error == "");
  std::vector<float> outputs(cells.size());
  output.read(outputs);
  return outputs;
}

}  // namespace

TEST_CASE("12_fused_softmax: every problem is right, without hazards") {
  test::require_trials_of_all_lines(fused_softmax::stage());
}

TEST_CASE("12_fused_softmax: long rows are right, edge cases of float included", "[all]") {
  const auto backend = test::usable_backend();
  for (const SoftmaxVariant& variant : fused_softmax::stage().variants) {
    Row row;
    Progress progress;
    check_trials(variant, *backend, kMore, test::seed(), row, progress);
    INFO(variant.name << test::faults(row));
    CHECK(row.check.outcome == Outcome::good);
    CHECK(row.check.shapes == static_cast<int>(kMore.size()));
  }
}

TEST_CASE("12_fused_softmax: about a long row for each SM has a block, full of cells") {
  const auto backend = test::usable_backend();
  const SoftmaxStage stage = fused_softmax::stage();
  const auto one_read = std::find_if(stage.variants.begin(), stage.variants.end(),
                                     [](const auto& v) { return v.name == "one_read"; });
  REQUIRE(one_read != stage.variants.end());
  Row row;
  Progress progress;
  const std::vector<Softmax> full = {Softmax(64, 16384)};
  check_trials(*one_read, *backend, full, test::seed(), row, progress);
  INFO(test::faults(row));
  CHECK(row.check.outcome == Outcome::good);
}

TEST_CASE("12_fused_softmax: traffic is as predicted") {
  test::require_traffic(fused_softmax::stage(), kMore);
}

TEST_CASE("12_fused_softmax: fusing changes no bit, and the order of a sum few") {
  const auto backend = test::usable_backend();
  const SoftmaxStage stage = fused_softmax::stage();
  for (const Softmax& problem : {Softmax(37, 10), Softmax(13, 1000), Softmax(1, 11264)}) {
    const std::vector<float> cells = conv::make_input(problem, 0, test::seed());
    const auto outputs = [&](const std::string& name) {
      return outputs_of(*backend, test::variant_of(stage, name), problem, cells);
    };
    const std::vector<float> first = outputs("five_kernels");
    const std::vector<float> fused = outputs("fused");
    INFO(conv::label(problem));
    CHECK(std::memcmp(first.data(), fused.data(), first.size() * sizeof(float)) == 0);
    // Twice the same, to the bit.
    for (const SoftmaxVariant& variant : stage.variants) {
      const std::vector<float> once = outputs(variant.name);
      const std::vector<float> again = outputs(variant.name);
      CHECK(std::memcmp(once.data(), again.data(), once.size() * sizeof(float)) == 0);
    }
  }
}

TEST_CASE("12_fused_softmax: a warp, or a block, of nothing but -inf does no harm") {
  // Its own maximum is -inf, which is subtracted from nothing: the rest of the row is as if it were not there.
  const auto backend = test::usable_backend();
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (const int categories : {1000, 1001, 40000, 17001}) {
    const Softmax problem(2, categories);
    std::vector<float> cells = conv::make_input(problem, 0, test::seed());
    // All that the first half of each row has, but for the first row's last cell of it: a maximum of one warp alone.
    for (int c = 0; c < categories / 2; ++c) cells[c] = cells[categories + c] = -kInfinity;
    cells[categories / 2 - 1] = 50.0f;
    const conv::SoftmaxChecker checker(problem, cells);
    for (const char* name : {"fused_parallel", "one_read"}) {
      INFO(name << ", " << categories << " categories");
      const std::vector<float> outputs =
          outputs_of(*backend, test::variant_of(fused_softmax::stage(), name), problem, cells);
      CHECK(checker.judge(0, outputs).passed());
      CHECK(outputs[0] == 0.0f);
    }
  }
}

TEST_CASE("12_fused_softmax: warps whose maximum is far below the row's") {
  // Their exponentials are about 1, and what they are multiplied by is nearly subnormal, or is.
  const auto backend = test::usable_backend();
  for (const int categories : {1000, 1001, 40000, 17001}) {
    for (const float below : {60.0f, 75.0f, 95.0f}) {
      const Softmax problem(2, categories);
      std::vector<float> cells = conv::make_input(problem, 0, test::seed());
      for (int c = 0; c < categories / 2; ++c) {
        cells[c] -= below;
        cells[categories + c] -= below;
      }
      INFO(below << " below, " << categories << " categories");
      const std::vector<float> outputs = outputs_of(
          *backend, test::variant_of(fused_softmax::stage(), "one_read"), problem, cells);
      const conv::Comparison judged = conv::SoftmaxChecker(problem, cells).judge(0, outputs);
      INFO(judged.describe());
      CHECK(judged.passed());
    }
  }
}

TEST_CASE("12_fused_softmax: how a row is shared out over threads") {
  using fused_softmax::Team;
  using fused_softmax::team_of;
  const auto is = [](const Team& team, int width, int threads, int pieces, int rows) {
    return team.width == width && team.threads == threads && team.pieces == pieces &&
           team.rows == rows;
  };
  // The paper's grid: few rows, so short ones get few lanes or all of a warp, whether or not they begin on 16 bytes.
  CHECK(is(team_of(128, 10), 1, 4, 3, 1));
  CHECK(is(team_of(128, 16), 1, 4, 4, 1));
  CHECK(is(team_of(128, 17), 1, 32, 1, 1));
  CHECK(is(team_of(128, 100), 1, 32, 4, 1));
  CHECK(is(team_of(128, 1000), 4, 128, 2, 1));
  CHECK(is(team_of(128, 10000), 4, 512, 5, 1));
  // Many rows: as few threads as hold one, and four rows of single floats at a time.
  CHECK(is(team_of(1 << 20, 10), 1, 16, 1, 4));
  CHECK(is(team_of(1 << 20, 100), 4, 32, 1, 1));
  CHECK(is(team_of(1 << 20, 512), 4, 32, 4, 1));
  CHECK(is(team_of(65536, 1000), 4, 128, 2, 1));
  CHECK(is(team_of(65536, 1001), 1, 128, 8, 1));
  CHECK(is(team_of(65536, 8192), 4, 256, 8, 1));
  // A longer one has a cluster, but for about a row an SM, and where there are no clusters.
  CHECK(team_of(65536, 8196).threads == 0);
  CHECK(team_of(32, 10000).threads == 0);
  CHECK(team_of(1024, 8193).threads == 0);
  CHECK(is(team_of(128, 16384), 4, 512, 8, 1));
  CHECK(team_of(128, 16388).threads == 0);
  CHECK(is(team_of(65536, 16384, false), 4, 512, 8, 1));
  CHECK(team_of(65536, 16388, false).threads == 0);
  // Every row that a team may have fits it, and no number of pieces comes that is not compiled.
  for (const int N : {1, 100, 5000, 1 << 20}) {
    for (int C = 1; C <= 33000; C += C < 1100 ? 1 : 7) {
      const Team team = team_of(N, C);
      if (team.threads == 0) continue;
      INFO(N << "x" << C);
      CHECK(team.threads * team.pieces * team.width >= C);
      CHECK((team.pieces <= 8 || (team.width == 1 && team.threads >= 32 && team.pieces == 16)));
      CHECK((team.threads >= 32 || team.pieces <= 4));
    }
  }
  // The smallest blocks that hold the row, as many as it needs; of few rows more.
  using fused_softmax::cluster_of;
  const auto has = [](const fused_softmax::ClusterTeam& team, int threads, int blocks, int pieces) {
    return team.threads == threads && team.blocks == blocks && team.pieces == pieces;
  };
  CHECK(has(cluster_of(1024, 32768), 128, 8, 8));
  CHECK(has(cluster_of(1024, 65536), 128, 16, 8));
  CHECK(has(cluster_of(1024, 65540), 256, 9, 8));
  CHECK(has(cluster_of(128, 100000), 256, 13, 8));
  CHECK(has(cluster_of(128, 262144), 512, 16, 8));
  CHECK(cluster_of(1, 262148).blocks == 0);
  CHECK(has(cluster_of(1024, 32767), 128, 16, 16));
  CHECK(cluster_of(1, 131073).blocks == 0);
  CHECK(has(cluster_of(32, 10000), 128, 12, 2));
  CHECK(has(cluster_of(60, 10000), 128, 6, 4));
  CHECK(has(cluster_of(1024, 10000), 128, 3, 7));
  for (const int N : {1, 32, 1024}) {
    for (int C = 8193; C <= 262144; C += C % 4 == 0 ? 331 : 1) {
      const fused_softmax::ClusterTeam team = cluster_of(N, C);
      if (team.blocks == 0) continue;
      INFO(N << "x" << C);
      const int width = C % 4 == 0 ? 4 : 1;
      CHECK(team.blocks <= 16);
      CHECK(team.threads * team.blocks * team.pieces * width >= C);
      CHECK(team.pieces <= fused_softmax::most_pieces(width));
    }
  }
}

TEST_CASE("12_fused_softmax: what one read costs, by hand") {
  const SoftmaxStage stage = fused_softmax::stage();
  // 250 pieces of 16 bytes, two for each of 128 threads: four warps, of which the last has 26 second pieces. Each leaves
  // its part, reads four, and passes one barrier.
  const simt::Counters block = test::predict(stage, "one_read", Softmax(8, 1000));
  CHECK(block.global_load_requests == 8 * 8);
  CHECK(block.global_load_sectors == 8 * 125);
  CHECK(block.shared_store_requests == 8 * 4);
  CHECK(block.shared_load_requests == 8 * 4);
  CHECK(block.barriers == 8);
  // Ten blocks of four warps have a row. Warp 0 of each leaves the block's part with all ten, the own one too; each
  // warp reads the ten.
  const simt::Counters cluster = test::predict(stage, "one_read", Softmax(2, 40000));
  CHECK(cluster.global_load_sectors == 2 * 5000);
  CHECK(cluster.global_store_sectors == 2 * 5000);
  CHECK(cluster.shared_store_requests == 2 * 10 * 4);
  CHECK(cluster.shared_load_requests == 2 * 10 * (4 + 4));
  CHECK(cluster.dshared_store_requests == 2 * 10);
  CHECK(cluster.dshared_store_sectors == 2 * 10 * 10);
  CHECK(cluster.dshared_load_requests == 0);
  CHECK(cluster.barriers == 2 * 10 * 2);
}

TEST_CASE("12_fused_softmax: how blocks are made") {
  using fused_softmax::threads_for;
  using fused_softmax::tile_of;
  CHECK(threads_for(1) == 32);
  CHECK(threads_for(32) == 32);
  CHECK(threads_for(33) == 64);
  CHECK(threads_for(1000) == 1024);
  CHECK(threads_for(1 << 20) == 1024);
  for (int C = 1; C < 30000; C += C < 500 || (C > 11200 && C < 11300) ? 1 : 97) {
    const fused_softmax::Tile tile = tile_of(C);
    INFO(C);
    CHECK((tile.images >= 1 && tile.images <= 32));
    CHECK((tile.images - 1) * tile.pitch + tile.kept <= fused_softmax::kKeptFloats);
    CHECK((tile.kept == C || (tile.images == 1 && tile.kept == fused_softmax::kKeptFloats)));
    CHECK((tile.pitch % 2 == 1 && tile.pitch >= tile.kept));
  }
}

TEST_CASE("12_fused_softmax: what 128 images of 10 categories cost, by hand") {
  const Softmax small(128, 10);
  const SoftmaxStage stage = fused_softmax::stage();
  // 1,280 cells are 40 warps, 160 sectors; 128 images are 4 warps.
  const simt::Counters five = test::predict(stage, "five_kernels", small);
  // Reductions: 10 requests of each of 4 warps, twice. Lanes are 40 bytes apart: 32 sectors each.
  // The other three kernels read 40 times 4 sectors; two of them the images' values as well, 8 of which
  // share a sector. A new sector begins with every 80th cell, inside a warp if 80 k is no multiple of
  // 32: for the 8 odd k up to 15.
  CHECK(five.global_load_requests == 2 * 40 + 3 * 40 + 2 * 40);
  CHECK(five.global_load_sectors == 2 * 40 * 32 + 3 * 160 + 2 * (40 + 8));
  CHECK(five.global_store_requests == 3 * 40 + 2 * 4);
  CHECK(five.global_store_sectors == 3 * 160 + 2 * 16);
  CHECK(five.shared_load_requests == 0);
  CHECK(five.barriers == 0);

  // Blocks of 32 images: 4, with 320 cells each, 10 requests in and 10 out.
  const simt::Counters fused = test::predict(stage, "fused", small);
  CHECK(fused.global_load_requests == 40);
  CHECK(fused.global_load_sectors == 160);
  CHECK(fused.global_store_requests == 40);
  CHECK(fused.global_store_sectors == 160);
  CHECK(fused.barriers == 4 * 4);
  // Cells twice, maxima and sums with them, the reductions, the maxima once more.
  CHECK(fused.shared_load_requests == 4 * (2 * 10 + 2 * 10 + 2 * 10 + 1));
  CHECK(fused.shared_store_requests == 4 * (2 * 10 + 2));

  // A block an image: 128 requests of 10 cells, which begin on a sector or 8, 16, 24 bytes behind: 2
  // sectors in each case (40, 48, 56 and 64 bytes).
  const simt::Counters parallel = test::predict(stage, "fused_parallel", small);
  CHECK(parallel.global_load_requests == 128);
  CHECK(parallel.global_load_sectors == 256);
  CHECK(parallel.global_store_sectors == 256);
  CHECK(parallel.barriers == 2 * 128);
  CHECK(parallel.shared_load_requests == 128 * (2 + 2));
  CHECK(parallel.shared_store_requests == 128 * (2 + 2));
  const simt::Counters cub = test::predict(stage, "fused_cub", small);
  CHECK(cub.global_load_sectors == 256);
  CHECK(cub.barriers == 4 * 128);
  CHECK(cub.shared_load_requests == 128 * (2 + 2));
  CHECK(cub.shared_store_requests == 128 * (2 + 4));
}

TEST_CASE("12_fused_softmax: what is beyond shared memory is read three times") {
  const SoftmaxStage stage = fused_softmax::stage();
  // 11,264 + 64 cells: 354 requests, of which the last two come again twice.
  const Softmax beyond(1, 11264 + 64);
  const simt::Counters parallel = test::predict(stage, "fused_parallel", beyond);
  CHECK(parallel.global_load_requests == 354 + 2 * 2);
  CHECK(parallel.global_load_sectors == 4 * (354 + 2 * 2));
  CHECK(parallel.global_store_sectors == 4 * 354);
  // One thread reduces: cell by cell.
  const simt::Counters fused = test::predict(stage, "fused", beyond);
  CHECK(fused.global_load_requests == 354 + 2 * 64);
  CHECK(fused.global_load_sectors == 4 * 354 + 2 * 64);
  CHECK(fused.shared_load_requests == 2 * 352 + 352 + 354 + 2 + 2 * 11264 + 1);
}
