// The 2D family, convolution layers: how a stage declares its variants, and everything that is done
// with them.
//
// The contract of all 2D stages is that of common/conv/layer.hpp: cross-correlation of NCHW images
// with any stride and padding, ghost cells are zero, every output is written.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "common/conv/layer.hpp"
#include "common/conv/layout.hpp"
#include "common/harness/backend.hpp"
#include "common/report/terminal.hpp"

namespace halo {

// One call of a variant. The arrays are in the backend's memory, 256-byte aligned.
struct Conv2dCall {
  conv::ConvLayer layer;
  const float* input = nullptr;    // [N][C][H][W]
  const float* filters = nullptr;  // [K][C][R][S]
  float* output = nullptr;         // [N][K][P][Q]
  float* workspace = nullptr;      // as many floats as workspace_floats says; null for 0
};

struct Conv2dVariant {
  std::string name;         // scalar_products
  std::string source;       // stages/09_cuconv_two_stage/1_scalar_products.cu
  std::string description;  // one line for --list
  // variant or peer. There is no copy in this family: input and output differ in size, so no copy of
  // one onto the other moves what a layer must move. The machine's copy roof stands for it.
  Role role = Role::variant;

  // Launches, and returns the CUDA error code of the launches (0: none). Need not wait.
  std::function<int(const Conv2dCall&)> launch;

  // The layout of input and output: with CHWN they are [C][H][W][N] and [K][P][Q][N]. The harness
  // arranges them; filters stay [K][C][R][S].
  conv::Layout layout = conv::Layout::nchw;

  // Why this variant does not take this layer, as the end of a sentence: "it is made for one
  // channel". Empty text: it takes it. An empty function: it takes all.
  std::function<std::string(const conv::ConvLayer&)> refuses;

  // For a variant that keeps the filters elsewhere (constant memory): takes filters[K][C][R][S] from
  // host memory before the launches that use it. Other variants of the stage are set for the same
  // layer before these run: what they set must do no harm. Returns a CUDA error code. May be empty.
  std::function<int(const float* filters, const conv::ConvLayer&)> set_filters;

  // Temporaries that a call needs, of this many floats: what they hold before it is anybody's (poison,
  // in checks). Empty: none.
  std::function<std::int64_t(const conv::ConvLayer&)> workspace_floats;

  // What the simulator must count for one call, all its kernels together. Empty: `uncounted` says
  // why there is nothing to count.
  std::function<simt::Counters(const conv::ConvLayer&)> predict;
  std::string uncounted;

  // Not empty: this build or backend cannot run it, and why.
  std::string unavailable;

  // Of a library: its name and version, "cuDNN 9.14.0". May be empty.
  std::string version;

  // How its outputs are judged: within the bound of a sum of products, or with what a transform
  // (Winograd, FFT) adds.
  conv::Demand demand = conv::Demand::bounded;

  // After its launches: what was chosen inside (a library's algorithm, the division of the work), for
  // the row. May be empty.
  std::function<std::string(const conv::ConvLayer&)> detail;

  // For a variant that only chooses another of its stage: the name of the one it chose, and those it
  // chooses from. May be empty.
  std::function<std::string(const conv::ConvLayer&)> runs_as;
  std::vector<std::string> chooses_from;
};

// Why the variant does not take the layer; empty if it does.
inline std::string refusal(const Conv2dVariant& variant, const conv::ConvLayer& layer) {
  return variant.refuses ? variant.refuses(layer) : "";
}

struct Conv2dStage {
  std::string name;  // 09_cuconv_two_stage
  std::vector<Conv2dVariant> variants;
  // What the stage would do with a layer, step by step, in lines of text: --plan. `gpu` is the key of
  // a GPU whose figures are known ("h200"), or empty for the present device. Throws
  // std::invalid_argument with one line. May be empty.
  std::function<std::string(const conv::ConvLayer&, const std::string& gpu)> plan;
  // The same methods with other numbers, to look for the best ones on a GPU: --search runs them beside
  // the variants. May be empty.
  std::vector<Conv2dVariant> searched = {};
  // The layers to run where none is named, by their labels with commas between them: in the simulator,
  // and on a GPU. Empty: the family's.
  std::string simulated_layers = {};
  std::string measured_layers = {};
};

// The layers every variant must get right, less those it refuses: N, C, K = 1 and more, odd and prime
// and smaller than a tile, not square, strides that do not divide, no padding and more than the
// filter needs, filters of 1, 3, 5 and others; and some random ones from the seed. Small enough for
// the simulator.
std::vector<conv::ConvLayer> adversarial_layers(std::uint64_t seed);

// Runs the variant on every layer that it takes, each with whole numbers (must be equal) and with
// adversarial numbers (must be within the bound), and fills check and hazards. Before each launch the
// output and the workspace are poisoned; after it the whole output, the input, the filters and the
// guard cells are compared.
void check_layers(const Conv2dVariant& variant, Backend& backend,
                  const std::vector<conv::ConvLayer>& layers, std::uint64_t seed, Row& row,
                  Progress& progress);

// Runs the variant once on the layer with adversarial numbers, adds to check and hazards, and fills
// traffic. The layer is one that it takes.
void check_layer(const Conv2dVariant& variant, Backend& backend, const conv::ConvLayer& layer,
                 std::uint64_t seed, Row& row);

// The main function of a program of 2D stages: one stage, or all of them, whose variants are then
// timed in turn. `peers` are timed beside them. Returns its exit status: 0 good, 1 a check or a hazard
// failed, 2 wrong use, 77 not run.
int run_conv2d(int argc, const char* const* argv, const std::vector<Conv2dStage>& stages,
               const std::vector<Conv2dVariant>& peers, std::unique_ptr<Backend> backend);

}  // namespace halo
