// Exercise 09: a layer with biases, its taps divided over threads, in one kernel.
//
// No kernel of stage 09 passes: they add no bias, and what the first stores is R*S times the outputs. Those of
// stages 06 to 08 and 10 add no bias either, and have at least one output for each of their threads.
#include "common/exercise/check.hpp"

namespace halo::exercises {

namespace {

constexpr int kInput = 0;
constexpr int kFilters = 1;
constexpr int kBias = 2;

std::int64_t input_size(const Given& given) {
  return given["N"] * given["C"] * given["H"] * given["W"];
}

std::int64_t output_size(const Given& given) {
  return given["N"] * given["K"] * given["H"] * given["W"];
}

void define(const Given& given, std::int64_t i, Output& output) {
  const std::int64_t C = given["C"], H = given["H"], W = given["W"], K = given["K"];
  const std::int64_t R = given["R"], S = given["S"];
  const std::int64_t q = i % W, p = i / W % H, k = i / W / H % K, n = i / W / H / K;
  output.product({{kBias, k}});
  for (std::int64_t c = 0; c < C; ++c) {
    for (std::int64_t r = 0; r < R; ++r) {
      for (std::int64_t s = 0; s < S; ++s) {
        const std::int64_t h = p - (R - 1) / 2 + r, w = q - (S - 1) / 2 + s;
        if (h < 0 || h >= H || w < 0 || w >= W) continue;
        output.product(
            {{kFilters, ((k * C + c) * R + r) * S + s}, {kInput, ((n * C + c) * H + h) * W + w}});
      }
    }
  }
}

// The usual blocks: 32 pixels of one filter.
Owner owner(const Given& given, std::int64_t i) {
  const std::int64_t map = given["H"] * given["W"];
  const std::int64_t pixel = i / (map * given["K"]) * map + i % map;
  const std::int64_t blocks = (given["N"] * map - 1) / 32 + 1;
  return {i / map % given["K"] * blocks + pixel / 32, pixel % 32};
}

std::vector<Trait> traits(const Given& given) {
  const std::int64_t pixels = given["N"] * given["H"] * given["W"];
  const std::int64_t taps = given["R"] * given["S"];
  return {
      {"1 x 1 filters", "filters of several taps", taps == 1},
      {"one channel", "several channels", given["C"] == 1},
      {"one filter", "several filters", given["K"] == 1},
      {"one image", "several images", given["N"] == 1},
      {"up to 1,024 taps a filter", "more than 1,024 taps a filter", given["C"] * taps <= 1024},
      {"pixels that fill their blocks of 32", "a last block of pixels that is not full",
       pixels % 32 == 0},
      {"maps at least as large as the filter", "maps smaller than the filter",
       given["H"] >= given["R"] && given["W"] >= given["S"]},
  };
}

// images, channels, rows, columns, filters, rows and columns of a filter
const std::vector<Group> kGroups = {
    {"one image, filters of 3 x 3", {{1, 1, 8, 8, 1, 3, 3}, {1, 4, 8, 4, 2, 3, 3}}},
    {"more taps than fit on chip", {{1, 130, 5, 5, 3, 3, 3}, {1, 1100, 2, 3, 2, 1, 1}}},
    {"several images, and a last block that is not full",
     {{3, 3, 5, 5, 2, 3, 3}, {2, 5, 7, 7, 4, 3, 3}, {5, 2, 3, 3, 3, 1, 1}}},
    {"maps smaller than the filter, down to one cell",
     {{1, 2, 1, 1, 2, 5, 5}, {2, 3, 2, 1, 2, 3, 7}, {1, 1, 3, 2, 1, 7, 5}}},
    {"maps and filters that are not square",
     {{1, 6, 9, 4, 5, 1, 5}, {2, 4, 3, 11, 3, 5, 3}, {1, 9, 6, 6, 10, 3, 1}}},
};

const Numbers kMeasured = {1, 16, 16, 16, 8, 3, 3};

// The usual blocks: 32 pixels and a filter, whose taps are fetched once; for each tap a warp asks for 32 cells.
double usual_bytes(const Given& given) {
  const std::int64_t C = given["C"], H = given["H"], W = given["W"], K = given["K"];
  const std::int64_t R = given["R"], S = given["S"], map = H * W, pixels = given["N"] * map;
  std::int64_t of_filter = 0;
  for (std::int64_t first = 0; first < pixels; first += 32) {
    for (std::int64_t tap = 0; tap < C * R * S; ++tap) {
      const std::int64_t c = tap / (R * S), r = tap / S % R, s = tap % S;
      of_filter += sectors_of_warp([&](std::int64_t lane) {
        const std::int64_t pixel = first + lane;
        const std::int64_t h = pixel / W % H - (R - 1) / 2 + r, w = pixel % W - (S - 1) / 2 + s;
        const bool exists = pixel < pixels && h >= 0 && h < H && w >= 0 && w < W;
        return exists ? (pixel / map * C + c) * map + h * W + w : -1;
      });
    }
    of_filter += (C * R * S - 1) / 8 + 1;
    // The bias, and the outputs.
    of_filter += 1 + sectors_of_warp([&](std::int64_t lane) {
                   const std::int64_t pixel = first + lane;
                   return pixel < pixels ? pixel / map * K * map + pixel % map : -1;
                 });
  }
  return 32 * static_cast<double>(of_filter) / static_cast<double>(pixels);
}

double terms(const Given& given) {
  return static_cast<double>(given["C"] * given["R"] * given["S"]);
}

}  // namespace

const Contract& contract() {
  static const Contract contract = {
      .name = "09_sum_in_one_kernel",
      .numbers = {"N", "C", "H", "W", "K", "R", "S"},
      .inputs = {{"input", input_size, 64},
                 {"filters",
                  [](const Given& given) {
                    return given["K"] * given["C"] * given["R"] * given["S"];
                  },
                  8},
                 {"bias", [](const Given& given) { return given["K"]; }}},
      .output_size = output_size,
      .define = define,
      .groups = kGroups,
      .draw =
          [](Draw draw) {
            return Numbers{1 + draw(3), 1 + draw(20),    1 + draw(10),   1 + draw(10),
                           1 + draw(6), 1 + 2 * draw(3), 1 + 2 * draw(3)};
          },
      .cases =
          {
              safe("no race, and every thread reaches the barriers", 10, kOrder),
              safe("no access beyond an array, and none of what nobody wrote", 10, kMemory),
          },
      .budgets =
          {
              {"one launch, which stores the outputs and nothing else",
               18,
               kMeasured,
               {{launches(), 1, 1}, {stored_bytes_per_output(), 5, 4}, {extra_memory(), 0, 0}}},
              {"each tap is fetched once per block",
               6,
               kMeasured,
               {{bytes_per_output(), 630.0 / 575 * Rule(usual_bytes), usual_bytes}}},
              {"several threads per output, and no atomics",
               6,
               kMeasured,
               {{outputs_per_thread(), 0.25, 0.125}, {atomics(), 0, 0}}},
          },
      .besides =
          {
              {copied_bytes(), 0, 0},
              // Twice: no kernel has all its warps do the same.
              {outputs_per_working_thread(), 0.5, 0.125},
              // Threads that all add the same terms multiply each anew.
              {products_per_output(), 1.5 * Rule(terms), terms},
              // Or, of whole numbers, have five times as many instructions.
              {instructions_per_output(), 100 * Rule(terms), 36 * Rule(terms)},
          },
      .questions =
          {
              {"bytes_stored_per_output", 4, 0, kMeasured, stored_bytes_per_output()},
              {"outputs_per_thread", 0.125, 0, kMeasured, outputs_per_thread()},
              // 64 channels of 4 sectors for 32 pixels, 8 sectors of taps, one of the bias, 4 bytes stored.
              {"bytes_per_output_1x1", 269, 0.5, {1, 64, 8, 8, 8, 1, 1}, bytes_per_output()},
          },
      .timed = {1, 384, 13, 13, 384, 3, 3},
      .owner = owner,
      .axes =
          [](const Given& given) {
            return std::vector<conv::OutputAxis>{{"n", "image", given["N"]},
                                                 {"k", "filter", given["K"]},
                                                 {"p", "row", given["H"]},
                                                 {"q", "column", given["W"]}};
          },
      .traits = traits,
  };
  return contract;
}

}  // namespace halo::exercises
