// What a stage or a library brings: variants of one family's problems, with their types (Variant,
// Stage) and with them forgotten (AnyVariant, AnyStage), so that the rest is written and compiled once.
// `Given` is a family's problem: Conv1dProblem, conv::ConvLayer, conv::Transform, conv::PoolingLayer or
// conv::Softmax; families/*.hpp have the names.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "common/harness/backend/backend.hpp"
#include "common/harness/core/problem.hpp"
#include "common/harness/kernel.h"
#include "common/report/terminal.hpp"

namespace halo {

// One call of a variant. The arrays are in the backend's memory, 256-byte aligned, and as large as
// the problem says. Families whose calls need more than one input have their own (families/*.hpp).
template <class Given>
struct ProblemCall {
  Given problem;
  const float* input = nullptr;
  float* output = nullptr;
  float* workspace = nullptr;  // as many floats as workspace_floats says; null for 0
  bool overlaps = false;       // Variant::can_overlap
};
template <class Given>
struct CallOf {
  using Type = ProblemCall<Given>;
};
template <class Given>
using Call = typename CallOf<Given>::Type;

template <class Given>
struct Variant {
  std::string name;         // tiled
  std::string source;       // stages/10_layout_transform/2_tiled.cu
  std::string description;  // one line for --list
  int task = 0;             // the BU report's task id; 0 if it has none
  // copy: writes its input to its output as it is. It runs where the two are of one size.
  Role role = Role::variant;

  // Launches, and returns the CUDA error code of the launches (0: none). Need not wait.
  std::function<int(const Call<Given>&)> launch;

  // The layout of input and output, where the problem leaves that open (2D convolution, pooling). The
  // harness arranges the input and reads the output so; filters stay [K][C][R][S].
  conv::Layout layout = conv::Layout::nchw;

  // Why this variant does not take this problem, as the end of a sentence: "it is made for one
  // channel". Empty text: it takes it. An empty function: it takes all.
  std::function<std::string(const Given&)> refuses;
  // Of convolutions: layers with groups or dilation come to `refuses` too; without this none of them is taken.
  bool takes_groups_and_dilation = false;

  // For a variant that keeps mask or filters elsewhere (constant memory): takes all of them from host
  // memory before the launches that use them. Other variants of the stage are set up for the same
  // problem before these run: what they set must do no harm. Returns a CUDA error code. May be empty.
  std::function<int(const float* weights, const Given&)> set_up;

  // Temporaries that a call needs, of this many floats: what they hold before it is anybody's (poison,
  // in checks). Empty: none.
  std::function<std::int64_t(const Given&)> workspace_floats;

  // For a variant that reads its filters in an order of its own: makes packed[packed_floats] of them, both
  // in the backend's memory, once for any number of calls (LayerKernel::pack). Of families whose second
  // input are filters. Both functions or neither; 0 floats: not for this problem.
  std::function<std::int64_t(const Given&)> packed_floats;
  std::function<int(const float* filters, float* packed, const Given&)> pack;

  // A launch may begin before the one before it in the stream has ended (LayerKernel::can_overlap).
  bool can_overlap = false;

  // Of convolutions: calls may bring a bias and ask for ReLU (LayerKernel::adds_bias).
  bool adds_bias = false;

  // What one call must cost, all its kernels together: the simulator counts it. Empty of what it does not run.
  std::function<Cost(const Given&)> predict;
  // What a call with a bias and ReLU costs more; where it adds_bias.
  std::function<Cost(const Given&)> predict_bias;

  // What it works on at a time, for a problem like this one: it is tried with problems round it.
  std::function<std::vector<TileSizes>(const Given&)> tiles;
  // It may multiply the zeros that stand for ghost cells: an infinite tap over one then gives NaN. Else
  // ghost cells add nothing, whatever the tap.
  bool multiplies_ghosts = false;
  // It asks the present device for what its launch, its prediction and its refusals go by: it is tried on
  // a tiny GPU as well, where small problems are divided as large ones are elsewhere.
  bool plans = false;
  // The same with limits so low that small problems meet them; it is tried on the tiny GPU in its
  // place. Null: it has no limits of its own.
  std::shared_ptr<const Variant> limited;

  std::string unavailable;  // not empty: this build or backend cannot run it, and why
  std::string version;      // of a library: its name and version, "cuDNN 9.14.0". May be empty.

  // How the outputs of a convolution are judged: within the bound of a sum of products, or with what a
  // transform (Winograd, FFT) adds.
  conv::Demand demand = conv::Demand::bounded;

  // After its launches: what was chosen inside (a library's algorithm, the division of the work), for
  // the row. May be empty.
  std::function<std::string(const Given&)> detail;

  // Of a library, after a launch: how it differs from the mathematics with inputs at the edges of
  // float, which it does not document. Not empty: it is judged with ordinary numbers only, and its
  // detail says so. May be empty.
  std::function<std::string(const Given&)> differs;

  // For a variant that only chooses another of its stage: the name of the one it chose, and those it
  // chooses from. May be empty.
  std::function<std::string(const Given&)> runs_as;
  std::vector<std::string> chooses_from;

  // The one it chose, under its own name: by what that one promises (its demand, its costs) it is judged. Of
  // a problem that it takes. May be empty, where all of them promise the same.
  std::function<Variant(const Given&)> chosen;

  // What the source of this variant printed for the problem. May be empty.
  std::function<Published(const Given&)> published;
};

template <class Given>
struct Stage {
  std::string name;  // 10_layout_transform
  std::vector<Variant<Given>> variants;
  // What the stage would do with a problem, step by step, in lines of text: --plan. `gpu` is the key of
  // a GPU whose figures are known ("h200"), or empty for the present device. Throws
  // std::invalid_argument with one line. May be empty.
  std::function<std::string(const Given&, const std::string& gpu)> plan = {};
  // The same methods with other numbers, to look for the best ones on a GPU: --search runs them beside
  // the variants. May be empty.
  std::vector<Variant<Given>> searched = {};
  // The problems to run where none is named, by their labels with commas between them: in the
  // simulator, and on a GPU. Empty: the family's.
  std::string simulated = {};
  std::string measured = {};
};

// The stage's variant of this name, to give it what its kernel does not say: its costs. Throws
// std::logic_error if there is none.
template <class Given>
Variant<Given>& variant(Stage<Given>& stage, const std::string& name) {
  for (Variant<Given>& one : stage.variants) {
    if (one.name == name) return one;
  }
  throw std::logic_error(stage.name + " has no variant " + name);
}

// What every kernel says of itself (common/harness/kernel.h). `source` is the path of its file from the
// root of the repository.
template <class Given, class Kernel>
Variant<Given> described(const char* name, const char* source, const Kernel& kernel) {
  Variant<Given> variant;
  variant.name = name;
  variant.source = source;
  variant.description = (kernel.tuned ? "tuned: " : "") + std::string(kernel.description);
  return variant;
}

// For Variant::tiles: those of a kernel's descriptor that say something.
template <class Given>
std::function<std::vector<TileSizes>(const Given&)> fixed_tiles(
    const TileSizes (&tiles)[kMostTiles]) {
  std::vector<TileSizes> all;
  for (const TileSizes& tile : tiles) {
    if (tile.N + tile.C + tile.K + tile.P + tile.Q + tile.cells > 0) all.push_back(tile);
  }
  if (all.empty()) return {};
  return [all](const Given&) { return all; };
}

// One of the problems that a variant is tried with.
enum class TrialOn {
  device,
  tiny_gpu,     // and by Variant::limited, where it has one
  some_blocks,  // the simulator: it is too large to be run as a whole
};
template <class Given>
struct Trial {
  Trial(const Given& problem, TrialOn on = TrialOn::device) : problem(problem), on(on) {}

  Given problem;
  TrialOn on;
};

// What outputs of a kernel's method are held to.
conv::Demand demand_of(Arithmetic arithmetic);

// Why the variant does not take the problem; empty if it does.
template <class Given>
std::string refusal(const Variant<Given>& variant, const Given& problem) {
  return variant.refuses ? variant.refuses(problem) : "";
}

// ---- With their types forgotten. Every problem that a variant meets is of its own family. ----

constexpr std::size_t kMostInputs = 4;
struct AnyCall {
  const AnyProblem& problem;
  std::array<const float*, kMostInputs>
      inputs;  // those that there are, in the order of the problem's
  float* output;
  float* workspace;
  const float* packed = nullptr;
  bool overlaps = false;
};

struct AnyTrial {
  AnyTrial(AnyProblemPtr problem, TrialOn on = TrialOn::device)
      : problem(std::move(problem)), on(on) {}

  AnyProblemPtr problem;
  TrialOn on;
};

// As Variant; an empty function means the same there and here.
struct AnyVariant {
  std::string name;
  std::string source;
  std::string description;
  int task = 0;
  Role role = Role::variant;
  std::function<int(const AnyCall&)> launch;
  conv::Layout layout = conv::Layout::nchw;
  std::function<std::string(const AnyProblem&)> refuses;
  std::function<int(const float* weights, const AnyProblem&)> set_up;
  std::function<std::int64_t(const AnyProblem&)> workspace_floats;
  std::function<std::int64_t(const AnyProblem&)> packed_floats;
  std::function<int(const float* filters, float* packed, const AnyProblem&)> pack;
  bool can_overlap = false;
  bool adds_bias = false;
  std::function<Cost(const AnyProblem&)>
      predict;  // with that of the bias where the problem has one
  std::string unavailable;
  std::string version;
  conv::Demand demand = conv::Demand::bounded;
  std::function<std::string(const AnyProblem&)> detail;
  std::function<std::string(const AnyProblem&)> differs;
  std::function<std::string(const AnyProblem&)> runs_as;
  std::vector<std::string> chooses_from;
  std::function<AnyVariant(const AnyProblem&)> chosen;
  std::function<Published(const AnyProblem&)> published;
  std::shared_ptr<const AnyVariant> limited;
  // trials of typed.hpp.
  std::function<std::vector<AnyTrial>(std::uint64_t seed)> trials;
  bool multiplies_ghosts = false;
};

struct AnyStage {
  std::string name;
  std::vector<AnyVariant> variants;
  std::function<std::string(const AnyProblem&, const std::string& gpu)> plan;
  std::vector<AnyVariant> searched;
  std::string simulated;
  std::string measured;
};

// Why the variant does not take the problem; empty if it does.
std::string refusal(const AnyVariant& variant, const AnyProblem& problem);
// What runs a problem that the variant takes: what it chose, or itself.
inline AnyVariant chosen(const AnyVariant& variant, const AnyProblem& problem) {
  return variant.chosen ? variant.chosen(problem) : variant;
}
// The floats that a call of the variant needs besides; 0 if none.
std::int64_t workspace_floats(const AnyVariant& variant, const AnyProblem& problem);
// The floats that its packed filters take; 0 if it packs none.
std::int64_t packed_floats(const AnyVariant& variant, const AnyProblem& problem);

}  // namespace halo
