#include <algorithm>

#include "common/planning/contender.hpp"
#include "common/planning/window_plan.hpp"

namespace halo::planning {

namespace {

using conv::ConvLayer;

// Windows and sums of eight outputs, and what else a thread has.
constexpr int kRegistersOfAThread = 96;
constexpr int kRegistersOfAnSm = 65'536;

using PlanOf = WindowPlan (*)(const ConvLayer&, const gpus::GpuLimits&);

Contender of(const std::string& variant, PlanOf plan_of) {
  Contender contender;
  contender.variant = variant;
  contender.refuses = [plan_of](const ConvLayer& l, const gpus::GpuLimits& gpu) {
    return plan_of(l, gpu).refusal;
  };
  contender.work = [plan_of](const ConvLayer& l, const gpus::GpuLimits& gpu) {
    const WindowPlan plan = plan_of(l, gpu);
    const WindowBlock& block = plan.block;
    const int threads = block.threads_across * block.threads_down;
    LaunchWork work;
    work.blocks = static_cast<double>(plan.blocks);
    work.resident = std::max(kRegistersOfAnSm / (kRegistersOfAThread * threads), 1);
    work.steps = 1.0 * block.filters * block.rows * block.columns * l.C() * l.R() * l.S();
    work.megabytes =
        4e-6 * static_cast<double>(l.input_size() + l.filters_size() + l.output_size());
    return work;
  };
  return contender;
}

}  // namespace

std::vector<Contender> window_contenders() {
  return {of("store_bound", plan_one_channel), of("few_channels", plan_few_channels)};
}

}  // namespace halo::planning
