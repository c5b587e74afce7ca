// What step 5 of stage 08 must cost.
#include "common/convolve/cells.hpp"
#include "common/harness/traffic/tally.hpp"
#include "stages/08_multi_channel_stride_fixed/costs.hpp"

namespace halo::multi_channel_stride_fixed {

Cost predict_outer_product(const conv::ConvLayer& layer) {
  constexpr std::int64_t kTileFilters = 64, kTilePixels = 128, kChannels = 16, kThreads = 128;
  const auto& [N, C, H, W, K, R, S, u, v, a, b, G, d, e] = layer.shape();
  const std::int64_t map = std::int64_t{layer.P()} * layer.Q(), pixels = N * map;
  const std::int64_t groups = (K - 1) / kTileFilters + 1, tiles = (pixels - 1) / kTilePixels + 1;
  const std::int64_t segments = R * S * ((C - 1) / kChannels + 1), blocks = groups * tiles;
  const std::int64_t shared = 2 * kChannels * (kTileFilters + kTilePixels);
  Tally tally;
  tally.launch(blocks, kThreads, shared * sizeof(float));
  tally.barriers(blocks * segments);

  // Copies: quads of packed filters, whose rows are whole sectors; of each pixel the tap's cell of every channel.
  const Times every_segment = blocks * segments;
  const Run filters = quads(Cells{0, kChannels * kTileFilters});
  tally.copy(filters, filters, every_segment);
  convolve::copy_cells(tally, layer, kTilePixels, segments * kChannels, groups);

  // Products: of each channel two quads of filters and two of pixels a lane.
  const auto own_filter = [](std::int64_t lane) { return (lane / 2 % 2 + lane / 16 * 2) * 4; };
  const auto own_pixel = [](std::int64_t lane) { return (lane % 2 + lane / 4 % 4 * 2) * 4; };
  const std::int64_t reads = blocks * segments * kChannels * (kThreads / kWarpSize) * 2;
  tally.shared_load(wide_lanes(4, {0, kWarpSize}, own_filter), reads);
  tally.shared_load(wide_lanes(4, {0, kWarpSize}, own_pixel), reads);

  // Sums: a warp has 32 filters and 64 pixels, from these corners on, and stores one of each lane at a time.
  for (const Cells corner_m : Cells{0, pixels}.pieces(64)) {
    for (const Cells corner_k : Cells{0, K}.pieces(32)) {
      for (int i = 0; i < 64; ++i) {
        tally.store(lanes({0, kWarpSize}, [&](std::int64_t lane) {
          const std::int64_t m = corner_m.begin + own_pixel(lane) + i / 32 * 32 + i % 4;
          const std::int64_t k = corner_k.begin + own_filter(lane) + i / 16 % 2 * 16 + i / 4 % 4;
          return m < pixels && k < K ? (m / map * K + k) * map + m % map : kNoCell;
        }));
      }
    }
  }
  return tally.cost();
}

}  // namespace halo::multi_channel_stride_fixed
