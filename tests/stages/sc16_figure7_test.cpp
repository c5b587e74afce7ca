// The two kernels of Fig. 7 of Li et al. (SC'16): where they are right, and what is wrong with them
// elsewhere, each in the simulator at its line.
#include <cmath>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include "common/harness/backend/backend.hpp"
#include "common/simt/simt.hpp"
#include "tests/catch.hpp"
#include "tests/harness/observed.hpp"
#include "tests/stages/sc16_figure7/figure7.hpp"

using namespace halo;
using test::Ran;

namespace {

// The input is 0, 1, 2 ... in the order of memory.
Ran run(int size, const std::function<cudaError_t(const float*, float*)>& launch) {
  std::vector<float> values(size);
  std::iota(values.begin(), values.end(), 0.0f);
  return test::observed(
      size, [&](Array& input) { input.write(values); }, launch);
}

Ran figure7a(int N, int C, int H, int W) {
  return run(N * C * H * W, [=](const float* input, float* output) {
    return sc16_figure7::naive(input, output, N, C, H, W);
  });
}

Ran figure7b(int N, int C, int places, int across, int down) {
  return run(N * C * places, [=](const float* input, float* output) {
    return sc16_figure7::float2_tile(input, output, N, C, across, down);
  });
}

// Cell `cell` of image n, as it lies in a CHWN input of N images.
float value(int N, int n, int cell) { return static_cast<float>(cell * N + n); }

// Outputs that are the right ones for NCHW, and those that nothing was written to.
struct Tally {
  int right = 0;
  int unwritten = 0;
};
Tally tally(const Ran& ran, int N, int cells) {
  Tally tally;
  for (int n = 0; n < N; ++n) {
    for (int cell = 0; cell < cells; ++cell) {
      const float got = ran.output.at(n * cells + cell);
      tally.right += got == value(N, n, cell);
      tally.unwritten += std::isnan(got);
    }
  }
  return tally;
}

// The finding of this kind at this line of Fig. 7b, or null. The comment at the end of our line says which it is.
const Hazard* found(const Ran& ran, const std::string& kind, int line_of_figure) {
  return test::found_at(ran, kind, "tests/stages/sc16_figure7/figure7b.cu",
                        "// " + std::to_string(line_of_figure) + "\n");
}

void require_no_hazard(const Ran& ran) {
  INFO(text_of(ran));
  REQUIRE(ran.seen.error == "");
  REQUIRE(ran.seen.hazards.empty());
}

}  // namespace

TEST_CASE("Fig. 7a writes NCHW and not the NHWC of its comment") {
  const Ran ran = figure7a(40, 3, 4, 5);
  require_no_hazard(ran);
  CHECK(tally(ran, 40, 60).right == 40 * 60);
  // In NHWC the second output would be channel 1 of the first pixel.
  CHECK(ran.output[1] == value(40, 0, 1));
  CHECK(ran.output[1] != value(40, 0, 4 * 5));
  // Each store touches a sector for each image, each load 4 or 5 for 32 images.
  CHECK(ran.seen.cost.global_store_requests == 60 * 2);
  CHECK(ran.seen.cost.global_store_sectors == 60 * 40);
  CHECK(ran.seen.cost.global_load_sectors == 60 * 5);
}

TEST_CASE("Fig. 7a cannot have more than 1,024 images") {
  CHECK(tally(figure7a(1024, 1, 2, 3), 1024, 6).right == 1024 * 6);
  CHECK(figure7a(1025, 1, 2, 3).seen.error != "");
  // Nor more than 65,535 rows or channels, the limit of a grid's second and third number.
  CHECK(tally(figure7a(1, 1, 1, 65536), 1, 65536).right == 65536);
  CHECK(figure7a(1, 1, 65536, 1).seen.error != "");
  CHECK(figure7a(1, 65536, 1, 1).seen.error != "");
}

TEST_CASE("Fig. 7b is right for 32 channels and one row of blocks") {
  const Ran ran = figure7b(64, 32, 6, 6, 1);
  require_no_hazard(ran);
  CHECK(tally(ran, 64, 32 * 6).right == 64 * 32 * 6);
}

TEST_CASE("Fig. 7b is right for 64 channels and 128 images if the grid is C*H*W / 32 blocks") {
  const Ran ran = figure7b(128, 64, 6, 12, 1);
  require_no_hazard(ran);
  CHECK(tally(ran, 128, 64 * 6).right == 128 * 64 * 6);
  // Two steps of 12 blocks: a warp loads 64 images of a cell, 8 sectors, and stores 32 cells of two
  // images, 4 sectors each.
  CHECK(ran.seen.cost.global_load_requests == 2 * 12 * 32);
  CHECK(ran.seen.cost.global_load_sectors == 2 * 12 * 32 * 8);
  CHECK(ran.seen.cost.global_store_requests == 2 * 12 * 64);
  CHECK(ran.seen.cost.global_store_sectors == 2 * 12 * 64 * 4);
  CHECK(ran.seen.cost.barriers == 2 * 12 * 2);
  // sh[tx][ty].x lies 66 floats from its neighbour's: 16 banks for 32 lanes. But nvcc reads .x and .y at once, and
  // 8 bytes of each of 16 lanes are all 32 banks.
  CHECK(ran.seen.cost.shared_load_requests == 2 * 12 * 32);
  CHECK(ran.seen.cost.shared_load_conflicts == 0);
  CHECK(ran.seen.cost.shared_store_conflicts == 0);
}

TEST_CASE("Fig. 7b with a grid of W x H blocks writes one row of blocks over the other") {
  // 3 x 2 blocks of 32 cells. No hazard that concerns one block alone: the blocks race with each other.
  const Ran ran = figure7b(64, 32, 6, 3, 2);
  INFO(text_of(ran));
  REQUIRE(ran.seen.error == "");
  REQUIRE(ran.seen.hazards.size() == 2);  // a store of each of two images
  for (const Hazard& hazard : ran.seen.hazards) {
    CHECK(hazard.kind == "race");
    CHECK(hazard.message.find("race between blocks") != std::string::npos);
  }
  CHECK(tally(ran, 64, 32 * 6).unwritten == 64 * 32 * 3);
  for (int n = 0; n < 64; ++n) CHECK(std::isnan(ran.output[n * 192 + 96]));
}

TEST_CASE("Fig. 7b with a block for each place handles 32 channels, however many there are") {
  // 64 channels, 6 places, 6 blocks: half of the cells, and images half as far apart as they should be.
  const Ran ran = figure7b(128, 64, 6, 6, 1);
  require_no_hazard(ran);
  CHECK(tally(ran, 128, 64 * 6).unwritten == 128 * 64 * 6 / 2);
  for (int cell = 0; cell < 192; ++cell) {
    CHECK(ran.output[cell] == value(128, 0, cell));
    CHECK(ran.output[192 + cell] == value(128, 1, cell));  // the place of image 0's cell 192 + cell
  }
}

TEST_CASE("Fig. 7b with 16 channels reads tile rows that do not exist") {
  const Ran ran = figure7b(64, 16, 6, 6, 1);
  INFO(text_of(ran));
  const Hazard* read = found(ran, "out_of_bounds", 20);
  REQUIRE(read != nullptr);
  CHECK(read->array == "sh");
  CHECK(read->thread[0] == 16);
  CHECK(read->count == 6 * 16 * 16);  // lanes 16 to 31 of 16 warps in 6 blocks; they end there
}

TEST_CASE("Fig. 7b with 48 channels reads tile rows that nobody has written") {
  const Ran ran = figure7b(64, 48, 2, 6, 1);
  INFO(text_of(ran));
  const Hazard* read = found(ran, "uninitialized_shared_read", 20);
  REQUIRE(read != nullptr);
  CHECK(read->thread[0] == 16);
  // Blocks have 16 cells and D2_H counts 32 for each, so images are twice as far apart as they should
  // be: image 32 lies beyond the end.
  const Hazard* store = found(ran, "out_of_bounds", 22);
  REQUIRE(store != nullptr);
  CHECK(store->thread[0] == 0);
  CHECK(store->thread[1] == 0);
}

TEST_CASE("Fig. 7b with 3 channels never writes an output, so nvcc leaves out its tile as well") {
  const Ran ran = figure7b(64, 3, 16, 3, 1);
  require_no_hazard(ran);
  CHECK(tally(ran, 64, 3 * 16).unwritten == 64 * 3 * 16);
  CHECK(ran.seen.cost.global_store_requests == 0);
  CHECK(ran.seen.cost.shared_store_requests ==
        0);  // line 13 would write rows that sh[3][33] has not
}

TEST_CASE("Fig. 7b leaves out the images beyond the last multiple of 64") {
  const Ran ran = figure7b(96, 32, 6, 6, 1);
  require_no_hazard(ran);
  const Tally counted = tally(ran, 96, 192);
  CHECK(counted.right == 64 * 192);
  CHECK(counted.unwritten == 32 * 192);
}

TEST_CASE(
    "Fig. 7b with an odd number of images takes every cell but the first from another place") {
  const Ran ran = figure7b(65, 32, 6, 6, 1);
  require_no_hazard(ran);
  // Cell 1's images begin at float 64, where cell 0 has its last one.
  CHECK(ran.output[0] == value(65, 0, 0));
  CHECK(ran.output[1] == value(65, 64, 0));
  CHECK(tally(ran, 65, 192).right == 64);
}
