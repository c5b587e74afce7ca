// What the kernel of stage 03 must cost.
#include "common/harness/conv1d_traffic.hpp"
#include "common/harness/families/conv1d.hpp"

namespace halo::conv1d_constant {

namespace {

// Per warp and tap one request for the cells that exist, and one constant read.
simt::Counters predict_constant(const Conv1dShape& shape) {
  simt::Counters counters;
  for_each_block(shape, [&](std::int64_t start) {
    for_each_warp(start, shape.threads, [&](Cells lanes) {
      const Cells warp = lanes.within(outputs(shape));
      if (warp.empty()) return;
      for (int j = 0; j < shape.mask_width; ++j) {
        const Cells cells = warp.shifted(j - shape.halo()).within(signal(shape));
        if (cells.empty()) continue;
        counters.global_load_requests += 1;
        counters.global_load_sectors += cells.sectors();
        counters.constant_load_requests += 1;
      }
      counters.global_store_requests += 1;
      counters.global_store_sectors += warp.sectors();
    });
  });
  return counters;
}

}  // namespace

void complete(Conv1dStage& stage) { variant(stage, "constant").predict = predict_constant; }

}  // namespace halo::conv1d_constant
