// What the kernels of stage 04 must cost.
#include "common/harness/conv1d_traffic.hpp"
#include "common/harness/families/conv1d.hpp"

namespace halo::conv1d_tiled_halo {

namespace {

simt::Counters predict_tiled_halo(const Conv1dShape& shape) {
  simt::Counters counters;
  const int tile_size = shape.threads + 2 * shape.halo();
  for_each_block(shape, [&](std::int64_t start) {
    // Loading: each cell of the tile is written, each that exists is read, neighbours together.
    for (int turn = 0; turn < tile_size; turn += shape.threads) {
      for_each_warp(turn, shape.threads, [&](Cells lanes) {
        const Cells tile = lanes.within({0, tile_size});
        if (tile.empty()) return;
        counters.shared_store_requests += 1;
        counters.shared_store_wavefronts += 1;
        const Cells cells = tile.shifted(start - shape.halo()).within(signal(shape));
        if (cells.empty()) return;
        counters.global_load_requests += 1;
        counters.global_load_sectors += cells.sectors();
      });
    }
    counters.barriers += 1;
    // Computing: a tap is one shared read, without conflict, and one constant read a warp.
    for_each_warp(start, shape.threads, [&](Cells lanes) {
      const Cells warp = lanes.within(outputs(shape));
      if (warp.empty()) return;
      counters.shared_load_requests += shape.mask_width;
      counters.shared_load_wavefronts += shape.mask_width;
      counters.constant_load_requests += shape.mask_width;
      counters.global_store_requests += 1;
      counters.global_store_sectors += warp.sectors();
    });
  });
  return counters;
}

// Requests and sectors of a loop in which lane l takes cells l, l + 32, ... of `row_cells`, four bytes
// each, as far as they lie within `limits`. Returns the rows with any cell in them.
std::uint64_t add_rows(std::int64_t start, std::int64_t row_cells, Cells limits,
                       std::uint64_t& requests, std::uint64_t& sectors) {
  std::uint64_t rows = 0;
  for (std::int64_t row = 0; row < row_cells; row += kWarpSize) {
    const Cells lanes{start + row, start + std::min(row + kWarpSize, row_cells)};
    const Cells cells = lanes.within(limits);
    if (cells.empty()) continue;
    ++rows;
    ++requests;
    sectors += cells.sectors();
  }
  return rows;
}

simt::Counters predict_warp_tile(const Conv1dShape& shape) {
  simt::Counters counters;
  const int outputs_of_thread = shape.mask_width <= 31 ? 20 : 36;
  const int shift = (4 - shape.halo() % 4) % 4;  // the tile starts at a multiple of 16 bytes
  const std::int64_t tile_outputs = kWarpSize * outputs_of_thread;
  const std::int64_t quads = (tile_outputs + shift + shape.mask_width - 1 + 3) / 4;
  for (std::int64_t start = 0; start < shape.length; start += tile_outputs) {
    // Loading: 16 bytes a lane if all of the tile exists, else cell by cell.
    const std::int64_t from = start - shape.halo() - shift;
    if (from >= 0 && from + 4 * quads <= shape.length) {
      for (std::int64_t row = 0; row < quads; row += kWarpSize) {
        const std::int64_t end = std::min(row + kWarpSize, quads);
        counters.global_load_requests += 1;
        counters.global_load_sectors += Cells{from + 4 * row, from + 4 * end}.sectors();
        counters.shared_store_requests += 1;
        counters.shared_store_wavefronts += quad_wavefronts(end - row);
      }
    } else {
      const std::uint64_t rows = (4 * quads + kWarpSize - 1) / kWarpSize;
      counters.shared_store_requests += rows;
      counters.shared_store_wavefronts += rows;
      add_rows(from, 4 * quads, signal(shape), counters.global_load_requests,
               counters.global_load_sectors);
    }
    // Computing: 16 taps at a time, then the rest; each time the window, 16 bytes a lane.
    for (int j = 0; j < shape.mask_width; j += 16) {
      const int taps = std::min(16, shape.mask_width - j);
      const int window = (shift + outputs_of_thread + taps - 1 + 3) / 4;
      counters.shared_load_requests += window;
      counters.shared_load_wavefronts += window * quad_wavefronts(kWarpSize);
      counters.constant_load_requests += taps;
    }
    // Storing: into the tile, and from there, again 16 bytes a lane or cell by cell.
    const int rows = outputs_of_thread / 4;
    counters.shared_store_requests += rows;
    counters.shared_store_wavefronts += rows * quad_wavefronts(kWarpSize);
    if (start >= shape.first && start + tile_outputs <= shape.last) {
      counters.shared_load_requests += rows;
      counters.shared_load_wavefronts += rows * quad_wavefronts(kWarpSize);
      counters.global_store_requests += rows;
      counters.global_store_sectors += Cells{start, start + tile_outputs}.sectors();
    } else {
      const std::uint64_t read =
          add_rows(start, tile_outputs, outputs(shape), counters.global_store_requests,
                   counters.global_store_sectors);
      counters.shared_load_requests += read;
      counters.shared_load_wavefronts += read;
    }
  }
  return counters;
}

}  // namespace

void complete(Conv1dStage& stage) {
  variant(stage, "tiled_halo").predict = predict_tiled_halo;
  variant(stage, "warp_tile").predict = predict_warp_tile;
}

}  // namespace halo::conv1d_tiled_halo
