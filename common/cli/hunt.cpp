// `halo hunt`: kernels with one mistake each. A hunt is over when the mistake is named, line and kind, and the
// file is mended.
#include <algorithm>
#include <cstdio>

#include "common/cli/commands.hpp"
#include "common/data/suggestion.hpp"
#include "common/exercise/attempt.hpp"
#include "common/exercise/hunts.hpp"
#include "common/exercise/progress_file.hpp"
#include "common/report/command_line.hpp"
#include "common/report/terminal.hpp"
#include "common/report/text.hpp"

namespace halo {

namespace {

std::string joined_kinds(const Hunts& hunts) {
  std::string text;
  for (const auto& [kind, meaning] : hunts.kinds()) text += (text.empty() ? "" : ", ") + kind;
  return text;
}

std::string standing_of_hunt(const ExerciseRecord& record) {
  std::string text;
  if (record.named_line && record.named_kind) text = "named";
  if (!record.passed.empty()) text += (text.empty() ? "" : ", ") + std::string("mended");
  return text.empty() ? (record.claims + record.attempts > 0 ? "begun" : "") : text;
}

int list_hunts(const Hunts& hunts, const std::map<std::string, ExerciseRecord>& records) {
  int over = 0;
  for (const Hunt& hunt : hunts.all()) {
    const auto known = records.find(hunt.as_exercise().name);
    const std::string standing = known == records.end() ? "" : standing_of_hunt(known->second);
    over += standing == "named, mended" ? 1 : 0;
    std::printf("%s  %-26s %s\n", hunt.number.c_str(), hunt.name.substr(3).c_str(),
                standing.c_str());
  }
  std::printf(
      "%d of %zu hunts are over. ./halo hunt NN shows one: its file and what its user says.\n",
      over, hunts.all().size());
  return 0;
}

int list_kinds(const Hunts& hunts, const TableOptions& table) {
  for (const auto& [kind, meaning] : hunts.kinds()) {
    std::printf("%-8s %s\n", kind.c_str(), wrapped(meaning, table, "         ", 9).c_str());
  }
  return 0;
}

void show_hunt(const Hunt& hunt, const Exercise& exercise, const Hunts& hunts,
               const TableOptions& table) {
  std::printf("hunt %s   %s\n", hunt.number.c_str(), exercise.path_of(hunt.file).c_str());
  std::printf("its user says: %s\n", wrapped(hunt.symptom, table, "  ", 15).c_str());
  std::printf("which line, and which kind?  ./halo hunt %s --line N --kind KIND\n",
              hunt.number.c_str());
  std::printf("kinds: %s (./halo hunt --kinds)\n",
              wrapped(joined_kinds(hunts), table, "  ", 7).c_str());
  std::printf("or mend it: ./halo hunt %s judges the file once you have changed it\n",
              hunt.number.c_str());
}

void tell_answer(const Hunts& hunts, const Hunt& hunt, const TableOptions& table) {
  const HuntAnswer answer = hunts.answer_of(hunt);
  const std::string found = answer.found_by == "numbers" ? "the numbers: some shapes come out wrong"
                            : answer.found_by == "budget"
                                ? "the budget: nothing is wrong but the cost"
                                : "the simulator: " + answer.found_by;
  std::printf("found by %s\n", found.c_str());
  std::printf("%s\n", wrapped(answer.why, table, "", 0).c_str());
  if (!answer.source.empty())
    std::printf("from: %s\n", wrapped(answer.source, table, "  ", 6).c_str());
}

// The student says which line it is, and of what kind.
int judge_claim(const Hunts& hunts, const Hunt& hunt, const ProgressFile& progress,
                const HuntOptions& options, const TableOptions& table) {
  const auto& kinds = hunts.kinds();
  const bool is_kind = std::any_of(kinds.begin(), kinds.end(),
                                   [&](const auto& one) { return one.first == options.kind; });
  if (!options.kind.empty() && !is_kind) {
    std::vector<std::string> names;
    for (const auto& [kind, meaning] : kinds) names.push_back(kind);
    throw WrongUse("--kind: there is no kind '" + options.kind + "'" +
                   data::did_you_mean(options.kind, names) + " (" + joined_kinds(hunts) + ")");
  }
  const HuntAnswer answer = hunts.answer_of(hunt);
  const std::vector<int> lines = changed_lines(text_of_file(hunt.start), text_of_file(hunt.mended));
  const bool line = std::find(lines.begin(), lines.end(), options.line) != lines.end();
  const bool kind = answer.kind == options.kind;
  bool over = false;
  const std::string not_saved =
      progress.change(hunt.as_exercise().name, [&](ExerciseRecord& record) {
        ++record.claims;
        record.named_line |= line;
        record.named_kind |= kind;
        over = record.named_line && record.named_kind;
      });
  if (options.line > 0) std::printf("line %d: %s\n", options.line, line ? "yes" : "no");
  if (!options.kind.empty()) {
    std::printf("%s: %s\n", options.kind.c_str(), kind ? "yes" : "no");
  }
  if (!not_saved.empty()) std::fprintf(stderr, "halo: %s\n", not_saved.c_str());
  if (!over && !(line && kind)) return 1;
  tell_answer(hunts, hunt, table);
  std::printf("next: mend %s, then ./halo hunt %s\n", hunt.as_exercise().path_of(hunt.file).c_str(),
              hunt.number.c_str());
  return 0;
}

// The student has changed the file: is it mended?
int judge_mended(const BuildFolder& build, const Hunts& hunts, const Hunt& hunt,
                 const ProgressFile& progress, const TableOptions& table) {
  const Exercise exercise = hunt.as_exercise();
  prepare_exercise(build, exercise, choose_exercise_backend(build, "sim"));
  AttemptOptions options;
  options.backend = "sim";
  const Attempt attempt = attempt_exercise(build, exercise, options);
  if (attempt.end == Attempt::End::not_compiled) {
    std::fprintf(stderr, "hunt %s does not compile\n%s\n", hunt.number.c_str(),
                 (attempt.errors.empty() ? attempt.mistake : attempt.errors).c_str());
    return 2;
  }
  const bool passed = attempt.marks.passed();
  bool named = false;
  const std::string not_saved = progress.change(exercise.name, [&](ExerciseRecord& record) {
    ++record.attempts;
    record.most = attempt.marks.most();
    record.best = std::max(record.best, attempt.marks.points());
    if (passed && record.passed.empty()) record.passed = date_now();
    named = record.named_line && record.named_kind;
  });
  if (!not_saved.empty()) std::fprintf(stderr, "halo: %s\n", not_saved.c_str());
  if (!passed) {
    std::printf("hunt %s: not mended yet\n", hunt.number.c_str());
    for (const CaseMark& one : attempt.marks.cases) {
      if (one.outcome != Outcome::bad) continue;
      std::printf("FAIL  %s: %s\n", one.name.c_str(),
                  wrapped(one.message, table, "      ", one.name.size() + 8).c_str());
      break;
    }
    return 1;
  }
  std::printf("hunt %s: mended%s\n", hunt.number.c_str(),
              named ? ", and named: it is over" : "; which line was it, and of which kind?");
  if (named || !std::filesystem::exists(hunt.mended)) return 0;
  tell_answer(hunts, hunt, table);
  return 0;
}

}  // namespace

int run_hunt(const BuildFolder& build, const HuntOptions& options) {
  const Hunts hunts(build.source());
  const ProgressFile progress(build.source() / "exercises");
  const std::map<std::string, ExerciseRecord> records = progress.read();
  const TableOptions table = table_options(options.color, stdout);
  if (options.kinds) return list_kinds(hunts, table);
  if (options.hunt.empty()) return list_hunts(hunts, records);
  const Hunt& hunt = hunts.find(options.hunt);
  std::fputs(hunt.as_exercise().begin().c_str(), stderr);
  if (options.line > 0 || !options.kind.empty()) {
    return judge_claim(hunts, hunt, progress, options, table);
  }
  if (text_of_file(hunt.file) == text_of_file(hunt.start)) {
    show_hunt(hunt, hunt.as_exercise(), hunts, table);
    return 0;
  }
  return judge_mended(build, hunts, hunt, progress, table);
}

}  // namespace halo
