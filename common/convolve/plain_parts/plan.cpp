#include "common/convolve/plain_parts/plan.hpp"

#include <numeric>

#include "common/conv/quotient.hpp"
#include "common/convolve/slices.hpp"
#include "common/harness/traffic/tally.hpp"

namespace halo::convolve {

namespace {

using conv::ConvLayer;

constexpr int kThreads = 256;

// A launch for each group, and each takes as long as any: for few groups of long sums. Of one image, which grouped can't
// divide, for shorter ones too. Measured on an H200.
constexpr int kMostGroups = 4;
constexpr std::int64_t kLongSum = 512, kLongSumOfOneImage = 64;

// An axis, and the plain layer's numbers along it.
struct PlainAxis {
  PartsAxis axis;
  std::int64_t cells, stride, padding;
};

PlainAxis plain_axis(int cells, int taps, int outputs, int stride, int padding, int dilation) {
  if (dilation == 1) {
    return {{cells, outputs, stride, 0, 1, 1, cells, outputs}, cells, stride, padding};
  }
  const int common = std::gcd(stride, dilation);
  const int phases = dilation / common, own_stride = stride / common;
  const int own_outputs = static_cast<int>(quotient_up(outputs, phases));
  const int own_cells = (own_outputs - 1) * own_stride + taps;
  return {{cells, outputs, stride, padding, dilation, phases, own_cells, own_outputs},
          own_cells,
          own_stride,
          0};
}

}  // namespace

PartsPlan plan_parts(const ConvLayer& layer) {
  PartsPlan plan;
  if (conv::refusal_of_groups(layer).empty() && conv::refusal_of_dilation(layer).empty()) {
    plan.refusal = "it is made for layers with groups or dilation";
    return plan;
  }
  const PlainAxis down = plain_axis(layer.H(), layer.R(), layer.P(), layer.stride_h(),
                                    layer.padding_h(), layer.dilation_h());
  const PlainAxis across = plain_axis(layer.W(), layer.S(), layer.Q(), layer.stride_w(),
                                      layer.padding_w(), layer.dilation_w());
  conv::LayerShape shape = layer.shape();
  shape.C /= shape.groups, shape.K /= shape.groups;
  shape.H = down.cells, shape.stride_h = down.stride, shape.padding_h = down.padding;
  shape.W = across.cells, shape.stride_w = across.stride, shape.padding_w = across.padding;
  shape.groups = shape.dilation_h = shape.dilation_w = 1;
  const std::int64_t phases = std::int64_t{down.axis.phases} * across.axis.phases;
  const double outputs = 1.0 * shape.K * down.axis.plain_outputs * across.axis.plain_outputs;
  const double of_image = static_cast<double>(phases * layer.groups()) *
                          (static_cast<double>(shape.C * shape.H) * shape.W + outputs);
  int images = layer.N();
  while (images > 0 && (layer.N() % images != 0 || images * of_image > kMostTemporaries)) --images;
  if (images == 0) {
    plan.refusal = "the temporaries of one image are more than " +
                   std::to_string(4 * kMostTemporaries) + " bytes";
    return plan;
  }
  plan.slices = layer.N() / images;
  shape.N = images * phases;
  plan.plain.emplace(shape);
  const std::int64_t input = plan.plain->input_size(), output = plan.plain->output_size();
  plan.in_place = phases == 1 && layer.N() == 1 && layer.dilation_h() == 1 &&
                  layer.dilation_w() == 1 && input == rounded_up(input, kAlignment) &&
                  output == rounded_up(output, kAlignment);
  plan.division = {images,
                   layer.groups(),
                   static_cast<int>(shape.C),
                   static_cast<int>(shape.K),
                   static_cast<int>(rounded_up(input, kAlignment)),
                   static_cast<int>(rounded_up(output, kAlignment)),
                   down.axis,
                   across.axis};
  if (!plan.in_place) {
    plan.gathered = layer.groups() * rounded_up(input, kAlignment);
    plan.sums = layer.groups() * rounded_up(output, kAlignment);
  }
  return plan;
}

std::string better_grouped(const ConvLayer& layer) {
  if (layer.groups() == 1) return {};
  const std::int64_t least = layer.N() == 1 ? kLongSumOfOneImage : kLongSum;
  return layer.groups() <= kMostGroups && layer.products_per_output() >= least
             ? ""
             : "a launch for each of these groups takes longer than one for all";
}

namespace {

// Where the cells of the sums lie.
Lanes sums_of(const ConvLayer& layer, const PartsDivision& d, Cells warp) {
  const std::int64_t P = layer.P(), Q = layer.Q();
  return lanes(warp, [&](std::int64_t at) {
    const std::int64_t q = at % Q, p = at / Q % P;
    const std::int64_t k = at / Q / P % layer.K(), n = at / Q / P / layer.K();
    const std::int64_t a = p % d.down.phases.value, b = q % d.across.phases.value;
    const std::int64_t image = (n * d.down.phases.value + a) * d.across.phases.value + b;
    const std::int64_t row =
        (image * d.filters.value + k % d.filters.value) * d.down.plain_outputs.value +
        p / d.down.phases.value;
    return k / d.filters.value * d.output_pitch.value + row * d.across.plain_outputs.value +
           q / d.across.phases.value;
  });
}

void add_scatter(Tally& tally, const ConvLayer& layer, const PartsPlan& plan) {
  const std::int64_t outputs = layer.output_size() / plan.slices;
  tally.launch(quotient_up(outputs, kThreads), kThreads, 0, plan.slices);
  for (const Cells warp : Cells{0, outputs}.pieces(kWarpSize)) {
    tally.load(sums_of(layer, plan.division, warp), plan.slices);
    tally.store(warp, every(outputs, plan.slices));
  }
}

}  // namespace

Cost parts_cost(const ConvLayer& layer, const PartsPlan& plan) {
  Tally tally;
  if (plan.in_place) return tally.cost();
  const PartsDivision& d = plan.division;
  const std::int64_t H = layer.H(), W = layer.W();
  tally.launch(quotient_up(plan.gathered, kThreads), kThreads, 0, plan.slices);
  const Times slices = every(layer.input_size() / plan.slices, plan.slices);
  for (const Cells warp : Cells{0, plan.gathered}.pieces(kWarpSize)) {
    tally.load(lanes(warp,
                     [&](std::int64_t cell) {
                       const std::int64_t group = cell / d.input_pitch.value;
                       cell %= d.input_pitch.value;
                       const std::int64_t j = cell % d.across.plain_cells.value;
                       cell /= d.across.plain_cells.value;
                       const std::int64_t i = cell % d.down.plain_cells.value;
                       cell /= d.down.plain_cells.value;
                       const std::int64_t c = cell % d.channels.value;
                       cell /= d.channels.value;
                       const std::int64_t b = cell % d.across.phases.value;
                       cell /= d.across.phases.value;
                       const std::int64_t a = cell % d.down.phases.value;
                       const std::int64_t n = cell / d.down.phases.value;
                       const std::int64_t h =
                           i * d.down.dilation + a * d.down.stride - d.down.padding;
                       const std::int64_t w =
                           j * d.across.dilation + b * d.across.stride - d.across.padding;
                       const bool exists = n < d.images.value && h >= 0 && h < H && w >= 0 && w < W;
                       const std::int64_t map = n * layer.C() + group * d.channels.value + c;
                       return exists ? (map * H + h) * W + w : kNoCell;
                     }),
               slices);
    tally.store(warp, plan.slices);
  }
  add_scatter(tally, layer, plan);
  return tally.cost();
}

Cost parts_bias_cost(const ConvLayer& layer, const PartsPlan& plan) {
  Tally tally;
  if (plan.in_place) add_scatter(tally, layer, plan);
  const std::int64_t plane = std::int64_t{layer.P()} * layer.Q();
  for (const Cells warp : Cells{0, layer.output_size() / plan.slices}.pieces(kWarpSize)) {
    tally.load(lanes(warp, [&](std::int64_t at) { return at / plane % layer.K(); }), plan.slices);
  }
  return tally.cost();
}

}  // namespace halo::convolve
