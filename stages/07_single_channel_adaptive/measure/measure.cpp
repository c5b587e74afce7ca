#include "stages/07_single_channel_adaptive/measure/measure.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <numeric>
#include <random>
#include <stdexcept>
#include <utility>

#include "common/data/file.hpp"
#include "common/gpus/present_gpu.hpp"
#include "common/harness/core/program.hpp"
#include "common/harness/traffic/tally.hpp"
#include "common/json/json.hpp"
#include "common/report/command_line.hpp"
#include "stages/07_single_channel_adaptive/measure/kernels.hpp"
#include "stages/07_single_channel_adaptive/plan.hpp"

namespace halo::single_channel_adaptive::measure {

namespace {

using json::Value;

constexpr int kRounds = 7;

// Cells so many words apart, each holding the place of another: one ring through all of them, in
// random order (Sattolo's shuffle, which makes no second ring).
std::vector<unsigned> ring(int cells, int stride_words, std::uint64_t seed) {
  std::vector<unsigned> order(static_cast<std::size_t>(cells));
  std::iota(order.begin(), order.end(), 0u);
  std::mt19937_64 random(seed);
  for (int i = cells - 1; i > 0; --i) {
    std::swap(order[i], order[random() % static_cast<std::uint64_t>(i)]);
  }
  std::vector<unsigned> next(static_cast<std::size_t>(cells) * stride_words, 0u);
  for (int i = 0; i < cells; ++i) {
    next[static_cast<std::size_t>(i) * stride_words] = order[i] * stride_words;
  }
  return next;
}

// Device memory that frees itself.
template <class T>
class Device {
 public:
  Device(Backend& backend, std::size_t count)
      : backend_(backend), data_(static_cast<T*>(backend.allocate(count * sizeof(T)))) {}
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;
  ~Device() { backend_.release(data_); }
  T* data() const { return data_; }
  void write(const std::vector<T>& values) {
    backend_.copy_in(data_, values.data(), values.size() * sizeof(T));
  }
  std::vector<T> read(std::size_t count) const {
    std::vector<T> values(count);
    backend_.copy_out(values.data(), data_, count * sizeof(T));
    return values;
  }

 private:
  Backend& backend_;
  T* data_;
};

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + values.size() / 2, values.end());
  return values[values.size() / 2];
}

// ---- checks ----

void compare_counters(const Backend& backend, const std::string& what, const Observation& seen,
                      const simt::Counters& predicted, std::vector<std::string>& faults) {
  if (!seen.error.empty()) faults.push_back(what + ": " + seen.error);
  for (const Hazard& hazard : seen.hazards) faults.push_back(what + ": " + hazard.message);
  if (!backend.observes()) return;
  const CounterList expected = backend.by_name(predicted);
  const CounterList counted = backend.by_name(seen.cost);
  for (std::size_t i = 0; i < counted.size(); ++i) {
    if (counted[i].second == expected[i].second) continue;
    faults.push_back(what + ": " + counted[i].first + " predicted " +
                     std::to_string(expected[i].second) + ", counted " +
                     std::to_string(counted[i].second));
  }
}

void check_chase(Backend& backend, std::uint64_t seed, std::vector<std::string>& faults) {
  constexpr int kCells = 500;
  constexpr int kStride = 64;
  constexpr int kWarm = 37;
  const std::vector<unsigned> next = ring(kCells, kStride, seed);
  // All the way round, each cell once, and no sooner.
  unsigned at = 0;
  int steps = 0;
  do {
    at = next[at];
    ++steps;
  } while (at != 0 && steps <= kCells);
  if (steps != kCells) faults.push_back("the ring has " + std::to_string(steps) + " cells");

  Device<unsigned> cells(backend, next.size());
  Device<Chase> result(backend, 1);
  cells.write(next);
  for (int i = 0; i < kWarm; ++i) at = next[at];
  const Observation seen =
      backend.run([&]() -> int { return chase(cells.data(), 0, kWarm, kCells, result.data()); });
  simt::Counters predicted;
  predicted.global_load_requests = predicted.global_load_sectors = kWarm + kCells;
  predicted.global_store_requests = predicted.global_store_sectors =
      2;  // of three fields nvcc stores two as one
  predicted.shared_store_requests = predicted.shared_store_wavefronts = 2;
  predicted.shared_load_requests = predicted.shared_load_wavefronts = 1;
  compare_counters(backend, "chase", seen, predicted, faults);
  if (!seen.error.empty()) return;
  const Chase found = result.read(1).front();
  // Once round after the warm steps, one stands where one began.
  if (found.last != at) faults.push_back("the chase ended in the wrong cell");
  if (found.cycles <= 0) faults.push_back("the clock did not move during the chase");
}

void check_segments(Backend& backend, int lanes, bool scattered, std::vector<std::string>& faults) {
  const int bits = 11;
  const std::string what =
      std::to_string(4 * lanes) + "-byte segments" + (scattered ? ", scattered" : ", in order");
  const unsigned count = 1u << bits;
  const unsigned threads = count / segments_of_block(lanes) * kSegmentThreads;
  std::vector<float> data(static_cast<std::size_t>(count) * lanes);
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<float>(i % 65521);
  std::vector<float> expected(threads);
  Tally tally;
  for (int read = 0; read < kReads; ++read) {
    for (const Cells warp : Cells{0, threads}.pieces(kWarpSize)) {
      tally.load(halo::lanes(warp, [&](std::int64_t thread) {
        const unsigned number = read * (threads / lanes) + static_cast<unsigned>(thread) / lanes;
        const unsigned place = scattered ? scattered_place(number, bits) : number;
        const std::int64_t cell = std::int64_t{place} * lanes + thread % lanes;
        expected[static_cast<std::size_t>(thread)] += data[static_cast<std::size_t>(cell)];
        return cell;
      }));
    }
  }
  tally.store(Cells{0, threads});

  Device<float> device(backend, data.size());
  Device<float> sums(backend, threads);
  device.write(data);
  const Observation seen = backend.run(
      [&]() -> int { return segments(device.data(), sums.data(), lanes, bits, scattered); });
  compare_counters(backend, what, seen, tally.counters(), faults);
  if (seen.error.empty() && sums.read(threads) != expected) {
    faults.push_back(what + ": a sum is wrong");
  }
}

// ---- times ----

struct Latency {
  std::string where;
  std::int64_t bytes;  // of the array
  int stride;          // bytes
  double cycles;       // of a load, median of kRounds
  double ns;
};

struct Throughput {
  int bytes;  // of a segment
  bool scattered;
  double gb_per_s;
};

// Of one of so many serial launches.
double milliseconds(Backend& backend, const std::function<int()>& launch, int calls = 1) {
  return backend.batch([&](int) { return launch(); }, calls)->run() / calls;
}

// Bytes of an array that is at least so many times as large as the last cache: a power of 2.
std::int64_t larger_than_cache(Backend& backend, int times) {
  std::int64_t bytes = std::int64_t{1} << 26;
  while (bytes < times * backend.cache_bytes()) bytes *= 2;
  return bytes;
}

// An array so much larger than the caches that what they keep of it from one reading to the next does
// not count, and a reading takes long beside a launch. It leaves nothing else there.
struct LargeArray {
  std::int64_t bytes;
  Device<float> data;
  Device<float> sums;

  explicit LargeArray(Backend& backend)
      : bytes(larger_than_cache(backend, 16)),
        data(backend, static_cast<std::size_t>(bytes) / 4),
        sums(backend, static_cast<std::size_t>(bytes) / 4 / kReads) {
    backend.poison(data.data(), static_cast<std::size_t>(bytes) / 4, 1.0f);
  }
  // All of it once, in segments of so many lanes.
  int read(int lanes, bool scattered) const {
    int bits = 0;
    while ((std::int64_t{4} * lanes << bits) < bytes) ++bits;
    return segments(data.data(), sums.data(), lanes, bits, scattered);
  }
};

Latency measure_latency(Backend& backend, const LargeArray& array, const std::string& where,
                        std::int64_t bytes, int stride, int warm_steps, int steps) {
  const int cells = static_cast<int>(bytes / stride);
  Device<unsigned> next(backend, static_cast<std::size_t>(bytes) / 4);
  next.write(ring(cells, stride / 4, 7));
  Device<Chase> result(backend, 1);
  unsigned at = 0;
  std::vector<double> cycles;
  std::vector<double> ns;
  for (int round = 0; round < kRounds; ++round) {
    // What should be in a cache comes there by the warm steps, what should not must not be left there
    // by the copy or the round before. The next round goes on where this one ended.
    const auto timed = [&](int steps_after) {
      milliseconds(backend, [&] { return array.read(32, false); });
      return milliseconds(backend, [&]() -> int {
        return chase(next.data(), at, warm_steps, steps_after, result.data());
      });
    };
    // Warm steps find their cells elsewhere and take longer, so their time is taken off, the launch with it.
    const double warm_ms = timed(0);
    const double ms = timed(steps);
    const Chase found = result.read(1).front();
    at = found.last;
    cycles.push_back(static_cast<double>(found.cycles) / steps);
    ns.push_back((ms - warm_ms) * 1e6 / steps);
  }
  return {where, bytes, stride, median(cycles), median(ns)};
}

Throughput measure_throughput(Backend& backend, const LargeArray& array, int lanes,
                              bool scattered) {
  std::vector<double> ms;
  for (int round = 0; round < kRounds; ++round) {
    ms.push_back(milliseconds(
        backend, [&] { return array.read(lanes, scattered); }, 5));
  }
  // The sums are written as well: one float for every 16.
  const double bytes = static_cast<double>(array.bytes) * (1 + 1.0 / kReads);
  return {4 * lanes, scattered, bytes / median(ms) / 1e6};
}

struct Measured {
  std::vector<Latency> latencies;
  std::vector<Throughput> throughputs;
  gpus::GpuFigures figures;
};

Measured measure_all(Backend& backend) {
  Measured measured;
  const std::int64_t l2 = backend.cache_bytes();
  const LargeArray array(backend);
  constexpr std::int64_t kL1Bytes = 8 * 1024;
  const std::int64_t l2_bytes = std::min<std::int64_t>(4 << 20, l2 / 2) / 256 * 256;
  measured.latencies = {
      measure_latency(backend, array, "L1 cache", kL1Bytes, 128, kL1Bytes / 128, 50'000),
      measure_latency(backend, array, "L2 cache", l2_bytes, 128, static_cast<int>(l2_bytes / 128),
                      static_cast<int>(l2_bytes / 128)),
      measure_latency(backend, array, "memory", larger_than_cache(backend, 4), 256, 0, 50'000),
  };
  for (const int lanes : {8, 16, 32}) {
    measured.throughputs.push_back(measure_throughput(backend, array, lanes, true));
  }
  measured.throughputs.push_back(measure_throughput(backend, array, 32, false));

  const Latency& memory = measured.latencies.back();
  for (const Latency& latency : measured.latencies) {
    // Both are of the same steps, so their quotient is the clock, wherever the cells are.
    const double clock = latency.cycles / latency.ns;
    if (std::abs(clock - memory.cycles / memory.ns) > 0.1 * clock) {
      throw std::runtime_error("--measure: " + fixed(clock, 2) +
                               " cycles in a nanosecond for the " + latency.where + ", " +
                               fixed(memory.cycles / memory.ns, 2) +
                               " for memory: the clock changed meanwhile; measure again");
    }
  }
  measured.figures = gpus::present_gpu();
  measured.figures.latency_cycles = static_cast<int>(std::lround(memory.cycles));
  measured.figures.clock_mhz = std::round(memory.cycles / memory.ns * 1000);
  measured.figures.bandwidth_gb_s = std::round(measured.throughputs.back().gb_per_s);
  return measured;
}

// ---- words ----

std::string fixed(double value, int digits) {
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", digits, value);
  return text;
}

std::string columns(const std::vector<std::string>& cells) {
  std::string text = "  " + cells.front();
  text.resize(std::max<std::size_t>(text.size(), 36), ' ');
  for (std::size_t i = 1; i < cells.size(); ++i) {
    text += std::string(cells[i].size() < 14 ? 14 - cells[i].size() : 1, ' ') + cells[i];
  }
  return text + "\n";
}

std::string segment_name(const Throughput& throughput) {
  return std::to_string(throughput.bytes) + " bytes, " +
         (throughput.scattered ? "scattered" : "in order");
}

std::string render(const Measured& measured) {
  std::string text = "latency: one thread, one load after the other\n";
  text += columns({"", "bytes", "stride", "cycles", "ns"});
  for (const Latency& latency : measured.latencies) {
    text += columns({latency.where, with_commas(latency.bytes), std::to_string(latency.stride),
                     fixed(latency.cycles, 1), fixed(latency.ns, 1)});
  }
  text += "throughput of segments\n";
  text += columns({"", "GB/s", "of 128 bytes"});
  const double whole = measured.throughputs[2].gb_per_s;
  for (const Throughput& throughput : measured.throughputs) {
    text += columns({segment_name(throughput), fixed(throughput.gb_per_s, 0),
                     fixed(100 * throughput.gb_per_s / whole, 1) + " %"});
  }
  const gpus::GpuFigures& here = measured.figures;
  const gpus::GpuFigures& known = gpus::present_gpu();
  text += "what the planner makes of it\n";
  text += columns({"", "measured", known.key == "present" ? "told" : "built in"});
  const auto line = [&](const std::string& what, auto figure) {
    text += columns({what, with_commas(std::llround(static_cast<double>(figure(here)))),
                     with_commas(std::llround(static_cast<double>(figure(known))))});
  };
  line("latency (cycles)", [](const gpus::GpuFigures& gpu) { return gpu.latency_cycles; });
  line("clock (MHz)", [](const gpus::GpuFigures& gpu) { return gpu.clock_mhz; });
  line("bandwidth (GB/s)", [](const gpus::GpuFigures& gpu) { return gpu.bandwidth_gb_s; });
  line("bytes per cycle", bytes_per_cycle);
  line("V_s (bytes)",
       [](const gpus::GpuFigures& gpu) { return volume_to_hide_latency(gpu).whole_bytes; });
  line("loads in flight per thread", loads_per_thread);
  line("N_FMA, 2 FMAs/core/cycle as printed", [](const gpus::GpuFigures& gpu) {
    return gpus::fma_to_hide_latency(gpu, gpus::FmaCount::as_printed);
  });
  line("N_FMA, 1 as the hardware counts", [](const gpus::GpuFigures& gpu) {
    return gpus::fma_to_hide_latency(gpu, gpus::FmaCount::as_hardware);
  });
  return text;
}

// The figures by the names of their fields, to write and to read them.
template <class Figures, class Visit>
void for_each_figure(Figures& gpu, Visit visit) {
  visit("sms", gpu.sms);
  visit("cores_per_sm", gpu.cores_per_sm);
  visit("latency_cycles", gpu.latency_cycles);
  visit("bandwidth_gb_s", gpu.bandwidth_gb_s);
  visit("clock_mhz", gpu.clock_mhz);
  visit("shared_per_sm", gpu.shared_per_sm);
  visit("shared_per_block", gpu.shared_per_block);
  visit("shared_reserved_per_block", gpu.shared_reserved_per_block);
  visit("registers_per_sm", gpu.registers_per_sm);
  visit("threads_per_sm", gpu.threads_per_sm);
}

std::string to_json(const Results& run, const Measured& measured) {
  Value latencies = Value::array();
  for (const Latency& latency : measured.latencies) {
    latencies.push_back(Value::object({{"where", latency.where},
                                       {"bytes", latency.bytes},
                                       {"stride", latency.stride},
                                       {"cycles", latency.cycles},
                                       {"ns", latency.ns}}));
  }
  Value throughputs = Value::array();
  for (const Throughput& throughput : measured.throughputs) {
    throughputs.push_back(
        Value::object({{"bytes", throughput.bytes},
                       {"scattered", throughput.scattered},
                       {"gb_per_s", throughput.gb_per_s},
                       {"share_of_128", throughput.gb_per_s / measured.throughputs[2].gb_per_s}}));
  }
  Value figures = Value::object({{"name", measured.figures.name}});
  for_each_figure(measured.figures, [&](const char* name, auto value) { figures[name] = value; });
  const auto derived = [](const gpus::GpuFigures& gpu) -> Value {
    const VolumeToHideLatency volume = volume_to_hide_latency(gpu);
    return Value::object(
        {{"latency_cycles", gpu.latency_cycles},
         {"bytes_per_cycle", bytes_per_cycle(gpu)},
         {"V_s", volume.whole_bytes},
         {"loads_per_sm", volume.words_per_sm},
         {"loads_per_thread", loads_per_thread(gpu)},
         {"N_FMA_as_printed", gpus::fma_to_hide_latency(gpu, gpus::FmaCount::as_printed)},
         {"N_FMA_as_hardware", gpus::fma_to_hide_latency(gpu, gpus::FmaCount::as_hardware)}});
  };
  const Value json =
      Value::object({{"command", run.command},
                     {"date", run.date},
                     {"machine", Value::object({{"gpu", run.machine.gpu},
                                                {"driver", run.machine.driver},
                                                {"cuda", run.machine.cuda},
                                                {"multiprocessors", run.machine.multiprocessors},
                                                {"l2_bytes", run.machine.l2_bytes}})},
                     {"rounds", kRounds},
                     {"latency", latencies},
                     {"segments", throughputs},
                     {"figures", figures},
                     {"measured", derived(measured.figures)},
                     {"built_in", derived(gpus::present_gpu())}});
  return json.dump(1) + "\n";
}

int run_checked(int argc, const char* const* argv, Backend& backend) {
  bool measure = false;
  std::string json;
  CommandLine line("07_single_channel_adaptive --measure: the planner's figures, measured here",
                   "Exit status: 0 good, 1 a check failed, 2 wrong use, 77 not run.");
  line.flag("--measure", measure, "measure latency and throughput of global memory");
  line.option("--json", "FILE", json, "also write the figures to this file");
  if (!line.parse(argc, argv)) return 0;
  if (!json.empty()) data::require_writable(json);
  if (const std::string reason = backend.unavailable(); !reason.empty()) {
    std::fprintf(stderr, "measure: NOT RUN: %s\n", reason.c_str());
    return 77;
  }
  Results results = new_results(argc, argv, 0);
  backend.describe(results.machine);

  const std::vector<std::string> faults = check(backend, results.seed);
  for (const std::string& fault : faults) std::printf("FAIL: %s\n", fault.c_str());
  if (!faults.empty()) return 1;
  std::printf("check: PASS%s\n", backend.observes() ? ", hazards none, traffic as predicted" : "");
  if (!backend.times()) {
    std::printf("times: NOT RUN: %s\n", backend.no_time_reason().c_str());
    return 0;
  }
  const Measured measured = measure_all(backend);
  std::fputs((gpus::present_gpu().name + "\n" + render(measured)).c_str(), stdout);
  if (!json.empty()) data::write_file(json, to_json(results, measured));
  return 0;
}

}  // namespace

bool asked_for(int argc, const char* const* argv) {
  return std::any_of(argv, argv + argc,
                     [](const char* word) { return std::strcmp(word, "--measure") == 0; });
}

int run(int argc, const char* const* argv, std::unique_ptr<Backend> backend) {
  return guarded_main(argv[0], [&] { return run_checked(argc, argv, *backend); });
}

std::vector<std::string> check(Backend& backend, std::uint64_t seed) {
  std::vector<std::string> faults;
  check_chase(backend, seed, faults);
  for (const int lanes : {8, 16, 32}) {
    check_segments(backend, lanes, true, faults);
    check_segments(backend, lanes, false, faults);
  }
  return faults;
}

gpus::GpuFigures figures_from_file(const std::string& path) {
  const std::string text = data::read_file(path);
  try {
    const Value figures = Value::parse(text).at("figures");
    gpus::GpuFigures gpu;
    gpu.key = path;
    gpu.name = figures.at("name").get<std::string>() + " as measured";
    for_each_figure(gpu, [&](const char* name, auto& value) {
      figures.at(name).get_to(value);
      gpu.sources.push_back({name, path});
    });
    require_usable(gpu);
    return gpu;
  } catch (const json::Error& error) {
    throw std::invalid_argument(path + ": not a file that --measure wrote: " + error.what());
  }
}

}  // namespace halo::single_channel_adaptive::measure
