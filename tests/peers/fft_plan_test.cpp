// The FFT peers' geometry: tiles, sizes and passes, and the kernels that cut planes out of images and
// outputs out of planes, in the simulator. Only the transforms themselves and the matrix products need
// a GPU's libraries; here circular correlations take their place, written as fft_plan.hpp defines them.
#include "common/peers/fft_plan.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "common/conv/layer_inputs.hpp"
#include "common/harness/backend/backend.hpp"
#include "common/peers/fft_planes.hpp"
#include "common/peers/fft_signal.hpp"
#include "tests/catch.hpp"

using namespace halo;
using conv::ConvLayer;
using peers::FftPlan;
using peers::FftTiling;

namespace {

constexpr FftTiling kTilings[] = {FftTiling::whole, FftTiling::tiled};

FftPlan plan_of(const ConvLayer& layer, FftTiling tiling) {
  FftPlan plan;
  REQUIRE(peers::plan_fft(layer, tiling, plan) == "");
  return plan;
}

// Stride 1: small and large, narrow and wide filters, with no, usual and more padding, many of
// everything.
std::vector<ConvLayer> layers() {
  return {
      ConvLayer({.H = 1, .W = 1, .R = 1, .S = 1}),
      ConvLayer({.N = 2, .C = 3, .H = 7, .W = 10, .K = 5, .R = 1, .S = 1}),
      ConvLayer({.N = 3, .C = 2, .H = 11, .W = 6, .K = 4, .R = 3, .S = 2}),
      ConvLayer({.C = 2, .H = 5, .W = 5, .K = 2, .R = 3, .S = 3, .padding_h = 1, .padding_w = 2}),
      // Padding wider than the filter: outputs that see nothing.
      ConvLayer({.C = 2, .H = 5, .W = 4, .K = 2, .R = 2, .S = 1, .padding_h = 6, .padding_w = 3}),
      // Filters larger than the image, so that they are what a transform must hold.
      ConvLayer({.N = 2, .H = 4, .W = 3, .K = 2, .R = 9, .S = 7, .padding_h = 3, .padding_w = 2}),
      // More than one tile of 32, either way.
      ConvLayer({.N = 2, .C = 2, .H = 37, .W = 70, .K = 3, .R = 5, .S = 3, .padding_h = 2}),
      ConvLayer({.H = 31, .W = 64, .K = 2, .R = 3, .S = 17, .padding_h = 1, .padding_w = 8}),
      // More than one tile of 64.
      ConvLayer({.H = 20, .W = 90, .R = 2, .S = 20, .padding_h = 1}),
  };
}

// result[i][j] of fft_plan.hpp, summed over the channels of one image's tile and one filter:
// planes [C][rows][pitch] each. In double.
std::vector<double> correlate(const FftPlan& plan, int channels, const float* tile,
                              const float* filter) {
  std::vector<double> result(static_cast<std::size_t>(plan.rows * plan.columns));
  const int plane = plan.rows * plan.pitch();
  for (int c = 0; c < channels; ++c, tile += plane, filter += plane) {
    for (int r = 0; r < plan.rows; ++r) {
      for (int s = 0; s < plan.columns; ++s) {
        const double tap = filter[r * plan.pitch() + s];
        if (tap == 0) continue;
        for (int i = 0; i < plan.rows; ++i) {
          const float* const cells = tile + (i + r) % plan.rows * plan.pitch();
          for (int j = 0; j < plan.columns; ++j) {
            result[static_cast<std::size_t>(i * plan.columns + j)] +=
                cells[(j + s) % plan.columns] * tap;
          }
        }
      }
    }
  }
  return result;
}

// All planes of `tiles`, cut `at_once` at a time.
std::vector<float> cut(Backend& backend, const peers::FftTiles& tiles, const Array& cells,
                       std::int64_t first_cell, int H, int W, int padding_h, int padding_w,
                       int at_once) {
  const int planes = tiles.images * tiles.tiles_down * tiles.tiles_across * tiles.channels;
  const auto plane = static_cast<std::size_t>(tiles.rows * tiles.pitch);
  Array scratch(backend, static_cast<std::size_t>(at_once) * plane);
  std::vector<float> all;
  for (int first = 0; first < planes; first += at_once) {
    scratch.poison();
    const Observation seen = backend.run([&] {
      return peers::fft_pad(tiles, cells.data() + first_cell, H, W, padding_h, padding_w,
                            scratch.data(), first, at_once);
    });
    REQUIRE(seen.error == "");
    CHECK(seen.hazards.empty());
    std::vector<float> part(scratch.size());
    scratch.read(part);
    const auto count = static_cast<std::size_t>(std::min(at_once, planes - first));
    all.insert(all.end(), part.begin(), part.begin() + static_cast<std::ptrdiff_t>(count * plane));
    // Planes that do not exist are zero: they are transformed with the others.
    for (std::size_t at = count * plane; at < part.size(); ++at) {
      if (at % static_cast<std::size_t>(tiles.pitch) < static_cast<std::size_t>(tiles.columns)) {
        REQUIRE(part[at] == 0);
      }
    }
  }
  return all;
}

// The layer as cufft_convolution.cpp computes it, pass by pass.
std::vector<float> convolve(Backend& backend, const ConvLayer& layer, const FftPlan& plan,
                            const std::vector<float>& cells, const std::vector<float>& taps) {
  Array input(backend, cells.size());
  Array filters(backend, taps.size());
  Array output(backend, static_cast<std::size_t>(layer.output_size()));
  input.write(cells);
  filters.write(taps);
  output.poison();
  const int C = layer.C();
  const std::int64_t outputs = std::int64_t{layer.P()} * layer.Q();
  const int plane = plan.rows * plan.pitch();
  for (int k = 0; k < layer.K(); k += plan.filters) {
    const int some_filters = std::min(plan.filters, layer.K() - k);
    const peers::FftTiles of_filters = {plan.rows, plan.columns, plan.pitch(), 1, 1,
                                        plan.rows, plan.columns, some_filters, C};
    const std::vector<float> filter_planes =
        cut(backend, of_filters, filters, std::int64_t{k} * C * layer.R() * layer.S(), layer.R(),
            layer.S(), 0, 0, plan.filter_planes);
    for (int n = 0; n < layer.N(); n += plan.images) {
      const int some_images = std::min(plan.images, layer.N() - n);
      peers::FftTiles tiles = {plan.rows,       plan.columns,      plan.pitch(),
                               plan.tiles_down, plan.tiles_across, plan.step_h,
                               plan.step_w,     some_images,       C};
      const std::vector<float> image_planes =
          cut(backend, tiles, input, std::int64_t{n} * C * layer.H() * layer.W(), layer.H(),
              layer.W(), layer.padding_h(), layer.padding_w(), plan.image_planes);
      // [image][tile][filter of the pass][rows][pitch]
      tiles.channels = some_filters;
      const int of_images = some_images * plan.tiles();
      const int planes = of_images * some_filters;
      std::vector<float> results(static_cast<std::size_t>(planes) *
                                 static_cast<std::size_t>(plane));
      for (int at = 0; at < planes; ++at) {
        const std::vector<double> result =
            correlate(plan, C, image_planes.data() + at / some_filters * C * plane,
                      filter_planes.data() + at % some_filters * C * plane);
        for (int i = 0; i < plan.rows * plan.columns; ++i) {
          results[static_cast<std::size_t>(at * plane + i / plan.columns * plan.pitch() +
                                           i % plan.columns)] =
              static_cast<float>(2 * result[static_cast<std::size_t>(i)]);
        }
      }
      for (int first = 0; first < planes; first += plan.output_planes) {
        const int count = std::min(plan.output_planes, planes - first);
        Array scratch(backend, static_cast<std::size_t>(count * plane));
        scratch.write(
            std::span(results).subspan(static_cast<std::size_t>(first * plane), scratch.size()));
        const Observation seen = backend.run([&] {
          return peers::fft_crop(tiles, scratch.data(), first, count, 0.5f,
                                 output.data() + (std::int64_t{n} * layer.K() + k) * outputs,
                                 layer.K(), layer.P(), layer.Q());
        });
        REQUIRE(seen.error == "");
        CHECK(seen.hazards.empty());
      }
    }
  }
  std::vector<float> result(output.size());
  output.read(result);
  return result;
}

}  // namespace

TEST_CASE("fft plan: sizes are products of 2, 3, 5 and 7, the smallest that do") {
  CHECK(peers::fft_size(1, false) == 2);
  CHECK(peers::fft_size(1, true) == 2);
  CHECK(peers::fft_size(11, false) == 12);
  CHECK(peers::fft_size(13, false) == 14);
  CHECK(peers::fft_size(25, false) == 25);
  CHECK(peers::fft_size(25, true) == 28);
  CHECK(peers::fft_size(225, false) == 225);
  CHECK(peers::fft_size(225, true) == 240);
}

TEST_CASE("fft plan: the simulated kernels and circular correlations make the convolution") {
  const auto backend = make_backend();
  for (const ConvLayer& layer : layers()) {
    const std::vector<float> cells = conv::exact_input(layer, test::seed());
    const std::vector<float> taps = conv::exact_filters(layer, test::seed());
    for (const FftTiling tiling : kTilings) {
      FftPlan plan = plan_of(layer, tiling);
      INFO(conv::label(layer) << ", " << plan.tiles() << " tiles of " << plan.rows << "x"
                              << plan.columns);
      CHECK(conv::check(layer, cells, taps, convolve(*backend, layer, plan, cells, taps),
                        conv::Demand::exact)
                .passed());
      // As if there were less memory: passes of unequal sizes, planes a few at a time.
      plan.images = std::max(1, layer.N() - 1);
      plan.filters = std::max(1, layer.K() - 1);
      plan.image_planes = 3;
      plan.filter_planes = 2;
      plan.output_planes = 3;
      CHECK(conv::check(layer, cells, taps, convolve(*backend, layer, plan, cells, taps),
                        conv::Demand::exact)
                .passed());
    }
  }
}

TEST_CASE("fft plan: tiles cover the outputs, passes the layer, and all fits into 1 GiB") {
  std::vector<ConvLayer> all = layers();
  // As the paper's networks have them, and larger.
  all.push_back(conv::parse_label("224-128-3-64-64"));
  all.push_back(conv::parse_label("28-128-3-512-512-p0"));
  all.push_back(conv::parse_label("55-64-5-256-96-p0"));
  all.push_back(conv::parse_label("60-1-1-4096-4096"));
  all.push_back(conv::parse_label("4000-1-31-1-1-p0"));
  for (const ConvLayer& layer : all) {
    for (const FftTiling tiling : kTilings) {
      const FftPlan plan = plan_of(layer, tiling);
      INFO(conv::label(layer) << ", " << plan.tiles() << " tiles of " << plan.rows << "x"
                              << plan.columns << ", passes of " << plan.images << " images and "
                              << plan.filters << " filters");
      CHECK(plan.columns % 2 == 0);
      CHECK(plan.tiles_down * plan.step_h >= layer.P());
      CHECK((plan.tiles_down - 1) * plan.step_h < layer.P());
      CHECK(plan.tiles_across * plan.step_w >= layer.Q());
      CHECK((plan.tiles_across - 1) * plan.step_w < layer.Q());
      if (tiling == FftTiling::whole) {
        CHECK(plan.tiles() == 1);
      } else {
        CHECK(2 * plan.step_h > plan.rows);
        CHECK(2 * plan.step_w > plan.columns);
      }
      CHECK(plan.images >= 1);
      CHECK(plan.images <= layer.N());
      CHECK(plan.filters >= 1);
      CHECK(plan.filters <= layer.K());
      // No more room than it takes, and no less.
      const std::int64_t f = plan.frequencies();
      const std::int64_t tiles = std::int64_t{plan.images} * plan.tiles();
      const auto holds = [](std::int64_t room, std::int64_t numbers) {
        return room >= numbers && room < numbers + 32 && room % 32 == 0;
      };
      CHECK(holds(plan.image_spectra, f * tiles * layer.C()));
      CHECK(holds(plan.filter_spectra, f * plan.filters * layer.C()));
      CHECK(holds(plan.output_spectra, f * tiles * plan.filters));
      CHECK(holds(plan.scratch,
                  f * std::max({plan.image_planes, plan.filter_planes, plan.output_planes})));
      CHECK(plan.workspace_floats() * 4 + plan.scratch * 8 <= peers::kMostFftBytes);
    }
  }
}

TEST_CASE("fft plan: what it can't compute it refuses, in words") {
  for (const FftTiling tiling : kTilings) {
    FftPlan plan;
    CHECK_THAT(
        peers::plan_fft(ConvLayer({.H = 9, .W = 9, .R = 3, .S = 3, .stride_w = 2}), tiling, plan),
        test::contains("stride 1"));
    // The spectra of 70,000 channels, image and filter.
    CHECK_THAT(
        peers::plan_fft(ConvLayer({.C = 70'000, .H = 100, .W = 100, .R = 3, .S = 3}), tiling, plan),
        test::contains("do not fit into 1 GiB"));
  }
  FftPlan plan;
  CHECK_THAT(peers::plan_fft(ConvLayer({.H = 40'000, .W = 40'000, .R = 3, .S = 3}),
                             FftTiling::whole, plan),
             test::contains("does not fit into 1 GiB"));
}

TEST_CASE("FFT plan: tiles of a signal have each output once, and inner ones its cells only") {
  for (const int width : {1, 3, 255, 1021, 1023}) {
    for (const int n : {1, 510, 511, 512, 3073, 3074, 3075, 4096, 4607, 4608, 7170, 100'000}) {
      CAPTURE(width, n);
      const peers::SignalTiles tiles(n, width, 4096);
      CHECK(tiles.start(tiles.count - 1) < n);
      CHECK(tiles.start(tiles.count) >= n);
      std::vector<bool> taken(static_cast<std::size_t>(tiles.count));
      for (int tile = 0; tile < tiles.count; ++tile) {
        const long long from = tiles.start(tile) - tiles.halo;
        CHECK(tiles.start(tile + 1) - tiles.start(tile) <= tiles.step);
        const bool whole = from >= 0 && from + tiles.cells <= n;
        if (tile > 0) {
          CHECK(from % 2 == 0);
          CHECK(whole == (tile <= tiles.inner));
        }
        taken.at(static_cast<std::size_t>(tiles.slot(tile))).flip();
      }
      CHECK(std::count(taken.begin(), taken.end(), true) == tiles.count);
    }
  }
}
