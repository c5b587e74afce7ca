// What the kernels of stage 05 must cost.
#include "common/harness/conv1d_traffic.hpp"
#include "common/harness/families/conv1d.hpp"

namespace halo::conv1d_tiled_cached {

namespace {

simt::Counters predict_tiled_cached(const Conv1dShape& shape) {
  simt::Counters counters;
  for_each_block(shape, [&](std::int64_t start) {
    const Cells tile = Cells{start, start + shape.threads}.within(signal(shape));
    // Loading: the block's own cells, once.
    for_each_warp(start, shape.threads, [&](Cells lanes) {
      const Cells cells = lanes.within(tile);
      if (cells.empty()) return;
      counters.global_load_requests += 1;
      counters.global_load_sectors += cells.sectors();
      counters.shared_store_requests += 1;
      counters.shared_store_wavefronts += 1;
    });
    counters.barriers += 1;
    // Computing: per warp and tap one shared read for the lanes inside the tile and one request for
    // those outside. Lanes are neighbours and no more than the tile is wide, so they leave the tile
    // on one side only.
    for_each_warp(start, shape.threads, [&](Cells lanes) {
      const Cells warp = lanes.within(outputs(shape));
      if (warp.empty()) return;
      for (int j = 0; j < shape.mask_width; ++j) {
        const Cells cells = warp.shifted(j - shape.halo()).within(signal(shape));
        if (cells.empty()) continue;
        counters.constant_load_requests += 1;
        if (!cells.within(tile).empty()) {
          counters.shared_load_requests += 1;
          counters.shared_load_wavefronts += 1;
        }
        for (const Cells side : {Cells{0, tile.begin}, Cells{tile.end, shape.length}}) {
          const Cells halo_cells = cells.within(side);
          if (halo_cells.empty()) continue;
          counters.global_load_requests += 1;
          counters.global_load_sectors += halo_cells.sectors();
        }
      }
      counters.global_store_requests += 1;
      counters.global_store_sectors += warp.sectors();
    });
  });
  return counters;
}

simt::Counters predict_quad(const Conv1dShape& shape) {
  simt::Counters counters;
  const int side = (shape.halo() + 3) / 4;
  const std::int64_t cells = 4 * (2 * side + 1);
  for (std::int64_t start = 0; start < shape.length; start += 4 * kWarpSize) {
    // Threads whose cells all exist read 16 bytes at once, the others cell by cell.
    std::int64_t quad_readers = 0;
    std::int64_t first_reader = 0;
    std::vector<std::int64_t> singles;  // first output of each of the others
    for (std::int64_t i = start; i < std::min<std::int64_t>(start + 4 * kWarpSize, shape.length);
         i += 4) {
      const std::int64_t from = i - 4 * side;
      if (from >= 0 && from + cells <= shape.length) {
        if (quad_readers++ == 0) first_reader = from;
      } else {
        singles.push_back(i);
      }
    }
    if (quad_readers > 0) {
      for (std::int64_t c = 0; c < cells; c += 4) {
        counters.global_load_requests += 1;
        counters.global_load_sectors +=
            Cells{first_reader + c, first_reader + c + 4 * quad_readers}.sectors();
      }
    }
    for (std::int64_t c = 0; c < cells && !singles.empty(); ++c) {
      std::vector<std::int64_t> read;
      for (const std::int64_t i : singles) {
        const std::int64_t k = i - 4 * side + c;
        if (k >= 0 && k < shape.length) read.push_back(k);
      }
      if (read.empty()) continue;
      counters.global_load_requests += 1;
      counters.global_load_sectors += sectors_of(read);
    }
    counters.constant_load_requests += shape.mask_width;
    // The same with the outputs.
    std::int64_t quad_writers = 0;
    std::int64_t first_writer = 0;
    singles.clear();
    for (std::int64_t i = start; i < std::min<std::int64_t>(start + 4 * kWarpSize, shape.length);
         i += 4) {
      if (i >= shape.first && i + 4 <= shape.last) {
        if (quad_writers++ == 0) first_writer = i;
      } else {
        singles.push_back(i);
      }
    }
    if (quad_writers > 0) {
      counters.global_store_requests += 1;
      counters.global_store_sectors +=
          Cells{first_writer, first_writer + 4 * quad_writers}.sectors();
    }
    for (int v = 0; v < 4; ++v) {
      std::vector<std::int64_t> written;
      for (const std::int64_t i : singles) {
        if (i + v >= shape.first && i + v < shape.last) written.push_back(i + v);
      }
      if (written.empty()) continue;
      counters.global_store_requests += 1;
      counters.global_store_sectors += sectors_of(written);
    }
  }
  return counters;
}

}  // namespace

void complete(Conv1dStage& stage) {
  variant(stage, "tiled_cached").predict = predict_tiled_cached;
  variant(stage, "quad").predict = predict_quad;
}

}  // namespace halo::conv1d_tiled_cached
