#include "common/exercise/judgement.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <optional>
#include <sstream>

#include "common/build/errors.hpp"
#include "common/data/file.hpp"
#include "common/data/suggestion.hpp"
#include "common/exercise/marks_text.hpp"
#include "common/exercise/predictions.hpp"
#include "common/exercise/profiled.hpp"
#include "common/exercise/traced.hpp"
#include "common/report/terminal.hpp"

namespace halo {
namespace {

constexpr std::size_t kMostPredictionFaults = 2;  // in the screen

// The questions of the check beside what was said first: as it is noted, or now.
std::vector<Judged> judged_predictions(const Marks& marks, const Predictions& now,
                                       const ExerciseRecord& record) {
  std::vector<Judged> all;
  for (const Question& question : marks.questions) {
    Judged one = {question, {}, false};
    if (const FirstSaid* const first = record.said(question.key)) {
      one.said = first->said;
    } else if (const Predictions::Line* const line = now.find(question.key)) {
      one.said = line->said;
      one.fresh = line->said.has_value();
    }
    all.push_back(one);
  }
  return all;
}

// What answers.md has where an answer is to stand, until one does.
constexpr const char* kNoAnswer = "(your answer";

std::string answers_note(const Exercise& exercise) {
  int open = 0;
  try {
    std::istringstream lines(text_of_file(exercise.answers(), true));
    for (std::string line; std::getline(lines, line);) {
      open += line.find(kNoAnswer) != std::string::npos ? 1 : 0;
    }
  } catch (const data::DataError&) {
    return "";  // a human will see
  }
  if (open == 0) return "";
  return std::to_string(open) +
         (open == 1 ? " written question is still open in "
                    : " written questions are still open in ") +
         exercise.path_of(exercise.answers());
}

// Of the first budget that was not kept: what the worst lines do, with the same problem and inputs. It is for
// people; where it cannot be had, the marks say enough.
std::string why_over_budget(const BuildFolder& build, const Exercise& exercise, const Marks& marks,
                            const TableOptions& table) {
  constexpr std::size_t kLines = 2;
  for (const CaseMark& mark : marks.cases) {
    for (const BudgetLine& line : mark.budget) {
      if (line.met || line.problem.empty()) continue;
      std::string numbers;
      for (const long long number : line.problem) {
        numbers += (numbers.empty() ? "" : ",") + std::to_string(number);
      }
      try {
        return trace::explain(
                   trace_exercise_file(build, exercise, numbers, std::to_string(marks.seed)),
                   kLines, table) +
               "to see it: ./halo trace " + exercise.number + " --exercise --numbers " + numbers +
               "\n";
      } catch (const Interrupted&) {
        throw;
      } catch (const std::exception&) {
        return "";
      }
    }
  }
  return "";
}

// What to do now.
std::string next_of(const Exercises& exercises, const Exercise& exercise,
                    const std::map<std::string, ExerciseRecord>& records, bool passed, bool wrong,
                    bool watches) {
  const std::string source = exercise.path_of(exercise.source());
  if (!passed && !wrong) {
    return "./halo try " + exercise.number + " --on sim judges what a GPU cannot";
  }
  if (!passed) {
    return watches ? "fix " + source + " and save it"
                   : "fix " + source + "; ./halo watch " + exercise.number +
                         " judges it on each save, ./halo hint " + exercise.number + " helps";
  }
  const std::string look =
      exercise.has_solution() ? "./halo show " + exercise.number + " --beside; " : "";
  const Exercise* const next = next_not_passed(exercises, records, exercise);
  if (next == nullptr) return look + "all exercises are passed";
  return look + "then " + next->number + ", " + next->title +
         (watches ? "" : ": ./halo watch " + next->number);
}

Judgement not_run(const Exercise& exercise, const Attempt& attempt,
                  const JudgementOptions& options) {
  Judgement judgement;
  judgement.status = 2;
  judgement.screen = paint(exercise.number + "  " + exercise.title, Tone::strong, options.table) +
                     "  " +
                     paint(attempt.end == Attempt::End::refused ? "no points" : "does not compile",
                           Tone::bad, options.table) +
                     "\n" + (attempt.errors.empty() ? attempt.mistake + "\n" : attempt.errors);
  return judgement;
}

}  // namespace

std::string predictions_text_of(const Exercise& exercise) {
  try {
    return text_of_file(exercise.predictions(), true);
  } catch (const data::DataError& error) {
    throw WrongUse(error.what());
  }
}

Judgement judge_exercise(const BuildFolder& build, const Exercises& exercises,
                         const Exercise& exercise, const ProgressFile& progress,
                         const JudgementOptions& options) {
  const Predictions said =
      parse_predictions(predictions_text_of(exercise), exercise.path_of(exercise.predictions()));
  AttemptOptions trying = options.attempt;
  if (trying.seed.empty()) {
    // What was wrong is tried again, until it is right.
    try {
      const std::uint64_t seed = progress.read(exercise.name).seed;
      if (seed != 0) trying.seed = std::to_string(seed);
    } catch (const WrongUse&) {  // told when this attempt can't be saved
    }
  }
  const Attempt attempt = attempt_exercise(build, exercise, trying);
  if (attempt.end == Attempt::End::overtaken) {
    Judgement none;
    none.overtaken = true;
    return none;
  }
  if (attempt.end != Attempt::End::judged) return not_run(exercise, attempt, options);

  const Marks& marks = attempt.marks;
  const bool wrong = std::any_of(marks.cases.begin(), marks.cases.end(),
                                 [](const CaseMark& one) { return one.outcome == Outcome::bad; });
  MarksScreen screen;
  ExerciseRecord record;  // as it is after this attempt
  const auto note = [&](ExerciseRecord& known) {
    screen.predictions = judged_predictions(marks, said, known);
    ++known.attempts;
    known.best = std::max(known.best, marks.points());
    known.most = marks.most();
    known.questions = static_cast<int>(screen.predictions.size());
    for (const Judged& one : screen.predictions) {
      if (one.fresh) {
        known.predictions.push_back({one.question.key, {*one.said, one.right()}});
      }
    }
    known.seed = wrong ? marks.seed : 0;
    if (marks.passed() && known.passed.empty()) known.passed = date_now();
    record = known;
  };
  const std::string not_saved = progress.change(exercise.name, note);
  std::map<std::string, ExerciseRecord> records;
  if (not_saved.empty()) {
    records = progress.read();
  } else {
    // As if: this attempt is shown all the same.
    try {
      records = progress.read();
    } catch (const WrongUse&) {
    }
    note(records[exercise.name]);
  }

  screen.title = exercise.number + "  " + exercise.title;
  screen.attempt = record.attempts;
  screen.predictions_file = exercise.predictions().filename().string();
  screen.lines = options.lines;
  if (options.lines > 0) screen.all_of_it = "./halo try " + exercise.number + " --all";
  if (!attempt.warning.empty()) screen.notes.push_back(attempt.warning);
  std::vector<std::string> faults = said.faults, keys;
  for (const Question& question : marks.questions) keys.push_back(question.key);
  for (const Predictions::Line& line : said.lines) {
    if (!line.said || std::find(keys.begin(), keys.end(), line.key) != keys.end()) continue;
    faults.push_back(exercise.path_of(exercise.predictions()) + ": there is no question " +
                     line.key + data::did_you_mean(line.key, keys));
  }
  faults.resize(std::min(faults.size(), kMostPredictionFaults));
  screen.notes.insert(screen.notes.end(), faults.begin(), faults.end());
  if (const std::string answers = answers_note(exercise); !answers.empty()) {
    screen.notes.push_back(answers);
  }
  if (marks.passed() && record.hints > 0) {
    screen.notes.push_back(std::to_string(record.hints) +
                           (record.hints == 1 ? " hint used" : " hints used"));
  }
  screen.time = attempt.time;
  if (!not_saved.empty()) screen.notes.push_back(not_saved);
  if (wrong) {
    screen.notes.push_back("seed " + std::to_string(marks.seed) +
                           ": the same inputs again until it is right");
  }
  screen.next = next_of(exercises, exercise, records, marks.passed(), wrong, options.watches);

  Judgement judgement;
  judgement.status = wrong ? 1 : 0;
  judgement.passed = marks.passed();
  judgement.screen = render_marks(marks, screen, options.table);
  if (!options.watches && options.attempt.backend == "sim") {
    const std::string why = why_over_budget(build, exercise, marks, options.table);
    if (!why.empty()) judgement.screen += "\n" + why;
  }
  // Only of what is timed too: a kernel that is right.
  if (!options.watches && !attempt.time.empty()) {
    judgement.screen +=
        "\n" + counters_beside(build, exercise, std::to_string(marks.seed), options.table);
  }
  return judgement;
}

void ask_predictions(const Exercise& exercise, const ExerciseRecord& record) {
  if (isatty(STDIN_FILENO) != 1 || isatty(STDERR_FILENO) != 1 || record.attempts > 0) return;
  std::string text = predictions_text_of(exercise);
  const std::string origin = exercise.path_of(exercise.predictions());
  TableOptions shown;
  shown.width = terminal_width(stderr);
  std::cin.clear();  // an earlier Ctrl-D was for other questions
  const Predictions predictions = parse_predictions(text, origin);
  const auto is_open = [&](const Predictions::Line& line) {
    return !line.said && record.said(line.key) == nullptr;
  };
  const auto open = std::count_if(predictions.lines.begin(), predictions.lines.end(), is_open);
  if (open == 0) return;
  std::fprintf(stderr, "The task: %s\n", exercise.path_of(exercise.folder / "README.md").c_str());
  const std::string opening = "Before the first run, predict (" + origin +
                              "). Your first answer counts; Enter leaves a question for later.";
  std::fprintf(stderr, "%s\n", wrapped(opening, shown, "").c_str());
  int asked = 0;
  for (const Predictions::Line& line : predictions.lines) {
    if (!is_open(line)) continue;
    const std::string question =
        std::to_string(++asked) + " of " + std::to_string(open) + "  " + line.question;
    std::fprintf(stderr, "\n%s\n", wrapped(question, shown, "        ").c_str());
    for (;;) {
      std::fprintf(stderr, "%s = ", line.key.c_str());
      std::fflush(stderr);
      std::string answer;
      if (!std::getline(std::cin, answer)) {  // Ctrl-D: no more questions
        std::fputs("\n", stderr);
        return;
      }
      if (answer.find_first_not_of(" \t\r") == std::string::npos) break;
      const std::optional<double> said = parse_figure(answer);
      if (!said) {
        std::fprintf(stderr, "%s is not a number; Enter leaves the question for later\n",
                     data::quoted(answer).c_str());
        continue;
      }
      // What the file says now: an editor may have it open.
      text = predictions_text_of(exercise);
      try {
        data::write_file(exercise.predictions().string(), with_prediction(text, line.key, *said));
      } catch (const std::exception& error) {
        std::fprintf(stderr, "halo: the answer could not be kept: %s\n", error.what());
        return;
      }
      break;
    }
  }
  std::fputs("\n", stderr);
}

}  // namespace halo
