#include "common/convolve/plain_parts/plain_parts.hpp"

#include <algorithm>

#include "common/conv/quotient.hpp"
#include "common/convolve/plain_parts/plan.hpp"

namespace halo::convolve {

// In plain_parts.cu, of a slice; and of a group.
int gather_parts(const float* input, float* gathered, const PartsDivision& layer, void* stream);
int scatter_parts(const float* sums, float* output, const float* bias, bool relu,
                  const PartsDivision& layer, void* stream);
int copy_filters(const float* filters, float* packed, long long floats);

namespace {

using conv::ConvLayer;

// A layer, and its plain layer's kernel.
struct Parts {
  PartsPlan plan;
  Prepared<ConvLayer> inner;

  bool packs() const { return inner.packed_floats > 0; }
  // Of a group's filters as the kernel reads them.
  std::int64_t packed_pitch() const {
    return rounded_up(packs() ? inner.packed_floats : plan.plain->filters_size(), kAlignment);
  }
};

int pack(const float* filters, float* packed, const Parts& parts) {
  const std::int64_t pitch = parts.packed_pitch(), own = parts.plan.plain->filters_size();
  int failed = 0;
  for (int group = 0; group < parts.plan.division.groups && failed == 0; ++group) {
    failed = parts.packs() ? parts.inner.pack(filters + group * own, packed + group * pitch)
                           : copy_filters(filters + group * own, packed + group * pitch, own);
  }
  return failed;
}

int launch(const Conv2dCall& call, const Parts& parts) {
  const PartsPlan& plan = parts.plan;
  const PartsDivision& division = plan.division;
  const std::int64_t pitch = parts.packed_pitch();
  for (int slice = 0; slice < plan.slices; ++slice) {
    const float* input = call.input + slice * (call.layer.input_size() / plan.slices);
    float* const output = call.output + slice * (call.layer.output_size() / plan.slices);
    float* const workspace = call.workspace + plan.gathered + plan.sums;
    float* sums = output;
    int failed = 0;
    if (!plan.in_place) {
      failed = gather_parts(input, call.workspace, division, call.stream);
      input = call.workspace;
      sums = call.workspace + plan.gathered;
    }
    for (int group = 0; group < division.groups && failed == 0; ++group) {
      const float* const filters = call.packed + group * pitch;
      failed = parts.inner.launch({.layer = *plan.plain,
                                   .input = input + std::int64_t{group} * division.input_pitch,
                                   .filters = parts.packs() ? nullptr : filters,
                                   .output = sums + std::int64_t{group} * division.output_pitch,
                                   .workspace = workspace,
                                   .packed = parts.packs() ? filters : nullptr,
                                   .stream = call.stream});
    }
    if (failed == 0 && (!plan.in_place || call.bias != nullptr || call.relu)) {
      failed = scatter_parts(sums, output, call.bias, call.relu, division, call.stream);
    }
    if (failed != 0) return failed;
  }
  return 0;
}

}  // namespace

Conv2dVariant plain_parts(const PlainVariant& plain_of) {
  Conv2dVariant v;
  v.name = "plain_parts";
  v.source = "common/convolve/plain_parts/plain_parts.cu";
  v.description = "tuned: groups one after the other, dilation as more and smaller images";
  v.takes_groups = true;
  v.takes_dilation = true;
  // The plain layer's kernel may be a transform.
  v.demand = conv::Demand::transformed;
  v.plans = true;
  v.multiplies_ghosts = true;
  v.adds_bias = true;
  v.prepare = [plain_of](const ConvLayer& layer) {
    Prepared<ConvLayer> made;
    const PartsPlan plan = plan_parts(layer);
    made.refusal = plan.refusal;
    if (!made.refusal.empty()) return made;
    const Parts parts{plan, plain_of(*plan.plain).prepared(*plan.plain)};
    made.workspace_floats = plan.gathered + plan.sums + parts.inner.workspace_floats;
    made.packed_floats = layer.groups() * parts.packed_pitch();
    made.pack = [parts](const float* filters, float* packed) {
      return pack(filters, packed, parts);
    };
    made.launch = [parts](const Conv2dCall& call) { return launch(call, parts); };
    made.cost = [parts, layer] {
      Cost cost = parts_cost(layer, parts.plan);
      cost.add(parts.inner.cost(), static_cast<std::uint64_t>(parts.plan.slices * layer.groups()));
      return cost;
    };
    made.bias_cost = [plan, layer] { return parts_bias_cost(layer, plan); };
    made.detail = [parts, layer] {
      const std::string times =
          layer.groups() > 1 ? std::to_string(layer.groups()) + " times layer " : "as layer ";
      return times + conv::label(*parts.plan.plain) + ", by " + parts.inner.name;
    };
    return made;
  };
  return v;
}

std::vector<Contender> plain_parts_contenders() {
  Contender one;
  one.variant = "plain_parts";
  one.offer = [](const ConvLayer& layer, const gpus::GpuLimits&) {
    const PartsPlan plan = plan_parts(layer);
    return offer_unless(plan.refusal.empty() ? better_grouped(layer) : plan.refusal, [&] {
      LaunchWork work;
      work.launches = (layer.groups() + (plan.in_place ? 0 : 2)) * plan.slices;
      work.blocks = static_cast<double>(layer.output_size()) / 256;
      work.steps = static_cast<double>(layer.products_per_output());
      work.megabytes = 8e-6 * plan.slices * static_cast<double>(plan.gathered + plan.sums);
      return work;
    });
  };
  return {one};
}

}  // namespace halo::convolve
