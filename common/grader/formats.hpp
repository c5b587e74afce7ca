// A grade in the words of whoever asked for it: a course's platform, a program, a person.
#pragma once

#include <string>
#include <vector>

#include "common/grader/grade.hpp"
#include "common/report/table.hpp"

namespace halo::grader {

enum class ResultFormat {
  text,          // for people: one screen
  json,          // all that a Grade has
  gradescope,    // results.json
  prairielearn,  // results.json of external grading, at most 1 MB
  autolab,       // the text, and its last line the scores by exercise and the scoreboard
  submitty,      // what a custom validator says
  github,        // the text for a workflow's log; see exit_code
  junit,         // XML
};

/// The word for `--format`. Throws UsageError for another.
ResultFormat parse_result_format(const std::string& word);
/// All of these words.
std::vector<std::string> result_formats();

struct FormatOptions {
  TableOptions table = {};  // of the text
  /// Gradescope shows hidden cases once the grades are published; else only to instructors. (The other
  /// platforms show what is in the file: their hidden cases are told like all others, and name no input.)
  bool publish_hidden = true;
};

/// The result as a file's text, which ends with a line's end. Take the grade through for_student first if
/// a student may read it.
std::string text_of(const Grade& grade, ResultFormat format, const FormatOptions& options = {});

/// Of a submission that was refused as a whole, where people asked.
inline constexpr int kNotGraded = 2;

/// The exit code that goes with it: 1 where it alone tells the platform that points are missing (GitHub),
/// kNotGraded, else 0.
int exit_code(const Grade& grade, ResultFormat format);

}  // namespace halo::grader
