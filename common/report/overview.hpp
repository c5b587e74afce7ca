// A run of many stages in a few lines: one for each as it finishes, then what all of them come to.
#pragma once

#include <string>
#include <vector>

#include "common/report/rows.hpp"
#include "common/report/table.hpp"

namespace halo {

/// "04 conv1d_tiled_halo  2 variants  ok  8.36 bytes/output, warp_tile": a stage's number and name, how
/// many of its variants were checked, ok or what is wrong, and the one figure that matters: of what was
/// timed the fastest and its share of what the machine can do, else the fewest bytes of memory an output
/// takes, on the first problem that has such figures. `number`, if it is given, stands for the stage's own. What failed stands below, as render_table tells it.
std::string render_stage_line(const std::vector<Row>& rows, const TableOptions& options = {},
                              const std::string& number = {});

/// One stage on somebody's own file, none of whose rows failed: what was written and by which variant (`wrote`,
/// as the program says it; empty: nothing), how it was checked, and what the variants cost.
std::string render_own_data(const std::vector<Row>& rows, const std::string& input,
                            const std::string& wrote, const TableOptions& options = {});

/// What the rows of all stages come to: a sum, and what was not run and why, each reason once.
std::string render_sum(const std::vector<Row>& rows, double seconds,
                       const TableOptions& options = {});

}  // namespace halo
