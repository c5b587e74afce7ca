// The kernels of stage 13 and what they must cost, and the stages that it is built of.
#include <algorithm>

#include "common/harness/traffic.hpp"
#include "stages/06_conv2d_direct.hpp"
#include "stages/08_multi_channel_stride_fixed.hpp"
#include "stages/09_cuconv_two_stage.hpp"
#include "stages/10_layout_convolution.hpp"
#include "stages/10_layout_transform.hpp"
#include "stages/11_fused_pooling.hpp"
#include "stages/12_fused_softmax.hpp"
#include "stages/13_network/digits_folder.hpp"
#include "stages/13_network/network_kernels.hpp"
#include "stages/13_network/stage.hpp"

namespace halo::network {

namespace {

using conv::Layout;

constexpr std::uint64_t kWarpsOfTile = kTileSide * kTileSide / kWarpSize;

Connections connections_of(const conv::ConvLayer& layer) {
  return {layer.N(), static_cast<int>(layer.products_per_output()), layer.K()};
}

std::string needs_all_of_the_map(const conv::ConvLayer& layer) {
  const conv::LayerShape& shape = layer.shape();
  if (shape.R == shape.H && shape.S == shape.W && shape.padding_h == 0 && shape.padding_w == 0) {
    return "";
  }
  return "it is made for filters that cover the whole map";
}

// Requests of 32 lanes for neighbouring features of each of `rows` rows [rows][F], `times` times.
void load_rows(simt::Counters& counters, std::int64_t rows, std::int64_t F, std::uint64_t times) {
  const std::uint64_t requests = (F + kWarpSize - 1) / kWarpSize;
  // Rows that begin alike within a sector cost alike.
  for (std::int64_t row = 0; row < std::min<std::int64_t>(rows, 8); ++row) {
    const std::uint64_t alike = (rows - row + 7) / 8;
    std::uint64_t sectors = 0;
    for (std::int64_t f = 0; f < F; f += kWarpSize) {
      sectors += Cells{f, f + kWarpSize}.within({0, F}).shifted(row * F).sectors();
    }
    counters.global_load_requests += times * alike * requests;
    counters.global_load_sectors += times * alike * sectors;
  }
}

simt::Counters predict_tiled(const conv::ConvLayer& layer, Layout layout) {
  simt::Counters counters;
  const auto [N, F, K] = connections_of(layer);
  const std::uint64_t image_tiles = (N - 1) / kTile + 1;
  const std::uint64_t output_tiles = (K - 1) / kTile + 1;
  const std::uint64_t steps = std::uint64_t(F - 1) / kTileStep + 1;
  const std::uint64_t blocks = image_tiles * output_tiles;

  // Reading: the images once for each tile of outputs, the filters once for each tile of images.
  load_rows(counters, K, F, image_tiles);
  if (layout == Layout::nchw) {
    load_rows(counters, N, F, output_tiles);
  } else {
    load_rows(counters, F, N, output_tiles);
  }
  // Of both tiles 2,048 cells a step, written whether they exist or not.
  counters.shared_store_requests = blocks * steps * 2 * kTileStep * kTile / kWarpSize;
  counters.shared_store_wavefronts = counters.shared_store_requests;
  // For each of a step's features a thread reads 4 cells of both; lanes read runs of at most 16.
  counters.shared_load_requests = blocks * steps * kTileStep * kWarpsOfTile * 8;
  counters.shared_load_wavefronts = counters.shared_load_requests;
  counters.barriers = blocks * steps * 2;

  // Writing: a warp has two neighbouring lines of a tile, 16 cells of each at a time.
  const std::int64_t lines = layout == Layout::nchw ? N : K;
  const std::int64_t cells = layout == Layout::nchw ? K : N;
  for (std::int64_t tile_line = 0; tile_line < lines; tile_line += kTile) {
    for (std::int64_t line = tile_line; line < std::min(tile_line + kTile, lines); line += 2) {
      const std::int64_t end = std::min(line + 2, lines);
      for (std::int64_t cell = 0; cell < cells; cell += kTileSide) {
        std::vector<std::int64_t> written;
        for (std::int64_t at = line; at < end; ++at) {
          for (std::int64_t i = cell; i < std::min(cell + kTileSide, cells); ++i) {
            written.push_back(at * cells + i);
          }
        }
        counters.global_store_requests += 1;
        counters.global_store_sectors += sectors_of(written);
      }
    }
  }
  return counters;
}

simt::Counters predict_lanes(const conv::ConvLayer& layer, Layout layout) {
  simt::Counters counters;
  const auto [N, F, K] = connections_of(layer);
  const std::uint64_t groups = (N - 1) / kLaneImages + 1;
  load_rows(counters, K, F, groups);
  if (layout == Layout::nchw) {
    load_rows(counters, N, F, K);
  } else {
    // Lanes are N cells apart. Requests whose first cells lie alike within a sector cost alike: of 32 * N
    // cells from one to the next, that is all of them.
    for (std::int64_t n = 0; n < N; ++n) {
      for (std::int64_t f = 0; f < F; f += kWarpSize) {
        const std::int64_t lanes = std::min<std::int64_t>(kWarpSize, F - f);
        std::uint64_t sectors = 0;
        std::int64_t last = -1;
        for (std::int64_t lane = 0; lane < lanes; ++lane) {
          const std::int64_t sector = ((f + lane) * N + n) / 8;
          sectors += sector != last;
          last = sector;
        }
        // All but the last request are alike.
        const std::uint64_t alike = lanes == kWarpSize ? F / kWarpSize : 1;
        counters.global_load_requests += alike * K;
        counters.global_load_sectors += alike * K * sectors;
        f += (alike - 1) * kWarpSize;
      }
    }
  }
  // One lane writes, image by image.
  counters.global_store_requests = counters.global_store_sectors = std::uint64_t(N) * K;
  return counters;
}

Conv2dVariant fully_connected(const std::string& name, const std::string& source,
                              const std::string& description, Layout layout,
                              cudaError_t (*launch)(const float*, const float*, float*,
                                                    const Connections&),
                              simt::Counters (*predict)(const conv::ConvLayer&, Layout)) {
  Conv2dVariant variant;
  variant.name = name;
  variant.source = source;
  variant.description = description;
  variant.layout = layout;
  variant.launch = [launch](const Conv2dCall& c) {
    return launch(c.input, c.filters, c.output, connections_of(c.layer));
  };
  variant.refuses = needs_all_of_the_map;
  variant.predict = [predict, layout](const conv::ConvLayer& layer) {
    return predict(layer, layout);
  };
  return variant;
}

int inner_of(const BiasRelu& problem) {
  const conv::Images& images = problem.images;
  return images.H() * images.W() * (problem.layout == Layout::chwn ? images.N() : 1);
}

simt::Counters predict_bias_relu(const BiasRelu& problem) {
  simt::Counters counters;
  const std::int64_t count = problem.images.size();
  const std::int64_t inner = inner_of(problem);
  const std::int64_t channels = problem.images.C();
  for (std::int64_t first = 0; first < count; first += kWarpSize) {
    const std::int64_t end = std::min(first + kWarpSize, count);
    const std::uint64_t sectors = Cells{first, end}.sectors();
    counters.global_load_requests += 2;
    counters.global_load_sectors += sectors;
    counters.global_store_requests += 1;
    counters.global_store_sectors += sectors;
    // The biases: those of neighbouring channels, and from the last one on again the first.
    const std::int64_t least = first / inner;
    const std::int64_t most = (end - 1) / inner;
    if (least == most) {
      counters.global_load_sectors += 1;
      continue;
    }
    std::vector<std::int64_t> biases;
    for (std::int64_t channel = least; channel <= most; ++channel) {
      biases.push_back(channel % channels);
    }
    counters.global_load_sectors += sectors_of(biases);
  }
  return counters;
}

Catalogue catalogue() {
  Catalogue ours;
  ours.maker = "halo";
  for (const Conv2dStage& stage : {conv2d_direct::stage(), multi_channel_stride_fixed::stage(),
                                   cuconv_two_stage::stage(), layout_convolution::stage()}) {
    Catalogue::add(ours.convolutions, stage.name, stage.variants);
  }
  Catalogue::add(ours.pooling, "11_fused_pooling", fused_pooling::stage().variants);
  Catalogue::add(ours.softmax, "12_fused_softmax", fused_softmax::stage().variants);
  Catalogue::add(ours.transforms, "10_layout_transform", layout_transform::stage().variants);
  Catalogue::add(ours.fully_connected, "13_network", fully_connected_variants());
  Catalogue::add(ours.bias_relu, "13_network", {bias_relu_variant()});
  return ours;
}

}  // namespace

std::vector<Conv2dVariant> fully_connected_variants() {
  const std::string tiled = "stages/13_network/2_fully_connected_tiled.cu";
  const std::string lanes = "stages/13_network/3_fully_connected_lanes.cu";
  return {
      fully_connected("tiled_nchw", tiled, "fully connected: tiles of 64 images x 64 outputs",
                      Layout::nchw, fully_connected_tiled_nchw, predict_tiled),
      fully_connected("tiled_chwn", tiled, "the same in CHWN", Layout::chwn,
                      fully_connected_tiled_chwn, predict_tiled),
      fully_connected("lanes_nchw", lanes, "fully connected: a warp an output of up to 4 images",
                      Layout::nchw, fully_connected_lanes_nchw, predict_lanes),
      fully_connected("lanes_chwn", lanes, "the same in CHWN", Layout::chwn,
                      fully_connected_lanes_chwn, predict_lanes),
  };
}

BiasReluVariant bias_relu_variant() {
  BiasReluVariant variant;
  variant.name = "bias_relu";
  variant.source = "stages/13_network/1_bias_relu.cu";
  variant.launch = [](const BiasRelu& problem, float* data, const float* bias) {
    return bias_relu(data, bias, problem.images.C(), inner_of(problem),
                     static_cast<int>(problem.images.size()), problem.relu);
  };
  variant.predict = predict_bias_relu;
  return variant;
}

NetworkStage stage() { return {"13_network", catalogue, HALO_DIGITS_FOLDER}; }

}  // namespace halo::network
