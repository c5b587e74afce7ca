// Exercise 03: a smoothed signal and its slope in one pass.
//
// The kernels of the stages have one mask and one output; stage 03's, launched once for each mask, loads the
// cells twice, which the budget sees.
#include "common/exercise/check.hpp"

namespace halo::exercises {

namespace {

constexpr int kInput = 0;
constexpr int kSmooth = 1;
constexpr int kSlope = 2;

void define(const Given& given, std::int64_t place, Output& output) {
  const std::int64_t n = given["n"];
  const int mask = place < n ? kSmooth : kSlope;
  const std::int64_t width = given[mask == kSmooth ? "smooth_width" : "slope_width"];
  const std::int64_t first = place % n - (width - 1) / 2;
  for (std::int64_t j = 0; j < width; ++j) {
    if (first + j >= 0 && first + j < n) output.product({{kInput, first + j}, {mask, j}});
  }
}

std::vector<Trait> traits(const Given& given) {
  const std::int64_t n = given["n"], threads = given["threads"];
  const std::int64_t smooth = given["smooth_width"], slope = given["slope_width"];
  return {
      {"two masks of one width", "two masks of different widths", smooth == slope},
      {"a second mask that is no wider than the first", "a second mask that is wider",
       slope <= smooth},
      {"a single block", "several blocks", n <= threads},
      {"lengths that are a multiple of the block's threads",
       "lengths that are not a multiple of the block's threads", n % threads == 0},
      {"signals at least as long as the masks", "masks longer than the signal",
       n >= std::max(smooth, slope)},
  };
}

// length, smooth width, slope width, threads
const std::vector<Group> kGroups = {
    {"two masks of one width, one block", {{8, 3, 3, 8}, {32, 5, 5, 32}, {200, 3, 3, 256}}},
    {"several blocks, and a last one that is not full",
     {{64, 3, 3, 32}, {100, 5, 5, 32}, {257, 9, 9, 128}, {1000, 9, 9, 256}}},
    {"a second mask that is narrower",
     {{32, 5, 3, 32}, {100, 9, 5, 32}, {257, 31, 1, 64}, {500, 63, 33, 128}}},
    {"a second mask that is wider",
     {{32, 3, 5, 32}, {100, 5, 9, 32}, {257, 1, 31, 64}, {500, 33, 63, 128}}},
    {"any masks, any block, signals down to one cell",
     {{1, 1, 1, 1}, {1, 9, 3, 32}, {3, 3, 31, 2}, {131, 129, 65, 48}, {1025, 511, 513, 1024}}},
};

const Numbers kMeasured = {100'000, 9, 5, 256};

// A warp asks once for the cells of 32 neighbouring places, with each tap of the wider mask.
double warps(const Given& given) { return static_cast<double>((given["n"] - 1) / 32 + 1); }

std::int64_t wider(const Given& given) {
  return std::max(given["smooth_width"], given["slope_width"]);
}

double usual_requests(const Given& given) {
  return warps(given) * static_cast<double>(wider(given));
}

double usual_reads(const Given& given) {
  return warps(given) * static_cast<double>(given["smooth_width"] + given["slope_width"]);
}

// Two a cell for each sum.
double most_shuffles(const Given& given) { return 2 * usual_reads(given) + 6 * warps(given); }

double allowed_on_chip(const Given& given) { return usual_requests(given) + 3 * warps(given); }

Measure masks_elsewhere() {
  return {"calls without a read of constant memory",
          [](const Cost& cost, double) { return cost.constant_load_requests == 0 ? 1.0 : 0.0; },
          {}};
}

double mask_bytes(const Given& given) {
  return 4 * static_cast<double>(given["smooth_width"] + given["slope_width"]);
}

double usual_bytes(const Given& given) {
  const std::int64_t n = given["n"], halo = (wider(given) - 1) / 2;
  std::int64_t sectors = 0;
  for (std::int64_t first = 0; first < n; first += 32) {
    for (std::int64_t d = -halo; d <= halo; ++d) {
      sectors += sectors_of_warp(
          [&](std::int64_t lane) { return first + lane + d < n ? first + lane + d : -1; });
    }
    sectors += 2 * sectors_of_warp(
                       [&](std::int64_t lane) { return first + lane < n ? first + lane : -1; });
  }
  return 32 * static_cast<double>(sectors) / static_cast<double>(n);
}

}  // namespace

const Contract& contract() {
  static const Contract contract = {
      .name = "03_two_masks",
      .numbers = {"n", "smooth_width", "slope_width", "threads"},
      .inputs = {{"input", [](const Given& given) { return given["n"]; }},
                 {"smooth_mask", [](const Given& given) { return given["smooth_width"]; }, 16},
                 {"slope_mask", [](const Given& given) { return given["slope_width"]; }, 16}},
      .output_size = [](const Given& given) { return 2 * given["n"]; },
      .define = define,
      .outputs = 2,
      .groups = kGroups,
      .draw =
          [](Draw draw) {
            return Numbers{1 + draw(2000), 1 + 2 * draw(30), 1 + 2 * draw(30), 1 + draw(1024)};
          },
      .cases =
          {
              safe("no access beyond an array, and none of what nobody wrote", 20, kMemory),
          },
      .budgets =
          {
              {"each cell is loaded once for both sums",
               22,
               kMeasured,
               {{load_requests(), 29'500 / 28'125.0 * Rule(usual_requests), usual_requests},
                {bytes_per_output(), 53.5 / 51.997 * Rule(usual_bytes), usual_bytes},
                {launches(), 2, 1}}},
              // Where lanes ask for different taps, each of them is a read.
              {"all lanes read the same tap",
               8,
               kMeasured,
               {{constant_reads(), 47'000 / 43'750.0 * Rule(usual_reads), usual_reads}}},
          },
      // The masks, perhaps by way of another array. Of a tile each cell is stored, and read once for both sums.
      .besides =
          {
              {shared_requests(), allowed_on_chip, 0},
              {local_bytes_per_output(), 1, 0},
              // Taps from elsewhere cost little where a thread has several places.
              {masks_elsewhere(), 0, 0},
              {shuffles(), most_shuffles, 0},
              {copied_bytes(), 2 * Rule(mask_bytes), mask_bytes},
          },
      .questions =
          {
              // Ten blocks of eight warps.
              {"requests_per_warp", 9, 0, {2560, 9, 5, 256}, load_requests(), 80},
              {"bytes_per_place", 52, 0.25, kMeasured, bytes_per_output()},
              {"bytes_per_place_5_and_5", 32, 0.25, {100'000, 5, 5, 256}, bytes_per_output()},
              {"constant_reads_per_warp", 14, 0.2, {2560, 9, 5, 256}, constant_reads(), 80},
          },
      .timed = {10'000'000, 9, 5, 256},
      .owner = [](const Given& given,
                  std::int64_t place) { return one_output_per_thread(given, place % given["n"]); },
      .axes =
          [](const Given& given) {
            return std::vector<conv::OutputAxis>{{"array", "array", 2, {"smooth", "slope"}},
                                                 {"i", "place", given["n"]}};
          },
      .periods = blocks_and_warps,
      .traits = traits,
  };
  return contract;
}

}  // namespace halo::exercises
