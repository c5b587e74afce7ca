// The three families with their types: each is turned into AnyProblem and AnyVariant, on which the rest
// is written once.
#include "common/harness/operation.hpp"

#include "common/harness/operation_any.hpp"
#include "common/harness/operation_families.hpp"
#include "common/harness/operation_judge.hpp"

namespace halo {

namespace {

template <class Given>
class Erased final : public AnyProblem {
 public:
  explicit Erased(const Given& problem) : problem_(problem) {}
  const Given& problem() const { return problem_; }

  std::string label() const override { return conv::label(problem_); }
  std::string describe() const override { return std::string(word_for(problem_)) + " " + label(); }
  Problem fields() const override { return problem_of(problem_); }
  std::int64_t input_size() const override { return problem_.input_size(); }
  std::int64_t output_size() const override { return problem_.output_size(); }
  std::int64_t min_bytes() const override { return conv::min_bytes(problem_); }
  std::int64_t flops() const override { return conv::flops(problem_); }
  int input_kinds() const override { return conv::input_kinds(problem_); }
  std::vector<float> make_input(conv::Layout layout, int kind, std::uint64_t seed) const override {
    return arranged(problem_, layout, conv::make_input(problem_, kind, seed));
  }
  Judge judge(conv::Layout layout, std::span<const float> input) const override {
    return [checker = checker_of(problem_, layout, input)](std::int64_t first,
                                                           std::span<const float> outputs) {
      return checker.judge(first, outputs);
    };
  }

 private:
  Given problem_;
};

template <class Given>
const Given& typed(const AnyProblem& problem) {
  return static_cast<const Erased<Given>&>(problem).problem();
}

template <class Given>
AnyProblemPtr erased(const Given& problem) {
  return std::make_shared<Erased<Given>>(problem);
}

template <class Given>
std::vector<AnyProblemPtr> erased(const std::vector<Given>& problems) {
  std::vector<AnyProblemPtr> all;
  for (const Given& problem : problems) all.push_back(erased(problem));
  return all;
}

// A function of a problem, or none.
template <class Given, class Result>
std::function<Result(const AnyProblem&)> erased(const std::function<Result(const Given&)>& of) {
  if (!of) return {};
  return [of](const AnyProblem& problem) { return of(typed<Given>(problem)); };
}

template <class Given>
AnyVariant erased(const OperationVariant<Given>& variant) {
  AnyVariant any;
  any.name = variant.name;
  any.source = variant.source;
  any.description = variant.description;
  any.role = variant.role;
  any.layout = variant.layout;
  any.launch = [launch = variant.launch](const AnyCall& call) {
    return launch({typed<Given>(call.problem), call.input, call.output, call.workspace});
  };
  any.refuses = erased(variant.refuses);
  any.workspace_floats = erased(variant.workspace_floats);
  any.predict = erased(variant.predict);
  any.uncounted = variant.uncounted;
  any.unavailable = variant.unavailable;
  any.version = variant.version;
  any.detail = erased(variant.detail);
  any.differs = erased(variant.differs);
  return any;
}

template <class Given>
std::vector<AnyVariant> erased(const std::vector<OperationVariant<Given>>& variants) {
  std::vector<AnyVariant> all;
  for (const OperationVariant<Given>& variant : variants) all.push_back(erased(variant));
  return all;
}

template <class Given>
AnyFamily erased(const OperationFamily<Given>& family) {
  AnyFamily any;
  any.name = family.name;
  any.label_help = family.label_help;
  any.example = family.example;
  any.parse = [parse = family.parse](const std::string& label) { return erased(parse(label)); };
  any.adversarial = [](std::uint64_t seed) { return erased(adversarial_problems<Given>(seed)); };
  any.simulated = erased(family.simulated);
  any.measured = erased(family.measured);
  any.published = [published = family.published](const std::string& set) {
    return erased(published(set));
  };
  return any;
}

}  // namespace

template <class Given>
void check_problems(const OperationVariant<Given>& variant, Backend& backend,
                    const std::vector<Given>& problems, std::uint64_t seed, Row& row,
                    Progress& progress) {
  check_problems(erased(variant), backend, erased(problems), seed, row, progress);
}

template <class Given>
void check_problem(const OperationVariant<Given>& variant, Backend& backend, const Given& problem,
                   std::uint64_t seed, Row& row) {
  check_problem(erased(variant), backend, Erased<Given>(problem), seed, row);
}

template <class Given>
int run_operation(int argc, const char* const* argv, const OperationStage<Given>& stage,
                  const std::vector<OperationVariant<Given>>& peers,
                  std::unique_ptr<Backend> backend) {
  return run_family(argc, argv, erased(operation_family<Given>()), stage.name,
                    erased(stage.variants), erased(stage.searched), erased(peers), *backend);
}

#define HALO_OPERATION(Given)                                                              \
  template void check_problems(const OperationVariant<Given>&, Backend&,                   \
                               const std::vector<Given>&, std::uint64_t, Row&, Progress&); \
  template void check_problem(const OperationVariant<Given>&, Backend&, const Given&,      \
                              std::uint64_t, Row&);                                        \
  template int run_operation(int, const char* const*, const OperationStage<Given>&,        \
                             const std::vector<OperationVariant<Given>>&,                  \
                             std::unique_ptr<Backend>);
HALO_OPERATION(conv::Transform)
HALO_OPERATION(conv::PoolingLayer)
HALO_OPERATION(conv::Softmax)
#undef HALO_OPERATION

}  // namespace halo
