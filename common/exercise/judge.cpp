#include "common/exercise/judge.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "common/conv/accuracy.hpp"
#include "common/conv/inputs.hpp"
#include "common/conv/sectors.hpp"
#include "common/harness/core/check.hpp"
#include "common/harness/families/expected_outputs.hpp"
#include "common/report/command_line.hpp"
#include "common/report/table.hpp"
#include "common/report/text.hpp"

namespace halo::exercises {

// ---- What is asked ----

void Given::refuse(std::string_view name) {
  throw std::logic_error("no number " + std::string(name));
}

const std::string& Given::name_of(int input) const {
  return inputs_->at(static_cast<std::size_t>(input)).name;
}

double Given::common(std::int64_t index) const {
  return common_->at(static_cast<std::size_t>(index));
}

void Output::note_product(std::initializer_list<Cell> factors) {
  for (const Cell& factor : factors) use(factor);
  if (reads_ == nullptr) return;
  std::string words;
  for (const Cell& factor : factors) {
    words += (words.empty() ? "" : " * ") + given_.name_of(factor.input) + "[" +
             std::to_string(factor.index) + "]";
  }
  reads_->push_back(words);
}

void Output::is(double value, double bound, const std::vector<Cell>& from) {
  value_ = value;
  given_bound_ = bound;
  for (const Cell& cell : from) use(cell);
  if (reads_ == nullptr || from.empty()) return;
  // No sum: of each array its cells, of many the first and the last.
  std::string cells;
  for (std::size_t i = 0, end = 0; i < from.size(); i = end) {
    while (end < from.size() && from[end].input == from[i].input) ++end;
    const bool are_few = end - i <= 4;
    const char* between = i == 0 ? "" : end < from.size() ? ", " : " and ";
    for (std::size_t k = i; k < end; ++k) {
      if (k > i && (from[k].index == from[k - 1].index || (!are_few && k + 1 < end))) continue;
      cells += between + given_.name_of(from[k].input) + "[" + std::to_string(from[k].index) + "]";
      between = are_few ? ", " : " ... ";
    }
  }
  reads_->push_back(cells);
}

Owner one_output_per_thread(const Given& given, std::int64_t output) {
  return {output / given["threads"], output % given["threads"]};
}

std::vector<conv::Period> blocks_and_warps(const Given& given) {
  return {{"block", given["threads"]}, {"warp", 32}};
}

double Output::bound() const {
  return terms_ > 0 ? conv::error_bound(terms_ + roundings_, scale_) : given_bound_;
}

namespace {

Measure sum_of(std::string what, std::vector<std::string> counters, double factor,
               bool per_output) {
  Measure measure;
  measure.what = std::move(what);
  measure.counters = std::move(counters);
  measure.of = [names = measure.counters, factor, per_output](const Cost& cost, double outputs) {
    double sum = 0;
    for (const simt::CounterField& field : simt::counter_fields()) {
      if (std::find(names.begin(), names.end(), field.name) == names.end()) continue;
      sum += static_cast<double>(cost.*field.member);
    }
    return sum * factor / (per_output ? outputs : 1);
  };
  return measure;
}

// `plain`, and what `others` says of the ways that it does not see.
Measure with_others(const Measure& plain, double (*others)(const Cost&)) {
  Measure all = plain;
  all.of = [of = plain.of, others](const Cost& cost, double outputs) {
    return of(cost, outputs) + others(cost);
  };
  return all;
}

double hidden_requests(const Cost& cost) { return static_cast<double>(cost.other.hidden_requests); }

}  // namespace

Measure Measure::divided_by(double number, std::string name) const {
  return {std::move(name),
          [whole = of, number](const Cost& cost, double outputs) {
            return whole(cost, outputs) / number;
          },
          counters};
}

Measure bytes_per_output() {
  const Measure sectors = sum_of(
      "bytes per output",
      {"global_load_sectors", "global_store_sectors", "bulk_load_sectors", "bulk_store_sectors"},
      conv::kSectorBytes, true);
  const Measure by_atomics =
      sum_of("", {"global_atomic_requests"}, 32.0 * conv::kSectorBytes, true);
  Measure both = sectors;
  both.of = [of = sectors.of, more = by_atomics.of](const Cost& cost, double outputs) {
    return of(cost, outputs) + more(cost, outputs);
  };
  return both;
}
Measure stored_bytes_per_output() {
  return sum_of("bytes stored per output", {"global_store_sectors", "bulk_store_sectors"},
                conv::kSectorBytes, true);
}
Measure load_requests() {
  return sum_of("load requests",
                {"global_load_requests", "bulk_load_requests", "global_atomic_requests"}, 1, false);
}
Measure store_requests() {
  return sum_of("store requests", {"global_store_requests", "bulk_store_requests"}, 1, false);
}
Measure atomics() {
  return with_others(
      sum_of("atomics",
             {"global_atomic_requests", "shared_atomic_requests", "dshared_atomic_requests"}, 1,
             false),
      hidden_requests);
}
Measure local_bytes_per_output() {
  return {"bytes of local memory per output",
          [](const Cost& cost, double outputs) {
            return conv::kSectorBytes * static_cast<double>(cost.other.local_sectors) / outputs;
          },
          {"local_sectors"}};
}
Measure shared_bytes() {
  return {"bytes of shared memory of a block",
          [](const Cost& cost, double) {
            std::uint64_t most = 0;
            for (const LaunchFigures& alike : cost.launches) {
              most = std::max(most, alike.shared_bytes);
            }
            return static_cast<double>(most);
          },
          {}};
}

namespace {

constexpr double kWarpLanes = 32;
constexpr double kSectorsOfWavefront = 4;

double counted_atomics_on_chip(const Cost& cost) {
  return static_cast<double>(cost.shared_atomic_requests + cost.dshared_atomic_requests);
}
// And what is as costly.
double atomics_on_chip(const Cost& cost) {
  return counted_atomics_on_chip(cost) + hidden_requests(cost);
}

// Passes through banks that are not counted as such: of an atomic request one a lane, and of another block's shared memory,
// where sectors are counted, four of them, or one a request.
double wavefronts_by_other_ways(const Cost& cost) {
  return kWarpLanes * atomics_on_chip(cost) +
         std::max(static_cast<double>(cost.dshared_load_sectors + cost.dshared_store_sectors) /
                      kSectorsOfWavefront,
                  static_cast<double>(cost.dshared_load_requests + cost.dshared_store_requests));
}

}  // namespace

Measure shared_conflicts() {
  return with_others(
      sum_of("bank conflicts",
             {"shared_load_conflicts", "shared_store_conflicts", "shared_atomic_requests",
              "dshared_atomic_requests"},
             1, false),
      [](const Cost& cost) {
        // Of an atomic request all lanes but one, itself counted above unless no counter knows of it; of
        // others a wavefront is none.
        const auto requests =
            static_cast<double>(cost.dshared_load_requests + cost.dshared_store_requests);
        return std::max(0.0, wavefronts_by_other_ways(cost) - requests - atomics_on_chip(cost) -
                                 counted_atomics_on_chip(cost));
      });
}
Measure shared_requests() {
  return with_others(
      sum_of("shared-memory requests",
             {"shared_load_requests", "shared_store_requests", "shared_atomic_requests",
              "dshared_load_requests", "dshared_store_requests", "dshared_atomic_requests"},
             1, false),
      hidden_requests);
}
Measure shared_wavefronts() {
  return with_others(
      sum_of("shared-memory wavefronts",
             {"shared_load_wavefronts", "shared_store_wavefronts", "wgmma_wavefronts"}, 1, false),
      wavefronts_by_other_ways);
}
Measure constant_reads() {
  return sum_of("reads of constant memory", {"constant_load_requests"}, 1, false);
}
Measure barriers() {
  return with_others(sum_of("barriers", {"barriers"}, 1, false),
                     [](const Cost& cost) { return static_cast<double>(cost.other.waits); });
}

Measure launches() {
  return {"kernel launches",
          [](const Cost& cost, double) {
            double sum = 0;
            for (const LaunchFigures& alike : cost.launches) {
              sum += static_cast<double>(alike.launches);
            }
            return sum;
          },
          {}};
}

Measure outputs_per_thread() {
  return {"outputs per thread",
          [](const Cost& cost, double outputs) {
            double threads = 0;
            for (const LaunchFigures& alike : cost.launches) {
              threads += static_cast<double>(alike.launches * alike.blocks * alike.threads);
            }
            return threads > 0 ? outputs / threads : 0;
          },
          {}};
}
Measure outputs_per_working_thread() {
  return {"outputs for each thread at work",
          [](const Cost& cost, double outputs) {
            const auto all = static_cast<double>(cost.other.products);
            const auto most = static_cast<double>(cost.other.most_products);
            return all > 0 ? outputs * most / (all * kWarpLanes) : 0;
          },
          {}};
}
Measure idle_warps() {
  return {"times the average of a block's warps that its busiest one does (share the work)",
          [](const Cost& cost, double) {
            const auto all = static_cast<double>(cost.other.instructions);
            return all > 0 ? static_cast<double>(cost.other.if_all_worked) / all : 0;
          },
          {}};
}
Measure idle_lanes() {
  return {"lanes of a warp for each that takes part (share the work)",
          [](const Cost& cost, double) {
            const auto all = static_cast<double>(cost.other.lane_instructions);
            return all > 0 ? kWarpLanes * static_cast<double>(cost.other.instructions) / all : 0;
          },
          {}};
}
Measure instructions_per_output() {
  return {"instructions per output",
          [](const Cost& cost, double outputs) {
            return kWarpLanes * static_cast<double>(cost.other.instructions) / outputs;
          },
          {}};
}
Measure products_per_output() {
  return {"multiplications per output",
          [](const Cost& cost, double outputs) {
            return kWarpLanes * static_cast<double>(cost.other.products) / outputs;
          },
          {}};
}
Measure shuffles() {
  return {"shuffles",
          [](const Cost& cost, double) { return static_cast<double>(cost.other.shuffles); },
          {}};
}
Measure host_loads() {
  return {"loads per output",
          [](const Cost& cost, double outputs) {
            return static_cast<double>(cost.host.loads) / outputs;
          },
          {}};
}
Measure host_stores() {
  return {"stores per output",
          [](const Cost& cost, double outputs) {
            return static_cast<double>(cost.host.stores) / outputs;
          },
          {}};
}
Measure host_values() {
  return {"values at once",
          [](const Cost& cost, double) { return static_cast<double>(cost.host.values); },
          {}};
}

Measure extra_memory() {
  return {"bytes not freed",
          [](const Cost& cost, double) { return static_cast<double>(cost.unfreed_bytes); },
          {}};
}

namespace {

constexpr const char* kCopied = "bytes copied by the call";

}  // namespace

Measure copied_bytes() {
  return {
      kCopied, [](const Cost& cost, double) { return static_cast<double>(cost.copied_bytes); }, {}};
}

std::int64_t sectors_of_warp(const std::function<std::int64_t(std::int64_t lane)>& cell_of) {
  constexpr std::int64_t kLanes = 32;
  std::array<std::int64_t, kLanes> sectors{};
  auto end = sectors.begin();
  for (std::int64_t lane = 0; lane < kLanes; ++lane) {
    const std::int64_t cell = cell_of(lane);
    if (cell < 0) continue;
    if (std::find(sectors.begin(), end, cell / conv::kSectorFloats) != end) continue;
    *end++ = cell / conv::kSectorFloats;
  }
  return end - sectors.begin();
}

Rule operator*(double factor, Rule rule) {
  return [factor, rule = std::move(rule)](const Given& problem) { return factor * rule(problem); };
}

// ---- Problems of a contract, as the harness knows problems ----

namespace {

std::vector<float> random_values(std::int64_t size, std::uint64_t seed, int whole) {
  conv::Random random(seed);
  std::vector<float> values(static_cast<std::size_t>(size));
  for (float& value : values) {
    const std::uint64_t bits = random.bits();
    const double magnitude =
        whole > 0 ? 1 + static_cast<double>((bits >> 1) % static_cast<std::uint64_t>(whole))
                  : 0.125 + 0.875 * static_cast<double>((bits >> 1) % 1'000'003) / 1'000'003;
    value = static_cast<float>((bits & 1) != 0 ? -magnitude : magnitude);
  }
  return values;
}

class ExerciseProblem final : public AnyProblem {
 public:
  ExerciseProblem(const Contract& contract, Numbers numbers)
      : contract_(contract), numbers_(std::move(numbers)) {}
  const Numbers& numbers() const { return numbers_; }
  Given given() const { return {contract_.numbers, numbers_}; }

  std::string label() const override { return {}; }
  std::string describe() const override {
    std::string text;
    for (std::size_t i = 0; i < numbers_.size(); ++i) {
      text += (i == 0 ? "" : ", ") + contract_.numbers[i] + " " + with_commas(numbers_[i]);
    }
    return text;
  }
  Problem fields() const override {
    Problem fields;
    for (std::size_t i = 0; i < numbers_.size(); ++i) {
      fields.emplace_back(contract_.numbers[i], std::int64_t{numbers_[i]});
    }
    return fields;
  }
  std::vector<std::int64_t> input_sizes() const override {
    std::vector<std::int64_t> sizes;
    for (const InputRule& input : contract_.inputs) sizes.push_back(input.size(given()));
    return sizes;
  }
  std::int64_t output_size() const override { return contract_.output_size(given()); }
  std::int64_t min_bytes() const override { return call_bytes(*this); }
  std::int64_t flops() const override { return output_size(); }
  Work work() const override { return {output_size(), "outputs"}; }
  bool reaches_roof() const override { return false; }
  std::int64_t held_floats() const override { return call_bytes(*this) / 4; }
  double bench_weight() const override { return 1; }

  std::vector<DataKind> kinds() const override {
    const bool exact = std::all_of(contract_.inputs.begin(), contract_.inputs.end(),
                                   [](const InputRule& rule) { return rule.most_exact > 0; });
    if (!exact) return {{DataKind::Of::ordinary}};
    return {{DataKind::Of::exact}, {DataKind::Of::ordinary}};
  }
  DatasetPtr data(DataKind kind, std::uint64_t seed, std::int64_t) const override {
    const bool exact = kind.of == DataKind::Of::exact;
    return expecting(make_inputs(seed, exact), exact);
  }
  DatasetPtr turned(const Dataset& data) const override {
    std::vector<InputValues> inputs = data.inputs();
    bool has_mask = false;
    for (InputValues& input : inputs) {
      if (!input.name.ends_with("mask")) continue;
      std::reverse(input.values.begin(), input.values.end());
      has_mask = true;
    }
    return has_mask ? expecting(std::move(inputs), false) : nullptr;
  }
  DatasetPtr expecting(std::vector<InputValues> inputs, bool exact) const {
    std::vector<ExpectedOutput> expected(static_cast<std::size_t>(output_size()));
    const std::vector<double> common = prepared(inputs);
    const Given known(given(), inputs, &common);
    for (std::size_t i = 0; i < expected.size(); ++i) {
      Output output(known);
      contract_.define(known, static_cast<std::int64_t>(i), output);
      expected[i] = {output.value(), exact ? 0 : output.bound(), false, output.is_untouched()};
    }
    return data_of(std::move(inputs), std::move(expected), exact);
  }

  // What every right kernel moves at least: each output stored that is not 0 (those a cudaMemset may have
  // written) and each cell loaded that an output comes from.
  struct Least {
    double stored = 0;
    double loaded = 0;
    double products = 0;  // however they are shared: one an output
  };
  Least least(std::uint64_t seed) const {
    const std::vector<InputValues> inputs = make_inputs(seed, false);
    const std::vector<double> common = prepared(inputs);
    const Given known(given(), inputs, &common);
    std::vector<std::vector<bool>> used;
    for (const InputValues& input : inputs) used.emplace_back(input.values.size());
    Least least;
    for (std::int64_t i = 0; i < output_size(); ++i) {
      Output output(known, nullptr, &used);
      contract_.define(known, i, output);
      least.stored += output.is_untouched() || output.value() == 0 ? 0 : 1;
      least.products += output.multiplies() ? 1 : 0;
    }
    for (const std::vector<bool>& cells : used) {
      least.loaded += static_cast<double>(std::count(cells.begin(), cells.end(), true));
    }
    return least;
  }

  // What these limits say of it with the inputs of this seed.
  struct Figures {
    double allowed = 0, usual = 0, each = 0;
  };
  std::vector<Figures> figures_of(const std::vector<Limit>& limits, std::uint64_t seed) const {
    const std::vector<InputValues> inputs = make_inputs(seed, false);
    const Given known(given(), inputs);
    std::vector<Figures> figures;
    for (const Limit& limit : limits) {
      figures.push_back({limit.allowed(known), limit.usual(known), limit.each(known)});
    }
    return figures;
  }

  // Data that nobody will judge.
  DatasetPtr inputs_only(std::uint64_t seed) const {
    return data_of(make_inputs(seed, false), {}, false);
  }

  std::vector<conv::OutputAxis> output_axes(conv::Layout) const override {
    if (contract_.axes) return contract_.axes(given());
    return {{"", "", output_size()}};
  }
  std::vector<conv::Period> periods() const override {
    return contract_.periods ? contract_.periods(given()) : std::vector<conv::Period>{};
  }
  std::vector<Trait> traits() const override {
    return contract_.traits ? contract_.traits(given()) : std::vector<Trait>{};
  }
  std::string origin(std::int64_t output) const override {
    std::string text;
    if (contract_.owner) {
      const Owner owner = contract_.owner(given(), output);
      text = "thread " + std::to_string(owner.thread) + " of block " + std::to_string(owner.block) +
             " computes it";
    }
    // The cells that it reads, whatever they hold.
    std::vector<InputValues> inputs;
    for (const InputRule& rule : contract_.inputs) {
      const std::int64_t size = rule.size(given());
      inputs.push_back({rule.name, std::vector<float>(static_cast<std::size_t>(size), 1.0f), size});
    }
    std::vector<std::string> reads;
    const std::vector<double> common = prepared(inputs);
    const Given known(given(), inputs, &common);
    Output definition(known, &reads);
    contract_.define(known, output, definition);
    constexpr std::size_t kMost = 3;
    if (reads.empty()) return text;
    text += (text.empty() ? "it comes from " : ", from ");
    for (std::size_t i = 0; i < std::min(reads.size(), kMost); ++i) {
      text += (i == 0 ? "" : " + ") + reads[i];
    }
    if (reads.size() > kMost) text += " + ... (" + std::to_string(reads.size()) + " terms)";
    return text;
  }

 private:
  static DatasetPtr data_of(std::vector<InputValues> inputs, std::vector<ExpectedOutput> expected,
                            bool exact) {
    return std::make_shared<ExpectedData>(std::move(inputs), std::move(expected),
                                          ExpectedData::Arrange(), ExpectedData::Arrange(), exact);
  }
  std::vector<double> prepared(const std::vector<InputValues>& inputs) const {
    return contract_.prepare ? contract_.prepare(Given(given(), inputs)) : std::vector<double>{};
  }
  std::vector<InputValues> make_inputs(std::uint64_t seed, bool exact) const {
    std::vector<InputValues> inputs;
    for (const InputRule& rule : contract_.inputs) {
      const std::int64_t size = rule.size(given());
      const std::uint64_t own = seed * 31 + inputs.size();
      inputs.push_back({rule.name,
                        rule.make ? rule.make(given(), own, exact)
                                  : random_values(size, own, exact ? rule.most_exact : 0),
                        size});
    }
    return inputs;
  }

  const Contract& contract_;
  Numbers numbers_;
};

}  // namespace

// ---- What came of it ----

namespace {

// Whole numbers whole, others with four digits.
std::string figure(double value) {
  const auto whole = static_cast<std::int64_t>(value);
  return static_cast<double>(whole) == value ? with_commas(whole) : rounded(value, 4);
}

}  // namespace

constexpr const char* kWithoutKernel =
    "no kernel was launched: the outputs are right, and were computed elsewhere";

struct Check::State {
  State(const Contract& asked, const WorkerCommand& command, const std::string& file,
        std::uint64_t of_data)
      : contract(asked), backend(command), source(file), seed(of_data) {
    const RemoteBackend::Parameters wanted{
        static_cast<int>(contract.inputs.size()), contract.outputs,
        static_cast<int>(contract.numbers.size()), contract.on_the_host};
    if (wanted.on_the_host != backend.parameters().on_the_host) {
      throw std::runtime_error(source + ": the exercise asks for " +
                               (wanted.on_the_host
                                    ? "a function of the host: Exercise::on_the_host names it"
                                    : "kernels, and this is a function of the host"));
    }
    if (!(backend.parameters() == wanted)) {
      throw std::runtime_error(
          source + ": launch has other parameters than the exercise asks for: " + words(wanted) +
          "; this one has " + words(backend.parameters()));
    }
    variant.name = "yours";
    variant.source = source;
    variant.prepared = [this](const AnyProblem& problem) {
      AnyPrepared made;
      static_cast<About&>(made) = variant;
      made.launch =
          [this, places = places_of(problem),
           numbers = static_cast<const ExerciseProblem&>(problem).numbers()](const AnyCall& call) {
            const int error = backend.call(inputs_of(call), parts_of(call, places),
                                           static_cast<std::size_t>(places), numbers);
            const Observation& seen = backend.last();
            if (seen.error.empty() && seen.cost.launches.empty()) without_kernel = true;
            if (too_few_bytes.empty()) too_few_bytes = elements_for_bytes(numbers, seen.cost);
            if (exchanged.empty()) exchanged = blocks_for_threads(numbers, seen.cost);
            return error;
          };
      return made;
    };
    groups = contract.groups;
    if (contract.draw) {
      conv::Random random(seed);
      constexpr int kDrawn = 4;
      for (int i = 0; i < kDrawn; ++i) {
        groups.back().problems.push_back(contract.draw(Draw(random.bits() >> 1)));
      }
    }
  }

  // Of a call that copies as many bytes as its masks have elements: that it does. Else empty.
  std::string elements_for_bytes(const Numbers& numbers, const Cost& cost) const {
    for (const Limit& limit : contract.besides) {
      if (limit.measure.what != kCopied || cost.copied_bytes == 0) continue;
      const double usual = limit.usual(Given(contract.numbers, numbers));
      const auto copied = static_cast<double>(cost.copied_bytes);
      if (copied * sizeof(float) != usual) continue;
      return "Bytes or elements? The call copies " + figure(copied) +
             " bytes, and its masks have " + figure(usual) + ": sizeof is missing";
    }
    return {};
  }

  // Of a call that starts as many blocks as a block is to have threads: that it does. Else empty.
  std::string blocks_for_threads(const Numbers& numbers, const Cost& cost) const {
    const auto& names = contract.numbers;
    const auto at = std::find(names.begin(), names.end(), "threads");
    if (at == names.end()) return {};
    const auto asked =
        static_cast<std::uint64_t>(numbers[static_cast<std::size_t>(at - names.begin())]);
    for (const LaunchFigures& launch : cost.launches) {
      if (launch.blocks != asked || launch.threads == asked) continue;
      return "The launch has " + std::to_string(launch.blocks) + " blocks of " +
             std::to_string(launch.threads) + " threads, and threads is " + std::to_string(asked) +
             ": the order is <<<blocks, threads>>>";
    }
    return {};
  }

  static std::string words(const RemoteBackend::Parameters& parameters) {
    const auto count = [](int number, const char* word) {
      return std::to_string(number) + " " + word + (number == 1 ? "" : "s");
    };
    return count(parameters.inputs, "input") + ", " + count(parameters.outputs, "output") + ", " +
           count(parameters.numbers, "number");
  }

  std::vector<const float*> inputs_of(const AnyCall& call) const {
    return {call.inputs.begin(),
            call.inputs.begin() + static_cast<std::ptrdiff_t>(contract.inputs.size())};
  }

  // Outputs, of several arrays those of one.
  std::int64_t places_of(const AnyProblem& problem) const {
    return problem.output_size() / contract.outputs;
  }

  // Where its outputs begin, of so many cells each.
  std::vector<float*> parts_of(const AnyCall& call, std::int64_t places) const {
    std::vector<float*> parts;
    for (int i = 0; i < contract.outputs; ++i) parts.push_back(call.output + i * places);
    return parts;
  }

  Row empty_row(const std::string& what) const {
    Row row;
    row.stage = contract.name;
    row.backend = backend.name();
    row.variant = what;
    row.source = source;
    return row;
  }

  const Row& tried(const std::string& name) {
    if (const auto known = rows.find(name); known != rows.end()) return known->second;
    const auto group = std::find_if(groups.begin(), groups.end(),
                                    [&](const Group& one) { return one.name == name; });
    if (group == groups.end()) throw std::logic_error("no group " + name);
    return rows.emplace(name, row_of(name, group->problems)).first->second;
  }

  Row row_of(const std::string& name, const std::vector<Numbers>& problems) {
    std::vector<AnyTrial> trials;
    for (const Numbers& numbers : problems) {
      trials.emplace_back(std::make_shared<ExerciseProblem>(contract, numbers));
    }
    Row row = empty_row(name);
    Progress silent;
    without_kernel = false;
    too_few_bytes.clear();
    exchanged.clear();
    check_trials(variant, backend, trials, seed, row, silent);
    if (!backend.hindrance().empty()) {
      row = empty_row(name);
      row.check.reason = row.hazards.reason = kNoVerdict + backend.hindrance();
      return row;
    }
    if (without_kernel && !contract.on_the_host && backend.not_counted().empty()) {
      if (row.check.outcome == Outcome::good) {
        row.check.outcome = Outcome::bad;
        row.check.reason = kWithoutKernel;
      }
      row.check.diagnosis.pattern = "no kernel was launched";
    }
    if (row.check.outcome == Outcome::bad && !too_few_bytes.empty()) {
      row.check.diagnosis.pattern = too_few_bytes;
    } else if (row.check.outcome == Outcome::bad && !exchanged.empty()) {
      row.check.diagnosis.pattern = exchanged;
    }
    return row;
  }

  bool is_right(const Group& group) { return tried(group.name).check.outcome == Outcome::good; }
  bool any_right() {
    return std::any_of(groups.begin(), groups.end(),
                       [&](const Group& group) { return is_right(group); });
  }

  bool all_right() {
    return std::all_of(groups.begin(), groups.end(),
                       [&](const Group& group) { return is_right(group); });
  }

  // One launch: what it cost and left, or why it is not right.
  struct Observed {
    std::string error;  // empty: it is right, and the others are known
    Cost cost;
    std::vector<LineCounts> lines;
    std::vector<float> outputs;
  };
  const Observed& observed(const Numbers& numbers) {
    auto known = observations.find(numbers);
    if (known == observations.end()) {
      const ExerciseProblem problem(contract, numbers);
      Row row = empty_row("budget");
      SavedOutputs outputs;
      check_problem(variant, backend, problem, seed, row, {}, &outputs);
      known = observations.emplace(numbers, Observed()).first;
      Observed& observed = known->second;
      if (row.check.outcome == Outcome::good) {
        observed.cost = backend.last().cost;
        observed.lines = backend.last().lines;
        observed.outputs = std::move(outputs.front());
      } else {
        observed.error = row.check.reason;
        rows.emplace("budget", std::move(row));
      }
    }
    return known->second;
  }

  // Several budgets ask for it, and it takes as long as the expected outputs.
  const ExerciseProblem::Least& least(const ExerciseProblem& problem) {
    const auto known = leasts.find(problem.numbers());
    if (known != leasts.end()) return known->second;
    return leasts.emplace(problem.numbers(), problem.least(seed)).first->second;
  }

  const Contract& contract;
  RemoteBackend backend;
  std::string source;
  std::uint64_t seed;
  AnyVariant variant;
  bool without_kernel = false;  // a call of the last row did without
  std::string too_few_bytes;    // of the first call of the last row that copied elements for bytes
  std::string exchanged;        // and of that which had blocks for threads
  std::vector<Group> groups;
  conv::Random of_hidden{~seed};  // the problems that are drawn for hidden cases
  std::map<std::string, Row> rows;
  std::map<Numbers, Observed> observations;
  std::map<Numbers, ExerciseProblem::Least> leasts;
};

Check::Check(const Contract& contract, const std::string& program, const std::string& source,
             std::uint64_t seed)
    : Check(contract, WorkerCommand{{program}}, source, seed) {}

Check::Check(const Contract& contract, const WorkerCommand& command, const std::string& source,
             std::uint64_t seed)
    : state_(std::make_unique<State>(contract, command, source, seed)) {}

Check::~Check() = default;

std::string Check::backend() const { return state_->backend.name(); }

std::string Check::unavailable() const { return state_->backend.unavailable(); }

const std::string& Check::hindrance() const { return state_->backend.hindrance(); }

void Check::set_patience(int seconds) { state_->backend.set_patience(seconds); }

namespace {

// The machine hindered it: what was judged before stands, and this is not judged.
bool is_no_verdict(const Row& row) { return row.check.reason.starts_with(kNoVerdict); }

}  // namespace

Verdict Check::right(const std::string& group) {
  const Row& row = state_->tried(group);
  if (row.check.outcome == Outcome::good) return {Outcome::good, ""};
  if (is_no_verdict(row)) return {Outcome::not_run, row.check.reason};
  const Diagnosis& known = row.check.diagnosis;
  std::string message = row.check.reason.substr(0, row.check.reason.find('\n'));
  if (!known.place.empty()) {
    message = known.smallest + ": " + wrong_output(known);
  }
  return {Outcome::bad, message};
}

namespace {

// What went wrong, in words that tell nothing of the problem: not what a program says itself either, which may
// have read its input.
std::string in_general(const Row& row) {
  if (row.check.outcome == Outcome::bad) {
    if (!row.check.diagnosis.place.empty()) return "a wrong output";
    for (const auto& [words, general] : {
             std::pair{"it gave no sign of life", "the program gave no sign of life"},
             {"it ended by signal", "the program was ended by a signal"},
             {"it ended itself", "the program ended itself"},
             {"it took more than", "the program took too much time or memory"},
             {"does not answer as one", "the program does not answer as one"},
             {"no kernel was launched", "no kernel was launched"},
         }) {
      if (row.check.reason.find(words) != std::string::npos) return general;
    }
    if (row.hazards.findings.empty()) return "the call failed, or not all came out right";
  }
  std::string kind = row.hazards.findings.front().kind;
  std::replace(kind.begin(), kind.end(), '_', ' ');
  const auto is_known = [&](const std::vector<std::string>& kinds) {
    return std::find(kinds.begin(), kinds.end(), row.hazards.findings.front().kind) != kinds.end();
  };
  return is_known(kOrder) || is_known(kMemory) ? "a finding: " + kind : "a finding";
}

}  // namespace

void require_possible(const Contract& contract, const std::vector<Numbers>& problems, int drawn) {
  // A quarter of a gigabyte.
  constexpr std::int64_t kMostCells = std::int64_t{1} << 26;
  const auto fail = [&](const std::string& what) {
    throw std::runtime_error("a problem of " + contract.name + " " + what);
  };
  if (drawn > 0 && !contract.draw) fail("cannot be drawn: name its numbers in \"problems\"");
  for (const Numbers& numbers : problems) {
    if (numbers.size() != contract.numbers.size()) {
      std::string names;
      for (const std::string& name : contract.numbers) names += (names.empty() ? "" : ",") + name;
      fail("has " + std::to_string(numbers.size()) + " numbers, should have " +
           std::to_string(contract.numbers.size()) + ": " + names);
    }
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      // What the exercise's own cases have: no padding, say, or a mask with a middle.
      const auto any_own = [&](auto is_so) {
        return std::any_of(contract.groups.begin(), contract.groups.end(), [&](const Group& group) {
          return std::any_of(group.problems.begin(), group.problems.end(),
                             [&](const Numbers& own) { return is_so(own[i]); });
        });
      };
      const bool may_be_none = any_own([](std::int64_t own) { return own == 0; });
      const std::string what = "has " + contract.numbers[i] + " " + std::to_string(numbers[i]);
      if (numbers[i] < (may_be_none ? 0 : 1) || numbers[i] > kMostCells) {
        fail(what + ", should be " + (may_be_none ? "0" : "1") + " to " +
             std::to_string(kMostCells));
      }
      if (numbers[i] % 2 == 0 && !any_own([](std::int64_t own) { return own % 2 == 0; })) {
        fail(what + ", should be odd, as in all of the exercise's own cases");
      }
    }
    const Given given(contract.numbers, numbers);
    std::vector<std::int64_t> sizes = {contract.output_size(given)};
    for (const InputRule& input : contract.inputs) sizes.push_back(input.size(given));
    for (const std::int64_t size : sizes) {
      if (size >= 1 && size <= kMostCells) continue;
      fail("has an array of " + std::to_string(size) + " cells, should be 1 to " +
           std::to_string(kMostCells));
    }
  }
}

Verdict Check::right_hidden(const std::vector<Numbers>& problems, int drawn) {
  State& state = *state_;
  const Contract& contract = state.contract;
  require_possible(contract, problems, drawn);
  std::vector<Numbers> all = problems;
  for (int i = 0; i < drawn; ++i) all.push_back(contract.draw(Draw(state.of_hidden.bits() >> 1)));
  if (!state.any_right()) return {Outcome::not_run, "judged once another case is right"};
  const Row row = state.row_of("hidden", all);
  if (is_no_verdict(row)) return {Outcome::not_run, row.check.reason};
  if (row.check.outcome == Outcome::not_run) return {Outcome::not_run, "it could not be run"};
  if (row.check.outcome == Outcome::good && row.hazards.outcome != Outcome::bad) {
    return {Outcome::good, ""};
  }
  return {Outcome::bad, in_general(row)};
}

namespace {

// The file of the exercise in a sentence of the simulator's, without the folders before the repository.
std::string named_from_root(std::string sentence, const std::string& source) {
  for (std::size_t at = 0; (at = sentence.find("/" + source, at)) != std::string::npos;) {
    const std::size_t space = sentence.rfind(' ', at);
    const std::size_t begin = space == std::string::npos ? 0 : space + 1;
    sentence.erase(begin, at + 1 - begin);
    at = begin + source.size();
  }
  return sentence;
}

}  // namespace

Verdict Check::safe(const std::vector<std::string>& kinds) {
  State& state = *state_;
  if (const std::string reason = state.backend.not_searched(); !reason.empty()) {
    return {Outcome::not_run, reason};
  }
  for (const Group& group : state.groups) {
    const Row& row = state.tried(group.name);
    if (is_no_verdict(row)) return {Outcome::not_run, row.check.reason};
    for (const Hazard& hazard : row.hazards.findings) {
      const bool asked =
          kinds.empty() || std::find(kinds.begin(), kinds.end(), hazard.kind) != kinds.end();
      if (asked) return {Outcome::bad, named_from_root(hazard.message, state.source)};
    }
  }
  // What computes nothing is not safe by that.
  const std::string& first = state.groups.front().name;
  if (state.tried(first).check.outcome != Outcome::good) {
    return {Outcome::not_run, "judged once \"" + first + "\" is right"};
  }
  for (const Group& group : state.groups) {
    // What broke off was not searched to its end.
    if (state.tried(group.name).hazards.outcome == Outcome::not_run) {
      return {Outcome::bad, "\"" + group.name + "\" did not finish"};
    }
  }
  return {Outcome::good, ""};
}

namespace {

// The line that has most of these counters.
void find_line(const std::vector<LineCounts>& lines, const Measure& measure, double total,
               BudgetLine& line) {
  std::uint64_t most = 0;
  std::uint64_t all = 0;
  for (const LineCounts& counts : lines) {
    std::uint64_t sum = 0;
    for (const auto& [name, value] : counts.counted) {
      const auto& names = measure.counters;
      if (std::find(names.begin(), names.end(), name) != names.end()) sum += value;
    }
    all += sum;
    if (sum <= most) continue;
    most = sum;
    line.file = counts.file;
    line.line = counts.line;
  }
  if (all > 0) line.of_line = total * static_cast<double>(most) / static_cast<double>(all);
}

}  // namespace

namespace {

// Why no kernel that computes the outputs can have cost so little; empty: one can. Sectors have 8 cells; what goes
// through constant memory, 64 KiB of it, is not counted in sectors.
std::string too_little(const Cost& cost, double stored, double loaded, double multiplied,
                       bool on_the_host) {
  const auto than = [](const char* what, double counted, double least) {
    return std::string(what) + " " + figure(counted) + ", and it takes " + figure(least) +
           " at least";
  };
  if (on_the_host) {
    const auto loads = static_cast<double>(cost.host.loads);
    const auto stores = static_cast<double>(cost.host.stores);
    if (loads < loaded) return than("loads", loads, loaded);
    if (stores < stored) return than("stores", stores, stored);
    if (cost.host.values < 1) return "no value was ever held";
    return {};
  }
  double launches = 0;
  for (const LaunchFigures& alike : cost.launches) {
    if (alike.blocks > 0 && alike.threads > 0) launches += static_cast<double>(alike.launches);
  }
  if (launches < 1) return "no kernel was launched";
  constexpr double kCellsOfSector = 8;
  constexpr double kConstantCells = 16'384;
  const auto store_sectors =
      static_cast<double>(cost.global_store_sectors + cost.bulk_store_sectors);
  // An atomic request serves 32 lanes at most.
  const double by_atomics = 32 * static_cast<double>(cost.global_atomic_requests);
  const double least_stores = std::ceil(std::max(stored - by_atomics, 0.0) / kCellsOfSector);
  if (store_sectors < least_stores) {
    return than("sectors stored:", store_sectors, least_stores);
  }
  const auto load_sectors = static_cast<double>(cost.global_load_sectors + cost.bulk_load_sectors);
  const double least_loads = std::ceil(std::max(loaded - kConstantCells, 0.0) / kCellsOfSector);
  if (load_sectors < least_loads) return than("sectors loaded:", load_sectors, least_loads);
  if (loaded > 0 && cost.global_load_requests + cost.bulk_load_requests +
                            cost.constant_load_requests + cost.global_atomic_requests ==
                        0) {
    return "nothing was loaded";
  }
  // Whole numbers that are multiplied in the place of floating-point ones are not.
  const double products = kWarpLanes * static_cast<double>(cost.other.products);
  if (products < multiplied) return than("multiplications", products, multiplied);
  return {};
}

}  // namespace

Verdict Check::within(const Numbers& problem, const std::vector<Limit>& limits) {
  State& state = *state_;
  if (const std::string reason = state.backend.not_counted(); !reason.empty()) {
    return {Outcome::not_run, reason};
  }
  if (!state.all_right()) return {Outcome::not_run, "judged once it is right"};
  const State::Observed& seen = state.observed(problem);
  if (const std::string& why = state.backend.hindrance(); !why.empty()) {
    return {Outcome::not_run, kNoVerdict + why};
  }
  if (!seen.error.empty()) return {Outcome::bad, seen.error};
  const ExerciseProblem known(state.contract, problem);
  const ExerciseProblem::Least& least = state.least(known);
  if (const std::string why = too_little(seen.cost, least.stored, least.loaded, least.products,
                                         state.contract.on_the_host);
      !why.empty()) {
    return {Outcome::bad,
            "its counts are forged, or not of these outputs: " + why +
                (state.contract.on_the_host ? " (what memcpy and casts move is not counted)" : "")};
  }
  Verdict verdict{Outcome::good, ""};
  std::vector<Limit> all = limits;
  all.insert(all.end(), state.contract.besides.begin(), state.contract.besides.end());
  if (!state.contract.on_the_host) {
    all.push_back({idle_warps(), kMostIdleWarps * state.contract.idle, state.contract.idle});
    all.push_back({idle_lanes(), kMostIdleLanes * state.contract.idle, state.contract.idle});
  }
  const std::vector<ExerciseProblem::Figures> figures = known.figures_of(all, state.seed);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Limit& limit = all[i];
    BudgetLine line;
    line.what = limit.measure.what;
    line.counted =
        limit.measure.of(seen.cost, static_cast<double>(state.places_of(known))) / figures[i].each;
    line.allowed = figures[i].allowed;
    line.predicted = figures[i].usual;
    // A rule is a product of fractions, rounded.
    line.met = line.counted <= line.allowed * (1 + 1e-9);
    if (line.met && i >= limits.size()) continue;
    line.problem = problem;
    find_line(seen.lines, limit.measure, line.counted, line);
    if (line.file.ends_with("/" + state.source)) line.file = state.source;
    if (!line.met && verdict.outcome == Outcome::good) {
      verdict.outcome = Outcome::bad;
      verdict.message = line.what + ": " + figure(line.counted) + ", at most " +
                        figure(line.allowed) + " with " + known.describe();
    }
    verdict.budget.push_back(std::move(line));
  }
  return verdict;
}

Verdict Check::within_hidden(const std::vector<Numbers>& problems) {
  State& state = *state_;
  require_possible(state.contract, problems, 0);
  for (const Numbers& problem : problems) {
    for (const Budget& budget : state.contract.budgets) {
      const Verdict verdict = within(problem, budget.limits);
      if (verdict.outcome == Outcome::not_run) return {Outcome::not_run, verdict.message};
      if (verdict.outcome == Outcome::good) continue;
      state.rows.erase("budget");  // what it says of its problem is not told
      if (verdict.budget.empty()) return {Outcome::bad, "the call failed, or was not counted"};
      const auto over =
          std::find_if(verdict.budget.begin(), verdict.budget.end(), [](const BudgetLine& line) {
            return line.counted > line.allowed * kSlackOfHiddenBudgets;
          });
      if (over == verdict.budget.end()) continue;
      return {Outcome::bad, "more " + over->what + " than the budget allows"};
    }
  }
  return {Outcome::good, ""};
}

Case<Check> safe(std::string name, double points, std::vector<std::string> kinds) {
  return {std::move(name), Category::safety, points,
          [kinds = std::move(kinds)](Check& check) { return check.safe(kinds); }};
}

std::vector<Question> questions_of(const Contract& contract) {
  std::vector<Question> questions;
  for (const Asked& asked : contract.questions) {
    questions.push_back({asked.key, asked.answer, asked.tolerance});
  }
  return questions;
}

std::vector<Question> Check::questions() {
  State& state = *state_;
  std::vector<Question> questions = questions_of(state.contract);
  if (!state.backend.not_counted().empty() || !state.all_right()) return questions;
  for (std::size_t i = 0; i < questions.size(); ++i) {
    const Asked& asked = state.contract.questions[i];
    const State::Observed& seen = state.observed(asked.problem);
    if (!seen.error.empty()) continue;
    if (!asked.measure.of) {
      questions[i].counted = seen.outputs.at(static_cast<std::size_t>(asked.output));
      continue;
    }
    const ExerciseProblem problem(state.contract, asked.problem);
    questions[i].counted =
        asked.measure.of(seen.cost, static_cast<double>(state.places_of(problem))) / asked.share;
  }
  return questions;
}

std::vector<Row> Check::faults() const {
  std::vector<Row> faults;
  for (const Group& group : state_->groups) {
    const auto known = state_->rows.find(group.name);
    if (known == state_->rows.end()) continue;
    const Row& row = known->second;
    if (row.check.outcome == Outcome::bad || row.hazards.outcome == Outcome::bad ||
        row.printed.total > 0) {
      faults.push_back(row);
    }
  }
  if (const auto budget = state_->rows.find("budget"); budget != state_->rows.end()) {
    faults.push_back(budget->second);
  }
  return faults;
}

namespace {

// Of a row that no kernel has come to: why; else empty.
std::string why_not_run(const Row& row, const RemoteBackend& backend) {
  const bool has_outputs = row.check.outcome != Outcome::bad || !row.check.diagnosis.place.empty();
  if (has_outputs || backend.last().kernels > 0) return "";
  return row.check.reason.substr(0, row.check.reason.find('\n'));
}

}  // namespace

FirstFault Check::first_fault() {
  State& state = *state_;
  FirstFault first{state.groups.front().problems.front(), {0, 0}, "all is right"};
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  for (const Group& group : state.groups) {
    const Row& all = state.tried(group.name);
    if (all.check.outcome == Outcome::good && all.hazards.outcome != Outcome::bad) continue;
    for (const Numbers& numbers : group.problems) {
      const ExerciseProblem problem(state.contract, numbers);
      if (call_bytes(problem) >= least) continue;
      Row row = state.empty_row("debug");
      SavedOutputs outputs;
      check_problem(state.variant, state.backend, problem, state.seed, row, {}, &outputs);
      const bool is_right = row.check.outcome == Outcome::good;
      if (is_right && row.hazards.outcome != Outcome::bad) continue;
      least = call_bytes(problem);
      const std::string why = why_not_run(row, state.backend);
      first = {
          numbers, {0, 0}, why.empty() ? problem.describe() + ": it does not come out right" : why};
      if (is_right) {
        const Hazard& hazard = row.hazards.findings.front();
        // Where it stops is told; the advice, by the check.
        first.words =
            problem.describe() + ": " + hazard.message.substr(0, hazard.message.find(". "));
        first.owner = {hazard.block[0], hazard.thread[0]};
        continue;
      }
      const DatasetPtr data = static_cast<const AnyProblem&>(problem).data({}, state.seed);
      const Judge judge = data->judge(conv::Layout::nchw, conv::Demand::bounded);
      const std::int64_t output = outputs.empty() ? -1 : judge(0, outputs.front()).first_failure;
      if (output < 0) continue;
      first.words = problem.describe() + ": output[" + std::to_string(output) + "] is wrong";
      if (state.contract.owner) first.owner = state.contract.owner(problem.given(), output);
    }
  }
  return first;
}

std::string Check::run_once(const Numbers& numbers) {
  Row row = state_->empty_row("debug");
  const ExerciseProblem problem(state_->contract, numbers);
  check_problem(state_->variant, state_->backend, problem, state_->seed, row);
  return why_not_run(row, state_->backend);
}

Numbers Check::telling_problem() const {
  const Contract& contract = state_->contract;
  for (auto asked = contract.questions.rbegin(); asked != contract.questions.rend(); ++asked) {
    if (asked->measure.of && !asked->problem.empty()) return asked->problem;
  }
  const Numbers* largest = &contract.groups.front().problems.front();
  for (const Group& group : contract.groups) {
    for (const Numbers& numbers : group.problems) {
      if (call_bytes(ExerciseProblem(contract, numbers)) >
          call_bytes(ExerciseProblem(contract, *largest))) {
        largest = &numbers;
      }
    }
  }
  return *largest;
}

namespace {

// Microseconds of rounds, sorted.
struct Rounds {
  std::vector<double> us;
  double median() const { return us[us.size() / 2]; }
  std::string words() const {
    return rounded(median()) + " us (" + rounded(us.front()) + " to " + rounded(us.back()) + ")";
  }
};

}  // namespace

std::string Check::time(const WorkerCommand& beside) {
  State& state = *state_;
  const Numbers& numbers = state.contract.timed;
  if (numbers.empty() || !state.backend.times() || !state.all_right()) return {};
  const ExerciseProblem problem(state.contract, numbers);
  const DatasetPtr data = problem.inputs_only(state.seed);
  // A program's arrays, and its rounds.
  const auto ready = [&](RemoteBackend& backend) {
    auto arrays = std::make_shared<ProblemArrays>(backend, problem);
    arrays->hold(*data, conv::Layout::nchw);
    return [&state, &backend, &numbers, arrays, places = state.places_of(problem)] {
      constexpr int kCalls = 50;
      const AnyCall call = arrays->call(conv::Layout::nchw);
      Rounds rounds{
          backend.time(state.inputs_of(call), state.parts_of(call, places), numbers, kCalls)};
      for (double& time : rounds.us) time *= 1000;  // from milliseconds
      std::sort(rounds.us.begin(), rounds.us.end());
      return rounds;
    };
  };
  const auto rate = [&](const Rounds& rounds) {
    return rounded(static_cast<double>(problem.min_bytes()) / rounds.median() / 1e3) +
           " GB/s of what must be moved";
  };
  const auto yours = ready(state.backend);
  if (beside.words.empty()) {
    const Rounds rounds = yours();
    return rounds.words() + " with " + problem.describe() + ": " + rate(rounds);
  }
  RemoteBackend other(beside);
  const auto course = ready(other);
  // In turn, so that what the GPU does beside meets both.
  constexpr int kTurns = 5;
  std::vector<double> ratios;
  Rounds own, its;
  for (int turn = 0; turn < kTurns; ++turn) {
    own = yours();
    its = course();
    ratios.push_back(own.median() / its.median());
  }
  std::sort(ratios.begin(), ratios.end());
  return rounded(ratios[kTurns / 2]) + " of the time of the course's kernel (" +
         rounded(ratios.front()) + " to " + rounded(ratios.back()) + " in " +
         std::to_string(kTurns) + " turns) with " + problem.describe() + ": " + own.words() +
         ", the course's " + its.words() + "; " + rate(own);
}

}  // namespace halo::exercises
