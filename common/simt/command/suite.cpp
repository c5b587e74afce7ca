// `simt suite`: compiles and runs labelled programs, and compares what is found with the labels.
#include <fcntl.h>
#include <fnmatch.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <limits>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "common/json/json.hpp"
#include "common/simt/checker/hazards.hpp"
#include "common/simt/command/commands.hpp"
#include "common/simt/command/options.hpp"
#include "common/simt/cudart/installation.hpp"
#include "common/simt/cudart/words.hpp"

namespace simt::command {
namespace {

namespace fs = std::filesystem;
using halo::json::Value;
using Words = std::vector<std::string>;

// ---- The table of labels ----

// A kind of finding, or several of which one will do.
struct Label {
  std::string name;
  Words any;
  bool may_lack = false;
};

struct Row {
  std::string program;  // in the folder
  std::string expected;
  bool is_refused = false;
  std::vector<Label> labels;  // none: clean
  Words compile, run;
};

std::string trimmed(std::string_view text) {
  const auto begin = text.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) return "";
  return std::string(text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1));
}

std::vector<std::string> split(std::string_view text, char at) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == at) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

void read_labels(Row& row, const std::string& place) {
  for (const std::string& word : quoted_words(row.expected)) {
    if (word == "clean") continue;
    if (word == "refused") {
      row.is_refused = true;
      continue;
    }
    Label label;
    label.may_lack = word.ends_with('?');
    label.name = word.substr(0, word.size() - label.may_lack);
    label.any = split(label.name, '/');
    for (const std::string& kind : label.any) {
      if (!hazard_named(kind)) {
        throw std::runtime_error(place + kind +
                                 " is not a kind of finding: use clean, refused or " +
                                 "kinds of docs/simulator_reference.md");
      }
    }
    row.labels.push_back(std::move(label));
  }
}

// All files below, in order.
Words files_of(const fs::path& folder) {
  Words files;
  for (const fs::directory_entry& one : fs::recursive_directory_iterator(folder)) {
    if (one.is_regular_file()) files.push_back(fs::relative(one.path(), folder).string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

// PROGRAM | EXPECTED | COMPILE | RUN. A pattern stands for the programs that no line before it names.
std::vector<Row> read_table(const fs::path& folder, const std::string& name) {
  std::ifstream file(name);
  if (!file) throw std::runtime_error(name + ": cannot be read");
  const Words files = files_of(folder);
  std::vector<Row> rows;
  std::set<std::string> named;
  std::string line;
  for (int number = 1; std::getline(file, line); ++number) {
    const std::string text = trimmed(line);
    if (text.empty() || text.front() == '#') continue;
    const std::string place = name + ":" + std::to_string(number) + ": ";
    Words columns = split(text, '|');
    if (columns.size() < 2 || columns.size() > 4) {
      throw std::runtime_error(place + "a line is PROGRAM | EXPECTED | COMPILE | RUN");
    }
    columns.resize(4);
    Row row;
    row.expected = trimmed(columns[1]);
    if (row.expected.empty()) {
      throw std::runtime_error(place + "nothing is expected: write clean, refused or kinds");
    }
    read_labels(row, place);
    row.compile = quoted_words(columns[2]);
    row.run = quoted_words(columns[3]);
    const std::string pattern = trimmed(columns[0]);
    const bool is_pattern = pattern.find_first_of("*?[") != std::string::npos;
    const std::size_t before = rows.size();
    Words now;
    for (const std::string& one : files) {
      if (is_pattern ? fnmatch(pattern.c_str(), one.c_str(), 0) != 0 || named.contains(one)
                     : one != pattern) {
        continue;
      }
      row.program = one;
      rows.push_back(row);
      now.push_back(one);
    }
    named.insert(now.begin(), now.end());
    if (rows.size() == before && !is_pattern) {
      throw std::runtime_error(place + pattern + " is not in " + folder.string());
    }
    if (rows.size() == before) {
      throw std::runtime_error(place + "no program that is left is called " + pattern);
    }
  }
  if (rows.empty()) throw std::runtime_error(name + ": names no program");
  return rows;
}

// ---- Programs ----

struct Ended {
  int status = -1;  // of the program; 128 + a signal
  bool is_out_of_time = false;
  double seconds = 0;  // of processors
  std::string text;    // what it said on stderr
};

std::string text_of(const fs::path& name) {
  std::ifstream file(name, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// In a process group of its own, so that all that it starts ends with it. Who sleeps for ever takes no time of a processor:
// much later there is no verdict either.
constexpr int kClockOfLimit = 20;

Ended start(const Words& words, const fs::path& folder, const Words& settings, int limit,
            const fs::path& said) {
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  std::vector<char*> environment;
  for (char** one = environ; *one != nullptr; ++one) {
    const std::string_view name(*one, std::strcspn(*one, "=") + 1);
    const auto sets = [&](const std::string& its) { return its.starts_with(name); };
    if (std::none_of(settings.begin(), settings.end(), sets)) environment.push_back(*one);
  }
  for (const std::string& one : settings) environment.push_back(const_cast<char*>(one.c_str()));
  environment.push_back(nullptr);
  const pid_t child = fork();
  if (child < 0) throw std::runtime_error(std::string("fork: ") + std::strerror(errno));
  if (child == 0) {
    setpgid(0, 0);
    const auto seconds = static_cast<rlim_t>(limit);
    const rlimit processor{seconds, seconds + 1}, no_core{0, 0};
    setrlimit(RLIMIT_CPU, &processor);
    setrlimit(RLIMIT_CORE, &no_core);
    const int input = open("/dev/null", O_RDWR);
    const int output = open(said.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
    dup2(input, STDIN_FILENO);
    dup2(input, STDOUT_FILENO);
    dup2(output, STDERR_FILENO);
    if (chdir(folder.c_str()) == 0) execve(arguments[0], arguments.data(), environment.data());
    _exit(127);
  }
  setpgid(child, child);
  using Clock = std::chrono::steady_clock;
  const auto last = Clock::now() + std::chrono::seconds(std::int64_t{kClockOfLimit} * limit);
  Ended ended;
  int status = 0;
  rusage used{};
  for (auto nap = std::chrono::milliseconds(1); wait4(child, &status, WNOHANG, &used) == 0;
       nap = std::min(2 * nap, std::chrono::milliseconds(50))) {
    if (Clock::now() > last) {
      ended.is_out_of_time = true;
      kill(-child, SIGKILL);
      wait4(child, &status, 0, &used);
      break;
    }
    std::this_thread::sleep_for(nap);
  }
  kill(-child, SIGKILL);
  const int signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  const auto seconds_of = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  ended.seconds = seconds_of(used.ru_utime) + seconds_of(used.ru_stime);
  ended.is_out_of_time |= signal == SIGXCPU || (signal == SIGKILL && ended.seconds >= limit);
  ended.status = signal != 0 ? 128 + signal : WEXITSTATUS(status);
  ended.text = text_of(said);
  return ended;
}

// ---- Judgement ----

enum class Verdict { clean, found, missed, false_alarm, refused, none };

constexpr const char* kVerdicts[] = {"clean",       "found",   "missed",
                                     "false alarm", "refused", "no verdict"};

struct Outcome {
  Verdict verdict = Verdict::none;
  bool is_as_labelled = false;
  Words errors, notes;        // kinds
  Words lacking, unexpected;  // of labels and of kinds
  std::string why;            // of anything but clean and found
  double seconds = 0;
};

bool has(const Words& words, const std::string& word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// The first line with the word; the first of all if none has it.
std::string line_with(const std::string& text, std::string_view word) {
  std::istringstream lines(text);
  std::string first;
  for (std::string line; std::getline(lines, line);) {
    if (line.find(word) != std::string::npos) return line;
    if (first.empty()) first = line;
  }
  return first;
}

// What the simulator says of what it does not do.
std::string refusal_in(const std::string& text) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("simt: ")) continue;
    for (const char* const word : {" was not launched: ", " is not in the simulator"}) {
      if (line.find(word) != std::string::npos) return line.substr(6);
    }
  }
  return "";
}

Outcome refused(const Row& row, const std::string& why) {
  Outcome outcome;
  outcome.verdict = Verdict::refused;
  outcome.is_as_labelled = row.is_refused;
  outcome.why = why;
  return outcome;
}

Outcome judge(const Row& row, const Ended& ended, const fs::path& report, int limit) {
  Outcome outcome;
  outcome.seconds = ended.seconds;
  std::size_t kernels = 0;
  std::map<std::string, std::string> messages;
  if (const std::string text = text_of(report); !text.empty()) {
    const Value json = Value::parse(text);
    for (const Value& launch : json.at("launches").elements()) {
      kernels += launch.at("grid").elements().at(0).get<int>() > 0;
      for (const Value& one : launch.at("findings").elements()) {
        const auto kind = one.get<std::string>("kind");
        Words& kinds = one.get<std::string>("level") == "note" ? outcome.notes : outcome.errors;
        if (!has(kinds, kind)) kinds.push_back(kind);
        messages.try_emplace(kind, fs::path(one.get<std::string>("file")).filename().string() +
                                       ":" + std::to_string(one.get<int>("line")) + ": " +
                                       one.get<std::string>("message"));
      }
    }
  }
  const auto is_found = [&](const std::string& kind) {
    return has(outcome.errors, kind) || has(outcome.notes, kind);
  };
  bool is_faulty = false;
  for (const Label& label : row.labels) {
    if (label.may_lack) continue;
    is_faulty = true;
    if (std::none_of(label.any.begin(), label.any.end(), is_found)) {
      outcome.lacking.push_back(label.name);
    }
  }
  for (const std::string& kind : outcome.errors) {
    const auto names = [&](const Label& label) { return has(label.any, kind); };
    if (std::none_of(row.labels.begin(), row.labels.end(), names)) {
      outcome.unexpected.push_back(kind);
    }
  }
  const std::string refusal = refusal_in(ended.text);
  const bool is_all_found = is_faulty && outcome.lacking.empty();
  if (!outcome.unexpected.empty()) {
    outcome.verdict = Verdict::false_alarm;
    outcome.why = messages.at(outcome.unexpected.front());
  } else if (is_all_found) {
    outcome.verdict = Verdict::found;
  } else if (!refusal.empty()) {
    outcome.verdict = Verdict::refused;
    outcome.why = refusal;
  } else if (ended.is_out_of_time) {
    outcome.why = "it had not ended after " + std::to_string(limit) + " s of a processor";
  } else if (ended.status > 128) {
    outcome.why = std::string("a signal ended it: ") + strsignal(ended.status - 128);
  } else if (kernels == 0) {
    outcome.why = "no kernel ran (status " + std::to_string(ended.status) + ")";
  } else if (is_faulty) {
    outcome.verdict = Verdict::missed;
    outcome.why = "not found: " + outcome.lacking.front();
  } else {
    outcome.verdict = Verdict::clean;
  }
  outcome.is_as_labelled =
      row.is_refused ? outcome.verdict == Verdict::refused
                     : outcome.verdict == Verdict::found || outcome.verdict == Verdict::clean;
  return outcome;
}

// ---- All of them ----

// Calls work(i) for each, on so many threads; the first that throws is thrown.
void each(std::size_t count, unsigned threads, const std::string& what,
          const std::function<void(std::size_t)>& work) {
  std::atomic<std::size_t> next = 0, done = 0;
  std::mutex mutex;
  std::exception_ptr failure;
  const bool is_terminal = isatty(STDERR_FILENO) == 1;
  std::size_t told = 0;
  const auto take = [&] {
    for (std::size_t i = next++; i < count; i = next++) {
      try {
        work(i);
      } catch (...) {
        const std::lock_guard lock(mutex);
        if (!failure) failure = std::current_exception();
        next = count;
        return;
      }
      const std::size_t now = ++done;
      const std::lock_guard lock(mutex);
      // In a file a line for each tenth.
      if (!is_terminal && now * 10 / count <= told) continue;
      told = now * 10 / count;
      std::fprintf(stderr, "%s%zu of %zu %s%s", is_terminal ? "\r" : "", now, count, what.c_str(),
                   is_terminal && now < count ? "" : "\n");
    }
  };
  {
    std::vector<std::jthread> all;
    for (unsigned i = 0; i < threads; ++i) all.emplace_back(take);
  }
  if (failure) std::rethrow_exception(failure);
}

struct Options {
  fs::path folder, keep;
  std::string table, json;
  unsigned threads = std::max(1u, std::thread::hardware_concurrency());
  int limit = 60;
};

// Nothing: help was asked for.
std::optional<Options> options_of(char** words) {
  CLI::App app("Compiles and runs labelled programs, and compares what is found with the labels.",
               "simt suite");
  Options options;
  std::string keep;
  const CLI::Range from_one(1, std::numeric_limits<int>::max());
  app.add_option("FOLDER", options.folder, "where the programs are")
      ->required()
      ->check(CLI::ExistingDirectory);
  app.add_option("TABLE", options.table, "what is expected of each")->required();
  app.add_option("-j", options.threads, "so many at a time")->check(from_one);
  app.add_option("--limit", options.limit, "seconds of processor time that a program may take")
      ->check(from_one);
  app.add_option("--keep", keep, "a folder for what is compiled, for the next time");
  app.add_option("--json", options.json, "write the results there");
  if (!parse(app, words)) return {};
  options.folder = fs::absolute(options.folder);
  if (!keep.empty()) options.keep = fs::absolute(keep);
  return options;
}

struct Built {
  Row row;
  fs::path program;
  std::string failure;  // empty: it is there
};

// Where nothing was kept, for this run alone.
class Folder {
 public:
  explicit Folder(const fs::path& kept) : path(kept), is_kept_(!kept.empty()) {
    if (is_kept_) {
      fs::create_directories(path);
      return;
    }
    std::string name = (fs::temp_directory_path() / "simt-suite-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) {
      throw std::runtime_error(name + " cannot be made: " + std::strerror(errno));
    }
    path = name;
  }
  ~Folder() {
    std::error_code none;
    if (!is_kept_) fs::remove_all(path, none);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  fs::path path;

 private:
  bool is_kept_;
};

void build(Built& one, const Options& options) {
  const fs::path source = options.folder / one.row.program;
  std::error_code none;
  if (const auto made = fs::last_write_time(one.program, none);
      !none && made > fs::last_write_time(source)) {
    return;
  }
  Words words = {(program_folder() / "simcc").string(), one.row.program};
  words.insert(words.end(), one.row.compile.begin(), one.row.compile.end());
  words.insert(words.end(), {"-o", one.program.string()});
  const fs::path said = one.program.string() + ".log";
  const Ended ended = start(words, options.folder, {}, options.limit, said);
  if (ended.status == 0) return;
  one.failure = ended.is_out_of_time ? "the compiler did not end" : line_with(ended.text, "error");
  if (one.failure.empty()) one.failure = "the compiler ends with " + std::to_string(ended.status);
}

Outcome run_one(const Row& row, const fs::path& program, const fs::path& place,
                const Options& options) {
  const fs::path report = place.string() + ".json";
  fs::remove(report);
  Words words = {program.string()}, settings = {"SIMT_REPORT=" + report.string()};
  bool has_threads = false;
  for (const std::string& word : row.run) {
    const bool is_setting =
        words.size() == 1 && word.starts_with("SIMT_") && word.find('=') != std::string::npos;
    has_threads |= is_setting && word.starts_with("SIMT_THREADS=");
    (is_setting ? settings : words).push_back(word);
  }
  // Programs run beside each other already.
  if (!has_threads) settings.push_back("SIMT_THREADS=1");
  const Ended ended =
      start(words, options.folder, settings, options.limit, place.string() + ".said");
  try {
    return judge(row, ended, report, options.limit);
  } catch (const halo::json::Error& error) {
    Outcome outcome;
    outcome.seconds = ended.seconds;
    outcome.why = std::string("its report cannot be read: ") + error.what();
    return outcome;
  }
}

struct Tally {
  std::size_t labelled = 0, found = 0, missed = 0, false_alarms = 0;
};

std::map<std::string, Tally> tally_of(const std::vector<Row>& rows,
                                      const std::vector<Outcome>& outcomes) {
  std::map<std::string, Tally> kinds;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Outcome& its = outcomes[i];
    for (const std::string& kind : its.unexpected) ++kinds[kind].false_alarms;
    for (const Label& label : rows[i].labels) {
      if (label.may_lack) continue;
      Tally& kind = kinds[label.name];
      ++kind.labelled;
      const bool lacks = has(its.lacking, label.name);
      kind.found += its.verdict != Verdict::refused && its.verdict != Verdict::none && !lacks;
      kind.missed += its.verdict == Verdict::missed && lacks;
    }
  }
  return kinds;
}

Value to_json(const Options& options, const std::vector<Row>& rows,
              const std::vector<Outcome>& outcomes, const std::map<std::string, Tally>& kinds) {
  std::map<Verdict, std::size_t> counts;
  Value programs = Value::array();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Outcome& its = outcomes[i];
    ++counts[its.verdict];
    Value one = Value::object({{"program", rows[i].program},
                               {"run", rows[i].run},
                               {"expected", rows[i].expected},
                               {"verdict", kVerdicts[static_cast<std::size_t>(its.verdict)]},
                               {"as_labelled", its.is_as_labelled},
                               {"errors", its.errors},
                               {"notes", its.notes},
                               {"processor_seconds", its.seconds}});
    if (!its.why.empty()) one["why"] = its.why;
    programs.push_back(std::move(one));
  }
  Value by_kind = Value::object();
  for (const auto& [kind, tally] : kinds) {
    by_kind[kind] = Value::object({{"labelled", tally.labelled},
                                   {"found", tally.found},
                                   {"missed", tally.missed},
                                   {"false_alarms", tally.false_alarms}});
  }
  Value json = Value::object(
      {{"schema_version", 1}, {"folder", options.folder.string()}, {"runs", rows.size()}});
  Value verdicts = Value::object();
  for (std::size_t i = 0; i < std::size(kVerdicts); ++i) {
    verdicts[kVerdicts[i]] = counts[static_cast<Verdict>(i)];
  }
  json["verdicts"] = std::move(verdicts);
  json["kinds"] = std::move(by_kind);
  json["programs"] = std::move(programs);
  return json;
}

void print(const std::vector<Row>& rows, const std::vector<Outcome>& outcomes,
           const std::map<std::string, Tally>& kinds) {
  std::map<Verdict, std::size_t> counts;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Outcome& its = outcomes[i];
    ++counts[its.verdict];
    if (its.is_as_labelled) continue;
    std::string arguments;
    for (const std::string& word : rows[i].run) arguments += " " + word;
    std::printf("%s%s: %s, expected %s: %s\n", rows[i].program.c_str(), arguments.c_str(),
                kVerdicts[static_cast<std::size_t>(its.verdict)], rows[i].expected.c_str(),
                its.why.c_str());
  }
  std::printf("%zu runs:", rows.size());
  for (std::size_t i = 0; i < std::size(kVerdicts); ++i) {
    std::printf("%s %zu %s", i == 0 ? "" : ",", counts[static_cast<Verdict>(i)], kVerdicts[i]);
  }
  std::printf("\n");
  if (kinds.empty()) return;
  std::size_t longest = 4;
  for (const auto& [kind, tally] : kinds) longest = std::max(longest, kind.size());
  const int width = static_cast<int>(longest);
  std::printf("%-*s %9s %9s %9s %13s\n", width, "kind", "labelled", "found", "missed",
              "false alarms");
  for (const auto& [kind, tally] : kinds) {
    std::printf("%-*s %9zu %9zu %9zu %13zu\n", width, kind.c_str(), tally.labelled, tally.found,
                tally.missed, tally.false_alarms);
  }
}

}  // namespace

int suite(char** words) {
  const std::optional<Options> asked = options_of(words);
  if (!asked) return kGood;
  const Options& options = *asked;
  const std::vector<Row> rows = read_table(options.folder, options.table);
  const Folder folder(options.keep);
  // What is compiled alike is compiled once.
  std::vector<Built> programs;
  std::map<Words, std::size_t> known;
  std::vector<std::size_t> program_of;
  for (const Row& row : rows) {
    Words key = {row.program};
    key.insert(key.end(), row.compile.begin(), row.compile.end());
    const auto [its, is_new] = known.try_emplace(key, programs.size());
    program_of.push_back(its->second);
    if (!is_new) continue;
    std::string all;
    for (const std::string& word : key) all += word + '\n';
    std::string name = row.program + "-" + std::to_string(std::hash<std::string>{}(all));
    std::replace(name.begin(), name.end(), '/', '-');
    programs.push_back({row, folder.path / name, ""});
  }
  each(programs.size(), options.threads, "programs compiled",
       [&](std::size_t i) { build(programs[i], options); });
  std::vector<Outcome> outcomes(rows.size());
  each(rows.size(), options.threads, "runs", [&](std::size_t i) {
    const Built& its = programs[program_of[i]];
    outcomes[i] = its.failure.empty() ? run_one(rows[i], its.program,
                                                folder.path / ("run" + std::to_string(i)), options)
                                      : refused(rows[i], its.failure);
  });
  const std::map<std::string, Tally> kinds = tally_of(rows, outcomes);
  print(rows, outcomes, kinds);
  if (std::fflush(stdout) != 0) return kNotWritten;
  if (!options.json.empty()) {
    std::ofstream file(options.json);
    file << to_json(options, rows, outcomes, kinds).dump(1) << '\n';
    if (!file.flush()) {
      std::fprintf(stderr, "simt: %s cannot be written\n", options.json.c_str());
      return kNotWritten;
    }
  }
  const auto is_good = [](const Outcome& one) { return one.is_as_labelled; };
  return std::all_of(outcomes.begin(), outcomes.end(), is_good) ? kGood : kFailed;
}

}  // namespace simt::command
