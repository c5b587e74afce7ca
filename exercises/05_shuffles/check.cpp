// Exercise 05: neighbours' cells by shuffles.
//
// No kernel of a stage passes: their signals end, this one is a ring. If they had one, the tiles of stages 04
// and 05 would ask for shared memory, stage 02's grid make a load request a tap, and stage 05's quad move
// 16.5 bytes per output.
#include "common/exercise/check.hpp"

#include <algorithm>

namespace halo::exercises {

namespace {

constexpr int kInput = 0;
constexpr int kMask = 1;

void define(const Given& given, std::int64_t i, Output& output) {
  const std::int64_t n = given["n"], width = given["width"], halo = (width - 1) / 2;
  for (std::int64_t j = 0; j < width; ++j) {
    const std::int64_t k = (i - halo + j) % n;
    output.product({{kInput, k < 0 ? k + n : k}, {kMask, j}});
  }
}

std::vector<Trait> traits(const Given& given) {
  const std::int64_t n = given["n"], width = given["width"];
  return {
      {"mask 1", "masks wider than 1", width == 1},
      {"a single warp", "several warps", n <= 32},
      {"lengths that are a multiple of 32", "lengths that are no multiple of 32", n % 32 == 0},
      {"rings at least as long as the mask", "rings shorter than the mask", n >= width},
      {"masks of at most 17 taps", "masks of more than 17 taps", width <= 17},
  };
}

// length, mask, threads
const std::vector<Group> kGroups = {
    {"one full warp", {{32, 3, 32}, {32, 5, 32}, {32, 3, 64}}},
    {"several warps, which need cells of their neighbours",
     {{64, 3, 32}, {128, 9, 64}, {96, 5, 96}, {512, 9, 256}}},
    {"a last warp that is not full",
     {{33, 3, 32}, {100, 9, 64}, {257, 5, 128}, {95, 7, 32}, {1000, 9, 256}}},
    {"masks of one to 33 taps",
     {{160, 1, 32}, {224, 17, 128}, {320, 31, 32}, {256, 33, 64}, {1000, 33, 1024}}},
    {"rings shorter than a warp, and than the mask",
     {{1, 1, 32}, {31, 3, 32}, {15, 31, 96}, {5, 33, 32}, {3, 7, 64}, {1, 33, 32}, {33, 33, 32}}},
};

const Numbers kLong = {25'600, 9, 256};
constexpr double kWarps = 800;

double mask_bytes(const Given& given) { return 4 * static_cast<double>(given["width"]); }

// 4 sectors for the warp's own cells, some for the cells on each side, 4 to write.
double usual_bytes(const Given& given) {
  const std::int64_t halo = (given["width"] - 1) / 2;
  return 4 + 2 * static_cast<double>((halo + 7) / 8) + 4;
}

// A tap by as many as it may take, and where the loop is always of all 33, two each; but no cell bit by bit.
double most_shuffles(const Given& given) {
  return static_cast<double>(((given["n"] - 1) / 32 + 1) *
                             std::max<std::int64_t>(4 * given["width"], 100));
}

double usual_requests(const Given& given) {
  return static_cast<double>(((given["n"] - 1) / 32 + 1) * (given["width"] > 1 ? 2 : 1));
}

}  // namespace

const Contract& contract() {
  static const Contract contract = {
      .name = "05_shuffles",
      .numbers = {"n", "width", "threads"},
      .inputs = {{"input", [](const Given& given) { return given["n"]; }},
                 {"mask", [](const Given& given) { return given["width"]; }, 16}},
      .output_size = [](const Given& given) { return given["n"]; },
      .define = define,
      .groups = kGroups,
      .draw =
          [](Draw draw) {
            return Numbers{1 + draw(2000), 1 + 2 * draw(17), 32 * (1 + draw(32))};
          },
      .cases =
          {
              safe("every lane that is read from takes part in the shuffle", 10, kOrder),
              safe("no access beyond an array, and none of what nobody wrote", 10, kMemory),
          },
      .budgets =
          {
              // A warp that starts its loads with the halo's first cell needs 7 sectors to read.
              {"a warp reads its cells once, and its halo once",
               20,
               kLong,
               {{bytes_per_output(), 1.2 * Rule(usual_bytes), usual_bytes},
                {load_requests(), 1.5 * Rule(usual_requests), usual_requests},
                {launches(), 1, 1}}},
              {"no shared memory, and no barrier",
               10,
               kLong,
               {{shared_requests(), 0, 0}, {barriers(), 0, 0}}},
          },
      // The mask, perhaps by way of another array. What a lane keeps is in registers.
      .besides =
          {
              {shared_bytes(), 0, 0},
              {shuffles(), most_shuffles, 0},
              {local_bytes_per_output(), 1, 0},
              {copied_bytes(), 2 * Rule(mask_bytes), mask_bytes},
          },
      .questions =
          {
              {"requests_per_warp", 2, 0, kLong, load_requests(), kWarps},
              {"bytes_per_output", 10, 0.05, kLong, bytes_per_output()},
              {"bytes_per_output_17", 10, 0.05, {25'600, 17, 256}, bytes_per_output()},
              {"bytes_per_output_19", 12, 0.05, {25'600, 19, 256}, bytes_per_output()},
          },
      .timed = {10'000'000, 9, 256},
      .owner = one_output_per_thread,
      .periods = blocks_and_warps,
      .traits = traits,
  };
  return contract;
}

}  // namespace halo::exercises
