// Which lines of the program's kernels ran: take_coverage() (simt.hpp), and the report's.
#pragma once

#include "common/simt/cudart/module.hpp"
#include "common/simt/machine/probes.hpp"

namespace simt::cudart {

/// Before a launch with checks: what watches it.
machine::Probes& expect_coverage(Kernel& kernel);

/// The module goes: the report still tells of it.
void keep_coverage(Module& module);

}  // namespace simt::cudart

namespace simt {

/// All that ran since the program began, whoever has taken it.
Coverage whole_coverage();

}  // namespace simt
