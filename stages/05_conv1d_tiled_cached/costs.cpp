// What the kernels of stage 05 must cost.
#include "common/harness/families/conv1d.hpp"
#include "common/harness/traffic/tally.hpp"

namespace halo::conv1d_tiled_cached {

namespace {

// What the threads of a warp ask for that have four outputs each: quads around their first, where all their cells exist,
// else cell by cell. Nobody reads what is not `used`: of the first and the last quad nvcc leaves it out.
template <class Ask>
void add_fours(Cells warp, Cells around, Cells used, Cells exist, Ask ask) {
  const auto whole = [&](std::int64_t thread) {
    return exist.contains(around.shifted(4 * thread));
  };
  for (std::int64_t c = around.begin; c < around.end; c += 4) {
    const Cells part = Cells{c, c + 4}.within(used);
    const bool narrow = part.size() <= 2;
    ask(wide_lanes(narrow ? static_cast<int>(part.size()) : 4, warp, [&](std::int64_t i) {
      return whole(i) ? 4 * i + (narrow ? part.begin : c) : kNoCell;
    }));
  }
  for (std::int64_t c = used.begin; c < used.end; ++c) {
    ask(lanes(warp, [&](std::int64_t i) {
      return !whole(i) && exist.contains(4 * i + c) ? 4 * i + c : kNoCell;
    }));
  }
}

Cost predict_tiled_cached(const Conv1dShape& shape) {
  const Cells signal{0, shape.length};
  const auto tiles = signal.pieces(shape.threads);
  Tally tally;
  tally.launch(tiles.count(), shape.threads, shape.threads * sizeof(float));
  for (const Cells tile : tiles) {
    // Loading: the block's own cells, once.
    tally.load(tile);
    tally.shared_store(tile);
    tally.barriers(1);
    // Computing: for each tap the lanes inside the tile read there, and those outside what is on either
    // side of it.
    for (const Cells lanes : tile.pieces(kWarpSize)) {
      const Cells warp = lanes.within({shape.first, shape.last});
      for (int j = 0; j < shape.mask_width; ++j) {
        const Cells cells = warp.shifted(j - shape.halo()).within(signal);
        tally.constant_load(!cells.empty());
        tally.shared_load(cells.within(tile));
        tally.load(cells.within({0, tile.begin}));
        tally.load(cells.within({tile.end, shape.length}));
      }
      tally.store(warp);
    }
  }
  return tally.cost();
}

Cost predict_quad(const Conv1dShape& shape) {
  const std::int64_t side = (shape.halo() + 3) / 4;  // quads on either side of a thread's own
  constexpr int kThreads = 128;
  Tally tally;
  tally.launch(Cells{0, shape.length}.pieces(4 * kThreads).count(), kThreads);
  for (const Cells warp : Cells{0, (shape.length + 3) / 4}.pieces(kWarpSize)) {
    add_fours(warp, {-4 * side, 4 + 4 * side}, {-shape.halo(), 4 + shape.halo()}, {0, shape.length},
              [&](const Lanes& cells) { tally.load(cells); });
    tally.constant_load(shape.mask_width);
    add_fours(warp, {0, 4}, {0, 4}, {shape.first, shape.last},
              [&](const Lanes& outputs) { tally.store(outputs); });
  }
  return tally.cost();
}

}  // namespace

void complete(Conv1dStage& stage) {
  variant(stage, "tiled_cached").must_cost(predict_tiled_cached);
  variant(stage, "quad").must_cost(predict_quad);
}

}  // namespace halo::conv1d_tiled_cached
