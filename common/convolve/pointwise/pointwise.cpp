#include "common/convolve/pointwise/pointwise.hpp"

#include "common/convolve/packed_filters.hpp"
#include "common/convolve/planned.hpp"
#include "common/convolve/pointwise/plan.hpp"

namespace halo::convolve {

// In pointwise.cu.
int pointwise(const LayerCall& call, const PointwiseTile& tile, int groups);

namespace {

using conv::ConvLayer;

constexpr int kResident = 5;  // blocks of 128 threads and about 100 registers

auto tiles_of(const PointwiseTile& tile) {
  return [tile](const ConvLayer&) {
    return std::vector<TileSizes>{{.K = tile.block_filters(), .cells = tile.block_pixels()}};
  };
}

// With the tile that `tile_of` says.
template <class TileOf>
Conv2dVariant variant_of(const std::string& name, TileOf tile_of) {
  struct Plan {
    std::string refusal;
    PointwiseTile tile;
  };
  Conv2dVariant v;
  v.name = name;
  v.source = "common/convolve/pointwise/pointwise.cu";
  v.description = "tuned: 1 x 1 filters, several pixels and filters per thread, sums in registers";
  v.takes_groups = true;
  v.can_overlap = true;
  v.adds_bias = true;
  const auto plan_on = [tile_of](const ConvLayer& layer, const gpus::GpuLimits& gpu) {
    const PointwiseTile tile = tile_of(layer, gpu);
    return Plan{refuses(layer, tile, gpu), tile};
  };
  v.prepare =
      planned(plan_on, [](const ConvLayer& layer, const Plan& plan, Prepared<ConvLayer>& made) {
        const PointwiseTile tile = plan.tile;
        const int groups = layer.groups();
        LayerNumbers numbers = numbers_of(layer);  // of a group
        numbers.C /= groups, numbers.K /= groups;
        const int pitch = packed_pitch(numbers.K);
        made.packed_floats = std::int64_t{layer.C()} * pitch;
        made.pack = [numbers, pitch, groups](const float* filters, float* packed) {
          const std::int64_t floats = std::int64_t{numbers.C} * pitch;
          int failed = 0;
          for (int group = 0; group < groups && failed == 0; ++group) {
            failed = pack_filters(filters, packed, numbers, numbers.C, pitch, floats);
            filters += std::int64_t{numbers.K} * numbers.C, packed += floats;
          }
          return failed;
        };
        made.launch = [tile, groups](const Conv2dCall& c) {
          return pointwise(kernel_call(c), tile, groups);
        };
        made.cost = [layer, tile] { return pointwise_cost(layer, tile); };
        made.bias_cost = [layer, tile] { return pointwise_bias_cost(layer, tile); };
        made.detail = [tile, blocks = blocks_of(layer, tile)] {
          return std::to_string(blocks) + (blocks == 1 ? " block of " : " blocks of ") +
                 std::to_string(tile.block_pixels()) + " pixels and " +
                 std::to_string(tile.block_filters()) + " filters";
        };
      });
  return v;
}

}  // namespace

Conv2dVariant pointwise() {
  Conv2dVariant variant = variant_of("pointwise", plan_pointwise);
  variant.plans = true;
  variant.tiles = tiles_of(pointwise_tiles().front());
  return variant;
}

std::vector<Conv2dVariant> pointwise_of_each_tile() {
  std::vector<Conv2dVariant> all;
  for (const PointwiseTile& tile : pointwise_tiles()) {
    all.push_back(variant_of(name_of(tile),
                             [tile](const ConvLayer&, const gpus::GpuLimits&) { return tile; }));
    all.back().tiles = tiles_of(tile);
  }
  return all;
}

std::vector<Contender> pointwise_contenders() {
  std::vector<Contender> all;
  for (const PointwiseTile& tile : pointwise_tiles()) {
    all.push_back({name_of(tile), [tile](const ConvLayer& layer, const gpus::GpuLimits& gpu) {
                     return offer_unless(refuses(layer, tile, gpu), [&] {
                       LaunchWork work;
                       work.blocks = static_cast<double>(blocks_of(layer, tile));
                       work.resident = kResident;
                       work.steps = layer.filter_channels();
                       work.megabytes = 4e-6 * (work.blocks * work.steps *
                                                    (tile.block_pixels() + tile.block_filters()) +
                                                static_cast<double>(layer.output_size()));
                       return work;
                     });
                   }});
  }
  return all;
}

}  // namespace halo::convolve
