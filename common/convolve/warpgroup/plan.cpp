#include "common/convolve/warpgroup/plan.hpp"

#include <algorithm>

#include "common/conv/quotient.hpp"
#include "common/convolve/cells.hpp"
#include "common/harness/traffic/tally.hpp"

namespace halo::convolve {

namespace {

using conv::ConvLayer;

// wgmma came with compute capability 9.0 and went with it.
constexpr int kWithWgmma = 90;

// As the kernel has them.
constexpr int kWarps = 4;  // of a warpgroup
constexpr int kDepth = 8;
constexpr int kSteps = kWarpgroupChannels / kDepth;
constexpr int kProducts = 3;  // of the parts of two factors
constexpr int kQuad = 4;

std::int64_t map_of(const ConvLayer& layer) { return std::int64_t{layer.P()} * layer.Q(); }

// So that the input's last cells are a whole quad, too.
bool is_in_runs(const ConvLayer& layer) {
  return layer.R() * layer.S() == 1 && layer.stride_h() == 1 && layer.stride_w() == 1 &&
         layer.padding_h() == 0 && layer.padding_w() == 0 && layer.input_size() % kQuad == 0 &&
         std::min(most_runs(static_cast<int>(map_of(layer))), layer.N()) <= kWarpgroupRuns;
}

// The runs of a tile's pixels, as the kernel lays them out on chip.
struct ImageRun {
  std::int64_t image, first, length, at;
};
std::vector<ImageRun> runs_of(const ConvLayer& layer, int pixels, Cells outputs) {
  const std::int64_t map = map_of(layer);
  const auto room = [&](std::int64_t length) {
    return map % kQuad == 0 ? length : (length + 6) / kQuad * kQuad;
  };
  std::vector<ImageRun> runs;
  std::int64_t at = 0;
  const std::int64_t end = outputs.begin + pixels;
  for (std::int64_t m = outputs.begin; m < end && m / map < layer.N();) {
    const std::int64_t length = std::min(map - m % map, end - m);
    runs.push_back({m / map, m % map, length, at});
    at += room(length);
    m += length;
  }
  return runs;
}

// Where channel `c` of a run begins after a quad.
std::int64_t shift_of(const ConvLayer& layer, const ImageRun& run, std::int64_t c) {
  return ((run.image * layer.C() + c) * map_of(layer) + run.first) % kQuad;
}

// What is copied of a tile's pixels for one group of filters, and where they are on chip: columns(t)[i] is that of
// output i in every fourth row from t on.
void add_runs(Tally& tally, const ConvLayer& layer, const WarpgroupPlan& plan, Cells outputs,
              std::vector<std::int64_t> (&columns)[kWarps]) {
  const std::int64_t map = map_of(layer);
  const std::int64_t groups = plan.tiles.groups.value, chunks = plan.tiles.pieces;
  const int pixels = plan.tile.pixels;
  const std::vector<ImageRun> runs = runs_of(layer, pixels, outputs);
  for (int row = 0; row < kWarps; ++row) {
    columns[row].assign(static_cast<std::size_t>(pixels), 0);
    for (const ImageRun& run : runs) {
      for (std::int64_t i = 0; i < run.length; ++i) {
        const std::int64_t m = run.image * map + run.first + i - outputs.begin;
        columns[row][static_cast<std::size_t>(m)] = run.at + shift_of(layer, run, row) + i;
      }
    }
    for (std::int64_t m = outputs.size(); m < pixels; ++m) {
      columns[row][static_cast<std::size_t>(m)] = columns[row][0];
    }
    const std::int64_t copies = (layer.C() - row + kWarps - 1) / kWarps;  // of channels
    for (const Cells warp : Cells{0, pixel_row(pixels) / kQuad}.pieces(kWarpSize)) {
      const Lanes quads_of_row = wide_lanes(kQuad, warp, [&](std::int64_t quad) {
        for (const ImageRun& run : runs) {
          const std::int64_t in_run = quad * kQuad - run.at - shift_of(layer, run, row);
          if (quad * kQuad < run.at || in_run >= run.length) continue;
          return (run.image * layer.C() + row) * map + run.first + in_run;
        }
        return kNoCell;
      });
      if (warp.begin > 0 && quads_of_row.empty()) continue;
      const Lanes on_chip = wide_lanes(kQuad, warp, [](std::int64_t i) { return i * kQuad; });
      tally.copy_or_zero(quads_of_row, on_chip, every(kWarps * map, copies) * groups);
      tally.copy_or_zero(Lanes(kQuad), on_chip,
                         groups * (chunks * (kWarpgroupChannels / kWarps) - copies));
    }
  }
}

// The same where a thread copies a pixel: where they are.
void add_singles(int pixels, std::vector<std::int64_t> (&columns)[kWarps]) {
  for (std::vector<std::int64_t>& row : columns) {
    row.resize(static_cast<std::size_t>(pixels));
    for (std::size_t m = 0; m < row.size(); ++m) row[m] = static_cast<std::int64_t>(m);
  }
}

// What the warps that multiply read on chip, and write of their sums.
void add_products(Tally& tally, const WarpgroupPlan& plan,
                  const std::vector<std::int64_t> (&columns)[kWarps]) {
  const std::int64_t groups = plan.tiles.groups.value, filters = plan.tile.filters;
  const int warps = plan.tile.pixels / 16;
  for (int warp = 0; warp < warps; ++warp) {
    for (const int more : {0, 8}) {
      // Lane 4 * g + t: row t, output g of the warp's.
      tally.shared_load(
          lanes({0, kWarpSize},
                [&](std::int64_t lane) {
                  const auto m = static_cast<std::size_t>(warp * 16 + more + lane / 4);
                  return lane % 4 * pixel_row(plan.tile.pixels) + columns[lane % 4][m];
                }),
          groups * plan.tiles.pieces * kSteps * 2);
      tally.shared_store(lanes({0, kWarpSize},
                               [&](std::int64_t lane) {
                                 return lane % 4 * 2 * sum_row(plan.tile.pixels) + warp * 16 +
                                        more + lane / 4;
                               }),
                         groups * (filters / 4) * plan.tile.parts);
    }
  }
  const std::int64_t products = groups * plan.tiles.pieces * warps * kSteps * kProducts;
  tally.tensor(products);
  // A warpgroup's: eight cores of 16 bytes at a time, of which a filter has two.
  tally.wgmma_wavefronts(products / kWarps * filters * 2 / 8);
}

// Rows of sums that the warps which store them read: each so many at a time, whether there are as many or not.
Times rows_read(const ConvLayer& layer, const WarpgroupPlan& plan, int ahead) {
  Times rows(0);
  const int share = plan.tile.filters / plan.tile.parts;
  for (const Cells group : Cells{0, layer.K()}.pieces(plan.tile.filters)) {
    for (const Cells part : Cells{0, group.size()}.pieces(share)) {
      for (int warp = 0; warp < kWarps; ++warp) {
        rows.add(warp * sum_row(plan.tile.pixels),
                 part.shifted(warp).within(part).pieces(ahead * kWarps).count() * ahead);
      }
    }
  }
  return rows;
}

void add_stores(Tally& tally, const ConvLayer& layer, const WarpgroupPlan& plan, Cells outputs) {
  const std::int64_t map = map_of(layer);
  const int at_once = map % kQuad == 0 ? most_at_once(plan.tile.pixels) : 1;
  const Run sums{.lanes = plan.tile.pixels / at_once, .stride = at_once, .width = at_once};
  const Times rows =
      rows_read(layer, plan, store_ahead(at_once, plan.tile.filters / plan.tile.parts));
  tally.shared_load(sums, rows);
  if (plan.tile.parts > 1) tally.dshared_load(sums, rows);
  for (const Cells warp : outputs.pieces(kWarpSize * at_once)) {
    Lanes stored(at_once);
    int lane = 0;
    for (std::int64_t m = warp.begin; m < warp.end; m += at_once) {
      stored.set(lane++, m / map * layer.K() * map + m % map);
    }
    tally.store(stored, every(map, layer.K()));
  }
}

}  // namespace

const std::vector<WarpgroupTile>& warpgroup_tiles() {
  static const std::vector<WarpgroupTile> tiles = {
      {128, 2}, {96, 2}, {80, 2}, {64, 2}, {128}, {96}, {80}, {64}, {32}, {32, 1, kFewPixels}};
  return tiles;
}

std::string sizes_of(const WarpgroupTile& tile) {
  return std::to_string(tile.filters) +
         (tile.pixels < kWarpgroupPixels ? "x" + std::to_string(tile.pixels) : "") +
         (tile.parts > 1 ? "_p" + std::to_string(tile.parts) : "");
}

WarpgroupPlan exact_warpgroup(const ConvLayer& layer, const WarpgroupTile& tile,
                              const gpus::GpuLimits& gpu) {
  WarpgroupPlan plan;
  if (gpu.capability != kWithWgmma) {
    plan.refusal = "its instruction wgmma is of compute capability 9.0 alone, the GPU has " +
                   std::to_string(gpu.capability / 10) + "." + std::to_string(gpu.capability % 10);
    return plan;
  }
  if (gpu.shared_per_block < tile.shared_bytes()) {
    plan.refusal = "a block needs " + std::to_string(tile.shared_bytes()) +
                   " bytes of shared memory, of " + std::to_string(gpu.shared_per_block);
    return plan;
  }
  const std::int64_t groups = quotient_up(layer.K(), tile.filters);
  const std::int64_t tiles = quotient_up(layer.N() * map_of(layer), tile.pixels) * groups;
  const std::int64_t taps = std::int64_t{layer.R()} * layer.S();
  const std::int64_t whole = taps * quotient_up(layer.C(), kWarpgroupChannels);
  const std::int64_t of_halves = quotient_up(taps * quotient_up(layer.C(), kWarpgroupHalf), 2);
  const std::int64_t of_taps = quotient_up(taps * layer.C(), kWarpgroupChannels);
  // To find each cell anew takes more instructions than a channel's next one.
  constexpr double kFindingTaps = 1.5;
  const bool by_taps =
      tile.parts == 1 && tile.pixels == kWarpgroupPixels &&
      kFindingTaps * static_cast<double>(of_taps) < static_cast<double>(std::min(whole, of_halves));
  plan.pixels_by = is_in_runs(layer)   ? WarpgroupPixelsBy::quads
                   : by_taps           ? WarpgroupPixelsBy::taps
                   : of_halves < whole ? WarpgroupPixelsBy::halves
                                       : WarpgroupPixelsBy::one;
  const std::int64_t pieces =
      plan.pixels_by == WarpgroupPixelsBy::taps ? of_taps : std::min(whole, of_halves);
  plan.packed_floats = groups * pieces * tile.filter_floats();
  if (plan.packed_floats > conv::kMaxElements) {
    plan.refusal = "its filters in two parts, with pieces of " +
                   std::to_string(kWarpgroupChannels) + " channels, are " +
                   std::to_string(plan.packed_floats) + " floats (at most " +
                   std::to_string(conv::kMaxElements) + ")";
    return plan;
  }
  if (pieces < tile.parts) {
    plan.refusal = "its sums are of one piece, and have no two parts";
    return plan;
  }
  plan.tile = tile;
  plan.tiles = {static_cast<int>(tiles), static_cast<int>(pieces), static_cast<int>(groups),
                static_cast<int>(map_of(layer))};
  plan.blocks =
      tile.parts * static_cast<int>(std::min<std::int64_t>(
                       tiles, std::max(warpgroup_resident(tile.pixels) * gpu.sms / tile.parts, 1)));
  return plan;
}

WarpgroupPlan exact_matrices(const ConvLayer& matrices, const WarpgroupTile& tile,
                             const gpus::GpuLimits& gpu) {
  WarpgroupPlan plan = exact_warpgroup(matrices, tile, gpu);
  if (!plan.refusal.empty()) return plan;
  if (plan.pixels_by != WarpgroupPixelsBy::quads || map_of(matrices) % tile.pixels != 0 ||
      tile.parts > 1) {
    plan.refusal =
        "its matrices have rows of whole " + std::to_string(tile.pixels) + ", and sums in one part";
    return plan;
  }
  plan.pixels_by = WarpgroupPixelsBy::matrices;
  // The launch before this one ends SM by SM: a free one would take two blocks, and another none.
  plan.tile.alone = plan.blocks <= gpu.sms;
  plan.packed_floats *= matrices.N();
  return plan;
}

std::int64_t turns_of(const WarpgroupPlan& plan) {
  return quotient_up(plan.tiles.count, plan.blocks / plan.tile.parts);
}

double time_of(const WarpgroupPlan& plan) {
  const double share = plan.tile.filters / 128.0;
  const int parts = plan.tile.parts;
  const double turn =
      static_cast<double>(quotient_up(plan.tiles.pieces, parts)) * (0.5 + 0.5 * share) +
      1.2 * share + (parts > 1 ? 1 : 0);
  return static_cast<double>(turns_of(plan)) * turn;
}

WarpgroupPlan plan_warpgroup(const ConvLayer& layer, const gpus::GpuLimits& gpu) {
  WarpgroupPlan best;
  double least = 0;
  for (const WarpgroupTile& tile : warpgroup_tiles()) {
    if (tile.pixels < kWarpgroupPixels) continue;
    const WarpgroupPlan plan = exact_warpgroup(layer, tile, gpu);
    // Of refusals the last one's, whose blocks need least.
    if (!plan.refusal.empty()) {
      if (least == 0) best = plan;
      continue;
    }
    const double time = time_of(plan);
    if (least == 0 || time < least) {
      least = time;
      best = plan;
    }
  }
  return best;
}

ConvLayer outputs_as_pixels(const ConvLayer& layer) {
  return ConvLayer({.N = 1,
                    .C = layer.products_per_output(),
                    .H = 1,
                    .W = layer.K(),
                    .K = layer.N(),
                    .R = 1,
                    .S = 1});
}

WarpgroupPlan plan_fully_connected(const ConvLayer& layer, const gpus::GpuLimits& gpu) {
  WarpgroupPlan plan;
  if (!layer.filters_cover_map()) {
    plan.refusal = "it is made for filters that cover the whole map";
    return plan;
  }
  if (layer.filters_size() % kQuad != 0) {
    plan.refusal = "it is made for filters that are whole quads together";
    return plan;
  }
  return plan_warpgroup(outputs_as_pixels(layer), gpu);
}

LaunchWork work_of(const ConvLayer& layer, const WarpgroupPlan& plan) {
  const WarpgroupTile& tile = plan.tile;
  LaunchWork work;
  work.blocks = plan.blocks;
  work.steps =
      static_cast<double>(turns_of(plan) * (quotient_up(plan.tiles.pieces, tile.parts) + 1));
  work.cluster = tile.parts;
  work.resident = warpgroup_resident(tile.pixels);
  work.megabytes =
      4e-6 * (static_cast<double>(plan.tiles.count) * static_cast<double>(plan.tiles.pieces) *
                  (tile.filter_floats() + kWarpgroupChannels * tile.pixels) +
              static_cast<double>(layer.output_size()));
  return work;
}

Cost warpgroup_packing_cost(const ConvLayer& layer, const WarpgroupPlan& plan) {
  const std::int64_t filters = plan.tile.filters, part = filters * kDepth;
  const std::int64_t floats =
      plan.tiles.groups.value * plan.tiles.pieces * filters * kWarpgroupChannels;
  constexpr std::int64_t kThreads = 256;
  Tally tally;
  tally.launch(floats / kThreads, kThreads, 0);
  // A warp has 4 channels of 8 filters.
  for (std::int64_t i = 0; i < floats; i += kWarpSize) {
    const std::int64_t step = i / part % kSteps, piece = i / (part * kSteps);
    const std::int64_t k = piece / plan.tiles.pieces * filters + i % part / 64 * 8;
    const std::int64_t c =
        piece % plan.tiles.pieces * kWarpgroupChannels + step * kDepth + i / 32 % 2 * 4;
    tally.load(lanes({0, kWarpSize}, [&](std::int64_t lane) {
      const bool exists = k + lane / 4 < layer.K() && c + lane % 4 < layer.C();
      return exists ? (k + lane / 4) * layer.C() + c + lane % 4 : kNoCell;
    }));
  }
  tally.store(Cells{0, kWarpSize}, 2 * floats / kWarpSize);
  return tally.cost();
}

Cost warpgroup_cost(const ConvLayer& layer, const WarpgroupPlan& plan) {
  Tally tally;
  tally.launch(plan.blocks, warpgroup_threads(plan.tile.pixels), plan.tile.shared_bytes());
  tally.barriers(plan.blocks * (plan.tile.parts > 1 ? 2 : 1));  // a cluster's at the end, too
  tally.bulk_load(plan.tile.filter_floats() * 4,
                  std::int64_t{plan.tiles.count} * plan.tiles.pieces);
  const std::int64_t groups = plan.tiles.groups.value;
  const bool in_quads =
      plan.pixels_by == WarpgroupPixelsBy::quads || plan.pixels_by == WarpgroupPixelsBy::matrices;
  if (!in_quads) {
    copy_cells(tally, layer, plan.tile.pixels, std::int64_t{plan.tiles.pieces} * kWarpgroupChannels,
               groups);
  }
  for (const Cells outputs : Cells{0, layer.N() * map_of(layer)}.pieces(plan.tile.pixels)) {
    std::vector<std::int64_t> columns[kWarps];
    if (in_quads) {
      add_runs(tally, layer, plan, outputs, columns);
    } else {
      add_singles(plan.tile.pixels, columns);
    }
    add_products(tally, plan, columns);
    add_stores(tally, layer, plan, outputs);
  }
  return tally.cost();
}

Cost warpgroup_bias_cost(const ConvLayer& layer, const WarpgroupPlan& plan) {
  // A row's, by the warp that stores it.
  Tally tally;
  tally.load(one(0), plan.tiles.count / plan.tiles.groups.value * layer.K());
  return tally.cost();
}

}  // namespace halo::convolve
