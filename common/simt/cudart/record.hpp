// The launches of this program: kept for take_launches(), written to SIMT_REPORT, findings printed.
#pragma once

#include "common/simt/simt.hpp"

namespace simt {

void record_launch(Launch launch);

// Whether take_launches() was called: then what kernels do and print is not for the terminal.
bool program_reads_findings();

}  // namespace simt
