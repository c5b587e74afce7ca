// The marks of an exercise as a student wants them: verdict, why, what next. One screen.
#pragma once

#include <string>
#include <vector>

#include "common/exercise/marks.hpp"
#include "common/exercise/predictions.hpp"
#include "common/report/table.hpp"

namespace halo {

/// What a screen says beside the marks.
struct MarksScreen {
  std::string title;                // "04  Tile and halo"
  int attempt = 0;                  // 0: not counted
  std::vector<Judged> predictions;  // in the order of the questions
  std::string predictions_file;     // where unanswered ones wait
  std::string time;                 // of a call on a GPU; empty: not known
  std::vector<std::string> notes;   // a line each, before the last
  std::string next;                 // the last line: what to do now
  std::string all_of_it;            // the command that shows what had no room
  /// At most so many lines; 0: as many as it takes. What stands first is told in full, the rest in a line
  /// each, and what has no room is counted.
  int lines = 22;
};

/// Ends with a line's end. `options` as for tables; its `source` is where quoted lines are read.
std::string render_marks(const Marks& marks, const MarksScreen& screen,
                         const TableOptions& options);

/// "42 of 90", "6.7 of 10"; and "6.7".
std::string points_text(double points, double most);
std::string points_text(double points);

/// Why Marks::withheld is not 0, in a line.
std::string why_withheld(const Marks& marks);

}  // namespace halo
