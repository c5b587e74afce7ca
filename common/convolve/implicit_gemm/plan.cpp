#include "common/convolve/implicit_gemm/plan.hpp"

#include <algorithm>
#include <cmath>

#include "common/harness/families/conv2d.hpp"

namespace halo::convolve {

namespace {

using conv::ConvLayer;

// Fitted to the times of all plans on an H200, 86 layers of one image: the plan of the shortest estimate takes 3.4 % longer
// than the best one, in the mean.
constexpr double kBytesACycle = 19;      // that a multiprocessor gets from the L2 cache
constexpr double kCyclesAProduct = 1.3;  // of a warp, with what its reads from shared memory take
constexpr double kQuadLatency = 230;     // of a quad, on its way through shared memory
constexpr double kWave = 420;
constexpr double kSendSums = 850;  // 1,024 of them to other blocks

// A grid has no more tiles down; and the harness no larger arrays.
constexpr std::int64_t kMostFilters = 65'535 * 16;
constexpr std::int64_t kMostPacked = (std::int64_t{1} << 31) - 4097;

double tiles_of(const LayerNumbers& layer, const GemmPlan& plan) {
  return std::ceil(1.0 * columns_of(layer) / kColumns) * std::ceil(1.0 * layer.K / plan.filters);
}

// Registers let a multiprocessor have so many warps.
constexpr int kWarps = 16;
int resident(const GemmPlan& plan) { return std::max(1, kWarps / plan.slices); }

std::vector<GemmPlan> each_split(std::initializer_list<GemmPlan> tiles) {
  std::vector<GemmPlan> all;
  for (GemmPlan plan : tiles) {
    // 128 warps of a tile are as many as any layer had work for.
    const int most = std::min(kMostSplit, 128 / plan.slices);
    for (plan.split = 1; plan.split <= most; plan.split *= 2) all.push_back(plan);
  }
  return all;
}

// Of those that fit the GPU, that of the shortest estimate.
std::optional<GemmPlan> best_of(const std::vector<GemmPlan>& plans, const ConvLayer& layer,
                                const gpus::GpuLimits& gpu) {
  std::optional<GemmPlan> best;
  double least = 0;
  for (const GemmPlan& plan : plans) {
    if (!refuses(layer, plan, gpu).empty()) continue;
    const double cycles = estimated_cycles(layer, plan, gpu.sms);
    if (best && cycles >= least) continue;
    best = plan;
    least = cycles;
  }
  return best;
}

}  // namespace

const std::vector<GemmPlan>& all_gemm_plans() {
  // Filters of a tile, and warps. Fewer filters for layers that have no more, fewer warps for short reductions.
  static const std::vector<GemmPlan> plans = each_split(
      {{16, 2, 1}, {16, 8, 1}, {16, 16, 1}, {32, 1, 1}, {32, 4, 1}, {32, 8, 1}, {32, 16, 1}});
  return plans;
}

const std::vector<GemmPlan>& unpacked_gemm_plans() {
  static const std::vector<GemmPlan> plans =
      each_split({{16, 2, 1, false}, {16, 8, 1, false}, {32, 4, 1, false}, {32, 8, 1, false}});
  return plans;
}

std::string name_of(const GemmPlan& plan) {
  return "gemm_" + std::to_string(plan.filters) + "_" + std::to_string(plan.slices) + "_" +
         std::to_string(plan.split);
}

std::string refuses(const ConvLayer& layer, const GemmPlan& plan, const gpus::GpuLimits& gpu) {
  if (const std::string reason = gpus::too_old(gpu, gpus::kWithClusters); !reason.empty()) {
    return reason;
  }
  if (shared_bytes(plan) > gpu.shared_per_block) {
    return "its blocks take " + std::to_string(shared_bytes(plan)) + " bytes of shared memory";
  }
  if (!plan.packed && layer.R() * layer.S() > 1) return "it is made for filters of 1 x 1";
  if (layer.K() > kMostFilters) {
    return "it takes at most " + std::to_string(kMostFilters) + " filters";
  }
  if (gemm_packed_floats(numbers_of(layer)) > kMostPacked) {
    return "its filters, packed in fours of channels and filters, would be more than 2^31 - 4,097";
  }
  return {};
}

double estimated_cycles(const ConvLayer& of, const GemmPlan& plan, int multiprocessors) {
  const LayerNumbers layer = numbers_of(of);
  const double area = plan.filters * kColumns, edges = plan.filters + kColumns;
  const double quads = quads_of_slice(layer, plan), tiles = tiles_of(layer, plan);
  const double together = resident(plan);
  const double blocks = std::ceil(tiles * plan.split / multiprocessors);
  const double waves = std::ceil(tiles * plan.split / (multiprocessors * together));

  const double loads = blocks * plan.slices * quads * kQuad * sizeof(float) * edges / kBytesACycle;
  const double products =
      waves * quads * (area / kWarpSize * kQuad * kCyclesAProduct + kQuadLatency);
  const double sent = plan.split > 1 ? blocks * area / 1024 * kSendSums : 0;
  return std::max(loads, products) + waves * kWave + sent;
}

std::optional<GemmPlan> plan_gemm(const ConvLayer& layer, const gpus::GpuLimits& gpu) {
  return best_of(all_gemm_plans(), layer, gpu);
}

std::optional<GemmPlan> plan_unpacked_gemm(const ConvLayer& layer, const gpus::GpuLimits& gpu) {
  return best_of(unpacked_gemm_plans(), layer, gpu);
}

LaunchWork work_of(const ConvLayer& of, const GemmPlan& plan) {
  const LayerNumbers layer = numbers_of(of);
  LaunchWork work;
  work.blocks = tiles_of(layer, plan) * plan.split;
  work.resident = resident(plan);
  work.steps = quads_of_slice(layer, plan);
  work.cluster = plan.split;
  work.megabytes = 4e-6 * (tiles_of(layer, plan) * kQuad * static_cast<double>(quads_of(layer)) *
                               (plan.filters + kColumns) +
                           static_cast<double>(of.output_size()));
  return work;
}

}  // namespace halo::convolve
