// The command line of a 1D stage's program, and the problems it makes from it.
#include <algorithm>
#include <thread>

#include "common/conv/inputs.hpp"
#include "common/data/mask.hpp"
#include "common/data/signal.hpp"
#include "common/harness/conv1d.hpp"
#include "common/harness/conv1d_candidates.hpp"
#include "common/harness/family_program.hpp"
#include "common/report/command_line.hpp"

namespace halo {

namespace {

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

struct Options : FamilyOptions {
  std::string length;
  std::string threads;
  std::string task;
  std::string mask;
  std::string border = "zero";
  std::string input;
  std::string output;
  std::string positional_length;
  std::string positional_threads;
  std::string positional_task;
  bool bench = false;
};

using Stages = std::vector<Conv1dStage>;

bool parse(int argc, const char* const* argv, const Stages& stages, Options& options) {
  const std::string name = program_name(argc, argv, stages.front().name);
  CommandLine line(
      title(stages) + ": runs, checks and measures the variants",
      "Examples:\n"
      "  " +
          name +
          " --length 1000 --mask 31 --threads 64\n"
          "  " +
          name +
          " 1024 16              the report's form: [length] [threads] [task id]\n"
          "  " +
          name +
          " --input recording.wav --mask gaussian:31 --output smooth.wav\n"
          "Exit status: 0 good, 1 a check or a hazard failed, 2 wrong use, 77 not run.");
  line.option("--length", "N", options.length, "outputs, and cells of the signal");
  line.option("--threads", "T", options.threads, "threads per block, 1 to 1,024 (CPU: threads)");
  line.option("--task", "K", options.task, "only the variants of the report's task id K");
  line.option("--mask", "W|SPEC", options.mask,
              std::string("width of a random asymmetric mask, odd; or ") + data::kMaskHelp);
  line.option("--border", "zero|report", options.border,
              "zero: every output is computed (the contract). report: the outputs within a halo of "
              "the ends are left alone, as by the report's listings; a saved file has zeros there");
  line.option("--input", "FILE", options.input, "run on every channel of a WAV or NPY file");
  line.option("--output", "FILE", options.output,
              "write the result of the chosen (else the last) variant, .wav or .npy");
  line.flag("--report-table", options.out.report_table,
            "the report's table: time at lengths 1e3, 1e5, 1e7 and 1e9, mask 3, 16 threads");
  line.flag(
      "--bench", options.bench,
      "all published problems: the report's, and masks of 3 to 1,023 taps at 1e7 and 1e9 cells; "
      "with --length or --mask that one problem");
  add_family_options(line, options);
  line.positional("LENGTH", options.positional_length, "as --length");
  line.positional("THREADS", options.positional_threads, "as --threads");
  line.positional("TASK_ID", options.positional_task, "as --task");
  return line.parse(argc, argv);
}

// The value of an option that can also be given by position.
std::string either(const std::string& name, const std::string& option,
                   const std::string& positional) {
  if (!option.empty() && !positional.empty()) {
    throw UsageError(name + " is given twice: as --" + name + " and by position");
  }
  return option.empty() ? positional : option;
}

std::vector<Conv1dEntry> choose(const Stages& stages, const std::string& task_text,
                                const std::string& name) {
  std::vector<Conv1dEntry> chosen;
  for (const Conv1dStage& stage : stages) {
    for (const Conv1dVariant& variant : stage.variants) chosen.push_back({stage.name, variant});
  }
  if (!task_text.empty()) {
    const auto task = parse_number("task", task_text, 1, 5);
    std::erase_if(chosen, [&](const Conv1dEntry& entry) { return entry.variant.task != task; });
    if (chosen.empty()) {
      throw UsageError("task " + task_text + " is not in stage " + title(stages) +
                       ": 1 and 2 are in 02_conv1d_global, 3 is 03_conv1d_constant, 4 is "
                       "04_conv1d_tiled_halo, 5 is 05_conv1d_tiled_cached");
    }
  }
  keep_variant(chosen, name, title(stages) + (task_text.empty() ? "" : " with this task"));
  return chosen;
}

bool is_number(const std::string& text) {
  return !text.empty() && text.find_first_not_of("0123456789+-") == std::string::npos;
}

std::vector<float> make_mask(const std::string& spec, std::uint64_t seed) {
  if (!is_number(spec)) return data::read_mask(spec, seed);
  const auto width = parse_number("mask", spec, 1, conv::kMaxMaskWidth);
  if (width % 2 == 0) {
    throw UsageError("mask: " + spec + " is even; a mask needs a middle tap, so its width is odd");
  }
  return data::read_mask("random:" + spec, seed);
}

int default_length(const Backend& backend) { return backend.observes() ? 100'000 : 10'000'000; }

int default_threads(const Backend& backend) {
  if (backend.name() != "cpu") return 256;
  return static_cast<int>(std::clamp(std::thread::hardware_concurrency(), 1u, 1024u));
}

void list_variants(const Stages& stages, const std::vector<Conv1dVariant>& peers) {
  const auto list = [](const Conv1dVariant& variant) {
    std::string mark = variant.task > 0 ? "task " + std::to_string(variant.task) : "";
    if (variant.role != Role::variant) mark = variant.role == Role::peer ? "peer" : "copy";
    list_variant(variant.name, mark, variant.description, variant.unavailable);
  };
  for (const Conv1dStage& stage : stages) {
    for (const Conv1dVariant& variant : stage.variants) list(variant);
  }
  for (const Conv1dVariant& peer : peers) list(peer);
}

// One problem's length, taps and block.
struct Size {
  int length;
  int mask_width;
  int threads;
};

// The problems of --report-table, and with `bench` those of --bench.
std::vector<Size> published_sizes(bool bench, bool on_cpu, int mask_width, int report_threads,
                                  int threads) {
  std::vector<Size> sizes;
  for (const int length : kReportLengths) sizes.push_back({length, mask_width, report_threads});
  if (!bench) return sizes;
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

int run(int argc, const char* const* argv, const Stages& stages,
        const std::vector<Conv1dVariant>& peers, Backend& backend) {
  Options options;
  if (!parse(argc, argv, stages, options)) return 0;
  if (options.list) {
    list_variants(stages, peers);
    return 0;
  }
  const std::string name = title(stages);

  // Everything that can be wrong with the command is found before anything runs.
  const std::string length_text = either("length", options.length, options.positional_length);
  const std::string threads_text = either("threads", options.threads, options.positional_threads);
  const std::string task_text = either("task", options.task, options.positional_task);
  std::vector<Conv1dEntry> entries = choose(stages, task_text, options.variant);
  // With a length or a mask of its own, --bench is that one problem.
  const bool bench = options.bench && length_text.empty() && options.mask.empty();
  const bool published = options.out.report_table || bench;
  const int given_threads =
      threads_text.empty()
          ? 0
          : static_cast<int>(parse_number("threads", threads_text, 1, kMaxThreads));
  const int threads = given_threads > 0 ? given_threads : default_threads(backend);
  const std::int64_t length = length_text.empty()
                                  ? default_length(backend)
                                  : parse_number("length", length_text, 1, conv::kMaxLength);
  const conv::Border border = conv::parse_border(options.border);
  const std::uint64_t seed = make_seed(options.seed);
  use_color(options.out.color, stdout);
  if (!options.out.json.empty()) data::require_writable(options.out.json);
  if (!options.output.empty()) {
    if (options.input.empty()) throw UsageError("--output needs --input: a file to run on");
    data::require_signal_target(options.output);
  }
  if (published && (!options.input.empty() || !length_text.empty())) {
    throw UsageError(std::string(bench ? "--bench" : "--report-table") +
                     " has its own lengths: leave --length and --input out");
  }
  std::vector<float> mask;
  std::shared_ptr<Conv1dWorkload> recording;
  int sample_rate = 0;
  if (options.input.empty()) {
    mask = make_mask(options.mask.empty() ? (published ? "3" : "9") : options.mask, seed);
  } else {
    if (!length_text.empty()) {
      throw UsageError("length: the file given by --input has its own");
    }
    if (is_number(options.mask)) {
      throw UsageError("mask: a recording wants a mask with a meaning: gaussian:" + options.mask +
                       ", box:" + options.mask + " or a file");
    }
    mask = make_mask(options.mask.empty() ? "box:9" : options.mask, seed);
    data::Signal signal = data::read_signal(options.input);
    sample_rate = signal.sample_rate;
    const conv::Problem1d problem(static_cast<std::int64_t>(signal.length()),
                                  static_cast<std::int64_t>(mask.size()), border);
    for (const auto& channel : signal.channels) conv::require_data(problem, channel, mask);
    recording = std::make_shared<Conv1dWorkload>(
        Conv1dWorkload{problem, mask, std::move(signal.channels), threads});
  }
  // Also says no to a mask that does not suit the length and the border.
  const auto mask_width = static_cast<std::int64_t>(mask.size());
  const conv::Problem1d problem =
      recording ? recording->problem : conv::Problem1d(length, mask_width, border);

  if (const std::string reason = backend.unavailable(); !reason.empty()) {
    std::fprintf(stderr, "%s: NOT RUN: %s\n", name.c_str(), reason.c_str());
    return 77;
  }

  announce_seed(seed);
  if (!options.no_peers && !options.out.report_table) {
    for (const Conv1dVariant& peer : peers) entries.push_back({"peers", peer});
  }
  std::vector<Conv1dTrial> trials;
  if (!options.no_trials) trials = adversarial_trials(seed);
  std::vector<Candidate> candidates;
  std::vector<std::vector<float>> saved;
  std::string saved_variant;
  if (published) {
    const bool on_cpu = backend.name() == "cpu";
    const int report_threads = given_threads > 0 ? given_threads
                               : on_cpu          ? threads
                                                 : kReportThreads;
    for (const Size& size :
         published_sizes(bench, on_cpu, static_cast<int>(mask_width), report_threads, threads)) {
      const conv::Problem1d step(size.length, size.mask_width, border);
      // The report's tables are for its Codes 2 to 5, and its blocks so small that a single one would
      // take seconds.
      std::vector<Conv1dEntry> chosen = entries;
      if (size.threads == report_threads && task_text.empty() && options.variant.empty()) {
        std::erase_if(chosen, [](const Conv1dEntry& entry) { return entry.variant.task == 1; });
      }
      const bool own = size.mask_width == mask_width;
      add_candidates(candidates, chosen, backend,
                     {.problem = step,
                      .mask = own ? mask : make_mask(std::to_string(size.mask_width), seed),
                      .threads = size.threads,
                      .seed = seed,
                      .recording = nullptr,
                      .too_large = backend.times() ? too_large_for(step, backend, 1)
                                                   : backend.no_time_reason(),
                      // They do not depend on the taps: once is enough.
                      .transfers = own && size.threads == report_threads,
                      .trials = trials},
                     "", saved);
      trials.clear();
    }
  } else {
    const int channels = recording ? static_cast<int>(recording->channels.size()) : 1;
    const std::string reason = too_large_for(problem, backend, channels);
    if (!reason.empty() && recording) {
      std::fprintf(stderr, "%s: NOT RUN: %s is %s\n", name.c_str(), options.input.c_str(),
                   reason.c_str());
      return 77;
    }
    if (!options.output.empty()) {
      for (const Conv1dEntry& entry : entries) {
        const Conv1dVariant& variant = entry.variant;
        if (variant.role == Role::variant && variant.unavailable.empty() &&
            mask_width <= variant.widest_mask) {
          saved_variant = variant.name;
        }
      }
    }
    add_candidates(candidates, entries, backend,
                   {.problem = problem,
                    .mask = mask,
                    .threads = threads,
                    .seed = seed,
                    .recording = recording,
                    .too_large = reason,
                    .transfers = true,
                    .trials = trials},
                   saved_variant, saved);
  }

  Progress progress;
  std::vector<std::string> versions;
  for (const Conv1dVariant& peer : peers) versions.push_back(peer.version);
  Results results = begin_results(argc, argv, seed, backend, versions);
  if (options.no_times) leave_out_times(candidates);
  if (backend.times() && !options.no_times && (published || problem.length() >= kRoofLength)) {
    measure_roofs(results, backend, progress);
  }
  results.rows = run_candidates(candidates, backend, progress);
  fill_shares(results.rows, results.machine);
  const int status = publish(results, options.out);
  if (options.output.empty()) return status;

  const auto saved_row = std::find_if(results.rows.begin(), results.rows.end(),
                                      [&](const Row& row) { return row.variant == saved_variant; });
  if (saved_row == results.rows.end() || saved_row->check.outcome != Outcome::good ||
      saved_row->hazards.outcome == Outcome::bad) {
    std::fprintf(stderr, "%s: %s was not written: the result did not pass its check\n",
                 name.c_str(), options.output.c_str());
    return std::max(status, 1);
  }
  for (std::vector<float>& channel : saved) conv::zero_uncomputed(problem, channel);
  data::write_signal(options.output, {std::move(saved), sample_rate});
  std::printf("wrote %s: %s, %d channel%s of %s samples\n", options.output.c_str(),
              saved_variant.c_str(), static_cast<int>(recording->channels.size()),
              recording->channels.size() == 1 ? "" : "s", with_commas(problem.length()).c_str());
  return status;
}

}  // namespace

int run_conv1d(int argc, const char* const* argv, const std::vector<Conv1dStage>& stages,
               const std::vector<Conv1dVariant>& peers, std::unique_ptr<Backend> backend) {
  return guarded_main(argc > 0 ? argv[0] : stages.front().name.c_str(),
                      [&] { return run(argc, argv, stages, peers, *backend); });
}

}  // namespace halo
