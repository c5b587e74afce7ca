#include "common/convolve/choice.hpp"

#include <algorithm>
#include <map>
#include <mutex>
#include <stdexcept>
#include <string>
#include <tuple>

#include "common/convolve/first_use.hpp"
#include "common/convolve/fourier/fourier.hpp"
#include "common/convolve/grouped/grouped.hpp"
#include "common/convolve/implicit_gemm/implicit_gemm.hpp"
#include "common/convolve/plain_parts/plain_parts.hpp"
#include "common/convolve/pointwise/pointwise.hpp"
#include "common/convolve/register_tile/register_tile.hpp"
#include "common/convolve/split_tf32/split_tf32.hpp"
#include "common/convolve/warpgroup/warpgroup.hpp"
#include "common/convolve/windows/windows.hpp"
#include "common/convolve/winograd/winograd.hpp"
#include "common/gpus/present_gpu.hpp"

namespace halo::convolve {

void Contenders::add(const Contender& contender, const std::vector<Conv2dVariant>& of) {
  if (contender.tensor_cores && products == Products::fp32) return;
  const auto has_its_name = [&](const Conv2dVariant& one) { return one.name == contender.variant; };
  const auto at = std::find_if(of.begin(), of.end(), has_its_name);
  if (at == of.end() || std::any_of(variants.begin(), variants.end(), has_its_name)) {
    throw std::logic_error(contender.variant + ": a contender has one variant of its name");
  }
  if (at->layout != conv::Layout::nchw || at->demand == conv::Demand::tf32 ||
      conv::is_split(at->demand) != contender.tensor_cores) {
    throw std::logic_error(
        at->name + " is not a contender: NCHW, fp32's accuracy; on tensor cores it says so");
  }
  // Which kinds of layers come to it, its variant alone says.
  Contender& added = contenders.emplace_back(contender);
  added.offer = [its = About(*at), offer = contender.offer](const conv::ConvLayer& layer,
                                                            const gpus::GpuLimits& gpu) {
    const std::string refusal = refusal_of_family(its, layer);
    return refusal.empty() ? offer(layer, gpu) : Offer{refusal, {}};
  };
  variants.push_back(*at);
}

namespace {

// What packing takes on an H200: a launch, and the way of what it reads and writes.
constexpr double kPackUs = 1.2;
constexpr double kPackUsOfMegabyte = 0.25;

double packing_us(const conv::ConvLayer& layer, std::int64_t packed_floats) {
  if (packed_floats == 0) return 0;
  const auto floats = static_cast<double>(layer.filters_size() + packed_floats);
  return kPackUs + 4e-6 * floats * kPackUsOfMegabyte;
}

// Of candidates the measured one and, by their times, the others with packing.
void add_packing(const conv::ConvLayer& layer, const Contenders& among,
                 std::vector<Candidate>& candidates) {
  const auto by_model = [](const Candidate& one) {
    return one.offer.refusal.empty() && one.us >= 0 && !one.measured;
  };
  const auto first = std::find_if(candidates.begin(), candidates.end(), by_model);
  const auto end = std::find_if_not(first, candidates.end(), by_model);
  std::for_each(first, end, [&](Candidate& one) {
    const std::ptrdiff_t its = one.contender - among.contenders.data();
    const Conv2dVariant& variant = among.variants[static_cast<std::size_t>(its)];
    one.us += packing_us(layer, variant.prepared(layer).packed_floats);
  });
  std::stable_sort(first, end, [](const Candidate& a, const Candidate& b) { return a.us < b.us; });
}

// By the rule: measuring at first use measures all of a layer with groups or dilation, and asks here meanwhile.
const Conv2dVariant& plain_variant(const conv::ConvLayer& layer) {
  const std::vector<Ranked> those = ranked(layer, library(Products::fp32));
  if (those.empty()) throw std::logic_error("layer " + conv::label(layer) + ": no kernel takes it");
  return *those.front().variant;
}

}  // namespace

const Contenders& library(Products products) {
  const auto make = [](Products of) {
    Contenders all{of, {}, {}};
    const auto add = [&](const std::vector<Contender>& contenders,
                         const std::vector<Conv2dVariant>& variants) {
      for (const Contender& one : contenders) all.add(one, variants);
    };
    std::vector<Conv2dVariant> of_winograd = winograd_of_each_shape();
    for (const auto& more : {winograd_apart_of_each_shape(), winograd_split_of_each_tile()}) {
      of_winograd.insert(of_winograd.end(), more.begin(), more.end());
    }
    // A line for each method.
    add(window_contenders(), {store_bound(), few_channels()});
    add(register_tile_contenders(), register_tile_of_each_shape());
    add(winograd_contenders(), of_winograd);
    add(fourier_contenders(), fourier_of_each_size());
    add(pointwise_contenders(), pointwise_of_each_tile());
    add(implicit_gemm_contenders(), implicit_gemm_of_each_plan());
    add(plain_parts_contenders(), {plain_parts(plain_variant)});
    add(grouped_contenders(), {grouped()});
    add(split_tf32_contenders(), split_tf32_of_each_tile());
    add(warpgroup_contenders(), warpgroup_of_each_tile());
    return all;
  };
  static const Contenders fp32 = make(Products::fp32);
  static const Contenders split_tf32 = make(Products::split_tf32);
  return products == Products::fp32 ? fp32 : split_tf32;
}

std::vector<Ranked> ranked(const conv::ConvLayer& layer, const Contenders& among, Epilogue epilogue,
                           Calls calls) {
  const std::string gpu = gpus::present_gpu().name;
  std::vector<Candidate> all =
      candidates(rule_for(gpu), among.contenders, layer, {gpu, gpus::present_limits()}, calls);
  if (calls == Calls::packing) add_packing(layer, among, all);
  std::vector<Ranked> those;
  for (const Candidate& one : all) {
    const Conv2dVariant& its =
        among.variants[static_cast<std::size_t>(one.contender - among.contenders.data())];
    if (!one.offer.refusal.empty()) continue;
    if (epilogue == Epilogue::bias_relu && !its.adds_bias) continue;
    those.push_back({&its, one.measured, one.contender->tensor_cores});
  }
  return those;
}

std::vector<const Conv2dVariant*> nearest(std::span<const Ranked> ranked, int most) {
  std::vector<const Conv2dVariant*> those;
  for (const bool on_tensor_cores : {false, true}) {
    int taken = 0;
    for (const Ranked& one : ranked) {
      if (one.on_tensor_cores != on_tensor_cores) continue;
      if (taken++ == most) break;
      those.push_back(one.variant);
    }
  }
  return those;
}

const Conv2dVariant* chosen(const conv::ConvLayer& layer, const Contenders& among,
                            Epilogue epilogue, Choice choice, Calls calls) {
  // Asked again and again for the same few layers. Who measures one does so alone.
  static std::mutex mutex;
  static std::map<
      std::tuple<std::string, const Contenders*, Epilogue, Choice, Calls, int, int, int>,
      const Conv2dVariant*>
      known;
  const gpus::GpuLimits limits = gpus::present_limits();
  const std::lock_guard lock(mutex);
  const std::tuple key{
      conv::label(layer),     &among, epilogue, choice, calls, limits.sms, limits.shared_per_sm,
      limits.shared_per_block};
  if (const auto at = known.find(key); at != known.end()) return at->second;
  const std::vector<Ranked> those = ranked(layer, among, epilogue, calls);
  const Conv2dVariant* best = nullptr;
  if (choice == Choice::measured && those.size() > 1 && !those.front().is_measured) {
    best = fastest_at_first_use(layer, among.products, epilogue, calls, those);
  }
  if (best == nullptr && !those.empty()) best = those.front().variant;
  return known.emplace(key, best).first->second;
}

}  // namespace halo::convolve
