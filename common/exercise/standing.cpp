#include "common/exercise/standing.hpp"

#include <algorithm>

#include "common/exercise/marks_text.hpp"

namespace halo {
namespace {

// Of an exercise that was never judged.
constexpr double kUsualPoints = 100;
constexpr std::size_t kBarCells = 14;
constexpr std::size_t kDateLetters = 10;  // of 2026-11-22T16:20:51Z

const ExerciseRecord& record_of(const std::map<std::string, ExerciseRecord>& records,
                                const Exercise& exercise) {
  static const ExerciseRecord nothing;
  const auto known = records.find(exercise.name);
  return known == records.end() ? nothing : known->second;
}

double most_of(const ExerciseRecord& record) {
  return record.most > 0 ? record.most : kUsualPoints;
}

std::string so_many(long count, const std::string& word) {
  return std::to_string(count) + " " + word + (count == 1 ? "" : "s");
}

}  // namespace

std::string progress_bar(const Exercises& exercises,
                         const std::map<std::string, ExerciseRecord>& records) {
  std::size_t passed = 0;
  double best = 0, most = 0;
  for (const Exercise& exercise : exercises.all()) {
    const ExerciseRecord& record = record_of(records, exercise);
    passed += record.passed.empty() ? 0 : 1;
    best += record.best;
    most += most_of(record);
  }
  const std::size_t all = exercises.all().size();
  const std::size_t full = all == 0 ? 0 : kBarCells * passed / all;
  return "[" + std::string(full, '#') + std::string(kBarCells - full, '-') + "]  " +
         std::to_string(passed) + " of " + std::to_string(all) + " passed, " +
         points_text(best, most) + " points";
}

std::string standing_of(const ExerciseRecord& record) {
  if (!record.passed.empty()) return "passed " + record.passed.substr(0, kDateLetters);
  if (record.attempts == 0) return "not yet";
  return so_many(record.attempts, "attempt");
}

std::string standing_text(const Exercises& exercises,
                          const std::map<std::string, ExerciseRecord>& records,
                          const TableOptions& options) {
  const Exercise* const next = first_not_passed(exercises, records);
  Table table;
  table.columns = {{"#", false}, {"exercise", false}, {"points", true}, {"so far", false}};
  long hints = 0, right = 0, said = 0;
  for (const Exercise& exercise : exercises.all()) {
    const ExerciseRecord& record = record_of(records, exercise);
    hints += record.hints;
    said += static_cast<long>(record.predictions.size());
    right += std::count_if(record.predictions.begin(), record.predictions.end(),
                           [](const auto& one) { return one.second.right; });
    // Without the date, so that a line fits a terminal.
    std::string so_far = record.passed.empty() ? standing_of(record) : "passed";
    if (record.hints > 0) so_far += ", " + so_many(record.hints, "hint");
    if (!record.shown_solution.empty()) so_far += ", solution shown";
    if (&exercise == next) so_far += "  <- here";
    table.rows.push_back({{exercise.number},
                          {exercise.title},
                          {record.most > 0 ? points_text(record.best, record.most) : "-"},
                          {so_far, record.passed.empty() ? Tone::plain : Tone::good}});
  }
  std::string text = progress_bar(exercises, records) + "\n" + lay_out(table, options);
  long mended = 0, found = 0, claims = 0;
  for (const auto& [name, record] : records) {
    if (!name.starts_with("hunts/")) continue;
    mended += record.passed.empty() ? 0 : 1;
    found += record.found.empty() ? 0 : 1;
    claims += record.claims;
  }
  text += so_many(hints, "hint") + " seen, " + so_many(mended, "hunt") + " fixed, " +
          std::to_string(found) + " found with " + so_many(claims, "claim");
  if (said > 0)
    text += ", " + std::to_string(right) + " of " + so_many(said, "prediction") + " right";
  text += "\n";
  text += next == nullptr ? "next: nothing: all exercises are passed\n"
                          : "next: ./halo watch " + next->number + "   " + next->title + "\n";
  return text;
}

}  // namespace halo
