#include "common/network/chain.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <thread>

#include "common/conv/inputs.hpp"
#include "common/harness/core/verify.hpp"

namespace halo::network {

namespace {

using conv::Layout;

constexpr std::int64_t kFloat = sizeof(float);

std::vector<float> read_all(const Array& array, std::size_t count) {
  std::vector<float> values(count);
  array.read(values);
  return values;
}

std::int64_t workspace_of(const Plan& plan) {
  std::int64_t most = 0;
  for (const PlannedLayer& layer : plan.layers) {
    for (const Option* option : {layer.transform, layer.kernel, layer.bias}) {
      if (option != nullptr) most = std::max(most, option->kernel.workspace_floats);
    }
  }
  return most;
}

// The maps that the plan's steps write, in floats, in order.
std::vector<std::int64_t> map_sizes(const Plan& plan) {
  std::vector<std::int64_t> sizes;
  for (const PlannedLayer& layer : plan.layers) {
    if (layer.transform != nullptr) sizes.push_back(layer.transform->kernel.output_floats);
    if (layer.kernel != nullptr && layer.kernel->kernel.of_layers.empty()) {
      sizes.push_back(layer.kernel->kernel.output_floats);
    }
  }
  return sizes;
}

// And those of kernels of several layers, each of which writes several at the same time.
std::int64_t floats_at_once(const Plan& plan) {
  std::int64_t floats = 0;
  for (const PlannedLayer& layer : plan.layers) {
    if (layer.kernel == nullptr) continue;
    for (const Kernel::Floats& each : layer.kernel->kernel.of_layers) floats += each.output;
  }
  return floats;
}

// The arrays that hold the others.
std::vector<std::int64_t> array_sizes(const Plan& plan, Keep keep) {
  const std::vector<std::int64_t> maps = map_sizes(plan);
  if (keep == Keep::all) return maps;
  std::vector<std::int64_t> two(2, 0);
  for (std::size_t i = 0; i < maps.size(); ++i) two[i % 2] = std::max(two[i % 2], maps[i]);
  std::erase(two, 0);
  return two;
}

// Sums, bias and ReLU of one layer in double precision, output by output.
class WeightedJudge {
 public:
  WeightedJudge(const Weighted& layer, const LayerWeights& weights, std::span<const float> input,
                conv::Demand demand)
      : layer_(layer), weights_(weights), input_(input), demand_(demand) {
    if (!conv::is_transform(demand)) return;
    // Normwise: the largest cell of all images, the largest sum of a filter's taps.
    double largest = 0;
    for (const float cell : input) largest = std::max(largest, std::fabs(double{cell}));
    const std::int64_t taps = layer.sums.products_per_output();
    for (int k = 0; k < layer.sums.K(); ++k) {
      double sum = 0;
      for (std::int64_t i = 0; i < taps; ++i) {
        sum += std::fabs(double{weights.filters[static_cast<std::size_t>(k * taps + i)]});
      }
      extra_ = std::max(extra_, conv::added_by_transform(demand, largest, sum));
    }
  }

  // `index`: in NCHW. The additions of a bias and of a product are alike: one term more, so C*R*S + 1. ReLU
  // moves no two numbers apart, and a NaN remains one.
  void judge(conv::Comparison& comparison, std::int64_t place, std::int64_t index,
             float found) const {
    const conv::ConvLayer& sums = layer_.sums;
    const conv::OutputReference sum = conv::output_reference(sums, input_, weights_.filters, index);
    const std::int64_t k = index / (std::int64_t{sums.P()} * sums.Q()) % sums.K();
    const double bias = weights_.bias[static_cast<std::size_t>(k)];
    double expected = sum.value + bias;
    if (std::isnan(expected)) {
      const float nan = std::numeric_limits<float>::quiet_NaN();
      comparison.judge_equal_run(place, {&found, 1}, &nan);
      return;
    }
    if (layer_.relu) expected = std::max(expected, 0.0);
    comparison.judge(
        place, found, expected,
        conv::sum_bound(demand_, sum.products + 1, sum.scale + std::fabs(bias), extra_));
  }

 private:
  const Weighted& layer_;
  const LayerWeights& weights_;
  std::span<const float> input_;
  conv::Demand demand_;
  double extra_ = 0;  // by a transform
};

// Where in NCHW lies what lies at `place` in this layout?
std::int64_t nchw_index(const conv::ImagesShape& shape, Layout layout, std::int64_t place) {
  if (layout == Layout::nchw) return place;
  const std::int64_t cells = shape.C * shape.H * shape.W;
  return place % shape.N * cells + place / shape.N;
}

conv::Comparison judge_weighted(const Weighted& layer, const LayerWeights& weights, Layout layout,
                                conv::Demand demand, std::span<const float> input,
                                std::span<const float> output, std::uint64_t seed,
                                std::int64_t products, bool& sampled) {
  const conv::ConvLayer& sums = layer.sums;
  const conv::ImagesShape reads{sums.N(), sums.C(), sums.H(), sums.W()};
  const conv::ImagesShape writes{sums.N(), sums.K(), sums.P(), sums.Q()};
  std::vector<float> turned;
  if (layout == Layout::chwn) {
    turned = conv::rearranged(conv::Images(reads), input, Layout::chwn, Layout::nchw);
    input = turned;
  }
  const WeightedJudge judge(layer, weights, input, demand);
  const auto count = static_cast<std::int64_t>(output.size());
  const std::int64_t affordable = std::max<std::int64_t>(products / sums.products_per_output(), 1);
  sampled = affordable < count;

  // Parts on several threads: part t has the places t, t + threads, ... or as many random ones.
  const std::int64_t threads =
      std::clamp<std::int64_t>(count / 1024, 1, std::max(1u, std::thread::hardware_concurrency()));
  std::vector<conv::Comparison> parts(static_cast<std::size_t>(threads));
  const auto work = [&](std::int64_t t) {
    conv::Random random(seed + static_cast<std::uint64_t>(t));
    const std::int64_t own = ((sampled ? affordable : count) - t + threads - 1) / threads;
    for (std::int64_t i = 0; i < own; ++i) {
      const std::int64_t place =
          sampled ? static_cast<std::int64_t>(random.below(count)) : t + i * threads;
      judge.judge(parts[static_cast<std::size_t>(t)], place, nchw_index(writes, layout, place),
                  output[static_cast<std::size_t>(place)]);
    }
  };
  std::vector<std::thread> others;
  for (std::int64_t t = 1; t < threads; ++t) others.emplace_back(work, t);
  work(0);
  for (std::thread& thread : others) thread.join();
  conv::Comparison all;
  for (const conv::Comparison& part : parts) all.merge(part);
  if (!sampled) return all;
  for (std::size_t i = 0; i < output.size(); ++i) {
    // An infinity or a NaN, the poison among them, is off by infinity.
    if (!std::isfinite(output[i])) all.judge(static_cast<std::int64_t>(i), output[i], 0, 0);
  }
  return all;
}

void add_hazards(Hazards& all, std::vector<Hazard> found, const Kernel& kernel,
                 const std::string& where) {
  for (Hazard& hazard : found) {
    // The compiler names files from the build folder; readers know them from the project's root.
    for (std::string* file : {&hazard.file, &hazard.other_file}) {
      if (const std::size_t at = file->find("stages/"); at != std::string::npos) file->erase(0, at);
    }
    if (all.findings.empty()) all.reason = "first in " + where + ", " + short_name(kernel);
    all.outcome = Outcome::bad;
    all.findings.push_back(std::move(hazard));
  }
}

}  // namespace

DeviceWeights::DeviceWeights(Backend& backend, const Network& network, const Weights& weights) {
  const auto copy = [&](const std::vector<float>& values) -> std::unique_ptr<Array> {
    if (values.empty()) return nullptr;
    auto array = std::make_unique<Array>(backend, values.size());
    array->write(values);
    return array;
  };
  for (std::size_t i = 0; i < network.layers().size(); ++i) {
    filters_.push_back(copy(weights.at(i).filters));
    bias_.push_back(copy(weights.at(i).bias));
  }
}

const float* DeviceWeights::filters(std::size_t layer) const {
  return filters_[layer] ? filters_[layer]->data() : nullptr;
}

const float* DeviceWeights::bias(std::size_t layer) const {
  return bias_[layer] ? bias_[layer]->data() : nullptr;
}

std::int64_t Chain::weight_bytes(const Network& network) { return kFloat * network.weights(); }

std::int64_t Chain::bytes(const Network& network, const Plan& plan, Keep keep) {
  std::int64_t floats = network.input().size() + workspace_of(plan);
  for (const std::int64_t size : array_sizes(plan, keep)) floats += size;
  floats += floats_at_once(plan);
  for (const PlannedLayer& layer : plan.layers) {
    if (layer.kernel != nullptr) floats += layer.kernel->kernel.packed_floats;
  }
  return kFloat * floats;
}

Chain::Chain(Backend& backend, const Network& network, const Plan& plan, const Weights& weights,
             const DeviceWeights& on_device, Keep keep)
    : can_overlap_(plan.can_overlap()),
      backend_(backend),
      network_(network),
      weights_(weights),
      on_device_(on_device) {
  input_ = std::make_unique<Array>(backend, static_cast<std::size_t>(network.input().size()));
  for (const std::int64_t size : array_sizes(plan, keep)) {
    maps_.push_back(std::make_unique<Array>(backend, static_cast<std::size_t>(size)));
  }
  if (const std::int64_t floats = workspace_of(plan); floats > 0) {
    workspace_ = std::make_unique<Array>(backend, static_cast<std::size_t>(floats));
  }
  const std::size_t turns = maps_.size();
  std::size_t turn = 0;
  const Array* before = input_.get();
  const auto add = [&](std::size_t layer, const Option& option, const Option* bias) {
    Step step;
    step.layer = layer;
    step.transform = option.kernel.from != option.kernel.to;
    step.kernel = option.kernel;
    if (bias != nullptr) step.bias = std::make_unique<Kernel>(bias->kernel);
    step.input = before;
    step.output = maps_[turn++ % turns].get();
    step.outputs = static_cast<std::size_t>(option.kernel.output_floats);
    before = step.output;
    steps_.push_back(std::move(step));
  };
  for (std::size_t i = 0; i < plan.layers.size(); ++i) {
    const PlannedLayer& layer = plan.layers[i];
    if (layer.transform != nullptr) add(i, *layer.transform, nullptr);
    if (layer.kernel == nullptr) continue;  // with a layer before
    const std::vector<Kernel::Floats>& several = layer.kernel->kernel.of_layers;
    if (several.empty()) add(i, *layer.kernel, layer.bias);
    for (std::size_t j = 0; j < several.size(); ++j) {
      Step step;
      step.layer = i + j;
      step.kernel = layer.kernel->kernel;
      step.is_done = j > 0;
      step.several = j > 0 ? 0 : static_cast<int>(several.size());
      step.input = before;
      step.outputs = static_cast<std::size_t>(several[j].output);
      maps_.push_back(std::make_unique<Array>(backend, step.outputs));
      before = step.output = maps_.back().get();
      steps_.push_back(std::move(step));
    }
  }
  for (Step& step : steps_) {
    if (!step.is_done && step.kernel.packed_floats > 0) pack(step);
  }
}

void Chain::pack(Step& step) {
  const std::string where = network_.name() + " " + network_.layers()[step.layer].name;
  step.packed =
      std::make_unique<Array>(backend_, static_cast<std::size_t>(step.kernel.packed_floats));
  const Observation seen =
      backend_.run([&] { return step.kernel.pack(arrays_of(step), step.packed->data()); });
  if (!seen.error.empty()) throw std::runtime_error(where + ", packing its filters: " + seen.error);
  // What its own stage would have been told of.
  for (const Hazard& hazard : seen.hazards) {
    throw std::runtime_error(where + ", packing its filters: " + hazard.message);
  }
}

void Chain::set_input(std::span<const float> cells) { input_->write(cells); }

Arrays Chain::arrays_of(const Step& step) const {
  Arrays arrays;
  arrays.input = step.input->data();
  arrays.filters = on_device_.filters(step.layer);
  arrays.bias = on_device_.bias(step.layer);
  arrays.output = step.output->data();
  arrays.workspace = step.kernel.workspace_floats > 0 ? workspace_->data() : nullptr;
  arrays.packed = step.packed ? step.packed->data() : nullptr;
  for (int i = 0; i < step.several; ++i) {
    const Step& each = (&step)[i];
    arrays.of_layers.push_back(
        {on_device_.filters(each.layer), on_device_.bias(each.layer), each.output->data()});
  }
  return arrays;
}

int Chain::launch(const Step& step, bool overlaps) const {
  if (step.is_done) return 0;
  Arrays arrays = arrays_of(step);
  arrays.overlaps = overlaps && step.kernel.can_overlap;
  if (const int error = step.kernel.launch(arrays); error != 0) return error;
  if (!step.bias) return 0;
  arrays.workspace = step.bias->workspace_floats > 0 ? workspace_->data() : nullptr;
  arrays.overlaps = false;
  return step.bias->launch(arrays);
}

int Chain::launch(bool overlaps) const {
  for (const Step& step : steps_) {
    const bool is_first = &step == &steps_.front();
    if (const int error = launch(step, overlaps && !is_first); error != 0) return error;
  }
  return 0;
}

int Chain::launch_layer(std::size_t layer) const {
  for (const Step& step : steps_) {
    if (step.layer != layer) continue;
    if (const int error = launch(step); error != 0) return error;
  }
  return 0;
}

std::vector<float> Chain::output() const {
  return read_all(*steps_.back().output, steps_.back().outputs);
}

std::vector<float> Chain::logits() const {
  return read_all(*steps_.back().input, steps_.back().outputs);
}

conv::Comparison Chain::judge(const Step& step, std::span<const float> input,
                              std::span<const float> output, std::uint64_t seed,
                              std::int64_t products, bool& sampled) const {
  const Layer& layer = network_.layers()[step.layer];
  if (step.transform) {
    const conv::Transform transform(input_of(layer), step.kernel.from);
    return conv::TransformChecker(transform, input).judge(0, output);
  }
  if (const auto* weighted = std::get_if<Weighted>(&layer.work)) {
    return judge_weighted(*weighted, weights_[step.layer], step.kernel.to, step.kernel.demand,
                          input, output, seed, products, sampled);
  }
  if (const auto* pooling = std::get_if<conv::PoolingLayer>(&layer.work)) {
    return conv::PoolingChecker(*pooling, step.kernel.from, input).judge(0, output);
  }
  return conv::SoftmaxChecker(std::get<conv::Softmax>(layer.work), input).judge(0, output);
}

bool Chain::check(const Step& step, LayerVerdict& verdict, std::vector<float>& input,
                  std::uint64_t seed, std::int64_t products) {
  const std::string where = network_.name() + " " + network_.layers()[step.layer].name +
                            (step.transform ? ", transform" : "");
  if (!step.is_done) step.output->poison();
  for (int i = 1; i < step.several; ++i) (&step)[i].output->poison();
  if (workspace_) workspace_->unset();
  const Observation seen = backend_.run([&] { return launch(step); });
  verdict.counted.add(seen.cost);
  add_hazards(verdict.hazards, seen.hazards, step.kernel, where);
  if (!seen.error.empty()) {
    add_failure(verdict.check, where, seen.error);
    return false;
  }
  // Of an array that is larger than the map: as far as a kernel may go astray.
  constexpr std::size_t kBeyond = 4096;
  std::vector<float> output =
      read_all(*step.output, std::min(step.output->size(), step.outputs + kBeyond));
  const auto complain = [&](const std::string& what) {
    Hazard hazard;
    hazard.kind = "stray_write";
    hazard.file = step.kernel.source;
    hazard.count = 1;
    hazard.message = what;
    add_failure(verdict.check, where, what);
    add_hazards(verdict.hazards, {hazard}, step.kernel, where);
  };
  for (std::size_t i = step.outputs; i < output.size(); ++i) {
    if (conv::is_poison(output[i])) continue;
    complain("a cell beyond the output was written, at output[" + std::to_string(i) + "]");
    break;
  }
  output.resize(step.outputs);
  const std::vector<float> after = read_all(*step.input, input.size());
  if (std::memcmp(after.data(), input.data(), input.size() * sizeof(float)) != 0) {
    complain("the input was changed");
  }
  const Array* const arrays[] = {step.output, step.input, workspace_.get(), step.packed.get()};
  const char* const names[] = {"output", "input", "workspace", "packed filters"};
  for (int i = 0; i < 4; ++i) {
    if (arrays[i] == nullptr) continue;
    if (const std::string stray = arrays[i]->stray_write(names[i]); !stray.empty()) complain(stray);
  }
  bool sampled = false;
  const conv::Comparison comparison = judge(step, input, output, seed, products, sampled);
  verdict.sampled |= sampled;
  verdict.check.worst_share = std::max(verdict.check.worst_share, comparison.worst_share);
  if (!comparison.passed()) add_failure(verdict.check, where, comparison.describe());
  input = std::move(output);
  return true;
}

bool Chain::check(std::vector<LayerVerdict>& verdicts, std::uint64_t seed, std::int64_t products,
                  bool repeatable) {
  verdicts.assign(network_.layers().size(), {});
  std::vector<float> cells = read_all(*input_, input_->size());
  std::vector<float> logits;
  for (const Step& step : steps_) {
    if (&step == &steps_.back()) logits = cells;
    if (!check(step, verdicts[step.layer], cells, ++seed, products)) return false;
  }
  for (LayerVerdict& verdict : verdicts) {
    verdict.check.shapes = 1;
    if (verdict.check.outcome == Outcome::not_run) verdict.check.outcome = Outcome::good;
  }

  // And all of it in one go: what a layer leaves to the next must not depend on waiting in between.
  if (!check_in_one_go(verdicts.back(), logits, seed, false, repeatable)) return false;
  // A launch that reads too early does so now and then.
  const int times = can_overlap_ ? (backend_.observes() ? 1 : 5) : 0;
  for (int i = 0; i < times; ++i) {
    if (!check_in_one_go(verdicts.back(), logits, seed, true, repeatable)) return false;
  }
  return true;
}

bool Chain::check_in_one_go(LayerVerdict& last, const std::vector<float>& logits,
                            std::uint64_t seed, bool overlaps, bool repeatable) {
  const std::string where =
      network_.name() + ", all layers in one go" + (overlaps ? ", launches that overlap" : "");
  for (const std::unique_ptr<Array>& map : maps_) map->poison();
  const Observation seen = backend_.run([&] { return launch(overlaps); });
  add_hazards(last.hazards, seen.hazards, steps_.back().kernel, where);
  if (!seen.error.empty()) {
    add_failure(last.check, where, seen.error);
    return false;
  }
  const std::vector<float> again = this->logits();
  const std::vector<float> output = this->output();
  bool sampled = false;
  // All rows of a softmax are judged.
  const conv::Comparison comparison = judge(steps_.back(), again, output, seed, 0, sampled);
  if (!comparison.passed()) add_failure(last.check, where, comparison.describe());
  if (repeatable && (again.size() != logits.size() ||
                     std::memcmp(again.data(), logits.data(), again.size() * sizeof(float)) != 0)) {
    add_failure(last.check, where, "what the softmax reads is not what it was layer by layer");
  }
  return true;
}

bool Chain::predict(std::size_t layer, Cost& cost) const {
  for (const Step& step : steps_) {
    if (step.layer != layer || step.is_done) continue;
    for (const Kernel* kernel : {&step.kernel, static_cast<const Kernel*>(step.bias.get())}) {
      if (kernel == nullptr) continue;
      if (!kernel->cost) return false;
      cost.add(kernel->cost());
    }
  }
  return true;
}

std::string Chain::describe(std::size_t layer) const {
  std::string text;
  for (const Step& step : steps_) {
    if (step.layer != layer) continue;
    const std::string to = step.kernel.to == Layout::nchw ? "NCHW" : "CHWN";
    if (step.is_done) return "with the layers before, by " + short_name(step.kernel);
    if (!text.empty()) text += ", then ";
    text += step.transform ? "to " + to + " by " + short_name(step.kernel)
                           : short_name(step.kernel) + " in " + to;
    const std::string inside = step.kernel.detail ? step.kernel.detail() : "";
    if (!inside.empty()) text += " (" + inside + ")";
    if (step.bias) text += ", then " + short_name(*step.bias);
  }
  return text;
}

}  // namespace halo::network
