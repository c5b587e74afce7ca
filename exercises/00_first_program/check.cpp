// Exercise 00: a whole program, which is run as its user would, once for each question, and judged by what it
// leaves behind: its output file, its exit status, its words, and the simulator's report.
#include "common/exercise/check.hpp"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cerrno>
#include <cinttypes>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <mutex>
#include <optional>
#include <random>
#include <span>
#include <sstream>
#include <stdexcept>
#include <thread>

#include "common/conv/accuracy.hpp"
#include "common/conv/inputs.hpp"
#include "common/conv/sectors.hpp"
#include "common/data/temporary_folder.hpp"
#include "common/json/json.hpp"
#include "common/process/patience.hpp"
#include "common/process/sandbox.hpp"
#include "common/report/command_line.hpp"
#include "common/report/table.hpp"
#include "common/simt/nudge.hpp"

namespace halo::exercises {

namespace {

namespace fs = std::filesystem;

constexpr const char* kName = "00_first_program";
// A right program makes about ten calls; who makes more than these has not all of them tried.
constexpr int kMostCalls = 60;
constexpr int kPatience = 20;  // seconds, as Patience counts them
// A program that has to be ended so often takes too long with everything.
constexpr int kMostEndless = 2;

std::string text_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

std::string shell_word(const std::string& word) {
  std::string text = "'";
  for (const char letter : word) text += letter == '\'' ? "'\\''" : std::string(1, letter);
  return text + "'";
}

std::string number_text(double value, int digits = 9) {
  char text[40];
  std::snprintf(text, sizeof text, "%.*g", digits, value);
  return text;
}

// As streams and %g write a number.
constexpr int kFewDigits = 6;
const std::string kTooFewDigits = ": it is written with 6 digits, and a float has up to 9";

// How one run of the program ended.
struct Ended {
  std::string call;  // "first_program 257 2 OUTPUT"
  std::string environment;
  int status = -1;
  int signal = 0;
  std::string reason;               // why it was ended
  std::vector<std::string> errors;  // lines on stderr but the simulator's own
  std::string explained;            // by the simulator: why it refused the first call that it did
  std::string failed;               // the call that SIMT_FAIL made fail
  std::optional<std::string> output;
  std::optional<json::Value> report;

  std::string how() const {
    if (!reason.empty()) return reason;
    if (signal != 0) {
      return "ended by signal " + std::to_string(signal) + " (" + strsignal(signal) + ")" +
             (signal == SIGSEGV && explained.empty()
                  ? ": host code reached beyond an array, or through a pointer of the device"
                  : "");
    }
    return "ended with status " + std::to_string(status);
  }
};

struct Problem {
  int n;
  std::string a;
};

struct Judged {
  bool good = true;
  std::string message = {};
};

// One run: words, among them kOutput in the place of the output file, and settings of the environment.
struct Call {
  std::vector<std::string> words;
  std::string environment = {};
  // Kernels read other numbers than the host has (common/simt/nudge.hpp); 0: the same.
  std::uint64_t nudge = 0;
};
const std::string kOutput = "OUTPUT";
// Where only the program's own words count; nothing is looked up then, which is most of a short run's time.
const std::string kUnwatched = "SIMT_CHECKS=none ";

Call call_of(const Problem& problem, const std::string& environment = {}, std::uint64_t nudge = 0) {
  return {{std::to_string(problem.n), problem.a, kOutput}, environment, nudge};
}

// ---- The simulator's report of a run ----

std::vector<Hazard> hazards_of(const json::Value& report) {
  std::vector<Hazard> hazards;
  for (const json::Value& launch : report.at("launches").elements()) {
    for (const json::Value& finding : launch.at("findings").elements()) {
      Hazard hazard;
      finding.at("kind").get_to(hazard.kind);
      finding.at("file").get_to(hazard.file);
      finding.at("line").get_to(hazard.line);
      finding.at("other_file").get_to(hazard.other_file);
      finding.at("other_line").get_to(hazard.other_line);
      finding.at("block").get_to(hazard.block);
      finding.at("thread").get_to(hazard.thread);
      finding.at("array").get_to(hazard.array);
      finding.at("count").get_to(hazard.count);
      finding.at("message").get_to(hazard.message);
      hazards.push_back(hazard);
    }
  }
  return hazards;
}

std::uint64_t sum_of(const json::Value& report, std::initializer_list<const char*> counters) {
  std::uint64_t sum = 0;
  for (const json::Value& launch : report.at("launches").elements()) {
    for (const char* name : counters) sum += launch.at("counters").get<std::uint64_t>(name);
  }
  return sum;
}

std::uint64_t product(const std::array<std::uint64_t, 3>& extents) {
  return extents[0] * extents[1] * extents[2];
}

// Of all kernels together.
std::uint64_t blocks_of(const json::Value& report) {
  std::uint64_t blocks = 0;
  for (const json::Value& launch : report.at("launches").elements()) {
    blocks += product(launch.get<std::array<std::uint64_t, 3>>("grid"));
  }
  return blocks;
}
std::uint64_t threads_of(const json::Value& report) {
  std::uint64_t threads = 0;
  for (const json::Value& launch : report.at("launches").elements()) {
    threads += product(launch.get<std::array<std::uint64_t, 3>>("grid")) *
               product(launch.get<std::array<std::uint64_t, 3>>("block"));
  }
  return threads;
}

// Said of a launch whose warps begin anywhere; empty: there is none.
std::string broken_warps(const json::Value& report) {
  for (const json::Value& launch : report.at("launches").elements()) {
    const auto threads = product(launch.get<std::array<std::uint64_t, 3>>("block"));
    if (threads % 32 == 0) continue;
    return "; a block has " + std::to_string(threads) +
           " threads, which are no whole number of warps";
  }
  return {};
}

// Of global memory, by all warps; and by the one that made most in a launch.
double requests_of(const json::Value& report) {
  return static_cast<double>(
      sum_of(report, {"global_load_requests", "global_store_requests", "global_atomic_requests"}));
}
double most_requests_of(const json::Value& report) {
  std::uint64_t most = 0;
  for (const json::Value& launch : report.at("launches").elements()) {
    most = std::max(most, launch.get<std::uint64_t>("most_requests"));
  }
  return static_cast<double>(most);
}

double global_bytes(const json::Value& report, double n) {
  const auto sectors = sum_of(report, {"global_load_sectors", "global_store_sectors"});
  // Of an atomic request, which serves 32 lanes at most, a sector a lane.
  const auto by_atomics = 32 * sum_of(report, {"global_atomic_requests"});
  // Told only where there are any.
  std::uint64_t in_bulk = 0;
  for (const json::Value& launch : report.at("launches").elements()) {
    for (const char* name : {"bulk_load_sectors", "bulk_store_sectors"}) {
      in_bulk += launch.at("counters").get_or(name, std::uint64_t{0});
    }
  }
  return conv::kSectorBytes * static_cast<double>(sectors + in_bulk + by_atomics) / n;
}

// Throws json::Error if it is none of the simulator's: the program can write there too, until it ends.
void require_figures(const json::Value& report) {
  hazards_of(report);
  blocks_of(report);
  threads_of(report);
  requests_of(report);
  most_requests_of(report);
  global_bytes(report, 1);
}

class Programs {
 public:
  Programs(const std::string& program, const std::string& source)
      : program_(fs::absolute(program)), source_(source) {
    if (access(program_.c_str(), X_OK) != 0) {
      throw std::runtime_error("cannot run " + program);
    }
    // The program is perhaps another user, who comes through here to its own folder.
    if (is_confined()) fs::permissions(folder_.path(), fs::perms(0711));
  }

  bool is_simulated() const { return backend_asked_for() == "sim"; }
  // Why no run is a verdict: the machine hindered one. Empty: none.
  const std::string& hindrance() const { return hindrance_; }
  const std::string& source() const { return source_; }

  // Runs the program once with each of these, as many at a time as there are processors.
  std::vector<Ended> run(const std::vector<Call>& calls) {
    std::vector<Ended> ended(calls.size());
    std::atomic<std::size_t> next{0};
    const auto work = [&] {
      for (std::size_t i = next++; i < calls.size(); i = next++) ended[i] = run(calls[i]);
    };
    std::vector<std::thread> threads;
    const std::size_t most = std::max(1u, std::thread::hardware_concurrency());
    for (std::size_t i = 1; i < std::min(most, calls.size()); ++i) threads.emplace_back(work);
    work();
    for (std::thread& thread : threads) thread.join();
    return ended;
  }

  Ended run(const Call& asked) {
    const fs::path folder = folder_.path() / std::to_string(++runs_);
    fs::create_directory(folder);
    // What is in the folder is the program's; what is beside it is not.
    const fs::path output = folder / "output", report = folder / "report",
                   errors = folder.string() + ".errors", reason = folder.string() + ".reason";
    Ended ended;
    ended.call = "first_program";
    ended.environment = asked.environment;
    if (endless_ >= kMostEndless) {
      ended.reason = "was ended so often that it is not started again";
      return ended;
    }
    const bool is_watched = asked.environment.empty();
    // As long, whatever is asked: the program is not to know which run is which.
    char judge[64];
    std::snprintf(judge, sizeof judge, "SIMT_JUDGE=%s:%020" PRIu64, seal_.c_str(), asked.nudge);
    std::vector<std::string> settings = {"SIMT_THREADS=1", "SIMT_REPORT=" + report.string(), judge};
    if (!is_watched) {
      std::istringstream stream(asked.environment);
      settings = {std::istream_iterator<std::string>(stream), {}};
    }
    std::vector<std::string> words = {program_};
    for (const std::string& word : asked.words) {
      words.push_back(word == kOutput ? output.string() : word);
      ended.call += " " + (word.empty() ? "\"\"" : word);
    }
    words = confined(sandbox_words(), {reason, {}, folder, settings}, words);
    std::string command = "exec env";
    if (!is_confined()) {
      for (const std::string& setting : settings) command += " " + shell_word(setting);
    }
    for (const std::string& word : words) command += " " + shell_word(word);
    command += " </dev/null >/dev/null 2>" + shell_word(errors);
    wait_for(command, ended);
    if (is_confined() && ended.reason.empty()) ended.reason = reason_in_report(reason);
    if (is_machines_fault(ended.reason)) hinder("the program " + ended.reason);
    if (!ended.reason.empty()) ++endless_;
    for (const std::string& line : lines_of(text_of(errors))) {
      if (!line.starts_with("simt: ")) {
        ended.errors.push_back(line);
      } else if (line.ends_with(" fails, as SIMT_FAIL asks")) {
        const std::size_t from = line.find('(') + 1;
        ended.failed = line.substr(from, line.find(')') - from);
      } else if (ended.explained.empty()) {
        ended.explained = line.substr(std::strlen("simt: "));
      }
    }
    // The program may have left anything there, a link to another's file too.
    const auto is_file = [](const fs::path& path) {
      return fs::is_regular_file(fs::symlink_status(path));
    };
    if (is_file(output)) ended.output = text_of(output);
    if (is_file(report)) {
      try {
        json::Value read = json::Value::parse(text_of(report));
        require_figures(read);
        // What a program leaves that comes to no good end has no seal: it is for people.
        if (ended.status != 0 || read.get_or("seal", std::string()) == seal_) {
          ended.report = std::move(read);
        }
      } catch (const json::Error&) {
        // Not the simulator's.
      }
    }
    return ended;
  }

 private:
  static bool is_confined() { return !sandbox_words().empty(); }

  // Until it ends, or is ended with all that it has started.
  void wait_for(const std::string& command, Ended& ended) {
    const pid_t child = fork();
    if (child < 0) return hinder("cannot start a process");
    if (child == 0) {
      setpgid(0, 0);
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
      _exit(127);
    }
    setpgid(child, child);
    Patience patience(child, kPatience);
    int status = 0;
    while (waitpid(child, &status, WNOHANG) == 0) {
      const Patience::Lost lost = patience.look();
      if (lost != Patience::Lost::not_yet) {
        ended.reason = patience.words(lost);
        if (lost == Patience::Lost::waited) hinder("the program " + ended.reason);
        kill(-child, SIGKILL);
        while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
        }
        break;
      }
      usleep(1000);
    }
    if (WIFSIGNALED(status)) {
      ended.signal = WTERMSIG(status);
    } else {
      ended.status = WEXITSTATUS(status);
    }
  }

  void hinder(const std::string& why) {
    const std::lock_guard lock(hindering_);
    if (hindrance_.empty()) hindrance_ = why;
  }

  std::mutex hindering_;
  std::string hindrance_;
  std::string program_;
  std::string source_;
  std::string seal_ = std::to_string(1 + std::uint64_t{std::random_device{}()}) +
                      std::to_string(std::random_device{}());
  data::TemporaryFolder folder_{"halo-program"};
  std::atomic<int> runs_{0};
  std::atomic<int> endless_{0};  // runs that somebody had to end
};

// ---- What is asked of a run ----

// x and y are the exercise's own.
double x_at(int i) { return 1 + 0.25 * (i % 1009); }
double y_at(int i) { return (i % 13) - 6.0; }

std::string words_of_kind(std::string kind) {
  std::replace(kind.begin(), kind.end(), '_', ' ');
  return kind;
}

Judged is_right(const Problem& problem, const Ended& ended) {
  const auto wrong = [&](const std::string& what) {
    return Judged{false, ended.call + ": " + what};
  };
  if (ended.status != 0 || ended.signal != 0) {
    // What is wrong in a kernel is told with its line.
    if (ended.report && !hazards_of(*ended.report).empty()) {
      const std::string kind = hazards_of(*ended.report)[0].kind;
      return wrong((kind == "invalid_copy" ? "" : "a kernel is not safe: ") + words_of_kind(kind));
    }
    return wrong("it " + ended.how() + (ended.errors.empty() ? "" : ": " + ended.errors[0]) +
                 (ended.explained.empty() ? "" : " (" + ended.explained + ")"));
  }
  if (!ended.output) return wrong("it wrote no OUTPUT");
  const std::vector<std::string> lines = lines_of(*ended.output);
  const auto n = static_cast<std::size_t>(problem.n);
  if (lines.size() != n) {
    return wrong("OUTPUT has " + with_commas(static_cast<std::int64_t>(lines.size())) +
                 (lines.size() == 1 ? " line" : " lines") + ", should have " +
                 with_commas(problem.n));
  }
  const double a = std::strtof(problem.a.c_str(), nullptr);
  for (std::size_t line = 0; line < n; ++line) {
    const int i = static_cast<int>(line);
    const double expected = a * x_at(i) + y_at(i);
    // A product and a sum, each rounded.
    const double bound = conv::error_bound(2, std::fabs(a * x_at(i)) + std::fabs(y_at(i)));
    char* end = nullptr;
    const double found = std::strtod(lines[line].c_str(), &end);
    const bool is_number = end != lines[line].c_str() && end[std::strspn(end, " \t\r")] == '\0';
    if (!is_number || !(std::fabs(found - expected) <= bound)) {
      return wrong("y[" + std::to_string(i) + "] is " + lines[line].substr(0, 40) + ", should be " +
                   number_text(expected) +
                   (is_number && number_text(expected, kFewDigits) == number_text(found)
                        ? kTooFewDigits
                    : found == x_at(i) ? "; it is what x is: is it y that is written?"
                    : found != y_at(i) ? ""
                    : i == 0 ? "; it is what y was before: does the kernel write y, and is the "
                               "result copied back?"
                             : "; it is what y was before, and those ahead of it are right: is "
                               "there a thread for it?"));
    }
  }
  return {};
}

// Sums and products of these are as round, so that they would be changed too.
bool may_be_nudged(const Problem& problem) {
  const double a = std::strtod(problem.a.c_str(), nullptr);
  constexpr double kMost = 64;
  return a == std::floor(a) && std::fabs(a) <= kMost;
}

double nudged_in_double(double value, std::uint64_t key) {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  const std::uint64_t high = simt::nudged(static_cast<std::uint32_t>(bits >> 32), key);
  return std::bit_cast<double>(high << 32 | (bits & 0xffffffff));
}

// Whether it is what kernels make of x and y that comes out of a run in which they read others than the host has: floats or
// doubles that the host has copied, or such as a kernel has made, which reach the host changed. A program that ends with an
// error has noticed.
bool is_of_kernels(const Problem& problem, const Ended& ended, std::uint64_t key) {
  if (ended.status != 0 || !ended.output) return true;
  // x and y stored and read, y stored once more.
  constexpr double kWhereKernelsMakeThem = 5 * sizeof(float);
  const bool may_be_kernels =
      ended.report && global_bytes(*ended.report, problem.n) >= kWhereKernelsMakeThem;
  const float a = std::strtof(problem.a.c_str(), nullptr);
  int followed = 0, i = 0;
  for (const std::string& line : lines_of(*ended.output)) {
    const auto x = static_cast<float>(x_at(i)), y = static_cast<float>(y_at(i));
    const double bound = conv::error_bound(2, std::fabs(a * x_at(i)) + std::fabs(y_at(i)));
    const float found = std::strtof(line.c_str(), nullptr);
    const float of_kernel = simt::nudged(found, key);
    const auto is_sum = [&](double of_a, double of_x, double of_y) {
      const double sum = of_a * of_x + of_y;
      return std::fabs(found - sum) <= bound || std::fabs(of_kernel - sum) <= bound;
    };
    const double nudged_x = simt::nudged(x, key), nudged_y = simt::nudged(y, key);
    // Perhaps a lies in memory too.
    const bool follows = is_sum(a, nudged_x, nudged_y) ||
                         is_sum(simt::nudged(a, key), nudged_x, nudged_y) ||
                         is_sum(a, nudged_in_double(x, key), nudged_in_double(y, key)) ||
                         (may_be_kernels && of_kernel != found &&
                          std::fabs(of_kernel - (double{a} * x + y)) <= bound);
    followed += follows;
    ++i;
  }
  // All but a few: a number of a kernel's own may be as round as those that are changed.
  return 4 * followed >= 3 * problem.n;
}

// Why it cannot be told whether it keeps its budget; empty: it can.
std::string too_little(const json::Value& report, double n) {
  // x and y read, y written.
  constexpr double kLeastBytes = 3 * sizeof(float);
  const double bytes = global_bytes(report, n);
  if (bytes >= kLeastBytes) return {};
  return "its kernels move " + rounded(bytes) +
         " bytes per output, and to read x and y and write y takes " + rounded(kLeastBytes) +
         ": what they read through textures is not counted; read by pointers";
}

Judged made_elsewhere(const Ended& ended) {
  const std::vector<std::string> lines = lines_of(*ended.output);
  const bool have_few_digits = std::ranges::all_of(lines, [](const std::string& line) {
    const double number = std::strtod(line.c_str(), nullptr);
    return number_text(number, kFewDigits) == number_text(number);
  });
  return {false,
          ended.call +
              ": its outputs are not a * x + y of what its kernels read (x and y were "
              "changed right before): what computed them?" +
              (have_few_digits ? " Or are they written with 6 digits? A float has up to 9" : "")};
}

// An error that is told as it should be: a status, one line, and no output.
Judged is_refused(const Ended& ended, std::optional<int> status) {
  const auto wrong = [&](const std::string& what) {
    return Judged{false, ended.call + ": " + what};
  };
  if (ended.signal != 0 || !ended.reason.empty()) return wrong("it " + ended.how());
  if (status ? ended.status != *status : ended.status == 0) {
    return wrong("it ended with status " + std::to_string(ended.status) +
                 (status ? ", should be " + std::to_string(*status) : ", should not be 0"));
  }
  if (ended.errors.size() != 1) {
    return wrong(ended.errors.empty()
                     ? "it said nothing on stderr, should be one line"
                     : "it said " + std::to_string(ended.errors.size()) + " lines, should be one");
  }
  // Where freeing fails, all is written perhaps.
  if (ended.output && !ended.failed.starts_with("cudaFree"))
    return wrong("it wrote OUTPUT all the same");
  return {};
}

// ---- The cases ----

const Problem kMeasured = {100'000, "2"};
const std::vector<std::pair<std::string, std::vector<Problem>>> kGroups = {
    {"one full block", {{256, "2"}}},
    {"several blocks, and a last one that is not full", {{257, "2"}, {5003, "-1"}}},
    {"one element, and a hundred thousand", {{1, "4"}, kMeasured}},
};
const std::string kDrawn = "any n and any a";
constexpr int kLongest = 1'000'000;  // that a hidden case may ask for

// What every n is held to.
struct ProgramLimit {
  const char* what;
  double allowed;
  double usual;
  double (*of)(const json::Value& report, double n);
};
const ProgramLimit kLimits[] = {
    {"bytes per output", 13, 12, global_bytes},
    // A block alone would leave all multiprocessors but one idle. Of so many threads as would be needed if all did as much
    // as the warp that does most: others that are started do not count.
    {"outputs per thread", 16, 1,
     [](const json::Value& report, double n) {
       const double requests = requests_of(report);
       return requests > 0 ? n * most_requests_of(report) / (32 * requests) : 0;
     }},
    // Launches come one after the other: of many small ones no more threads run at a time than one has.
    {"launches per 10,000 outputs", 4, 0.1,
     [](const json::Value& report, double n) {
       return static_cast<double>(report.at("launches").elements().size()) / (n / 10'000);
     }},
};

Problem drawn(std::uint64_t random) {
  return {1 + static_cast<int>(random % 4000),
          std::to_string(static_cast<double>(random / 4000 % 20'001) / 1000 - 10)};
}

// A problem's run, and what came of it.
struct Tried {
  Ended ended;
  Judged judged;
  bool is_made_elsewhere = false;
  std::optional<json::Value> report =
      {};  // where outputs were seen to follow what kernels read, of that run
};

// Why this run is not right, without a word of its problem; empty: it is.
std::string general_fault(const Tried& tried) {
  const Ended& ended = tried.ended;
  if (!ended.reason.empty())
    return "the program was ended: it took too much, or gave no sign of life";
  if (ended.signal != 0) return "the program was ended by a signal";
  if (ended.status != 0) return "the program ended with an error";
  if (!ended.output) return "the program wrote no output";
  if (tried.is_made_elsewhere) return "outputs that no kernel computed";
  if (!tried.judged.good) return "a wrong output";
  if (ended.report && !hazards_of(*ended.report).empty()) {
    return "a finding: " + words_of_kind(hazards_of(*ended.report).front().kind);
  }
  return {};
}

class ProgramExaminer final : public Examiner {
 public:
  ProgramExaminer(const std::string& program, const std::string& source, std::uint64_t seed)
      : programs_(program, source), groups_(kGroups), of_hidden_(~seed) {
    conv::Random random(seed);
    std::vector<Problem> any = {{77, "0"}, {321, "1e30"}};
    any.push_back(drawn(random.bits() >> 1));
    any.push_back(drawn(random.bits() >> 1));
    // A whole number: with others it is not told what computes.
    any.back().a = std::to_string(3 + random.below(30));
    groups_.emplace_back(kDrawn, any);
  }
  Verdict judge(std::size_t number) override;

  std::string backend() const override { return programs_.is_simulated() ? "sim" : "gpu"; }
  std::string unavailable() const override {
    if (programs_.is_simulated()) return {};
    const bool is_there = access("/dev/nvidiactl", F_OK) == 0 || access("/dev/dxg", F_OK) == 0;
    return is_there ? "" : "no GPU: its driver is not there";
  }
  std::string time(const std::string&) override { return {}; }
  std::string hindrance() const override { return programs_.hindrance(); }
  int debug(const DebugOptions& options) override {
    std::fprintf(stderr,
                 "a whole program needs no help to be debugged: "
                 "build/common/simt/cudart/simt debug %s 257 2 OUTPUT\n",
                 options.program.c_str());
    return 2;
  }

  int run_once(const std::vector<long long>&) override {
    std::fprintf(stderr,
                 "a whole program is traced as it is: ./halo trace its .cu file --args '257 2 "
                 "OUTPUT'\n");
    return 77;
  }

  Verdict right(const std::string& name) {
    for (const auto& [group, problems] : groups_) {
      if (group != name) continue;
      for (const Problem& problem : problems) {
        const Judged judged = tried(problem).judged;
        if (!judged.good) return {Outcome::bad, judged.message};
      }
    }
    return {Outcome::good, ""};
  }

  // A problem is a length, and a if it is not 2. Those that are drawn have any length and any a.
  Verdict judge_hidden(const HiddenCase& hidden) override {
    std::vector<Problem> problems;
    for (const std::vector<long long>& numbers : hidden.problems) {
      problems.push_back(
          {static_cast<int>(numbers[0]), numbers.size() > 1 ? std::to_string(numbers[1]) : "2"});
    }
    for (int i = 0; i < hidden.drawn; ++i) problems.push_back(drawn(of_hidden_.bits() >> 1));
    if (!any_right()) return {Outcome::not_run, "judged once another case is right"};
    for (std::size_t i = 0; const Tried& tried : try_all(problems)) {
      const Problem& problem = problems[i++];
      const std::string fault = general_fault(tried);
      if (!fault.empty()) return {Outcome::bad, fault};
      if (!hidden.is_budget) continue;
      if (!programs_.is_simulated()) return {Outcome::not_run, "on a GPU nothing is counted"};
      if (!all_right()) return {Outcome::not_run, "judged once it is right"};
      if (!tried.report) return {Outcome::bad, "no kernel ran"};
      if (!too_little(*tried.report, problem.n).empty()) {
        return {Outcome::bad, "fewer bytes per output than there are"};
      }
      for (const ProgramLimit& limit : kLimits) {
        if (limit.of(*tried.report, problem.n) > limit.allowed * kSlackOfHiddenBudgets) {
          return {Outcome::bad, std::string("more ") + limit.what + " than the budget allows"};
        }
      }
    }
    return {Outcome::good, ""};
  }

  Verdict refuses_wrong_words() {
    std::vector<Call> calls = {
        {{}},
        {{"100", "2"}},
        {{"100", "2", kOutput, "more"}},
        {{"0", "2", kOutput}},
        {{"-5", "2", kOutput}},
        {{"12x", "2", kOutput}},
        {{"", "2", kOutput}},
        {{"100", "two", kOutput}},
        {{"100", "2 3", kOutput}},
        {{"99999999999999999999", "2", kOutput}},
    };
    for (const Ended& ended : programs_.run(calls)) {
      const Judged judged = is_refused(ended, 2);
      if (!judged.good) return {Outcome::bad, judged.message};
    }
    const Judged judged =
        is_refused(programs_.run({{"100", "2", "/no/such/folder/file"}, kUnwatched}), {});
    return {judged.good ? Outcome::good : Outcome::bad, judged.message};
  }

  // Each call of the runtime and the launch fail once.
  Verdict sees_errors() {
    if (!programs_.is_simulated()) return {Outcome::not_run, "on a GPU no call fails on request"};
    if (!tried(kGroups[0].second[0]).judged.good) return judged_later();
    if (!tried(kGroups[0].second[0]).ended.report) return {Outcome::bad, "no kernel ran"};
    constexpr int kAtOnce = 6;
    for (int first = 1; first <= kMostCalls + 1; first += kAtOnce) {
      std::vector<Call> calls;
      for (int k = first; k < first + kAtOnce && k <= kMostCalls + 1; ++k) {
        calls.push_back(call_of({256, "2"}, kUnwatched + "SIMT_FAIL=call:" + std::to_string(k)));
      }
      for (int k = first; const Ended& ended : programs_.run(calls)) {
        if (k++ == 1 && ended.failed.empty()) {
          return {Outcome::bad, ended.call + ": it makes no call of the runtime that can fail"};
        }
        if (ended.failed.empty()) {  // it makes no more calls
          const Judged judged = is_right(kGroups[0].second[0], ended);
          return {judged.good ? Outcome::good : Outcome::bad, judged.message};
        }
        const Judged judged = is_refused(ended, {});
        if (judged.good) continue;
        return {Outcome::bad, "when " + (ended.failed == "launch" ? "the launch" : ended.failed) +
                                  " fails (" + ended.environment.substr(kUnwatched.size()) + "), " +
                                  judged.message};
      }
    }
    return {Outcome::bad, "for 256 outputs it makes more than " + std::to_string(kMostCalls) +
                              " calls of the runtime, and a dozen is enough: copy whole arrays"};
  }

  Verdict is_clean() {
    if (!programs_.is_simulated()) return {Outcome::not_run, "on a GPU nothing is searched for"};
    if (!tried(kGroups[0].second[0]).judged.good) return judged_later();
    for (const auto& [group, problems] : groups_) {
      for (const Problem& problem : problems) {
        if (problem.n > 6000) continue;
        const Ended& ended = tried(problem).ended;
        if (!ended.report) return {Outcome::bad, ended.call + ": no kernel ran"};
        const std::vector<Hazard> hazards = hazards_of(*ended.report);
        if (!hazards.empty()) return {Outcome::bad, hazards[0].message};
        const json::Value* const unfreed = find_unfreed(*ended.report);
        if (unfreed != nullptr && !unfreed->elements().empty()) {
          const json::Value& first = unfreed->elements()[0];
          return {Outcome::bad, ended.call + ": " + first.get<std::string>("name") + ", " +
                                    with_commas(first.get<std::int64_t>("bytes")) +
                                    " bytes, was never freed"};
        }
      }
    }
    return {Outcome::good, ""};
  }

  Verdict within(std::span<const ProgramLimit> limits) {
    if (!programs_.is_simulated()) return {Outcome::not_run, "on a GPU nothing is counted"};
    if (!all_right()) return {Outcome::not_run, "judged once it is right"};
    const std::optional<json::Value>& report = tried(kMeasured).report;
    if (!report) return {Outcome::bad, "no kernel ran"};
    if (const std::string why = too_little(*report, kMeasured.n); !why.empty()) {
      return {Outcome::bad, why};
    }
    Verdict verdict{Outcome::good, ""};
    for (const ProgramLimit& limit : limits) {
      BudgetLine line;
      line.what = limit.what;
      line.counted = limit.of(*report, kMeasured.n);
      line.allowed = limit.allowed;
      line.predicted = limit.usual;
      line.met = line.counted <= line.allowed * (1 + 1e-9);
      verdict.budget.push_back(line);
      if (line.met || verdict.outcome == Outcome::bad) continue;
      verdict = {Outcome::bad,
                 line.what + ": " + rounded(line.counted, 4) + ", at most " +
                     rounded(line.allowed, 4) + " with n = " + with_commas(kMeasured.n) +
                     (limit.of == global_bytes ? broken_warps(*report) : ""),
                 verdict.budget};
    }
    return verdict;
  }

  std::vector<Question> questions() override {
    std::vector<Question> questions = describe().questions;
    if (!programs_.is_simulated() || !all_right() || !tried(kMeasured).report) return questions;
    const json::Value& report = *tried(kMeasured).report;
    questions[0].counted = static_cast<double>(blocks_of(report));
    questions[1].counted = static_cast<double>(threads_of(report)) - kMeasured.n;
    questions[2].counted = global_bytes(report, kMeasured.n);
    const Ended& one = tried({1, "4"}).ended;
    if (one.report) questions[3].counted = global_bytes(*one.report, 1);
    return questions;
  }
  std::vector<Row> faults() const override {
    std::vector<Row> rows;
    for (const auto& [group, problems] : groups_) {
      for (const Problem& problem : problems) {
        const auto known = tried_.find(key(problem));
        if (known == tried_.end()) continue;
        const auto& [ended, judged, is_made_elsewhere, counted] = known->second;
        Row row;
        row.stage = kName;
        row.backend = backend();
        row.variant = group;
        row.source = programs_.source();
        row.problem = {{"n", std::int64_t{problem.n}}, {"a", problem.a}};
        row.check.outcome = judged.good ? Outcome::good : Outcome::bad;
        row.check.reason = judged.message;
        if (ended.report) {
          row.hazards.findings = hazards_of(*ended.report);
          for (Hazard& hazard : row.hazards.findings) {
            for (std::string* const file : {&hazard.file, &hazard.other_file}) {
              if (file->ends_with("/" + row.source)) *file = row.source;
            }
          }
          row.hazards.outcome = row.hazards.findings.empty() ? Outcome::good : Outcome::bad;
        }
        // One is enough: the others say the same in other words.
        if (!judged.good || row.hazards.outcome == Outcome::bad) return {row};
      }
    }
    return rows;
  }

 private:
  static std::string key(const Problem& problem) {
    return std::to_string(problem.n) + " " + problem.a;
  }
  static Verdict judged_later() {
    return {Outcome::not_run, "judged once \"" + kGroups[0].first + "\" is right"};
  }
  static const json::Value* find_unfreed(const json::Value& report) {
    return report.find("unfreed");
  }

  // Each as its user would run it; and what comes out right once more, for it may be the host that has computed it.
  std::vector<Tried> try_all(const std::vector<Problem>& problems) {
    std::vector<Call> calls;
    for (const Problem& problem : problems) calls.push_back(call_of(problem));
    std::vector<Tried> all;
    std::vector<Call> nudged;
    std::vector<std::size_t> of_nudged;
    for (std::size_t i = 0; Ended & ended : programs_.run(calls)) {
      const Problem& problem = problems[i];
      const Judged judged = is_right(problem, ended);
      all.push_back({std::move(ended), judged});
      all.back().report = all.back().ended.report;
      if (judged.good && programs_.is_simulated() && may_be_nudged(problem)) {
        nudged.push_back(call_of(problem, {}, key_of_nudges_));
        of_nudged.push_back(i);
      }
      ++i;
    }
    for (std::size_t i = 0; const Ended& ended : programs_.run(nudged)) {
      const Problem& problem = problems[of_nudged[i]];
      Tried& tried = all[of_nudged[i++]];
      if (!is_of_kernels(problem, ended, key_of_nudges_)) {
        tried.is_made_elsewhere = true;
        tried.judged = made_elsewhere(ended);
      } else if (ended.status == 0 && ended.output) {
        tried.report = ended.report;
      }
    }
    return all;
  }

  const Tried& tried(const Problem& problem) {
    // All at once, whichever is asked for first.
    if (tried_.empty()) {
      std::vector<Problem> problems;
      for (const auto& [group, of_group] : groups_) {
        problems.insert(problems.end(), of_group.begin(), of_group.end());
      }
      for (std::size_t i = 0; Tried & one : try_all(problems)) {
        tried_.emplace(key(problems[i++]), std::move(one));
      }
    }
    return tried_.at(key(problem));
  }
  bool any_right() {
    return std::any_of(groups_.begin(), groups_.end(), [&](const auto& group) {
      return right(group.first).outcome == Outcome::good;
    });
  }
  bool all_right() {
    return std::all_of(groups_.begin(), groups_.end(), [&](const auto& group) {
      return right(group.first).outcome == Outcome::good;
    });
  }

  Programs programs_;
  std::vector<std::pair<std::string, std::vector<Problem>>> groups_;
  conv::Random of_hidden_;
  // Whoever knows the seed does not know it; what is judged does not depend on it.
  std::uint64_t key_of_nudges_ = (std::uint64_t{std::random_device{}()} << 32) + 1;
  std::map<std::string, Tried> tried_;
};

std::vector<Case<ProgramExaminer>> cases() {
  std::vector<Case<ProgramExaminer>> all;
  std::vector<std::string> right;
  for (const auto& [group, problems] : kGroups) right.push_back(group);
  right.push_back(kDrawn);
  for (const std::string& group : right) {
    all.push_back({group, Category::correctness, 10,
                   [group](ProgramExaminer& program) { return program.right(group); }});
  }
  all.push_back({"a wrong call is one line and status 2", Category::correctness, 10,
                 &ProgramExaminer::refuses_wrong_words});
  all.push_back({"whatever call fails, the program ends with one line and no output",
                 Category::safety, 12, &ProgramExaminer::sees_errors});
  all.push_back(
      {"no hazard, and all memory is freed", Category::safety, 8, &ProgramExaminer::is_clean});
  all.push_back({"neighbouring threads work on neighbouring cells", Category::budget, 22,
                 [](ProgramExaminer& program) {
                   return program.within({kLimits, 1});
                 }});
  all.push_back({"there are threads enough", Category::budget, 8, [](ProgramExaminer& program) {
                   return program.within(std::span(kLimits).subspan(1));
                 }});
  return all;
}

Verdict ProgramExaminer::judge(std::size_t number) { return cases().at(number).judge(*this); }

}  // namespace

std::unique_ptr<Examiner> make_examiner(const std::string& program, const std::string& source,
                                        std::uint64_t seed) {
  return std::make_unique<ProgramExaminer>(program, source, seed);
}

void require_possible(const HiddenCase& hidden) {
  for (const std::vector<long long>& numbers : hidden.problems) {
    if (!numbers.empty() && numbers.size() <= 2 && numbers[0] >= 1 && numbers[0] <= kLongest)
      continue;
    throw std::runtime_error(std::string("a hidden problem of ") + kName + " is a length of 1 to " +
                             with_commas(kLongest) + ", and perhaps a");
  }
}

Description describe() {
  return {kName,
          marks_of(cases()),
          {{"blocks", 391, 0},
           {"idle_threads", 96, 0},
           {"bytes_per_output", 12, 0.01},
           {"bytes_of_one", 96, 0}}};
}

}  // namespace halo::exercises
