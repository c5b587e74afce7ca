// The variants of stage 10's convolutions and what they must cost.
#include <array>
#include <numeric>
#include <stdexcept>

#include "common/harness/traffic.hpp"
#include "common/planning/layout_choice.hpp"
#include "stages/10_layout_convolution/layout_convolution.hpp"
#include "stages/10_layout_convolution/stage.hpp"

namespace halo::layout_convolution {

namespace {

using conv::ConvLayer;

enum class Lanes { images, pixels };

Layer layer_of(const ConvLayer& layer) {
  return {layer.N(),        layer.C(),         layer.H(),        layer.W(), layer.K(),
          layer.R(),        layer.S(),         layer.P(),        layer.Q(), layer.stride_h(),
          layer.stride_w(), layer.padding_h(), layer.padding_w()};
}

Layout layout_of(conv::Layout layout, int N, int channels, int rows, int columns) {
  return layout == conv::Layout::nchw ? nchw(channels, rows, columns) : chwn(N, rows, columns);
}
Layout input_layout(conv::Layout layout, const ConvLayer& l) {
  return layout_of(layout, l.N(), l.C(), l.H(), l.W());
}
Layout output_layout(conv::Layout layout, const ConvLayer& l) {
  return layout_of(layout, l.N(), l.K(), l.P(), l.Q());
}

// What a launch will do, from the layer's numbers alone.
struct Division {
  int columns, filters;  // of a thread
  std::int64_t column_groups, filter_groups;
};

Division divide(const ConvLayer& layer, Lanes lanes) {
  const std::int64_t pixels = std::int64_t{layer.P()} * layer.Q();
  const std::int64_t in_a_row = lanes == Lanes::images ? layer.N() : layer.N() * pixels;
  Division division;
  division.columns = columns_per_thread(static_cast<int>(in_a_row));
  division.filters = filters_per_thread(layer.K());
  division.column_groups = (in_a_row - 1) / (division.columns * kLanes) + 1;
  if (lanes == Lanes::images) division.column_groups *= pixels;
  division.filter_groups = (layer.K() - 1) / (kWarps * division.filters) + 1;
  return division;
}

// How many of many addresses lie 0, 1, ... 7 floats behind a sector's start. Requests that are alike
// but for that are looked at once.
using Starts = std::array<std::uint64_t, 8>;

Starts at(std::int64_t address) {
  Starts starts{};
  starts[address % 8] = 1;
  return starts;
}
// The addresses 0, step, 2 * step, ...
Starts every(std::int64_t step, std::int64_t count) {
  Starts starts{};
  for (std::int64_t i = 0; i < 8 && i < count; ++i) starts[i * step % 8] += (count - i + 7) / 8;
  return starts;
}
// Each of the one with each of the other.
Starts sums(const Starts& a, const Starts& b) {
  Starts starts{};
  for (int i = 0; i < 8; ++i) {
    for (int j = 0; j < 8; ++j) starts[(i + j) % 8] += a[i] * b[j];
  }
  return starts;
}
std::uint64_t total(const Starts& starts) {
  return std::accumulate(starts.begin(), starts.end(), std::uint64_t{0});
}

struct Requests {
  std::uint64_t requests = 0;
  std::uint64_t sectors = 0;

  // As often as there are starts, for lanes with these cells behind each.
  void add(const Starts& starts, const std::vector<std::int64_t>& cells) {
    if (cells.empty()) return;
    requests += total(starts);
    for (int start = 0; start < 8; ++start) {
      if (starts[start] == 0) continue;
      std::vector<std::int64_t> moved = cells;
      for (std::int64_t& cell : moved) cell += start;
      sectors += starts[start] * sectors_of(moved);
    }
  }
};

// The maps that a kernel reads, or writes: for each of R x S taps, of each channel and pixel [p][q],
// cell [p * u - a + r][q * v - b + s] of each image.
struct Maps {
  Layout layout;
  std::int64_t N, channels, H, W, P, Q, R, S, u, v, a, b;
};
Maps input_maps(const ConvLayer& l, conv::Layout layout) {
  return {input_layout(layout, l),
          l.N(),
          l.C(),
          l.H(),
          l.W(),
          l.P(),
          l.Q(),
          l.R(),
          l.S(),
          l.stride_h(),
          l.stride_w(),
          l.padding_h(),
          l.padding_w()};
}
Maps output_maps(const ConvLayer& l, conv::Layout layout) {
  return {output_layout(layout, l), l.N(), l.K(), l.P(), l.Q(), l.P(), l.Q(), 1, 1, 1, 1, 0, 0};
}

// Lanes are images: a warp's lanes all have the cell, or none has. How often each row of the map is
// asked for, and each column, says how often each cell is.
Requests of_images(const Maps& m) {
  const auto asked_for = [](std::int64_t outputs, std::int64_t taps, std::int64_t stride,
                            std::int64_t padding, std::int64_t size, std::int64_t step) {
    Starts starts{};
    for (std::int64_t tap = 0; tap < taps; ++tap) {
      for (std::int64_t output = 0; output < outputs; ++output) {
        const std::int64_t cell = output * stride - padding + tap;
        if (cell >= 0 && cell < size) ++starts[cell * step % 8];
      }
    }
    return starts;
  };
  const Starts cells = sums(sums(asked_for(m.P, m.R, m.u, m.a, m.H, m.layout.h),
                                 asked_for(m.Q, m.S, m.v, m.b, m.W, m.layout.w)),
                            every(m.layout.c, m.channels));
  Requests all;
  const auto add_warps = [&](std::int64_t warps, std::int64_t lanes) {
    std::vector<std::int64_t> images;
    for (std::int64_t n = 0; n < lanes; ++n) images.push_back(n * m.layout.n);
    Starts times = cells;
    for (std::uint64_t& number : times) number *= warps;
    if (warps > 0) all.add(times, images);
  };
  add_warps(m.N / kWarpSize, kWarpSize);  // 32 images further on a sector begins where it does here
  if (m.N % kWarpSize > 0) add_warps(1, m.N % kWarpSize);
  return all;
}

// Lanes are pixels, numbered through over the images. After 32 / gcd(32, P*Q) images a warp begins
// with an image again, and all is as before.
Requests of_pixels(const Maps& m) {
  const std::int64_t pixels = m.P * m.Q;
  const std::int64_t period = kWarpSize / std::gcd(std::int64_t{kWarpSize}, pixels);
  const Starts channels = every(m.layout.c, m.channels);
  Requests all;
  const auto add_images = [&](std::int64_t images, const Starts& starts) {
    for (std::int64_t first = 0; first < images * pixels; first += kWarpSize) {
      const Cells lanes = Cells{first, first + kWarpSize}.within({0, images * pixels});
      for (std::int64_t r = 0; r < m.R; ++r) {
        for (std::int64_t s = 0; s < m.S; ++s) {
          std::vector<std::int64_t> cells;
          for (std::int64_t pixel = lanes.begin; pixel < lanes.end; ++pixel) {
            const std::int64_t h = pixel / m.Q % m.P * m.u - m.a + r;
            const std::int64_t w = pixel % m.Q * m.v - m.b + s;
            if (h < 0 || h >= m.H || w < 0 || w >= m.W) continue;
            cells.push_back(pixel / pixels * m.layout.n + h * m.layout.h + w * m.layout.w);
          }
          all.add(starts, cells);
        }
      }
    }
  };
  const std::int64_t repeats = m.N / period;
  if (repeats > 0) add_images(period, sums(channels, every(period * m.layout.n, repeats)));
  const std::int64_t rest = m.N % period;
  if (rest > 0) add_images(rest, sums(channels, at(repeats * period * m.layout.n)));
  return all;
}

// A block's loads of taps: 8 products of 4 filters by each warp, as far as they exist. The filters
// begin C*R*S floats apart, and tiles 8 floats.
Requests of_taps(const ConvLayer& layer) {
  const std::int64_t products = layer.products_per_output();
  Requests all;
  const auto add = [&](const Starts& starts, std::int64_t filters, std::int64_t times,
                       std::int64_t count) {
    if (times == 0 || count == 0) return;
    std::vector<std::int64_t> cells;
    for (std::int64_t k = 0; k < filters; ++k) {
      for (std::int64_t t = 0; t < count; ++t) cells.push_back(k * products + t);
    }
    Starts all_starts = starts;
    for (std::uint64_t& number : all_starts) number *= times;
    all.add(all_starts, cells);
  };
  const auto add_filters = [&](const Starts& starts, std::int64_t filters) {
    add(starts, filters, products / kTaps, kTaps);
    add(starts, filters, 1, products % kTaps);
  };
  const std::int64_t fours = layer.K() / 4;
  if (fours > 0) add_filters(every(4 * products, fours), 4);
  if (layer.K() % 4 > 0) add_filters(at(fours * 4 * products), layer.K() % 4);
  return all;
}

simt::Counters predict(const ConvLayer& layer, Lanes lanes, conv::Layout layout) {
  const Division division = divide(layer, lanes);
  const auto walk = lanes == Lanes::images ? of_images : of_pixels;
  const Requests cells = walk(input_maps(layer, layout));
  const Requests outputs = walk(output_maps(layer, layout));
  const Requests taps = of_taps(layer);
  simt::Counters counters;
  counters.global_load_requests =
      division.filter_groups * cells.requests + division.column_groups * taps.requests;
  counters.global_load_sectors =
      division.filter_groups * cells.sectors + division.column_groups * taps.sectors;
  counters.global_store_requests = outputs.requests;
  counters.global_store_sectors = outputs.sectors;

  // Tiles are stored and read whole, zeros where there is nothing.
  const std::int64_t tiles = (layer.products_per_output() - 1) / kTaps + 1;
  const std::uint64_t times = tiles * division.column_groups * division.filter_groups;
  counters.barriers = 2 * times;
  std::vector<std::int64_t> stored;  // 8 taps of 4 filters
  for (int lane = 0; lane < kWarpSize; ++lane) {
    stored.push_back(lane % kTaps * (kWarps * division.filters + 4) + lane / kTaps);
  }
  const std::uint64_t cell_requests = kTaps * division.columns;
  counters.shared_store_requests = times * (cell_requests + division.filters);
  counters.shared_store_wavefronts =
      times * (cell_requests + division.filters * wavefronts_of(stored));
  counters.shared_store_conflicts =
      counters.shared_store_wavefronts - counters.shared_store_requests;
  // Warps with filters read them. All lanes read the same four taps: two wavefronts, as many as such a
  // request needs.
  const std::uint64_t warps = (layer.K() - 1) / division.filters + 1;
  const std::uint64_t tap_requests = kTaps * division.filters / 4;
  const std::uint64_t reads = tiles * division.column_groups * warps;
  counters.shared_load_requests = reads * (cell_requests + tap_requests);
  counters.shared_load_wavefronts = reads * (cell_requests + 2 * tap_requests);
  return counters;
}

std::string described(const Division& division) {
  const std::int64_t blocks = division.column_groups * division.filter_groups;
  return std::to_string(division.columns) + " x " + std::to_string(division.filters) +
         " sums a thread, " + std::to_string(blocks) + (blocks == 1 ? " block" : " blocks");
}

Conv2dVariant across_lanes(Lanes lanes, conv::Layout layout) {
  const bool images = lanes == Lanes::images;
  const bool in_nchw = layout == conv::Layout::nchw;
  Conv2dVariant variant;
  variant.name = std::string(images ? "images_" : "pixels_") + (in_nchw ? "nchw" : "chwn");
  variant.source = std::string("stages/10_layout_convolution/") +
                   (images ? "1_images_across_lanes.cu" : "2_pixels_across_lanes.cu");
  variant.description = std::string(images ? "images" : "pixels") + " across the lanes, maps in " +
                        (in_nchw ? "NCHW" : "CHWN");
  variant.layout = layout;
  variant.launch = [images, layout](const Conv2dCall& c) -> int {
    const auto across = images ? images_across_lanes : pixels_across_lanes;
    return across(c.input, c.filters, c.output, layer_of(c.layer), input_layout(layout, c.layer),
                  output_layout(layout, c.layer));
  };
  variant.predict = [lanes, layout](const ConvLayer& layer) {
    return predict(layer, lanes, layout);
  };
  variant.detail = [lanes](const ConvLayer& layer) { return described(divide(layer, lanes)); };
  return variant;
}

std::string plan(const ConvLayer& layer, const std::string& gpu) {
  const std::vector<Thresholds> all =
      gpu.empty() ? published_thresholds() : std::vector{published_thresholds_of(gpu)};
  return explain(layer, all);
}

}  // namespace

Conv2dStage stage() {
  Conv2dStage stage;
  stage.name = "10_layout_convolution";
  // Each pair differs in one thing: the layout, or the implementation.
  stage.variants = {across_lanes(Lanes::images, conv::Layout::chwn),
                    across_lanes(Lanes::images, conv::Layout::nchw),
                    across_lanes(Lanes::pixels, conv::Layout::nchw),
                    across_lanes(Lanes::pixels, conv::Layout::chwn)};
  stage.plan = plan;
  // One layer with many images, as many as a warp has lanes, and one: with N = 1 the layouts are one.
  stage.simulated = "8-128-3-16-4,8-32-3-16-4,8-1-3-16-4";
  stage.measured =
      "24-128-5-64-3,13-128-3-384-256,13-32-3-384-256,13-1-3-384-256";  // CV3 and CV7 of the paper
  return stage;
}

}  // namespace halo::layout_convolution
