// Exercise 04: tile and halo, the ends repeated.
#include "common/exercise/check.hpp"

#include <algorithm>

namespace halo::exercises {

namespace {

constexpr int kInput = 0;
constexpr int kMask = 1;

void define(const Given& given, std::int64_t i, Output& output) {
  const std::int64_t n = given["n"], width = given["width"], halo = (width - 1) / 2;
  for (std::int64_t j = 0; j < width; ++j) {
    output.product({{kInput, std::clamp<std::int64_t>(i - halo + j, 0, n - 1)}, {kMask, j}});
  }
}

std::vector<Trait> traits(const Given& given) {
  const std::int64_t n = given["n"], halo = (given["width"] - 1) / 2, threads = given["threads"];
  return {
      {"mask 1", "masks wider than 1", halo == 0},
      {"lengths that are a multiple of the block's threads",
       "lengths that are not a multiple of the block's threads", n % threads == 0},
      {"a single block", "several blocks", n <= threads},
      {"halos no wider than half a block", "halos wider than half a block", 2 * halo <= threads},
      {"signals at least as long as the mask", "masks longer than the signal", n >= 2 * halo + 1},
      {"blocks of a warp or less", "blocks of more than a warp", threads <= 32},
  };
}

// length, mask, threads
const std::vector<Group> kGroups = {
    {"one block, a mask of three taps", {{8, 3, 8}, {32, 3, 32}, {200, 3, 256}}},
    {"several blocks, and a last one that is not full",
     {{64, 3, 32}, {100, 5, 32}, {257, 9, 128}, {1000, 9, 256}}},
    {"masks whose halo is wider than the block",
     {{50, 15, 4}, {64, 65, 16}, {300, 127, 32}, {90, 33, 7}, {2100, 1023, 64}}},
    {"signals shorter than the mask, down to one cell",
     {{1, 1, 1}, {1, 9, 32}, {3, 7, 16}, {5, 31, 2}, {63, 127, 64}}},
    {"any block and any mask", {{33, 1, 33}, {131, 129, 48}, {1025, 9, 1024}, {211, 63, 1}}},
};

const Numbers kMeasured = {100'000, 9, 256};
const Numbers kWide = {20'000, 129, 256};

double blocks(const Given& given) {
  return static_cast<double>((given["n"] - 1) / given["threads"] + 1);
}

double mask_bytes(const Given& given) { return 4 * static_cast<double>(given["width"]); }

// The tile of each block, which its warps load in turns of 32 cells, and its outputs.
double usual_bytes(const Given& given) {
  const std::int64_t n = given["n"], halo = (given["width"] - 1) / 2, threads = given["threads"];
  std::int64_t sectors = 0;
  for (std::int64_t first = 0; first < n; first += threads) {
    const std::int64_t end = first + threads + halo;
    for (std::int64_t k = first - halo; k < end; k += 32) {
      sectors += sectors_of_warp([&](std::int64_t lane) {
        return k + lane < end ? std::clamp<std::int64_t>(k + lane, 0, n - 1) : -1;
      });
    }
    for (std::int64_t i = first; i < std::min(first + threads, n); i += 32) {
      sectors += sectors_of_warp([&](std::int64_t lane) {
        return i + lane < std::min(first + threads, n) ? i + lane : -1;
      });
    }
  }
  return 32 * static_cast<double>(sectors) / static_cast<double>(n);
}

}  // namespace

const Contract& contract() {
  static const Contract contract = {
      .name = "04_tile_and_halo",
      .numbers = {"n", "width", "threads"},
      .inputs = {{"input", [](const Given& given) { return given["n"]; }},
                 {"mask", [](const Given& given) { return given["width"]; }, 16}},
      .output_size = [](const Given& given) { return given["n"]; },
      .define = define,
      .groups = kGroups,
      .draw =
          [](Draw draw) {
            return Numbers{1 + draw(3000), 1 + 2 * draw(40), 1 + draw(1024)};
          },
      .cases =
          {
              safe("no race, and every thread reaches the barrier", 10, kOrder),
              safe("no access beyond an array, and none of what nobody wrote", 10, kMemory),
          },
      .budgets =
          {
              {"each cell is read from global memory once per block",
               15,
               kMeasured,
               // Blocks at the ends may have launches of their own.
               {{bytes_per_output(), 10.5 / 9.25 * Rule(usual_bytes), usual_bytes},
                {launches(), 3, 1}}},
              // With few taps it costs nothing to read the halo as often as a tap needs it: here 87. Small blocks of their own,
              // with the mask on chip, have 16.
              {"the cells of a wide halo too",
               10,
               kWide,
               {{bytes_per_output(), 3 * Rule(usual_bytes), usual_bytes}}},
              // Four cells at a time may meet at the edges of a tile.
              {"hardly a bank conflict: at most one per block",
               5,
               kMeasured,
               {{shared_conflicts(), blocks, 0}}},
          },
      // The mask, perhaps by way of another array.
      .besides =
          {
              {stored_bytes_per_output(), 5, 4},
              {copied_bytes(), 2 * Rule(mask_bytes), mask_bytes},
          },
      .questions =
          {
              // Ten blocks, whose ends cost what the others do.
              {"requests_per_block", 9, 0, {2560, 9, 256}, load_requests(), 10},
              {"bytes_per_output", 9.25, 0.05, {100'000, 9, 256}, bytes_per_output()},
              {"bytes_per_output_17", 8.25, 0.05, {100'000, 17, 256}, bytes_per_output()},
              {"conflicts", 0, 0, {100'000, 9, 256}, shared_conflicts()},
          },
      .timed = {10'000'000, 9, 256},
      .owner = one_output_per_thread,
      .periods = blocks_and_warps,
      .traits = traits,
  };
  return contract;
}

}  // namespace halo::exercises
