// A plan on a device: its arrays, its launches in order, and the judge of what came out.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "common/harness/backend/backend.hpp"
#include "common/network/plan.hpp"
#include "common/network/weights.hpp"
#include "common/report/rows.hpp"

namespace halo::network {

// How each map of a network is kept: in an array of its own, or in one of two that are used in turn.
enum class Keep { all, two };
// On this backend: the simulator sees accesses beyond an array only if the array is as large as the map.
inline Keep keep_for(const Backend& backend) { return backend.observes() ? Keep::all : Keep::two; }

// Filters and biases in the backend's memory, for all chains of a network.
class DeviceWeights {
 public:
  DeviceWeights(Backend& backend, const Network& network, const Weights& weights);
  const float* filters(std::size_t layer) const;
  const float* bias(std::size_t layer) const;

 private:
  std::vector<std::unique_ptr<Array>> filters_, bias_;  // null where a layer has none
};

// What a layer did, as it was judged.
struct LayerVerdict {
  Check check;
  Hazards hazards;
  Cost counted;
  bool sampled = false;  // not all of its outputs were compared
};

class Chain {
 public:
  /// Allocates and packs filters; throws std::runtime_error in one line. Keeps references to all but the plan, whose kernels
  /// it copies.
  Chain(Backend& backend, const Network& network, const Plan& plan, const Weights& weights,
        const DeviceWeights& on_device, Keep keep);

  /// [N][C][H][W], in NCHW.
  void set_input(std::span<const float> cells);

  /// All launches of the network, or of one layer with its transform and its bias. Returns the first CUDA
  /// error code. Waits for nothing. `overlaps`: kernels that can_overlap may begin before those before them have
  /// ended; but the first one of the network waits for what was before, so that no two networks are under way at once.
  int launch(bool overlaps = false) const;
  int launch_layer(std::size_t layer) const;

  /// [N][categories], after a launch.
  std::vector<float> output() const;
  /// What the softmax reads.
  std::vector<float> logits() const;

  /// Runs the network layer by layer and judges each layer on what it really read: its transform cell by
  /// cell; its sums, bias and ReLU together against error_bound of C*R*S + 1 terms; all outputs, or if
  /// those have more than `products`, a random sample of them from the seed (and then, that all outputs
  /// are written and finite). Outputs are poisoned before, and what is beside them is looked at after.
  /// Ends with a run of all launches in one go, whose last layer must be the same again (`repeatable`:
  /// bit for bit; else within its bound); and with some runs whose launches overlap. False: the device failed and nothing more can run on it.
  bool check(std::vector<LayerVerdict>& verdicts, std::uint64_t seed, std::int64_t products,
             bool repeatable);

  /// Adds what a layer must cost; false if of a kernel of it nobody knows.
  bool predict(std::size_t layer, Cost& cost) const;

  /// "NCHW 06 filter_group, bias_relu".
  std::string describe(std::size_t layer) const;

  /// Bytes on the device that such a chain needs besides the weights.
  static std::int64_t bytes(const Network& network, const Plan& plan, Keep keep);
  static std::int64_t weight_bytes(const Network& network);

 private:
  // One array to another.
  struct Step {
    std::size_t layer = 0;
    bool transform = false;
    Kernel kernel;
    std::unique_ptr<Array> packed;  // of its filters; null: it packs none
    std::unique_ptr<Kernel> bias;
    int several =
        0;  // of a kernel of several layers: its own step and those behind that are done with it
    bool is_done = false;  // by a step before it: it launches nothing
    const Array* input = nullptr;
    Array* output = nullptr;
    std::size_t outputs = 0;
  };
  void pack(Step& step);
  Arrays arrays_of(const Step& step) const;
  int launch(const Step& step, bool overlaps = false) const;
  bool check(const Step& step, LayerVerdict& verdict, std::vector<float>& input, std::uint64_t seed,
             std::int64_t products);
  // All launches on poisoned maps; `logits` is what the softmax read before.
  bool check_in_one_go(LayerVerdict& last, const std::vector<float>& logits, std::uint64_t seed,
                       bool overlaps, bool repeatable);
  conv::Comparison judge(const Step& step, std::span<const float> input,
                         std::span<const float> output, std::uint64_t seed, std::int64_t products,
                         bool& sampled) const;

  bool can_overlap_;
  Backend& backend_;
  const Network& network_;
  const Weights& weights_;
  const DeviceWeights& on_device_;
  std::unique_ptr<Array> input_;
  std::vector<std::unique_ptr<Array>> maps_;
  std::unique_ptr<Array> workspace_;
  std::vector<Step> steps_;
};

}  // namespace halo::network
