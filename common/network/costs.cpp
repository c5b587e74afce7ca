#include "common/network/costs.hpp"

#include <algorithm>
#include <chrono>
#include <map>

#include "common/conv/inputs.hpp"
#include "common/harness/core/candidates.hpp"

namespace halo::network {

namespace {

using conv::Layout;

// Which kernel on which problem.
std::string key_of(const Kernel& kernel) {
  return kernel.stage + " " + kernel.name + " " + kernel.problem + " " + to_string(kernel.from);
}

class Counted final : public CostSource {
  // Predictions of kernels with more temporaries take minutes, and these kernels move them twice.
  static constexpr std::int64_t kMostTemporaries = std::int64_t{1} << 24;

 public:
  std::string unit() const override { return "MB"; }
  std::string describe() const override {
    return "Costs are counted, not timed: megabytes of global sectors (32 bytes each) and of "
           "passes "
           "through shared memory (128/6 bytes each), as predicted for the simulator.";
  }
  Price price(const Kernel& kernel, double) override {
    if (kernel.workspace_floats > kMostTemporaries) {
      return {kNever, "not counted: over 64 MiB of temporaries"};
    }
    if (!kernel.cost) return {kNever, "not counted"};
    const auto [known, fresh] = known_.try_emplace(key_of(kernel));
    if (fresh) known->second = {counted_bytes(kernel.cost()) * 1e-6, ""};
    return known->second;
  }

 private:
  std::map<std::string, Price> known_;
};

class Measured final : public CostSource {
 public:
  explicit Measured(Backend& backend) : backend_(backend) {}

  std::string unit() const override { return "us"; }
  std::string describe() const override {
    return "Costs are measured here: microseconds of a call among serial calls.";
  }
  Price price(const Kernel& kernel, double best) override {
    const auto [known, fresh] = known_.try_emplace(key_of(kernel));
    if (fresh) known->second = measure(kernel, best);
    return known->second;
  }
  void release() override {
    for (auto* array : {&input_, &filters_, &bias_, &output_, &workspace_, &packed_}) {
      array->reset();
    }
  }

 private:
  static constexpr double kHopeless = 10;  // times the best so far
  static constexpr double kRoundUs = 2000;
  static constexpr int kRounds = 3;

  // Random numbers, whatever a kernel takes them for.
  void fill(Array& array) {
    if (values_.empty()) {
      conv::Random random(7);
      values_.resize(std::size_t{1} << 20);
      for (float& value : values_) {
        value = static_cast<float>(static_cast<double>(random.below(2'000'001)) / 1e6 - 1);
      }
    }
    for (std::size_t at = 0; at < array.size(); at += values_.size()) {
      array.write(std::span(values_).first(std::min(values_.size(), array.size() - at)), at);
    }
  }
  // The array, with at least so many floats; kept from kernel to kernel, since most of a network's layers
  // fit into those of the largest.
  float* at_least(std::unique_ptr<Array>& array, std::int64_t floats) {
    if (floats == 0) return nullptr;
    const auto wanted = static_cast<std::size_t>(floats);
    if (!array || array->size() < wanted) {
      array.reset();
      array = std::make_unique<Array>(backend_, wanted);
      fill(*array);
    }
    return array->data();
  }

  Price measure(const Kernel& kernel, double best) {
    try {
      // Of a kernel of several layers: their arrays one behind the other, each where an array may begin.
      std::int64_t filters = kernel.filters_floats, biases = kernel.bias_floats;
      std::int64_t outputs = kernel.output_floats;
      std::vector<std::array<std::int64_t, 3>> places;  // of filters, bias and output of each
      for (const Kernel::Floats& layer : kernel.of_layers) {
        places.push_back({filters, biases, outputs});
        constexpr std::int64_t kAligned = 64;
        const auto whole = [](std::int64_t floats) {
          return (floats + kAligned - 1) / kAligned * kAligned;
        };
        filters += whole(layer.filters), biases += whole(layer.bias),
            outputs += whole(layer.output);
      }
      const std::int64_t floats = kernel.input_floats + filters + biases + outputs +
                                  kernel.workspace_floats + kernel.packed_floats;
      if (std::string why = too_large_for_memory("it", 0, floats * 4, backend_); !why.empty()) {
        // The arrays of the kernels before may be what is in the way.
        release();
        why = too_large_for_memory("it", 0, floats * 4, backend_);
        if (!why.empty()) return {kNever, why};
      }
      Arrays arrays{at_least(input_, kernel.input_floats), at_least(filters_, filters),
                    at_least(bias_, biases), at_least(output_, outputs),
                    at_least(workspace_, kernel.workspace_floats)};
      float* const output = arrays.output;
      for (const auto& [filter, bias, map] : places) {
        arrays.of_layers.push_back({arrays.filters + filter, arrays.bias + bias, output + map});
      }
      if (kernel.packed_floats > 0) {
        float* const packed = at_least(packed_, kernel.packed_floats);
        const Observation packing = backend_.run([&] { return kernel.pack(arrays, packed); });
        if (!packing.error.empty()) {
          backend_.recover();
          release();
          return {kNever, "packing its filters: " + packing.error};
        }
        arrays.packed = packed;
      }
      return timed(kernel, arrays, best);
    } catch (const std::runtime_error& error) {
      release();
      return {kNever, error.what()};
    }
  }

  Price timed(const Kernel& kernel, const Arrays& arrays, double best) {
    const auto start = std::chrono::steady_clock::now();
    const Observation first = backend_.run([&] { return kernel.launch(arrays); });
    if (!first.error.empty()) {
      if (!first.unsupported) {
        backend_.recover();
        release();
      }
      return {kNever, first.unsupported && kernel.detail ? kernel.detail() : first.error};
    }
    const std::chrono::duration<double, std::micro> once = std::chrono::steady_clock::now() - start;
    // The first call loads code, some milliseconds: what takes more is the kernel.
    constexpr double kLoadingUs = 20000;
    if (once.count() > kHopeless * best + kLoadingUs) return {once.count(), "after one call"};
    const auto launch = [&](int) { return kernel.launch(arrays); };
    const double one = backend_.batch(launch, 1)->run() * 1e3;
    const int calls = std::clamp(static_cast<int>(kRoundUs / std::max(one, 0.1)), 1, 200);
    const std::unique_ptr<Batch> batch = backend_.batch(launch, calls);
    batch->run();
    std::vector<double> rounds;
    for (int round = 0; round < kRounds; ++round) rounds.push_back(batch->run() * 1e3 / calls);
    std::sort(rounds.begin(), rounds.end());
    return {rounds[kRounds / 2], ""};
  }

  Backend& backend_;
  std::vector<float> values_;
  std::unique_ptr<Array> input_, filters_, bias_, output_, workspace_, packed_;
  std::map<std::string, Price> known_;
};

}  // namespace

double counted_bytes(const simt::Counters& counters) {
  return kBytesOfSector *
             static_cast<double>(counters.global_load_sectors + counters.global_store_sectors) +
         kBytesOfWavefront * static_cast<double>(counters.shared_load_wavefronts +
                                                 counters.shared_store_wavefronts +
                                                 counters.constant_load_requests);
}

std::unique_ptr<CostSource> counted_costs() { return std::make_unique<Counted>(); }

std::unique_ptr<CostSource> measured_costs(Backend& backend) {
  return std::make_unique<Measured>(backend);
}

Costs price_network(const Network& network, const MakeCatalogue& make, CostSource& source,
                    Progress& progress) {
  Costs costs{network, source.unit(), {}};
  for (std::size_t i = 0; i < network.layers().size(); ++i) {
    const Layer& layer = network.layers()[i];
    progress.show(network.name() + " " + layer.name + ": what its kernels cost");
    const Catalogue catalogue = make();
    LayerOptions options;
    const auto priced = [&](std::vector<Kernel> kernels) {
      std::vector<Option> list;
      std::array<double, 2> best{kNever, kNever};
      for (Kernel& kernel : kernels) {
        double& least = best[static_cast<std::size_t>(kernel.from)];
        Price price = source.price(kernel, least);
        least = std::min(least, price.cost);
        list.push_back({std::move(kernel), std::move(price)});
      }
      return list;
    };
    options.kernels = priced(kernels_for(catalogue, layer));
    options.several = priced(several_kernels_for(catalogue, network.layers(), i));
    options.same_memory = same_memory(input_of(layer));
    options.needs_bias = std::holds_alternative<Weighted>(layer.work);
    for (const Layout layout : {Layout::nchw, Layout::chwn}) {
      const auto index = static_cast<std::size_t>(layout);
      options.bias[index] = priced(bias_kernels_for(catalogue, layer, layout));
      if (options.same_memory) continue;
      options.transforms[index] = priced(transforms_for(catalogue, input_of(layer), other(layout)));
    }
    costs.layers.push_back(std::move(options));
  }
  source.release();
  return costs;
}

}  // namespace halo::network
