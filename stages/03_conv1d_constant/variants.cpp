// The variant of stage 03 and what it must cost.
#include "common/harness/conv1d_traffic.hpp"
#include "stages/03_conv1d_constant/conv1d_constant.hpp"
#include "stages/03_conv1d_constant/stage.hpp"

namespace halo::conv1d_constant {

namespace {

// Per warp and tap one request for the cells that exist, and one constant read.
simt::Counters predict(const Conv1dShape& shape) {
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

Conv1dStage stage() {
  Conv1dVariant variant;
  variant.name = "constant";
  variant.source = "stages/03_conv1d_constant/constant.cu";
  variant.description = "one thread an output, the mask in constant memory";
  variant.task = 3;
  variant.set_mask = set_mask;
  variant.launch = [](const Conv1dCall& c) {
    return constant(c.input, c.output, c.length, c.mask_width, c.first, c.last, c.threads);
  };
  variant.predict = predict;
  return {"03_conv1d_constant", {variant}};
}

}  // namespace halo::conv1d_constant
