#include "common/conv/limits.hpp"
#include "common/harness/conv1d.hpp"
#include "common/harness/kernels.hpp"

namespace halo {

static_assert(kMaxMaskWidth == conv::kMaxMaskWidth);

void add(Conv1dStage& stage, const char* name, const char* source, const Conv1dKernel& kernel) {
  Conv1dVariant variant;
  variant.name = name;
  variant.source = source;
  variant.description = described(kernel.description, kernel.tuned);
  variant.task = kernel.task;
  if (kernel.launch != nullptr) variant.launch = kernel.launch;
  if (kernel.set_mask != nullptr) variant.set_mask = kernel.set_mask;
  variant.widest_mask = kernel.widest_mask;
  if (kernel.unavailable != nullptr) variant.unavailable = kernel.unavailable;
  stage.variants.push_back(std::move(variant));
}

}  // namespace halo
