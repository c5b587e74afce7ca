#include "common/convolve/register_tile/register_tile.hpp"

#include <string>

#include "common/convolve/planned.hpp"
#include "common/convolve/register_tile/plan.hpp"

namespace halo::convolve {

// In register_tile.cu.
int register_tile(const LayerCall& call, const RegisterTile& tile);
int register_tile_pack(const float* filters, float* packed, const LayerNumbers& layer);

namespace {

using conv::ConvLayer;

// As `plan` says.
template <class Plan>
Conv2dVariant variant_of(const std::string& name, const std::string& description, Plan plan) {
  Conv2dVariant variant;
  variant.name = name;
  variant.source = "common/convolve/register_tile/register_tile.cu";
  variant.description = description;
  variant.plans = true;
  variant.multiplies_ghosts = true;
  variant.can_overlap = true;
  variant.adds_bias = true;
  // The tile of small layers; the others are tried as variants of the search.
  variant.tiles = [](const ConvLayer&) {
    return std::vector<TileSizes>{{.C = kSegmentChannels}, {.K = 32, .cells = 64}};
  };
  variant.prepare = planned(plan, [](const ConvLayer& layer, const RegisterTilePlan& planned,
                                     Prepared<ConvLayer>& made) {
    const RegisterTile tile = planned.tile;
    const PackedFilters order = packed_filters(layer.C(), layer.K(), layer.R(), layer.S());
    made.packed_floats = order.floats + order.behind;
    made.pack = [numbers = numbers_of(layer)](const float* filters, float* packed) {
      return register_tile_pack(filters, packed, numbers);
    };
    made.launch = [tile](const Conv2dCall& call) { return register_tile(kernel_call(call), tile); };
    made.cost = [layer, tile] { return register_tile_cost(layer, tile); };
    made.bias_cost = [layer, tile] { return register_tile_bias_cost(layer, tile); };
    made.detail = [tile] {
      const RegisterShape& shape = kRegisterShapes[static_cast<std::size_t>(tile.shape)];
      return "tiles of " + std::to_string(shape.filters) + " filters x " +
             std::to_string(shape.pixels) + " pixels, " + std::to_string(shape.thread_filters) +
             " x " + std::to_string(shape.thread_pixels) + " per thread, " +
             std::to_string(tile.parts) + (tile.parts == 1 ? " part" : " parts");
    };
  });
  return variant;
}

}  // namespace

Conv2dVariant register_tile() {
  return variant_of("register_tile",
                    "tuned: tiles of registers, segments of 16 channels of one tap",
                    plan_register_tile);
}

std::vector<Conv2dVariant> register_tile_of_each_shape() {
  std::vector<Conv2dVariant> variants;
  for (const ShapeAndParts& one : kRegisterContenders) {
    variants.push_back(variant_of(register_tile_name(one), "the search for tile and parts",
                                  [one](const ConvLayer& layer, const gpus::GpuLimits& gpu) {
                                    return exact_register_tile(layer, one.shape, one.parts, gpu);
                                  }));
  }
  return variants;
}

std::vector<Contender> register_tile_contenders() {
  std::vector<Contender> all;
  for (const ShapeAndParts& one : kRegisterContenders) {
    all.push_back({register_tile_name(one), [one](const ConvLayer& l, const gpus::GpuLimits& gpu) {
                     const auto plan = exact_register_tile(l, one.shape, one.parts, gpu);
                     return offer_unless(plan.refusal, [&] { return work_of(l, plan.tile); });
                   }});
  }
  return all;
}

}  // namespace halo::convolve
