// What step 6 of stage 09 must cost.
#include "common/harness/families/conv2d.hpp"
#include "common/harness/traffic/tally.hpp"
#include "stages/09_cuconv_two_stage/costs.hpp"
#include "stages/09_cuconv_two_stage/gemm_tile.hpp"

namespace halo::cuconv_two_stage {

Cost predict_gemm_tile(const conv::ConvLayer& layer) {
  const LayerNumbers numbers = numbers_of(layer);
  const auto& [N, C, H, W, K, R, S, u, v, a, b] = layer.shape();
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
  tally.load(quads(Cells{0, kHalfFloats}), tiles * pieces);
  tally.shared_store(quads(Cells{0, kHalfFloats}), tiles * pieces);
  tally.shared_store(Cells{0, kHalfFloats}, tiles * pieces);
  const Times channels = every(H * W, C) * groups;
  for (const Cells warp : Cells{0, columns}.pieces(kTile)) {
    for (std::int64_t tap = 0; tap < R * S; ++tap) {
      tally.load(lanes(warp,
                       [&](std::int64_t m) {
                         const std::int64_t h = m / layer.Q() % layer.P() * u - a + tap / S;
                         const std::int64_t w = m % layer.Q() * v - b + tap % S;
                         const bool exists = h >= 0 && h < H && w >= 0 && w < W;
                         return exists ? (m / map * C * H + h) * W + w : kNoCell;
                       }),
                 channels);
    }
  }
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

}  // namespace halo::cuconv_two_stage
