// What the harness need know of stage 01 besides: these are no kernels, so nothing is predicted.
#include "common/harness/families/conv1d.hpp"

namespace halo::conv1d_cpu {

void complete(Conv1dStage& stage) {
  variant(stage, "loop")
      .refuses(up_to_products(4'000'000'000, "one core needs more than ten seconds for this"));
}

}  // namespace halo::conv1d_cpu
