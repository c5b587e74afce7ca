// The judge of an exercise: what is asked (a Contract), and what came of it (a Check). It makes the inputs,
// keeps what is expected, and looks at what the worker's process (remote.hpp) makes of them.
#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/conv/pattern.hpp"
#include "common/exercise/marks.hpp"
#include "common/exercise/remote.hpp"
#include "common/harness/core/problem.hpp"
#include "common/harness/core/variant.hpp"

namespace halo::exercises {

/// Of one problem, in the order of Contract::numbers.
using Numbers = std::vector<long long>;

/// A problem: its numbers by their names, and its inputs.
class Given {
 public:
  Given(const std::vector<std::string>& names, const Numbers& numbers)
      : names_(&names), numbers_(&numbers) {}
  Given(const Given& problem, const std::vector<InputValues>& inputs,
        const std::vector<double>* common = nullptr)
      : names_(problem.names_), numbers_(problem.numbers_), inputs_(&inputs), common_(common) {}

  /// Throws std::logic_error for a name that the contract does not have.
  std::int64_t operator[](std::string_view name) const {
    for (std::size_t i = 0; i < names_->size(); ++i) {
      if ((*names_)[i] == name) return (*numbers_)[i];
    }
    refuse(name);
  }
  /// A cell of an input; where there are inputs.
  double cell(int input, std::int64_t index) const {
    return inputs_->at(static_cast<std::size_t>(input)).values.at(static_cast<std::size_t>(index));
  }
  const std::string& name_of(int input) const;
  /// What Contract::prepare worked out of the inputs.
  double common(std::int64_t index) const;

 private:
  [[noreturn]] static void refuse(std::string_view name);

  const std::vector<std::string>* names_;
  const Numbers* numbers_;
  const std::vector<InputValues>* inputs_ = nullptr;
  const std::vector<double>* common_ = nullptr;
};

/// A cell of an input, by the input's number.
struct Cell {
  int input;
  std::int64_t index;
};

/// What one output is to be. A sum of products is held to the bound of conv/accuracy.hpp, whatever the order in
/// which it is added up.
class Output {
 public:
  /// `used`: of each input which cells an output comes from, to be added to.
  explicit Output(const Given& given, std::vector<std::string>* reads = nullptr,
                  std::vector<std::vector<bool>>* used = nullptr)
      : given_(given), reads_(reads), used_(used) {}

  /// Adds the product of these cells. In the header: it is called for each term of each output.
  void product(std::initializer_list<Cell> factors) {
    double product = 1;
    for (const Cell& factor : factors) product *= given_.cell(factor.input, factor.index);
    if (reads_ != nullptr || used_ != nullptr) note_product(factors);
    value_ += product;
    scale_ += std::fabs(product);
    ++terms_;
    // A product of three factors is rounded once more than one of two.
    roundings_ = std::max(roundings_, static_cast<std::int64_t>(factors.size()) - 2);
    multiplies_ = multiplies_ || factors.size() > 1;
  }
  /// It is this number; errors up to the bound are right. With the cells that it comes from, for people.
  void is(double value, double bound, const std::vector<Cell>& from = {});
  /// It is to be left alone.
  void untouched() { untouched_ = true; }

  double value() const { return value_; }
  double bound() const;
  bool is_untouched() const { return untouched_; }
  bool multiplies() const { return multiplies_; }

 private:
  void note_product(std::initializer_list<Cell> factors);
  void use(const Cell& cell) {
    if (used_ == nullptr) return;
    used_->at(static_cast<std::size_t>(cell.input)).at(static_cast<std::size_t>(cell.index)) = true;
  }

  const Given& given_;
  std::vector<std::string>* reads_;  // in words: the products of a sum, or what it is made from
  std::vector<std::vector<bool>>* used_;
  double value_ = 0;
  double scale_ = 0;
  double given_bound_ = 0;
  std::int64_t terms_ = 0;
  std::int64_t roundings_ = 0;
  bool multiplies_ = false;
  bool untouched_ = false;
};

struct InputRule {
  std::string name;
  std::function<std::int64_t(const Given&)> size;
  /// Its whole numbers are within this: sums of products stay exact. 0: there are no whole numbers.
  int most_exact = 1000;
  /// Other values than random ones of both signs between 1/8 and 1 (or whole numbers); may be empty.
  std::function<std::vector<float>(const Given&, std::uint64_t seed, bool exact)> make = {};
};

/// What a thread of the usual solution computes an output, for people.
struct Owner {
  std::int64_t block;
  std::int64_t thread;
};

/// Of one output per thread, in blocks of as many as the problem's number `threads` says.
Owner one_output_per_thread(const Given& given, std::int64_t output);
/// Where blocks and warps of one output per thread begin.
std::vector<conv::Period> blocks_and_warps(const Given& given);

/// A figure of one launch that the simulator counts. `outputs`: of several output arrays those of one.
struct Measure {
  std::string what;  // "bytes per output"
  std::function<double(const Cost& cost, double outputs)> of;
  /// The counters that it is made of, to find the line that costs most.
  std::vector<std::string> counters;

  /// The same figure for each of so many things, under another name.
  Measure divided_by(double number, std::string name) const;
};
// What is copied in bulk is theirs too, and what moves by atomics: of a request, which serves 32 lanes at most, a sector's bytes a lane.
Measure bytes_per_output();         // of global memory, loads and stores, in sectors
Measure stored_bytes_per_output();  // of global memory, in sectors
Measure load_requests();            // of global memory, by atomics too
Measure store_requests();           // of global memory
Measure atomics();                  // requests, of global and of shared memory
Measure local_bytes_per_output();   // of arrays that a thread has in local memory
Measure shared_bytes();             // that a block asks for
// What atomics do counts as one wavefront a lane, what reaches another block of the cluster by its sectors.
Measure shared_conflicts();
Measure shared_requests();  // loads, stores and atomics, of the cluster's other blocks too
Measure shared_wavefronts();
Measure constant_reads();      // distinct addresses of a warp
Measure barriers();            // of all blocks, and phases of mbarriers
Measure launches();            // of kernels
Measure outputs_per_thread();  // of all launches' threads
/// The same of as many threads as would be needed if all multiplied as often as the warp that does so most: threads that have
/// nothing to do are none.
Measure outputs_per_working_thread();
/// What a block's busiest warp does, as a multiple of the average of those that reach global memory; and lanes for each that
/// takes part in an instruction. 1: all do the same.
Measure idle_warps();
Measure idle_lanes();
Measure instructions_per_output();  // a warp's is 32
Measure products_per_output();      // of floating-point numbers; a warp's instruction is 32
Measure shuffles();                 // of warps
Measure extra_memory();             // allocated by the call and not freed, in bytes
Measure copied_bytes();             // by cudaMemcpy and its like, on the device too
// Of an exercise on the host (exercise.h):
Measure host_loads();   // of array cells, an output
Measure host_stores();  // to array cells, an output
Measure host_values();  // the most that are held at once outside the arrays

/// Findings about the order of threads, and about memory: for Check::safe.
inline const std::vector<std::string> kOrder = {"race",
                                                "divergent_barrier",
                                                "missed_barrier",
                                                "warp_deadlock",
                                                "undefined_shuffle",
                                                "unfinished_copy",
                                                "unordered_streams",
                                                "absent_block",
                                                "unordered_launches",
                                                "endless_kernel",
                                                "unfinished_product",
                                                "missing_proxy_fence"};
inline const std::vector<std::string> kMemory = {"out_of_bounds",
                                                 "use_after_free",
                                                 "misaligned",
                                                 "invalid_address",
                                                 "uninitialized_shared_read",
                                                 "uninitialized_global_read",
                                                 "uninitialized_local_read",
                                                 "invalid_copy",
                                                 "stray_write",
                                                 "stack_overflow"};

/// A number of each problem of a contract: always the same, or worked out.
class Rule {
 public:
  Rule(double always) : of_([always](const Given&) { return always; }) {}
  template <std::invocable<const Given&> Of>
  Rule(Of of) : of_(std::move(of)) {}
  double operator()(const Given& problem) const { return of_(problem); }

 private:
  std::function<double(const Given&)> of_;
};
Rule operator*(double factor, Rule rule);

/// An upper limit of a measure; `usual` is what the page derives for the usual solution. Both know the problem and its
/// inputs.
struct Limit {
  Measure measure;
  Rule allowed;
  Rule usual;
  Rule each = 1;  // the measure is divided by
};

/// Sectors of an array that the 32 lanes of a warp touch together: each its cell, none where that is negative.
std::int64_t sectors_of_warp(const std::function<std::int64_t(std::int64_t lane)>& cell_of);

/// At most so much, times Contract::idle. A persistent block may have two tiles where others have
/// one, and a warp of its own fetches; where one warp of four works for all, or one lane, there are more.
inline constexpr double kMostIdleWarps = 2.5;
inline constexpr double kMostIdleLanes = 4;

/// A case of its own: within the limits on this problem. The limits are rules for any problem: hidden cases have others.
struct Budget {
  std::string name;
  double points;
  Numbers problem;
  std::vector<Limit> limits;
};

/// A question of predictions.txt. The answer is a fact of the task; what it is on the student's kernel is
/// `measure` with `problem`, divided by `share` (of blocks, say), or else, where there is no measure, the
/// number that it left in `output`.
struct Asked {
  std::string key;
  double answer;
  double tolerance;
  Numbers problem;
  Measure measure;
  double share = 1;
  std::int64_t output = -1;
};

/// What a case found. `message`: one line, empty where it is good. Where the machine hindered the program the case was
/// not run, and the message begins with kNoVerdict.
struct Verdict {
  Outcome outcome = Outcome::not_run;
  std::string message;
  std::vector<BudgetLine> budget = {};
};

/// A case of a check: what it is worth, and what judges it.
template <class Judge>
struct Case {
  std::string name;
  Category category;
  double points;
  std::function<Verdict(Judge&)> judge;
};

/// On sizes that students do not have, a limit is so many times what its rule says: edges weigh more there, by up to a fifth
/// in right programs that differ from the usual one. What ignores the lesson takes twice as much.
inline constexpr double kSlackOfHiddenBudgets = 1.25;

class Check;
/// No findings of these kinds (Check::safe).
Case<Check> safe(std::string name, double points, std::vector<std::string> kinds);

/// Problems that all come out right, or not: a case of its own under this name, unless it has no points.
struct Group {
  std::string name;
  std::vector<Numbers> problems;
  double points = 10;
};

/// Draws the numbers of a problem, one after the other, from a random one.
class Draw {
 public:
  explicit Draw(std::uint64_t random) : random_(random) {}
  /// A number from 0 on, and below this one.
  long long operator()(std::uint64_t end) {
    const std::uint64_t drawn = random_ % end;
    random_ /= end;
    return static_cast<long long>(drawn);
  }

 private:
  std::uint64_t random_;
};

struct Contract {
  std::string name;                  // 04_tile_and_halo
  std::vector<std::string> numbers;  // what `launch` is given, in its order
  std::vector<InputRule> inputs;
  std::function<std::int64_t(const Given&)> output_size;
  std::function<void(const Given&, std::int64_t output, Output&)> define;
  /// What outputs have in common, worked out once for a problem's inputs: `define` finds it by
  /// Given::common. May be empty.
  std::function<std::vector<double>(const Given&)> prepare = {};
  /// Output pointers of `launch`: so many equal parts of the outputs, one behind the other. Of an int* the
  /// outputs are the same numbers in float, exact up to 2^24.
  int outputs = 1;
  /// Its function is one of the host (exercise.h); else outputs are a kernel's work, and right ones without a launch
  /// are not.
  bool on_the_host = false;
  std::vector<Group> groups;
  /// Some more problems, drawn from the seed, which join the last group. May be empty.
  std::function<Numbers(Draw draw)> draw = {};
  /// What is judged behind the groups.
  std::vector<Case<Check>> cases = {};
  /// And behind them.
  std::vector<Budget> budgets = {};
  /// Limits of what no solution needs, so that nothing moves by another way: part of each budget, and told only where they
  /// are not met.
  std::vector<Limit> besides = {};
  /// How much more than others the busiest warps and lanes of a good solution have to do; of kernels, part of each budget.
  Rule idle = 1;
  std::vector<Asked> questions = {};
  /// What is timed on a GPU: large enough that memory is waited for. May be empty.
  Numbers timed = {};
  // For people; each may be empty.
  std::function<Owner(const Given&, std::int64_t output)> owner = {};
  std::function<std::vector<conv::OutputAxis>(const Given&)> axes = {};
  std::function<std::vector<conv::Period>(const Given&)> periods = {};
  std::function<std::vector<Trait>(const Given&)> traits = {};
};

/// The smallest problem that comes out wrong, and who computes its first wrong output (by Contract::owner, else
/// thread 0 of block 0). Where all are right, the first problem.
struct FirstFault {
  Numbers problem;
  Owner owner;
  std::string words;  // "n 5, width 3, threads 4: output[4] is wrong", or that all is right
};

/// The contract's questions, as far as they are known before anything runs.
std::vector<Question> questions_of(const Contract& contract);

/// Throws std::runtime_error, one line, for hidden problems that no program could be given: another count of numbers, negative
/// ones, even ones where the contract's groups have none, arrays of no cells or too many, and drawn ones of a contract that
/// draws none.
void require_possible(const Contract& contract, const std::vector<Numbers>& problems, int drawn);

/// One program under a contract. What was tried once is not tried again by another case.
class Check {
 public:
  /// `source`: the exercise's file from the repository's root, which findings name. Throws
  /// std::runtime_error, one line.
  Check(const Contract& contract, const std::string& program, const std::string& source,
        std::uint64_t seed);
  /// The program with what starts it: a sandbox, or a debugger that waits for it.
  Check(const Contract& contract, const WorkerCommand& command, const std::string& source,
        std::uint64_t seed);
  ~Check();

  /// As RemoteBackend::set_patience; 20 unless this says otherwise.
  void set_patience(int seconds);

  /// All problems of the group come out right.
  Verdict right(const std::string& group);
  /// The same of problems that the contract does not have, and so many more drawn from the seed; findings count
  /// too, and the message names no input, value or place. Judged once any group is right. Throws as
  /// require_possible.
  Verdict right_hidden(const std::vector<Numbers>& problems, int drawn);
  /// No findings of these kinds (simt.hpp) in any group; judged once the first group is right. None: of
  /// any kind.
  Verdict safe(const std::vector<std::string>& kinds = {});
  /// Within the limits on this problem, and within those besides; judged once all groups are right.
  Verdict within(const Numbers& problem, const std::vector<Limit>& limits);
  /// Within all budgets of the contract on problems that it does not have; judged once all groups are right. The message
  /// names no input, value or place. Throws as require_possible.
  Verdict within_hidden(const std::vector<Numbers>& problems);

  /// The contract's questions with what was counted, if the program is right.
  std::vector<Question> questions();
  /// Of all that failed or printed something, a row each, the first group's first.
  std::vector<Row> faults() const;
  std::string backend() const;
  /// As RemoteBackend::hindrance.
  const std::string& hindrance() const;
  /// Why nothing can be run here ("no GPU: ..."); empty if it can.
  std::string unavailable() const;
  FirstFault first_fault();
  /// Runs this problem, on ordinary data, whatever comes of it. Returns why no kernel ran to its end, if none did; else empty.
  std::string run_once(const Numbers& problem);
  /// The problem that shows what the kernel costs: of the last question that is counted, else the largest one of
  /// the groups.
  Numbers telling_problem() const;
  /// Where calls can be timed, and once all is right: how long one takes with Contract::timed, in one line, and if `beside`
  /// names a program, what part that is of its time, taken in turn. Else empty. For people: it has no points.
  std::string time(const WorkerCommand& beside);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace halo::exercises
