// How the tables name a row, and what they say of one that failed or was not run: what
// row_tables.cpp and compare.cpp have in common.
#pragma once

#include <string>
#include <vector>

#include "common/report/rows.hpp"
#include "common/report/table.hpp"

namespace halo {

/// What stands in the stage column: the stage's number, as in `halo run 04`, or peer, or copy.
std::string stage_label(const Row& row);

/// "On the GPU: length 1,000, mask width 3": what the rows of one table share.
std::string shared_title(const Row& row);

/// "length 1,000, mask width 3".
std::string describe(const Problem& problem);

/// The row's problem in a word, "7-1-3-384-192", if it has one (Row::label); else as describe.
std::string short_name(const Row& row);

/// What was not run, in tables and in JSON.
inline constexpr const char* kNotRun = "NOT RUN";

/// The word for an outcome; NOT RUN if there is none.
Cell outcome_cell(Outcome outcome, const char* good, const char* bad);
Cell not_run_cell();

/// The columns of a CSV that say which row it is: stage, backend, role, variant, and each field that
/// any of these rows has in its problem. `row_of` finds the row of an item.
template <class Item>
std::vector<Field<Item>> identity_fields(const std::vector<const Item*>& items,
                                         const std::function<const Row&(const Item&)>& row_of);

/// The value of a problem's field as CSV wants it; empty if it has no such field.
std::string exact_value(const Problem& problem, const std::string& field);

std::string role_name(Role role);

using Rows = std::vector<const Row*>;

/// Whether the row has a time.
inline bool timed(const Row& row) { return row.time.outcome == Outcome::good; }

/// A published figure by its name, or -1.
double published_figure(const Row& row, const std::string& name);

/// "a, b, c".
std::string listed(const std::vector<std::string>& names);

/// The reasons of what was not run, each once, with the variants it is about unless it is all of
/// them. Without `hazards`, `traffic` or `time`, not of those in rows that were checked.
std::vector<Note> reasons(const Rows& rows, bool hazards = true, bool traffic = true,
                          bool time = true);

/// "lines 118-121 and 130 of 2_filters_over_sms.cu were never reached"; empty if all were, or nobody
/// looked.
std::string unreached_lines(const Coverage& coverage);

/// The same of each variant, once: what all that it was tried with left out.
std::vector<Note> unreached_notes(const std::vector<Row>& rows);

/// A line of a program under its file's name, with a remark behind it: two lines of text, or more.
std::string quoted_line(const std::string& file, int line, const std::string& remark,
                        const TableOptions& options);

/// "output[4] is 0.31, should be -1.07", of a diagnosis that has a place.
std::string wrong_output(const Diagnosis& known);
/// What kernels printed, under a line that says with which problem; `all_of_them` where there are more: "; all of them:
/// --show-output". Empty: nothing.
std::string printed_text(const Printed& printed, const std::string& all_of_them,
                         const TableOptions& options);

/// What failed, to stand below all tables.
std::string all_faults(const std::vector<Row>& rows, const TableOptions& options);

// ---- Implementation ----

template <class Item>
std::vector<Field<Item>> identity_fields(const std::vector<const Item*>& items,
                                         const std::function<const Row&(const Item&)>& row_of) {
  std::vector<Field<Item>> fields = {
      {"stage", false, [row_of](const Item& item) { return Cell{row_of(item).stage}; }},
      {"backend", false, [row_of](const Item& item) { return Cell{row_of(item).backend}; }},
      {"role", false, [row_of](const Item& item) { return Cell{role_name(row_of(item).role)}; }},
      {"variant", false, [row_of](const Item& item) { return Cell{row_of(item).variant}; }},
  };
  std::vector<std::string> names;
  for (const Item* item : items) {
    for (const auto& [name, value] : row_of(*item).problem) {
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    }
  }
  for (const std::string& name : names) {
    fields.push_back({name, true, [row_of, name](const Item& item) {
                        return Cell{exact_value(row_of(item).problem, name)};
                      }});
  }
  return fields;
}

}  // namespace halo
