#include "common/convolve/winograd/plan.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <set>
#include <stdexcept>

#include "common/conv/limits.hpp"
#include "common/conv/quotient.hpp"

namespace halo::convolve {

namespace {

std::int64_t blocks_of(const ApartBlock& block, std::int64_t filters, std::int64_t tiles) {
  return quotient_up(filters, block.filters) * quotient_up(tiles, block.tiles);
}

// Of the blocks that the GPU has room for the one with which least is multiplied, where what fills blocks up is multiplied
// as well. Half the size costs 3 % of the speed; and a GPU wants some blocks for each of its SMs, or the smallest ones.
int apart_block(std::int64_t filters, std::int64_t tiles, std::int64_t matrices,
                const gpus::GpuLimits& gpu) {
  constexpr double kHalf = 1.03;
  const std::int64_t enough = std::int64_t{4} * gpu.sms;
  constexpr int kSmallest = kApartBlockCount - 1;
  int best = kSmallest;
  double least = 0, factor = 1;
  for (int i = 0; i <= kSmallest; ++i, factor *= kHalf) {
    const ApartBlock& block = kApartBlocks[i];
    const std::int64_t blocks = blocks_of(block, filters, tiles);
    if (i < kSmallest &&
        (blocks * matrices < enough || block.shared_bytes() > gpu.shared_per_block)) {
      continue;
    }
    const double work = factor * static_cast<double>(blocks * block.filters * block.tiles);
    if (least > 0 && work >= least) continue;
    best = i;
    least = work;
  }
  return best;
}

std::string no_room(std::int64_t bytes, const gpus::GpuLimits& gpu) {
  return "a block needs " + std::to_string(bytes) + " bytes of shared memory, the GPU has " +
         std::to_string(gpu.shared_per_block);
}

std::string too_many_filters(std::int64_t floats) {
  return "its transformed filters are " + std::to_string(floats) +
         " numbers, more than an array can have";
}

WinogradPlan refused(const std::string& why) {
  WinogradPlan plan;
  plan.refusal = why;
  return plan;
}

// How long a plan takes, in channels of a block with many filters: rounds of clusters, each with its part of the
// channels and what a block does once. The numbers are fitted to cuConv's layers with 1, 8 and 32 images on an H200,
// where what is chosen takes 0.6 % longer than the best in the mean, 14 % at most.
double rounds(const WinogradPlan& plan, int sms) {
  // Filling the pipeline and transforming the sums take about as long as so many channels.
  constexpr double kOnce = 24;
  // Patches are copied and transformed for half as many filters.
  constexpr double kFewFilters = 1.1;
  const WinogradShape& shape = kWinogradShapes[plan.division.shape];
  const int parts = plan.division.parts;
  const double channels =
      static_cast<double>(quotient_up(plan.division.chunks, parts)) * shape.channels;
  // A cluster lies within a group of SMs, 16 or 18 of them: the larger it is, the more are left over. (128 blocks in
  // clusters of 4 took two rounds on 132 SMs.)
  const int in_clusters = parts <= 2 ? sms : sms - sms / 16;
  const int at_once = std::max(in_clusters / parts, 1);
  return static_cast<double>(quotient_up(plan.blocks / parts, at_once)) *
         (channels * (shape.filters < 64 ? kFewFilters : 1) + kOnce);
}

}  // namespace

WinogradPlan exact_winograd(const conv::ConvLayer& layer, int shape, int parts,
                            const gpus::GpuLimits& gpu) {
  if (shape < 0 || shape >= kWinogradShapeCount) {
    throw std::out_of_range("there is no shape " + std::to_string(shape) + " of Winograd's method");
  }
  const WinogradShape& s = kWinogradShapes[shape];
  if (std::string reason = gpus::too_old(gpu, gpus::kWithClusters); !reason.empty()) {
    return refused(reason);
  }
  if (layer.stride_h() != 1 || layer.stride_w() != 1) return refused("it is made for stride 1");
  if (layer.R() != s.taps || layer.S() != s.taps) {
    const std::string taps = std::to_string(s.taps);
    return refused("it is made for filters of " + taps + " x " + taps);
  }
  WinogradPlan plan;
  plan.shared_bytes = 4 * s.on_chip();
  if (plan.shared_bytes > gpu.shared_per_block) {
    return refused(no_room(plan.shared_bytes, gpu));
  }
  WinogradDivision& d = plan.division;
  d.shape = shape;
  d.tiles_down = static_cast<int>(quotient_up(layer.P(), s.outputs));
  d.tiles_across = static_cast<int>(quotient_up(layer.Q(), s.outputs));
  d.tiles = layer.N() * d.tiles_down * d.tiles_across;
  d.groups = static_cast<int>(quotient_up(layer.K(), s.filters));
  d.chunks = static_cast<int>(quotient_up(layer.C(), s.channels));
  d.parts = parts;
  if (parts < 1 || parts > kMostWinogradParts || (parts & (parts - 1)) != 0 || parts > d.chunks) {
    return refused("its channels are not divided in " + std::to_string(parts) + " parts");
  }
  plan.packed_floats = std::int64_t{d.groups} * d.chunks * s.frequencies() * s.channels * s.filters;
  if (plan.packed_floats > conv::kMaxLength) {
    return refused(too_many_filters(plan.packed_floats));
  }
  plan.threads = 32 * s.warps;
  plan.blocks = quotient_up(d.tiles, s.tiles) * d.groups * parts;
  return plan;
}

std::string winograd_name(int shape, int parts) {
  const WinogradShape& s = kWinogradShapes[shape];
  const std::string outputs = std::to_string(s.outputs);
  return "winograd_" + outputs + "x" + outputs + (s.taps == 3 ? "" : "_of_5x5") + "_k" +
         std::to_string(s.filters) + "_t" + std::to_string(s.tiles) + "_p" + std::to_string(parts);
}

WinogradPlan plan_winograd(const conv::ConvLayer& layer, int outputs, const gpus::GpuLimits& gpu) {
  WinogradPlan best;
  std::string taken;  // filters, in words
  for (int shape = 0; shape < kWinogradShapeCount; ++shape) {
    const WinogradShape& s = kWinogradShapes[shape];
    if (s.outputs != outputs) continue;
    const std::string taps = std::to_string(s.taps) + " x " + std::to_string(s.taps);
    if (taken.find(taps) == std::string::npos) taken += (taken.empty() ? "" : " or ") + taps;
    if (s.taps != layer.R() || s.taps != layer.S()) continue;
    for (int parts = 1; parts <= kMostWinogradParts; parts *= 2) {
      WinogradPlan plan = exact_winograd(layer, shape, parts, gpu);
      if (!plan.refusal.empty()) {
        if (parts == 1 && best.blocks == 0) best = plan;
      } else if (best.blocks == 0 || rounds(plan, gpu.sms) < rounds(best, gpu.sms)) {
        best = plan;
      }
    }
  }
  if (best.blocks == 0 && best.refusal.empty()) {
    return refused("it is made for filters of " + taken);
  }
  return best;
}

ApartPlan plan_winograd_apart(const conv::ConvLayer& layer, const gpus::GpuLimits& gpu,
                              std::int64_t most_floats, int block, int outputs) {
  ApartPlan plan;
  ApartDivision& d = plan.division;
  const std::int64_t taps = quotient_up(layer.R(), layer.stride_h());  // of a phase
  const auto* const found =
      std::find_if(std::begin(kApartShapes), std::end(kApartShapes), [&](const ApartShape& shape) {
        return shape.taps == taps && shape.taps == quotient_up(layer.S(), layer.stride_w()) &&
               (outputs == kMostOutputs || outputs == shape.outputs);
      });
  if (found == std::end(kApartShapes)) {
    // Which those are.
    std::set<int> its;
    for (const ApartShape& shape : kApartShapes) {
      if (outputs == kMostOutputs || outputs == shape.outputs) its.insert(shape.taps);
    }
    std::string list;
    for (const int one : its) {
      list += (list.empty() ? "" : one == *its.rbegin() ? " or " : ", ") + std::to_string(one);
    }
    plan.refusal =
        "it is made for filters of " + list + " strides, rounded up, as many down as across";
    return plan;
  }
  const ApartShape& s = *found;
  d.shape = static_cast<int>(found - kApartShapes);
  constexpr int kMostMatrices = 65'535;  // a grid has no more rows
  if (layer.groups() > kMostMatrices / s.frequencies()) {
    plan.refusal =
        "it takes at most " + std::to_string(kMostMatrices / s.frequencies()) + " groups";
    return plan;
  }
  const std::int64_t phases = std::int64_t{layer.stride_h()} * layer.stride_w();
  const std::int64_t channels = layer.C() * phases;
  d.group_filters = layer.K() / layer.groups();
  const auto in_fours = [](std::int64_t number) { return rounded_up(number, 4); };
  d.tiles_down = static_cast<int>(quotient_up(layer.P(), s.outputs));
  d.tiles_across = static_cast<int>(quotient_up(layer.Q(), s.outputs));
  d.filter_pitch = static_cast<int>(in_fours(d.group_filters));
  plan.packed_floats = s.frequencies() * channels * d.filter_pitch;
  if (plan.packed_floats > conv::kMaxLength) {
    plan.refusal = too_many_filters(plan.packed_floats);
    return plan;
  }
  d.channels = static_cast<int>(channels);
  d.group_channels = d.channels / layer.groups();
  d.phases = static_cast<int>(phases);
  d.phases_across = layer.stride_w();
  const std::int64_t tiles = std::int64_t{d.tiles_down} * d.tiles_across;
  const auto temporaries = [&](std::int64_t images) {
    return s.frequencies() * (channels + layer.K()) * in_fours(images * tiles);
  };
  const Slices slices = slices_of(layer.N(), most_floats, temporaries);
  if (!slices.refusal.empty()) {
    plan.refusal = slices.refusal;
    return plan;
  }
  d.images = slices.images;
  d.tile_pitch = static_cast<int>(in_fours(d.images * tiles));
  plan.workspace_floats = slices.floats;
  d.block = block == kBestBlock
                ? apart_block(d.group_filters, d.tile_pitch, s.frequencies() * layer.groups(), gpu)
                : block;
  if (const int bytes = kApartBlocks[d.block].shared_bytes(); bytes > gpu.shared_per_block) {
    plan.refusal = no_room(bytes, gpu);
  }
  return plan;
}

conv::ConvLayer winograd_matrices(const ApartDivision& division) {
  return conv::ConvLayer({.N = kApartShapes[division.shape].frequencies(),
                          .C = division.channels,
                          .H = 1,
                          .W = division.filter_pitch,
                          .K = division.tile_pitch,
                          .R = 1,
                          .S = 1});
}

WinogradSplitPlan exact_winograd_split(const conv::ConvLayer& layer, const WarpgroupTile& tile,
                                       const gpus::GpuLimits& gpu, std::int64_t most_floats,
                                       int outputs) {
  WinogradSplitPlan plan;
  if (layer.groups() > 1) {
    plan.refusal = "it is made for one group";
    return plan;
  }
  // Its tiles and channels; slices and pitches are others.
  constexpr int kAnyBlock = kApartBlockCount - 1;
  const ApartPlan apart =
      plan_winograd_apart(layer, gpu, std::numeric_limits<std::int64_t>::max(), kAnyBlock, outputs);
  plan.refusal = apart.refusal;
  if (!plan.refusal.empty()) return plan;
  ApartDivision& d = plan.division = apart.division;
  const std::int64_t frequencies = kApartShapes[d.shape].frequencies();
  d.filter_pitch = static_cast<int>(rounded_up(layer.K(), tile.pixels));
  plan.packed_floats = frequencies * d.channels * d.filter_pitch;
  if (plan.packed_floats > conv::kMaxLength) {
    plan.refusal = too_many_filters(plan.packed_floats);
    return plan;
  }
  const std::int64_t of_image = std::int64_t{d.tiles_down} * d.tiles_across;
  const std::int64_t channels = rounded_up(d.channels, kWarpgroupChannels);
  const auto temporaries = [&](std::int64_t images) {
    return frequencies * (2 * rounded_up(images * of_image, tile.filters) * channels +
                          images * of_image * d.filter_pitch);
  };
  const Slices slices = slices_of(layer.N(), most_floats, temporaries);
  plan.refusal = slices.refusal;
  if (!plan.refusal.empty()) return plan;
  d.images = slices.images;
  d.tile_pitch = static_cast<int>(d.images * of_image);
  plan.workspace_floats = slices.floats;
  plan.products = exact_matrices(winograd_matrices(d), tile, gpu);
  plan.refusal = plan.products.refusal;
  return plan;
}

WinogradSplitPlan plan_winograd_split(const conv::ConvLayer& layer, const gpus::GpuLimits& gpu,
                                      std::int64_t most_floats) {
  WinogradSplitPlan best;
  best.refusal = "no blocks of tiles suit it";
  for (const WarpgroupTile& tile : kWinogradSplitTiles) {
    if (tile.pixels < kWarpgroupPixels) continue;
    WinogradSplitPlan plan = exact_winograd_split(layer, tile, gpu, most_floats);
    const bool takes = plan.refusal.empty();
    if (!best.refusal.empty() || (takes && time_of(plan.products) < time_of(best.products))) {
      best = std::move(plan);
    }
  }
  return best;
}

std::string winograd_split_name(int outputs, const WarpgroupTile& tile) {
  const std::string side = std::to_string(outputs);
  return "winograd_split_" + side + "x" + side + "_" + sizes_of(tile);
}

std::string apart_name(int outputs, int block) {
  const std::string side = std::to_string(outputs);
  const ApartBlock& its = kApartBlocks[block];
  return "winograd_apart_" + side + "x" + side + "_" + std::to_string(its.filters) + "x" +
         std::to_string(its.tiles);
}

LaunchWork work_of(const conv::ConvLayer& layer, const WinogradPlan& plan) {
  const WinogradDivision& d = plan.division;
  const WinogradShape& s = kWinogradShapes[d.shape];
  const auto chunk = static_cast<double>(s.frequencies() * s.channels * (s.filters + s.tiles));
  LaunchWork work;
  work.blocks = static_cast<double>(plan.blocks);
  work.steps = static_cast<double>(quotient_up(d.chunks, d.parts.value));
  work.cluster = d.parts;
  work.megabytes =
      4e-6 * (work.blocks * work.steps * chunk + static_cast<double>(layer.output_size()));
  return work;
}

LaunchWork work_of(const conv::ConvLayer& layer, const ApartPlan& plan) {
  const ApartDivision& d = plan.division;
  const std::int64_t slices = quotient_up(layer.N(), d.images);
  LaunchWork work;
  work.launches = static_cast<int>(3 * slices);
  const ApartBlock& block = kApartBlocks[d.block];
  work.blocks = static_cast<double>(slices * blocks_of(block, d.group_filters, d.tile_pitch) *
                                    kApartShapes[d.shape].frequencies() * layer.groups());
  work.resident = block.resident();
  work.steps = static_cast<double>(quotient_up(d.group_channels.value, kApartChannels));
  work.megabytes = 4e-6 * (2.0 * static_cast<double>(slices * plan.workspace_floats) +
                           static_cast<double>(layer.input_size() + layer.output_size()));
  return work;
}

LaunchWork work_of(const conv::ConvLayer& layer, const WinogradSplitPlan& plan) {
  const std::int64_t slices = quotient_up(layer.N(), plan.division.images);
  LaunchWork work = work_of(winograd_matrices(plan.division), plan.products);
  work.launches = static_cast<int>(3 * slices);
  work.steps *= static_cast<double>(slices);
  work.megabytes = static_cast<double>(slices) * work.megabytes +
                   4e-6 * (static_cast<double>(slices * plan.workspace_floats) +
                           static_cast<double>(layer.input_size() + layer.output_size()));
  return work;
}

}  // namespace halo::convolve
