#include "common/convolve/pointwise/plan.hpp"

#include <algorithm>

#include "common/harness/traffic/tally.hpp"

namespace halo::convolve {

namespace {

using conv::ConvLayer;

// What every GPU gives to a block without being asked.
constexpr std::int64_t kSharedBytes = 48 * 1024;
constexpr std::int64_t kMostGridRows = 65535;
constexpr std::int64_t kMostBlocks = (std::int64_t{1} << 31) - 1;

std::int64_t pieces(std::int64_t all, std::int64_t piece) { return (all - 1) / piece + 1; }

std::int64_t blocks_of_images(const ConvLayer& layer, const PointwiseTile& tile) {
  return layer.N() * pieces(std::int64_t{layer.P()} * layer.Q(), tile.block_pixels());
}

std::int64_t rows_of_filters(const ConvLayer& layer, const PointwiseTile& tile) {
  return pieces(layer.K() / layer.groups(), tile.block_filters());
}

}  // namespace

const std::vector<PointwiseTile>& pointwise_tiles() {
  static const std::vector<PointwiseTile> tiles = {{1, 4, 4}, {1, 8, 4},  {1, 16, 2},
                                                   {4, 8, 1}, {4, 16, 1}, {2, 32, 2}};
  return tiles;
}

std::string name_of(const PointwiseTile& tile) {
  return "pointwise_" + std::to_string(tile.pixels) + "_" + std::to_string(tile.filters);
}

std::string refuses(const ConvLayer& layer, const PointwiseTile& tile, const gpus::GpuLimits& gpu) {
  if (const std::string reason = gpus::too_old(gpu, gpus::kWithClusters); !reason.empty()) {
    return reason;
  }
  if (layer.R() != 1 || layer.S() != 1 || layer.stride_h() != 1 || layer.stride_w() != 1 ||
      layer.padding_h() != 0 || layer.padding_w() != 0) {
    return "it is made for 1 x 1 filters with stride 1 and no padding";
  }
  if (std::int64_t{layer.filter_channels()} * tile.block_filters() * 4 > kSharedBytes) {
    return "the taps of " + std::to_string(tile.block_filters()) +
           " filters must fit into 48 KB of shared memory: " +
           std::to_string(kSharedBytes / 4 / tile.block_filters()) + " channels";
  }
  if (rows_of_filters(layer, tile) > kMostGridRows || layer.groups() > kMostGridRows ||
      blocks_of_images(layer, tile) > kMostBlocks) {
    return "it has more filters, groups or images than a grid has rows or blocks";
  }
  return {};
}

std::int64_t blocks_of(const ConvLayer& layer, const PointwiseTile& tile) {
  return blocks_of_images(layer, tile) * rows_of_filters(layer, tile) * layer.groups();
}

PointwiseTile plan_pointwise(const ConvLayer& layer, const gpus::GpuLimits& gpu) {
  PointwiseTile best = pointwise_tiles().front();
  for (const PointwiseTile& tile : pointwise_tiles()) {
    if (refuses(layer, tile, gpu).empty() && blocks_of(layer, tile) >= gpu.sms) best = tile;
  }
  return best;
}

Cost pointwise_cost(const ConvLayer& layer, const PointwiseTile& tile) {
  constexpr int kQuad = 4;
  // Of a group: as if each group were an image of its own.
  const std::int64_t images = std::int64_t{layer.N()} * layer.groups();
  const std::int64_t channels = layer.filter_channels(), filters = layer.K() / layer.groups();
  const Cells map{0, std::int64_t{layer.P()} * layer.Q()};
  const std::int64_t along = map.pieces(tile.block_pixels()).count();
  const std::int64_t groups = Cells{0, filters}.pieces(tile.block_filters()).count();
  const std::int64_t blocks = images * along * groups;
  Tally tally;
  tally.launch(blocks, kPointwiseThreads, channels * tile.block_filters() * sizeof(float));

  // The block's taps, four at a time.
  const std::int64_t quads_of_channel = tile.block_filters() / kQuad;
  const Cells quads_of_block{0, channels * quads_of_channel};
  for (const Cells warp : quads_of_block.pieces(kWarpSize)) {
    tally.copy(wide_lanes(kQuad, warp,
                          [&](std::int64_t i) {
                            return i / quads_of_channel * packed_pitch(static_cast<int>(filters)) +
                                   i % quads_of_channel * kQuad;
                          }),
               wide_lanes(kQuad, warp, [&](std::int64_t i) { return i * kQuad; }), blocks);
  }
  tally.barriers(blocks);
  tally.shared_load(wide_lanes(kQuad, {0, kWarpSize}, [](std::int64_t) { return 0; }),
                    blocks * kPointwiseWarps * channels * (tile.filters / kQuad));

  // A request of 32 neighbours, the last cell in the place of those beyond the map, for each channel of each
  // image, and each group of filters that a warp has.
  const Times reads = every(map.size(), images * channels) * (groups * tile.groups);
  for (std::int64_t first = 0; first < along * tile.block_pixels(); first += kWarpSize) {
    const Cells warp{first, first + kWarpSize};
    tally.load(lanes(warp, [&](std::int64_t i) { return std::min(i, map.end - 1); }), reads);
    tally.store(warp.within(map), every(map.size(), images * filters));
  }
  return tally.cost();
}

Cost pointwise_bias_cost(const ConvLayer& layer, const PointwiseTile& tile) {
  Tally tally;
  // Each warp its filters', one after the other.
  tally.load(one(0), blocks_of(layer, tile) * kPointwiseWarps * tile.filters);
  return tally.cost();
}

}  // namespace halo::convolve
