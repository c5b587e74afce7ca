#include "common/convolve/fourier/fourier.hpp"

#include <string>

#include "common/convolve/fourier/plan.hpp"
#include "common/convolve/planned.hpp"

namespace halo::convolve {

// In fourier.cu and fourier_split.cu.
int pack_fourier(const float* filters, float* packed, const LayerNumbers& layer,
                 const FourierDivision& division);
int fourier(const LayerCall& call, const FourierDivision& division);
int fourier_split(const LayerCall& call, const FourierDivision& division);

namespace {

using conv::ConvLayer;
using Launch = int (*)(const LayerCall&, const FourierDivision&);

// All but the cost.
void in_three_kernels(const ConvLayer& layer, const FourierPlan& plan, Launch launch,
                      int block_tiles, Prepared<ConvLayer>& made) {
  made.packed_floats = plan.packed_floats;
  made.workspace_floats = plan.workspace_floats;
  launch_and_pack(layer, launch, pack_fourier, plan.division, made);
  made.bias_cost = [layer, plan] { return fourier_bias_cost(layer, plan); };
  made.detail = [plan, block_tiles] {
    const FourierDivision& d = plan.division;
    const std::string cells = std::to_string(d.size);
    return "tiles of " + cells + " x " + cells + " cells, " +
           described(d.side, block_tiles, d.images, plan.workspace_floats);
  };
}

// What both have alike.
Conv2dVariant of_tiles(Conv2dVariant variant) {
  variant.multiplies_ghosts = true;
  variant.adds_bias = true;
  variant.tiles = [](const ConvLayer&) {
    // 33 filters are a block of 64.
    return std::vector<TileSizes>{{.C = kFourierChannels, .K = 32, .P = 14, .Q = 14}};
  };
  return variant;
}

}  // namespace

Conv2dVariant fourier(int size, std::int64_t most_floats) {
  Conv2dVariant variant;
  variant.name = size == 0 ? "fourier" : fourier_name(size);
  variant.source = "common/convolve/fourier/fourier.cu";
  variant.description = "tuned: Fourier's transform in three kernels: filters of any size";
  variant.can_overlap = true;
  variant.demand = conv::Demand::transformed;
  const auto plan_on = [=](const ConvLayer& layer, const gpus::GpuLimits&) {
    return size == 0 ? plan_fourier(layer, most_floats) : exact_fourier(layer, size, most_floats);
  };
  variant.prepare = planned(
      plan_on, [](const ConvLayer& layer, const FourierPlan& plan, Prepared<ConvLayer>& made) {
        in_three_kernels(layer, plan, fourier, plan.division.side, made);
        made.cost = [layer, plan] { return fourier_cost(layer, plan); };
      });
  return of_tiles(variant);
}

Conv2dVariant fourier_split(int size, std::int64_t most_floats) {
  Conv2dVariant variant;
  variant.name = size == 0 ? "fourier_split" : fourier_split_name(size);
  variant.source = "common/convolve/fourier/fourier_split.cu";
  variant.description = "tuned: Fourier's transform, tensor cores, factors in two parts of TF32";
  variant.demand = demand_of(Arithmetic::transform_split);
  variant.can_overlap = true;
  variant.plans = true;
  const auto plan_on = [=](const ConvLayer& layer, const gpus::GpuLimits& gpu) {
    return size == 0 ? plan_fourier_split(layer, gpu, most_floats)
                     : exact_fourier_split(layer, size, gpu, most_floats);
  };
  variant.prepare = planned(
      plan_on, [](const ConvLayer& layer, const FourierPlan& plan, Prepared<ConvLayer>& made) {
        in_three_kernels(layer, plan, fourier_split, kSplitTiles, made);
        made.cost = [layer, plan] { return fourier_split_cost(layer, plan); };
      });
  return of_tiles(variant);
}

std::vector<Conv2dVariant> fourier_of_each_size() {
  std::vector<Conv2dVariant> all;
  for (const int size : kFourierSizes) {
    all.push_back(fourier(size));
    all.push_back(fourier_split(size));
  }
  return all;
}

std::vector<Contender> fourier_contenders() {
  std::vector<Contender> all;
  for (const int size : kFourierSizes) {
    all.push_back({fourier_name(size), [size](const ConvLayer& layer, const gpus::GpuLimits&) {
                     const auto plan = exact_fourier(layer, size);
                     return offer_unless(plan.refusal, [&] { return work_of(layer, plan, false); });
                   }});
  }
  for (const int size : kFourierSizes) {
    all.push_back({fourier_split_name(size),
                   [size](const ConvLayer& layer, const gpus::GpuLimits& gpu) {
                     const auto plan = exact_fourier_split(layer, size, gpu);
                     return offer_unless(plan.refusal, [&] { return work_of(layer, plan, true); });
                   },
                   true});
  }
  return all;
}

}  // namespace halo::convolve
