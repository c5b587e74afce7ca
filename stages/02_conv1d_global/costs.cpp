// What the kernels of stage 02 must cost.
#include "common/harness/conv1d_traffic.hpp"
#include "common/harness/families/conv1d.hpp"

namespace halo::conv1d_global {

namespace {

// A warp that computes these outputs: for each tap one request for the cells that exist and one for
// the tap itself; one store.
void add_warp(const Conv1dShape& shape, Cells warp, simt::Counters& counters) {
  if (warp.empty()) return;
  for (int j = 0; j < shape.mask_width; ++j) {
    const Cells cells = warp.shifted(j - shape.halo()).within(signal(shape));
    if (cells.empty()) continue;
    counters.global_load_requests += 2;
    counters.global_load_sectors += cells.sectors() + 1;
  }
  counters.global_store_requests += 1;
  counters.global_store_sectors += warp.sectors();
}

// One block takes blockDim.x outputs a turn, the first at `first`.
simt::Counters predict_single_block(const Conv1dShape& shape) {
  simt::Counters counters;
  for (std::int64_t turn = shape.first; turn < shape.last; turn += shape.threads) {
    for_each_warp(turn, shape.threads,
                  [&](Cells warp) { add_warp(shape, warp.within(outputs(shape)), counters); });
  }
  return counters;
}

simt::Counters predict_grid(const Conv1dShape& shape) {
  simt::Counters counters;
  for_each_block(shape, [&](std::int64_t start) {
    for_each_warp(start, shape.threads,
                  [&](Cells warp) { add_warp(shape, warp.within(outputs(shape)), counters); });
  });
  return counters;
}

}  // namespace

void complete(Conv1dStage& stage) {
  Conv1dVariant& one = variant(stage, "single_block");
  one.predict = predict_single_block;
  one.refuses = up_to_products(100'000'000, "a single block takes seconds for so many products");
  variant(stage, "grid").predict = predict_grid;
  variant(stage, "thrust").uncounted =
      "with no GPU Thrust runs on the CPU: there is no kernel to watch";
}

}  // namespace halo::conv1d_global
