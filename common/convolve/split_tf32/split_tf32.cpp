#include "common/convolve/split_tf32/split_tf32.hpp"

#include <algorithm>
#include <string>

#include "common/conv/quotient.hpp"
#include "common/convolve/planned.hpp"
#include "common/convolve/split_tf32/plan.hpp"

namespace halo::convolve {

// In split_tf32.cu: a call, whose packed filters the second function left for the same tile.
int split_tf32(const LayerCall& call, const SplitTile& tile);
int split_filters(const float* filters, float* packed, const LayerNumbers& layer,
                  const SplitTile& tile);

namespace {

using conv::ConvLayer;

std::string name_of(const SplitShape& shape) {
  return "split_tf32_" + std::to_string(shape.filters);
}

template <class Plan>
Conv2dVariant variant_of(const std::string& name, const std::string& description, Plan plan_on) {
  Conv2dVariant variant;
  variant.name = name;
  variant.source = "common/convolve/split_tf32/split_tf32.cu";
  variant.description = "tuned: " + description;
  variant.demand = demand_of(Arithmetic::tf32_split);
  variant.multiplies_ghosts = true;
  variant.plans = true;
  variant.tiles = [](const ConvLayer&) {
    return std::vector<TileSizes>{{.C = kPieceChannels, .K = 64, .cells = kTilePixels},
                                  {.C = kStagePieces * kPieceChannels, .K = 128}};
  };
  variant.prepare = planned(
      plan_on, [](const ConvLayer& layer, const SplitPlan& plan, Prepared<ConvLayer>& made) {
        made.packed_floats = plan.packed_floats;
        launch_and_pack(layer, split_tf32, split_filters, plan.tile, made);
        made.cost = [layer, tile = plan.tile] { return split_tf32_cost(layer, tile); };
        made.detail = [plan] {
          return std::to_string(plan.blocks) + " blocks of " + std::to_string(plan.tile.filters) +
                 " filters x " + std::to_string(kTilePixels) + " outputs, pixels copied " +
                 (plan.tile.at_once == 4 ? "four at a time" : "one by one");
        };
      });
  return variant;
}

}  // namespace

Conv2dVariant split_tf32() {
  return variant_of("split_tf32", "tensor cores, factors in two parts of TF32, three products",
                    plan_split_tf32);
}

std::vector<Conv2dVariant> split_tf32_of_each_tile() {
  std::vector<Conv2dVariant> all;
  for (const SplitShape& shape : kSplitShapes) {
    all.push_back(
        variant_of(name_of(shape), "the same with so many filters per block",
                   [filters = shape.filters](const ConvLayer& layer, const gpus::GpuLimits& gpu) {
                     return exact_split_tf32(layer, filters, gpu);
                   }));
  }
  return all;
}

std::vector<Contender> split_tf32_contenders() {
  std::vector<Contender> all;
  for (const SplitShape& shape : kSplitShapes) {
    Contender one;
    one.variant = name_of(shape);
    one.tensor_cores = true;
    one.offer = [shape](const ConvLayer& layer, const gpus::GpuLimits& gpu) {
      const SplitPlan plan = exact_split_tf32(layer, shape.filters, gpu);
      return offer_unless(plan.refusal, [&] {
        const auto pieces = static_cast<double>(plan.pieces);
        const int fit = gpu.shared_per_sm / split_shared_bytes(shape.filters);
        LaunchWork work;
        work.blocks = static_cast<double>(plan.blocks);
        work.resident = std::max(std::min(fit, shape.resident), 1);
        work.steps = static_cast<double>(quotient_up(plan.pieces, kStagePieces));
        work.megabytes = 4e-6 * (work.blocks * pieces *
                                     (piece_filters(shape.filters) + kPieceChannels * kTilePixels) +
                                 static_cast<double>(layer.output_size()));
        return work;
      });
    };
    all.push_back(one);
  }
  return all;
}

}  // namespace halo::convolve
