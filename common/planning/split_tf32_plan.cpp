#include "common/planning/split_tf32_plan.hpp"

#include <algorithm>
#include <cmath>

#include "common/conv/quotient.hpp"

namespace halo::cuconv_two_stage {

namespace {

// In stages of a block of 128 filters.
double time_of(const SplitShape& shape, const SplitPlan& plan, int sms) {
  const auto stages = static_cast<double>(quotient_up(plan.pieces, kStagePieces));
  if (plan.blocks <= sms) return shape.alone * stages + shape.ends;
  const double turns =
      static_cast<double>(plan.blocks) / (static_cast<double>(std::max(sms, 1)) * shape.resident);
  const double taken = std::max(1.0, std::min(std::ceil(turns), turns + shape.lost));
  return taken * (shape.stage * stages + shape.ends);
}

}  // namespace

SplitPlan exact_split_tf32(const conv::ConvLayer& layer, int filters, const gpus::GpuLimits& gpu) {
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

SplitPlan plan_split_tf32(const conv::ConvLayer& layer, const gpus::GpuLimits& gpu) {
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

std::vector<planning::Contender> split_tf32_contenders() {
  std::vector<planning::Contender> all;
  for (const SplitShape& shape : kSplitShapes) {
    planning::Contender one;
    one.variant = "split_tf32_" + std::to_string(shape.filters);
    one.tensor_cores = true;
    one.refuses = [shape](const conv::ConvLayer& layer, const gpus::GpuLimits& gpu) {
      return exact_split_tf32(layer, shape.filters, gpu).refusal;
    };
    one.work = [shape](const conv::ConvLayer& layer, const gpus::GpuLimits& gpu) {
      const SplitPlan plan = exact_split_tf32(layer, shape.filters, gpu);
      const auto pieces = static_cast<double>(plan.pieces);
      const int fit = gpu.shared_per_sm / split_shared_bytes(shape.filters);
      planning::LaunchWork work;
      work.blocks = static_cast<double>(plan.blocks);
      work.resident = std::max(std::min(fit, shape.resident), 1);
      work.steps = static_cast<double>(quotient_up(plan.pieces, kStagePieces));
      work.megabytes = 4e-6 * (work.blocks * pieces *
                                   (piece_filters(shape.filters) + kPieceChannels * kTilePixels) +
                               static_cast<double>(layer.output_size()));
      return work;
    };
    all.push_back(one);
  }
  return all;
}

}  // namespace halo::cuconv_two_stage
