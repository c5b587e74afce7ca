// `halo hunt`: kernels with one mistake each. A hunt is found when the file is mended and the claim names the mistake, line
// and kind: one answer for all three, so that none can be tried out alone.
#include <algorithm>
#include <cstdio>

#include "common/cli/commands.hpp"
#include "common/data/file.hpp"
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
  if (!record.found.empty()) return "found";
  if (!record.passed.empty()) return "fixed";
  return record.claims + record.attempts > 0 ? "begun" : "";
}

// Those of all stages up to this one; empty: of all.
int list_hunts(const Hunts& hunts, const std::map<std::string, ExerciseRecord>& records,
               const std::string& after) {
  int found = 0, listed = 0;
  std::string stage;
  if (!hunts.all().empty() && after > hunts.all().back().stage) {
    throw WrongUse("--after: the last hunts are those after stage " + hunts.all().back().stage);
  }
  for (const Hunt& hunt : hunts.all()) {
    if (!after.empty() && hunt.stage > after) continue;
    if (hunt.stage != stage) std::printf("after stage %s\n", hunt.stage.c_str());
    stage = hunt.stage;
    const auto known = records.find(hunt.as_exercise().name);
    const std::string standing = known == records.end() ? "" : standing_of_hunt(known->second);
    ++listed;
    found += standing == "found" ? 1 : 0;
    std::printf("  %s  %-24s %-4s %s\n", hunt.number.c_str(), hunt.name.substr(3).c_str(),
                std::string(static_cast<std::size_t>(hunt.level), '*').c_str(), standing.c_str());
  }
  std::printf(
      "%d of %d hunts are found. ./halo hunt NN shows one: its file and what a user reports.\n",
      found, listed);
  return 0;
}

int list_kinds(const Hunts& hunts, const TableOptions& table) {
  for (const auto& [kind, meaning] : hunts.kinds()) {
    std::printf("%-8s %s\n", kind.c_str(), wrapped(meaning, table, "         ", 9).c_str());
  }
  return 0;
}

std::vector<Claim> claims_of(const Hunt& hunt) {
  return std::filesystem::exists(hunt.claims) ? parse_claims(text_of_file(hunt.claims))
                                              : std::vector<Claim>();
}

void show_hunt(const Hunt& hunt, const Exercise& exercise, const Hunts& hunts,
               const TableOptions& table) {
  std::printf("hunt %s   %s\n", hunt.number.c_str(), exercise.path_of(hunt.file).c_str());
  std::printf("a user reports: %s\n", wrapped(hunt.symptom, table, "  ", 15).c_str());
  const std::vector<Claim> claims = claims_of(hunt);
  if (claims.empty()) {
    std::printf("which line, and which kind?  ./halo hunt %s --line N --kind KIND\n",
                hunt.number.c_str());
    std::printf("kinds: %s (./halo hunt --kinds)\n",
                wrapped(joined_kinds(hunts), table, "  ", 7).c_str());
  } else {
    std::printf("your claim: line %d, %s\n", claims.back().line, claims.back().kind.c_str());
  }
  std::printf(
      "fix it: ./halo hunt %s judges file and claim together once you have changed the file\n",
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

// Behind those that were made before, in the file that is handed in.
void note_claim(const Hunts& hunts, const Hunt& hunt, const ProgressFile& progress,
                const Claim& claim) {
  const auto& kinds = hunts.kinds();
  if (std::none_of(kinds.begin(), kinds.end(),
                   [&](const auto& one) { return one.first == claim.kind; })) {
    std::vector<std::string> names;
    for (const auto& [kind, meaning] : kinds) names.push_back(kind);
    throw WrongUse("--kind: there is no kind '" + claim.kind + "'" +
                   data::did_you_mean(claim.kind, names) + " (" + joined_kinds(hunts) + ")");
  }
  const std::string start = text_of_file(hunt.start);
  if (const auto lines = std::count(start.begin(), start.end(), '\n'); claim.line > lines) {
    throw WrongUse("--line: the file has " + std::to_string(lines) + " lines, no line " +
                   std::to_string(claim.line));
  }
  std::vector<Claim> claims = claims_of(hunt);
  if (!claims.empty() && claims.back() == claim) return;
  // The last claim is the one that is graded.
  if (!progress.read(hunt.as_exercise().name).found.empty()) {
    throw WrongUse("hunt " + hunt.number + " is found: another claim would count in its place");
  }
  claims.push_back(claim);
  std::string text;
  for (const Claim& one : claims) text += line_of(one) + "\n";
  data::write_file(hunt.claims.string(), text);
  const std::string not_saved =
      progress.change(hunt.as_exercise().name, [](ExerciseRecord& record) { ++record.claims; });
  if (!not_saved.empty()) std::fprintf(stderr, "halo: %s\n", not_saved.c_str());
}

// The student has changed the file: is it mended, and is the claim right?
int judge_hunt(const BuildFolder& build, const Hunts& hunts, const Hunt& hunt,
               const ProgressFile& progress, const TableOptions& table) {
  const Exercise exercise = hunt.as_exercise();
  prepare_exercise(build, exercise, choose_exercise_backend(build, "sim"));
  AttemptOptions options;
  options.backend = "sim";
  // As of an exercise: those of this copy, or what was wrong again.
  options.seed = Exercises(build.source()).seed();
  const std::uint64_t before = progress.read(exercise.name).seed;
  if (options.seed.empty() && before != 0) options.seed = std::to_string(before);
  const Attempt attempt = attempt_exercise(build, exercise, options);
  if (attempt.end != Attempt::End::judged) {
    std::fprintf(stderr, "hunt %s %s\n%s\n", hunt.number.c_str(),
                 attempt.end == Attempt::End::refused ? "is not judged" : "does not compile",
                 (attempt.errors.empty() ? attempt.mistake : attempt.errors).c_str());
    return 2;
  }
  const bool mended = attempt.marks.passed();
  const std::vector<Claim> claims = claims_of(hunt);
  const bool knows = hunts.have_answers();
  const bool found = mended && knows && !claims.empty() && hunts.is_right(hunt, claims.back());
  const std::string not_saved = progress.change(exercise.name, [&](ExerciseRecord& record) {
    ++record.attempts;
    record.most = attempt.marks.most();
    record.best = std::max(record.best, attempt.marks.points());
    record.seed = mended ? 0 : attempt.marks.seed;
    if (mended && record.passed.empty()) record.passed = date_now();
    if (found && record.found.empty()) record.found = date_now();
  });
  if (!not_saved.empty()) std::fprintf(stderr, "halo: %s\n", not_saved.c_str());
  const char* const number = hunt.number.c_str();
  if (found) {
    std::printf("hunt %s: found, by claim %zu\n", number, claims.size());
    tell_answer(hunts, hunt, table);
    return 0;
  }
  if (mended && !claims.empty() && !knows) {
    std::printf("hunt %s: fixed; the claim is judged when both are handed in\n", number);
    return 0;
  }
  std::printf("hunt %s: not yet%s\n", number,
              mended && claims.empty() ? ": which line was it, and of which kind?" : "");
  if (mended) return 1;
  for (const CaseMark& one : attempt.marks.cases) {
    if (one.outcome != Outcome::bad) continue;
    std::printf("FAIL  %s: %s\n", one.name.c_str(),
                wrapped(one.message, table, "      ", one.name.size() + 8).c_str());
    break;
  }
  return 1;
}

}  // namespace

int run_hunt(const BuildFolder& build, const HuntOptions& options) {
  const Hunts hunts(build.source());
  const ProgressFile progress(build.source() / "exercises");
  const std::map<std::string, ExerciseRecord> records = progress.read();
  const TableOptions table = table_options(options.color, stdout);
  if (options.kinds) return list_kinds(hunts, table);
  if (options.hunt.empty()) return list_hunts(hunts, records, options.after);
  const Hunt& hunt = hunts.find(options.hunt);
  std::fputs(hunt.as_exercise().begin().c_str(), stderr);
  if (options.line > 0) note_claim(hunts, hunt, progress, {options.line, options.kind});
  if (text_of_file(hunt.file) == text_of_file(hunt.start)) {
    show_hunt(hunt, hunt.as_exercise(), hunts, table);
    return 0;
  }
  return judge_hunt(build, hunts, hunt, progress, table);
}

}  // namespace halo
