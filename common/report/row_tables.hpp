// Rows as tables of text.
#pragma once

#include <string>
#include <vector>

#include "common/report/rows.hpp"
#include "common/report/table.hpp"

namespace halo {

// In every format (common/report/table.hpp) from the same rows. CSV holds all figures in full, one
// header for all rows; it has no title and no notes, so reasons stand in columns of their own.

// GPU and CPU with driver, versions and roofs, in a few lines. Empty for CSV.
std::string render_machine(const Machine& machine, const TableOptions& options = {});

// One table per backend and problem, rows in the order given; under it the reasons of what was not
// run; below all what the columns of times mean and what the peers are; then for each bad row what failed: the shape, each finding, each
// counter that differs.
std::string render_table(const std::vector<Row>& rows, const TableOptions& options = {});

// One of the ways to show all rows: render_table, render_brief (summary.hpp).
using RenderRows = std::string (*)(const std::vector<Row>&, const TableOptions&);

// The same in parts, for tables that are shown as they come: those of some rows with what failed in
// them, and, once, what explains all of them. Not for CSV.
std::string render_rows(const std::vector<Row>& rows, const TableOptions& options = {});
std::string render_legend(const std::vector<Row>& rows, const TableOptions& options = {});

}  // namespace halo
