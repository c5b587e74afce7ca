// Exercise 10: the transform by tiles, with bias and ReLU.
//
// No kernel of a stage passes: stage 10's transforms do nothing on the way, stage 13's bias and ReLU do not
// transform, and both one after the other would take two kernels. The naive transform moves 36 bytes per cell.
#include "common/exercise/check.hpp"

#include <algorithm>
#include <cmath>

#include "common/conv/accuracy.hpp"

namespace halo::exercises {

namespace {

constexpr int kInput = 0;
constexpr int kBias = 1;

std::int64_t plane_of(const Given& given) { return given["H"] * given["W"]; }
std::int64_t cells_of(const Given& given) { return given["C"] * plane_of(given); }

void define(const Given& given, std::int64_t i, Output& output) {
  const std::int64_t n = i / cells_of(given), cell = i % cells_of(given);
  const Cell from{kInput, cell * given["N"] + n}, bias{kBias, cell / plane_of(given)};
  // One addition, rounded once; the maximum with 0 brings two numbers no further apart.
  const double sum = given.cell(from.input, from.index) + given.cell(bias.input, bias.index);
  output.is(std::max(sum, 0.0), conv::error_bound(1, std::fabs(sum)), {from, bias});
}

std::vector<Trait> traits(const Given& given) {
  const std::int64_t N = given["N"], cells = cells_of(given);
  return {
      {"a single tile", "several tiles", N <= 32 && cells <= 32},
      {"cells that are a multiple of 32", "cells that are no multiple of 32", cells % 32 == 0},
      {"batches of 32 images", "batches of other sizes", N == 32},
      {"batches that are a multiple of 32", "batches that are no multiple of 32", N % 32 == 0},
      {"one channel", "several channels", given["C"] == 1},
  };
}

// images, channels, rows, columns
const std::vector<Group> kGroups = {
    {"one tile, one channel", {{32, 1, 4, 8}, {32, 1, 1, 32}}},
    {"32 images, several tiles and channels",
     {{32, 2, 4, 4}, {32, 2, 8, 8}, {32, 3, 4, 8}, {32, 6, 8, 4}}},
    {"a last tile that is not full",
     {{32, 1, 1, 1}, {32, 3, 5, 7}, {32, 1, 1, 33}, {32, 5, 13, 13}}},
    {"more and fewer images than 32",
     {{1, 3, 4, 8}, {7, 2, 8, 8}, {33, 2, 6, 6}, {64, 3, 4, 8}, {65, 1, 1, 33}, {100, 3, 5, 5}}},
    {"channels of a single cell, and any shape",
     {{32, 70, 1, 1}, {16, 40, 1, 2}, {3, 1, 40, 1}, {1, 1, 1, 1}, {129, 2, 1, 3}, {31, 31, 1, 1}}},
};

// 32 tiles.
const Numbers kBatch = {32, 4, 16, 16};
constexpr double kTiles = 32;

double tiles(const Given& given) {
  return static_cast<double>(((cells_of(given) - 1) / 32 + 1) * ((given["N"] - 1) / 32 + 1));
}

// Each tile row by row, on both sides, and the biases of its cells for each of eight warps.
double usual_bytes(const Given& given) {
  const std::int64_t N = given["N"], cells = cells_of(given), plane = plane_of(given);
  std::int64_t sectors = 0;
  for (std::int64_t cell = 0; cell < cells; cell += 32) {
    for (std::int64_t n = 0; n < N; n += 32) {
      for (std::int64_t row = cell; row < std::min(cell + 32, cells); ++row) {
        sectors += sectors_of_warp(
            [&](std::int64_t lane) { return n + lane < N ? row * N + n + lane : -1; });
      }
      sectors += 8 * sectors_of_warp([&](std::int64_t lane) {
                   return cell + lane < cells ? (cell + lane) / plane : -1;
                 });
      for (std::int64_t row = n; row < std::min(n + 32, N); ++row) {
        sectors += sectors_of_warp([&](std::int64_t lane) {
          return cell + lane < cells ? row * cells + cell + lane : -1;
        });
      }
    }
  }
  return 32 * static_cast<double>(sectors) / static_cast<double>(N * cells);
}

}  // namespace

const Contract& contract() {
  static const Contract contract = {
      .name = "10_tile_transform",
      .numbers = {"N", "C", "H", "W"},
      .inputs = {{"input", [](const Given& given) { return given["N"] * cells_of(given); }},
                 {"bias", [](const Given& given) { return given["C"]; }}},
      .output_size = [](const Given& given) { return given["N"] * cells_of(given); },
      .define = define,
      .groups = kGroups,
      .draw =
          [](Draw draw) {
            return Numbers{1 + draw(100), 1 + draw(8), 1 + draw(9), 1 + draw(9)};
          },
      .cases =
          {
              safe("no race, and every thread reaches the barrier", 10, kOrder),
              safe("no access beyond an array, and none of what nobody wrote", 10, kMemory),
          },
      .budgets =
          {
              // A bias for each request is one byte more; the naive transform's 32 sectors per request are 28.
              {"whole sectors on both sides: hardly more than 8 bytes per output",
               22,
               kBatch,
               {{bytes_per_output(), 10.5 / 8.25 * Rule(usual_bytes), usual_bytes},
                {launches(), 1, 1}}},
              // A column of 32 floats without padding has 31 conflicts, 992 a tile.
              {"columns of the tile without conflicts, or nearly",
               8,
               kBatch,
               {{shared_conflicts(), 64 * Rule(tiles), 0}}},
          },
      .besides =
          {
              {copied_bytes(), 0, 0},
              // A column has no conflicts either where each lane reads it alone.
              {shared_wavefronts(), 4 * 64 * Rule(tiles), 64 * Rule(tiles)},
          },
      .questions =
          {
              {"bytes_per_output", 8.25, 0.5, kBatch, bytes_per_output()},
              {"bytes_per_output_33", 10.18, 0.5, {33, 4, 16, 16}, bytes_per_output()},
              {"shared_requests_per_tile", 64, 0, kBatch, shared_requests(), kTiles},
              {"conflicts", 0, 0, kBatch, shared_conflicts()},
          },
      .timed = {32, 64, 56, 56},
      .owner =
          [](const Given& given, std::int64_t i) {
            const std::int64_t n = i / cells_of(given), cell = i % cells_of(given);
            return Owner{cell / 32 * ((given["N"] - 1) / 32 + 1) + n / 32, n % 8 * 32 + cell % 32};
          },
      .axes =
          [](const Given& given) {
            return std::vector<conv::OutputAxis>{{"n", "image", given["N"]},
                                                 {"c", "channel", given["C"]},
                                                 {"h", "row", given["H"]},
                                                 {"w", "column", given["W"]}};
          },
      .traits = traits,
  };
  return contract;
}

}  // namespace halo::exercises
