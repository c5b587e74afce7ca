#include "common/harness/families/operation.hpp"

#include <set>
#include <stdexcept>

#include "common/harness/bench_sets.hpp"
#include "common/harness/program_options.hpp"

namespace halo {

namespace {

using Problems = std::vector<AnyProblemPtr>;

class OperationRun final : public ProgramRun {
 public:
  explicit OperationRun(const OperationFamily& family) : family_(family) {}

  void add_options(CommandLine& line, ProgramOptions&) override {
    add_option(line, family_.name, "--problem", problem_);
  }

  void require_sense(const ProgramOptions& options) override {
    if (!options.set.empty() && !problem_.empty()) {
      throw UsageError("--set has its own problems: leave --problem out");
    }
  }

  ProgramWork choose(const Choice& choice) override {
    ProgramWork work;
    work.named = !problem_.empty();
    const Problems problems =
        work.named             ? named(problem_)
        : choice.options.bench ? of_sets(choice.options.set)
                               : named(usual_problems(choice, family_.simulated, family_.measured));
    for (const AnyProblemPtr& problem : problems) {
      Job& job = work.jobs.emplace_back();
      job.task.problem = problem;
      job.task.seed = choice.seed;
      job.task.transfers = false;  // what is before and behind these layers is on the GPU
      job.entries = choice.entries;
    }
    return work;
  }

 private:
  Problems named(const std::string& labels) const {
    Problems problems;
    std::set<std::string> known;
    for (const std::string& label : split(labels)) {
      try {
        problems.push_back(family_.parse(label));
      } catch (const std::invalid_argument& error) {
        throw UsageError("--problem " + label + ": " + error.what());
      }
      if (!known.insert(problems.back()->label()).second) {
        throw UsageError("--problem: " + problems.back()->describe() + " is given twice");
      }
    }
    return problems;
  }

  // One set, or all of them (empty name), each problem once.
  Problems of_sets(const std::string& name) const {
    if (!name.empty()) require_bench_set(family_.name, name);
    Problems problems;
    std::set<std::string> known;
    for (const BenchSet& set : bench_sets()) {
      if (set.family != family_.name || (!name.empty() && name != set.name)) continue;
      for (const AnyProblemPtr& problem : family_.published(set.name)) {
        if (known.insert(problem->label()).second) problems.push_back(problem);
      }
    }
    return problems;
  }

  const OperationFamily& family_;
  std::string problem_;
};

}  // namespace

std::unique_ptr<ProgramRun> operation_run(const OperationFamily& family) {
  return std::make_unique<OperationRun>(family);
}

}  // namespace halo
