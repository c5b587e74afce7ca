// What the kernels of stage 06 must cost.
#include <array>

#include "common/harness/families/conv2d.hpp"
#include "common/harness/traffic.hpp"

namespace halo::conv2d_direct {

namespace {

using conv::ConvLayer;

// A block's outputs, and how many filters it applies to a tile from step 6 on.
constexpr int kTileRows = 8;
constexpr int kTileColumns = 32;
constexpr int kFilterGroup = 8;

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

// How much of a filter's channel is worked through at a time.
struct Piece {
  int rows, columns;
};
Piece whole(const ConvLayer& layer) { return {layer.R(), layer.S()}; }

// Step 7: the largest piece that fits into 48 KB, with the tile that it needs: whole rows, or a part of
// one.
Piece largest_piece(const ConvLayer& layer) {
  constexpr std::int64_t kFloats = 48 * 1024 / 4;
  const std::int64_t down = std::int64_t{kTileRows - 1} * layer.stride_h();
  const std::int64_t across = std::int64_t{kTileColumns - 1} * layer.stride_w();
  const std::int64_t S = layer.S();
  const std::int64_t rows = (kFloats - down * (across + S)) / (across + S + kFilterGroup * S);
  if (rows >= 1) return {static_cast<int>(std::min<std::int64_t>(rows, layer.R())), layer.S()};
  const std::int64_t columns = (kFloats - (down + 1) * across) / (down + 1 + kFilterGroup);
  return {1, static_cast<int>(std::min(columns, S))};
}

// Steps 4 to 7: blocks that load a tile for each channel and piece, once for each of `groups` groups of
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

}  // namespace

void complete(Conv2dStage& stage) {
  variant(stage, "one_channel").predict = predict_direct;
  variant(stage, "channels").predict = predict_direct;
  variant(stage, "stride_padding").predict = predict_direct;
  variant(stage, "tile_constant").predict = [](const ConvLayer& layer) {
    return predict_tiled(layer, Taps::in_constant, whole(layer), layer.K());
  };
  variant(stage, "tile_shared").predict = [](const ConvLayer& layer) {
    return predict_tiled(layer, Taps::in_shared, whole(layer), layer.K());
  };
  variant(stage, "filter_group").predict = [](const ConvLayer& layer) {
    return predict_tiled(layer, Taps::in_shared, whole(layer), groups_of(layer));
  };
  variant(stage, "filter_pieces").predict = [](const ConvLayer& layer) {
    return predict_tiled(layer, Taps::in_shared, largest_piece(layer), groups_of(layer));
  };
}

}  // namespace halo::conv2d_direct
