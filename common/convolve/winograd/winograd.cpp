#include "common/convolve/winograd/winograd.hpp"

#include <string>

#include "common/convolve/planned.hpp"
#include "common/convolve/winograd/plan.hpp"

namespace halo::convolve {

// In winograd.cu, winograd_apart.cu and filters.cu.
int winograd(const LayerCall& call, const WinogradDivision& division);
int winograd_apart(const LayerCall& call, const ApartDivision& division);
int pack_winograd(const float* filters, float* packed, const LayerNumbers& layer,
                  const WinogradDivision& division);
int pack_winograd_apart(const float* filters, float* packed, const LayerNumbers& layer,
                        const ApartDivision& division);
// In winograd_split.cu.
int winograd_split(const LayerCall& call, const ApartDivision& division, const WarpgroupTile& group,
                   const WarpgroupTiles& tiles, int blocks);

namespace {

using conv::ConvLayer;

// Winograd's method as `plan` divides a layer, with blocks of these shapes.
template <class Plan>
Conv2dVariant variant_of(const std::string& name, const std::string& description, Plan plan_on,
                         const std::vector<TileSizes>& tiles) {
  Conv2dVariant variant;
  variant.name = name;
  variant.source = "common/convolve/winograd/winograd.cu";
  variant.description = "tuned: " + description;
  variant.plans = true;
  variant.demand = conv::Demand::transformed;
  variant.multiplies_ghosts = true;
  variant.can_overlap = true;
  variant.adds_bias = true;
  variant.tiles = [tiles](const ConvLayer&) { return tiles; };
  variant.prepare = planned(
      plan_on, [](const ConvLayer& layer, const WinogradPlan& plan, Prepared<ConvLayer>& made) {
        made.packed_floats = plan.packed_floats;
        launch_and_pack(layer, winograd, pack_winograd, plan.division, made);
        made.cost = [layer, plan] { return winograd_cost(layer, plan); };
        made.bias_cost = [layer, plan] { return winograd_bias_cost(layer, plan); };
        made.detail = [plan] {
          const WinogradShape& shape = kWinogradShapes[plan.division.shape];
          const int parts = plan.division.parts;
          return std::to_string(shape.filters) + " filters and " + std::to_string(shape.tiles) +
                 " tiles per block, " +
                 (parts == 1 ? "" : "channels in " + std::to_string(parts) + " parts, ") +
                 std::to_string(plan.shared_bytes) + " bytes on chip";
        };
      });
  return variant;
}

TileSizes tile_of(const WinogradShape& shape) {
  return {.C = shape.channels, .K = shape.filters, .P = shape.outputs, .Q = shape.outputs};
}

auto shape_plan(int shape, int parts) {
  return [=](const ConvLayer& layer, const gpus::GpuLimits& gpu) {
    return exact_winograd(layer, shape, parts, gpu);
  };
}

// Calls use(shape, parts) for each of the search.
template <class Use>
void for_each_shape(Use use) {
  for (int shape = 0; shape < kWinogradShapeCount; ++shape) {
    for (int parts = 1; parts <= kMostWinogradParts; parts *= 2) use(shape, parts);
  }
}

}  // namespace

Conv2dVariant winograd(int outputs) {
  std::vector<TileSizes> tiles;
  for (const WinogradShape& shape : kWinogradShapes) {
    if (shape.outputs == outputs && shape.taps == 3) tiles.push_back(tile_of(shape));
  }
  const auto plan = [outputs](const ConvLayer& layer, const gpus::GpuLimits& gpu) {
    return plan_winograd(layer, outputs, gpu);
  };
  const std::string size = std::to_string(outputs);
  return variant_of("winograd_" + size + "x" + size,
                    "Winograd's method, tiles of " + size + " x " + size +
                        " outputs: " + (outputs == 2 ? "3 x 3 and 5 x 5 filters" : "3 x 3 filters"),
                    plan, tiles);
}

std::vector<Conv2dVariant> winograd_of_each_shape() {
  std::vector<Conv2dVariant> all;
  for_each_shape([&](int shape, int parts) {
    all.push_back(variant_of(winograd_name(shape, parts),
                             "Winograd's method with one shape of blocks", shape_plan(shape, parts),
                             {tile_of(kWinogradShapes[shape])}));
  });
  return all;
}

namespace {

// What both have whose transforms go through memory, all but the plan and the demand.
Conv2dVariant of_three_kernels(const std::string& name, const std::string& file,
                               const std::string& description, const TileSizes& tile) {
  Conv2dVariant variant;
  variant.name = name;
  variant.source = "common/convolve/winograd/" + file;
  variant.description = "tuned: " + description;
  variant.plans = true;
  variant.multiplies_ghosts = true;
  variant.can_overlap = true;
  variant.adds_bias = true;
  variant.tiles = [tile](const ConvLayer&) { return std::vector<TileSizes>{tile}; };
  return variant;
}

// `plan_on` as plan_winograd_apart; `block` of kApartBlocks, with tiles of so many outputs, is what it is tried round.
template <class Plan>
Conv2dVariant apart_variant(const std::string& name, Plan plan_on, int outputs, int block) {
  Conv2dVariant variant = of_three_kernels(
      name, "winograd_apart.cu", "Winograd's method in three kernels: filters of 3 to 5 strides",
      {.C = kApartChannels, .K = kApartBlocks[block].filters, .P = outputs, .Q = outputs});
  variant.takes_groups = true;
  variant.demand = conv::Demand::transformed;
  variant.prepare = planned(
      plan_on, [](const ConvLayer& layer, const ApartPlan& plan, Prepared<ConvLayer>& made) {
        made.packed_floats = plan.packed_floats;
        made.workspace_floats = plan.workspace_floats;
        launch_and_pack(layer, winograd_apart, pack_winograd_apart, plan.division, made);
        made.cost = [layer, plan] { return winograd_apart_cost(layer, plan); };
        made.bias_cost = [layer, plan] { return winograd_apart_bias_cost(layer, plan); };
        made.detail = [plan] {
          const ApartBlock& block = kApartBlocks[plan.division.block];
          return described(block.filters, block.tiles, plan.division.images, plan.workspace_floats);
        };
      });
  return variant;
}

// Calls use(outputs, block) for each of the search.
template <class Use>
void for_each_apart(Use use) {
  for (const int outputs : {4, 3, 2}) {
    for (int block = 0; block < kApartBlockCount; ++block) use(outputs, block);
  }
}

auto apart_plan(int outputs, int block) {
  return [=](const ConvLayer& layer, const gpus::GpuLimits& gpu) {
    return plan_winograd_apart(layer, gpu, kMostTemporaries, block, outputs);
  };
}

}  // namespace

Conv2dVariant winograd_apart(std::int64_t most_floats) {
  const auto plan_on = [=](const ConvLayer& layer, const gpus::GpuLimits& gpu) {
    return plan_winograd_apart(layer, gpu, most_floats);
  };
  // Trials are small, and small layers have the smallest block.
  return apart_variant("winograd_apart", plan_on, kApartShapes[0].outputs, kApartBlockCount - 1);
}

std::vector<Conv2dVariant> winograd_apart_of_each_shape() {
  std::vector<Conv2dVariant> all;
  for_each_apart([&](int outputs, int block) {
    all.push_back(
        apart_variant(apart_name(outputs, block), apart_plan(outputs, block), outputs, block));
  });
  return all;
}

namespace {

// `plan_on` as exact_winograd_split; tiles of so many outputs, and blocks of so many filters, are what it is tried round.
template <class Plan>
Conv2dVariant split_variant(const std::string& name, Plan plan_on, int outputs,
                            int filters = kWarpgroupPixels) {
  Conv2dVariant variant = of_three_kernels(
      name, "winograd_split.cu", "as winograd_apart, products on Hopper's tensor cores",
      {.C = kWarpgroupChannels, .K = filters, .P = outputs, .Q = outputs});
  variant.demand = demand_of(Arithmetic::transform_split);
  variant.prepare = planned(plan_on, [](const ConvLayer& layer, const WinogradSplitPlan& plan,
                                        Prepared<ConvLayer>& made) {
    const WarpgroupPlan& products = plan.products;
    made.packed_floats = plan.packed_floats;
    made.workspace_floats = plan.workspace_floats;
    made.pack = [division = plan.division, numbers = numbers_of(layer)](const float* filters,
                                                                        float* packed) {
      return pack_winograd_apart(filters, packed, numbers, division);
    };
    made.launch = [division = plan.division, products](const Conv2dCall& call) {
      return winograd_split(kernel_call(call), division, products.tile, products.tiles,
                            products.blocks);
    };
    made.cost = [layer, plan] { return winograd_split_cost(layer, plan); };
    made.bias_cost = [layer, plan] { return winograd_split_bias_cost(layer, plan); };
    made.detail = [plan] {
      const WarpgroupTile& tile = plan.products.tile;
      return described(tile.pixels, tile.filters, plan.division.images, plan.workspace_floats);
    };
  });
  return variant;
}

// Calls use(outputs, tiles) for each of the search.
template <class Use>
void for_each_split(Use use) {
  for (const int outputs : {4, 3, 2}) {
    for (const WarpgroupTile& tile : kWinogradSplitTiles) use(outputs, tile);
  }
}

auto split_plan(int outputs, const WarpgroupTile& tile) {
  return [=](const ConvLayer& layer, const gpus::GpuLimits& gpu) {
    return exact_winograd_split(layer, tile, gpu, kMostTemporaries, outputs);
  };
}

}  // namespace

Conv2dVariant winograd_split(std::int64_t most_floats) {
  const auto plan_on = [=](const ConvLayer& layer, const gpus::GpuLimits& gpu) {
    return plan_winograd_split(layer, gpu, most_floats);
  };
  return split_variant("winograd_split", plan_on, kApartShapes[0].outputs);
}

std::vector<Conv2dVariant> winograd_split_of_each_tile() {
  std::vector<Conv2dVariant> all;
  for_each_split([&](int outputs, const WarpgroupTile& tile) {
    all.push_back(split_variant(winograd_split_name(outputs, tile), split_plan(outputs, tile),
                                outputs, tile.pixels));
  });
  return all;
}

std::vector<Contender> winograd_contenders() {
  std::vector<Contender> all;
  const auto add = [&](const std::string& name, auto plan_on, bool tensor_cores = false) {
    all.push_back({name,
                   [plan_on](const ConvLayer& layer, const gpus::GpuLimits& gpu) {
                     const auto plan = plan_on(layer, gpu);
                     return offer_unless(plan.refusal, [&] { return work_of(layer, plan); });
                   },
                   tensor_cores});
  };
  for_each_shape(
      [&](int shape, int parts) { add(winograd_name(shape, parts), shape_plan(shape, parts)); });
  for_each_apart(
      [&](int outputs, int block) { add(apart_name(outputs, block), apart_plan(outputs, block)); });
  for_each_split([&](int outputs, const WarpgroupTile& tile) {
    add(winograd_split_name(outputs, tile), split_plan(outputs, tile), true);
  });
  return all;
}

}  // namespace halo::convolve
