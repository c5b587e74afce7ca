// One network in all its ways, ours and a library's: each planned, checked layer by layer, and timed.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "common/harness/core/timing.hpp"
#include "common/network/costs.hpp"
#include "common/network/program.hpp"
#include "common/network/weights.hpp"

namespace halo::network {

// What stands in a row's field `layer` for the whole network.
inline constexpr const char* kWhole = "all";

// A network on a batch, with what it is to compute.
struct Task {
  Network network;
  std::shared_ptr<const Weights> weights = {};  // null: random
  std::vector<float> input = {};                // empty: random
  std::vector<int> expected = {};               // PyTorch's answers; empty: not known
};

// How a network is built: by which rule, of whose kernels. Points into what it is made of.
struct Way {
  std::string stage;  // peers: not ours
  std::string name;
  std::string description;
  LayoutRule rule;
  const MakeCatalogue* catalogue;
  const Peer* peer = nullptr;  // null: ours
  // Kernels that can_overlap begin before the one before them has ended. It shows in times only.
  bool overlaps = false;
  // The catalogue has kernels on tensor cores, which are there for times, too.
  bool split = false;
};

// Ours: nchw, chwn, planned, planned_overlapped, planned_split, planned_split_overlapped; then the peers.
std::vector<Way> ways(const NetworkStage& stage, const std::vector<Peer>& peers);

struct Outcomes {
  std::vector<Row> whole;
  std::vector<Row> layers;
  std::vector<float> output;  // of the last way that succeeded
  std::string answered_by;
};

struct HowToRun {
  bool trials = false;
  bool times = true;
  TimingSettings timing;
};

// Runs the task in all ways: rows of the whole, then of each layer. `source` has the costs of all catalogues' kernels.
Outcomes run_task(const Task& task, const std::vector<Way>& all_ways, CostSource& source,
                  Backend& backend, std::uint64_t seed, const HowToRun& how, Progress& progress);

}  // namespace halo::network
