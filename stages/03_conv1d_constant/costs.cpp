// What the kernel of stage 03 must cost.
#include "common/harness/families/conv1d.hpp"
#include "common/harness/traffic/tally.hpp"

namespace halo::conv1d_constant {

namespace {

// As stage 02, with each tap from constant memory.
Cost predict_constant(const Conv1dShape& shape) {
  const auto blocks = Cells{0, shape.length}.pieces(shape.threads);
  Tally tally;
  tally.launch(blocks.count(), shape.threads);
  for (const Cells block : blocks) {
    for (const Cells lanes : block.pieces(kWarpSize)) {
      const Cells warp = lanes.within({shape.first, shape.last});
      for (int j = 0; j < shape.mask_width; ++j) {
        const Cells cells = warp.shifted(j - shape.halo()).within({0, shape.length});
        tally.load(cells);
        tally.constant_load(!cells.empty());
      }
      tally.store(warp);
    }
  }
  return tally.cost();
}

}  // namespace

void complete(Conv1dStage& stage) { variant(stage, "constant").must_cost(predict_constant); }

}  // namespace halo::conv1d_constant
