// Problems and variants of transforms, pooling and softmax with their types forgotten, so that checks,
// timing and the command line are written and compiled once for all three families. Private to the
// harness; operation.cpp puts the types on and off.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "common/conv/accuracy.hpp"
#include "common/conv/layout.hpp"
#include "common/harness/backend.hpp"
#include "common/report/terminal.hpp"

namespace halo {

// Judges the outputs first, first + 1, ...
using Judge = std::function<conv::Comparison(std::int64_t first, std::span<const float> outputs)>;

class AnyProblem {
 public:
  virtual ~AnyProblem() = default;

  virtual std::string label() const = 0;
  virtual std::string describe() const = 0;  // the label with what it is: "layer 55-128-3-96"
  virtual Problem fields() const = 0;        // for its rows
  virtual std::int64_t input_size() const = 0;
  virtual std::int64_t output_size() const = 0;
  virtual std::int64_t min_bytes() const = 0;
  virtual std::int64_t flops() const = 0;
  virtual int input_kinds() const = 0;
  // The layout matters where the problem leaves it open (pooling).
  virtual std::vector<float> make_input(conv::Layout layout, int kind,
                                        std::uint64_t seed) const = 0;
  // Keeps a view of the input.
  virtual Judge judge(conv::Layout layout, std::span<const float> input) const = 0;
};
using AnyProblemPtr = std::shared_ptr<const AnyProblem>;

// OperationCall and OperationVariant (operation.hpp). Every problem that a variant meets is of its own
// family.
struct AnyCall {
  const AnyProblem& problem;
  const float* input;
  float* output;
  float* workspace;
};
struct AnyVariant {
  std::string name;
  std::string source;
  std::string description;
  Role role = Role::variant;
  conv::Layout layout = conv::Layout::nchw;
  std::function<int(const AnyCall&)> launch;
  std::function<std::string(const AnyProblem&)> refuses;
  std::function<std::int64_t(const AnyProblem&)> workspace_floats;
  std::function<simt::Counters(const AnyProblem&)> predict;
  std::string uncounted;
  std::string unavailable;
  std::string version;
  std::function<std::string(const AnyProblem&)> detail;
  std::function<std::string(const AnyProblem&)> differs;
};

// Why the variant does not take the problem; empty if it does.
std::string refusal(const AnyVariant& variant, const AnyProblem& problem);
// The floats that a call of the variant needs besides; 0 if none.
std::int64_t workspace_floats(const AnyVariant& variant, const AnyProblem& problem);

// A family of problems.
struct AnyFamily {
  std::string name;        // pooling
  std::string label_help;  // how its problems are named, in a few lines
  std::string example;     // two labels with a comma between
  // The problem of a label. Throws std::invalid_argument in one line.
  std::function<AnyProblemPtr(const std::string& label)> parse;
  std::function<std::vector<AnyProblemPtr>(std::uint64_t seed)> adversarial;
  // What is run unless other problems are asked for: small for the simulator, and as large as the
  // paper's where there is a GPU.
  std::vector<AnyProblemPtr> simulated;
  std::vector<AnyProblemPtr> measured;
  // Of a set of bench_sets.hpp.
  std::function<std::vector<AnyProblemPtr>(const std::string& set)> published;
};

// Arrays of one problem in the backend's memory, and what is in the first of them.
struct AnyInput {
  AnyInput(Backend& backend, const AnyProblem& problem, conv::Layout layout, int kind,
           std::uint64_t seed);

  std::vector<float> values;
  Array array;
  Judge judge;
};

// check_problems and check_problem of operation.hpp.
void check_problems(const AnyVariant& variant, Backend& backend,
                    const std::vector<AnyProblemPtr>& problems, std::uint64_t seed, Row& row,
                    Progress& progress);
void check_problem(const AnyVariant& variant, Backend& backend, const AnyProblem& problem,
                   std::uint64_t seed, Row& row);
// The same with the arrays given; `input` is in the variant's layout.
void check_problem(const AnyVariant& variant, Backend& backend, const AnyProblem& problem,
                   AnyInput& input, Array& output, Row& row);

// run_operation of operation.hpp.
int run_family(int argc, const char* const* argv, const AnyFamily& family, const std::string& stage,
               const std::vector<AnyVariant>& variants, const std::vector<AnyVariant>& searched,
               const std::vector<AnyVariant>& peers, Backend& backend);

}  // namespace halo
