#include "common/convolve/split_tf32/plan.hpp"

#include <algorithm>
#include <cmath>

#include "common/conv/quotient.hpp"
#include "common/convolve/cells.hpp"
#include "common/harness/traffic/tally.hpp"

namespace halo::convolve {

namespace {

using conv::ConvLayer;

// In stages of a block of 128 filters.
double time_of(const SplitShape& shape, const SplitPlan& plan, int sms) {
  const auto stages = static_cast<double>(quotient_up(plan.pieces, kStagePieces));
  if (plan.blocks <= sms) return shape.alone * stages + shape.ends;
  const double turns =
      static_cast<double>(plan.blocks) / (static_cast<double>(std::max(sms, 1)) * shape.resident);
  const double taken = std::max(1.0, std::min(std::ceil(turns), turns + shape.lost));
  return taken * (shape.stage * stages + shape.ends);
}

// As the kernel has them.
constexpr int kThreadsPerFilter = 2;
constexpr int kFragments = 4;
constexpr int kStepsOfStage = kStagePieces * kPieceChannels / 8;

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

// One tile of outputs: what its blocks, one for each group of filters, copy of the pixels and store. Of so many channels,
// all taps together, there are zeros.
void add_tile(Tally& tally, const ConvLayer& layer, const SplitTile& tile, Cells outputs,
              std::int64_t groups, std::int64_t zeros) {
  const std::int64_t channel = std::int64_t{layer.H()} * layer.W();
  const std::int64_t map = std::int64_t{layer.P()} * layer.Q();
  const auto asked = [&](Cells warp, auto cell) {
    // A thread for each at_once outputs.
    Lanes lanes(tile.at_once);
    int at = 0;
    for (std::int64_t m = warp.begin; m < warp.end; m += tile.at_once) lanes.set(at++, cell(m));
    return lanes;
  };
  const Cells whole{outputs.begin, outputs.begin + kTilePixels};
  for (const Cells warp : whole.pieces(kWarpSize * tile.at_once)) {
    // In each row on chip they begin with a sector.
    const Lanes on_chip = asked(warp, [&](std::int64_t m) { return m - outputs.begin; });
    for (int r = 0; r < layer.R(); ++r) {
      for (int s = 0; s < layer.S(); ++s) {
        const Lanes cells = asked(warp, [&](std::int64_t m) {
          return outputs.contains(m) ? cell_of(layer, m, r, s) : kNoCell;
        });
        tally.copy_or_zero(cells, on_chip, every(channel, layer.C()) * groups);
      }
    }
    tally.copy_or_zero(Lanes(tile.at_once), on_chip, groups * zeros);
  }
  for (const Cells warp : outputs.pieces(kWarpSize * tile.at_once)) {
    const Lanes stored =
        asked(warp, [&](std::int64_t m) { return m / map * layer.K() * map + m % map; });
    tally.store(stored, every(map, layer.K()));
    const Lanes row = asked(warp, [&](std::int64_t m) { return m - outputs.begin; });
    tally.shared_load(row, layer.K());
  }
}

}  // namespace

SplitPlan exact_split_tf32(const ConvLayer& layer, int filters, const gpus::GpuLimits& gpu) {
  SplitPlan plan;
  if (gpu.shared_per_block < split_shared_bytes(filters)) {
    plan.refusal = "a block needs " + std::to_string(split_shared_bytes(filters)) +
                   " bytes of shared memory, of " + std::to_string(gpu.shared_per_block);
    return plan;
  }
  const std::int64_t map = std::int64_t{layer.P()} * layer.Q();
  const std::int64_t groups = quotient_up(layer.K(), filters);
  plan.pieces = std::int64_t{layer.R()} * layer.S() * quotient_up(layer.C(), kPieceChannels);
  plan.packed_floats = groups * plan.pieces * piece_filters(filters);
  if (plan.packed_floats > conv::kMaxElements) {
    plan.refusal = "its filters in two parts, with pieces of " + std::to_string(kPieceChannels) +
                   " channels, are " + std::to_string(plan.packed_floats) + " floats (at most " +
                   std::to_string(conv::kMaxElements) + ")";
    return plan;
  }
  // 1x1 filters on maps as they are: a quad of outputs is a quad of pixels.
  const bool as_it_is = layer.R() * layer.S() == 1 && layer.stride_h() == 1 &&
                        layer.stride_w() == 1 && layer.padding_h() == 0 && layer.padding_w() == 0;
  plan.tile = {.filters = filters, .at_once = as_it_is && map % 4 == 0 ? 4 : 1};
  plan.blocks = quotient_up(layer.N() * map, kTilePixels) * groups;
  return plan;
}

SplitPlan plan_split_tf32(const ConvLayer& layer, const gpus::GpuLimits& gpu) {
  SplitPlan best;
  double least = 0;
  for (const SplitShape& shape : kSplitShapes) {
    SplitPlan plan = exact_split_tf32(layer, shape.filters, gpu);
    // Of two refusals the last one's, whose blocks need least.
    if (!plan.refusal.empty()) {
      if (least == 0) best = plan;
      continue;
    }
    const double time = time_of(shape, plan, gpu.sms);
    if (least == 0 || time < least) {
      least = time;
      best = plan;
    }
  }
  return best;
}

Cost split_tf32_cost(const ConvLayer& layer, const SplitTile& tile) {
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
  tally.copy_or_zero(piece, piece, blocks * pieces);
  const std::int64_t copied = (stages + kStages - 1) * kStagePieces;
  const Lanes four = wide_lanes(4, {0, kWarpSize}, [](std::int64_t i) { return 4 * i; });
  tally.copy_or_zero(Lanes(4), four, blocks * (copied - pieces) * (piece.lanes / kWarpSize));
  const std::int64_t zeros =
      copied * kPieceChannels - std::int64_t{layer.R()} * layer.S() * layer.C();
  for (const Cells of_tile : Cells{0, outputs}.pieces(kTilePixels)) {
    add_tile(tally, layer, tile, of_tile, groups, zeros);
  }
  add_warps(tally, stages, blocks * threads / kWarpSize);
  // One before the first step, one a stage, and two about the outputs.
  tally.barriers(blocks * (stages + 3));
  return tally.cost();
}

}  // namespace halo::convolve
