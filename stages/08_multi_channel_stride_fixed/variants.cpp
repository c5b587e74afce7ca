// The variants of stage 08.
#include <stdexcept>
#include <string>

#include "common/gpus/present_gpu.hpp"
#include "common/planning/fourier_plan.hpp"
#include "common/planning/register_tile_plan.hpp"
#include "common/planning/winograd_plan.hpp"
#include "stages/08_multi_channel_stride_fixed/block_plan.hpp"
#include "stages/08_multi_channel_stride_fixed/costs.hpp"
#include "stages/08_multi_channel_stride_fixed/search.hpp"

namespace halo::multi_channel_stride_fixed {

// In 1_channels_divided.cu to 4_stride_fixed.cu. The block is one of block_plan.hpp for the layer.
int channels_divided(const LayerCall& call, const Block& block, int parts);
int filters_divided(const LayerCall& call, const Block& block);
int maps_divided(const LayerCall& call, const Block& block);
int stride_fixed(const LayerCall& call, const Block& block);

// At the ends of 10_outer_product.cu, 11_winograd_f2.cu and 12_fourier_tile.cu.
LayerKernel outer_product();
LayerKernel winograd_f2();
LayerKernel fourier_tile();

// In 5_register_tile.cu.
int register_tile(const LayerCall& call, const RegisterTile& tile);
int register_tile_pack(const float* filters, float* packed, const LayerNumbers& layer);

// In winograd_filters.cu and 6_winograd.cu. The division is one of winograd_plan.hpp for the layer.
int pack_winograd(const float* filters, float* packed, const LayerNumbers& layer,
                  const WinogradDivision& division);
int winograd(const LayerCall& call, const WinogradDivision& division);

// In winograd_filters.cu and 7_winograd_apart.cu.
int pack_winograd_apart(const float* filters, float* packed, const LayerNumbers& layer,
                        const ApartDivision& division);
int winograd_apart(const LayerCall& call, const ApartDivision& division);

// In 8_fourier.cu.
int pack_fourier(const float* filters, float* packed, const LayerNumbers& layer,
                 const FourierDivision& division);
int fourier(const LayerCall& call, const FourierDivision& division);

// In 9_fourier_split.cu.
int fourier_split(const LayerCall& call, const FourierDivision& division);

namespace {

const std::string kFolder = "stages/08_multi_channel_stride_fixed/";

// What all variants have in common: a plan for the layer, which may say no.
template <class Plan, class Launch, class Predict>
Conv2dVariant variant_of(const std::string& name, const std::string& file,
                         const std::string& description, Plan plan, Launch launch,
                         Predict predict) {
  Conv2dVariant variant;
  variant.name = name;
  variant.source = kFolder + file;
  variant.description = description;
  variant.plans = true;
  variant.multiplies_ghosts = true;
  variant.tiles = [](const conv::ConvLayer&) {
    return std::vector<TileSizes>{{.K = kFiltersPerThread}, {.K = kFilters, .cells = kPixels}};
  };
  variant.refuses = [plan](const conv::ConvLayer& layer) {
    return plan(layer, gpus::present_limits()).refusal;
  };
  variant.launch = [plan, launch](const Conv2dCall& c) {
    return launch(kernel_call(c), plan(c.layer, gpus::present_limits()));
  };
  variant.predict = [plan, predict](const conv::ConvLayer& layer) {
    return predict(layer, plan(layer, gpus::present_limits()));
  };
  variant.detail = [plan](const conv::ConvLayer& layer) {
    const BlockPlan made = plan(layer, gpus::present_limits());
    const Block& b = made.block;
    return "tiles of " + std::to_string(b.tile_rows) + " x " + std::to_string(b.tile_columns) +
           " outputs, " + std::to_string(b.filters) + " filters, " + std::to_string(made.threads) +
           " threads, " + std::to_string(made.shared_bytes) + " bytes on chip";
  };
  return variant;
}

// A launch of the block of a plan.
auto with_block(int (*launch)(const LayerCall&, const Block&)) {
  return
      [launch](const LayerCall& call, const BlockPlan& plan) { return launch(call, plan.block); };
}

// The block method with what `plan` says.
template <class Plan>
Conv2dVariant block_method(const std::string& name, const std::string& description, Plan plan) {
  return variant_of(name, "4_stride_fixed.cu", description, plan, with_block(stride_fixed),
                    predict_stride_fixed);
}

// Tiles of registers, as `plan` says.
template <class Plan>
Conv2dVariant tile_variant(const std::string& name, const std::string& description, Plan plan) {
  const auto tile_of = [plan](const conv::ConvLayer& layer) {
    return plan(layer, gpus::present_limits());
  };
  Conv2dVariant variant;
  variant.name = name;
  variant.source = kFolder + "5_register_tile.cu";
  variant.description = description;
  variant.plans = true;
  variant.multiplies_ghosts = true;
  // The tile of small layers; the others are tried as variants of the search.
  variant.tiles = [](const conv::ConvLayer&) {
    return std::vector<TileSizes>{{.C = kSegmentChannels}, {.K = 32, .cells = 64}};
  };
  variant.refuses = [tile_of](const conv::ConvLayer& layer) { return tile_of(layer).refusal; };
  variant.packed_floats = [](const conv::ConvLayer& layer) {
    const PackedFilters order = packed_filters(layer.C(), layer.K(), layer.R(), layer.S());
    return order.floats + order.behind;
  };
  variant.pack = [](const float* filters, float* packed, const conv::ConvLayer& layer) {
    return register_tile_pack(filters, packed, numbers_of(layer));
  };
  variant.launch = [tile_of](const Conv2dCall& call) {
    return register_tile(kernel_call(call), tile_of(call.layer).tile);
  };
  variant.predict = [tile_of](const conv::ConvLayer& layer) {
    return predict_register_tile(layer, tile_of(layer).tile);
  };
  variant.can_overlap = true;
  variant.adds_bias = true;
  variant.predict_bias = [tile_of](const conv::ConvLayer& layer) {
    return bias_of_register_tile(layer, tile_of(layer).tile);
  };
  variant.detail = [tile_of](const conv::ConvLayer& layer) {
    const RegisterTile tile = tile_of(layer).tile;
    const RegisterShape& shape = kRegisterShapes[static_cast<std::size_t>(tile.shape)];
    return "tiles of " + std::to_string(shape.filters) + " filters x " +
           std::to_string(shape.pixels) + " pixels, " + std::to_string(shape.thread_filters) +
           " x " + std::to_string(shape.thread_pixels) + " a thread, " +
           std::to_string(tile.parts) + (tile.parts == 1 ? " part" : " parts");
  };
  return variant;
}

// Winograd's method as `plan` divides a layer, with blocks of these shapes.
template <class Plan>
Conv2dVariant winograd_variant(const std::string& name, const std::string& description, Plan plan,
                               const std::vector<TileSizes>& tiles) {
  const auto plan_of = [plan](const conv::ConvLayer& layer) {
    return plan(layer, gpus::present_limits());
  };
  Conv2dVariant variant;
  variant.name = name;
  variant.source = kFolder + "6_winograd.cu";
  variant.description = "tuned: " + description;
  variant.plans = true;
  variant.demand = conv::Demand::transformed;
  variant.multiplies_ghosts = true;
  variant.tiles = [tiles](const conv::ConvLayer&) { return tiles; };
  variant.refuses = [plan_of](const conv::ConvLayer& layer) { return plan_of(layer).refusal; };
  variant.packed_floats = [plan_of](const conv::ConvLayer& layer) {
    return plan_of(layer).packed_floats;
  };
  variant.pack = [plan_of](const float* filters, float* packed, const conv::ConvLayer& layer) {
    return pack_winograd(filters, packed, numbers_of(layer), plan_of(layer).division);
  };
  variant.launch = [plan_of](const Conv2dCall& c) {
    return winograd(kernel_call(c), plan_of(c.layer).division);
  };
  variant.predict = [plan_of](const conv::ConvLayer& layer) {
    return predict_winograd(layer, plan_of(layer));
  };
  variant.can_overlap = true;
  variant.adds_bias = true;
  variant.predict_bias = [plan_of](const conv::ConvLayer& layer) {
    return bias_of_winograd(layer, plan_of(layer));
  };
  variant.detail = [plan_of](const conv::ConvLayer& layer) {
    const WinogradPlan made = plan_of(layer);
    const WinogradShape& shape = kWinogradShapes[made.division.shape];
    const int parts = made.division.parts;
    return std::to_string(shape.filters) + " filters and " + std::to_string(shape.tiles) +
           " tiles a block, " +
           (parts == 1 ? "" : "channels in " + std::to_string(parts) + " parts, ") +
           std::to_string(made.shared_bytes) + " bytes on chip";
  };
  return variant;
}

TileSizes tile_of(const WinogradShape& shape) {
  return {.C = shape.channels, .K = shape.filters, .P = shape.outputs, .Q = shape.outputs};
}

Conv2dVariant planned_winograd(int outputs, const std::string& description) {
  std::vector<TileSizes> tiles;
  for (const WinogradShape& shape : kWinogradShapes) {
    if (shape.outputs == outputs && shape.taps == 3) tiles.push_back(tile_of(shape));
  }
  const auto plan = [outputs](const conv::ConvLayer& layer, const gpus::GpuLimits& gpu) {
    return plan_winograd(layer, outputs, gpu);
  };
  const std::string size = std::to_string(outputs);
  return winograd_variant("winograd_" + size + "x" + size, description, plan, tiles);
}

// Chang et al.'s N_FMA for a GPU whose latency is known, both ways to count.
std::vector<FmaNeed> needs_of(const gpus::GpuFigures& gpu) {
  return {{"2 FMAs a core and cycle, as printed",
           gpus::fma_to_hide_latency(gpu, gpus::FmaCount::as_printed)},
          {"1 FMA, as the hardware counts",
           gpus::fma_to_hide_latency(gpu, gpus::FmaCount::as_hardware)}};
}

std::string plan_text(const conv::ConvLayer& layer, const std::string& key) {
  std::string name = "the present GPU, whose latency nobody told us: N_FMA only with --gpu";
  gpus::GpuLimits limits;
  std::vector<FmaNeed> needs;
  if (!key.empty()) {
    const gpus::GpuFigures& gpu = gpus::built_in_gpu(key);
    name = gpu.name;
    limits = gpus::limits_of(gpu);
    needs = needs_of(gpu);
  } else {
    limits = gpus::present_limits();
    for (const gpus::GpuFigures& gpu : gpus::built_in_gpus()) {
      if (gpus::limits_of(gpu) != limits) continue;
      name = gpu.name;
      needs = needs_of(gpu);
    }
  }
  return name + ", layer " + conv::label(layer) + "\n" + explain(layer, kSegment32, limits, needs) +
         explain(layer, kSegment64, limits, needs);
}

}  // namespace

void complete(Conv2dStage& stage) {
  stage.plan = plan_text;

  Conv2dVariant channels = variant_of(
      "channels_divided", "1_channels_divided.cu",
      "the channels divided over the SMs, partial sums added by a second kernel",
      plan_channels_divided,
      [](const LayerCall& call, const BlockPlan& plan) {
        return channels_divided(call, plan.block, plan.parts);
      },
      predict_channels_divided);
  channels.workspace_floats = [](const conv::ConvLayer& layer) {
    return plan_channels_divided(layer, gpus::present_limits()).parts * layer.output_size();
  };

  stage.variants = {
      channels,
      variant_of("filters_divided", "2_filters_divided.cu",
                 "only the filters divided: they stay on chip, every block reads all maps",
                 plan_filters_divided, with_block(filters_divided), predict_filters_divided),
      variant_of("maps_divided", "3_maps_divided.cu",
                 "only the maps divided: they stay on chip, every block reads all filters",
                 plan_maps_divided, with_block(maps_divided), predict_maps_divided),
      block_method("block_filter", "both divided, segments of one channel's filter",
                   [](const conv::ConvLayer& layer, const gpus::GpuLimits& gpu) {
                     return plan_blocks(layer, layer.R() * layer.S(), gpu);
                   }),
      block_method("block_128", "both divided, segments of 128 bytes, fewer filters",
                   [](const conv::ConvLayer& layer, const gpus::GpuLimits& gpu) {
                     return plan_blocks(layer, kSegment128, gpu, kPixels, kFiltersOf128);
                   }),
      block_method("stride_fixed_32", "both divided, segments of 32 bytes",
                   [](const conv::ConvLayer& layer, const gpus::GpuLimits& gpu) {
                     return plan_blocks(layer, kSegment32, gpu);
                   }),
      block_method("stride_fixed_64", "both divided, segments of 64 bytes",
                   [](const conv::ConvLayer& layer, const gpus::GpuLimits& gpu) {
                     return plan_blocks(layer, kSegment64, gpu);
                   }),
      tile_variant("register_tile", "tuned: tiles of registers, segments of 16 channels of one tap",
                   plan_register_tile),
      planned_winograd(2, "Winograd's method, tiles of 2 x 2 outputs: 3 x 3 and 5 x 5 filters"),
      planned_winograd(4, "Winograd's method, tiles of 4 x 4 outputs: 3 x 3 filters"),
      winograd_apart_within(planning::kMostTemporaries, kBestBlock),
      fourier_within(0, planning::kMostTemporaries),
      fourier_split_within(0, planning::kMostTemporaries),
  };
  add(stage, "outer_product", (kFolder + "10_outer_product.cu").c_str(), outer_product());
  stage.variants.back().predict = predict_outer_product;
  add(stage, "winograd_f2", (kFolder + "11_winograd_f2.cu").c_str(), winograd_f2());
  stage.variants.back().predict = predict_winograd_f2;
  add(stage, "fourier_tile", (kFolder + "12_fourier_tile.cu").c_str(), fourier_tile());
  stage.variants.back().predict = predict_fourier_tile;
  for (const int size : kFourierSizes) {
    stage.searched.push_back(fourier_within(size, planning::kMostTemporaries));
    stage.searched.push_back(fourier_split_within(size, planning::kMostTemporaries));
  }
  for (const int bytes : {32, 64}) {
    for (Conv2dVariant& variant : search(bytes)) stage.searched.push_back(std::move(variant));
  }
  for (Conv2dVariant& variant : search_tiles()) stage.searched.push_back(std::move(variant));
  for (int shape = 0; shape < kWinogradShapeCount; ++shape) {
    for (int parts = 1; parts <= kMostWinogradParts; parts *= 2) {
      const auto plan = [=](const conv::ConvLayer& layer, const gpus::GpuLimits& gpu) {
        return exact_winograd(layer, shape, parts, gpu);
      };
      stage.searched.push_back(winograd_variant(winograd_name(shape, parts),
                                                "Winograd's method with one shape of blocks", plan,
                                                {tile_of(kWinogradShapes[shape])}));
    }
  }
}

namespace {

// Transforms there and back and products between, as `plan_of` divides a layer.
template <class PlanOf, class Pack, class Run, class Predict, class Bias>
Conv2dVariant in_three_kernels(PlanOf plan_of, Pack pack, Run run, Predict predict, Bias bias) {
  Conv2dVariant variant;
  variant.multiplies_ghosts = true;
  variant.refuses = [=](const conv::ConvLayer& layer) { return plan_of(layer).refusal; };
  variant.packed_floats = [=](const conv::ConvLayer& layer) {
    return plan_of(layer).packed_floats;
  };
  variant.workspace_floats = [=](const conv::ConvLayer& layer) {
    return plan_of(layer).workspace_floats;
  };
  variant.pack = [=](const float* filters, float* packed, const conv::ConvLayer& layer) {
    return pack(filters, packed, numbers_of(layer), plan_of(layer).division);
  };
  variant.launch = [=](const Conv2dCall& c) {
    return run(kernel_call(c), plan_of(c.layer).division);
  };
  variant.predict = [=](const conv::ConvLayer& layer) { return predict(layer, plan_of(layer)); };
  variant.adds_bias = true;
  variant.predict_bias = [=](const conv::ConvLayer& layer) { return bias(layer, plan_of(layer)); };
  return variant;
}

std::string describe(const FourierPlan& plan, int block_tiles) {
  const FourierDivision& d = plan.division;
  const std::string cells = std::to_string(d.size);
  return "tiles of " + cells + " x " + cells + " cells, blocks of " + std::to_string(d.side) +
         " filters x " + std::to_string(block_tiles) + " tiles, " + std::to_string(d.images) +
         (d.images == 1 ? " image" : " images") + " at a time, " +
         std::to_string(plan.workspace_floats * 4) + " bytes of temporaries";
}

}  // namespace

Conv2dVariant winograd_apart_within(std::int64_t most_floats, int block) {
  const auto plan_of = [=](const conv::ConvLayer& layer) {
    return plan_winograd_apart(layer, gpus::present_limits(), most_floats, block);
  };
  Conv2dVariant variant = in_three_kernels(plan_of, pack_winograd_apart, winograd_apart,
                                           predict_winograd_apart, bias_of_winograd_apart);
  variant.name = "winograd_apart";
  variant.plans = true;
  variant.can_overlap = true;
  variant.source = kFolder + "7_winograd_apart.cu";
  variant.description = "tuned: Winograd's method in three kernels: filters of 3 to 5 strides";
  variant.demand = conv::Demand::transformed;
  variant.tiles = [](const conv::ConvLayer&) {
    return std::vector<TileSizes>{{.C = kApartChannels, .K = 64, .P = 4, .Q = 4}};
  };
  variant.detail = [plan_of](const conv::ConvLayer& layer) {
    const ApartPlan made = plan_of(layer);
    const std::string images = std::to_string(made.division.images);
    const ApartBlock& block = kApartBlocks[made.division.block];
    return "blocks of " + std::to_string(block.filters) + " filters x " +
           std::to_string(block.tiles) + " tiles, " + images +
           (made.division.images == 1 ? " image" : " images") + " at a time, " +
           std::to_string(made.workspace_floats * 4) + " bytes of temporaries";
  };
  return variant;
}

Conv2dVariant fourier_within(int size, std::int64_t most_floats) {
  const auto plan_of = [=](const conv::ConvLayer& layer) {
    return size == 0 ? plan_fourier(layer, most_floats) : exact_fourier(layer, size, most_floats);
  };
  Conv2dVariant variant =
      in_three_kernels(plan_of, pack_fourier, fourier, predict_fourier, bias_of_fourier);
  variant.name = size == 0 ? "fourier" : fourier_name(size);
  variant.source = kFolder + "8_fourier.cu";
  variant.description = "tuned: Fourier's transform in three kernels: filters of any size";
  variant.demand = conv::Demand::transformed;
  variant.tiles = [](const conv::ConvLayer&) {
    return std::vector<TileSizes>{{.C = kFourierChannels, .K = 32, .P = 14, .Q = 14}};
  };
  variant.detail = [plan_of](const conv::ConvLayer& layer) {
    const FourierPlan made = plan_of(layer);
    return describe(made, made.division.side);
  };
  return variant;
}

Conv2dVariant fourier_split_within(int size, std::int64_t most_floats) {
  const auto plan_of = [=](const conv::ConvLayer& layer) {
    const gpus::GpuLimits gpu = gpus::present_limits();
    return size == 0 ? plan_fourier_split(layer, gpu, most_floats)
                     : exact_fourier_split(layer, size, gpu, most_floats);
  };
  Conv2dVariant variant = in_three_kernels(plan_of, pack_fourier, fourier_split,
                                           predict_fourier_split, bias_of_fourier);
  variant.name = size == 0 ? "fourier_split" : fourier_split_name(size);
  variant.source = kFolder + "9_fourier_split.cu";
  variant.description = "tuned: Fourier's transform, tensor cores, factors in two parts of TF32";
  variant.demand = demand_of(Arithmetic::transform_split);
  variant.plans = true;
  variant.tiles = [](const conv::ConvLayer&) {
    // 33 filters are a block of 64.
    return std::vector<TileSizes>{{.C = kFourierChannels, .K = 32, .P = 14, .Q = 14}};
  };
  variant.detail = [plan_of](const conv::ConvLayer& layer) {
    return describe(plan_of(layer), kSplitTiles);
  };
  return variant;
}

std::vector<Conv2dVariant> search(int segment_bytes) {
  if (segment_bytes != 32 && segment_bytes != 64) {
    throw std::invalid_argument("the stride-fixed method has segments of 32 or 64 bytes");
  }
  std::vector<Conv2dVariant> variants;
  for (const int pixels : {32, 64, 128, 256}) {
    for (const int filters : {16, 32, 64, 128}) {
      if (pixels * (filters / kFiltersPerThread) > 1024) continue;
      const std::string name = "stride_fixed_" + std::to_string(segment_bytes) + "_w" +
                               std::to_string(pixels) + "_m" + std::to_string(filters);
      variants.push_back(
          block_method(name, "the search for W'x and M'",
                       [=](const conv::ConvLayer& layer, const gpus::GpuLimits& gpu) {
                         return exact_block(layer, segment_bytes / 4, pixels, filters, gpu);
                       }));
    }
  }
  return variants;
}

std::vector<Conv2dVariant> search_tiles() {
  std::vector<Conv2dVariant> variants;
  for (const ShapeAndParts& one : kRegisterContenders) {
    variants.push_back(
        tile_variant(register_tile_name(one), "the search for tile and parts",
                     [one](const conv::ConvLayer& layer, const gpus::GpuLimits& gpu) {
                       return exact_register_tile(layer, one.shape, one.parts, gpu);
                     }));
  }
  return variants;
}

}  // namespace halo::multi_channel_stride_fixed
