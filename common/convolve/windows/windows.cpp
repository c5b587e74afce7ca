#include "common/convolve/windows/windows.hpp"

#include <algorithm>

#include "common/convolve/planned.hpp"
#include "common/convolve/windows/plan.hpp"

namespace halo::convolve {

// In windows.cu. The block is one of a plan for the layer.
int windows(const LayerCall& call, const WindowBlock& block);

namespace {

using conv::ConvLayer;

// Windows and sums of eight outputs, and what else a thread has.
constexpr int kRegistersOfAThread = 96;
constexpr int kRegistersOfAnSm = 65'536;

using PlanOf = WindowPlan (*)(const ConvLayer&, const gpus::GpuLimits&);

Conv2dVariant variant_of(PlanOf plan_of) {
  Conv2dVariant variant;
  variant.source = "common/convolve/windows/windows.cu";
  variant.plans = true;
  variant.multiplies_ghosts = true;
  variant.can_overlap = true;
  variant.adds_bias = true;
  variant.prepare = planned(
      plan_of, [](const ConvLayer& layer, const WindowPlan& plan, Prepared<ConvLayer>& made) {
        const WindowBlock block = plan.block;
        made.launch = [block](const Conv2dCall& c) { return windows(kernel_call(c), block); };
        made.cost = [layer, block] { return window_cost(layer, block); };
        made.bias_cost = [layer, block] { return window_bias_cost(layer, block); };
        made.detail = [plan] { return described(plan); };
      });
  return variant;
}

Contender contender(const std::string& variant, PlanOf plan_of) {
  Contender contender;
  contender.variant = variant;
  contender.offer = [plan_of](const ConvLayer& l, const gpus::GpuLimits& gpu) {
    const WindowPlan plan = plan_of(l, gpu);
    return offer_unless(plan.refusal, [&] {
      const WindowBlock& block = plan.block;
      const int threads = block.threads_across * block.threads_down;
      LaunchWork work;
      work.blocks = static_cast<double>(plan.blocks);
      work.resident = std::max(kRegistersOfAnSm / (kRegistersOfAThread * threads), 1);
      work.steps = 1.0 * block.filters * block.rows * block.columns * l.C() * l.R() * l.S();
      work.megabytes =
          4e-6 * static_cast<double>(l.input_size() + l.filters_size() + l.output_size());
      return work;
    });
  };
  return contender;
}

}  // namespace

// Tiles: of a thread, and of a row of threads.
Conv2dVariant store_bound() {
  Conv2dVariant variant = variant_of(plan_one_channel);
  variant.name = "store_bound";
  variant.description = "tuned: windows of up to eight outputs in registers, filters go by";
  variant.tiles = [](const ConvLayer&) {
    return std::vector<TileSizes>{{.P = 2, .Q = 4}, {.P = 4, .Q = kWarpSize}};
  };
  return variant;
}

Conv2dVariant few_channels() {
  Conv2dVariant variant = variant_of(plan_few_channels);
  variant.name = "few_channels";
  variant.description = "tuned: windows of all channels in registers, filters go by";
  variant.tiles = [](const ConvLayer&) {
    return std::vector<TileSizes>{{.C = 3, .P = 2, .Q = 4}, {.C = 3, .P = 3, .Q = kWarpSize}};
  };
  return variant;
}

std::vector<Contender> window_contenders() {
  return {contender("store_bound", plan_one_channel), contender("few_channels", plan_few_channels)};
}

}  // namespace halo::convolve
