// Many problems in a few lines: how a variant stands against the libraries, and against the other
// variants of its stage, over all problems of a results file.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "common/report/rows.hpp"
#include "common/report/table.hpp"

namespace halo {

/// A time ratio and the problem it was found on.
struct Extreme {
  double ratio = -1;
  std::string problem;
};

/// Time of others / time of one variant, over many problems: above 1 the variant is faster.
struct Standing {
  std::string backend;
  std::string stage;
  std::string variant;
  bool cold = false;  // each call on arrays that the cache has lost
  // What these problems have in common, of the fields that were asked for; empty: nothing.
  std::vector<std::pair<std::string, std::string>> group;
  int problems = 0;  // compared: both have a time
  int not_run = 0;   // problems of the group on which the variant has no time to compare
  int wins = 0;      // faster, and not a tie (see time_ratio in compare.hpp)
  int ties = 0;
  int losses = 0;
  double geometric_mean = -1;
  double mean_of_wins = -1;  // arithmetic, as papers quote it
  Extreme best;
  Extreme worst;
};

/// Against the fastest library (Role::peer) on each problem. One standing for all problems, then, if
/// `by` names fields of the problems ("R", "N"), one for each combination of their values.
std::vector<Standing> against_peers(const std::vector<Row>& rows,
                                    const std::vector<std::string>& by = {});

/// Against the fastest other variant of the same stage. A variant that only chooses another
/// (Row::runs_as) does not take part.
std::vector<Standing> against_stage(const std::vector<Row>& rows,
                                    const std::vector<std::string>& by = {});

/// Variants that choose: the variant they chose against the fastest of the others that they could
/// have chosen (Row::chooses_from). A win is a right choice, a loss a wrong one.
std::vector<Standing> choices(const std::vector<Row>& rows,
                              const std::vector<std::string>& by = {});

/// The three as tables, beside what the papers claim (common/data/paper_claims.hpp). CSV: one table
/// with a column that says which.
std::string render_summary(const std::vector<Row>& rows, const std::vector<std::string>& by,
                           const TableOptions& options = {});

/// As render_table; but where more than 40 problems were timed, which nobody reads one by one, the
/// summary and what failed. CSV: all rows.
std::string render_brief(const std::vector<Row>& rows, const TableOptions& options = {});

}  // namespace halo
