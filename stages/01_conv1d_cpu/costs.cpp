// What the harness need know of stage 01 besides: these are no kernels, so the simulator has nothing to
// count.
#include "common/harness/families/conv1d.hpp"

namespace halo::conv1d_cpu {

void complete(Conv1dStage& stage) {
  for (Conv1dVariant& each : stage.variants) {
    each.uncounted = "this stage runs on the CPU: there is no kernel to watch";
  }
  variant(stage, "loop").refuses =
      up_to_products(4'000'000'000, "one core needs more than ten seconds for this");
}

}  // namespace halo::conv1d_cpu
