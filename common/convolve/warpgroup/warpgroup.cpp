#include "common/convolve/warpgroup/warpgroup.hpp"

#include <string>

#include "common/conv/quotient.hpp"
#include "common/convolve/planned.hpp"
#include "common/convolve/warpgroup/plan.hpp"

namespace halo::convolve {

// In warpgroup.cu: a call, whose packed filters the second function left for the same tile.
int warpgroup(const LayerCall& call, const WarpgroupTile& tile, WarpgroupPixelsBy by,
              const WarpgroupTiles& tiles, int blocks);
int pack_warpgroup(const float* filters, float* packed, const LayerNumbers& layer,
                   const WarpgroupTile& tile, const WarpgroupTiles& tiles, WarpgroupPixelsBy by);

namespace {

using conv::ConvLayer;

template <class Plan>
Conv2dVariant variant_of(const std::string& name, const std::string& description,
                         const std::vector<WarpgroupTile>& tiles, Plan plan_on) {
  Conv2dVariant variant;
  variant.name = name;
  variant.source = "common/convolve/warpgroup/warpgroup.cu";
  variant.description = "tuned: " + description;
  variant.demand = demand_of(Arithmetic::tf32_split);
  variant.multiplies_ghosts = true;
  variant.plans = true;
  variant.adds_bias = true;
  // Of a plane too, so that a block has several tiles.
  variant.tiles = [tiles](const ConvLayer&) {
    std::vector<TileSizes> sizes = {{.C = kWarpgroupChannels, .P = 1, .Q = 7},
                                    {.C = kWarpgroupHalf}};
    for (const WarpgroupTile& tile : tiles) {
      sizes.push_back({.K = tile.filters, .cells = kWarpgroupPixels});
    }
    return sizes;
  };
  variant.prepare = planned(plan_on, [](const ConvLayer& layer, const WarpgroupPlan& plan,
                                        Prepared<ConvLayer>& made) {
    made.packed_floats = plan.packed_floats;
    made.pack = [numbers = numbers_of(layer), plan](const float* filters, float* packed) {
      return pack_warpgroup(filters, packed, numbers, plan.tile, plan.tiles, plan.pixels_by);
    };
    made.launch = [plan](const Conv2dCall& call) {
      return warpgroup(kernel_call(call), plan.tile, plan.pixels_by, plan.tiles, plan.blocks);
    };
    made.cost = [layer, plan] { return warpgroup_cost(layer, plan); };
    made.bias_cost = [layer, plan] { return warpgroup_bias_cost(layer, plan); };
    made.detail = [plan] {
      return std::to_string(plan.tiles.count) + " tiles of " + std::to_string(plan.tile.filters) +
             " filters x " + std::to_string(kWarpgroupPixels) + " outputs, pixels copied " +
             (plan.pixels_by == WarpgroupPixelsBy::quads ? "in quads" : "one by one") +
             (plan.pixels_by == WarpgroupPixelsBy::halves ? ", of two taps at a time" : "") + "; " +
             std::to_string(plan.blocks) + (plan.blocks == 1 ? " block" : " blocks") +
             (plan.tile.parts > 1 ? ", in pairs" : "");
    };
  });
  return variant;
}

}  // namespace

Conv2dVariant warpgroup() {
  return variant_of("warpgroup", "as split_tf32 on Hopper: wgmma, a task for each warpgroup",
                    {{128}, {32}}, plan_warpgroup);
}

std::vector<Conv2dVariant> warpgroup_of_each_tile() {
  std::vector<Conv2dVariant> all;
  for (const WarpgroupTile& tile : warpgroup_tiles()) {
    const std::string parts = tile.parts > 1 ? ", its sum over two blocks" : "";
    all.push_back(variant_of(name_of(tile), "the same with so many filters per tile" + parts,
                             {tile}, [tile](const ConvLayer& layer, const gpus::GpuLimits& gpu) {
                               return exact_warpgroup(layer, tile, gpu);
                             }));
  }
  return all;
}

std::vector<Contender> warpgroup_contenders() {
  std::vector<Contender> all;
  for (const WarpgroupTile& tile : warpgroup_tiles()) {
    Contender one;
    one.variant = name_of(tile);
    one.tensor_cores = true;
    one.offer = [tile](const ConvLayer& layer, const gpus::GpuLimits& gpu) {
      const WarpgroupPlan plan = exact_warpgroup(layer, tile, gpu);
      return offer_unless(plan.refusal, [&] {
        LaunchWork work;
        work.blocks = plan.blocks;
        // With one more for a tile's sums.
        work.steps =
            static_cast<double>(turns_of(plan) * (quotient_up(plan.tiles.pieces, tile.parts) + 1));
        work.cluster = tile.parts;
        work.megabytes =
            4e-6 * (static_cast<double>(plan.tiles.count) * static_cast<double>(plan.tiles.pieces) *
                        (tile.filter_floats() + kWarpgroupChannels * kWarpgroupPixels) +
                    static_cast<double>(layer.output_size()));
        return work;
      });
    };
    all.push_back(one);
  }
  return all;
}

}  // namespace halo::convolve
