#include "stages/10_layout_transform.hpp"

#include <algorithm>
#include <utility>

#include "stages/10_layout_transform/shapes.h"
#include "tests/catch.hpp"
#include "tests/stages/stage_checks.hpp"

using namespace halo;
using conv::Images;
using conv::Layout;
using conv::Transform;

namespace {

Transform to_nchw(const conv::ImagesShape& shape) { return Transform(Images(shape), Layout::chwn); }
Transform to_chwn(const conv::ImagesShape& shape) { return Transform(Images(shape), Layout::nchw); }

// All counters of a transform, reads and writes exchanged: what the way back must cost, if it is the
// way there backwards.
simt::Counters backwards(simt::Counters counters) {
  std::swap(counters.global_load_requests, counters.global_store_requests);
  std::swap(counters.global_load_sectors, counters.global_store_sectors);
  std::swap(counters.shared_load_requests, counters.shared_store_requests);
  std::swap(counters.shared_load_wavefronts, counters.shared_store_wavefronts);
  return counters;
}

}  // namespace

TEST_CASE("10_layout_transform: every problem is right, without hazards") {
  test::require_trials_of_all_lines(layout_transform::stage());
}

TEST_CASE("10_layout_transform: traffic is as predicted") {
  // Rows that begin anywhere in a sector; half warps of pairs; more than 65,535 rows, columns and
  // channels, where a grid's second and third number end.
  std::vector<Transform> more;
  for (const int images : {2, 30, 34, 62, 94, 130, 158}) {
    for (const int cells : {1, 6, 13, 17, 48, 49, 50}) {
      more.push_back(to_nchw({.N = images, .C = 1, .H = cells, .W = 1}));
      more.push_back(to_chwn({.N = images, .C = 1, .H = cells, .W = 1}));
    }
  }
  more.push_back(to_nchw({.N = 2, .C = 70'000, .H = 1, .W = 1}));
  more.push_back(to_chwn({.N = 70'002, .C = 1, .H = 1, .W = 2}));
  // Runs of whole rows, of an odd number of images and of an even one, the last of four cells; and more images than a
  // run takes.
  for (const int images : {33, 50, 192 - 1, 193}) {
    more.push_back(to_nchw({.N = images, .C = 1, .H = 17, .W = 4}));
    more.push_back(to_chwn({.N = images, .C = 1, .H = 17, .W = 4}));
  }
  test::require_traffic(layout_transform::stage(), more);
}

TEST_CASE("10_layout_transform: large ones have tiles, each shape of them", "[all]") {
  // The shapes of step 4 that no small problem has: with few images, with many, with 100, which are one tile, with 132,
  // which end inside a sector; and the last cells and images.
  std::vector<Transform> large;
  for (const auto& [images, cells] :
       std::vector<std::pair<int, int>>{{4, 131'076}, {8, 65'540}, {16, 32'772}, {36, 16'388}}) {
    large.push_back(to_nchw({.N = images, .C = 4, .H = cells / 4, .W = 1}));
    large.push_back(to_chwn({.N = images, .C = 4, .H = cells / 4, .W = 1}));
  }
  large.push_back(to_nchw({.N = 32, .C = 4, .H = 49'153, .W = 1}));
  large.push_back(to_chwn({.N = 32, .C = 4, .H = 49'153, .W = 1}));
  large.push_back(to_chwn({.N = 100, .C = 4, .H = 15'730, .W = 1}));
  large.push_back(to_nchw({.N = 132, .C = 4, .H = 11'917, .W = 1}));
  TransformStage quads = layout_transform::stage();
  std::erase_if(quads.variants, [](const TransformVariant& v) { return v.name != "quads"; });
  REQUIRE(quads.variants.size() == 1);
  const auto backend = test::usable_backend();
  Row row;
  Progress progress;
  check_trials(quads.variants.front(), *backend, large, test::seed(), row, progress);
  INFO(test::faults(row));
  CHECK(row.check.outcome == Outcome::good);
  CHECK(row.check.shapes == static_cast<int>(large.size()));
  test::require_traffic(quads, large);
}

TEST_CASE("10_layout_transform: which way a transform goes") {
  using layout_transform::shape_of;
  using layout_transform::TileShape;
  using layout_transform::Way;
  const auto is = [](const TileShape& shape, Way way, int rows, int columns) {
    return shape.way == way && shape.rows == rows && shape.columns == columns;
  };
  // rows of the input, its columns, and whether the rows are the images.
  CHECK(is(shape_of(784, 128, false), Way::registers, 64, 16));
  CHECK(is(shape_of(9216, 128, false), Way::quads, 32, 32));
  CHECK(is(shape_of(100'352, 32, false), Way::quads, 32, 32));
  CHECK(is(shape_of(401'408, 32, false), Way::quads, 128, 32));
  CHECK(is(shape_of(32, 401'408, true), Way::quads, 32, 128));
  CHECK(is(shape_of(290'400, 64, false), Way::quads, 64, 64));
  CHECK(is(shape_of(661'344, 100, false), Way::quads, 64, 128));
  CHECK(is(shape_of(100, 661'344, true), Way::quads, 128, 64));
  CHECK(is(shape_of(518'400, 128, false), Way::quads, 64, 64));
  CHECK(is(shape_of(65'536, 12, false), Way::quads, 256, 16));
  CHECK(is(shape_of(33, 784, true), Way::runs, 33, 64));
  CHECK(is(shape_of(784, 33, false), Way::runs, 64, 33));
  CHECK(is(shape_of(784, 193, false), Way::floats, 64, 64));
  CHECK(is(shape_of(169, 64, false), Way::floats, 64, 64));
  CHECK(is(shape_of(169, 7, false), Way::floats, 512, 8));
}

TEST_CASE("10_layout_transform: the cost of both layouts, by hand") {
  const TransformStage stage = layout_transform::stage();
  // 128 images of 16 x 14 x 14 = 3,136 cells. Both are multiples of 32, so every run of 32 floats is
  // four sectors.
  const Transform even = to_nchw({.N = 128, .C = 16, .H = 14, .W = 14});
  const auto naive = test::predict(stage, "naive", even);
  CHECK(naive.global_load_requests == 3136 * 4);
  CHECK(naive.global_load_sectors == 3136 * 4 * 4);
  CHECK(naive.global_store_requests == 3136 * 4);
  CHECK(naive.global_store_sectors == 3136 * 4 * 32);
  CHECK(naive.shared_store_requests == 0);
  CHECK(naive.barriers == 0);

  const auto tiled = test::predict(stage, "tiled", even);
  CHECK(tiled.global_load_requests == 3136 * 4);
  CHECK(tiled.global_load_sectors == 3136 * 4 * 4);
  CHECK(tiled.global_store_requests == 128 * 98);
  CHECK(tiled.global_store_sectors == 128 * 98 * 4);
  CHECK(tiled.shared_store_wavefronts == 3136 * 4);
  CHECK(tiled.shared_load_wavefronts == 128 * 98);
  CHECK(tiled.shared_load_conflicts == 0);
  CHECK(tiled.barriers == 98 * 4);

  const auto pairs = test::predict(stage, "tiled_float2", even);
  CHECK(pairs.global_load_requests == 3136 * 2);
  CHECK(pairs.global_load_sectors == 3136 * 2 * 8);
  CHECK(pairs.global_store_requests == 128 * 98);
  CHECK(pairs.global_store_sectors == 128 * 98 * 4);
  CHECK(pairs.shared_store_requests == 3136 * 2);
  CHECK(pairs.shared_store_wavefronts == 3136 * 4);
  CHECK(pairs.shared_load_requests == 64 * 98);
  CHECK(pairs.shared_load_wavefronts == 64 * 98 * 2);
  CHECK(pairs.shared_load_conflicts == 0);
  CHECK(pairs.barriers == 98 * 2);

  const auto copy = test::predict(stage, "copy", even);
  CHECK(copy.global_load_requests == 3136);
  CHECK(copy.global_load_sectors == 3136 * 16);
  CHECK(copy.global_store_sectors == 3136 * 16);

  // 45 images of 7 cells. Naive: two requests a cell, of 32 and 13 images. A row of CHWN is 45 floats:
  // row m begins 5 * m % 8 floats after a sector's start, at 0 5 2 7 4 1 6: 32 floats are 4, 5 5 5 5 5 5
  // sectors, 13 floats 2 3 2 3 3 2 3. In NCHW the images are 7 floats apart, and 32 of them are
  // 31 * 7 + 1 floats long; the sectors that a request skips are those between two cells.
  const Transform odd = to_nchw({.N = 45, .C = 7, .H = 1, .W = 1});
  const auto few = test::predict(stage, "naive", odd);
  CHECK(few.global_load_requests == 7 * 2);
  CHECK(few.global_load_sectors == 4 + 6 * 5 + 2 + 3 + 2 + 3 + 3 + 2 + 3);
  std::uint64_t sectors = 0;
  for (int cell = 0; cell < 7; ++cell) {
    for (int n = 0; n < 45; ++n) {
      // A lane brings a sector of its own unless the lane before it lies there already.
      const bool first = n % 32 == 0;
      sectors += first || (7 * n + cell) / 8 != (7 * (n - 1) + cell) / 8;
    }
  }
  CHECK(few.global_store_sectors == sectors);
  // Odd: pairs do not lie on multiples of 8 bytes.
  CHECK(test::predict(stage, "tiled_float2", odd) == test::predict(stage, "tiled", odd));
}

TEST_CASE("10_layout_transform: the way back costs what the way there costs") {
  const TransformStage stage = layout_transform::stage();
  for (const TransformVariant& variant : stage.variants) {
    // It writes its tile by columns and reads it by rows, whichever way it goes.
    if (variant.name == "quads") continue;
    for (const conv::ImagesShape& shape :
         {conv::ImagesShape{.N = 128, .C = 3, .H = 5, .W = 7},
          conv::ImagesShape{.N = 45, .C = 2, .H = 9, .W = 11}, conv::ImagesShape{.N = 2, .W = 5}}) {
      conv::ImagesShape full = shape;
      full.H = std::max<std::int64_t>(full.H, 1);
      INFO(variant.name << ", " << full.N << " images");
      const simt::Counters there = test::predict(stage, variant.name, to_nchw(full));
      const simt::Counters back = test::predict(stage, variant.name, to_chwn(full));
      CHECK(back == backwards(there));
    }
  }
}

TEST_CASE("10_layout_transform: a large transform is predicted at once") {
  // 2 GB, from the formulas: 65,536 x 8,191 floats; rows of 8,191 begin at each place of a sector.
  const TransformStage stage = layout_transform::stage();
  const Transform large = to_nchw({.N = 65'536, .C = 8'191, .H = 1, .W = 1});
  const auto tiled = test::predict(stage, "tiled", large);
  CHECK(tiled.global_load_requests == 8'191ull * 2'048);
  CHECK(tiled.global_load_sectors == 8'191ull * 65'536 / 8);
  CHECK(tiled.global_store_requests == 65'536ull * 256);
  // Of eight rows one begins on a sector: 255 requests of 4 and one of 31 floats, 4. Row r begins
  // 8 - r floats behind one: 255 of 5, and 31 floats from there are 4 sectors for r = 7 only.
  CHECK(tiled.global_store_sectors == 8'192ull * (256 * 4 + 7 * 255 * 5 + 6 * 5 + 4));
  CHECK(test::predict(stage, "naive", large).global_store_sectors == 65'536ull * 8'191);
}

TEST_CASE("10_layout_transform: a row says when pairs were not possible") {
  const TransformStage stage = layout_transform::stage();
  const TransformVariant& pairs = test::variant_of(stage, "tiled_float2");
  CHECK(pairs.prepared(to_nchw({.N = 45, .C = 7, .H = 13, .W = 13})).detail() == "odd N: as tiled");
  CHECK(pairs.prepared(to_nchw({.N = 46, .C = 7, .H = 13, .W = 13})).detail() == "");
}

TEST_CASE("10_layout_transform: quads meet no conflict, whatever the shape of a tile") {
  const TransformStage stage = layout_transform::stage();
  for (const int N : {8, 16, 32, 64, 96, 128}) {
    for (const bool back : {false, true}) {
      const conv::ImagesShape images{.N = N, .C = 64, .H = 64, .W = 32};
      const simt::Counters cost =
          test::predict(stage, "quads", back ? to_chwn(images) : to_nchw(images));
      INFO(N << " images" << (back ? ", to CHWN" : ", to NCHW"));
      CHECK(cost.shared_load_conflicts == 0);
      CHECK(cost.shared_store_conflicts == 0);
      const auto sectors = static_cast<std::uint64_t>(N) * 64 * 64 * 32 / 8;
      // Every sector comes once, whole.
      CHECK(cost.global_load_sectors == sectors);
      CHECK(cost.global_store_sectors == sectors);
    }
  }
}
