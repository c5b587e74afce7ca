#include "common/peers/fft_plan.hpp"

#include <algorithm>

namespace halo::peers {

namespace {

using std::int64_t;

constexpr int kTile = 32;
constexpr int64_t kMostComplex = kMostFftBytes / 8;
// Planes that are transformed at once fill no more than this (128 MiB), unless one alone does: enough
// to fill a GPU, and the larger part of the memory is left to the spectra.
constexpr int64_t kMostScratch = int64_t{1} << 24;
constexpr int64_t kAlignment = 256 / 8;

int64_t divided_up(int64_t a, int64_t b) { return (a + b - 1) / b; }
int64_t aligned(int64_t count) { return divided_up(count, kAlignment) * kAlignment; }

// `count` in parts that are as equal as they can be, none more than `most`: how large they are.
int balanced(int64_t count, int64_t most) {
  return static_cast<int>(divided_up(count, divided_up(count, most)));
}

// Images of a pass if it has so many filters; 0 if not even one fits.
int64_t images_of_pass(const conv::ConvLayer& layer, const FftPlan& plan, int64_t filters,
                       int64_t complex_numbers) {
  const int64_t for_filters = filters * layer.C();
  const int64_t an_image = int64_t{plan.tiles()} * (layer.C() + filters);
  return std::max<int64_t>(0, (complex_numbers / plan.frequencies() - for_filters) / an_image);
}

}  // namespace

int fft_size(int least, bool even) {
  for (int size = std::max(least, 2);; ++size) {
    if (even && size % 2 != 0) continue;
    int rest = size;
    for (const int factor : {2, 3, 5, 7}) {
      while (rest % factor == 0) rest /= factor;
    }
    if (rest == 1) return size;
  }
}

std::string plan_fft(const conv::ConvLayer& layer, FftTiling tiling, FftPlan& plan) {
  if (layer.stride_h() != 1 || layer.stride_w() != 1) {
    return "a Fourier transform gives the outputs of stride 1, all of them";
  }
  plan = {};
  if (tiling == FftTiling::whole) {
    // Larger than any that fits: and so that nothing below overflows.
    const int64_t down = std::max<int64_t>(int64_t{layer.H()} + layer.padding_h(), layer.R());
    const int64_t across = std::max<int64_t>(int64_t{layer.W()} + layer.padding_w(), layer.S());
    if (down * across > kMostComplex) return "one channel of its image does not fit into 1 GiB";
    plan.rows = fft_size(static_cast<int>(down), false);
    plan.columns = fft_size(static_cast<int>(across), true);
    plan.step_h = layer.P();
    plan.step_w = layer.Q();
  } else {
    // At least half of a tile, either way, is outputs.
    plan.rows = kTile;
    while (plan.rows < 2 * int64_t{layer.R()} && plan.rows < (1 << 16)) plan.rows *= 2;
    plan.columns = kTile;
    while (plan.columns < 2 * int64_t{layer.S()} && plan.columns < (1 << 16)) plan.columns *= 2;
    if (plan.rows < layer.R() || plan.columns < layer.S()) {
      return "its filters are too large for a tile";
    }
    if (int64_t{plan.rows} * plan.columns > kMostComplex) return "a tile does not fit into 1 GiB";
    plan.step_h = plan.rows - layer.R() + 1;
    plan.step_w = plan.columns - layer.S() + 1;
    plan.tiles_down = static_cast<int>(divided_up(layer.P(), plan.step_h));
    plan.tiles_across = static_cast<int>(divided_up(layer.Q(), plan.step_w));
  }

  const int64_t frequencies = plan.frequencies();
  const int64_t planes_at_once = std::max<int64_t>(1, kMostScratch / frequencies);
  // As much as scratch, for cuFFT, and what rounding up takes.
  const int64_t reserved = 2 * aligned(planes_at_once * frequencies) + 4 * kAlignment;
  const auto fit = [&](int64_t filters) {
    return images_of_pass(layer, plan, filters, kMostComplex - reserved);
  };
  if (fit(1) == 0) {
    return "the spectra of one image, one filter and one output do not fit into 1 GiB";
  }
  // Few passes over filters: each of them transforms all images again.
  int64_t passes = 1;
  while (fit(divided_up(layer.K(), passes)) == 0) ++passes;
  const int64_t filters = divided_up(layer.K(), passes);
  plan.filters = static_cast<int>(filters);
  plan.images = balanced(layer.N(), fit(filters));

  const int64_t tiles = int64_t{plan.images} * plan.tiles();
  plan.image_planes = balanced(tiles * layer.C(), planes_at_once);
  plan.filter_planes = balanced(filters * layer.C(), planes_at_once);
  plan.output_planes = balanced(tiles * filters, planes_at_once);
  plan.scratch =
      aligned(frequencies * std::max({plan.image_planes, plan.filter_planes, plan.output_planes}));
  plan.image_spectra = aligned(frequencies * tiles * layer.C());
  plan.filter_spectra = aligned(frequencies * filters * layer.C());
  plan.output_spectra = aligned(frequencies * tiles * filters);
  return "";
}

}  // namespace halo::peers
