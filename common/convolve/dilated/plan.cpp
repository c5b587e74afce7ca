#include "common/convolve/dilated/plan.hpp"

#include <numeric>

#include "common/conv/quotient.hpp"
#include "common/convolve/slices.hpp"
#include "common/harness/traffic/tally.hpp"

namespace halo::convolve {

namespace {

using conv::ConvLayer;

constexpr int kThreads = 256;

// So many phases, and the plain layer's stride.
struct Phases {
  int count, stride;
};
Phases phases_of(int stride, int dilation) {
  const int common = std::gcd(stride, dilation);
  return {dilation / common, stride / common};
}

DilatedAxis axis_of(int cells, int outputs, int stride, int padding, int dilation,
                    std::int64_t plain_cells, std::int64_t plain_outputs) {
  return {cells,
          outputs,
          stride,
          padding,
          dilation,
          phases_of(stride, dilation).count,
          static_cast<int>(plain_cells),
          static_cast<int>(plain_outputs)};
}

std::int64_t whole_256_bytes(std::int64_t floats) { return (floats + 63) / 64 * 64; }

}  // namespace

DilatedPlan plan_dilated(const ConvLayer& layer) {
  DilatedPlan plan;
  if (layer.groups() > 1 || conv::refusal_of_sparse(layer).empty()) {
    plan.refusal = "it is made for layers with dilation and one group";
    return plan;
  }
  const Phases down = phases_of(layer.stride_h(), layer.dilation_h());
  const Phases across = phases_of(layer.stride_w(), layer.dilation_w());
  conv::LayerShape shape = layer.shape();
  const std::int64_t P = quotient_up(layer.P(), down.count);
  const std::int64_t Q = quotient_up(layer.Q(), across.count);
  shape.H = (P - 1) * down.stride + layer.R();
  shape.W = (Q - 1) * across.stride + layer.S();
  shape.stride_h = down.stride, shape.stride_w = across.stride;
  shape.padding_h = shape.padding_w = 0;
  shape.dilation_h = shape.dilation_w = 1;
  const auto temporaries = [&](std::int64_t images) {
    const double batch = static_cast<double>(images) * down.count * across.count;
    return batch * (static_cast<double>(shape.C * shape.H) * static_cast<double>(shape.W) +
                    static_cast<double>(shape.K * P) * static_cast<double>(Q));
  };
  int images = layer.N();
  while (images > 0 && (layer.N() % images != 0 || temporaries(images) > kMostTemporaries)) {
    --images;
  }
  if (images == 0) {
    plan.refusal = "the temporaries of one image are more than " +
                   std::to_string(4 * kMostTemporaries) + " bytes";
    return plan;
  }
  plan.slices = layer.N() / images;
  shape.N = std::int64_t{images} * down.count * across.count;
  plan.plain.emplace(shape);
  plan.division = {images, layer.C(), layer.K(),
                   axis_of(layer.H(), layer.P(), layer.stride_h(), layer.padding_h(),
                           layer.dilation_h(), shape.H, P),
                   axis_of(layer.W(), layer.Q(), layer.stride_w(), layer.padding_w(),
                           layer.dilation_w(), shape.W, Q)};
  plan.gathered = whole_256_bytes(plan.plain->input_size());
  plan.sums = whole_256_bytes(plan.plain->output_size());
  return plan;
}

Cost dilated_cost(const ConvLayer& layer, const DilatedPlan& plan) {
  const DilatedDivision& d = plan.division;
  const std::int64_t H = layer.H(), W = layer.W(), P = layer.P(), Q = layer.Q();
  const std::int64_t cells = plan.plain->input_size(), outputs = layer.output_size() / plan.slices;
  Tally tally;
  tally.launch(quotient_up(cells, kThreads), kThreads, 0, plan.slices);
  tally.launch(quotient_up(outputs, kThreads), kThreads, 0, plan.slices);
  // Slices are alike but for where they begin.
  for (std::int64_t slice = 0; slice < plan.slices; ++slice) {
    const std::int64_t first_cell = slice * (layer.input_size() / plan.slices);
    for (const Cells warp : Cells{0, cells}.pieces(kWarpSize)) {
      tally.load(lanes(warp, [&](std::int64_t cell) {
        const std::int64_t j = cell % d.across.plain_cells.value;
        cell /= d.across.plain_cells.value;
        const std::int64_t i = cell % d.down.plain_cells.value;
        cell /= d.down.plain_cells.value;
        const std::int64_t c = cell % layer.C();
        cell /= layer.C();
        const std::int64_t b = cell % d.across.phases.value;
        cell /= d.across.phases.value;
        const std::int64_t a = cell % d.down.phases.value;
        const std::int64_t n = cell / d.down.phases.value;
        const std::int64_t h = i * d.down.dilation + a * d.down.stride - d.down.padding;
        const std::int64_t w = j * d.across.dilation + b * d.across.stride - d.across.padding;
        const bool exists = h >= 0 && h < H && w >= 0 && w < W;
        return exists ? first_cell + ((n * layer.C() + c) * H + h) * W + w : kNoCell;
      }));
      tally.store(warp);
    }
    for (const Cells warp : Cells{0, outputs}.pieces(kWarpSize)) {
      tally.load(lanes(warp, [&](std::int64_t at) {
        const std::int64_t q = at % Q, p = at / Q % P;
        const std::int64_t k = at / Q / P % layer.K(), n = at / Q / P / layer.K();
        const std::int64_t a = p % d.down.phases.value, b = q % d.across.phases.value;
        const std::int64_t image = (n * d.down.phases.value + a) * d.across.phases.value + b;
        const std::int64_t row =
            (image * layer.K() + k) * d.down.plain_outputs.value + p / d.down.phases.value;
        return row * d.across.plain_outputs.value + q / d.across.phases.value;
      }));
      tally.store(warp.shifted(slice * outputs));
    }
  }
  return tally.cost();
}

Cost dilated_bias_cost(const ConvLayer& layer) {
  const std::int64_t plane = std::int64_t{layer.P()} * layer.Q();
  Tally tally;
  const std::int64_t slices = plan_dilated(layer).slices;
  for (const Cells warp : Cells{0, layer.output_size() / slices}.pieces(kWarpSize)) {
    tally.load(lanes(warp, [&](std::int64_t at) { return at / plane % layer.K(); }), slices);
  }
  return tally.cost();
}

}  // namespace halo::convolve
