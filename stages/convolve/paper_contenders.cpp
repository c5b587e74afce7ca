#include "stages/convolve/paper_contenders.hpp"

#include <algorithm>

#include "stages/06_conv2d_direct.hpp"
#include "stages/08_multi_channel_stride_fixed.hpp"
#include "stages/08_multi_channel_stride_fixed/block_plan.hpp"
#include "stages/09_cuconv_two_stage.hpp"
#include "stages/09_cuconv_two_stage/division.hpp"

namespace halo::convolve {

namespace {

using conv::ConvLayer;

constexpr int kThreadsOfAnSm = 2048;
constexpr double kFloat = 4e-6;  // megabytes

int resident(int threads, std::int64_t shared_bytes, const gpus::GpuLimits& gpu) {
  const std::int64_t by_threads = kThreadsOfAnSm / threads;
  const std::int64_t by_shared = shared_bytes > 0 ? gpu.shared_per_sm / shared_bytes : by_threads;
  return static_cast<int>(std::max<std::int64_t>(1, std::min(by_threads, by_shared)));
}

// As stages/06_conv2d_direct/6_filter_group.cu has them.
constexpr int kTileRows = 8;
constexpr int kTileColumns = 32;
constexpr int kFilterGroup = 8;
constexpr int kSharedFloats = 48 * 1024 / 4;

std::int64_t tile_floats(const ConvLayer& l) {
  return ((kTileRows - 1LL) * l.stride_h() + l.R()) * ((kTileColumns - 1LL) * l.stride_w() + l.S());
}

std::int64_t tile_and_taps(const ConvLayer& l) {
  return tile_floats(l) + std::int64_t{kFilterGroup} * l.R() * l.S();
}

Contender filter_group() {
  return {"filter_group", [](const ConvLayer& l, const gpus::GpuLimits& gpu) {
            const char* const refusal =
                tile_and_taps(l) <= kSharedFloats
                    ? ""
                    : "its tile and eight filters' taps must fit into 48 KB of shared memory";
            return offer_unless(refusal, [&] {
              const auto pieces = [](int all, int piece) { return (all - 1) / piece + 1; };
              LaunchWork work;
              work.blocks = 1.0 * l.N() * pieces(l.Q(), kTileColumns) * pieces(l.P(), kTileRows) *
                            pieces(l.K(), kFilterGroup);
              work.resident = resident(kTileRows * kTileColumns, 4 * tile_and_taps(l), gpu);
              work.steps = 1.0 * l.C() * l.R() * l.S();
              work.megabytes =
                  kFloat * (work.blocks * l.C() * static_cast<double>(tile_and_taps(l)) +
                            static_cast<double>(l.output_size()));
              return work;
            });
          }};
}

Contender stride_fixed(const std::string& variant, int segment) {
  using namespace multi_channel_stride_fixed;
  return {variant, [segment](const ConvLayer& l, const gpus::GpuLimits& gpu) {
            const BlockPlan plan = plan_blocks(l, segment, gpu);
            return offer_unless(plan.refusal, [&] {
              const Block& block = plan.block;
              const std::int64_t taps = l.products_per_output();
              LaunchWork work;
              work.blocks = 1.0 * l.N() * block.tiles_down * block.tiles_across * block.groups;
              work.resident = resident(plan.threads, plan.shared_bytes, gpu);
              work.steps = static_cast<double>((taps - 1) / segment + 1);
              work.megabytes =
                  kFloat * (work.blocks * (static_cast<double>(taps) * block.filters +
                                           1.0 * l.C() * block.channel_lines * block.line) +
                            static_cast<double>(l.output_size()));
              return work;
            });
          }};
}

Contender two_stage() {
  using namespace cuconv_two_stage;
  return {"two_stage", [](const ConvLayer& l, const gpus::GpuLimits& gpu) {
            const char* const refusal =
                l.C() <= kMaxChannels ? ""
                                      : "a filter row does not fit the shared memory of a block";
            return offer_unless(refusal, [&] {
              const int products = l.N() * l.P() * l.Q();
              const int taps = l.R() * l.S();
              const Chunks chunks = chunk_temporaries(l.K(), products, taps);
              const Division division =
                  divide(Rows::split, chunks.products, taps * chunks.filters, gpu.sms);
              LaunchWork work;
              work.launches = static_cast<int>(chunks.count) * (taps > 1 ? 2 : 1);
              work.blocks = 1.0 * taps * l.K() * division.blocks;
              work.resident = resident(division.threads, 4LL * l.C(), gpu);
              work.steps = 1.0 * l.C() * ((division.share - 1) / division.threads + 1);
              const double sums = 1.0 * l.K() * products;
              work.megabytes = kFloat * (1.0 * taps * l.K() * products * l.C() +
                                         (taps > 1 ? 2.0 * taps : 0.0) * sums + sums);
              return work;
            });
          }};
}

}  // namespace

std::vector<Contender> paper_contenders() {
  return {filter_group(), stride_fixed("stride_fixed_32", multi_channel_stride_fixed::kSegment32),
          stride_fixed("stride_fixed_64", multi_channel_stride_fixed::kSegment64), two_stage()};
}

const Contenders& with_papers(Products products) {
  const auto make = [](Products of) {
    Contenders all = library(of);
    std::vector<Conv2dVariant> variants;
    for (const Conv2dStage& stage :
         {conv2d_direct::stage(), multi_channel_stride_fixed::stage(), cuconv_two_stage::stage()}) {
      variants.insert(variants.end(), stage.variants.begin(), stage.variants.end());
    }
    for (const Contender& one : paper_contenders()) all.add(one, variants);
    return all;
  };
  static const Contenders fp32 = make(Products::fp32);
  static const Contenders split_tf32 = make(Products::split_tf32);
  return products == Products::fp32 ? fp32 : split_tf32;
}

}  // namespace halo::convolve
