// What the kernels of stage 10's convolutions must cost, and the plan that chooses among them.
#include <utility>

#include "common/harness/families/conv2d.hpp"
#include "common/harness/traffic/tally.hpp"
#include "common/network/layout_choice.hpp"

namespace halo::layout_convolution {

namespace {

using conv::ConvLayer;

// A block's lanes and warps, and the taps between two barriers.
constexpr int kLanes = 32;
constexpr int kWarps = 4;
constexpr int kTaps = 8;

enum class Across { images, pixels };

// What a launch does, from the layer's numbers alone.
struct Division {
  int columns, filters;  // of a thread
  std::int64_t column_groups, filter_groups;
};

// The maps that a kernel reads, or writes: for each of R x S taps, of each channel and pixel [p][q],
// cell [p * u - a + r][q * v - b + s] of each image.
struct Maps {
  conv::Layout layout;
  std::int64_t N, channels, H, W, P, Q, R, S, u, v, a, b;

  // Floats from a cell to the next image's, the next channel's, row's and column's.
  std::int64_t image_step() const { return images_inside() ? 1 : channels * H * W; }
  std::int64_t channel_step() const { return H * row_step(); }
  std::int64_t row_step() const { return W * column_step(); }
  std::int64_t column_step() const { return images_inside() ? N : 1; }
  bool images_inside() const { return layout == conv::Layout::chwn; }
};

Maps input_maps(const ConvLayer& layer, conv::Layout layout) {
  const auto& [N, C, H, W, K, R, S, u, v, a, b, G, d, e] = layer.shape();
  return {layout, N, C, H, W, layer.P(), layer.Q(), R, S, u, v, a, b};
}

Maps output_maps(const ConvLayer& layer, conv::Layout layout) {
  const std::int64_t P = layer.P(), Q = layer.Q();
  return {layout, layer.N(), layer.K(), P, Q, P, Q, 1, 1, 1, 1, 0, 0};
}

// How often each of `size` rows is asked for, `step` floats apart, or each column.
Times asked(std::int64_t outputs, std::int64_t taps, std::int64_t stride, std::int64_t padding,
            std::int64_t size, std::int64_t step) {
  Times times = 0;
  for (std::int64_t output = 0; output < outputs; ++output) {
    const Cells reach = Cells{0, taps}.shifted(output * stride - padding).within({0, size});
    for (std::int64_t cell = reach.begin; cell < reach.end; ++cell) times.add(cell * step);
  }
  return times;
}

// Calls ask(run, times). Lanes are images: they all have the cell, or none has.
template <class Ask>
void ask_for_images(const Maps& m, Ask ask) {
  ask(strided(0, m.N, m.image_step()), asked(m.P, m.R, m.u, m.a, m.H, m.row_step()) *
                                           asked(m.Q, m.S, m.v, m.b, m.W, m.column_step()) *
                                           every(m.channel_step(), m.channels));
}

// Calls ask(lanes, times). Lanes are pixels, numbered through over the images.
template <class Ask>
void ask_for_pixels(const Maps& m, Ask ask) {
  const std::int64_t pixels = m.P * m.Q;
  const Times channels = every(m.channel_step(), m.channels);
  for_each_warp(m.N, pixels, [&](Cells warp, Again images) {
    for (std::int64_t r = 0; r < m.R; ++r) {
      for (std::int64_t s = 0; s < m.S; ++s) {
        const auto cell_of = [&](std::int64_t pixel) {
          const std::int64_t h = pixel / m.Q % m.P * m.u - m.a + r;
          const std::int64_t w = pixel % m.Q * m.v - m.b + s;
          if (h < 0 || h >= m.H || w < 0 || w >= m.W) return kNoCell;
          return pixel / pixels * m.image_step() + h * m.row_step() + w * m.column_step();
        };
        ask(lanes(warp, cell_of), channels * images.every(m.image_step()));
      }
    }
  });
}

// A block's loads of taps: 8 products of 4 filters by each warp, as far as they exist.
void load_taps(Tally& tally, const ConvLayer& layer, std::int64_t times) {
  const std::int64_t products = layer.products_per_output();
  const std::int64_t tiles = products / kTaps;
  const std::int64_t fours = layer.K() / 4;
  const std::pair<Cells, Times> of_filters[] = {{{0, 4}, every(4 * products, fours)},
                                                {{4 * fours, layer.K()}, 1}};
  const std::pair<Cells, Times> of_taps[] = {{{0, kTaps}, tiles}, {{kTaps * tiles, products}, 1}};
  for (const auto& [filters, filters_times] : of_filters) {
    for (const auto& [taps, taps_times] : of_taps) {
      const auto cell_of = [&](std::int64_t lane) {
        const std::int64_t k = filters.begin + lane / kTaps, t = taps.begin + lane % kTaps;
        return k < filters.end && t < taps.end ? k * products + t : kNoCell;
      };
      tally.load(lanes({0, kWarpSize}, cell_of), filters_times * taps_times * times);
    }
  }
}

Division divide(const ConvLayer& layer, Across across) {
  const std::int64_t pixels = std::int64_t{layer.P()} * layer.Q();
  const std::int64_t in_a_row = across == Across::images ? layer.N() : layer.N() * pixels;
  Division division;
  division.columns = in_a_row >= 4 * kLanes ? 4 : in_a_row >= 2 * kLanes ? 2 : 1;
  division.filters = layer.K() <= 4 * kWarps ? 4 : layer.K() <= 8 * kWarps ? 8 : 16;
  division.column_groups = (in_a_row - 1) / (division.columns * kLanes) + 1;
  if (across == Across::images) division.column_groups *= pixels;
  division.filter_groups = (layer.K() - 1) / (kWarps * division.filters) + 1;
  return division;
}

Cost predict(const ConvLayer& layer, Across across, conv::Layout layout) {
  const Division division = divide(layer, across);
  Tally tally;
  const auto load = [&](const auto& cells, const Times& times) {
    tally.load(cells, times * division.filter_groups);
  };
  const auto store = [&](const auto& outputs, const Times& times) { tally.store(outputs, times); };
  if (across == Across::images) {
    ask_for_images(input_maps(layer, layout), load);
    ask_for_images(output_maps(layer, layout), store);
  } else {
    ask_for_pixels(input_maps(layer, layout), load);
    ask_for_pixels(output_maps(layer, layout), store);
  }
  load_taps(tally, layer, division.column_groups);

  // Tiles are stored and read whole, zeros where there is nothing: 8 cells of each column, 8 taps of
  // each filter, which a warp has four of at a time.
  const std::int64_t tiles =
      ((layer.products_per_output() - 1) / kTaps + 1) * division.column_groups;
  const std::int64_t row = kWarps * division.filters + 4;
  const std::int64_t tile_floats = kTaps * (division.columns * kLanes + row);
  tally.launch(division.column_groups * division.filter_groups, kLanes * kWarps,
               tile_floats * sizeof(float));
  const Cells cells{0, kLanes};
  const Lanes taps =
      lanes({0, kWarpSize}, [&](std::int64_t lane) { return lane % kTaps * row + lane / kTaps; });
  tally.shared_store(cells, tiles * division.filter_groups * kTaps * division.columns);
  tally.shared_store(taps, tiles * division.filter_groups * division.filters);
  tally.barriers(2 * tiles * division.filter_groups);
  // Warps with filters read them, all lanes the same four taps at once.
  const std::int64_t warps = (layer.K() - 1) / division.filters + 1;
  const Run four_taps{.lanes = kLanes, .stride = 0, .width = 4};
  tally.shared_load(cells, tiles * warps * kTaps * division.columns);
  tally.shared_load(four_taps, tiles * warps * kTaps * (division.filters / 4));
  return tally.cost();
}

std::string described(const Division& division) {
  const std::int64_t blocks = division.column_groups * division.filter_groups;
  return std::to_string(division.columns) + " x " + std::to_string(division.filters) +
         " sums per thread, " + std::to_string(blocks) + (blocks == 1 ? " block" : " blocks");
}

std::string plan(const ConvLayer& layer, const std::string& gpu) {
  const std::vector<network::Thresholds> all =
      gpu.empty() ? network::published_thresholds()
                  : std::vector{network::published_thresholds_of(gpu)};
  return explain(layer, all);
}

}  // namespace

void complete(Conv2dStage& stage) {
  for (Conv2dVariant& each : stage.variants) {
    const Across across = each.name.starts_with("images") ? Across::images : Across::pixels;
    const conv::Layout layout = each.layout;
    each.must_cost(
        [across, layout](const ConvLayer& layer) { return predict(layer, across, layout); });
    each.tells([across](const ConvLayer& layer) { return described(divide(layer, across)); });
  }
  stage.plan = plan;
  // One layer with many images, as many as a warp has lanes, and one: with N = 1 the layouts are one.
  stage.simulated = "8-128-3-16-4,8-32-3-16-4,8-1-3-16-4";
  stage.measured =
      "24-128-5-64-3,13-128-3-384-256,13-32-3-384-256,13-1-3-384-256";  // CV3 and CV7 of the paper
}

}  // namespace halo::layout_convolution
