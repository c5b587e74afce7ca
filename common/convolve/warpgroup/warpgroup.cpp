#include "common/convolve/warpgroup/warpgroup.hpp"

#include <string>

#include "common/convolve/packed_filters.hpp"
#include "common/convolve/planned.hpp"
#include "common/convolve/warpgroup/plan.hpp"

namespace halo::convolve {

// In warpgroup.cu: a call, whose packed filters the second function left for the same tile.
int warpgroup(const LayerCall& call, const WarpgroupTile& tile, WarpgroupPixelsBy by,
              const WarpgroupTiles& tiles, int blocks);
int pack_warpgroup(const float* filters, float* packed, const LayerNumbers& layer,
                   const WarpgroupTile& tile, const WarpgroupTiles& tiles, WarpgroupPixelsBy by,
                   void* stream);

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
  variant.can_overlap = true;
  // Of a plane too, so that a block has several tiles.
  variant.tiles = [tiles](const ConvLayer&) {
    std::vector<TileSizes> sizes = {{.C = kWarpgroupChannels, .P = 1, .Q = 7},
                                    {.C = kWarpgroupHalf}};
    for (const WarpgroupTile& tile : tiles) {
      sizes.push_back({.K = tile.filters, .cells = tile.pixels});
    }
    return sizes;
  };
  variant.prepare = planned(plan_on, [](const ConvLayer& layer, const WarpgroupPlan& plan,
                                        Prepared<ConvLayer>& made) {
    made.packed_floats = plan.packed_floats;
    made.pack = [numbers = numbers_of(layer), plan](const float* filters, float* packed) {
      return pack_warpgroup(filters, packed, numbers, plan.tile, plan.tiles, plan.pixels_by,
                            nullptr);
    };
    made.launch = [plan](const Conv2dCall& call) {
      return warpgroup(kernel_call(call), plan.tile, plan.pixels_by, plan.tiles, plan.blocks);
    };
    made.cost = [layer, plan] { return warpgroup_cost(layer, plan); };
    made.bias_cost = [layer, plan] { return warpgroup_bias_cost(layer, plan); };
    made.detail = [plan] {
      return std::to_string(plan.tiles.count) + " tiles of " + std::to_string(plan.tile.filters) +
             " filters x " + std::to_string(plan.tile.pixels) + " outputs, pixels copied " +
             (plan.pixels_by == WarpgroupPixelsBy::quads ? "in quads" : "one by one") +
             (plan.pixels_by == WarpgroupPixelsBy::halves ? ", of two taps at a time"
              : plan.pixels_by == WarpgroupPixelsBy::taps ? ", tap by tap"
                                                          : "") +
             "; " + std::to_string(plan.blocks) + (plan.blocks == 1 ? " block" : " blocks") +
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

Conv2dVariant warpgroup_fully_connected() {
  Conv2dVariant variant;
  variant.name = "warpgroup_outputs";
  variant.source = "common/convolve/warpgroup/warpgroup.cu";
  variant.description = "fully connected: outputs as the pixels of one map, by warpgroup's kernel";
  variant.demand = demand_of(Arithmetic::tf32_split);
  variant.multiplies_ghosts = true;
  variant.tiles = [](const ConvLayer&) {
    return std::vector<TileSizes>{{.N = 32, .C = kWarpgroupChannels, .K = kWarpgroupPixels}};
  };
  variant.prepare = planned(plan_fully_connected, [](const ConvLayer& layer,
                                                     const WarpgroupPlan& plan,
                                                     Prepared<ConvLayer>& made) {
    const ConvLayer pixels = outputs_as_pixels(layer);
    made.packed_floats = layer.filters_size();
    made.workspace_floats = plan.packed_floats;
    made.pack = [pixels](const float* filters, float* packed) {
      LayerNumbers numbers = numbers_of(pixels);
      numbers.K = pixels.W();
      return pack_filters(filters, packed, numbers, pixels.C(), pixels.W(), pixels.input_size());
    };
    made.launch = [pixels, plan, numbers = numbers_of(pixels)](Conv2dCall call) {
      const int failed = pack_warpgroup(call.input, call.workspace, numbers, plan.tile, plan.tiles,
                                        plan.pixels_by, call.stream);
      if (failed != 0) return failed;
      call.layer = pixels;
      call.input = call.packed;
      call.packed = call.workspace;
      return warpgroup(kernel_call(call), plan.tile, plan.pixels_by, plan.tiles, plan.blocks);
    };
    made.cost = [pixels, plan] {
      Cost both = warpgroup_packing_cost(pixels, plan);
      both.add(warpgroup_cost(pixels, plan));
      return both;
    };
    made.detail = [plan] {
      return std::to_string(plan.tiles.count) + " tiles of " + std::to_string(plan.tile.filters) +
             " images x " + std::to_string(plan.tile.pixels) + " outputs, " +
             std::to_string(plan.blocks) + " blocks" + (plan.tile.parts > 1 ? ", in pairs" : "");
    };
  });
  return variant;
}

std::vector<Conv2dVariant> warpgroup_of_each_tile() {
  std::vector<Conv2dVariant> all;
  for (const WarpgroupTile& tile : warpgroup_tiles()) {
    const std::string parts = tile.parts > 1 ? ", its sum over two blocks" : "";
    const std::string few = tile.pixels < kWarpgroupPixels ? ", and half as many outputs" : "";
    all.push_back(variant_of("warpgroup_" + sizes_of(tile),
                             "the same with so many filters per tile" + few + parts, {tile},
                             [tile](const ConvLayer& layer, const gpus::GpuLimits& gpu) {
                               return exact_warpgroup(layer, tile, gpu);
                             }));
  }
  return all;
}

std::vector<Contender> warpgroup_contenders() {
  std::vector<Contender> all;
  for (const WarpgroupTile& tile : warpgroup_tiles()) {
    Contender one;
    one.variant = "warpgroup_" + sizes_of(tile);
    one.tensor_cores = true;
    one.offer = [tile](const ConvLayer& layer, const gpus::GpuLimits& gpu) {
      const WarpgroupPlan plan = exact_warpgroup(layer, tile, gpu);
      return offer_unless(plan.refusal, [&] { return work_of(layer, plan); });
    };
    all.push_back(one);
  }
  return all;
}

}  // namespace halo::convolve
