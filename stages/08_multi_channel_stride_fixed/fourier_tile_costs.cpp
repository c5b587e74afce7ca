// What step 7 of stage 08 must cost.
#include "common/harness/families/conv2d.hpp"
#include "common/harness/traffic/tally.hpp"
#include "stages/08_multi_channel_stride_fixed/costs.hpp"
#include "stages/08_multi_channel_stride_fixed/fourier_tile.hpp"

namespace halo::multi_channel_stride_fixed {

Cost predict_fourier_tile(const conv::ConvLayer& layer) {
  const FourierTiles of = fourier_tiles(numbers_of(layer));
  const auto& [N, C, H, W, K, R, S, u, v, a, b, G, d, e] = layer.shape();
  const std::int64_t P = layer.P(), Q = layer.Q(), in_image = std::int64_t{of.down} * of.across;
  const std::int64_t warps_of_tiles = of.row / kWarpSize;
  const Cells two_of_each_lane = Cells{0, 2 * kWarpSize};
  Tally tally;

  // There: cells of tiles, two columns a warp; columns of frequencies by shared memory; rows of them to memory.
  const std::int64_t there = of.depth * warps_of_tiles, back = K * warps_of_tiles;
  const std::int64_t shared = sizeof(float) * 2 * kFrequencies * kWarpSize;
  tally.launch(there, kTransformThreads, shared);
  tally.launch(back, kTransformThreads, shared);
  tally.barriers(there + back);
  const auto corner_h = [&](std::int64_t tile) { return tile / of.across % of.down * of.step_h; };
  const auto corner_w = [&](std::int64_t tile) { return tile % of.across * of.step_w; };
  for (const Cells warp : Cells{0, N * in_image}.pieces(kWarpSize)) {
    for (std::int64_t i = 0; i < kSize * kSize; ++i) {
      tally.load(lanes(warp,
                       [&](std::int64_t tile) {
                         const std::int64_t h = corner_h(tile) - a + i / kSize;
                         const std::int64_t w = corner_w(tile) - b + i % kSize;
                         const bool exists = h >= 0 && h < H && w >= 0 && w < W;
                         return exists ? (tile / in_image * C * H + h) * W + w : kNoCell;
                       }),
                 every(H * W, C));
    }
    for (std::int64_t i = 0; i < std::int64_t{of.step_h} * of.step_w; ++i) {
      tally.store(lanes(warp,
                        [&](std::int64_t tile) {
                          const std::int64_t p = corner_h(tile) + i / of.step_w;
                          const std::int64_t q = corner_w(tile) + i % of.step_w;
                          const bool exists = p < P && q < Q;
                          return exists ? (tile / in_image * K * P + p) * Q + q : kNoCell;
                        }),
                  every(P * Q, K));
    }
    tally.shared_load(pairs(Cells{0, 2 * warp.size()}), K * kFrequencies);
  }
  tally.shared_store(pairs(two_of_each_lane), (there + back) * kFrequencies);
  tally.shared_load(pairs(two_of_each_lane), there * kFrequencies);
  tally.store(pairs(two_of_each_lane), there * kFrequencies);
  tally.load(pairs(two_of_each_lane), back * kFrequencies);

  // Products: of each segment 64 complex numbers for each channel of either, quads a lane.
  const std::int64_t blocks = std::int64_t{kFrequencies} * (of.filters / kSide) * (of.row / kSide);
  const std::int64_t segments = of.depth / kDepth;
  const Cells segment{0, 2 * kSide * kDepth};
  tally.launch(blocks, 256, 2 * 2 * segment.size() * sizeof(float));
  tally.barriers(blocks * segments);
  tally.copy(quads(segment), quads(segment), 2 * blocks * segments);
  const Cells lane_numbers{0, kWarpSize};
  const std::int64_t reads = blocks * of.depth * 8 * 2;
  tally.shared_load(wide_lanes(4, lane_numbers, [](std::int64_t i) { return i / 16 * 4; }), reads);
  tally.shared_load(wide_lanes(4, lane_numbers, [](std::int64_t i) { return i % 16 * 4; }), reads);
  tally.store(
      wide_lanes(4, lane_numbers, [&](std::int64_t i) { return i / 16 * 4 * of.row + i % 16 * 4; }),
      blocks * 8 * 8);
  return tally.cost();
}

}  // namespace halo::multi_channel_stride_fixed
