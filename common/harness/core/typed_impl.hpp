// The functions of typed.hpp for one family. Only the family's own .cpp includes this, once, and
// instantiates them by HALO_FAMILY(its problem). It gives before that:
//
//   class FamilyProblem<Given> : AnyProblem, whose member given() is the problem;
//   Call<Given> call_of<Given>(const Given&, const AnyCall&);
//   const ProgramFamily& program_family<Given>().
#pragma once

#include "common/harness/core/program.hpp"
#include "common/harness/core/typed.hpp"

namespace halo {

template <class Given>
class FamilyProblem;
template <class Given>
const ProgramFamily& program_family();
template <class Given>
Call<Given> call_of(const Given& problem, const AnyCall& any);

template <class Given>
const Given& typed(const AnyProblem& problem) {
  return static_cast<const FamilyProblem<Given>&>(problem).given();
}

template <class Given>
AnyProblemPtr erased(const Given& problem) {
  return std::make_shared<FamilyProblem<Given>>(problem);
}

template <class Given>
std::vector<AnyProblemPtr> all_erased(const std::vector<Given>& problems) {
  std::vector<AnyProblemPtr> all;
  for (const Given& problem : problems) all.push_back(erased(problem));
  return all;
}

template <class Given>
std::vector<AnyTrial> all_erased(const std::vector<Trial<Given>>& trials) {
  std::vector<AnyTrial> all;
  for (const Trial<Given>& trial : trials) all.emplace_back(erased(trial.problem), trial.on);
  return all;
}

template <class Given>
AnyPrepared erased(const Prepared<Given>& prepared, const Given& problem, bool has_bias) {
  AnyPrepared any{prepared, prepared.pack, {}};
  if (prepared.launch) {
    any.launch = [launch = prepared.launch, problem](const AnyCall& call) {
      return launch(call_of(problem, call));
    };
  }
  if (has_bias && any.cost && any.bias_cost) {
    any.cost = [cost = prepared.cost, of_bias = prepared.bias_cost] {
      Cost both = cost();
      both.add(of_bias());
      return both;
    };
  }
  return any;
}

template <class Given>
AnyVariant erased(const Variant<Given>& variant) {
  AnyVariant any{variant, {}, {}, {}};
  any.prepared = [variant](const AnyProblem& problem) {
    AnyPrepared made =
        erased(variant.prepared(typed<Given>(problem)), typed<Given>(problem), problem.has_bias());
    if (variant.role == Role::copy && problem.input_sizes().front() != problem.output_size()) {
      made.refusal = "input and output differ in size: no copy of one onto the other moves as much";
    }
    return made;
  };
  if (variant.limited) any.limited = std::make_shared<const AnyVariant>(erased(*variant.limited));
  any.trials = [variant](std::uint64_t seed) { return all_erased(trials(variant, seed)); };
  return any;
}

template <class Given>
std::vector<AnyVariant> all_erased(const std::vector<Variant<Given>>& variants) {
  std::vector<AnyVariant> all;
  for (const Variant<Given>& variant : variants) all.push_back(erased(variant));
  return all;
}

template <class Given>
AnyStage erased(const Stage<Given>& stage) {
  AnyStage any{
      stage.name,    all_erased(stage.variants), {}, all_erased(stage.searched), stage.simulated,
      stage.measured};
  if (stage.plan) {
    any.plan = [plan = stage.plan](const AnyProblem& problem, const std::string& gpu) {
      return plan(typed<Given>(problem), gpu);
    };
  }
  return any;
}

template <class Given>
void check_trials(const Variant<Given>& variant, Backend& backend,
                  const std::vector<Given>& problems, std::uint64_t seed, Row& row,
                  Progress& progress) {
  const std::vector<AnyProblemPtr> all = all_erased(problems);
  check_trials(erased(variant), backend, {all.begin(), all.end()}, seed, row, progress);
}

template <class Given>
void check_trials(const Variant<Given>& variant, Backend& backend,
                  const std::vector<Trial<Given>>& trials, std::uint64_t seed, Row& row,
                  Progress& progress) {
  check_trials(erased(variant), backend, all_erased(trials), seed, row, progress);
}

template <class Given>
void check_problem(const Variant<Given>& variant, Backend& backend, const Given& problem,
                   std::uint64_t seed, Row& row, std::vector<DatasetPtr> datasets,
                   SavedOutputs* outputs) {
  check_problem(erased(variant), backend, FamilyProblem<Given>(problem), seed, row,
                std::move(datasets), outputs);
}

template <class Given>
int run_program(int argc, const char* const* argv, const std::vector<Stage<Given>>& stages,
                const std::vector<Variant<Given>>& peers, std::unique_ptr<Backend> backend,
                const TimingSettings& timing) {
  std::vector<AnyStage> all;
  for (const Stage<Given>& stage : stages) all.push_back(erased(stage));
  return run_program(argc, argv, program_family<Given>(), all, all_erased(peers), *backend, timing);
}

#define HALO_FAMILY(Given)                                                                        \
  template AnyProblemPtr erased(const Given&);                                                    \
  template AnyVariant erased(const Variant<Given>&);                                              \
  template AnyStage erased(const Stage<Given>&);                                                  \
  template void check_trials(const Variant<Given>&, Backend&, const std::vector<Given>&,          \
                             std::uint64_t, Row&, Progress&);                                     \
  template void check_trials(const Variant<Given>&, Backend&, const std::vector<Trial<Given>>&,   \
                             std::uint64_t, Row&, Progress&);                                     \
  template void check_problem(const Variant<Given>&, Backend&, const Given&, std::uint64_t, Row&, \
                              std::vector<DatasetPtr>, SavedOutputs*);                            \
  template int run_program(int, const char* const*, const std::vector<Stage<Given>>&,             \
                           const std::vector<Variant<Given>>&, std::unique_ptr<Backend>,          \
                           const TimingSettings&);

}  // namespace halo
