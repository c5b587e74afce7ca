// The launches of this program: kept for take_launches(), written to SIMT_REPORT, findings printed.
#pragma once

#include "common/simt/simt.hpp"

namespace simt {

void record_launch(Launch launch);
/// What host code does wrong, as of a launch of that name.
void record_of_host(Finding finding);

// Whether take_launches() was called: then what kernels do and print is not for the terminal.
bool program_reads_findings();

}  // namespace simt
