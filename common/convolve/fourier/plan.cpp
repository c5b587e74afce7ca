#include "common/convolve/fourier/plan.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "common/conv/limits.hpp"
#include "common/conv/quotient.hpp"

namespace halo::convolve {

namespace {

// Complex products of one frequency and channel, those included that fill up blocks.
std::int64_t products(std::int64_t filters, std::int64_t tiles, std::int64_t block_filters,
                      std::int64_t block_tiles) {
  return rounded_up(filters, block_filters) * rounded_up(tiles, block_tiles);
}

std::int64_t slices_in(const conv::ConvLayer& layer, const FourierDivision& division) {
  return quotient_up(layer.N(), division.images);
}

// All launches of a call move so many floats: cells and outputs, what lies between the kernels, twice, and the packed
// filters, for every slice.
double floats_moved(const conv::ConvLayer& layer, const FourierPlan& plan) {
  const auto slices = static_cast<double>(slices_in(layer, plan.division));
  return static_cast<double>(layer.input_size() + layer.output_size()) +
         slices * (2.0 * static_cast<double>(plan.workspace_floats) +
                   static_cast<double>(plan.packed_floats));
}

// Products at the rate that blocks of 64 x 64 reach on an H200, everything else at the rate of its transforms.
double foreseen(const conv::ConvLayer& layer, const FourierPlan& plan, std::int64_t block_tiles,
                double products_per_microsecond) {
  constexpr double kFloatsPerMicrosecond = 0.72e6;
  const FourierDivision& d = plan.division;
  return static_cast<double>(slices_in(layer, d) * fourier_frequencies(d.size) * layer.C() *
                             products(layer.K(), d.tile_pitch, d.side, block_tiles)) /
             products_per_microsecond +
         floats_moved(layer, plan) / kFloatsPerMicrosecond;
}

// A plan but for the blocks of the products.
FourierPlan divided(const conv::ConvLayer& layer, int size, std::int64_t most_floats) {
  if (std::find(std::begin(kFourierSizes), std::end(kFourierSizes), size) ==
      std::end(kFourierSizes)) {
    throw std::out_of_range("there are no tiles of " + std::to_string(size) +
                            " cells for Fourier's transform");
  }
  FourierPlan plan;
  FourierDivision& d = plan.division;
  if (layer.stride_h() != 1 || layer.stride_w() != 1) {
    plan.refusal = "it is made for stride 1";
    return plan;
  }
  if (layer.R() * layer.S() == 1) {
    plan.refusal = "a single tap needs no transform";
    return plan;
  }
  if (layer.R() > size / 2 || layer.S() > size / 2) {
    const std::string half = std::to_string(size / 2);
    plan.refusal = "it is made for filters of " + half + " x " + half + " at most";
    return plan;
  }
  d.size = size;
  d.outputs_down = size - layer.R() + 1;
  d.outputs_across = size - layer.S() + 1;
  d.tiles_down = static_cast<int>(quotient_up(layer.P(), d.outputs_down));
  d.tiles_across = static_cast<int>(quotient_up(layer.Q(), d.outputs_across));
  d.filter_pitch = static_cast<int>(rounded_up(layer.K(), kFourierPitch));
  const std::int64_t frequencies = fourier_frequencies(size);
  plan.packed_floats = 2 * frequencies * layer.C() * d.filter_pitch;
  if (plan.packed_floats > conv::kMaxLength) {
    plan.refusal = "its transformed filters are " + std::to_string(plan.packed_floats) +
                   " numbers, more than an array can have";
    return plan;
  }
  const std::int64_t tiles = std::int64_t{d.tiles_down} * d.tiles_across;
  const auto temporaries = [&](std::int64_t images) {
    return 2 * frequencies * (std::int64_t{layer.C()} + layer.K()) *
           rounded_up(images * tiles, kFourierPitch);
  };
  const Slices slices = slices_of(layer.N(), most_floats, temporaries);
  if (!slices.refusal.empty()) {
    plan.refusal = slices.refusal;
    return plan;
  }
  d.images = slices.images;
  d.tile_pitch = static_cast<int>(rounded_up(d.images * tiles, kFourierPitch));
  plan.workspace_floats = slices.floats;
  return plan;
}

// The better of the two sizes, each as `exact` divides it.
template <class Exact>
FourierPlan better_size(Exact exact) {
  FourierPlan best;
  for (const int size : kFourierSizes) {
    FourierPlan plan = exact(size);
    const bool better = best.refusal.empty() ? plan.microseconds < best.microseconds : true;
    if (best.division.size == 0 || (plan.refusal.empty() && better)) best = std::move(plan);
  }
  return best;
}

}  // namespace

FourierPlan exact_fourier(const conv::ConvLayer& layer, int size, std::int64_t most_floats) {
  FourierPlan plan = divided(layer, size, most_floats);
  if (!plan.refusal.empty()) return plan;
  FourierDivision& d = plan.division;
  // Blocks of 32 x 32 multiply 6 % more slowly.
  constexpr double kSmallBlocks = 1.06;
  const auto large = static_cast<double>(products(layer.K(), d.tile_pitch, 64, 64));
  const auto small = static_cast<double>(products(layer.K(), d.tile_pitch, 32, 32));
  d.side = large <= kSmallBlocks * small ? 64 : 32;
  constexpr double kProductsPerMicrosecond = 7.1e6;
  plan.microseconds = foreseen(layer, plan, d.side, kProductsPerMicrosecond);
  return plan;
}

FourierPlan plan_fourier(const conv::ConvLayer& layer, std::int64_t most_floats) {
  return better_size([&](int size) { return exact_fourier(layer, size, most_floats); });
}

FourierPlan exact_fourier_split(const conv::ConvLayer& layer, int size, const gpus::GpuLimits& gpu,
                                std::int64_t most_floats) {
  FourierPlan plan = divided(layer, size, most_floats);
  if (!plan.refusal.empty()) return plan;
  plan.refusal = gpus::too_old(gpu, gpus::kWithTf32);
  if (!plan.refusal.empty()) return plan;
  FourierDivision& d = plan.division;
  // Blocks of 32 filters read half as much again for a product: only where those of 64 would be a fifth empty.
  constexpr double kSmallBlocks = 1.2;
  d.side = static_cast<double>(rounded_up(layer.K(), 64)) <=
                   kSmallBlocks * static_cast<double>(rounded_up(layer.K(), 32))
               ? 64
               : 32;
  const int bytes = fourier_split_bytes(d.side);
  if (gpu.shared_per_block < bytes) {
    plan.refusal = "a block needs " + std::to_string(bytes) + " bytes of shared memory, of " +
                   std::to_string(gpu.shared_per_block);
    return plan;
  }
  constexpr double kProductsPerMicrosecond = 10.8e6;
  plan.microseconds = foreseen(layer, plan, kSplitTiles, kProductsPerMicrosecond);
  return plan;
}

FourierPlan plan_fourier_split(const conv::ConvLayer& layer, const gpus::GpuLimits& gpu,
                               std::int64_t most_floats) {
  return better_size([&](int size) { return exact_fourier_split(layer, size, gpu, most_floats); });
}

std::string fourier_name(int size) { return "fourier_" + std::to_string(size); }
std::string fourier_split_name(int size) { return "fourier_split_" + std::to_string(size); }

LaunchWork work_of(const conv::ConvLayer& layer, const FourierPlan& plan, bool tensor_cores) {
  const FourierDivision& d = plan.division;
  const std::int64_t slices = slices_in(layer, d);
  LaunchWork work;
  work.launches = static_cast<int>(3 * slices);
  work.blocks =
      static_cast<double>(slices * fourier_frequencies(d.size) * quotient_up(layer.K(), d.side) *
                          quotient_up(d.tile_pitch, tensor_cores ? kSplitTiles : d.side));
  work.resident = tensor_cores ? fourier_split_resident(d.side) : fourier_resident(d.side);
  work.steps = static_cast<double>(quotient_up(layer.C(), kFourierChannels));
  work.megabytes = 4e-6 * floats_moved(layer, plan);
  return work;
}

}  // namespace halo::convolve
