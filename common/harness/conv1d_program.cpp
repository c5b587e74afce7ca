// The command line of a 1D stage's program, and the problems it makes from it.
#include <algorithm>
#include <fstream>
#include <optional>
#include <random>
#include <thread>

#include "common/conv/inputs.hpp"
#include "common/data/mask.hpp"
#include "common/data/signal.hpp"
#include "common/harness/command_line.hpp"
#include "common/harness/conv1d.hpp"
#include "common/harness/program.hpp"

namespace halo {

namespace {

constexpr int kMaxThreads = 1024;
// Products that the simulator is asked for at once: some ten seconds of its time.
constexpr std::int64_t kSimulatedProducts = 200'000'000;

struct Options {
  std::string length;
  std::string threads;
  std::string task;
  std::string mask;
  std::string border = "zero";
  std::string seed;
  std::string variant;
  std::string input;
  std::string output;
  std::string positional_length;
  std::string positional_threads;
  std::string positional_task;
  bool list = false;
  OutputOptions out;
};

bool parse(int argc, const char* const* argv, const Conv1dStage& stage, Options& options) {
  const std::string program = argc > 0 ? argv[0] : stage.name;
  const std::string name = program.substr(program.find_last_of('/') + 1);
  CommandLine line(
      stage.name + ": runs, checks and measures the variants of this stage",
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
  line.option("--seed", "S", options.seed, "seed of all random data; a fresh one if not given");
  line.option("--variant", "NAME", options.variant, "only this variant");
  line.option("--input", "FILE", options.input, "run on every channel of a WAV or NPY file");
  line.option("--output", "FILE", options.output,
              "write the result of the chosen (else the last) variant, .wav or .npy");
  line.option("--json", "FILE", options.out.json, "write the results as JSON");
  line.flag("--report-table", options.out.report_table,
            "the report's table: time at lengths 1e3, 1e5, 1e7 and 1e9, mask 3, 16 threads");
  line.flag("--list", options.list, "list the variants and stop");
  line.option("--color", "WHEN", options.out.color, "auto, always or never");
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

std::vector<Conv1dVariant> choose(const Conv1dStage& stage, const std::string& task_text,
                                  const std::string& name) {
  std::vector<Conv1dVariant> chosen = stage.variants;
  if (!task_text.empty()) {
    const auto task = parse_number("task", task_text, 1, 5);
    std::erase_if(chosen, [&](const Conv1dVariant& variant) { return variant.task != task; });
    if (chosen.empty()) {
      throw UsageError("task " + task_text + " is not in stage " + stage.name +
                       ": 1 and 2 are in 02_conv1d_global, 3 is 03_conv1d_constant, 4 is "
                       "04_conv1d_tiled_halo, 5 is 05_conv1d_tiled_cached");
    }
  }
  if (!name.empty()) {
    std::erase_if(chosen, [&](const Conv1dVariant& variant) { return variant.name != name; });
    if (chosen.empty()) {
      std::string names;
      for (const Conv1dVariant& variant : stage.variants) names += " " + variant.name;
      throw UsageError("variant '" + name + "' is not in stage " + stage.name +
                       (task_text.empty() ? "" : " with this task") + "; it has:" + names);
    }
  }
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

std::uint64_t make_seed(const std::string& text) {
  if (text.empty()) return std::random_device{}();
  return static_cast<std::uint64_t>(
      parse_number("seed", text, 0, std::numeric_limits<std::int64_t>::max()));
}

int default_length(const Backend& backend) { return backend.observes() ? 100'000 : 10'000'000; }

int default_threads(const Backend& backend) {
  if (backend.name() != "cpu") return 256;
  return static_cast<int>(std::clamp(std::thread::hardware_concurrency(), 1u, 1024u));
}

std::int64_t available_memory() {
  std::ifstream file("/proc/meminfo");
  for (std::string line; std::getline(file, line);) {
    if (line.rfind("MemAvailable:", 0) == 0) return std::stoll(line.substr(13)) * 1024;
  }
  return std::numeric_limits<std::int64_t>::max();
}

// Empty if this machine can run the problem, else why it can't.
std::string too_large(const conv::Problem1d& problem, Backend& backend, int channels) {
  if (backend.observes()) {
    const std::int64_t products = conv::products(problem) * channels;
    if (products <= kSimulatedProducts) return {};
    return "too large for the simulator: " + with_commas(products) + " products, it is given " +
           with_commas(kSimulatedProducts) + " at most";
  }
  // On the host: the signal, the result and a copy for the comparison; the CPU adds its own two.
  const std::int64_t array = problem.length() * static_cast<std::int64_t>(sizeof(float));
  const std::int64_t needed = (backend.name() == "cpu" ? 5 : 3) * array;
  const std::int64_t available = available_memory();
  const auto complaint = [&](const char* where, std::int64_t wanted, std::int64_t free) {
    return std::string("too large for ") + where + ": length " + with_commas(problem.length()) +
           " needs " + with_commas(wanted >> 20) + " MiB of memory, " + with_commas(free >> 20) +
           " MiB are free";
  };
  if (needed > available) return complaint("this machine", needed, available);
  const std::int64_t on_device = 2 * array + (std::int64_t{1} << 20);
  if (const std::int64_t free = backend.free_memory(); on_device > free) {
    return complaint("this GPU", on_device, free);
  }
  return {};
}

// The device arrays of one problem, shared by all variants that are timed on it.
struct Bench {
  Bench(Backend& on, std::shared_ptr<const Conv1dWorkload> load)
      : backend(on),
        workload(std::move(load)),
        mask(backend, workload->mask.size()),
        input(backend, workload->problem.length()),
        output(backend, workload->problem.length()),
        result(backend.has_transfers() ? workload->problem.length() : 0) {
    mask.write(workload->mask);
    input.write(workload->channels.front());
    call.length = static_cast<int>(workload->problem.length());
    call.mask_width = workload->problem.mask_width();
    call.first = static_cast<int>(workload->problem.first_output());
    call.last = static_cast<int>(workload->problem.end_output());
    call.threads = workload->threads;
    call.input = input.data();
    call.mask = mask.data();
    call.output = output.data();
  }

  void set_mask(const Conv1dVariant& variant) {
    if (!variant.set_mask) return;
    const int code = variant.set_mask(workload->mask.data(), call.mask_width);
    if (code != 0) throw std::runtime_error("setting the mask failed");
  }

  Backend& backend;
  std::shared_ptr<const Conv1dWorkload> workload;
  Array mask;
  Array input;
  Array output;
  std::vector<float> result;  // host memory, written once so that no page is new to the clock
  Conv1dCall call;
};

// Made when the first variant is timed, after all checks have given their memory back.
using LazyBench = std::shared_ptr<std::optional<Bench>>;

void add_timing(Candidate& candidate, const Conv1dVariant& variant, Backend& backend,
                const std::shared_ptr<const Conv1dWorkload>& workload, const LazyBench& lazy) {
  const auto bench = [&backend, workload, lazy]() -> Bench& {
    if (!*lazy) lazy->emplace(backend, workload);
    return **lazy;
  };
  candidate.min_bytes = static_cast<double>(conv::min_bytes(workload->problem));
  candidate.flops = static_cast<double>(conv::flops(workload->problem));
  candidate.time = [bench, variant](int repeats) {
    Bench& ready = bench();
    ready.set_mask(variant);
    return ready.backend.time_launches([&] { return variant.launch(ready.call); }, repeats);
  };
  if (!backend.has_transfers()) return;
  candidate.time_with_transfers = [bench, variant] {
    Bench& ready = bench();
    const auto start = std::chrono::steady_clock::now();
    ready.input.write(ready.workload->channels.front());
    ready.mask.write(ready.workload->mask);
    ready.set_mask(variant);
    if (variant.launch(ready.call) != 0) throw std::runtime_error("a timed launch failed");
    ready.output.read(ready.result);
    const std::chrono::duration<double, std::milli> taken =
        std::chrono::steady_clock::now() - start;
    return taken.count();
  };
}

Problem problem_fields(const conv::Problem1d& problem, int threads, int channels) {
  Problem fields = {{"length", problem.length()},
                    {"mask_width", problem.mask_width()},
                    {"threads", threads},
                    {"border", conv::to_string(problem.border())}};
  if (channels > 1) fields.emplace_back("channels", channels);
  return fields;
}

struct Session {
  const Conv1dStage& stage;
  Backend& backend;
  std::uint64_t seed;
  std::vector<Candidate> candidates;
  std::vector<std::vector<float>> saved;  // [channel][sample] of the variant that is to be written
};

// Adds a candidate per variant for one problem. Without a workload (`reason` says why) only the
// trials are run. `trials` may be empty: the variant was tried with another problem.
void add_candidates(Session& session, const std::vector<Conv1dVariant>& variants,
                    const conv::Problem1d& problem, int threads,
                    const std::shared_ptr<const Conv1dWorkload>& workload,
                    const std::string& reason, const std::vector<Conv1dTrial>& trials,
                    const std::string& saved_variant) {
  Backend& backend = session.backend;
  const LazyBench lazy = std::make_shared<std::optional<Bench>>();
  for (const Conv1dVariant& variant : variants) {
    Candidate candidate;
    Row& row = candidate.row;
    row.stage = session.stage.name;
    row.backend = backend.name();
    row.variant = variant.name;
    row.source = variant.source;
    row.description = variant.description;
    row.task = variant.task;
    const int channels = workload ? static_cast<int>(workload->channels.size()) : 1;
    row.problem = problem_fields(problem, threads, channels);
    row.time.reason = backend.no_time_reason();
    candidate.check = [&session, variant, workload, reason, trials, saved_variant](
                          Row& checked, Progress& progress) {
      if (!trials.empty()) {
        check_trials(variant, session.backend, trials, session.seed, checked, progress);
      }
      // What fails on a small shape may take the device down on a large one.
      if (workload && checked.check.outcome != Outcome::bad) {
        progress.show(checked.stage + " " + checked.variant + ": length " +
                      with_commas(workload->problem.length()));
        const bool save = variant.name == saved_variant;
        check_workload(variant, session.backend, *workload, checked,
                       save ? &session.saved : nullptr);
      } else {
        checked.traffic.reason = workload ? "it failed its check" : reason;
        if (!workload) checked.time.reason = reason;
      }
    };
    if (workload && backend.times() && variant.unavailable.empty()) {
      add_timing(candidate, variant, backend, workload, lazy);
    } else if (!variant.unavailable.empty()) {
      row.time.reason = variant.unavailable;
    }
    session.candidates.push_back(std::move(candidate));
  }
}

std::shared_ptr<const Conv1dWorkload> synthetic(const conv::Problem1d& problem,
                                                const std::vector<float>& mask, int threads,
                                                std::uint64_t seed) {
  return std::make_shared<const Conv1dWorkload>(
      Conv1dWorkload{problem, mask, {conv::adversarial_input(problem, seed)}, threads});
}

void list_variants(const Conv1dStage& stage) {
  for (const Conv1dVariant& variant : stage.variants) {
    const std::string task = variant.task > 0 ? "task " + std::to_string(variant.task) : "";
    std::printf("%-16s %-7s %s\n", variant.name.c_str(), task.c_str(), variant.description.c_str());
    if (!variant.unavailable.empty())
      std::printf("%-24s NOT RUN: %s\n", "", variant.unavailable.c_str());
  }
}

int run(int argc, const char* const* argv, const Conv1dStage& stage, Backend& backend) {
  Options options;
  if (!parse(argc, argv, stage, options)) return 0;
  if (options.list) {
    list_variants(stage);
    return 0;
  }

  // Everything that can be wrong with the command is found before anything runs.
  const std::string length_text = either("length", options.length, options.positional_length);
  const std::string threads_text = either("threads", options.threads, options.positional_threads);
  const std::string task_text = either("task", options.task, options.positional_task);
  const std::vector<Conv1dVariant> variants = choose(stage, task_text, options.variant);
  const bool report = options.out.report_table;
  const int threads = threads_text.empty()
                          ? (report && backend.name() != "cpu" ? 16 : default_threads(backend))
                          : static_cast<int>(parse_number("threads", threads_text, 1, kMaxThreads));
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
  if (report && (!options.input.empty() || !length_text.empty())) {
    throw UsageError("--report-table has its own lengths: leave --length and --input out");
  }
  std::vector<float> mask;
  std::shared_ptr<Conv1dWorkload> recording;
  int sample_rate = 0;
  if (options.input.empty()) {
    mask = make_mask(options.mask.empty() ? (report ? "3" : "9") : options.mask, seed);
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
    std::fprintf(stderr, "%s: NOT RUN: %s\n", stage.name.c_str(), reason.c_str());
    return 77;
  }

  // Before the first launch: a run that ends badly can be repeated.
  std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
  std::fflush(stdout);

  Progress progress;
  Session session{stage, backend, seed, {}, {}};
  std::string saved_variant;
  std::vector<Conv1dTrial> trials = adversarial_trials(seed);
  if (report) {
    for (const int rows : {1'000, 100'000, 10'000'000, 1'000'000'000}) {
      const conv::Problem1d step(rows, mask_width, border);
      std::string reason = backend.times() ? too_large(step, backend, 1) : backend.no_time_reason();
      add_candidates(session, variants, step, threads,
                     reason.empty() ? synthetic(step, mask, threads, seed) : nullptr, reason,
                     trials, "");
      trials.clear();
    }
  } else {
    const int channels = recording ? static_cast<int>(recording->channels.size()) : 1;
    const std::string reason = too_large(problem, backend, channels);
    std::shared_ptr<const Conv1dWorkload> workload;
    if (reason.empty()) {
      workload = recording ? recording : synthetic(problem, mask, threads, seed);
    } else if (recording) {
      std::fprintf(stderr, "%s: NOT RUN: %s is %s\n", stage.name.c_str(), options.input.c_str(),
                   reason.c_str());
      return 77;
    }
    if (!options.output.empty()) {
      for (const Conv1dVariant& variant : variants) {
        if (variant.unavailable.empty()) saved_variant = variant.name;
      }
    }
    add_candidates(session, variants, problem, threads, workload, reason, trials, saved_variant);
  }

  Results results = new_results(argc, argv, seed);
  backend.describe(results.machine);
  results.rows = run_candidates(session.candidates, progress);
  const int status = publish(results, options.out);
  if (options.output.empty()) return status;

  const auto saved_row = std::find_if(results.rows.begin(), results.rows.end(),
                                      [&](const Row& row) { return row.variant == saved_variant; });
  if (saved_row == results.rows.end() || saved_row->check.outcome != Outcome::good ||
      saved_row->hazards.outcome == Outcome::bad) {
    std::fprintf(stderr, "%s: %s was not written: the result did not pass its check\n",
                 stage.name.c_str(), options.output.c_str());
    return std::max(status, 1);
  }
  for (std::vector<float>& channel : session.saved) conv::zero_uncomputed(problem, channel);
  data::write_signal(options.output, {std::move(session.saved), sample_rate});
  std::printf("wrote %s: %s, %d channel%s of %s samples\n", options.output.c_str(),
              saved_variant.c_str(), static_cast<int>(recording->channels.size()),
              recording->channels.size() == 1 ? "" : "s", with_commas(problem.length()).c_str());
  return status;
}

}  // namespace

int run_conv1d_stage(int argc, const char* const* argv, const Conv1dStage& stage,
                     std::unique_ptr<Backend> backend) {
  return guarded_main(argc > 0 ? argv[0] : stage.name.c_str(),
                      [&] { return run(argc, argv, stage, *backend); });
}

}  // namespace halo
