// The 1D family: its problems and data, the shapes that are tried, the published sizes, and the options
// of its programs.
#include "common/harness/families/conv1d.hpp"

#include <sys/sysinfo.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "common/conv/inputs.hpp"
#include "common/data/bu_report.hpp"
#include "common/data/mask.hpp"
#include "common/data/signal.hpp"
#include "common/harness/core/typed_impl.hpp"
#include "common/harness/families/expected_outputs.hpp"
#include "common/harness/families/trials.hpp"
#include "common/harness/program_options.hpp"

namespace halo {

namespace {

// Products beyond which the reference is computed for one period of repeating data.
constexpr std::int64_t kPeriodicProducts = 200'000'000;
constexpr int kMaxThreads = 1024;
// Problems shorter than this reach no roof: measuring one would take longer than they do.
constexpr std::int64_t kRoofLength = 100'000;

// The lengths of the report's tables, and its block. The report's mask has 3 taps.
constexpr int kReportLengths[] = {1'000, 100'000, 10'000'000, 1'000'000'000};
constexpr int kReportThreads = 16;
// What `halo bench` adds: masks from where memory is the limit to where arithmetic is; on a GPU some
// of them with a billion cells. (On a CPU the widest take minutes and tell nothing new.)
struct BenchSize {
  int length;
  int mask_width;
  bool on_cpu;
};
constexpr BenchSize kBenchSizes[] = {
    {10'000'000, 3, true},      {10'000'000, 9, true},       {10'000'000, 31, true},
    {10'000'000, 63, true},     {10'000'000, 255, false},    {10'000'000, 1023, false},
    {1'000'000'000, 3, false},  {1'000'000'000, 9, false},   {1'000'000'000, 31, false},
    {1'000'000'000, 63, false}, {1'000'000'000, 255, false},
};

class Conv1dData final : public Dataset {
 public:
  Conv1dData(const Conv1dProblem& problem, std::vector<float> input, std::vector<float> mask,
             bool exact, std::int64_t period)
      : Dataset({{"input", std::move(input), problem.length},
                 {"mask", std::move(mask), problem.mask_width}},
                exact),
        problem_(problem.problem),
        period_(period) {}

  Judge judge(conv::Layout, conv::Demand demand) const override {
    return [checker = conv::Checker(problem_, inputs()[0].values, inputs()[1].values, demand,
                                    period_)](std::int64_t first, std::span<const float> cells) {
      return checker.judge(first, cells);
    };
  }
  // A copy has the input where a convolution has its outputs, bit for bit.
  Judge judge_copy() const override {
    return
        [this](std::int64_t first, std::span<const float> cells) { return copied(first, cells); };
  }

 private:
  conv::Comparison copied(std::int64_t first, std::span<const float> cells) const {
    const float* const values = &inputs()[0].values[static_cast<std::size_t>(first)];
    const std::int64_t begin = problem_.first_output();
    const std::int64_t end = problem_.end_output();
    conv::Comparison comparison;
    if (first >= begin && first + static_cast<std::int64_t>(cells.size()) <= end) {
      comparison.judge_bits_run(first, cells, values);
      return comparison;
    }
    for (std::size_t at = 0; at < cells.size(); ++at) {
      const std::int64_t index = first + static_cast<std::int64_t>(at);
      if (index < begin || index >= end) {
        comparison.judge_untouched(index, cells[at]);
      } else {
        comparison.judge(index, cells[at], values[at], 0);
      }
    }
    return comparison;
  }

  conv::Problem1d problem_;
  std::int64_t period_;
};

// What output i is to be; cell(k) and tap(j) are the data.
template <class Cell, class Tap>
ExpectedOutput expected_of(const Conv1dProblem& given, std::int64_t i, bool multiplies_ghosts,
                           Cell cell, Tap tap) {
  ExpectedOutput expected;
  expected.untouched = i < given.first || i >= given.last;
  double scale = 0;
  for (int j = 0; j < given.mask_width; ++j) {
    const std::int64_t k = i - given.halo() + j;
    const double factor = tap(j);
    if (k >= 0 && k < given.length) {
      const double product = cell(k) * factor;
      expected.value += product;
      scale += std::fabs(product);
    } else if (multiplies_ghosts && !std::isfinite(factor)) {
      expected.may_be_nan = true;
    }
  }
  if (std::isfinite(scale)) expected.bound = conv::error_bound(given.mask_width, scale);
  // A sum that meets an infinity may do more with it than add: Kahan's subtracts it from itself.
  if (std::isinf(expected.value)) expected.may_be_nan = true;
  return expected;
}

DatasetPtr special_data(const Conv1dProblem& given, int number, std::uint64_t seed) {
  std::vector<float> input = conv::adversarial_input(given.problem, seed, 0);
  std::vector<float> mask = conv::adversarial_mask(given.problem, seed);
  number == 1 ? strew(input, 40, seed) : strew(mask, 40, seed);
  std::vector<ExpectedOutput> expected(static_cast<std::size_t>(given.length));
  for (std::size_t i = 0; i < expected.size(); ++i) {
    expected[i] = expected_of(
        given, static_cast<std::int64_t>(i), number == 3,
        [&](std::int64_t k) { return input[static_cast<std::size_t>(k)]; },
        [&](int j) { return mask[static_cast<std::size_t>(j)]; });
  }
  return std::make_shared<ExpectedData>(
      std::vector<InputValues>{{"input", std::move(input), given.length},
                               {"mask", std::move(mask), given.mask_width}},
      std::move(expected));
}

DatasetPtr sparse_data(const Conv1dProblem& given, std::uint64_t seed) {
  return std::make_shared<SparseData>(
      std::vector<InputValues>{sparse_values("input", given.length, seed),
                               sparse_values("mask", given.mask_width, seed + 1)},
      [given](const SparseData& data, conv::Layout, std::int64_t i) {
        return expected_of(
            given, i, false, [&](std::int64_t k) { return data(0, k); },
            [&](int j) { return data(1, j); });
      });
}

}  // namespace

template <>
class FamilyProblem<Conv1dProblem> final : public AnyProblem {
 public:
  // `mask`: its taps, if they are given; else they are random.
  explicit FamilyProblem(const Conv1dProblem& given,
                         std::shared_ptr<const std::vector<float>> mask = nullptr)
      : given_(given), mask_(std::move(mask)) {}
  const Conv1dProblem& given() const { return given_; }

  std::string label() const override { return {}; }
  std::string describe() const override {
    std::string text = "length " + with_commas(given_.length) + ", mask " +
                       std::to_string(given_.mask_width) + ", " + std::to_string(given_.threads) +
                       (given_.threads == 1 ? " thread" : " threads");
    if (given_.problem.border() == conv::Border::report) text += ", the report's border";
    return text;
  }
  Problem fields() const override {
    return {{"length", std::int64_t{given_.length}},
            {"mask_width", std::int64_t{given_.mask_width}},
            {"threads", std::int64_t{given_.threads}},
            {"border", conv::to_string(given_.problem.border())}};
  }
  std::vector<std::int64_t> input_sizes() const override {
    return {given_.length, given_.mask_width};
  }
  std::int64_t output_size() const override { return given_.length; }
  std::int64_t computed_outputs() const override { return given_.last - given_.first; }
  std::int64_t min_bytes() const override { return conv::min_bytes(given_.problem); }
  std::int64_t flops() const override { return conv::flops(given_.problem); }
  Work work() const override { return {conv::products(given_.problem), "products"}; }
  bool reaches_roof() const override { return given_.length >= kRoofLength; }
  std::int64_t held_floats() const override { return given_.length; }
  double bench_weight() const override { return static_cast<double>(given_.length); }

  std::vector<DataKind> kinds() const override {
    std::vector<DataKind> all = {{DataKind::Of::exact}, {DataKind::Of::ordinary}};
    if (conv::products(given_.problem) <= kMostSpecialProducts) {
      for (const int number : {1, 2, 3}) all.push_back({DataKind::Of::special, number});
    }
    return all;
  }
  DatasetPtr data(DataKind kind, std::uint64_t seed, std::int64_t) const override {
    const conv::Problem1d& problem = given_.problem;
    if (kind.of == DataKind::Of::special) return special_data(given_, kind.number, seed);
    if (kind.of == DataKind::Of::sparse) return sparse_data(given_, seed);
    if (kind.of == DataKind::Of::exact) {
      return std::make_shared<Conv1dData>(given_, conv::exact_input(problem, seed),
                                          conv::exact_mask(problem, seed), true, 0);
    }
    const std::int64_t period = conv::products(problem) > kPeriodicProducts ? conv::kPeriod : 0;
    return std::make_shared<Conv1dData>(given_, conv::adversarial_input(problem, seed, period),
                                        mask_ ? *mask_ : conv::adversarial_mask(problem, seed),
                                        false, period);
  }
  std::string options() const override {
    std::string text = "--length " + std::to_string(given_.length) + " --mask " +
                       std::to_string(given_.mask_width) + " --threads " +
                       std::to_string(given_.threads);
    if (given_.problem.border() == conv::Border::report) text += " --border report";
    return text;
  }
  std::vector<conv::Period> periods() const override {
    return {{"block", given_.threads}, {"warp", 32}};
  }
  std::vector<Trait> traits() const override {
    const Conv1dProblem& it = given_;
    const int halo = it.mask_width / 2;
    return {
        {"mask 1", "masks wider than 1", it.mask_width == 1},
        {"lengths that are a multiple of the block's threads",
         "lengths that are not a multiple of the block's threads", it.length % it.threads == 0},
        {"a single block", "several blocks", it.length <= it.threads},
        {"halos no wider than a block", "halos wider than a block", halo <= it.threads},
        {"signals at least as long as the mask", "masks longer than the signal",
         it.length >= it.mask_width},
        {"blocks of whole warps", "blocks that are not of whole warps", it.threads % 32 == 0},
        {"the report's border", "zeros beyond the border",
         it.problem.border() == conv::Border::report},
        {"lengths that are a multiple of 4", "lengths that are not a multiple of 4",
         it.length % 4 == 0},
        {"blocks of one thread", "blocks of several threads", it.threads == 1},
        {"blocks of a warp or less", "blocks of more than a warp", it.threads <= 32},
    };
  }
  DatasetPtr turned(const Dataset& data) const override {
    if (!all_finite(data)) return nullptr;
    std::vector<float> mask = data.inputs()[1].values;
    std::reverse(mask.begin(), mask.end());
    if (mask == data.inputs()[1].values) return nullptr;
    if (data.inputs()[0].values.size() != static_cast<std::size_t>(given_.length)) return nullptr;
    return std::make_shared<Conv1dData>(given_, data.inputs()[0].values, std::move(mask),
                                        data.exact(), 0);
  }
  Published published(int task) const override {
    // The report's own set-up.
    if (given_.mask_width != 3 || given_.threads != 16) return {};
    const auto line = data::bu_report_line(task, given_.length);
    if (!line) return {};
    return {"BU report, Table " + std::to_string(line->table) + ", Tesla V100-SXM2",
            {{"cpu_ms", line->cpu_ms}, {"gpu_ms", line->gpu_ms}}};
  }

 private:
  Conv1dProblem given_;
  std::shared_ptr<const std::vector<float>> mask_;
};

template <>
Conv1dCall call_of(const Conv1dProblem& problem, const AnyCall& any) {
  Conv1dCall call;
  static_cast<Conv1dShape&>(call) = problem;
  call.input = any.inputs[0];
  call.mask = any.inputs[1];
  call.output = any.output;
  return call;
}

Conv1dProblem::Conv1dProblem(const conv::Problem1d& given, int with_threads) : problem(given) {
  length = static_cast<int>(given.length());
  mask_width = given.mask_width();
  first = static_cast<int>(given.first_output());
  last = static_cast<int>(given.end_output());
  threads = with_threads;
}

Conv1dProblem::Conv1dProblem(int length, int mask_width, int threads, conv::Border border)
    : Conv1dProblem(conv::Problem1d(length, mask_width, border), threads) {}

std::string label(const Conv1dProblem& problem) {
  return std::to_string(problem.length) + " cells, " + std::to_string(problem.mask_width) +
         " taps, " + std::to_string(problem.threads) + " threads";
}

DatasetPtr conv1d_data(const Conv1dProblem& problem, std::vector<float> input,
                       std::vector<float> mask) {
  return std::make_shared<Conv1dData>(problem, std::move(input), std::move(mask), false, 0);
}

static_assert(kMaxMaskWidth == conv::kMaxMaskWidth);

void add(Conv1dStage& stage, const char* name, const char* source, const Conv1dKernel& kernel) {
  auto variant = described<Conv1dProblem>(name, source, kernel);
  variant.demand = demand_of(kernel.arithmetic);
  variant.task = kernel.task;
  variant.prepare = [kernel, why = up_to_taps(kernel.widest_mask)](const Conv1dProblem& problem) {
    Prepared<Conv1dProblem> made;
    made.refusal = why(problem);
    if (kernel.launch != nullptr) made.launch = kernel.launch;
    if (kernel.set_mask != nullptr) {
      made.set_up = [set = kernel.set_mask, width = problem.mask_width](const float* mask) {
        return set(mask, width);
      };
    }
    return made;
  };
  variant.tiles = [tile = kernel.tile](const Conv1dProblem& problem) {
    return std::vector<TileSizes>{{.cells = tile ? tile(problem.mask_width) : problem.threads}};
  };
  variant.multiplies_ghosts = kernel.multiplies_ghosts;
  stage.variants.push_back(std::move(variant));
}

RefusesSignal up_to_taps(int widest_mask) {
  return [widest_mask](const Conv1dProblem& problem) -> std::string {
    if (problem.mask_width <= widest_mask) return {};
    return "it is made for masks of up to " + std::to_string(widest_mask) + " taps";
  };
}

RefusesSignal up_to_products(std::int64_t most, std::string reason) {
  return [most, reason = std::move(reason)](const Conv1dProblem& problem) {
    return conv::products(problem.problem) > most ? reason : "";
  };
}

template <>
std::vector<Conv1dProblem> adversarial(std::uint64_t seed) {
  constexpr auto kReport = conv::Border::report;
  constexpr int kWidest = conv::kMaxMaskWidth;
  std::vector<Conv1dProblem> trials = {
      // length, mask, threads
      {1, 1, 1},
      {1, 1, 32},
      {1, 9, 256},  // one output, the mask is all halo
      {2, 3, 1},    // blocks of one thread
      {3, 7, 16},   // the mask is wider than the signal
      {5, 9, 4},
      {7, 3, 2},
      {8, 15, 8},
      {16, 3, 16},  // the report's block, one block exactly
      {31, 5, 32},  // one short of a warp
      {32, 33, 32},
      {33, 1, 33},  // a mask of one tap: no halo
      {33, 3, 16},
      {63, 127, 64},
      {64, 3, 64},
      {97, 31, 33},  // a warp and one thread
      {100, 99, 7},
      {127, 5, 128},
      {128, 129, 128},
      {129, 9, 128},  // one output in the last block
      {131, 129, 48},
      {211, 63, 1},
      {255, 15, 100},
      {256, 9, 256},
      {257, 3, 256},
      {257, 63, 33},
      {300, kWidest, 1024},
      {509, 255, 96},
      {1000, 3, 16},  // the report's smallest problem and its default block
      {1021, 31, 31},
      {1024, 9, 1024},
      {1025, 9, 1024},
      {1200, kWidest, 64},  // a halo of eight blocks on each side
      {1999, 101, 333},
      {2053, 5, 1000},
      {4099, 9, 256},
      {66'001, 3, 1},  // more blocks than 16 bits count
      {16, 3, 16, kReport},
      {257, 257, 256, kReport},  // one output only
      {300, 31, 100, kReport},
      {1000, 9, 33, kReport},
  };
  conv::Random random(seed ^ 0x9e3779b97f4a7c15u);
  for (int i = 0; i < 6; ++i) {
    const int length = 1 + static_cast<int>(random.below(3000));
    const int mask_width = 1 + 2 * static_cast<int>(random.below(40));
    const int threads = 1 + static_cast<int>(random.below(1024));
    trials.push_back({length, mask_width, threads});
  }
  return trials;
}

namespace {

std::vector<Trial<Conv1dProblem>> small_trials(const Conv1dVariant& variant, std::uint64_t seed) {
  std::vector<Trial<Conv1dProblem>> all = taken(variant, adversarial<Conv1dProblem>(seed));
  if (!variant.tiles) return all;
  const auto add = [&](int mask_width, int threads, auto length_for) {
    const int tile = variant.tiles({1, mask_width, threads}).front().cells;
    const Conv1dProblem problem(std::max(length_for(tile), 1), mask_width, threads);
    if (refusal(variant, problem).empty()) all.push_back(problem);
  };
  // A length round one, two and three tiles for each remainder that a quad of cells could miss, behind
  // the last output and behind the halo of the last tile; masks and blocks that no other trial has.
  struct Numbers {
    int tiles, more, mask_width, threads;
    bool halo = false;
  };
  constexpr Numbers kLengths[] = {
      {2, -3, 11, 512},
      {3, -2, 13, 32},
      {1, -1, 17, 48},
      {1, 0, 19, 96},
      {1, 1, 21, 128},
      {2, 2, 23, 160},
      {3, 3, 25, 64},
      {2, 0, 27, 768},
      {2, -1, 29, 7},
      {2, -1, 15, 64, true},
      {2, 0, 13, 32, true},
      {2, 1, 11, 96, true},
      {2, 2, 3, 40, true},
      // Wider masks, for kernels that treat them in another way.
      {2, 1, 39, 128},
      {2, -1, 41, 24},
      {2, -2, 45, 64},
      {2, 3, 47, 56},
      {2, 1, 43, 64, true},
  };
  for (const Numbers& n : kLengths) {
    add(n.mask_width, n.threads,
        [&](int tile) { return n.tiles * tile + n.more + (n.halo ? n.mask_width / 2 : 0); });
  }
  // The least length with a tile whose cells all exist, halo and 16 bytes included.
  for (const int mask_width : {129, 255, 1023}) {
    add(mask_width, mask_width == 255 ? 192 : 64, [&](int tile) {
      const int halo = mask_width / 2;
      return ((halo + 3) / tile + 2) * tile + halo + 7;
    });
  }
  return all;
}

}  // namespace

template <>
std::vector<Trial<Conv1dProblem>> trials(const Conv1dVariant& variant, std::uint64_t seed) {
  std::vector<Trial<Conv1dProblem>> all = small_trials(variant, seed);
  add_large(variant, {{conv::kMaxLength, 9, 256}, {conv::kMaxLength, 63, 96}}, all);
  return all;
}

// ---- Programs ----

namespace {

bool is_number(const std::string& text) {
  return !text.empty() && text.find_first_not_of("0123456789+-") == std::string::npos;
}

int default_length(const Backend& backend) { return backend.observes() ? 100'000 : 10'000'000; }

int default_threads(const Backend& backend) {
  if (backend.name() != "cpu") return 256;
  return std::clamp(get_nprocs(), 1, kMaxThreads);
}

// One problem's length, taps and block.
struct Size {
  int length;
  int mask_width;
  int threads;
};

// The problems of --bench: the report's, then ours.
std::vector<Size> published_sizes(bool on_cpu, int mask_width, int report_threads, int threads) {
  std::vector<Size> sizes;
  for (const int length : kReportLengths) sizes.push_back({length, mask_width, report_threads});
  for (const BenchSize& size : kBenchSizes) {
    const bool known = std::any_of(sizes.begin(), sizes.end(), [&](const Size& other) {
      return other.length == size.length && other.mask_width == size.mask_width &&
             other.threads == threads;
    });
    if (!known && (size.on_cpu || !on_cpu)) {
      sizes.push_back({size.length, size.mask_width, threads});
    }
  }
  return sizes;
}

class Conv1dRun final : public ProgramRun {
 public:
  void add_options(CommandLine& line, ProgramOptions& options) override {
    for (const auto& [name, value] :
         {std::pair{"--length", &length_}, std::pair{"--threads", &threads_},
          std::pair{"--mask", &mask_}, std::pair{"--border", &border_},
          std::pair{"--input", &input_}, std::pair{"--output", &output_}}) {
      add_option(line, "conv1d", name, *value);
    }
    line.flag("--bench", options.bench,
              "all published problems: the report's, and masks of 3 to 1,023 taps at 1e7 and 1e9 "
              "cells; with --length or --mask that one problem");
  }

  ProgramWork choose(const Choice& choice) override {
    // With a length or a mask of its own, --bench is that one problem.
    const bool bench = choice.options.bench && length_.empty() && mask_.empty();
    const int given_threads =
        threads_.empty() ? 0 : static_cast<int>(parse_number("threads", threads_, 1, kMaxThreads));
    const int threads = given_threads > 0 ? given_threads : default_threads(choice.backend);
    const std::int64_t length = length_.empty()
                                    ? default_length(choice.backend)
                                    : parse_number("length", length_, 1, conv::kMaxLength);
    const conv::Border border = conv::parse_border(border_);
    if (!output_.empty()) {
      if (input_.empty()) throw UsageError("--output needs --input: a file to run on");
      data::require_signal_target(output_);
    }
    if (bench && !input_.empty()) {
      throw UsageError("--bench has its own lengths: leave --input out");
    }
    if (!input_.empty()) {
      if (!length_.empty()) throw UsageError("length: the file given by --input has its own");
      return recording(choice, threads, border);
    }
    const Mask mask = parse_mask(mask_.empty() ? (bench ? "3" : "9") : mask_, choice.seed);
    ProgramWork work;
    work.roofs = bench;
    if (bench) {
      add_published(work, choice, mask, given_threads, threads, border);
      return work;
    }
    // Also says no to a mask that does not suit the length and the border.
    add_job(work, choice, Conv1dProblem(conv::Problem1d(length, mask.width, border), threads),
            mask.taps);
    return work;
  }

 private:
  // Taps null: random ones.
  struct Mask {
    int width;
    std::shared_ptr<const std::vector<float>> taps;
  };

  static Mask parse_mask(const std::string& spec, std::uint64_t seed) {
    if (!is_number(spec)) {
      auto taps = std::make_shared<const std::vector<float>>(data::read_mask(spec, seed));
      return {static_cast<int>(taps->size()), taps};
    }
    const auto width = parse_number("mask", spec, 1, conv::kMaxMaskWidth);
    if (width % 2 == 0) {
      throw UsageError("mask: " + spec +
                       " is even; a mask needs a middle tap, so its width is odd");
    }
    return {static_cast<int>(width), nullptr};
  }

  static Job& add_job(ProgramWork& work, const Choice& choice, const Conv1dProblem& problem,
                      const std::shared_ptr<const std::vector<float>>& taps) {
    Job& job = work.jobs.emplace_back();
    job.task.problem = std::make_shared<FamilyProblem<Conv1dProblem>>(problem, taps);
    job.task.seed = choice.seed;
    job.entries = choice.entries;
    return job;
  }

  void add_published(ProgramWork& work, const Choice& choice, const Mask& mask, int given_threads,
                     int threads, conv::Border border) {
    Backend& backend = choice.backend;
    const bool on_cpu = backend.name() == "cpu";
    const int report_threads = given_threads > 0 ? given_threads
                               : on_cpu          ? threads
                                                 : kReportThreads;
    for (const Size& size : published_sizes(on_cpu, mask.width, report_threads, threads)) {
      const bool own = size.mask_width == mask.width;
      Job& job = add_job(
          work, choice,
          Conv1dProblem(conv::Problem1d(size.length, size.mask_width, border), size.threads),
          own ? mask.taps : nullptr);
      if (!backend.times()) job.task.not_run = backend.no_time_reason();
      // They do not depend on the taps: once is enough.
      job.task.transfers = own && size.threads == report_threads;
      // The report's tables are for its Codes 2 to 5, and its blocks so small that a single one would
      // take seconds.
      if (size.threads == report_threads && choice.options.variant.empty()) {
        std::erase_if(job.entries, [](const Entry& entry) { return entry.variant.task == 1; });
      }
    }
  }

  // Every channel of a file.
  ProgramWork recording(const Choice& choice, int threads, conv::Border border) {
    if (is_number(mask_)) {
      throw UsageError("mask: a recording wants a mask with a meaning: gaussian:" + mask_ +
                       ", box:" + mask_ + " or a file");
    }
    const std::vector<float> mask = data::read_mask(mask_.empty() ? "box:9" : mask_, choice.seed);
    data::Signal signal = data::read_signal(input_);
    const Conv1dProblem problem(conv::Problem1d(static_cast<std::int64_t>(signal.length()),
                                                static_cast<std::int64_t>(mask.size()), border),
                                threads);
    for (const auto& channel : signal.channels) conv::require_data(problem.problem, channel, mask);

    ProgramWork work;
    Job& job = add_job(work, choice, problem, nullptr);
    const auto channels = static_cast<std::int64_t>(signal.channels.size());
    if (choice.backend.observes()) {
      const std::string reason =
          too_large_for_simulator(channels * conv::products(problem.problem));
      if (!reason.empty()) work.not_run = input_ + " is " + reason;
    } else if (const std::string reason =
                   too_large_for(*job.task.problem, choice.backend, job.task.transfers);
               !reason.empty()) {
      work.not_run = input_ + " is " + reason;
    }
    for (std::vector<float>& channel : signal.channels) {
      job.task.given.push_back(conv1d_data(problem, std::move(channel), mask));
    }
    if (output_.empty()) return work;

    for (const Entry& entry : job.entries) {
      const AnyVariant& variant = entry.variant;
      if (variant.role == Role::variant && variant.prepared(*job.task.problem).refusal.empty()) {
        job.task.saved_variant = variant.name;
      }
    }
    work.target = output_;
    work.save = [this, problem, variant = job.task.saved_variant, channels,
                 sample_rate = signal.sample_rate](SavedOutputs& saved) {
      for (std::vector<float>& channel : saved) conv::zero_uncomputed(problem.problem, channel);
      data::write_signal(output_, {std::move(saved), sample_rate});
      return "wrote " + output_ + ": " + variant + ", " + std::to_string(channels) + " channel" +
             (channels == 1 ? "" : "s") + " of " + with_commas(problem.length) + " samples";
    };
    return work;
  }

  std::string length_, threads_, mask_, input_, output_;
  std::string border_ = "zero";
};

}  // namespace

template <>
const ProgramFamily& program_family<Conv1dProblem>() {
  static const ProgramFamily family = {
      .name = "conv1d",
      .problem = "signal",
      .help = "",
      .examples = {"--length 1000 --mask 31 --threads 64",
                   "--input recording.wav --mask gaussian:31 --output smooth.wav"},
      .has_plans = false,
      .run = [] { return std::make_unique<Conv1dRun>(); }};
  return family;
}

HALO_FAMILY(Conv1dProblem)

}  // namespace halo
