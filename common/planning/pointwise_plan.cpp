#include "common/planning/pointwise_plan.hpp"

#include <algorithm>

namespace halo::cuconv_two_stage {

namespace {

using conv::ConvLayer;

// What every GPU gives to a block without being asked.
constexpr std::int64_t kSharedBytes = 48 * 1024;
constexpr std::int64_t kMostGridRows = 65535;
constexpr std::int64_t kMostBlocks = (std::int64_t{1} << 31) - 1;
constexpr int kResident = 5;  // blocks of 128 threads and about 100 registers

std::int64_t pieces(std::int64_t all, std::int64_t piece) { return (all - 1) / piece + 1; }

std::int64_t blocks_of_images(const ConvLayer& layer, const PointwiseTile& tile) {
  return layer.N() * pieces(std::int64_t{layer.P()} * layer.Q(), tile.block_pixels());
}

std::int64_t rows_of_filters(const ConvLayer& layer, const PointwiseTile& tile) {
  return pieces(layer.K(), tile.block_filters());
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
  if (std::int64_t{layer.C()} * tile.block_filters() * 4 > kSharedBytes) {
    return "the taps of " + std::to_string(tile.block_filters()) +
           " filters must fit into 48 KB of shared memory: " +
           std::to_string(kSharedBytes / 4 / tile.block_filters()) + " channels";
  }
  if (rows_of_filters(layer, tile) > kMostGridRows || blocks_of_images(layer, tile) > kMostBlocks) {
    return "it has more filters or images than a grid has rows or blocks";
  }
  return {};
}

std::int64_t blocks_of(const ConvLayer& layer, const PointwiseTile& tile) {
  return blocks_of_images(layer, tile) * rows_of_filters(layer, tile);
}

PointwiseTile plan_pointwise(const ConvLayer& layer, const gpus::GpuLimits& gpu) {
  PointwiseTile best = pointwise_tiles().front();
  for (const PointwiseTile& tile : pointwise_tiles()) {
    if (refuses(layer, tile, gpu).empty() && blocks_of(layer, tile) >= gpu.sms) best = tile;
  }
  return best;
}

std::vector<planning::Contender> pointwise_contenders() {
  std::vector<planning::Contender> all;
  for (const PointwiseTile& tile : pointwise_tiles()) {
    all.push_back({name_of(tile),
                   [tile](const ConvLayer& layer, const gpus::GpuLimits& gpu) {
                     return refuses(layer, tile, gpu);
                   },
                   [tile](const ConvLayer& layer, const gpus::GpuLimits&) {
                     planning::LaunchWork work;
                     work.blocks = static_cast<double>(blocks_of(layer, tile));
                     work.resident = kResident;
                     work.steps = layer.C();
                     work.megabytes = 4e-6 * (work.blocks * layer.C() *
                                                  (tile.block_pixels() + tile.block_filters()) +
                                              static_cast<double>(layer.output_size()));
                     return work;
                   }});
  }
  return all;
}

}  // namespace halo::cuconv_two_stage
