// What the kernels of stage 02 must cost.
#include "common/harness/families/conv1d.hpp"
#include "common/harness/traffic/tally.hpp"

namespace halo::conv1d_global {

namespace {

// For each tap a warp asks for the cells that exist, and then for the tap itself. It stores once.
void add_warp(Tally& tally, const Conv1dShape& shape, Cells warp) {
  for (int j = 0; j < shape.mask_width; ++j) {
    const Cells cells = warp.shifted(j - shape.halo()).within({0, shape.length});
    tally.load(cells);
    tally.load(one(j), !cells.empty());
  }
  tally.store(warp);
}

// One block takes as many outputs as it has threads, then as many again.
Cost predict_single_block(const Conv1dShape& shape) {
  Tally tally;
  tally.launch(1, shape.threads);
  for (const Cells turn : Cells{shape.first, shape.last}.pieces(shape.threads)) {
    for (const Cells warp : turn.pieces(kWarpSize)) add_warp(tally, shape, warp);
  }
  return tally.cost();
}

Cost predict_grid(const Conv1dShape& shape) {
  const auto blocks = Cells{0, shape.length}.pieces(shape.threads);
  Tally tally;
  tally.launch(blocks.count(), shape.threads);
  for (const Cells block : blocks) {
    for (const Cells warp : block.pieces(kWarpSize)) {
      add_warp(tally, shape, warp.within({shape.first, shape.last}));
    }
  }
  return tally.cost();
}

// Thrust's kernel: an output per thread, of those that are asked for, in blocks of its own size.
Cost predict_thrust(const Conv1dShape& shape) {
  constexpr int kThreads = 256;
  const Cells outputs{shape.first, shape.last};
  Tally tally;
  if (outputs.empty()) return tally.cost();
  const auto blocks = outputs.pieces(kThreads);
  tally.launch(blocks.count(), kThreads);
  for (const Cells block : blocks) {
    for (const Cells warp : block.pieces(kWarpSize)) add_warp(tally, shape, warp);
  }
  return tally.cost();
}

}  // namespace

void complete(Conv1dStage& stage) {
  Conv1dVariant& one = variant(stage, "single_block");
  one.must_cost(predict_single_block);
  one.refuses(up_to_products(100'000'000, "a single block takes seconds for so many products"));
  variant(stage, "grid").must_cost(predict_grid);
  variant(stage, "thrust").must_cost(predict_thrust);
}

}  // namespace halo::conv1d_global
