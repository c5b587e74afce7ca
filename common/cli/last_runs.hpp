// What came of the last run of each stage in this build folder, for `halo list`.
#pragma once

#include <string>

#include "common/build/build_folder.hpp"
#include "common/report/rows.hpp"

namespace halo {

/// Notes what came of these stages. Where that cannot be written, nothing is noted.
void note_runs(const BuildFolder& build, const Results& results);

/// "ok 2 min ago", "FAIL 3 h ago, edited since": of the stage as a whole. Empty: it has not run here.
std::string last_run(const BuildFolder& build, const std::string& stage);

}  // namespace halo
