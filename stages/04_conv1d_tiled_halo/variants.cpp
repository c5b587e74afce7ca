// The variant of stage 04 and what it must cost.
#include "common/harness/conv1d_traffic.hpp"
#include "stages/04_conv1d_tiled_halo/conv1d_tiled_halo.hpp"
#include "stages/04_conv1d_tiled_halo/stage.hpp"

namespace halo::conv1d_tiled_halo {

namespace {

simt::Counters predict(const Conv1dShape& shape) {
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

}  // namespace

Conv1dStage stage() {
  Conv1dVariant variant;
  variant.name = "tiled_halo";
  variant.source = "stages/04_conv1d_tiled_halo/tiled_halo.cu";
  variant.description = "the block loads its tile and the halo into shared memory";
  variant.task = 4;
  variant.set_mask = set_mask;
  variant.launch = [](const Conv1dCall& c) {
    return tiled_halo(c.input, c.output, c.length, c.mask_width, c.first, c.last, c.threads);
  };
  variant.predict = predict;
  return {"04_conv1d_tiled_halo", {variant}};
}

}  // namespace halo::conv1d_tiled_halo
