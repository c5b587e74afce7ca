// Exercise 08: two pixels per thread, filters transformed.
//
// No kernel of stages 06 to 10 passes: they read filters as [K][C][R][S]. With that mended, a thread of stage 08
// has one pixel, which costs half a wavefront per multiply-add for the taps alone.
#include "common/exercise/check.hpp"

namespace halo::exercises {

namespace {

constexpr int kInput = 0;
constexpr int kFilters = 1;

std::int64_t P(const Given& given) { return given["H"] - given["R"] + 1; }
std::int64_t Q(const Given& given) { return given["W"] - given["S"] + 1; }

void define(const Given& given, std::int64_t i, Output& output) {
  const std::int64_t C = given["C"], H = given["H"], W = given["W"], K = given["K"];
  const std::int64_t R = given["R"], S = given["S"];
  const std::int64_t q = i % Q(given), p = i / Q(given) % P(given);
  const std::int64_t k = i / Q(given) / P(given) % K, n = i / Q(given) / P(given) / K;
  for (std::int64_t c = 0; c < C; ++c) {
    for (std::int64_t r = 0; r < R; ++r) {
      for (std::int64_t s = 0; s < S; ++s) {
        output.product({{kFilters, ((c * R + r) * S + s) * K + k},
                        {kInput, ((n * C + c) * H + p + r) * W + q + s}});
      }
    }
  }
}

// The usual blocks: 32 columns, 2 rows and 32 filters.
Owner owner(const Given& given, std::int64_t i) {
  const std::int64_t q = i % Q(given), p = i / Q(given) % P(given);
  const std::int64_t k = i / Q(given) / P(given) % given["K"];
  const std::int64_t n = i / Q(given) / P(given) / given["K"];
  const std::int64_t across = (Q(given) - 1) / 32 + 1, down = (P(given) - 1) / 2 + 1;
  const std::int64_t groups = (given["K"] - 1) / 32 + 1;
  return {((n * groups + k / 32) * down + p / 2) * across + q / 32, k % 32 / 8 * 32 + q % 32};
}

std::vector<Trait> traits(const Given& given) {
  return {
      {"1 x 1 filters", "filters of several taps", given["R"] * given["S"] == 1},
      {"one channel", "several channels", given["C"] == 1},
      {"one image", "several images", given["N"] == 1},
      {"an even number of output rows", "an odd number of output rows", P(given) % 2 == 0},
      {"a multiple of 32 output columns", "no multiple of 32 output columns", Q(given) % 32 == 0},
      {"a multiple of 32 filters", "no multiple of 32 filters", given["K"] % 32 == 0},
      {"up to 32 filters", "more than 32 filters", given["K"] <= 32},
  };
}

// images, channels, rows, columns, filters, rows and columns of a filter
const std::vector<Group> kGroups = {
    {"one channel, a full tile", {{1, 1, 2, 32, 32, 1, 1}, {1, 1, 4, 34, 32, 3, 3}}},
    {"several channels, several tiles", {{1, 3, 6, 34, 32, 3, 3}, {1, 5, 4, 66, 64, 1, 3}}},
    {"odd rows, and columns and filters that fill no block",
     {{1, 2, 7, 9, 3, 3, 3}, {1, 3, 5, 40, 33, 2, 2}, {1, 4, 3, 36, 45, 1, 1}}},
    {"several images", {{3, 2, 4, 10, 5, 3, 3}, {2, 3, 5, 5, 34, 2, 3}}},
    {"outputs of one cell, filters of any form",
     {{1, 2, 7, 7, 2, 7, 7}, {1, 1, 1, 1, 1, 1, 1}, {2, 3, 7, 40, 6, 1, 7}, {1, 2, 9, 7, 9, 5, 7}}},
};

const Numbers kMeasured = {1, 8, 10, 66, 32, 3, 3};
constexpr double kWarpMultiplyAdds = 8.0 * 9 * 8 * 64 * 32 / 32;
constexpr const char* kWavefronts = "wavefronts per multiply-add of a warp";

double warp_multiply_adds(const Given& given) {
  return static_cast<double>(given["C"] * given["R"] * given["S"] * given["N"] * given["K"] *
                             P(given) * Q(given)) /
         32;
}

// The usual blocks: for each channel their cells and taps, 32 at a time in the order in which they lie on chip, and
// their outputs, a row at a time.
double usual_bytes(const Given& given) {
  const std::int64_t C = given["C"], H = given["H"], W = given["W"], K = given["K"];
  const std::int64_t R = given["R"], S = given["S"], columns = 32 + S - 1;
  const std::int64_t cells = (2 + R - 1) * columns, taps = R * S * 32;
  std::int64_t sectors = 0;
  for (std::int64_t p = 0; p < P(given); p += 2) {
    for (std::int64_t q = 0; q < Q(given); q += 32) {
      for (std::int64_t k = 0; k < K; k += 32) {
        for (std::int64_t c = 0; c < C; ++c) {
          for (std::int64_t i = 0; i < cells; i += 32) {
            sectors += sectors_of_warp([&](std::int64_t lane) {
              const std::int64_t h = p + (i + lane) / columns, w = q + (i + lane) % columns;
              return i + lane < cells && h < H && w < W ? (c * H + h) * W + w : -1;
            });
          }
          for (std::int64_t i = 0; i < taps; i += 32) {
            sectors += sectors_of_warp([&](std::int64_t lane) {
              return k + lane < K ? (c * R * S + i / 32) * K + k + lane : -1;
            });
          }
        }
        for (std::int64_t row = p; row < std::min(p + 2, P(given)); ++row) {
          for (std::int64_t of = k; of < std::min(k + 32, K); ++of) {
            sectors += sectors_of_warp([&](std::int64_t lane) {
              return q + lane < Q(given) ? (of * P(given) + row) * Q(given) + q + lane : -1;
            });
          }
        }
      }
    }
  }
  return 32 * static_cast<double>(sectors) / static_cast<double>(K * P(given) * Q(given));
}

Measure wavefronts() { return shared_wavefronts().divided_by(kWarpMultiplyAdds, kWavefronts); }

}  // namespace

const Contract& contract() {
  static const Contract contract = {
      .name = "08_two_pixels",
      .numbers = {"N", "C", "H", "W", "K", "R", "S"},
      .inputs =
          {{"input",
            [](const Given& given) { return given["N"] * given["C"] * given["H"] * given["W"]; },
            256},
           {"filters",
            [](const Given& given) { return given["K"] * given["C"] * given["R"] * given["S"]; },
            8}},
      .output_size =
          [](const Given& given) { return given["N"] * given["K"] * P(given) * Q(given); },
      .define = define,
      .groups = kGroups,
      .draw =
          [](Draw draw) {
            const long long R = 1 + draw(5), S = 1 + draw(5);
            return Numbers{1 + draw(2), 1 + draw(6), R + draw(8), S + draw(40), 1 + draw(40), R, S};
          },
      .cases =
          {
              safe("no race, and every thread reaches the barriers", 10, kOrder),
              safe("no access beyond an array, and none of what nobody wrote", 10, kMemory),
          },
      .budgets =
          {
              {"a tap that was read serves two pixels",
               22,
               kMeasured,
               {{shared_wavefronts().divided_by(1, kWavefronts), 0.5, 0.405, warp_multiply_adds}}},
              {"cells and taps are read from global memory once per block",
               8,
               kMeasured,
               {{bytes_per_output(), 14 / 11.25 * Rule(usual_bytes), usual_bytes},
                {launches(), 1, 1}}},
          },
      .besides =
          {
              {stored_bytes_per_output(), 5, 4},
              {copied_bytes(), 0, 0},
              {local_bytes_per_output(), 1, 0},
              // A table that the compiler fills, but no taps; nor may they be handed round, which takes as long as to read them.
              {constant_reads(), 0.25 * Rule(warp_multiply_adds), 0},
              {shuffles(), 0.25 * Rule(warp_multiply_adds), 0},
          },
      .questions =
          {
              // 2 of a float4 for four filters, twice, and 1 for each of two pixels: 6 for 16 multiply-adds;
              // what comes on chip must be written there too.
              {"wavefronts_per_multiply_add", 0.375, 0.035, kMeasured, wavefronts()},
              // For 2,048 outputs and each of 8 channels: 64 cells and 32 taps, all in whole sectors.
              {"bytes_per_output_1x1", 5.5, 0.01, {1, 8, 8, 64, 32, 1, 1}, bytes_per_output()},
              {"barriers_per_block", 16, 0, {1, 8, 2, 32, 32, 1, 1}, barriers()},
          },
      .timed = {1, 256, 58, 66, 256, 3, 3},
      .owner = owner,
      .axes =
          [](const Given& given) {
            return std::vector<conv::OutputAxis>{{"n", "image", given["N"]},
                                                 {"k", "filter", given["K"]},
                                                 {"p", "row", P(given)},
                                                 {"q", "column", Q(given)}};
          },
      .traits = traits,
  };
  return contract;
}

}  // namespace halo::exercises
