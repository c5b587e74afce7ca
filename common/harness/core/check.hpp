// Verification and traffic: a variant on many small problems, and on one.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "common/harness/backend/backend.hpp"
#include "common/harness/core/variant.hpp"
#include "common/harness/core/verify.hpp"
#include "common/report/terminal.hpp"

namespace halo {

struct Attempt;

// The arrays of one problem in the backend's memory, which checks and timing share: a billion cells are
// not sent twice. The first input is there once for each layout that was asked for.
class ProblemArrays {
 public:
  ProblemArrays(Backend& backend, const AnyProblem& problem);

  // From now on the inputs are these, the first in this layout. Keeps a view of the data. Throws
  // std::runtime_error with one line if there is not enough memory.
  void hold(const Dataset& data, conv::Layout layout);

  // Of what is held.
  std::vector<KeptArray> kept(conv::Layout layout);
  AnyCall call(conv::Layout layout);  // without a workspace and packed filters
  Array& output() { return output_; }
  // Of exactly so many floats: the same array as long as they are as many, whatever was packed into it.
  Array& packed(std::int64_t floats);

 private:
  Array& first(conv::Layout layout);

  Backend& backend_;
  const AnyProblem& problem_;
  const Dataset* held_ = nullptr;
  struct First {
    std::unique_ptr<Array> array;
    bool written = false;  // with what is held
  };
  std::map<conv::Layout, First> firsts_;
  std::vector<std::unique_ptr<Array>> others_;
  Array output_;
  std::unique_ptr<Array> packed_;
};

// The outputs of a saved variant, one list for each dataset, in NCHW.
using SavedOutputs = std::vector<std::vector<float>>;

// Runs the variant on every problem that it takes, each with every kind of data, and fills check and
// hazards; and traffic, if a prediction is wrong. Before each launch output and workspace are
// poisoned; after it the whole output, the inputs and the guard cells are compared. What is for a tiny
// GPU is left out where there is none.
void check_trials(const AnyVariant& variant, Backend& backend, const std::vector<AnyTrial>& trials,
                  std::uint64_t seed, Row& row, Progress& progress);

// Fills the row's diagnosis from what the variant was tried with. `alive`: it may be launched again.
void diagnose(const AnyVariant& variant, Backend& backend, const std::vector<Attempt>& attempts,
              bool alive, Row& row);
// The same of one that is ready for the only problem.
void diagnose(const AnyPrepared& variant, Backend& backend, const Attempt& attempt, bool alive,
              Row& row);

// How this variant's outputs are judged. Keeps a view of the data.
Judge judge_of(const Dataset& data, const About& variant);

// Judges that somebody else keeps, so that its references are computed once for all variants.
using Judges = std::function<const Judge&(const Dataset&, const About&)>;

// Runs the variant once on each of the datasets, adds to check and hazards, and fills traffic.
// `outputs` gets the results if it is not null.
void check_problem(const AnyPrepared& variant, Backend& backend, const AnyProblem& problem,
                   const std::vector<DatasetPtr>& datasets, const Judges& judges,
                   ProblemArrays& arrays, Row& row, SavedOutputs* outputs = nullptr);
// The same, of a variant that takes the problem, with arrays and judges of its own; without datasets on ordinary data
// from the seed.
void check_problem(const AnyVariant& variant, Backend& backend, const AnyProblem& problem,
                   std::uint64_t seed, Row& row, std::vector<DatasetPtr> datasets = {},
                   SavedOutputs* outputs = nullptr);

}  // namespace halo
