#include "common/convolve/plain_parts/plain_parts.hpp"

#include <algorithm>

#include "common/convolve/plain_parts/plan.hpp"

namespace halo::convolve {

// In plain_parts.cu, of a slice; and of a group.
int gather_parts(const float* input, float* gathered, const PartsDivision& layer, void* stream);
int scatter_parts(const float* sums, float* output, const float* bias, bool relu,
                  const PartsDivision& layer, void* stream);
int copy_filters(const float* filters, float* packed, long long floats);

namespace {

using conv::ConvLayer;

// A group's filters as its kernel reads them, in multiples of 256 bytes.
std::int64_t packed_pitch(const Conv2dVariant& inner, const ConvLayer& plain) {
  const std::int64_t packed = inner.packed_floats ? inner.packed_floats(plain) : 0;
  return ((packed > 0 ? packed : plain.filters_size()) + 63) / 64 * 64;
}
bool packs(const Conv2dVariant& inner, const ConvLayer& plain) {
  return inner.packed_floats && inner.packed_floats(plain) > 0;
}

int pack(const float* filters, float* packed, const ConvLayer& layer, const Conv2dVariant& inner) {
  const ConvLayer plain = *plan_parts(layer).plain;
  const std::int64_t pitch = packed_pitch(inner, plain), own = plain.filters_size();
  int failed = 0;
  for (int group = 0; group < layer.groups() && failed == 0; ++group) {
    failed = packs(inner, plain) ? inner.pack(filters + group * own, packed + group * pitch, plain)
                                 : copy_filters(filters + group * own, packed + group * pitch, own);
  }
  return failed;
}

int launch(const Conv2dCall& call, const PlainVariant& plain_of) {
  const PartsPlan plan = plan_parts(call.layer);
  const ConvLayer& plain = *plan.plain;
  const Conv2dVariant& inner = plain_of(plain);
  const PartsDivision& division = plan.division;
  const std::int64_t pitch = packed_pitch(inner, plain);
  const bool has_packed = packs(inner, plain);
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
      failed = inner.launch({.layer = plain,
                             .input = input + std::int64_t{group} * division.input_pitch,
                             .filters = has_packed ? nullptr : filters,
                             .output = sums + std::int64_t{group} * division.output_pitch,
                             .workspace = workspace,
                             .packed = has_packed ? filters : nullptr,
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
  const auto inner = [plain_of](const ConvLayer& layer) -> const Conv2dVariant& {
    return plain_of(*plan_parts(layer).plain);
  };
  Conv2dVariant v;
  v.name = "plain_parts";
  v.source = "common/convolve/plain_parts/plain_parts.cu";
  v.description = "tuned: groups one after the other, dilation as more and smaller images";
  v.takes_groups_and_dilation = true;
  // The plain layer's kernel may be a transform.
  v.demand = conv::Demand::transformed;
  v.plans = true;
  v.multiplies_ghosts = true;
  v.refuses = [](const ConvLayer& layer) { return plan_parts(layer).refusal; };
  v.launch = [plain_of](const Conv2dCall& call) { return launch(call, plain_of); };
  v.workspace_floats = [inner](const ConvLayer& layer) {
    const PartsPlan plan = plan_parts(layer);
    const Conv2dVariant& one = inner(layer);
    return plan.gathered + plan.sums +
           (one.workspace_floats ? one.workspace_floats(*plan.plain) : 0);
  };
  v.packed_floats = [inner](const ConvLayer& layer) {
    return layer.groups() * packed_pitch(inner(layer), *plan_parts(layer).plain);
  };
  v.pack = [inner](const float* filters, float* packed, const ConvLayer& layer) {
    return pack(filters, packed, layer, inner(layer));
  };
  v.adds_bias = true;
  v.predict = [inner](const ConvLayer& layer) {
    const PartsPlan plan = plan_parts(layer);
    Cost cost = parts_cost(layer, plan);
    cost.add(inner(layer).predict(*plan.plain),
             static_cast<std::uint64_t>(plan.slices * layer.groups()));
    return cost;
  };
  v.predict_bias = [](const ConvLayer& layer) { return parts_bias_cost(layer, plan_parts(layer)); };
  v.detail = [inner](const ConvLayer& layer) {
    const std::string times =
        layer.groups() > 1 ? std::to_string(layer.groups()) + " times layer " : "as layer ";
    return times + conv::label(*plan_parts(layer).plain) + ", by " + inner(layer).name;
  };
  return v;
}

std::vector<Contender> plain_parts_contenders() {
  Contender one;
  one.variant = "plain_parts";
  one.takes_groups_and_dilation = true;
  one.refuses = [](const ConvLayer& layer, const gpus::GpuLimits&) {
    const std::string refusal = plan_parts(layer).refusal;
    return refusal.empty() ? better_grouped(layer) : refusal;
  };
  one.work = [](const ConvLayer& layer, const gpus::GpuLimits&) {
    const PartsPlan plan = plan_parts(layer);
    LaunchWork work;
    work.launches = (layer.groups() + (plan.in_place ? 0 : 2)) * plan.slices;
    work.blocks = static_cast<double>(layer.output_size()) / 256;
    work.megabytes = 8e-6 * plan.slices * static_cast<double>(plan.gathered + plan.sums);
    return work;
  };
  return {one};
}

}  // namespace halo::convolve
