// The variant of stage 05 and what it must cost.
#include "common/harness/conv1d_traffic.hpp"
#include "stages/05_conv1d_tiled_cached/conv1d_tiled_cached.hpp"
#include "stages/05_conv1d_tiled_cached/stage.hpp"

namespace halo::conv1d_tiled_cached {

namespace {

simt::Counters predict(const Conv1dShape& shape) {
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

}  // namespace

Conv1dStage stage() {
  Conv1dVariant variant;
  variant.name = "tiled_cached";
  variant.source = "stages/05_conv1d_tiled_cached/tiled_cached.cu";
  variant.description = "the block's own cells in shared memory, the halo through the cache";
  variant.task = 5;
  variant.set_mask = set_mask;
  variant.launch = [](const Conv1dCall& c) {
    return tiled_cached(c.input, c.output, c.length, c.mask_width, c.first, c.last, c.threads);
  };
  variant.predict = predict;
  return {"05_conv1d_tiled_cached", {variant}};
}

}  // namespace halo::conv1d_tiled_cached
