#include "stages/09_cuconv_two_stage/split_tf32.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "common/gpus/present_gpu.hpp"
#include "common/harness/traffic/tally.hpp"

namespace halo::cuconv_two_stage {

namespace {

using conv::ConvLayer;

// As the kernel has them.
constexpr int kThreadsPerFilter = 2;
constexpr int kFragments = 4;
constexpr int kStepsOfStage = kStagePieces * kPieceChannels / 8;

// The cell of channel 0 that the tap (r, s) meets for output m of all images, or none.
std::int64_t cell_of(const ConvLayer& layer, std::int64_t m, int r, int s) {
  const std::int64_t map = std::int64_t{layer.P()} * layer.Q();
  const std::int64_t n = m / map;
  const std::int64_t h = m % map / layer.Q() * layer.stride_h() - layer.padding_h() + r;
  const std::int64_t w = m % map % layer.Q() * layer.stride_w() - layer.padding_w() + s;
  if (h < 0 || h >= layer.H() || w < 0 || w >= layer.W()) return kNoCell;
  return (n * layer.C() * layer.H() + h) * layer.W() + w;
}

// What the warps of a block read of one stage on chip, and write of their sums: the same for all.
void add_warps(Tally& tally, std::int64_t stages, std::int64_t warps) {
  const auto lane = [](int width, auto cell) {
    return wide_lanes(width, Cells{0, kWarpSize}, cell);
  };
  // Once more than there are steps: the first before, and one after the last that nobody needs.
  const std::int64_t fetches = (stages * kStepsOfStage + 1) * warps;
  tally.shared_load(quads(Cells{0, 4 * kWarpSize}), fetches * 2 * kFragments);
  tally.shared_load(lane(4, [](std::int64_t i) { return i % 4 * kPixelRow + 4 * (i / 4); }),
                    fetches * 2);
  tally.tensor(stages * kStepsOfStage * warps * 3 * kFragments * kFragments);
  tally.shared_store(lane(4, [](std::int64_t i) { return i / 4 * kOutputRow + 8 * (i % 4); }),
                     warps * 4 * kFragments);
}

// One tile of outputs: what its blocks, one for each group of filters, copy of the pixels and store.
void add_tile(Tally& tally, const ConvLayer& layer, const SplitTile& tile, Cells outputs,
              std::int64_t groups) {
  const std::int64_t channel = std::int64_t{layer.H()} * layer.W();
  const std::int64_t map = std::int64_t{layer.P()} * layer.Q();
  const auto asked = [&](Cells warp, auto cell) {
    // A thread for each at_once outputs.
    Lanes lanes(tile.at_once);
    int at = 0;
    for (std::int64_t m = warp.begin; m < warp.end; m += tile.at_once) lanes.set(at++, cell(m));
    return lanes;
  };
  for (const Cells warp : outputs.pieces(kWarpSize * tile.at_once)) {
    for (int r = 0; r < layer.R(); ++r) {
      for (int s = 0; s < layer.S(); ++s) {
        tally.load(asked(warp, [&](std::int64_t m) { return cell_of(layer, m, r, s); }),
                   every(channel, layer.C()) * groups);
      }
    }
    const Lanes stored =
        asked(warp, [&](std::int64_t m) { return m / map * layer.K() * map + m % map; });
    tally.store(stored, every(map, layer.K()));
    const Lanes row = asked(warp, [&](std::int64_t m) { return m - outputs.begin; });
    tally.shared_load(row, layer.K());
  }
}

template <class Plan>
Conv2dVariant variant_of(const std::string& name, const std::string& description, Plan plan_on) {
  const auto plan = [plan_on](const ConvLayer& layer) {
    return plan_on(layer, gpus::present_limits());
  };
  Conv2dVariant variant;
  variant.name = name;
  variant.source = "stages/09_cuconv_two_stage/5_split_tf32.cu";
  variant.description = "tuned: " + description;
  variant.demand = demand_of(Arithmetic::tf32_split);
  variant.multiplies_ghosts = true;
  variant.plans = true;
  variant.tiles = [](const ConvLayer&) {
    return std::vector<TileSizes>{{.C = kPieceChannels, .K = 64, .cells = kTilePixels},
                                  {.C = kStagePieces * kPieceChannels, .K = 128}};
  };
  variant.refuses = [plan](const ConvLayer& layer) { return plan(layer).refusal; };
  variant.packed_floats = [plan](const ConvLayer& layer) { return plan(layer).packed_floats; };
  variant.pack = [plan](const float* filters, float* packed, const ConvLayer& layer) {
    return split_filters(filters, packed, numbers_of(layer), plan(layer).tile);
  };
  variant.launch = [plan](const Conv2dCall& call) {
    return split_tf32(kernel_call(call), plan(call.layer).tile);
  };
  variant.predict = [plan](const ConvLayer& layer) {
    return predict_split_tf32(layer, plan(layer).tile);
  };
  variant.detail = [plan](const ConvLayer& layer) {
    const SplitPlan made = plan(layer);
    return std::to_string(made.blocks) + " blocks of " + std::to_string(made.tile.filters) +
           " filters x " + std::to_string(kTilePixels) + " outputs, pixels copied " +
           (made.tile.at_once == 4 ? "four at a time" : "one by one");
  };
  return variant;
}

}  // namespace

Cost predict_split_tf32(const ConvLayer& layer, const SplitTile& tile) {
  Tally tally;
  const std::int64_t outputs = std::int64_t{layer.N()} * layer.P() * layer.Q();
  const std::int64_t tiles = Cells{0, outputs}.pieces(kTilePixels).count();
  const std::int64_t groups = Cells{0, layer.K()}.pieces(tile.filters).count();
  const std::int64_t blocks = tiles * groups;
  const std::int64_t pieces =
      std::int64_t{layer.R()} * layer.S() * Cells{0, layer.C()}.pieces(kPieceChannels).count();
  const std::int64_t stages = Cells{0, pieces}.pieces(kStagePieces).count();
  const std::int64_t threads = std::int64_t{kThreadsPerFilter} * tile.filters;
  tally.launch(blocks, threads, split_shared_bytes(tile.filters));

  // Filters: each piece is one run. On chip come as many pieces as stages say, and those of two stages after
  // the last, as zeros; pixels too.
  const Run piece = quads(Cells{0, piece_filters(tile.filters)});
  tally.load(piece, blocks * pieces);
  const std::int64_t copied = blocks * (stages + kStages - 1) * kStagePieces;
  tally.shared_store(piece, copied);
  const Cells pixels{0, kTilePixels};
  tally.shared_store(tile.at_once == 4 ? quads(pixels) : Run(pixels), copied * kPieceChannels);
  for (const Cells of_tile : Cells{0, outputs}.pieces(kTilePixels)) {
    add_tile(tally, layer, tile, of_tile, groups);
  }
  add_warps(tally, stages, blocks * threads / kWarpSize);
  // One before the first step, one a stage, and two about the outputs.
  tally.barriers(blocks * (stages + 3));
  return tally.cost();
}

Conv2dVariant split_tf32_variant() {
  return variant_of("split_tf32", "tensor cores, factors in two parts of TF32, three products",
                    plan_split_tf32);
}

std::vector<Conv2dVariant> search_split_tf32() {
  std::vector<Conv2dVariant> all;
  for (const SplitShape& shape : kSplitShapes) {
    all.push_back(variant_of(
        "split_tf32_" + std::to_string(shape.filters), "the same with so many filters a block",
        [filters = shape.filters](const ConvLayer& layer, const gpus::GpuLimits& gpu) {
          return exact_split_tf32(layer, filters, gpu);
        }));
  }
  return all;
}

}  // namespace halo::cuconv_two_stage
