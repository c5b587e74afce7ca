// The variants of stage 07.
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>

#include "common/convolve/grouped/grouped.hpp"
#include "common/convolve/windows/windows.hpp"
#include "common/gpus/present_gpu.hpp"
#include "common/harness/families/conv2d.hpp"
#include "stages/07_single_channel_adaptive/adaptive.hpp"
#include "stages/07_single_channel_adaptive/costs.hpp"
#include "stages/07_single_channel_adaptive/measure/measure.hpp"

namespace halo::single_channel_adaptive {

namespace {

constexpr const char* kFolder = "stages/07_single_channel_adaptive/";

const char* name_of(Method method) {
  return method == Method::filters_over_sms ? "filters_over_sms" : "map_over_sms";
}

// Of the present GPU; with the method that it chooses, or with this one.
Plan plan_of(const conv::ConvLayer& layer, std::optional<Method> only) {
  return plan(gpus::present_gpu(), problem_of(layer), {.only = only});
}

std::string named(const Plan& plan) {
  return std::string(plan.method == Method::filters_over_sms ? "method 1, P " : "method 2, P ") +
         std::to_string(plan.P) + ", Q " + std::to_string(plan.Q);
}

std::string described(const Plan& plan, const Division& division) {
  return named(plan) + "; " + std::to_string(division.blocks()) + " blocks of " +
         std::to_string(strips(division)) + (strips(division) == 1 ? " strip x " : " strips x ") +
         std::to_string(groups(division)) + (groups(division) == 1 ? " group" : " groups");
}

// A refusal as the end of a sentence.
std::string refusal(const std::function<void()>& body) {
  try {
    body();
    return {};
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
}

std::string refuses_always(const conv::ConvLayer& layer) {
  if (layer.C() != 1) return "it is made for one channel";
  if (layer.stride_h() != 1 || layer.stride_w() != 1) return "it is made for stride 1";
  return {};
}

Conv2dVariant planned(std::optional<Method> only) {
  Conv2dVariant variant;
  variant.plans = true;
  variant.multiplies_ghosts = true;
  variant.prepare = [only](const conv::ConvLayer& layer) {
    Prepared<conv::ConvLayer> made;
    made.refusal = refuses_always(layer);
    if (made.refusal.empty() && layer.R() != layer.S()) {
      made.refusal = "the planner's formulas are for square filters";
    }
    if (!made.refusal.empty()) return made;
    Plan plan;
    Division division;
    made.refusal = refusal([&] {
      plan = plan_of(layer, only);
      division = divide(plan, layer);
    });
    made.launch = [plan, division](const Conv2dCall& c) {
      return adaptive(kernel_call(c), plan, division);
    };
    made.cost = [layer, method = plan.method, division] {
      return predict(numbers_of(layer), method, division);
    };
    made.detail = [plan, division] { return described(plan, division); };
    if (!only) made.runs_as = [plan] { return std::string(name_of(plan.method)); };
    return made;
  };
  return variant;
}

std::string explain_layer(const conv::ConvLayer& layer, const std::string& key) {
  const gpus::GpuFigures gpu = key.empty()              ? gpus::present_gpu()
                               : key.ends_with(".json") ? measure::figures_from_file(key)
                                                        : gpus::built_in_gpu(key);
  const Plan chosen = plan(gpu, problem_of(layer));
  const Division division = divide(chosen, layer);
  std::string text = explain(gpu) + "\n" + explain(chosen) + "launch\n";
  text += "  " + described(chosen, division) + ", of " + std::to_string(division.rows) +
          (division.rows == 1 ? " row and " : " rows and ") + std::to_string(division.filters) +
          (division.filters == 1 ? " filter" : " filters") + ", " +
          std::to_string(4 * division.shared_floats(numbers_of(layer))) + " bytes of shared memory";
  text += division.row_parts() == 2      ? "; an SM's two blocks halve its rows\n"
          : division.filter_parts() == 2 ? "; an SM's two blocks halve its filters\n"
                                         : "; one block per SM, there is nothing to halve\n";
  const Plan hardware = plan(gpu, problem_of(layer), {.fma = gpus::FmaCount::as_hardware});
  text += "  with N_FMA as the hardware counts: " +
          (same_division(chosen, hardware) ? "the same division" : named(hardware)) + "\n";
  return text;
}

}  // namespace

void complete(Conv2dStage& stage) {
  Conv2dVariant alone;
  alone.name = "prefetch";
  alone.source = std::string(kFolder) + "1_prefetch.cu";
  alone.description = "the next strip of the map arrives in registers; a fixed division";
  alone.multiplies_ghosts = true;
  alone.tiles = [](const conv::ConvLayer&) {
    return std::vector<TileSizes>{{.K = kPrefetchFilters, .P = kPrefetchBand}, {.P = 4}};
  };
  alone.prepare = [](const conv::ConvLayer& layer) {
    Prepared<conv::ConvLayer> made;
    const LayerNumbers numbers = numbers_of(layer);
    const int rows = prefetch_rows(numbers);
    made.refusal = refuses_always(layer);
    if (made.refusal.empty() && rows == 0) {
      made.refusal = "48 KB of shared memory don't hold " + std::to_string(layer.R()) +
                     " rows of " + std::to_string(layer.W()) + " cells and 16 filters";
    }
    made.launch = [rows](const Conv2dCall& c) { return prefetch(kernel_call(c), rows); };
    made.cost = [numbers] { return predict_prefetch(numbers); };
    return made;
  };

  Conv2dVariant first = planned(Method::filters_over_sms);
  first.name = name_of(Method::filters_over_sms);
  first.source = std::string(kFolder) + "2_filters_over_sms.cu";
  first.description = "method 1: an SM has its filters, the map goes by in strips";

  Conv2dVariant second = planned(Method::map_over_sms);
  second.name = name_of(Method::map_over_sms);
  second.source = std::string(kFolder) + "3_map_over_sms.cu";
  second.description = "method 2: an SM has its rows of the map, the filters go by in groups";

  Conv2dVariant chosen = planned(std::nullopt);
  chosen.name = "adaptive";
  chosen.source = std::string(kFolder) + "adaptive.cpp";
  chosen.description = "whichever of the two the paper's rule chooses";
  chosen.chooses_from = {first.name, second.name};

  stage.variants = {alone, first, second, chosen, convolve::store_bound()};
  stage.searched = {convolve::grouped()};  // a depthwise layer is as many layers of one channel
  stage.plan = explain_layer;
}

}  // namespace halo::single_channel_adaptive
