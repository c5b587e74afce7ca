// What the processor and its memory can do at most.
#pragma once

#include "common/report/rows.hpp"

namespace halo {

/// Measures the fastest copy and the multiply-adds of all hardware threads together, medians of
/// several rounds: about two seconds and 1 GiB of memory. The clock is not measured.
Roofs measure_cpu_roofs();

}  // namespace halo
