// The families of operations that make one array from another: layout transforms, pooling layers and
// softmax. How a stage declares its variants, and everything that is done with them.
//
// The families differ in their problem only (common/conv/layout.hpp, pooling.hpp, softmax.hpp).
// `Problem` stands for conv::Transform, conv::PoolingLayer or conv::Softmax.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "common/conv/layout.hpp"
#include "common/conv/pooling.hpp"
#include "common/conv/softmax.hpp"
#include "common/harness/backend.hpp"
#include "common/report/terminal.hpp"

namespace halo {

// One call of a variant. The arrays are in the backend's memory, 256-byte aligned, and as large as
// the problem says.
template <class Problem>
struct OperationCall {
  Problem problem;
  const float* input = nullptr;
  float* output = nullptr;
  float* workspace = nullptr;  // as many floats as workspace_floats says; null for 0
};

// As Conv2dVariant (common/harness/conv2d.hpp); an empty function means the same there and here.
template <class Problem>
struct OperationVariant {
  std::string name;         // tiled
  std::string source;       // stages/10_layout_transform/2_tiled.cu
  std::string description;  // one line for --list
  // variant or peer. copy: writes its input to its output as it is. It runs where the two are of one
  // size, as a transform's and a softmax's are.
  Role role = Role::variant;

  // Launches, and returns the CUDA error code of the launches (0: none). Need not wait.
  std::function<int(const OperationCall<Problem>&)> launch;

  // The layout of input and output, where the problem leaves that open: pooling. The harness arranges
  // the input and reads the output so.
  conv::Layout layout = conv::Layout::nchw;

  // Why this variant does not take this problem, as the end of a sentence; empty: it takes it.
  std::function<std::string(const Problem&)> refuses;

  // Temporaries that a call needs, of this many floats.
  std::function<std::int64_t(const Problem&)> workspace_floats;

  // What the simulator must count for one call, all its kernels together. Empty: `uncounted` says
  // why there is nothing to count.
  std::function<simt::Counters(const Problem&)> predict;
  std::string uncounted;

  std::string unavailable;  // not empty: this build or backend cannot run it, and why
  std::string version;      // of a library: its name and version. May be empty.

  // After its launches: what was chosen inside, for the row. May be empty.
  std::function<std::string(const Problem&)> detail;

  // Of a library, after a launch: how it differs from the mathematics with inputs at the edges of float
  // (the kinds of make_input from 1 on), which it does not document. Not empty: it is judged with kind
  // 0 only, and its detail says so. May be empty.
  std::function<std::string(const Problem&)> differs;
};

template <class Problem>
struct OperationStage {
  std::string name;  // 10_layout_transform
  std::vector<OperationVariant<Problem>> variants;
  // As Conv2dStage's: --search runs them beside the variants. May be empty.
  std::vector<OperationVariant<Problem>> searched = {};
};

using TransformVariant = OperationVariant<conv::Transform>;
using TransformStage = OperationStage<conv::Transform>;
using PoolingVariant = OperationVariant<conv::PoolingLayer>;
using PoolingStage = OperationStage<conv::PoolingLayer>;
using SoftmaxVariant = OperationVariant<conv::Softmax>;
using SoftmaxStage = OperationStage<conv::Softmax>;

// Why the variant does not take the problem; empty if it does.
template <class Problem>
std::string refusal(const OperationVariant<Problem>& variant, const Problem& problem) {
  return variant.refuses ? variant.refuses(problem) : "";
}

// The problems that every variant must get right, less those it refuses: everything 1, odd, prime,
// smaller and larger than a tile, a warp and a block, not square; and some random ones from the seed.
// Small enough for the simulator.
template <class Problem>
std::vector<Problem> adversarial_problems(std::uint64_t seed);
template <>
std::vector<conv::Transform> adversarial_problems(std::uint64_t seed);
template <>
std::vector<conv::PoolingLayer> adversarial_problems(std::uint64_t seed);
template <>
std::vector<conv::Softmax> adversarial_problems(std::uint64_t seed);

// Runs the variant on every problem that it takes, with every kind of input, and fills check and
// hazards. Before each launch output and workspace are poisoned; after it the whole output, the input
// and the guard cells are compared.
template <class Problem>
void check_problems(const OperationVariant<Problem>& variant, Backend& backend,
                    const std::vector<Problem>& problems, std::uint64_t seed, Row& row,
                    Progress& progress);

// Runs the variant once on the problem, with kind 0, adds to check and hazards, and fills traffic.
template <class Problem>
void check_problem(const OperationVariant<Problem>& variant, Backend& backend,
                   const Problem& problem, std::uint64_t seed, Row& row);

// The main function of a program of one family. `peers` are timed beside the stage's variants.
// Returns its exit status: 0 good, 1 a check or a hazard failed, 2 wrong use, 77 not run.
template <class Problem>
int run_operation(int argc, const char* const* argv, const OperationStage<Problem>& stage,
                  const std::vector<OperationVariant<Problem>>& peers,
                  std::unique_ptr<Backend> backend);

}  // namespace halo
