// The variants of stage 08.
#include <stdexcept>
#include <string>

#include "common/convolve/fourier/fourier.hpp"
#include "common/convolve/planned.hpp"
#include "common/convolve/register_tile/register_tile.hpp"
#include "common/convolve/winograd/winograd.hpp"
#include "common/gpus/present_gpu.hpp"
#include "stages/08_multi_channel_stride_fixed/block_plan.hpp"
#include "stages/08_multi_channel_stride_fixed/costs.hpp"
#include "stages/08_multi_channel_stride_fixed/search.hpp"

namespace halo::multi_channel_stride_fixed {

// In 1_channels_divided.cu to 4_stride_fixed.cu. The block is one of block_plan.hpp for the layer.
int channels_divided(const LayerCall& call, const Block& block, int parts);
int filters_divided(const LayerCall& call, const Block& block);
int maps_divided(const LayerCall& call, const Block& block);
int stride_fixed(const LayerCall& call, const Block& block);

// At the ends of 5_outer_product.cu, 6_winograd_f2.cu and 7_fourier_tile.cu.
LayerKernel outer_product();
LayerKernel winograd_f2();
LayerKernel fourier_tile();

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
  variant.prepare = convolve::planned(plan, [launch, predict](const conv::ConvLayer& layer,
                                                              const BlockPlan& made,
                                                              Prepared<conv::ConvLayer>& prepared) {
    prepared.workspace_floats = made.workspace_floats;
    prepared.launch = [launch, made](const Conv2dCall& c) { return launch(kernel_call(c), made); };
    prepared.cost = [predict, layer, made] { return predict(layer, made); };
    prepared.detail = [made] {
      const Block& b = made.block;
      return "tiles of " + std::to_string(b.tile_rows) + " x " + std::to_string(b.tile_columns) +
             " outputs, " + std::to_string(b.filters) + " filters, " +
             std::to_string(made.threads) + " threads, " + std::to_string(made.shared_bytes) +
             " bytes on chip";
    };
  });
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

// Chang et al.'s N_FMA for a GPU whose latency is known, both ways to count.
std::vector<FmaNeed> needs_of(const gpus::GpuFigures& gpu) {
  return {{"2 FMAs per core and cycle, as printed",
           gpus::fma_to_hide_latency(gpu, gpus::FmaCount::as_printed)},
          {"1 FMA, as the hardware counts",
           gpus::fma_to_hide_latency(gpu, gpus::FmaCount::as_hardware)}};
}

std::string plan_text(const conv::ConvLayer& layer, const std::string& key) {
  std::string name = "the present GPU, whose latency is unknown: N_FMA only with --gpu";
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

  stage.variants = {
      variant_of(
          "channels_divided", "1_channels_divided.cu",
          "the channels divided over the SMs, partial sums added by a second kernel",
          plan_channels_divided,
          [](const LayerCall& call, const BlockPlan& plan) {
            return channels_divided(call, plan.block, plan.parts);
          },
          predict_channels_divided),
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
      convolve::register_tile(),
      convolve::winograd(2),
      convolve::winograd(4),
      convolve::winograd_apart(),
      convolve::winograd_split(),
      convolve::fourier(),
      convolve::fourier_split(),
  };
  add(stage, "outer_product", (kFolder + "5_outer_product.cu").c_str(), outer_product());
  stage.variants.back().must_cost(predict_outer_product);
  add(stage, "winograd_f2", (kFolder + "6_winograd_f2.cu").c_str(), winograd_f2());
  stage.variants.back().must_cost(predict_winograd_f2);
  add(stage, "fourier_tile", (kFolder + "7_fourier_tile.cu").c_str(), fourier_tile());
  stage.variants.back().must_cost(predict_fourier_tile);
  for (const int bytes : {32, 64}) {
    for (Conv2dVariant& variant : search(bytes)) stage.searched.push_back(std::move(variant));
  }
  for (const std::vector<Conv2dVariant>& method :
       {convolve::fourier_of_each_size(), convolve::register_tile_of_each_shape(),
        convolve::winograd_of_each_shape()}) {
    stage.searched.insert(stage.searched.end(), method.begin(), method.end());
  }
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

}  // namespace halo::multi_channel_stride_fixed
