#include "common/grader/class.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <sstream>
#include <string_view>

#include "common/data/csv.hpp"
#include "common/data/file.hpp"
#include "common/data/suggestion.hpp"
#include "common/data/temporary_folder.hpp"
#include "common/exercise/predictions.hpp"
#include "common/grader/grade.hpp"
#include "common/grader/sha256.hpp"
#include "common/grader/submission.hpp"
#include "common/process/process.hpp"
#include "common/report/table.hpp"
#include "common/report/terminal.hpp"

namespace halo::grader {

namespace {

namespace fs = std::filesystem;
using json::Value;

// In the folder of results.
constexpr const char *kGrades = "grades", *kTable = "class.csv", *kWhole = "class.json";

// ---- Who handed in what ----

std::string text_of(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  if (!stream)
    throw data::DataError("cannot read " + data::quoted(path.string()) + ": " +
                          std::strerror(errno) + ": check the path" +
                          data::did_you_mean_path(path.string()));
  return {std::istreambuf_iterator<char>(stream), {}};
}

// Letters and figures, small; of what is not ASCII every byte.
std::string plain(const std::string& text) {
  std::string letters;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x80) letters += c;
    if (byte < 0x80 && std::isalnum(byte)) letters += static_cast<char>(std::tolower(byte));
  }
  return letters;
}

std::string trimmed(const std::string& text) {
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string::npos) return "";
  return text.substr(begin, text.find_last_not_of(" \t\r\n") - begin + 1);
}

struct RosterRow {
  std::string id, name, submission;
  std::vector<fs::path> handed_in = {};
};

std::vector<RosterRow> read_roster(const fs::path& path) {
  const std::vector<data::CsvRow> rows = data::parse_csv(text_of(path), path.string());
  const auto wrong = [&](const std::string& what) {
    return data::DataError("cannot read " + data::quoted(path.string()) + ": " + what);
  };
  if (rows.empty()) throw wrong("it is empty: columns id, name and perhaps submission are needed");
  const auto column = [&](const std::string& name) -> std::optional<std::size_t> {
    for (std::size_t i = 0; i < rows[0].cells.size(); ++i) {
      if (plain(rows[0].cells[i]) == name) return i;
    }
    return std::nullopt;
  };
  if (!column("id")) throw wrong("its first line has no column id");
  if (rows.size() == 1) throw wrong("below its first line there is nobody");
  std::vector<RosterRow> roster;
  std::set<std::string> ids;
  for (std::size_t i = 1; i < rows.size(); ++i) {
    const auto cell = [&](const std::string& name) -> std::string {
      const auto at = column(name);
      return at && *at < rows[i].cells.size() ? rows[i].cells[*at] : "";
    };
    RosterRow one{cell("id"), cell("name"), cell("submission")};
    if (one.id.empty()) throw wrong("line " + std::to_string(rows[i].line) + " has no id");
    if (!ids.insert(one.id).second) throw wrong("two rows have the id " + data::quoted(one.id));
    roster.push_back(one);
  }
  return roster;
}

// Whether `word` stands in the text with nothing but signs beside it.
bool has_word(const std::string& text, const std::string& word) {
  const auto is_part = [&](std::size_t i) {
    return i < text.size() && !plain(text.substr(i, 1)).empty();
  };
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) {
    if ((at == 0 || !is_part(at - 1)) && !is_part(at + word.size())) return true;
  }
  return false;
}

bool begins_with_name(const std::string& text, const std::string& name) {
  const std::string first = plain(text.substr(0, text.find('_')));
  const std::string whole = plain(name);
  if (whole.empty()) return false;
  if (first == whole) return true;
  // Canvas: the last name first, however many of the words that is.
  std::string before;
  for (std::size_t at = 0; at < name.size(); ++at) {
    before += name[at];
    if (name[at] == ' ' && first == plain(name.substr(at)) + plain(before)) return true;
  }
  return false;
}

// Why no result can be called so; empty: one can.
std::string fault_of_name(const std::string& id) {
  if (data::printable(id) != id || id.find('/') != std::string::npos) {
    return "its name has characters that are not allowed: rename it";
  }
  if (id.size() > 200) return "its name is longer than 200 letters: rename it";
  if (id.empty() || id.starts_with('.')) return "its name begins with a dot: rename it";
  return "";
}

// Without those of `others`.
std::vector<fs::path> paths_of(const fs::path& submissions, const std::vector<fs::path>& others) {
  std::vector<fs::path> paths;
  std::error_code error;
  if (fs::is_directory(submissions, error)) {
    for (fs::directory_iterator at(submissions, error), end; !error && at != end;
         at.increment(error)) {
      const std::string name = at->path().filename().string();
      // Moodle: what a student typed beside the files.
      const bool is_typed = name.find("_assignsubmission_onlinetext_") != std::string::npos;
      if (!name.starts_with('.') && name != "__MACOSX" && !is_typed) paths.push_back(at->path());
    }
    if (error) {
      throw data::DataError("cannot read " + data::quoted(submissions.string()) + ": " +
                            error.message());
    }
  } else if (!fs::exists(submissions, error)) {
    throw data::DataError("there is no folder or list of submissions " +
                          data::quoted(submissions.string()) +
                          data::did_you_mean_path(submissions.string()));
  } else {
    std::string line;
    std::string text = text_of(submissions) + "\n";
    if (text.starts_with("\xEF\xBB\xBF")) text.erase(0, 3);
    for (const char c : text) {
      if (c != '\n') {
        line += c;
        continue;
      }
      if (const std::string path = trimmed(line); !path.empty()) {
        if (path.find('\0') != std::string::npos) {
          throw data::DataError(
              data::quoted(submissions.string()) +
              " is not a list: it takes a folder, or a text with one path per line");
        }
        paths.push_back(submissions.parent_path() / path);
      }
      line.clear();
    }
  }
  std::erase_if(paths, [&](const fs::path& path) {
    return std::any_of(others.begin(), others.end(), [&](const fs::path& other) {
      std::error_code unknown;
      return fs::equivalent(path, other, unknown);
    });
  });
  if (paths.empty()) {
    throw data::DataError("there are no submissions in " + data::quoted(submissions.string()));
  }
  std::sort(paths.begin(), paths.end());
  paths.erase(std::unique(paths.begin(), paths.end()), paths.end());
  return paths;
}

// What a platform has put before a file's name: whose it is (empty: none has), and that it is late.
//   Moodle: Ada Lovelace_99_assignsubmission_file_tile_and_halo.cu; Canvas: lovelaceada_LATE_99_1234_tile_and_halo.cu
struct Marked {
  std::string person;
  bool is_late = false;
};
Marked marked(const std::string& file) {
  if (const std::size_t at = file.find("_assignsubmission_file_"); at != std::string::npos) {
    return {file.substr(0, at)};
  }
  std::vector<std::string> words;
  std::istringstream parts(file);
  for (std::string word; std::getline(parts, word, '_');) words.push_back(word);
  const bool is_late = words.size() > 1 && (words[1] == "LATE" || words[1] == "late");
  if (is_late) words.erase(words.begin() + 1);
  const auto is_number = [](const std::string& word) {
    return !word.empty() && word.find_first_not_of("0123456789") == std::string::npos;
  };
  if (words.size() < 4 || !is_number(words[1]) || !is_number(words[2])) return {};
  return {words[0] + "_" + words[1], is_late};
}

// Whether these are files of one submission: some of exercises, no archive, and all in one folder.
bool are_loose(const std::vector<fs::path>& files) {
  return files.size() > 1 && std::all_of(files.begin(), files.end(), [&](const fs::path& file) {
           std::error_code error;
           return fs::is_regular_file(file, error) && !is_archive_name(file.filename().string()) &&
                  file.parent_path() == files.front().parent_path();
         });
}

// Whether two loose files are not of one person: by what a platform says, else by who owns them, for in a folder into which all
// put theirs anybody may call a file as he likes.
bool are_of_two(const fs::path& one, const fs::path& other) {
  struct stat of_one = {}, of_other = {};
  return marked(one.filename().string()).person != marked(other.filename().string()).person ||
         (lstat(one.c_str(), &of_one) == 0 && lstat(other.c_str(), &of_other) == 0 &&
          of_one.st_uid != of_other.st_uid);
}

// Whoever may write into a folder of many could have anything graded as his by a link.
bool is_link_of_another(const fs::path& path) {
  struct stat link = {}, folder = {};
  if (lstat(path.c_str(), &link) != 0 || !S_ISLNK(link.st_mode)) return false;
  const fs::path parent = path.has_parent_path() ? path.parent_path() : fs::path(".");
  return link.st_uid != geteuid() &&
         (stat(parent.c_str(), &folder) != 0 || link.st_uid != folder.st_uid);
}

ClassMember member_of(const std::string& id, const std::string& name,
                      const std::vector<fs::path>& handed_in) {
  ClassMember member{id, name, {}, fault_of_name(id)};
  if (!member.fault.empty()) member.id = data::printable(id, 200);
  if (handed_in.empty()) return member;
  member.submission = handed_in.front();
  for (const fs::path& path : handed_in) {
    if (is_link_of_another(path)) {
      member.fault = data::quoted(path.filename().string()) +
                     " is a link, and not of whose folder it is in: copy what it leads to";
      return member;
    }
    // Whoever collected it is at fault: nobody gets 0 points for it.
    std::error_code error;
    const int asked = fs::is_directory(path, error) ? R_OK | X_OK : R_OK;
    if (!fs::exists(path, error)) {
      member.fault = data::quoted(path.filename().string()) +
                     " is named and not there: a wrong path in the list, or a link to nothing";
    } else if (faccessat(AT_FDCWD, path.c_str(), asked, AT_EACCESS) != 0) {
      member.fault = "cannot read " + data::quoted(path.filename().string()) + ": " +
                     std::strerror(errno) + ": check its permissions";
    }
  }
  for (const fs::path& path : handed_in) member.is_late |= marked(path.filename().string()).is_late;
  const auto other = std::find_if(handed_in.begin(), handed_in.end(), [&](const fs::path& path) {
    return are_of_two(handed_in.front(), path);
  });
  if (are_loose(handed_in) && other != handed_in.end()) {
    member.fault = data::quoted(handed_in.front().filename().string()) + " and " +
                   data::quoted(other->filename().string()) +
                   " are of two people: keep those that are this one's";
  } else if (are_loose(handed_in)) {
    member.loose = handed_in;
  } else if (handed_in.size() > 1) {
    const fs::path &one = handed_in[0], &other = handed_in[1];
    const std::string count = std::to_string(handed_in.size()) + " submissions";
    // In a folder no two have one name.
    member.fault = one.filename() == other.filename()
                       ? count + " called " + data::quoted(one.filename().string()) + ", in " +
                             data::quoted(one.parent_path().string()) + " and " +
                             data::quoted(other.parent_path().string()) +
                             ": list these folders instead"
                       : count + ", " + data::quoted(one.filename().string()) + " and " +
                             data::quoted(other.filename().string()) + ": keep one";
  }
  return member;
}

// ---- One result a student ----

fs::path result_of(const fs::path& results, const ClassMember& member) {
  return results / kGrades / (member.id + ".json");
}

// What the grade of this submission would be made from.
std::string made_from(const ClassMember& member, const std::string& basis) {
  Sha256 all;
  all.add(basis + '\0' + member.id + '\0');
  try {
    all.add(submission_digest(member.submission));
    for (const fs::path& file : member.loose) all.add(submission_digest(file));
  } catch (const Refused&) {
    return "";  // let the grader say it, each time
  }
  return all.hex();
}

struct Result {
  Grade grade;
  std::string made_from;
};

// Nothing, if there is none that can be read.
std::optional<Result> read_result(const fs::path& path) {
  try {
    std::ifstream stream(path, std::ios::binary);
    if (!stream) return std::nullopt;
    const Value json = Value::parse(std::string{std::istreambuf_iterator<char>(stream), {}});
    return Result{grade_from_json(json), json.get_or<std::string>("made_from", "")};
  } catch (const json::Error&) {
    return std::nullopt;
  }
}

void write_result(const fs::path& path, const Result& result) {
  Value json = to_json(result.grade);
  json["made_from"] = result.made_from;
  data::write_file(path.string(), json.dump(1) + "\n");
}

using Clock = std::chrono::steady_clock;

struct Task {
  const ClassMember* member = nullptr;
  std::string made_from;
  int tries = 0;
  fs::path output = {};
  std::unique_ptr<Running> running = {};
  Clock::time_point start = {};
};

bool is_finished(const Grade& grade) { return !grade.error.starts_with(kNotFinished); }

// A grade that was finished, however its grader ended then; else one whose error says why there is none.
Result result_of(const Task& task, const std::string& ended_by) {
  std::optional<Result> written = read_result(task.output);
  const bool says_why =
      written && written->grade.error.starts_with(std::string(kNotFinished) + ": ");
  if (!says_why && (!written || !is_finished(written->grade))) {
    written.emplace();
    written->grade.error =
        std::string(kNotFinished) + ": " + (ended_by.empty() ? "it left no grade" : ended_by);
  }
  written->grade.student = task.member->id;
  written->made_from = task.made_from;
  return *written;
}

std::string why_it_ended(const Ended& ended) {
  if (ended.good()) return "";
  const std::string said = data::printable(last_line(ended.err), 300);
  return how_it_ended(ended) + (said.empty() || !ended.started ? "" : "; it said: " + said);
}

class Graders {
 public:
  Graders(const ClassGrading& grading, std::vector<Task> tasks, ClassRound& round)
      : grading_(grading), tasks_(std::move(tasks)), round_(round), bar_(isatty(STDERR_FILENO)) {}

  void run() {
    try {
      while (next_ < tasks_.size() || !running_.empty() || !again_.empty()) {
        for (Task* const task : again_) start(*task);
        again_.clear();
        while (next_ < tasks_.size() &&
               running_.size() < static_cast<std::size_t>(std::max(grading_.jobs, 1))) {
          start(tasks_[next_++]);
        }
        std::vector<Running*> watched;
        for (Task* const task : running_) watched.push_back(task->running.get());
        watch(watched);
        std::vector<Task*> still;
        for (Task* const task : running_) {
          if (!has_ended(*task)) still.push_back(task);
        }
        running_ = still;
        show();
      }
    } catch (const Interrupted& interrupted) {
      round_.interrupted = interrupted.signal;
    }
  }

 private:
  void start(Task& task) {
    task.output = folder_.path() / (std::to_string(&task - tasks_.data()) + "-" +
                                    std::to_string(++task.tries) + ".json");
    task.start = Clock::now();
    ClassMember member = *task.member;
    if (!member.loose.empty()) {
      member.submission = fs::path(task.output).replace_extension();
      put_together(member.loose, member.submission);
    }
    task.running = std::make_unique<Running>(grading_.grader(member, task.output), Listener{},
                                             Running::Alone::no);
    running_.push_back(&task);
  }

  // One that has failed is to be started again.
  bool has_ended(Task& task) {
    const bool expired = Clock::now() - task.start > grading_.limit;
    if (!task.running->has_ended() && !expired) return false;
    const std::string why =
        task.running->has_ended()
            ? why_it_ended(task.running->ended())
            : "it took longer than " + std::to_string(grading_.limit.count()) + " s";
    task.running.reset();
    const Result result = result_of(task, why);
    const bool finished = is_finished(result.grade);
    if (!finished && task.tries < 2) {
      again_.push_back(&task);
      return true;
    }
    write_result(grader::result_of(grading_.results, *task.member), result);
    ++(finished ? round_.graded : round_.errors);
    return true;
  }

  void show() {
    const std::size_t done = round_.graded + round_.errors;
    const std::size_t all = tasks_.size();
    std::string text;
    if (bar_) {
      constexpr std::size_t kWidth = 24;
      const std::size_t full = all == 0 ? kWidth : kWidth * done / all;
      text = "[" + std::string(full, '#') + std::string(kWidth - full, '.') + "] ";
    }
    text += std::to_string(done) + " of " + std::to_string(all) + " graded";
    if (!running_.empty()) text += ", now " + running_.front()->member->id;
    if (running_.size() > 1) text += " and " + std::to_string(running_.size() - 1) + " more";
    progress_.show(text);
  }

  const ClassGrading& grading_;
  std::vector<Task> tasks_;
  ClassRound& round_;
  data::TemporaryFolder folder_{
      "halo-class"};  // where graders write, until it is known what to think of it
  Progress progress_{Progress::Elsewhere::lines};
  bool bar_;
  std::size_t next_ = 0;
  std::vector<Task*> running_;
  std::vector<Task*> again_;
};

// ---- All of them together ----

struct Row {
  const ClassMember* member = nullptr;
  std::optional<Grade> grade;  // of what was judged, or refused
  std::string status;
  std::string message;  // an error, refusals, what failed first: one line
};

std::string number(double value) {
  std::string text = figure_text(value);
  std::erase(text, ',');
  return text;
}

// What a spreadsheet would take for a formula.
std::string defused(const std::string& text) {
  const bool is_formula =
      !text.empty() && std::string("=+-@\t\r").find(text[0]) != std::string::npos;
  return (is_formula ? "'" : "") + text;
}

bool was_handed_in(const ExerciseGrade& exercise) { return exercise.refusal != kNotHandedIn; }

std::string refusals_of(const Grade& grade) {
  const bool any_handed_in = std::ranges::any_of(grade.exercises, was_handed_in);
  std::vector<std::pair<std::string, std::string>> by_text;  // and of which exercises
  for (const ExerciseGrade& exercise : grade.exercises) {
    // What is not there has an empty cell, or is all that can be said.
    if (exercise.refusal.empty() || (any_handed_in && exercise.refusal == kNotHandedIn)) continue;
    auto at = std::find_if(by_text.begin(), by_text.end(),
                           [&](const auto& one) { return one.first == exercise.refusal; });
    if (at == by_text.end()) at = by_text.insert(at, {exercise.refusal, ""});
    at->second += (at->second.empty() ? "" : ", ") + exercise.name;
  }
  std::string text;
  for (const auto& [refusal, exercises] : by_text) {
    const bool all =
        by_text.size() == 1 && std::none_of(grade.exercises.begin(), grade.exercises.end(),
                                            [](const auto& one) { return one.refusal.empty(); });
    text += (text.empty() ? "" : "; ") + refusal + (all ? "" : " (" + exercises + ")");
  }
  return text;
}

// Of each exercise the first case that failed.
std::string first_failures_of(const Grade& grade) {
  std::string text;
  for (const ExerciseGrade& exercise : grade.exercises) {
    const auto failed = std::ranges::find(exercise.cases, Outcome::bad, &GradedCase::outcome);
    if (failed == exercise.cases.end() || !exercise.refusal.empty()) continue;
    text += (text.empty() ? "" : "; ") + exercise.name + ": " + failed->name;
  }
  return text;
}

Row row_of(const ClassMember& member, const fs::path& results) {
  Row row{&member, std::nullopt, "", ""};
  if (!member.fault.empty()) {
    row.status = "error";
    row.message = member.fault;
    return row;
  }
  if (member.submission.empty()) {
    row.status = "nothing handed in";
    return row;
  }
  std::optional<Result> result = read_result(result_of(results, member));
  if (!result || !is_finished(result->grade)) {
    row.status = "error";
    row.message = result ? result->grade.error : "not graded yet";
    return row;
  }
  row.grade = std::move(result->grade);
  const bool any = std::ranges::any_of(row.grade->exercises,
                                       [](const auto& one) { return one.refusal.empty(); });
  row.status = any ? "graded" : "refused";
  row.message = row.grade->error.empty() ? refusals_of(*row.grade) : row.grade->error;
  const std::string failures = first_failures_of(*row.grade);
  if (!failures.empty()) row.message += (row.message.empty() ? "" : "; ") + failures;
  return row;
}

struct ExerciseColumn {
  std::string name;
  double most = 0;
  double sum = 0;
  std::size_t count = 0;
  double share() const {
    return most > 0 && count > 0 ? sum / (most * static_cast<double>(count)) : 0;
  }
};

struct Mistake {
  std::string text;  // where: an exercise's case
  std::string what;  // what it was told; may be empty
  std::vector<std::string> students;
};

const ExerciseGrade* exercise_of(const Grade& grade, const std::string& name) {
  const auto at = std::ranges::find(grade.exercises, name, &ExerciseGrade::name);
  return at == grade.exercises.end() ? nullptr : &*at;
}

// Behind the problem that a message begins with, "n 8, width 3: "; 0 where it begins with none. By hand:
// std::regex would cost the compiler several seconds.
std::size_t end_of_problem(std::string_view message) {
  const auto skipped = [&message](std::size_t from, auto&& is_part) {
    while (from < message.size() && is_part(static_cast<unsigned char>(message[from]))) ++from;
    return from;
  };
  std::size_t at = 0;
  while (true) {
    const std::size_t space =
        skipped(at, [](unsigned char letter) { return std::isalnum(letter) || letter == '_'; });
    if (space == at || !message.substr(space).starts_with(' ')) return 0;
    const std::size_t end = skipped(space + 1, [](unsigned char letter) {
      return std::isdigit(letter) || letter == '-' || letter == ',';
    });
    if (end == space + 1) return 0;
    if (message.substr(end).starts_with(": ")) return end + 2;
    if (message[end - 1] != ',' || !message.substr(end).starts_with(' ')) return 0;
    at = end + 1;
  }
}

// A message without the problem that it begins with ("n 8, width 3: "), and of what does not compile, or holds other
// files, only that.
std::string without_place(const std::string& message) {
  for (const char* const one : {"does not compile", "there is no file of an exercise in it"}) {
    if (message.starts_with(one)) return one;
  }
  return message.substr(end_of_problem(message));
}

class Whole {
 public:
  Whole(const ClassList& list, const fs::path& results) : list_(list) {
    for (const ClassMember& member : list.members) rows_.push_back(row_of(member, results));
    std::map<std::string, ExerciseColumn> columns;
    // What went wrong, by where it did.
    std::map<std::pair<std::string, std::string>, std::set<std::string>> mistakes;
    for (const Row& row : rows_) {
      if (!row.grade) continue;
      double most = 0;
      for (const ExerciseGrade& exercise : row.grade->exercises) {
        ExerciseColumn& column = columns[exercise.name];
        column.name = exercise.name;
        column.most = std::max(column.most, exercise.most());
        most += exercise.most();
        if (!row.grade->error.empty() || !was_handed_in(exercise)) continue;
        column.sum += exercise.points();
        ++column.count;
        // What refused the whole submission is one mistake.
        if (!exercise.refusal.empty()) {
          const bool whole = row.status == "refused" && row.message == exercise.refusal;
          const std::string why = alike(without_place(exercise.refusal));
          mistakes[{whole ? why : exercise.name + ": " + why, ""}].insert(row.member->id);
        }
        // The first case that failed: the others often do by the same mistake.
        for (const GradedCase& one : exercise.cases) {
          if (one.outcome != Outcome::bad) continue;
          mistakes[{exercise.name + ": " + one.name, alike(without_place(one.message))}].insert(
              row.member->id);
          break;
        }
      }
      if (!row.grade->error.empty()) {
        mistakes[{alike(without_place(row.grade->error)), ""}].insert(row.member->id);
      }
      most_ = std::max(most_, most);
      points_.push_back(row.grade->points());
    }
    for (const auto& [name, column] : columns) columns_.push_back(column);
    for (const auto& [mistake, students] : mistakes) {
      mistakes_.push_back({mistake.first, mistake.second, {students.begin(), students.end()}});
    }
    std::ranges::stable_sort(mistakes_, std::greater(),
                             [](const Mistake& one) { return one.students.size(); });
    std::ranges::sort(points_);
  }

  std::string csv() const {
    Table table;
    const bool is_any_late = std::ranges::any_of(list_.members, &ClassMember::is_late);
    const auto is_column = [&](const std::string& head) {
      return head == "name" ? list_.has_roster : head != "late" || is_any_late;
    };
    for (const char* const head : {"student", "name", "late", "status", "points", "most"}) {
      if (is_column(head)) table.columns.push_back({head});
    }
    for (const ExerciseColumn& column : columns_) table.columns.push_back({column.name});
    table.columns.push_back({"message"});
    table.columns.push_back({"sandbox"});
    for (const Row& row : rows_) {
      // What is to be graded again is no 0.
      const bool counts = row.status != "error";
      auto& cells = table.rows.emplace_back();
      cells.push_back({defused(row.member->id)});
      if (list_.has_roster) cells.push_back({defused(row.member->name)});
      if (is_any_late) cells.push_back({row.member->is_late ? "late" : ""});
      cells.push_back({row.status});
      cells.push_back({!counts ? "" : row.grade ? number(row.grade->points()) : "0"});
      cells.push_back({counts ? number(most_of(row)) : ""});
      for (const ExerciseColumn& column : columns_) {
        const ExerciseGrade* const exercise =
            row.grade ? exercise_of(*row.grade, column.name) : nullptr;
        const bool is_there = counts && exercise != nullptr && was_handed_in(*exercise);
        cells.push_back({is_there ? number(exercise->points()) : ""});
      }
      cells.push_back({defused(data::printable(row.message, 1000))});
      cells.push_back({row.grade ? row.grade->sandbox : ""});
    }
    TableOptions options;
    options.format = Format::csv;
    return lay_out(table, options);
  }

  Value json() const {
    Value students = Value::array(), exercises = Value::array(), mistakes = Value::array();
    double seconds = 0;
    for (const Row& row : rows_) {
      Value student = Value::object({{"id", row.member->id},
                                     {"name", row.member->name},
                                     {"submission", row.member->submission.filename().string()},
                                     {"late", row.member->is_late},
                                     {"status", row.status},
                                     {"message", row.message},
                                     {"points", Value()},
                                     {"most", Value()},
                                     {"sandbox", row.grade ? row.grade->sandbox : ""},
                                     {"exercises", Value::array()}});
      if (row.status != "error") {
        student["points"] = row.grade ? row.grade->points() : 0.0;
        student["most"] = most_of(row);
      }
      if (row.grade) {
        seconds += row.grade->seconds;
        for (const ExerciseGrade& one : row.grade->exercises) {
          student["exercises"].push_back(Value::object({{"name", one.name},
                                                        {"points", one.points()},
                                                        {"most", one.most()},
                                                        {"refusal", one.refusal}}));
        }
      }
      students.push_back(std::move(student));
    }
    for (const ExerciseColumn& column : columns_) {
      exercises.push_back(Value::object(
          {{"name", column.name}, {"most", column.most}, {"mean_share", column.share()}}));
    }
    for (const Mistake& mistake : mistakes_) {
      mistakes.push_back(Value::object(
          {{"mistake", mistake.text}, {"what", mistake.what}, {"students", mistake.students}}));
    }
    return Value::object({{"most", most_},
                          {"mean", mean()},
                          {"median", median()},
                          {"students", std::move(students)},
                          {"exercises", std::move(exercises)},
                          {"mistakes", std::move(mistakes)},
                          {"seconds", seconds}});
  }

  std::string summary() const {
    const auto count = [&](const std::string& status) {
      return static_cast<std::size_t>(std::ranges::count(rows_, status, &Row::status));
    };
    std::string text = plural(rows_.size(), "student");
    for (const char* const status : {"graded", "refused", "error", "nothing handed in"}) {
      if (const std::size_t n = count(status); n > 0) {
        text += (text.find(':') == std::string::npos ? ": " : ", ") + std::to_string(n) + " " +
                (n > 1 && std::string(status) == "error" ? "errors" : status);
      }
    }
    text += "\n";
    if (!points_.empty()) {
      text += "mean " + rounded(mean()) + ", median " + rounded(median()) + " of " + number(most_) +
              " points, of " + plural(points_.size(), "submission") + "\n\n";
      text += histogram();
      text += hardest();
    }
    text += commonest();
    for (const char* const status : {"error", "refused"}) {
      text += told(status, count(status));
    }
    return text;
  }

 private:
  static constexpr std::size_t kWidth = 100;

  static std::string plural(std::size_t n, const std::string& what) {
    return std::to_string(n) + " " + what + (n == 1 ? "" : "s");
  }
  static std::string rounded(double value) {
    char text[64];
    std::snprintf(text, sizeof text, "%.1f", value);
    return text;
  }

  // A submission that nobody looked into may have no exercises.
  double most_of(const Row& row) const {
    return row.grade && row.grade->error.empty() ? row.grade->most() : most_;
  }

  double mean() const {
    double sum = 0;
    for (const double one : points_) sum += one;
    return points_.empty() ? 0 : sum / static_cast<double>(points_.size());
  }
  double median() const {
    const std::size_t n = points_.size();
    return n == 0 ? 0 : (points_[(n - 1) / 2] + points_[n / 2]) / 2;
  }

  std::string histogram() const {
    constexpr std::size_t kBins = 10;
    constexpr std::size_t kLongest = 50;
    // Up to all points there are; where nobody came near, as long as most is not handed in yet, to the best.
    const double top = points_.back() > most_ / 2 || points_.back() == 0 ? most_ : points_.back();
    std::size_t bins[kBins] = {};
    for (const double points : points_) {
      const double share = top > 0 ? points / top : 0;
      ++bins[std::min(kBins - 1, static_cast<std::size_t>(share * kBins + 1e-9))];
    }
    const std::size_t most = *std::max_element(bins, bins + kBins);
    std::string text;
    for (std::size_t i = 0; i < kBins; ++i) {
      const std::size_t length =
          most <= kLongest ? bins[i] : (bins[i] * kLongest + most - 1) / most;
      const auto edge = [&](std::size_t bin) { return top * static_cast<double>(bin) / kBins; };
      char head[96];
      std::snprintf(head, sizeof head, "%6.6g %s %6.6g points %5zu", edge(i),
                    i + 1 < kBins ? "to under" : "to      ", edge(i + 1), bins[i]);
      text += head + (length > 0 ? " " + std::string(length, '#') : "") + "\n";
    }
    return text;
  }

  std::string hardest() const {
    std::vector<ExerciseColumn> sorted = columns_;
    std::erase_if(sorted, [](const ExerciseColumn& one) { return one.count == 0; });
    if (sorted.size() < 2) return "";
    std::ranges::stable_sort(sorted, {}, &ExerciseColumn::share);
    std::string text;
    for (std::size_t i = 0; i < std::min<std::size_t>(sorted.size(), 3); ++i) {
      text +=
          (i > 0 ? ", " : "") + sorted[i].name + " (" + rounded(100 * sorted[i].share()) + " %)";
    }
    return "\nhardest: " + text + "\n";
  }

  std::string commonest() const {
    std::string text;
    for (std::size_t i = 0; i < std::min<std::size_t>(mistakes_.size(), 5); ++i) {
      char head[32];
      std::snprintf(head, sizeof head, "%4zu  ", mistakes_[i].students.size());
      const auto& students = mistakes_[i].students;
      std::string who;
      for (std::size_t j = 0; j < students.size(); ++j) {
        const std::string rest = std::to_string(students.size() - j) + " more";
        const std::string next = (j > 0 ? ", " : "") + students[j];
        if (j > 0 && who.size() + next.size() > 24) {
          who += " and " + rest;
          break;
        }
        who += next;
      }
      const std::string behind = " (" + data::printable(who, 48) + ")";
      const std::string& what = mistakes_[i].what;
      const std::size_t room = kWidth - 9 - behind.size();
      text += head + data::printable(mistakes_[i].text, what.empty() ? room : kWidth - 9);
      if (!what.empty()) text += "\n" + std::string(6, ' ') + data::printable(what, room);
      text += behind + "\n";
    }
    return text.empty() ? "" : "\nmistakes, and how many students made them:\n" + text;
  }

  std::string told(const std::string& status, std::size_t count) const {
    constexpr std::size_t kLines = 2;
    std::string text;
    std::size_t line = 0;
    for (const Row& row : rows_) {
      if (row.status != status || line == kLines) continue;
      ++line;
      text += data::printable(status + ": " + row.member->id + ": " + row.message, kWidth) + "\n";
    }
    if (count > kLines) {
      text += status + ": " + std::to_string(count - kLines) + " more: class.csv has them all\n";
    }
    return text.empty() ? "" : "\n" + text;
  }

  const ClassList& list_;
  std::vector<Row> rows_;
  std::vector<ExerciseColumn> columns_;
  std::vector<Mistake> mistakes_;
  std::vector<double> points_;  // sorted
  double most_ = 0;
};

}  // namespace

std::vector<std::string> ids_of_roster(const fs::path& roster) {
  std::vector<std::string> ids;
  for (const RosterRow& row : read_roster(roster)) ids.push_back(row.id);
  return ids;
}

ClassList list_class(const fs::path& submissions, const fs::path& roster,
                     std::vector<fs::path> beside) {
  beside.push_back(roster);
  ClassList list;
  list.has_roster = !roster.empty();
  std::vector<RosterRow> rows;
  if (list.has_roster) rows = read_roster(roster);
  std::map<std::string, std::vector<fs::path>> others;
  for (const fs::path& path : paths_of(submissions, beside)) {
    const std::string file = path.filename().string();
    const std::string stem = submission_name(path);
    // The surest sign that anybody has decides.
    std::vector<RosterRow*> whose;
    const auto find = [&](auto is_of) {
      if (!whose.empty()) return;
      for (RosterRow& row : rows) {
        if (is_of(row)) whose.push_back(&row);
      }
    };
    find([&](const RosterRow& row) { return row.submission == file || row.submission == stem; });
    const bool is_named = !whose.empty();  // then all of them: they worked together
    find([&](const RosterRow& row) { return row.id == stem; });
    const auto names_who = [&](const RosterRow& row) {
      return row.submission.empty() && begins_with_name(stem, row.name);
    };
    if (whose.empty()) {
      find([&](const RosterRow& row) { return row.submission.empty() && has_word(stem, row.id); });
      // A platform's own number may be somebody's id: where another's name stands before it, nobody knows.
      const bool agree = std::any_of(whose.begin(), whose.end(),
                                     [&](const RosterRow* row) { return names_who(*row); });
      for (RosterRow& row : rows) {
        if (!agree && names_who(row)) whose.push_back(&row);
      }
    }
    if (whose.size() == 1 || is_named) {
      for (RosterRow* const row : whose) row->handed_in.push_back(path);
      continue;
    }
    std::error_code error;
    const std::string person = fs::is_directory(path, error) ? "" : marked(file).person;
    others[person.empty() ? stem : person].push_back(path);
    if (whose.size() > 1) {
      list.remarks.push_back(data::quoted(file) + " may be of " + data::quoted(whose[0]->id) +
                             " or of " + data::quoted(whose[1]->id) +
                             ": name it in the roster's column submission");
    } else if (list.has_roster) {
      list.remarks.push_back(data::quoted(file) + " belongs to nobody in the roster");
    }
  }
  for (const RosterRow& row : rows) {
    if (row.handed_in.empty() && !row.submission.empty()) {
      list.remarks.push_back(data::quoted(row.submission) + ", which the roster names for " +
                             data::quoted(row.id) + ", is not there");
    }
    list.members.push_back(member_of(row.id, row.name, row.handed_in));
  }
  for (const auto& [stem, paths] : others) list.members.push_back(member_of(stem, "", paths));
  std::ranges::stable_sort(list.members, {}, &ClassMember::id);
  return list;
}

std::vector<fs::path> results_in(const fs::path& results) {
  return {results, results / kGrades, results / kTable, results / kWhole};
}

ClassRound grade_class(const ClassList& list, const ClassGrading& grading) {
  std::error_code error;
  fs::create_directories(grading.results / kGrades, error);
  if (error) {
    throw data::NotWritten("cannot write to " + data::quoted(grading.results.string()) + ": " +
                           error.message());
  }
  ClassRound round;
  std::vector<Task> tasks;
  int place = 0;
  for (const ClassMember& member : list.members) {
    if (!member.fault.empty() || member.submission.empty()) continue;
    if (place++ % grading.shards != grading.shard - 1) continue;
    Task task;
    task.member = &member;
    task.made_from = made_from(member, grading.basis);
    const std::optional<Result> before = read_result(result_of(grading.results, member));
    if (before && is_finished(before->grade) && !task.made_from.empty() &&
        before->made_from == task.made_from) {
      ++round.kept;
      continue;
    }
    tasks.push_back(std::move(task));
  }
  if (!tasks.empty() && grading.rehearsal) grading.rehearsal();
  if (!tasks.empty()) Graders(grading, std::move(tasks), round).run();
  return round;
}

std::string write_class(const ClassList& list, const fs::path& results) {
  const Whole whole(list, results);
  data::write_file((results / kTable).string(), whole.csv());
  data::write_file((results / kWhole).string(), whole.json().dump(1) + "\n");
  return whole.summary();
}

std::string alike(const std::string& message) {
  const auto at = [&](std::size_t i) { return i < message.size() ? message[i] : ' '; };
  const auto is_digit = [&](std::size_t i) { return at(i) >= '0' && at(i) <= '9'; };
  const auto is_sign = [&](std::size_t i) { return at(i) == '-' || at(i) == '+'; };
  const auto is_name = [&](std::size_t i) {
    return at(i) == '_' || std::isalpha(static_cast<unsigned char>(at(i))) != 0;
  };
  std::string text;
  for (std::size_t i = 0; i < message.size();) {
    // A figure within a name, 04_tile_and_halo or tile2, is part of it.
    if (is_name(i)) {
      while (is_name(i) || is_digit(i)) text += message[i++];
      continue;
    }
    std::size_t end = is_sign(i) ? i + 1 : i;
    if (!is_digit(end)) {
      text += message[i++];
      continue;
    }
    while (is_digit(end) || ((at(end) == '.' || at(end) == ',') && is_digit(end + 1))) ++end;
    if (at(end) == 'e' && is_digit(is_sign(end + 1) ? end + 2 : end + 1)) {
      end += 2;
      while (is_digit(end)) ++end;
    }
    if (at(end) == '_') {
      text += message.substr(i, end - i);
    } else {
      text += 'N';
    }
    i = end;
  }
  return text;
}

}  // namespace halo::grader
