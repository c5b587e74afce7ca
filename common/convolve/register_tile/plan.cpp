#include "common/convolve/register_tile/plan.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "common/conv/quotient.hpp"

namespace halo::convolve {

namespace {

using conv::ConvLayer;

constexpr int kFloat = 4;                   // bytes
constexpr int kSharedOfAnyGpu = 48 * 1024;  // what a block gets without being asked for more

std::int64_t segments_of(const ConvLayer& l) {
  return packed_filters(l.C(), l.K(), l.R(), l.S()).segments;
}

// The taps of 1 x 1 filters are the cells themselves: quads of a channel's outputs are quads in memory.
bool has_quads(const ConvLayer& l) {
  return l.R() == 1 && l.S() == 1 && l.stride_h() == 1 && l.stride_w() == 1 && l.padding_h() == 0 &&
         l.padding_w() == 0 && std::int64_t{l.H()} * l.W() % 4 == 0;
}

const RegisterShape& shape_of(const RegisterTile& tile) {
  return kRegisterShapes[static_cast<std::size_t>(tile.shape)];
}

// Of all filters and all pixels.
std::int64_t tiles_of(const ConvLayer& l, const RegisterShape& shape) {
  return quotient_up(l.K(), shape.filters) *
         quotient_up(std::int64_t{l.N()} * l.P() * l.Q(), shape.pixels);
}

// How long a shape takes on an H200, in microseconds, fitted to its times; of two figures the first is for
// pixels that are copied in quads.
struct ShapeCosts {
  double wait[2];     // for a segment at least, however few blocks an SM has
  double compute[2];  // for a segment of each block of an SM
  double ends;        // of a turn: first segments and outputs
  double block_ends;  // of each block of it
};
constexpr ShapeCosts kShapeCosts[kRegisterShapeCount] = {
    {{2.67, 2.9}, {1.66, 1.81}, 0.986, 0.394},      {{0.821, 1.39}, {0.726, 0.869}, 0.96, 0.394},
    {{0.447, 0.703}, {0.396, 0.457}, 0.385, 0.154}, {{0.462, 0.871}, {0.396, 0.566}, 0.483, 0.193},
    {{0.39, 0.474}, {0.207, 0.267}, 0.633, 0.146},  {{0.267, 0.487}, {0.22, 0.292}, 0.365, 0.168},
    {{0.301, 0.487}, {0.239, 0.375}, 0.483, 0.193}, {{1.3, 2.1}, {1.05, 1.26}, 0.97, 0.394},
};
constexpr double kLaunch = 2.76;
constexpr double kCluster = 1.61;  // where blocks wait for each other
// A cluster's SMs are neighbours, so clusters do not fill all of them: they have this share.
constexpr double kShareOfClusters = 0.94;        // 2, 4 or 8 blocks
constexpr double kShareOfUnevenClusters = 0.91;  // 3 or 6
constexpr double kBytesOfMicrosecond = 2.85e6;   // of inputs and outputs

}  // namespace

LaunchWork work_of(const ConvLayer& l, const RegisterTile& tile) {
  const RegisterShape& shape = shape_of(tile);
  LaunchWork work;
  work.blocks = static_cast<double>(tiles_of(l, shape) * tile.parts);
  work.resident = shape.blocks_of_sm;
  work.steps = static_cast<double>(quotient_up(segments_of(l), tile.parts));
  work.cluster = tile.parts;
  work.megabytes = 1e-6 * kFloat *
                   (static_cast<double>(tiles_of(l, shape) * segments_of(l) * kSegmentChannels *
                                        (shape.filters + shape.pixels)) +
                    static_cast<double>(l.output_size()));
  return work;
}

double estimated_us(const ConvLayer& l, const RegisterTile& tile, const gpus::GpuLimits& gpu) {
  const LaunchWork work = work_of(l, tile);
  const ShapeCosts& costs = kShapeCosts[static_cast<std::size_t>(tile.shape)];
  const int kind = tile.at_once == 4 ? 0 : 1;
  const auto turn = [&](double blocks) {  // of an SM, together
    return costs.ends + blocks * costs.block_ends +
           work.steps * std::max(costs.wait[kind], blocks * costs.compute[kind]);
  };
  const double share = tile.parts == 1       ? 1
                       : tile.parts % 3 == 0 ? kShareOfUnevenClusters
                                             : kShareOfClusters;
  const double of_sm = std::ceil(work.blocks / std::max(1.0, std::floor(gpu.sms * share)));
  const double full = std::floor(of_sm / work.resident);
  const double rest = of_sm - full * work.resident;
  const double compute = full * turn(work.resident) + (rest > 0 ? turn(rest) : 0);
  const double memory =
      kFloat * static_cast<double>(l.input_size() + l.output_size()) / kBytesOfMicrosecond;
  return kLaunch + (tile.parts > 1 ? kCluster : 0) + std::max(compute, memory);
}

RegisterTilePlan exact_register_tile(const ConvLayer& l, int shape, int parts,
                                     const gpus::GpuLimits& gpu) {
  RegisterTilePlan plan;
  plan.refusal = gpus::too_old(gpu, gpus::kWithClusters);
  if (!plan.refusal.empty()) return plan;
  const bool few = l.C() < kSegmentChannels;
  const RegisterShape& its = kRegisterShapes[static_cast<std::size_t>(shape)];
  if (few ? !its.for_few : !its.for_many) {
    plan.refusal = std::string("with ") + (few ? "less than " : "") +
                   std::to_string(kSegmentChannels) + (few ? "" : " or more") +
                   " channels it is compiled for other shapes";
    return plan;
  }
  plan.tile = {.shape = shape,
               .parts = static_cast<int>(std::min<std::int64_t>(parts, segments_of(l))),
               .at_once = has_quads(l) && !few ? 4 : 1};
  const int most = std::max(gpu.shared_per_block, kSharedOfAnyGpu);
  if (kFloat * its.floats(few, plan.tile.parts, false) > most) {
    plan.refusal = "what a block needs on chip does not fit in its " + std::to_string(most) +
                   " bytes of shared memory";
  }
  return plan;
}

RegisterTilePlan plan_register_tile(const ConvLayer& l, const gpus::GpuLimits& gpu) {
  RegisterTilePlan best;
  double least = 0;
  for (int shape = 0; shape < kRegisterShapeCount; ++shape) {
    for (const int parts : kRegisterParts) {
      const RegisterTilePlan plan = exact_register_tile(l, shape, parts, gpu);
      if (!plan.refusal.empty()) {
        if (least == 0) best = plan;  // to be told if nothing fits
        continue;
      }
      const double us = estimated_us(l, plan.tile, gpu);
      if (least > 0 && us >= least) continue;
      least = us;
      best = plan;
    }
  }
  return best;
}

std::string register_tile_name(const ShapeAndParts& one) {
  const RegisterShape& its = kRegisterShapes[static_cast<std::size_t>(one.shape)];
  return "register_tile_" + std::to_string(its.filters) + "x" + std::to_string(its.pixels) + "_" +
         std::to_string(its.thread_filters) + "x" + std::to_string(its.thread_pixels) + "_p" +
         std::to_string(one.parts);
}

}  // namespace halo::convolve
