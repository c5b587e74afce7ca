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

// What a variant is, whatever the problem.
struct About {
  std::string name;         // tiled
  std::string source;       // stages/10_layout_transform/2_tiled.cu
  std::string description;  // one line for --list
  int task = 0;             // the BU report's task id; 0 if it has none
  // copy: writes its input to its output as it is. It runs where the two are of one size.
  Role role = Role::variant;
  // The layout of input and output, where the problem leaves that open (2D convolution, pooling). The
  // harness arranges the input and reads the output so; filters stay [K][C][R][S].
  conv::Layout layout = conv::Layout::nchw;
  // A launch may begin before the one before it in the stream has ended (LayerKernel::can_overlap).
  bool can_overlap = false;
  // Of convolutions: calls may bring a bias and ask for ReLU (LayerKernel::adds_bias).
  bool adds_bias = false;
  // Of convolutions: layers with groups come to it too, or with dilation; without this it refuses them all.
  bool takes_groups = false;
  bool takes_dilation = false;
  // It may multiply the zeros that stand for ghost cells: an infinite tap over one then gives NaN. Else
  // ghost cells add nothing, whatever the tap.
  bool multiplies_ghosts = false;
  // How the outputs of a convolution are judged: within the bound of a sum of products, or with what a
  // transform (Winograd, FFT) adds.
  conv::Demand demand = conv::Demand::bounded;
  std::string unavailable;  // not empty: this build or backend cannot run it, and why
  std::string version;      // of a library: its name and version, "cuDNN 9.14.0". May be empty.
  // For a variant that only chooses another of its stage: the names of those it chooses from.
  std::vector<std::string> chooses_from;
};

// A variant made ready for one problem: whatever it plans is planned, once. What it is itself stands here too: one
// that chooses another is what it chose, under its own name. Any function may be empty, but for the launch of one that
// takes the problem. What depends on how arrays are handed over is in Prepared, AnyPrepared and network::Kernel.
struct Preparation : About {
  // Why the variant does not take the problem, as the end of a sentence: "it is made for one channel". Empty: it
  // takes it. Else nothing below counts, but what was published.
  std::string refusal;

  // For a variant that keeps mask or filters elsewhere (constant memory): takes all of them from host
  // memory before the launches that use them. Other variants of the stage are set up for the same
  // problem before these run: what they set must do no harm. Returns a CUDA error code.
  std::function<int(const float* weights)> set_up;

  // Temporaries that a call needs, of this many floats: what they hold before it is anybody's (poison,
  // in checks).
  std::int64_t workspace_floats = 0;

  // Of a variant that reads its filters in an order of its own: the floats that `pack` writes. 0: there is nothing to
  // pack.
  std::int64_t packed_floats = 0;

  // What one call must cost, all its kernels together: the simulator counts it. Empty of what it does not run.
  std::function<Cost()> cost;
  // What a call with a bias and ReLU costs more; where it adds_bias.
  std::function<Cost()> bias_cost;

  // After its launches: what was chosen inside (a library's algorithm, the division of the work), for
  // the row.
  std::function<std::string()> detail;

  // Of a library, after a launch: how it differs from the mathematics with inputs at the edges of
  // float, which it does not document. Not empty: it is judged with ordinary numbers only, and its
  // detail says so.
  std::function<std::string()> differs;

  // The name of the variant that was chosen.
  std::function<std::string()> runs_as;

  // What the source of this variant printed for the problem.
  std::function<Published()> published;
};

using Pack = std::function<int(const float* filters, float* packed)>;

template <class Given>
struct Prepared : Preparation {
  // Of families whose second input are filters: makes packed[packed_floats] of them, both in the backend's memory,
  // once for any number of calls (LayerKernel::pack).
  Pack pack;
  // Launches, and returns the CUDA error code of the launches (0: none). Need not wait.
  std::function<int(const Call<Given>&)> launch;
};

// Why no variant of the problem's family that says no more of itself takes the problem; a family may have its own.
template <class Given>
std::string refusal_of_family(const About&, const Given&) {
  return {};
}

template <class Given>
struct Variant : About {
  // All that is so for one problem. What it leaves out of About is the variant's.
  std::function<Prepared<Given>(const Given&)> prepare = [](const Given&) {
    return Prepared<Given>();
  };

  // What it works on at a time, for a problem like this one: it is tried with problems round it.
  std::function<std::vector<TileSizes>(const Given&)> tiles;
  // It asks the present device for what its launch, its prediction and its refusals go by: it is tried on
  // a tiny GPU as well, where small problems are divided as large ones are elsewhere.
  bool plans = false;
  // The same with limits so low that small problems meet them; it is tried on the tiny GPU in its
  // place. Null: it has no limits of its own.
  std::shared_ptr<const Variant> limited;

  // Of a problem: the variant, ready to run it. One that is unavailable refuses them all.
  Prepared<Given> prepared(const Given& problem) const {
    Prepared<Given> made;
    made.refusal = unavailable.empty() ? refusal_of_family(*this, problem) : unavailable;
    if (made.refusal.empty()) made = prepare(problem);
    if (made.name.empty()) static_cast<About&>(made) = *this;
    return made;
  }

  // From now on `more` adds to what is prepared for a problem that is not refused.
  void also(std::function<void(const Given&, Prepared<Given>&)> more) {
    prepare = [before = prepare, more = std::move(more)](const Given& problem) {
      Prepared<Given> made = before(problem);
      if (made.refusal.empty()) more(problem, made);
      return made;
    };
  }
  // What needs no plan: the launch, what a call must cost, the detail, why a problem is refused.
  void launches(std::function<int(const Call<Given>&)> launch) {
    also([launch = std::move(launch)](const Given&, auto& made) { made.launch = launch; });
  }
  void must_cost(std::function<Cost(const Given&)> predict) {
    also([predict = std::move(predict)](const Given& problem, auto& made) {
      made.cost = nullptr;  // where nobody predicts it
      if (predict) made.cost = [predict, problem] { return predict(problem); };
    });
  }
  void tells(std::function<std::string(const Given&)> detail) {
    also([detail = std::move(detail)](const Given& problem, auto& made) {
      made.detail = [detail, problem] { return detail(problem); };
    });
  }
  void refuses(std::function<std::string(const Given&)> why) {
    also([why = std::move(why)](const Given& problem, auto& made) { made.refusal = why(problem); });
  }
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
  return variant.prepared(problem).refusal;
}

// ---- With their types forgotten. Every problem that a variant meets is of its own family. ----

constexpr std::size_t kMostInputs = 4;
struct AnyCall {
  std::array<const float*, kMostInputs>
      inputs;  // those that there are, in the order of the problem's
  float* output;
  float* workspace = nullptr;
  const float* packed = nullptr;
  bool overlaps = false;
};

struct AnyTrial {
  AnyTrial(AnyProblemPtr problem, TrialOn on = TrialOn::device)
      : problem(std::move(problem)), on(on) {}

  AnyProblemPtr problem;
  TrialOn on;
};

struct AnyPrepared : Preparation {  // the cost is with that of the bias where the problem has one
  Pack pack;
  std::function<int(const AnyCall&)> launch;
};

struct AnyVariant : About {
  std::function<AnyPrepared(const AnyProblem&)> prepared;
  std::shared_ptr<const AnyVariant> limited;
  // trials of typed.hpp.
  std::function<std::vector<AnyTrial>(std::uint64_t seed)> trials;
};

struct AnyStage {
  std::string name;
  std::vector<AnyVariant> variants;
  std::function<std::string(const AnyProblem&, const std::string& gpu)> plan;
  std::vector<AnyVariant> searched;
  std::string simulated;
  std::string measured;
};

}  // namespace halo
