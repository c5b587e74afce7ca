// What the families share whose problems are named by one option, --problem LABEL: transforms, pooling
// and softmax.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "common/conv/inputs.hpp"
#include "common/data/sc16.hpp"
#include "common/harness/core/typed_impl.hpp"
#include "common/harness/families/trials.hpp"
#include "common/report/summary.hpp"

namespace halo {

inline constexpr int kRandomProblems = 4;
inline constexpr std::int64_t kMostRandomCells = 10'000;  // of such a problem's input

// A problem of these families has one input. Its kinds of data are those of conv::input_kinds: ordinary
// numbers first, then the edges of float.
template <class Given>
class OperationProblem : public AnyProblem {
 public:
  explicit OperationProblem(const Given& given) : given_(given) {}
  const Given& given() const { return given_; }

  std::string label() const override { return conv::label(given_); }
  std::vector<std::int64_t> input_sizes() const override { return {given_.input_size()}; }
  std::int64_t output_size() const override { return given_.output_size(); }
  std::int64_t min_bytes() const override { return conv::min_bytes(given_); }
  std::int64_t flops() const override { return conv::flops(given_); }
  Work work() const override {
    return {given_.input_size() + given_.output_size() + conv::flops(given_),
            "cells and operations"};
  }
  bool reaches_roof() const override { return min_bytes() >= 1'000'000; }
  std::int64_t held_floats() const override { return given_.input_size(); }
  // Beyond so many cells data and checks take longer than the timing.
  double bench_weight() const override {
    return 1e6 + static_cast<double>(given_.input_size() + given_.output_size());
  }
  std::string options() const override { return "--problem " + label(); }
  std::vector<conv::Period> periods() const override {
    return {{"32", 32}, {"64", 64}, {"16", 16}, {"8", 8}};
  }
  std::vector<DataKind> kinds() const override {
    std::vector<DataKind> all = {{}};
    for (int edge = 1; edge < conv::input_kinds(given_); ++edge) {
      all.push_back({DataKind::Of::edges, edge});
    }
    return all;
  }

 private:
  Given given_;
};

// Such a family's problems, and how they are named.
struct OperationFamily {
  std::string name;  // of its bench sets
  // The problem of a label. Throws std::invalid_argument in one line.
  std::function<AnyProblemPtr(const std::string& label)> parse;
  // What is run unless other problems are asked for, by their labels with commas between: small for the
  // simulator, and as large as the paper's where there is a GPU.
  std::string simulated;
  std::string measured;
  // Of a set of bench_sets.hpp.
  std::function<std::vector<AnyProblemPtr>(const std::string& set)> published;
};

// ProgramFamily::run of such a family, which must outlive it.
std::unique_ptr<ProgramRun> operation_run(const OperationFamily& family);

// What a family of these differs in.
template <class Given>
struct OperationWords {
  std::string name;
  std::string help;     // how its problems are named
  std::string example;  // arguments
  Given (*parse)(std::string_view label);
  // The paper's problems are the set "sc16", ours beside them the set "large".
  const std::vector<data::Sc16Problem<Given>>& (*published)();
  std::string simulated;
  std::vector<Given> measured;
};

// Problems by their names in such a list.
template <class Given>
std::vector<Given> named_in(const std::vector<data::Sc16Problem<Given>>& list,
                            const std::vector<std::string>& names) {
  std::vector<Given> problems;
  for (const std::string& name : names) problems.push_back(data::sc16_problem(list, name));
  return problems;
}

// program_family of such a family; `words` are those of the first call.
template <class Given>
const ProgramFamily& operation_family(const OperationWords<Given>& words) {
  static const OperationFamily operation = [&] {
    std::string measured;
    for (const Given& problem : words.measured) {
      measured += (measured.empty() ? "" : ",") + conv::label(problem);
    }
    return OperationFamily{
        words.name,
        [parse = words.parse](const std::string& label) { return erased(parse(label)); },
        words.simulated, measured,
        [list = words.published](const std::string& set) {
          std::vector<AnyProblemPtr> problems;
          for (const data::Sc16Problem<Given>& one : list()) {
            if ((one.source == "ours") == (set == "large")) problems.push_back(erased(one.problem));
          }
          return problems;
        }};
  }();
  static const ProgramFamily family = {.name = words.name,
                                       .problem = "problem",
                                       .help = words.help,
                                       .examples = {words.example},
                                       .render_sets = render_brief,
                                       .run = [] { return operation_run(operation); }};
  return family;
}

}  // namespace halo
