// The launches of this program: kept for take_launches(), written to SIMT_REPORT, findings printed.
#pragma once

#include "common/simt/simt.hpp"

namespace simt {

void record_launch(Launch launch);

}  // namespace simt
