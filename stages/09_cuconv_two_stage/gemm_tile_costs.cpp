// What steps 3 and 4 of stage 09 must cost.
#include "common/convolve/cells.hpp"
#include "common/harness/families/conv2d.hpp"
#include "common/harness/traffic/tally.hpp"
#include "stages/09_cuconv_two_stage/costs.hpp"
#include "stages/09_cuconv_two_stage/gemm_tile.hpp"

namespace halo::cuconv_two_stage {

Cost predict_gemm_tile(const conv::ConvLayer& layer) {
  const LayerNumbers numbers = numbers_of(layer);
  const auto& [N, C, H, W, K, R, S, u, v, a, b, G, d, e] = layer.shape();
  const std::int64_t map = std::int64_t{layer.P()} * layer.Q(), columns = N * map;
  const std::int64_t groups = (K - 1) / kTile + 1, tiles = gemm_tiles(numbers);
  const std::int64_t split = gemm_split(numbers), blocks = tiles * split;
  const std::int64_t pieces = R * S * ((C - 1) / kPieceRows + 1);
  constexpr std::int64_t kHalfFloats = kPieceRows * kTile, kTileFloats = kTile * kTile;
  const Cells lane_numbers{0, kWarpSize};
  Tally tally;
  tally.launch(blocks, kGemmThreads, kWarps * kWarpFloats * sizeof(float));
  tally.barriers(3 * blocks);

  // A piece: filters, whose rows are whole sectors, and for each channel the cells of a lane's column.
  tally.copy(quads(Cells{0, kHalfFloats}), quads(Cells{0, kHalfFloats}), tiles * pieces);
  convolve::copy_cells(tally, layer, kTile, pieces * kPieceRows, groups);
  const auto own_filter = [](std::int64_t lane) { return (lane / 2 % 2 + lane / 16 * 2) * 4; };
  const auto own_column = [](std::int64_t lane) { return (lane % 2 + lane / 4 % 4 * 2) * 4; };
  tally.shared_load(wide_lanes(4, lane_numbers, own_filter), tiles * pieces * kPieceRows * 2);
  tally.shared_load(wide_lanes(4, lane_numbers, own_column), tiles * pieces * kPieceRows);

  // Each warp's tile of sums, what a block makes of them, and what the blocks of a cluster make of those.
  tally.shared_store(
      wide_lanes(4, lane_numbers,
                 [&](std::int64_t lane) { return own_filter(lane) * kTile + own_column(lane); }),
      blocks * kWarps * 8);
  tally.shared_load(Cells{0, kTileFloats}, blocks * kWarps);
  tally.shared_store(Cells{0, kTileFloats}, blocks);
  tally.shared_load(Cells{0, kTileFloats}, tiles);  // a block's own
  tally.dshared_load(Cells{0, kTileFloats}, tiles * (split - 1));
  for (const Cells warp : Cells{0, columns}.pieces(kTile)) {
    tally.store(lanes(warp, [&](std::int64_t m) { return m / map * K * map + m % map; }),
                every(map, K));
  }
  return tally.cost();
}

Cost predict_three_products(const conv::ConvLayer& layer) {
  constexpr std::int64_t kTileFilters = 64, kTilePixels = 128, kChannels = 16, kThreads = 128;
  constexpr std::int64_t kFilterRow = kTileFilters + 8, kPixelRow = kTilePixels + 8;
  const auto& [N, C, H, W, K, R, S, u, v, a, b, G, d, e] = layer.shape();
  const std::int64_t map = std::int64_t{layer.P()} * layer.Q(), pixels = N * map;
  const std::int64_t groups = (K - 1) / kTileFilters + 1, tiles = (pixels - 1) / kTilePixels + 1;
  const std::int64_t segments = R * S * ((C - 1) / kChannels + 1);
  const std::int64_t blocks = groups * tiles, copies = blocks * segments;
  const Cells lane_numbers{0, kWarpSize};
  Tally tally;
  tally.launch(blocks, kThreads, 2 * kChannels * (kFilterRow + kPixelRow) * sizeof(float));
  tally.barriers(copies);

  // A segment: quads of packed filters, two rows a warp, and cells.
  const Lanes two_rows = wide_lanes(4, lane_numbers, [](std::int64_t lane) { return lane * 4; });
  for (std::int64_t row = 0; row < kChannels; row += 2) {
    const Lanes to = wide_lanes(4, lane_numbers, [&](std::int64_t lane) {
      return (row + lane / 16) * kFilterRow + lane % 16 * 4;
    });
    tally.copy(two_rows, to, copies);
  }
  convolve::copy_cells(tally, layer, kTilePixels, segments * kChannels, groups);

  // Of 8 channels a warp reads 16 values of filters and 8 of cells a lane, and multiplies each fragment with each, three
  // times.
  const std::int64_t steps = copies * (kThreads / kWarpSize) * (kChannels / 8);
  const auto operand = [&](std::int64_t row, std::int64_t values) {
    tally.shared_load(
        lanes(lane_numbers, [&](std::int64_t lane) { return lane % 4 * row + lane / 4; }),
        steps * values);
  };
  operand(kFilterRow, 16);
  operand(kPixelRow, 8);
  tally.tensor(steps * 3 * 16);

  // Sums, one of each lane at a time: 8 filters and every other of 8 pixels.
  for (const Cells of_m : Cells{0, pixels}.pieces(8)) {
    for (const Cells of_k : Cells{0, K}.pieces(8)) {
      for (int odd = 0; odd < 2; ++odd) {
        tally.store(lanes(lane_numbers, [&](std::int64_t lane) {
          const std::int64_t m = of_m.begin + 2 * (lane % 4) + odd, k = of_k.begin + lane / 4;
          return m < pixels && k < K ? (m / map * K + k) * map + m % map : kNoCell;
        }));
      }
    }
  }
  return tally.cost();
}

}  // namespace halo::cuconv_two_stage
