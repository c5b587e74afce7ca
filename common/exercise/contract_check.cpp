// The examiner of exercises that have a contract. In a file of its own: the linker takes it from the library only
// where check.cpp defines no other.
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "common/exercise/check.hpp"
#include "common/report/command_line.hpp"

namespace halo::exercises {

namespace {

// The groups that are cases of their own, then the contract's others, then its budgets.
std::vector<Case<Check>> all_cases() {
  std::vector<Case<Check>> cases;
  for (const Group& group : contract().groups) {
    if (group.points == 0) continue;
    cases.push_back({group.name, Category::correctness, group.points,
                     [&group](Check& check) { return check.right(group.name); }});
  }
  cases.insert(cases.end(), contract().cases.begin(), contract().cases.end());
  for (const Budget& budget : contract().budgets) {
    cases.push_back({budget.name, Category::budget, budget.points, [&budget](Check& check) {
                       return check.within(budget.problem, budget.limits);
                     }});
  }
  return cases;
}

class ContractExaminer final : public Examiner {
 public:
  ContractExaminer(const std::string& program, const std::string& source, std::uint64_t seed)
      : check_(contract(), command_for(program), source, seed), seed_(seed) {}
  std::string backend() const override { return check_.backend(); }
  std::string unavailable() const override { return check_.unavailable(); }
  std::vector<Question> questions() override { return check_.questions(); }
  std::vector<Row> faults() const override { return check_.faults(); }
  std::string time(const std::string& beside) override {
    return check_.time(beside.empty() ? WorkerCommand{} : command_for(beside));
  }
  Verdict judge(std::size_t number) override { return cases_.at(number).judge(check_); }
  std::string hindrance() const override { return check_.hindrance(); }
  Verdict judge_hidden(const HiddenCase& hidden) override {
    return hidden.is_budget ? check_.within_hidden(hidden.problems)
                            : check_.right_hidden(hidden.problems, hidden.drawn);
  }
  int debug(const DebugOptions& options) override {
    return exercises::debug(contract(), check_, options, seed_);
  }
  int run_once(const std::vector<long long>& numbers) override {
    const std::vector<std::string>& names = contract().numbers;
    try {
      if (!numbers.empty()) require_possible(contract(), {numbers}, 0);
    } catch (const std::runtime_error& error) {
      std::fprintf(stderr, "--numbers: %s\n", error.what());
      return 2;
    }
    const std::vector<long long> chosen = numbers.empty() ? check_.telling_problem() : numbers;
    if (const std::string why = check_.run_once(chosen); !why.empty()) {
      throw std::runtime_error("nothing to be seen: " + why);
    }
    std::string words;
    for (std::size_t i = 0; i < chosen.size(); ++i) {
      words += (i == 0 ? "" : ", ") + names[i] + " " + with_commas(chosen[i]);
    }
    std::printf("%s\n", words.c_str());
    return 0;
  }

 private:
  // Host arrays are the worker's own, and a GPU is nobody's to lend.
  static WorkerCommand command_for(const std::string& program) {
    WorkerCommand command{.words = profiler_words(), .within = sandbox_words()};
    command.is_profiled = !command.words.empty();
    command.words.push_back(program);
    if (backend_asked_for() == "sim" && !contract().on_the_host) command.device = HALO_DEVICE;
    return command;
  }

  std::vector<Case<Check>> cases_ = all_cases();
  Check check_;
  std::uint64_t seed_;
};

}  // namespace

std::unique_ptr<Examiner> make_examiner(const std::string& program, const std::string& source,
                                        std::uint64_t seed) {
  return std::make_unique<ContractExaminer>(program, source, seed);
}

void require_possible(const HiddenCase& hidden) {
  require_possible(contract(), hidden.problems, hidden.drawn);
}

Description describe() {
  return {contract().name, marks_of(all_cases()), questions_of(contract()), contract().on_the_host};
}

}  // namespace halo::exercises
