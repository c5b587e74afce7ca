// The 1D family: how a stage declares its variants, and everything that is done with them.
//
// The contract of all 1D stages: cross-correlation of the same size, odd mask, cells beyond the
// ends are zero, every output of [first, last) written and no other.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "common/conv/conv1d.hpp"
#include "common/harness/backend.hpp"
#include "common/harness/kernel.h"
#include "common/report/terminal.hpp"

namespace halo {

struct Conv1dVariant {
  std::string name;         // grid
  std::string source;       // stages/02_conv1d_global/2_grid.cu
  std::string description;  // one line for --list
  int task = 0;             // the report's task id; 0 if it has none
  Role role = Role::variant;

  // Launches, and returns the CUDA error code of the launch (0: none). Need not wait.
  std::function<int(const Conv1dCall&)> launch;
  int widest_mask = conv::kMaxMaskWidth;  // wider ones are not run

  // For a variant that keeps the mask elsewhere: takes mask[width] from host memory before the
  // launches that use it. Returns a CUDA error code. May be empty.
  std::function<int(const float* mask, int width)> set_mask;

  // What the simulator must count for one launch. Empty: `uncounted` says why there is nothing to
  // count.
  std::function<simt::Counters(const Conv1dShape&)> predict;
  std::string uncounted;

  // Not empty: this build or backend cannot run it, and why.
  std::string unavailable;

  // Of a library: its name and version, "cuDNN 9.14.0". May be empty.
  std::string version;

  // After its launches: what was chosen inside (a library's algorithm, the mathematics it computes
  // in), for the row. May be empty.
  std::function<std::string()> detail;

  // More products (length x mask width) than this take too long to be worth it, and why.
  std::int64_t most_products = std::numeric_limits<std::int64_t>::max();
  std::string most_products_reason;
};

struct Conv1dStage {
  std::string name;  // 04_conv1d_tiled_halo
  std::vector<Conv1dVariant> variants;
};

// A problem with its data: one signal, or the channels of a recording, and one mask for all.
struct Conv1dWorkload {
  conv::Problem1d problem;
  std::vector<float> mask;
  std::vector<std::vector<float>> channels;
  int threads;
  std::int64_t period = 0;  // of the channels' data, if it repeats: see conv::Checker
};

// One adversarial problem.
struct Conv1dTrial {
  int length;
  int mask_width;
  int threads;
  conv::Border border = conv::Border::zero;
};

// The shapes every variant must get right: odd, prime, shorter than a block, block sizes that do
// not divide and that are no multiple of a warp, masks wider than the signal and the block, both
// borders; and some random ones from the seed.
std::vector<Conv1dTrial> adversarial_trials(std::uint64_t seed);

// Runs the variant on every trial, each with whole numbers (must be equal) and with adversarial
// numbers (must be within the bound), and fills check and hazards. Before each launch the output is
// poisoned; after it the whole output, the input, the mask and the guard cells are compared.
void check_trials(const Conv1dVariant& variant, Backend& backend,
                  const std::vector<Conv1dTrial>& trials, std::uint64_t seed, Row& row,
                  Progress& progress);

// Runs the variant once on each channel, adds to check and hazards, and fills traffic. `outputs`
// gets the results, [channel][sample], if it is not null.
void check_workload(const Conv1dVariant& variant, Backend& backend, const Conv1dWorkload& workload,
                    Row& row, std::vector<std::vector<float>>* outputs);

// The main function of a program of 1D stages: one stage, or the whole ladder, whose variants are
// then timed in turn. `peers` are timed beside them. Returns its exit status: 0 good, 1 a check or a
// hazard failed, 2 wrong use, 77 not run.
int run_conv1d(int argc, const char* const* argv, const std::vector<Conv1dStage>& stages,
               const std::vector<Conv1dVariant>& peers, std::unique_ptr<Backend> backend);

}  // namespace halo
