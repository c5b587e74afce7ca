#include "stages/convolve/contenders.hpp"

#include <map>
#include <mutex>
#include <stdexcept>
#include <string>
#include <tuple>

#include "common/convolve/fourier/fourier.hpp"
#include "common/convolve/implicit_gemm/implicit_gemm.hpp"
#include "common/convolve/pointwise/pointwise.hpp"
#include "common/convolve/register_tile/register_tile.hpp"
#include "common/convolve/split_tf32/split_tf32.hpp"
#include "common/convolve/warpgroup/warpgroup.hpp"
#include "common/convolve/windows/windows.hpp"
#include "common/convolve/winograd/winograd.hpp"
#include "common/gpus/present_gpu.hpp"
#include "stages/06_conv2d_direct.hpp"
#include "stages/07_single_channel_adaptive.hpp"
#include "stages/08_multi_channel_stride_fixed.hpp"
#include "stages/09_cuconv_two_stage.hpp"
#include "stages/convolve/first_use.hpp"

namespace halo::convolve {

namespace {

using planning::Contender;

// Contenders, each with the variant of its name, wherever that is.
struct Registry {
  std::vector<Contender> contenders;
  std::vector<Bound> bound;

  void add(const Contender& contender, const std::vector<Conv2dStage>& stages) {
    std::vector<Bound> found;
    for (const Conv2dStage& stage : stages) {
      for (const std::vector<Conv2dVariant>* variants : {&stage.variants, &stage.searched}) {
        for (const Conv2dVariant& variant : *variants) {
          if (variant.name == contender.variant) found.push_back({stage.name, variant});
        }
      }
    }
    if (found.size() != 1) {
      throw std::logic_error(contender.variant + ": a contender has one variant of its name, not " +
                             std::to_string(found.size()));
    }
    const Conv2dVariant& variant = found.front().variant;
    const bool is_split = variant.demand == conv::Demand::tf32_split ||
                          variant.demand == conv::Demand::transformed_split;
    if (variant.layout != conv::Layout::nchw || variant.set_up ||
        variant.demand == conv::Demand::tf32 || is_split != contender.tensor_cores) {
      throw std::logic_error(variant.name +
                             " is no contender: NCHW, filters where they are or packed, fp32's "
                             "accuracy; on tensor cores it says so");
    }
    contenders.push_back(contender);
    bound.push_back(found.front());
  }
};

std::vector<Contender> listed() {
  std::vector<Contender> all;
  // A line for each list.
  for (const std::vector<Contender>& list :
       {window_contenders(), paper_contenders(), register_tile_contenders(), winograd_contenders(),
        fourier_contenders(), pointwise_contenders(), implicit_gemm_contenders(),
        split_tf32_contenders(), warpgroup_contenders()}) {
    all.insert(all.end(), list.begin(), list.end());
  }
  return all;
}

const Registry& registry(Products products) {
  const auto make = [](Products of) {
    Registry registry;
    const std::vector<Conv2dStage> stages = {
        conv2d_direct::stage(), single_channel_adaptive::stage(),
        multi_channel_stride_fixed::stage(), cuconv_two_stage::stage()};
    for (const Contender& contender : listed()) {
      if (of == Products::split_tf32 || !contender.tensor_cores) registry.add(contender, stages);
    }
    return registry;
  };
  static const Registry fp32 = make(Products::fp32);
  static const Registry split_tf32 = make(Products::split_tf32);
  return products == Products::fp32 ? fp32 : split_tf32;
}

}  // namespace

const std::vector<Contender>& contenders(Products products) {
  return registry(products).contenders;
}
const std::vector<Bound>& bound(Products products) { return registry(products).bound; }

std::vector<Ranked> ranked(const conv::ConvLayer& layer, Products products, Epilogue epilogue) {
  const std::string gpu = gpus::present_gpu().name;
  const std::vector<Contender>& all = contenders(products);
  std::vector<Ranked> those;
  for (const planning::Candidate& one :
       planning::candidates(planning::rule_for(gpu), all, layer, {gpu, gpus::present_limits()})) {
    const Bound& its = bound(products)[static_cast<std::size_t>(one.contender - all.data())];
    if (!one.refusal.empty()) continue;
    if (epilogue == Epilogue::bias_relu && !its.variant.adds_bias) continue;
    those.push_back({&its, one.measured, one.contender->tensor_cores});
  }
  return those;
}

std::vector<const Bound*> nearest(std::span<const Ranked> ranked, int most) {
  std::vector<const Bound*> those;
  for (const bool on_tensor_cores : {false, true}) {
    int taken = 0;
    for (const Ranked& one : ranked) {
      if (one.on_tensor_cores != on_tensor_cores) continue;
      if (taken++ == most) break;
      those.push_back(one.bound);
    }
  }
  return those;
}

const Bound* chosen(const conv::ConvLayer& layer, Products products, Epilogue epilogue,
                    Choice choice) {
  // Asked again and again for the same few layers.
  static std::mutex mutex;
  static std::map<std::tuple<std::string, Products, Epilogue, Choice, int, int, int>, const Bound*>
      known;
  const gpus::GpuLimits limits = gpus::present_limits();
  const std::lock_guard lock(mutex);
  const auto [at, is_new] =
      known.try_emplace({conv::label(layer), products, epilogue, choice, limits.sms,
                         limits.shared_per_sm, limits.shared_per_block},
                        nullptr);
  if (is_new) {
    const std::vector<Ranked> those = ranked(layer, products, epilogue);
    if (choice == Choice::measured && those.size() > 1 && !those.front().is_measured) {
      at->second = fastest_at_first_use(layer, products, epilogue, those);
    }
    if (at->second == nullptr && !those.empty()) at->second = those.front().bound;
  }
  return at->second;
}

}  // namespace halo::convolve
