// What step 6 of stage 08 must cost.
#include "common/harness/traffic/tally.hpp"
#include "stages/08_multi_channel_stride_fixed/costs.hpp"

namespace halo::multi_channel_stride_fixed {

Cost predict_winograd_f2(const conv::ConvLayer& layer) {
  constexpr std::int64_t kTileFilters = 32, kTiles = 32, kChannels = 8, kPlaces = 16, kWarps = 8;
  const auto& [N, C, H, W, K, R, S, u, v, a, b, G, d, e] = layer.shape();
  const std::int64_t P = layer.P(), Q = layer.Q(), map = P * Q;
  const std::int64_t across = (Q + 1) / 2, in_image = (P + 1) / 2 * across, tiles = N * in_image;
  const std::int64_t groups = (K - 1) / kTileFilters + 1;
  const std::int64_t blocks = groups * ((tiles - 1) / kTiles + 1);
  const std::int64_t segments = (C - 1) / kChannels + 1;
  constexpr std::int64_t kFilterFloats = kPlaces * kChannels * kTileFilters;
  constexpr std::int64_t kCells = kPlaces * kChannels * kTiles;
  const Cells lane_numbers{0, kWarpSize};
  Tally tally;
  tally.launch(blocks, kWarps * kWarpSize, (2 * kFilterFloats + kCells) * sizeof(float));
  tally.barriers(blocks * (2 * segments + 4));

  // Packed filters, whose rows are whole sectors; places of transformed tiles; reads of both.
  tally.copy(quads(Cells{0, kFilterFloats}), quads(Cells{0, kFilterFloats}), blocks * segments);
  tally.shared_store(Cells{0, kCells}, blocks * segments);
  const auto own_filter = [](std::int64_t lane) { return (lane / 2 % 2 + lane / 16 * 2) * 4; };
  const auto own_tile = [](std::int64_t lane) { return (lane % 2 + lane / 4 % 4 * 2) * 4; };
  const std::int64_t reads = blocks * segments * kPlaces * kChannels;
  tally.shared_load(wide_lanes(4, lane_numbers, own_filter), reads * 2);
  tally.shared_load(wide_lanes(4, lane_numbers, own_tile), reads);
  // A tile's sums, those of half of the filters at a time.
  tally.shared_store(
      wide_lanes(4, lane_numbers,
                 [&](std::int64_t lane) { return own_filter(lane) * kTiles + own_tile(lane); }),
      blocks * 2 * kWarps * 8);

  const Times planes = every(H * W, C) * groups, maps = every(map, K);
  for (const Cells warp : Cells{0, tiles}.pieces(kTiles)) {
    // Cell i % 4 of row i / 4 of each tile, where there is one; output i % 2 of row i / 2.
    const auto place = [&](std::int64_t tile, std::int64_t plane, std::int64_t rows,
                           std::int64_t columns, std::int64_t down, std::int64_t right) {
      const std::int64_t h = tile % in_image / across * 2 + down;
      const std::int64_t w = tile % in_image % across * 2 + right;
      const bool exists = h >= 0 && h < rows && w >= 0 && w < columns;
      return exists ? tile / in_image * plane + h * columns + w : kNoCell;
    };
    for (std::int64_t i = 0; i < kPlaces; ++i) {
      tally.load(lanes(warp,
                       [&](std::int64_t tile) {
                         return place(tile, C * H * W, H, W, i / 4 - a, i % 4 - b);
                       }),
                 planes);
    }
    tally.shared_load(Cells{0, warp.size()}, K * kPlaces);
    for (std::int64_t i = 0; i < 4; ++i) {
      tally.store(
          lanes(warp, [&](std::int64_t tile) { return place(tile, K * map, P, Q, i / 2, i % 2); }),
          maps);
    }
  }
  return tally.cost();
}

}  // namespace halo::multi_channel_stride_fixed
