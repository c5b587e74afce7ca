#include "stages/12_fused_softmax.hpp"

#include <cstring>

#include "stages/12_fused_softmax/blocks.h"
#include "tests/catch.hpp"
#include "tests/stages/stage.hpp"
#include "tests/stages/stage_checks.hpp"

using namespace halo;
using conv::Softmax;

namespace {

// What the usual sizes do not meet: a block of `fused` with several long rows; the last row that fits
// shared memory, and the first that does not; a tail of one cell, and one that ends inside a warp; as
// many categories as a block has threads, and one more; many images of little.
const std::vector<Softmax> kMore = {
    Softmax(13, 1000),  Softmax(7, 5000),  Softmax(2, 11263),  Softmax(3, 11264), Softmax(3, 11265),
    Softmax(2, 12345),  Softmax(1, 23000), Softmax(5, 1024),   Softmax(5, 1025),  Softmax(300, 1),
    Softmax(128, 10),   Softmax(1030, 3),  Softmax(70, 36),    Softmax(34, 351),  Softmax(33, 352),
    Softmax(40000, 10), Softmax(2, 40000), Softmax(1, 300001), Softmax(2, 8193),  Softmax(3, 2052),
};

std::vector<float> outputs_of(Backend& backend, const SoftmaxVariant& variant,
                              const Softmax& problem, const std::vector<float>& cells) {
  Array input(backend, cells.size());
  Array output(backend, cells.size());
  const std::int64_t temporaries = variant.workspace_floats ? variant.workspace_floats(problem) : 0;
  Array workspace(backend, temporaries);
  input.write(cells);
  output.poison();
  const Observation seen = backend.run([&] {
    return variant.launch({problem, input.data(), output.data(), workspace.data()});
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

TEST_CASE("12_fused_softmax: long rows are right, edge cases of float included") {
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
