// The variants of stage 02 and what each must cost.
#include "common/harness/conv1d_traffic.hpp"
#include "stages/02_conv1d_global/conv1d_global.hpp"
#include "stages/02_conv1d_global/stage.hpp"

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

Conv1dStage stage() {
  Conv1dVariant one;
  one.name = "single_block";
  one.source = "stages/02_conv1d_global/1_single_block.cu";
  one.description = "one block walks the whole signal";
  one.task = 1;
  one.most_products = 100'000'000;
  one.most_products_reason = "a single block takes seconds for so many products";
  one.launch = [](const Conv1dCall& c) {
    return single_block(c.input, c.mask, c.output, c.length, c.mask_width, c.first, c.last,
                        c.threads);
  };
  one.predict = predict_single_block;

  Conv1dVariant many;
  many.name = "grid";
  many.source = "stages/02_conv1d_global/2_grid.cu";
  many.description = "one thread an output";
  many.task = 2;
  many.launch = [](const Conv1dCall& c) {
    return grid(c.input, c.mask, c.output, c.length, c.mask_width, c.first, c.last, c.threads);
  };
  many.predict = predict_grid;

  Conv1dVariant thrust;
  thrust.name = "thrust";
  thrust.source = "stages/02_conv1d_global/3_thrust.cu";
  thrust.description = "one function object an output, the kernel is Thrust's";
#ifdef HALO_NO_THRUST
  thrust.unavailable = HALO_NO_THRUST;
#else
  thrust.launch = [](const Conv1dCall& c) {
    return thrust_transform(c.input, c.mask, c.output, c.length, c.mask_width, c.first, c.last);
  };
  thrust.uncounted = "with no GPU Thrust runs on the CPU: there is no kernel to watch";
#endif
  return {"02_conv1d_global", {one, many, thrust}};
}

}  // namespace halo::conv1d_global
