// The variants of stage 06 and what they must cost.
#include <array>

#include "common/harness/traffic.hpp"
#include "stages/06_conv2d_direct/conv2d_direct.hpp"
#include "stages/06_conv2d_direct/stage.hpp"

namespace halo::conv2d_direct {

namespace {

using conv::ConvLayer;

Layer layer_of(const ConvLayer& layer) {
  return {layer.N(),        layer.C(),         layer.H(),        layer.W(), layer.K(),
          layer.R(),        layer.S(),         layer.P(),        layer.Q(), layer.stride_h(),
          layer.stride_w(), layer.padding_h(), layer.padding_w()};
}

// How many of `count` planes, each of `size` cells and one behind the other, begin 0, 1, ... 7 cells
// after the start of a sector. All that is alike in planes that begin alike is counted once.
using Starts = std::array<std::uint64_t, 8>;
Starts starts_of(std::int64_t count, std::int64_t size) {
  Starts starts{};
  for (int i = 0; i < 8 && i < count; ++i) starts[i * (size % 8) % 8] += (count - i + 7) / 8;
  return starts;
}

// Sectors of one request for every `stride`-th cell, `lanes` of them, in each of the planes together.
std::uint64_t sectors_in(const Starts& starts, std::int64_t first, std::int64_t lanes,
                         std::int64_t stride = 1) {
  std::uint64_t sectors = 0;
  for (int start = 0; start < 8; ++start) {
    if (starts[start] == 0) continue;
    std::vector<std::int64_t> cells;
    for (std::int64_t i = 0; i < lanes; ++i) cells.push_back(start + first + i * stride);
    sectors += starts[start] * sectors_of(cells);
  }
  return sectors;
}

// Calls visit(p, outputs of row p) for each warp with outputs in a plane: 32 outputs of a row, or what
// there is.
template <class Visit>
void for_each_warp_of_outputs(const ConvLayer& layer, Visit visit) {
  for (int p = 0; p < layer.P(); ++p) {
    for (int q = 0; q < layer.Q(); q += kTileColumns) {
      visit(p, Cells{q, q + kTileColumns}.within({0, layer.Q()}));
    }
  }
}

void add_stores(simt::Counters& counters, const ConvLayer& layer) {
  const std::uint64_t planes = std::uint64_t(layer.N()) * layer.K();
  const Starts starts = starts_of(planes, std::int64_t{layer.P()} * layer.Q());
  for_each_warp_of_outputs(layer, [&](int p, Cells outputs) {
    counters.global_store_requests += planes;
    counters.global_store_sectors += sectors_in(starts, std::int64_t{p} * layer.Q() + outputs.begin,
                                                outputs.end - outputs.begin);
  });
}

// Steps 1 to 3: for each product a request for the cells and one for the tap, unless all lanes have a
// ghost cell.
simt::Counters predict_direct(const ConvLayer& layer) {
  simt::Counters counters;
  const std::uint64_t planes = std::uint64_t(layer.N()) * layer.C();
  const Starts starts = starts_of(planes, std::int64_t{layer.H()} * layer.W());
  for_each_warp_of_outputs(layer, [&](int p, Cells outputs) {
    for (int r = 0; r < layer.R(); ++r) {
      const std::int64_t h = std::int64_t{p} * layer.stride_h() - layer.padding_h() + r;
      if (h < 0 || h >= layer.H()) continue;
      for (int s = 0; s < layer.S(); ++s) {
        // Lanes whose cell exists are neighbours.
        std::int64_t lanes = 0;
        std::int64_t first = 0;
        for (std::int64_t q = outputs.begin; q < outputs.end; ++q) {
          const std::int64_t w = q * layer.stride_w() - layer.padding_w() + s;
          if (w >= 0 && w < layer.W() && lanes++ == 0) first = w;
        }
        if (lanes == 0) continue;
        counters.global_load_requests += 2 * planes * layer.K();
        counters.global_load_sectors += planes * layer.K();  // all lanes have the same tap
        counters.global_load_sectors +=
            layer.K() * sectors_in(starts, h * layer.W() + first, lanes, layer.stride_w());
      }
    }
  });
  add_stores(counters, layer);
  return counters;
}

enum class Taps { in_constant, in_shared };

// Steps 4 to 6: blocks that load a tile for each channel and piece, once for each of `groups` groups of
// filters.
simt::Counters predict_tiled(const ConvLayer& layer, Taps taps, Piece piece, std::uint64_t groups) {
  simt::Counters counters;
  const std::uint64_t planes = std::uint64_t(layer.N()) * layer.C();
  const std::uint64_t filter_planes = std::uint64_t(layer.K()) * layer.C();
  const Starts image_starts = starts_of(planes, std::int64_t{layer.H()} * layer.W());
  const Starts filter_starts = starts_of(filter_planes, std::int64_t{layer.R()} * layer.S());
  const std::int64_t tiles =
      std::int64_t{(layer.P() - 1) / kTileRows + 1} * ((layer.Q() - 1) / kTileColumns + 1);

  for (int first_r = 0; first_r < layer.R(); first_r += piece.rows) {
    for (int first_s = 0; first_s < layer.S(); first_s += piece.columns) {
      const int rows = std::min(piece.rows, layer.R() - first_r);
      const int columns = std::min(piece.columns, layer.S() - first_s);
      const int tile_rows = (kTileRows - 1) * layer.stride_h() + rows;
      const int tile_columns = (kTileColumns - 1) * layer.stride_w() + columns;
      counters.barriers += 2 * planes * groups * tiles;

      // The tile: each row by one warp, 32 cells at a time.
      for (std::int64_t first_p = 0; first_p < layer.P(); first_p += kTileRows) {
        for (std::int64_t first_q = 0; first_q < layer.Q(); first_q += kTileColumns) {
          const std::int64_t first_h = first_p * layer.stride_h() - layer.padding_h() + first_r;
          const std::int64_t first_w = first_q * layer.stride_w() - layer.padding_w() + first_s;
          for (std::int64_t h = first_h; h < first_h + tile_rows; ++h) {
            for (int column = 0; column < tile_columns; column += kTileColumns) {
              counters.shared_store_requests += planes * groups;
              counters.shared_store_wavefronts += planes * groups;
              if (h < 0 || h >= layer.H()) continue;
              const Cells lanes = Cells{column, column + kTileColumns}.within({0, tile_columns});
              const Cells cells = lanes.shifted(first_w).within({0, layer.W()});
              if (cells.empty()) continue;
              counters.global_load_requests += planes * groups;
              counters.global_load_sectors +=
                  groups *
                  sectors_in(image_starts, h * layer.W() + cells.begin, cells.end - cells.begin);
            }
          }
        }
      }
      // The taps: 32 at a time, for each tile of each image.
      for (int i = 0; taps == Taps::in_shared && i < rows * columns; i += kWarpSize) {
        const int lanes = std::min(kWarpSize, rows * columns - i);
        const std::uint64_t times = tiles * layer.N();
        counters.global_load_requests += times * filter_planes;
        counters.global_load_sectors +=
            times *
            sectors_in(filter_starts, std::int64_t{first_r} * layer.S() + first_s + i, lanes);
        counters.shared_store_requests += times * filter_planes;
        counters.shared_store_wavefronts += times * filter_planes;
      }
      // Computing: a cell once for each group, a tap once for each filter.
      for_each_warp_of_outputs(layer, [&](int, Cells outputs) {
        std::vector<std::int64_t> cells;
        for (std::int64_t x = 0; x < outputs.end - outputs.begin; ++x) {
          cells.push_back(x * layer.stride_w());
        }
        const std::uint64_t wavefronts = wavefronts_of(cells);
        const std::uint64_t cell_reads = planes * groups * rows * columns;
        const std::uint64_t tap_reads = layer.N() * filter_planes * rows * columns;
        counters.shared_load_requests += cell_reads;
        counters.shared_load_wavefronts += cell_reads * wavefronts;
        counters.shared_load_conflicts += cell_reads * (wavefronts - 1);
        if (taps == Taps::in_constant) {
          counters.constant_load_requests += tap_reads;
        } else {
          counters.shared_load_requests += tap_reads;
          counters.shared_load_wavefronts += tap_reads;
        }
      });
    }
  }
  add_stores(counters, layer);
  return counters;
}

std::uint64_t groups_of(const ConvLayer& layer) { return (layer.K() - 1) / kFilterGroup + 1; }

std::string needs_plain_steps(const ConvLayer& layer) {
  if (layer.stride_h() != 1 || layer.stride_w() != 1) return "it knows no stride but 1";
  if (layer.padding_h() != 0 || layer.padding_w() != 0) return "it knows no padding";
  return "";
}

std::string needs_one_plane(const ConvLayer& layer) {
  if (layer.N() != 1 || layer.C() != 1 || layer.K() != 1) {
    return "it is made for one image, one channel and one filter";
  }
  return needs_plain_steps(layer);
}

std::string needs_constant(const ConvLayer& layer) {
  if (layer.filters_size() > kConstantFloats) {
    return "its filters must fit into 64 KB of constant memory, " +
           std::to_string(kConstantFloats) + " floats";
  }
  if (tile_floats(layer_of(layer), {layer.R(), layer.S()}) > kSharedFloats) {
    return "its tile must fit into 48 KB of shared memory";
  }
  return "";
}

// For steps 5 and 6.
std::function<std::string(const ConvLayer&)> needs_piece(int filters) {
  return [filters](const ConvLayer& layer) -> std::string {
    if (largest_piece(layer_of(layer), filters).rows > 0) return "";
    return "with such strides not even the tile of a single tap fits into 48 KB of shared memory";
  };
}

}  // namespace

Conv2dStage stage() {
  Conv2dVariant one;
  one.name = "one_channel";
  one.source = "stages/06_conv2d_direct/1_one_channel.cu";
  one.description = "one image, one channel, one filter; a thread an output";
  one.launch = [](const Conv2dCall& c) {
    return one_channel(c.input, c.filters, c.output, layer_of(c.layer));
  };
  one.refuses = needs_one_plane;
  one.predict = predict_direct;

  Conv2dVariant many;
  many.name = "channels";
  many.source = "stages/06_conv2d_direct/2_channels.cu";
  many.description = "batches, channels and filters; stride 1, no padding";
  many.launch = [](const Conv2dCall& c) {
    return channels(c.input, c.filters, c.output, layer_of(c.layer));
  };
  many.refuses = needs_plain_steps;
  many.predict = predict_direct;

  Conv2dVariant any;
  any.name = "stride_padding";
  any.source = "stages/06_conv2d_direct/3_stride_padding.cu";
  any.description = "any layer, everything from global memory";
  any.launch = [](const Conv2dCall& c) {
    return stride_padding(c.input, c.filters, c.output, layer_of(c.layer));
  };
  any.predict = predict_direct;

  Conv2dVariant constant;
  constant.name = "tile_constant";
  constant.source = "stages/06_conv2d_direct/4_tile_constant.cu";
  constant.description = "tile and halo in shared memory, filters in constant memory";
  constant.launch = [](const Conv2dCall& c) {
    return tile_constant(c.input, c.output, layer_of(c.layer));
  };
  constant.refuses = needs_constant;
  constant.set_filters = [](const float* filters, const ConvLayer& layer) {
    return set_filters(filters, static_cast<int>(layer.filters_size()));
  };
  constant.predict = [](const ConvLayer& layer) {
    return predict_tiled(layer, Taps::in_constant, {layer.R(), layer.S()}, layer.K());
  };

  Conv2dVariant shared;
  shared.name = "tile_shared";
  shared.source = "stages/06_conv2d_direct/5_tile_shared.cu";
  shared.description = "tile and taps in shared memory, large filters in pieces";
  shared.launch = [](const Conv2dCall& c) {
    return tile_shared(c.input, c.filters, c.output, layer_of(c.layer));
  };
  shared.refuses = needs_piece(1);
  shared.predict = [](const ConvLayer& layer) {
    return predict_tiled(layer, Taps::in_shared, largest_piece(layer_of(layer), 1), layer.K());
  };

  Conv2dVariant group;
  group.name = "filter_group";
  group.source = "stages/06_conv2d_direct/6_filter_group.cu";
  group.description = "eight filters for each tile that is loaded";
  group.launch = [](const Conv2dCall& c) {
    return filter_group(c.input, c.filters, c.output, layer_of(c.layer));
  };
  group.refuses = needs_piece(kFilterGroup);
  group.predict = [](const ConvLayer& layer) {
    return predict_tiled(layer, Taps::in_shared, largest_piece(layer_of(layer), kFilterGroup),
                         groups_of(layer));
  };
  return {.name = "06_conv2d_direct",
          .variants = {one, many, any, constant, shared, group},
          .plan = {}};
}

}  // namespace halo::conv2d_direct
