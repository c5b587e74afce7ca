#include "common/cli/program_runs.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <iterator>
#include <optional>
#include <random>
#include <sstream>

#include "common/build/builder.hpp"
#include "common/build/compiler_output.hpp"
#include "common/data/file.hpp"
#include "common/process/patience.hpp"
#include "common/process/process.hpp"
#include "common/process/watchdog.hpp"
#include "common/report/command_line.hpp"
#include "common/report/json.hpp"
#include "common/report/terminal.hpp"

namespace halo {
namespace {

namespace fs = std::filesystem;

// The row of a program that reported nothing itself.
Row empty_row(const Program& program, Outcome outcome, const std::string& check,
              const std::string& rest) {
  Row row;
  row.stage = program.name;
  row.backend = program.backend;
  row.variant = kProgramRow;
  row.source = program.name.starts_with("bench_") ? "stages/bench" : "stages/" + program.name;
  row.check.outcome = outcome;
  row.check.reason = check;
  row.hazards.reason = row.traffic.reason = row.time.reason = rest;
  return row;
}

Row broken(const Program& program, const std::string& reason) {
  return empty_row(program, Outcome::bad, reason, "the program failed");
}

// The memory that a program may take, in bytes: what ulimit -m says (Linux itself does not heed it), else nearly all that
// there is, so that a launch that never frees what it allocates takes nothing else down with it. No limit on addresses:
// arrays with few cells that count are much larger than what they take.
std::uint64_t most_memory() {
  rlimit resident = {};
  if (getrlimit(RLIMIT_RSS, &resident) == 0 && resident.rlim_cur != RLIM_INFINITY) {
    return resident.rlim_cur;
  }
  return available_memory() / 8 * 7;
}

// What a program tells while it runs, and what becomes of it.
class Part {
 public:
  // `without`: variants that are left out.
  Part(const Program& program, const Request& request, const std::string& seed,
       const std::vector<std::string>& without = {})
      : program_(program),
        strict_(is_strict(request)),
        limit_(request.time_limit),
        running_(command(program, request, seed, without),
                 [this](const std::string& line, bool whole) { hear(line, whole); }),
        patience_(running_.process(), static_cast<double>(limit_.count())) {}

  // Ends the program if nothing was heard of it for too long, or if it takes too much memory.
  void require_life() {
    if (has_ended() || end_) return;
    lost_ = patience_.look();
    const auto now = std::chrono::steady_clock::now();
    if (lost_ != Patience::Lost::not_yet) {
      const std::string life = std::to_string(limit_.count()) + " s";
      end({"no sign of life for " + life, "it was ended after " + life +
                                              " without a sign of life: an endless loop? "
                                              "(--time-limit)"});
    } else if (now >= weighed_ + kBetweenWeighings) {
      weighed_ = now;
      if (most_memory_ == 0 || usage_of({running_.process()}).memory <= most_memory_) return;
      const std::string most = with_commas(static_cast<std::int64_t>(most_memory_ >> 20)) + " MiB";
      end({"more than " + most + " of memory",
           "it was ended when it had taken more than " + most +
               " of memory: is something never freed, or the problem too large? (ulimit -m sets "
               "how much it may take)"});
    }
  }

  // Why nothing is known of the variant that was ended; empty: it was its own fault.
  std::string hindrance() const {
    if (lost_ != Patience::Lost::waited) return {};
    return kNoVerdict + program_.name + " " + patience_.words(lost_) + " (--time-limit)";
  }

  // Once it has ended: the row of the variant that took it down; null if none did.
  const Row* victim() {
    const Ended& ended = running_.ended();
    if (!begun_ || ended.signal == 0) return nullptr;
    Check& check = begun_->check;
    if (const std::string why = hindrance(); !why.empty()) {
      check.outcome = Outcome::not_run;
      check.reason = begun_->hazards.reason = begun_->traffic.reason = begun_->time.reason = why;
      return &*begun_;
    }
    check.outcome = Outcome::bad;
    check.crash = end_ ? end_->crash : how_it_ended(ended);
    check.reason = end_ ? end_->reason : "the program ended by " + how_it_ended(ended);
    const std::string at = check.diagnosis.smallest;
    if (!at.empty()) check.reason += ", with " + at;
    const std::string said = end_ ? "" : last_line(ended.err);
    if (!said.empty()) check.reason += "; it said: " + said;
    begun_->hazards.reason = begun_->traffic.reason = begun_->time.reason = "the variant crashed";
    return &*begun_;
  }

  // Once it has ended: of what runs on the CPU the compiler made what the CPU that it ran on can do.
  bool is_of_another_processor() const {
    return program_.backend == "cpu" && running_.ended().signal == SIGILL;
  }

  Running* running() { return &running_; }
  bool has_ended() const { return running_.has_ended(); }
  const std::string& progress() const { return progress_; }
  const std::string& out() const { return running_.ended().out; }

  // Once it has ended. Throws WrongUse if it refused its options; anything else that went wrong is a
  // row that failed, behind those that it told before.
  Results results() {
    const Ended& ended = running_.ended();
    std::string said = last_line(ended.err);
    const std::string prefix = program_.path.filename().string() + ": ";
    if (said.rfind(prefix, 0) == 0) said.erase(0, prefix.size());
    const auto fail = [&](const std::string& what) {
      results_.rows.push_back(broken(program_, said.empty() ? what : what + "; it said: " + said));
      return results_;
    };
    if (!ended.started) {
      results_.rows.push_back(broken(program_, ended.err));
      return results_;
    }
    const std::string hindered = hindrance();
    if (ended.status == kNotWritten || !hindered.empty()) {
      results_.end.not_written = !hindered.empty() ? hindered
                                 : said.empty()    ? "it gave no reason"
                                                   : said;
      std::fprintf(stderr, "halo: %s\n", results_.end.not_written.c_str());
      return results_;
    }
    if (ended.status == 2 && results_.rows.empty()) {
      throw WrongUse(said.empty() ? program_.path.string() + " refuses its options" : said);
    }
    if (ended.status == 77 && results_.rows.empty()) {  // it could not even begin: too large a file
      const std::size_t mark = said.find("NOT RUN: ");
      results_.rows.push_back(
          not_run_row(program_, said.empty() ? "it gave no reason"
                                             : said.substr(mark == said.npos ? 0 : mark + 9)));
      return results_;
    }
    if (ended.signal != 0) {
      return fail(end_ ? end_->reason : "the program ended by " + how_it_ended(ended));
    }
    if (!mistake_.empty()) return fail("its results cannot be read: " + mistake_);
    if (results_.rows.empty()) {
      return fail("the program ended with " + how_it_ended(ended) + " and left no results");
    }
    // The status and the rows must tell the same story.
    if (exit_status(results_.rows, strict_) != ended.status) {
      return fail("the program ended with " + how_it_ended(ended) + ", which its " +
                  std::to_string(results_.rows.size()) + " result rows do not explain");
    }
    return results_;
  }

  // What it told before it was interrupted.
  const Results& told() const { return results_; }

 private:
  // Why it was ended from here, in a row's words.
  struct End {
    std::string crash, reason;
  };
  static constexpr std::chrono::milliseconds kBetweenWeighings{100};

  void end(End why) {
    end_ = std::move(why);
    running_.end();
  }

  static std::vector<std::string> command(const Program& program, const Request& request,
                                          const std::string& seed,
                                          const std::vector<std::string>& without) {
    std::vector<std::string> words = {program.path.string()};
    if (request.grows) words.insert(words.end(), {"--json", request.json});
    for (const auto& [name, value] : request.passed_on) {
      if (name == "--seed") continue;
      words.push_back(name);
      if (!value.empty()) words.push_back(value);
    }
    words.insert(words.end(), request.flags.begin(), request.flags.end());
    if (request.resume) words.push_back("--resume");
    if (!without.empty()) {
      std::string names;
      for (const std::string& name : without) names += (names.empty() ? "" : ",") + name;
      words.insert(words.end(), {"--without", names});
    }
    words.insert(words.end(), {"--seed", seed});
    return words;
  }

  void hear(const std::string& line, bool whole) {
    if (!mistake_.empty()) return;
    if (!whole) {
      mistake_ = "the last line is cut short";
      return;
    }
    patience_.heard();
    try {
      Told told = told_from_json(line, program_.name);
      switch (told.kind) {
        case Told::Kind::head:
          told.head.rows = std::move(results_.rows);
          results_ = std::move(told.head);
          break;
        case Told::Kind::row:
          results_.rows.push_back(std::move(told.row));
          begun_.reset();
          break;
        case Told::Kind::begin:
          begun_ = std::move(told.row);
          break;
        case Told::Kind::progress:
          progress_ = told.progress;
          break;
      }
    } catch (const std::exception& error) {
      mistake_ = error.what();
    }
  }

  const Program& program_;
  const bool strict_;
  const std::chrono::seconds limit_;
  Results results_;
  std::string progress_;
  std::string mistake_;
  std::optional<Row> begun_;  // and not told yet
  std::chrono::steady_clock::time_point weighed_ = std::chrono::steady_clock::now();
  const std::uint64_t most_memory_ = most_memory();
  std::optional<End> end_;
  Patience::Lost lost_ = Patience::Lost::not_yet;
  Running running_;  // it calls hear, but not before it is watched
  Patience patience_;
};

bool is_layer_of_network(const Row& row) {
  return std::any_of(row.problem.begin(), row.problem.end(), [](const auto& field) {
    return field.first == "layer" && field.second != Value("all");
  });
}

bool is_timed(const Results& results) {
  return std::any_of(results.rows.begin(), results.rows.end(),
                     [](const Row& row) { return row.time.outcome == Outcome::good; });
}

bool contains_name(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// Adds the pairs of `more` whose names are new.
template <class Named>
void add_new(Named& all, const Named& more) {
  for (const auto& one : more) {
    const bool known = std::any_of(all.begin(), all.end(),
                                   [&](const auto& other) { return other.first == one.first; });
    if (!known) all.push_back(one);
  }
}

// One seed for all, so that one number repeats the run.
std::uint64_t seed_of(const Request& request) {
  if (const std::string* const given = value_of(request.passed_on, "--seed")) {
    return parse_seed(*given);
  }
  if (request.resume && fs::exists(request.json)) {
    try {
      return read_json(request.json).seed;
    } catch (const std::exception& error) {
      throw WrongUse(std::string("--resume: ") + error.what());
    }
  }
  return std::random_device()() % 1'000'000'000u + 1;
}

// Without rows, with the command that makes them again.
Results head_of(const Request& request, std::uint64_t seed) {
  Results head = new_results(0, nullptr, seed);
  head.command = request.command;
  for (const auto& [name, value] : request.passed_on) {
    if (name != "--seed") head.command += " " + name + (value.empty() ? "" : " " + value);
  }
  if (request.resume) head.command += " --resume";
  head.command += " --seed " + std::to_string(seed);
  return head;
}

// What stages are compared with on a GPU, which their programs load. Without it its rows say so.
void build_peers(const BuildFolder& build, const std::vector<Program>& programs,
                 const Request& request) {
  const fs::path peers = build.peers();
  if (!build.makes(peers) || value_of(request.passed_on, "--no-peers") != nullptr) return;
  if (std::none_of(programs.begin(), programs.end(),
                   [](const Program& program) { return program.backend == "gpu"; })) {
    return;
  }
  Progress progress(Progress::Elsewhere::lines);
  build_all(build, {peers}, "the peers", progress);
}

// The programs' runs, in their order, while those that come next are built.
class Runs {
 public:
  Runs(const BuildFolder& build, const std::vector<Program>& programs, const Request& request,
       const Finished& finished, Results head)
      : build_(build),
        programs_(programs),
        request_(request),
        finished_(finished),
        merged_(std::move(head)),
        seed_(std::to_string(merged_.seed)),
        builder_(build, paths_of(programs)) {}

  Results all() {
    while (next_ < programs_.size() || !begun_.empty()) {
      while (may_begin()) begin();
      // Where times count the machine is left alone.
      const bool is_quiet =
          begun_.empty() ? next_ < programs_.size() && is_alone(next_) && builder_.decided(next_)
                         : is_alone(begun_.front().at);
      if (!is_quiet) builder_.begin();
      if (!wait()) return std::move(merged_);
      builder_.update(progress_);
      show();
      for (const Begun& one : begun_) {
        if (one.part) one.part->require_life();
      }
      if (begun_.empty()) continue;
      if (!begun_.front().part) {
        end_unbuilt();
      } else if (begun_.front().part->has_ended()) {
        end_run();
      }
    }
    return std::move(merged_);
  }

 private:
  // A program that was begun.
  struct Begun {
    std::size_t at;                    // of all programs
    std::unique_ptr<Part> part;        // null: it could not be built
    std::vector<Row> crashed;          // its variants that took it down
    std::vector<std::string> without;  // their names
    std::chrono::steady_clock::time_point start;
  };
  // As many simulated programs run at a time. One has too little to do for several processors, and some need
  // hundreds of megabytes.
  static constexpr std::ptrdiff_t kTogether = 2;

  static std::vector<fs::path> paths_of(const std::vector<Program>& programs) {
    std::vector<fs::path> paths;
    for (const Program& program : programs) paths.push_back(program.path);
    return paths;
  }

  bool is_alone(std::size_t at) const { return programs_[at].backend != "sim"; }

  // Where times count nothing else may happen; the simulator counts the same beside a compiler and
  // beside another program.
  bool may_begin() const {
    if (next_ == programs_.size() || !builder_.decided(next_)) return false;
    if (begun_.empty()) return !is_alone(next_) || !builder_.is_building();
    const auto running = std::count_if(begun_.begin(), begun_.end(), [](const Begun& one) {
      return one.part && !one.part->has_ended();
    });
    return running < kTogether && !is_alone(next_) && !is_alone(begun_.front().at);
  }

  void begin() {
    const Program& program = programs_[next_];
    Begun one{next_, nullptr, {}, {}, std::chrono::steady_clock::now()};
    if (builder_.failure(next_).empty()) {
      if (!fs::exists(program.path)) {
        throw WrongUse(program.path.string() + " is not built: ./" + request_.command +
                       " builds what it needs");
      }
      program.choose_runtime();
      one.part = std::make_unique<Part>(program, request_, seed_);
    }
    begun_.push_back(std::move(one));
    ++next_;
  }

  // Until something was heard of a program or of ninja. False: it was interrupted, and what was told is kept.
  bool wait() {
    std::vector<Running*> watched = {builder_.ninja()};
    for (const Begun& one : begun_) watched.push_back(one.part ? one.part->running() : nullptr);
    try {
      watch(watched);
      return true;
    } catch (const Interrupted& interrupted) {
      progress_.clear();
      merged_.end.interrupted = interrupted.signal;
      for (const Begun& one : begun_) {
        if (one.part && !one.part->told().rows.empty()) add(one.part->told(), "");
      }
      std::fprintf(stderr, "halo: interrupted: %zu of %zu programs had ended\n",
                   next_ - begun_.size(), programs_.size());
      return false;
    }
  }

  void show() {
    std::string text = builder_.progress();
    if (!begun_.empty() && begun_.front().part) {
      const Begun& first = begun_.front();
      const Program& program = programs_[first.at];
      const auto taken = std::chrono::duration_cast<std::chrono::seconds>(
          std::chrono::steady_clock::now() - first.start);
      text = "running " + program.name + " (" + std::to_string(first.at + 1) + " of " +
             std::to_string(programs_.size()) + ") " + place_of(program.backend) + ", " +
             std::to_string(taken.count()) + " s" +
             (first.part->progress().empty() ? "" : ": " + first.part->progress()) +
             (text.empty() ? "" : "; " + text);
    }
    if (!text.empty()) progress_.show(text);
  }

  // The results of the first that was begun: those of one that ended before it wait.
  void end_first(const Results& results, const std::string& out) {
    begun_.pop_front();
    add(results, out);
  }

  void end_unbuilt() {
    progress_.clear();
    const std::size_t at = begun_.front().at;
    Results unbuilt;
    unbuilt.rows.push_back(
        broken(programs_[at], "it could not be built: " + builder_.failure(at) +
                                  " (all of it: " + seen_from_here(builder_.log()) + ")"));
    unbuilt.rows.back().start.compiled = false;
    end_first(unbuilt, "");
  }

  void end_run() {
    progress_.clear();
    Begun& first = begun_.front();
    const Program& program = programs_[first.at];
    if (first.part->is_of_another_processor()) {
      throw WrongUse(program.name + " was built for another processor than this one: delete " +
                     seen_from_here(build_.path()) + " and run again");
    }
    Results results;
    std::string out;
    if (const Row* victim = request_.carries_on ? first.part->victim() : nullptr) {
      if (merged_.end.not_written.empty()) merged_.end.not_written = first.part->hindrance();
      const std::vector<Row>& told = first.part->told().rows;
      std::copy_if(told.begin(), told.end(), std::back_inserter(first.crashed),
                   [&](const Row& row) { return row.variant == victim->variant; });
      first.crashed.push_back(*victim);
      const bool is_new = !contains_name(first.without, victim->variant);
      first.without.push_back(victim->variant);
      // All others, from the beginning: what is compared is compared in one run.
      if (is_new && value_of(request_.passed_on, "--variant") == nullptr) {
        program.choose_runtime();
        first.part = std::make_unique<Part>(program, request_, seed_, first.without);
        return;
      }
      results = first.part->told();
      results.rows.clear();
    } else {
      results = first.part->results();
      out = first.part->out();
    }
    // Of a program that has no other variants nothing is left to say.
    if (!first.without.empty()) {
      std::erase_if(results.rows, [](const Row& row) {
        return row.variant == kProgramRow && row.check.outcome == Outcome::not_run;
      });
    }
    results.rows.insert(results.rows.end(), first.crashed.begin(), first.crashed.end());
    end_first(results, out);
  }

  void add(const Results& part, const std::string& out) {
    const std::size_t first = merged_.rows.size();
    merged_.rows.insert(merged_.rows.end(), part.rows.begin(), part.rows.end());
    machine_ = merged_machine(machine_, part.machine);
    if (merged_.end.not_written.empty()) merged_.end.not_written = part.end.not_written;
    if (!machine_.cpu.empty()) merged_.machine = machine_;
    fill_ratios(merged_.rows);
    fill_shares(merged_.rows, merged_.machine);
    if (finished_) finished_(merged_, first, out);
  }

  const BuildFolder& build_;
  const std::vector<Program>& programs_;
  const Request& request_;
  const Finished& finished_;
  Results merged_;
  const std::string seed_;
  Machine machine_;
  Progress progress_{Progress::Elsewhere::lines};
  Builder builder_;
  std::deque<Begun> begun_;
  std::size_t next_ = 0;  // to begin
};

}  // namespace

Results without_layers(const Results& results) {
  Results shown = results;
  std::erase_if(shown.rows, is_layer_of_network);
  return shown;
}

Machine merged_machine(const Machine& a, const Machine& b) {
  const bool b_knows_more = a.cpu.empty() || (a.gpu.empty() && !b.gpu.empty());
  Machine machine = b_knows_more ? b : a;
  const Machine& other = b_knows_more ? a : b;
  add_new(machine.libraries, other.libraries);
  add_new(machine.roofs, other.roofs);
  // The worst of both: one program whose times mean nothing spoils the comparison.
  if (!other.build.empty() && other.build != "optimised") machine.build = other.build;
  return machine;
}

std::string place_of(const std::string& backend) {
  return backend == "gpu" ? "on the GPU" : backend == "sim" ? "on the simulator" : "on the CPU";
}

Row not_run_row(const Program& program, const std::string& reason) {
  return empty_row(program, Outcome::not_run, reason, reason);
}

bool is_strict(const Request& request) {
  return value_of(request.passed_on, "--strict") != nullptr;
}

Results run_programs(const BuildFolder& build, const std::vector<Program>& programs,
                     const Request& request, const Finished& finished) {
  // Fail before the work, not after it.
  if (!request.json.empty()) {
    try {
      prepare_json(request.json);
    } catch (const data::DataError& error) {
      throw WrongUse(std::string("--json: ") + error.what());
    }
  }
  Results head = head_of(request, seed_of(request));
  build_peers(build, programs, request);
  return Runs(build, programs, request, finished, std::move(head)).all();
}

void save(const Results& results, const Request& request) {
  // A file that grew has all that there was.
  if (request.json.empty() || (request.grows && results.end.interrupted != 0)) return;
  write_json(request.json, results);
}

std::string render(const Results& all, RenderRows rows, const TableOptions& options) {
  const Results results = without_layers(all);
  std::string text = is_timed(results) ? render_machine(results.machine, options) : "";
  if (!text.empty()) text += "\n";
  return text + rows(results.rows, options);
}

std::string TablesAsTheyCome::next(const Results& so_far, std::size_t first) {
  Results fresh = so_far;
  fresh.rows.erase(fresh.rows.begin(), fresh.rows.begin() + static_cast<std::ptrdiff_t>(first));
  fresh = without_layers(fresh);
  std::string machine;
  if (is_timed(fresh)) {
    std::istringstream lines(render_machine(fresh.machine, options_));
    for (std::string line; std::getline(lines, line);) {
      if (std::find(told_.begin(), told_.end(), line) != told_.end()) continue;
      told_.push_back(line);
      machine += line + "\n";
    }
  }
  std::string text = any_ ? "\n" : "";
  if (!machine.empty()) text += machine + "\n";
  any_ = true;
  return text + render_rows(fresh.rows, options_);
}

std::string TablesAsTheyCome::end(const Results& all) const {
  const std::string legend = render_legend(without_layers(all).rows, options_);
  return legend.empty() ? "" : "\n" + legend;
}

}  // namespace halo
