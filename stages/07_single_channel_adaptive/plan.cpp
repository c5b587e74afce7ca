#include "stages/07_single_channel_adaptive/plan.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <stdexcept>
#include <utility>

#include "common/conv/quotient.hpp"
#include "common/report/command_line.hpp"

namespace halo::single_channel_adaptive {

namespace {

constexpr int kWarp = 32;
constexpr int kWord = 4;  // bytes of a float

// The smallest d in [1, most] for which holds(d), 0 if none: holds must be false, then true.
template <class Predicate>
std::int64_t smallest(std::int64_t most, Predicate holds) {
  if (!holds(most)) return 0;
  std::int64_t low = 1;
  std::int64_t high = most;
  while (low < high) {
    const std::int64_t middle = low + (high - low) / 2;
    if (holds(middle)) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

// The largest d in [1, most] for which holds(d), 0 if none: holds must be true, then false.
template <class Predicate>
std::int64_t largest(std::int64_t most, Predicate holds) {
  const std::int64_t first_false = smallest(most, [&](std::int64_t d) { return !holds(d); });
  return first_false == 0 ? most : first_false - 1;
}

// How much one piece holds, as the formulas count. Whole numbers below 2^53 unless the quotients
// are exact; F may be larger, where a rounding of 1e-16 changes no comparison with N_FMA.
struct Amounts {
  double rows = 0;
  double filters = 0;
  double bytes = 0;
  double fma = 0;
};

class Divider {
 public:
  Divider(const gpus::GpuFigures& gpu, const Problem& problem, Quotients quotients)
      : sms_(gpu.sms), problem_(problem), quotients_(quotients) {}

  // What the own divisor (P or Q) counts, and what an SM's share counts.
  std::int64_t most(Method method) const { return by_filters(method) ? problem_.Wy : problem_.M; }
  std::int64_t share(Method method) const { return quotient_up(spread(method), sms_); }

  Amounts amounts(Method method, std::int64_t divisor, std::int64_t share_pieces = 1) const {
    const double own = quotient(static_cast<double>(most(method)), divisor);
    const double share =
        quotient(quotient(static_cast<double>(spread(method)), sms_), share_pieces);
    Amounts amounts;
    amounts.rows = by_filters(method) ? own : share;
    amounts.filters = by_filters(method) ? share : own;
    const double taps = static_cast<double>(problem_.K * problem_.K) * amounts.filters;
    const double width = static_cast<double>(problem_.Wx);
    amounts.bytes = kWord * (width * (amounts.rows + static_cast<double>(problem_.K - 1)) + taps);
    amounts.fma = taps * width * amounts.rows;
    return amounts;
  }

  Piece piece(Method method, std::int64_t divisor, std::int64_t share_pieces = 1) const {
    const Amounts exact = amounts(method, divisor, share_pieces);
    Piece piece;
    piece.rows = static_cast<std::int64_t>(std::ceil(exact.rows));
    piece.filters = static_cast<std::int64_t>(std::ceil(exact.filters));
    piece.pieces = divisor * share_pieces;
    piece.sms = quotient_up(spread(method), share(method));
    piece.bytes = static_cast<std::int64_t>(std::ceil(exact.bytes));
    piece.fma = static_cast<std::int64_t>(exact.fma);
    piece.in_flight = piece.bytes * piece.sms;
    return piece;
  }

 private:
  static bool by_filters(Method method) { return method == Method::filters_over_sms; }
  // What is spread over the SMs.
  std::int64_t spread(Method method) const { return by_filters(method) ? problem_.M : problem_.Wy; }

  double quotient(double a, std::int64_t b) const {
    const double exact = a / static_cast<double>(b);
    return quotients_ == Quotients::rounded_up ? std::ceil(exact) : exact;
  }

  std::int64_t sms_;
  Problem problem_;
  Quotients quotients_;
};

void require_usable(const Problem& problem) {
  for (const auto& [letter, value] : {std::pair{"Wx", problem.Wx}, std::pair{"Wy", problem.Wy},
                                      std::pair{"K", problem.K}, std::pair{"M", problem.M}}) {
    if (value >= 1 && value <= conv::kMaxElements) continue;
    throw std::invalid_argument(std::string("single-channel problem: ") + letter + " = " +
                                std::to_string(value) + ", must be from 1 to " +
                                std::to_string(conv::kMaxElements));
  }
  const auto require = [](const char* what, std::int64_t a, std::int64_t b) {
    if (a <= conv::kMaxElements / b) return;
    throw std::invalid_argument(std::string("single-channel problem: ") + what + " has more than " +
                                std::to_string(conv::kMaxElements) + " elements");
  };
  require("the map", problem.Wx, problem.Wy);
  require("a filter", problem.K, problem.K);
  require("the set of filters", problem.K * problem.K, problem.M);
  require("the output", problem.Wx * problem.Wy, problem.M);
}

std::string plain(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.10g", value);
  return text;
}

std::string counted(std::int64_t number, const std::string& thing) {
  return with_commas(number) + " " + thing + (number == 1 ? "" : "s");
}

const char* letter(Method method) { return method == Method::filters_over_sms ? "P" : "Q"; }
const char* number(Method method) { return method == Method::filters_over_sms ? "1" : "2"; }

std::string long_name(Method method) {
  return method == Method::filters_over_sms ? "method 1 (filters over SMs, map in P strips)"
                                            : "method 2 (map over SMs, filters in Q groups)";
}

std::string division(const Plan& plan) {
  std::string text = std::string("method ") + number(plan.method) + ", P " + with_commas(plan.P) +
                     ", Q " + with_commas(plan.Q);
  if (plan.share_pieces > 1) {
    text += ", an SM's share in " + with_commas(plan.share_pieces) + " pieces";
  }
  return text;
}

std::string on_chip(const Plan& plan, const Piece& piece) {
  return counted(piece.rows, "row") + " and " + counted(plan.problem.K - 1, "halo row") + " of " +
         with_commas(plan.problem.Wx) + ", " + counted(piece.filters, "filter") + " of " +
         std::to_string(plan.problem.K) + "x" + std::to_string(plan.problem.K) + ", on " +
         counted(piece.sms, "SM");
}

std::string bounds(const Plan& plan, const Candidate& candidate) {
  const std::string name = letter(candidate.method);
  const std::string index = number(candidate.method);
  std::string text = long_name(candidate.method) + "\n";
  text += "  (1) F" + index + " >= N_FMA and " + name + " <= " + with_commas(candidate.most) + ": ";
  text += candidate.highest > 0 ? name + " <= " + with_commas(candidate.highest)
                                : "none, even " + name + " = 1 has too few FMAs";
  text += "\n  (2) D" + index + " <= shared memory: ";
  text += candidate.lowest_shared > 0
              ? name + " >= " + with_commas(candidate.lowest_shared)
              : "none, even " + name + " = " + with_commas(candidate.most) + " does not fit";
  if (plan.options.prefetch_in_registers) {
    text += "\n      D" + index + " <= registers to prefetch into: ";
    if (candidate.lowest_shared == 1) {
      text += "not asked, " + name + " = 1 leaves nothing to prefetch";
    } else {
      text += candidate.lowest_registers > 0
                  ? name + " >= " + with_commas(candidate.lowest_registers)
                  : "none";
    }
  }
  text += "\n  (3) ";
  text += candidate.in_range ? "smallest in range: " : "none in range, set to 1: ";
  text += name + " = " + with_commas(candidate.divisor);
  text += "\n      " + on_chip(plan, candidate.piece);
  text += "\n      D" + index + " = " + with_commas(candidate.piece.bytes) + " bytes, F" + index +
          " = " + with_commas(candidate.piece.fma) + " FMAs, " +
          with_commas(candidate.piece.in_flight) + " bytes in flight\n";
  return text;
}

}  // namespace

void require_usable(const gpus::GpuFigures& gpu) {
  const std::string name = gpu.name.empty() ? "the GPU" : gpu.name;
  const auto require = [&](const char* what, double value, double least) {
    // Not value < least: a NaN must not slip through.
    if (value >= least && value <= 1e9) return;
    throw std::invalid_argument(name + ": " + what + " must be from " +
                                std::to_string(static_cast<int>(least)) + " to 1,000,000,000");
  };
  require("the number of SMs", gpu.sms, 1);
  require("the number of cores per SM", gpu.cores_per_sm, 1);
  require("the latency in cycles", gpu.latency_cycles, 1);
  require("the bandwidth in GB/s", gpu.bandwidth_gb_s, 1);
  require("the clock in MHz", gpu.clock_mhz, 1);
  require("the bandwidth in bytes per cycle", gpu.bandwidth_gb_s * 1000 / gpu.clock_mhz, 1);
  require("the shared memory per SM in bytes", gpu.shared_per_sm, 1);
  require("the shared memory per block in bytes", gpu.shared_per_block, 1);
  require("the shared memory reserved per block in bytes", gpu.shared_reserved_per_block, 0);
  require("the number of registers per SM", gpu.registers_per_sm, 1);
  require("the number of threads per SM", gpu.threads_per_sm, 1);
  if (gpu.threads_per_sm < kThreadsPerSm) {
    throw std::invalid_argument(name + ": " + std::to_string(gpu.threads_per_sm) +
                                " threads per SM; the plan launches " +
                                std::to_string(kThreadsPerSm));
  }
  if (gpu.registers_per_sm / kThreadsPerSm < kLeastRegisters) {
    throw std::invalid_argument(name + ": " + std::to_string(gpu.registers_per_sm) +
                                " registers per SM; the plan needs " +
                                std::to_string(kLeastRegisters) + " for each of " +
                                std::to_string(kThreadsPerSm) + " threads");
  }
  if (gpu.shared_per_sm / kBlocksPerSm - gpu.shared_reserved_per_block < kWord) {
    throw std::invalid_argument(name + ": no shared memory is left for " +
                                std::to_string(kBlocksPerSm) + " blocks per SM");
  }
}

std::int64_t bytes_per_cycle(const gpus::GpuFigures& gpu) {
  // Whole bytes, as the paper: 484e9 / 1480e6 = 327.03 is its "roughly 327".
  return static_cast<std::int64_t>(std::floor(gpu.bandwidth_gb_s * 1000 / gpu.clock_mhz));
}

VolumeToHideLatency volume_to_hide_latency(const gpus::GpuFigures& gpu) {
  VolumeToHideLatency volume;
  volume.bytes = bytes_per_cycle(gpu) * gpu.latency_cycles;
  // The paper's 21,120 is 84,366 / 4 = 21,091.5 in whole warps (it is 660 x 32).
  volume.threads = rounded_up(quotient_up(volume.bytes, kWord), kWarp);
  volume.words_per_sm = quotient_up(volume.bytes, std::int64_t{kWord} * gpu.sms);
  volume.threads_per_sm = rounded_up(quotient_up(volume.threads, gpu.sms), kWarp);
  volume.warps_per_sm = volume.threads_per_sm / kWarp;
  volume.bytes_per_sm = volume.threads_per_sm * kWord;
  volume.whole_bytes = volume.bytes_per_sm * gpu.sms;
  return volume;
}

std::int64_t loads_per_thread(const gpus::GpuFigures& gpu) {
  return quotient_up(volume_to_hide_latency(gpu).words_per_sm, kThreadsPerSm);
}

void require_single_channel(const conv::ConvLayer& layer) {
  const std::string name = "layer " + conv::label(layer) + ": ";
  if (layer.C() != 1) {
    throw std::invalid_argument(name + std::to_string(layer.C()) +
                                " channels; the single-channel method needs 1");
  }
  if (layer.stride_h() != 1 || layer.stride_w() != 1) {
    throw std::invalid_argument(name + "the single-channel method needs stride 1");
  }
}

Problem problem_of(const conv::ConvLayer& layer) {
  require_single_channel(layer);
  if (layer.R() != layer.S()) {
    throw std::invalid_argument("layer " + conv::label(layer) +
                                ": the single-channel method needs square filters");
  }
  return {.Wx = std::max(layer.W(), layer.Q()), .Wy = layer.P(), .K = layer.R(), .M = layer.K()};
}

Plan plan(const gpus::GpuFigures& gpu, const Problem& problem, const PlanOptions& options) {
  require_usable(gpu);
  require_usable(problem);

  Plan plan;
  plan.gpu = gpu;
  plan.problem = problem;
  plan.options = options;
  plan.n_fma = gpus::fma_to_hide_latency(gpu, options.fma);
  plan.volume = volume_to_hide_latency(gpu);
  plan.loads_per_thread = loads_per_thread(gpu);
  plan.input_bytes = kWord * (problem.Wx * problem.Wy + problem.K * problem.K * problem.M);
  // Each of the SM's two blocks gets half, less what the system takes.
  plan.shared_bytes =
      kBlocksPerSm *
      std::int64_t{std::min(gpu.shared_per_block,
                            gpu.shared_per_sm / kBlocksPerSm - gpu.shared_reserved_per_block)};
  if (options.prefetch_in_registers) {
    // The kernels are compiled with kFetchedAhead registers to prefetch into, however many there are.
    const int free_registers = gpu.registers_per_sm / kThreadsPerSm - kWorkRegisters;
    plan.register_bytes =
        std::int64_t{kWord} * kThreadsPerSm * std::min(free_registers, kFetchedAhead);
  }

  const Divider divider(gpu, problem, options.quotients);
  // "Smaller than" and "larger than" in the paper; we let equality pass, for then the piece fits
  // and the cores are busy.
  //
  // D is one piece: 3.1 asks for no second buffer (3.2 does, for many channels). It has to be so on
  // a Pascal, where the next piece is prefetched into registers.
  const auto fits_shared = [&](const Amounts& amounts) {
    return amounts.bytes <= static_cast<double>(plan.shared_bytes);
  };
  const auto fits_registers = [&](const Amounts& amounts) {
    return !options.prefetch_in_registers ||
           amounts.bytes <= static_cast<double>(plan.register_bytes);
  };

  const auto candidate = [&](Method method) {
    Candidate found;
    found.method = method;
    found.most = divider.most(method);
    found.highest = largest(found.most, [&](std::int64_t divisor) {
      return divider.amounts(method, divisor).fma >= static_cast<double>(plan.n_fma);
    });
    found.lowest_shared = smallest(found.most, [&](std::int64_t divisor) {
      return fits_shared(divider.amounts(method, divisor));
    });
    found.lowest_registers = smallest(found.most, [&](std::int64_t divisor) {
      return fits_registers(divider.amounts(method, divisor));
    });
    if (found.lowest_shared <= 1) {
      // 0, none, or 1: then it is "transferred to the on-chip memory at a time", nothing is
      // prefetched, and registers do not matter.
      found.lowest = found.lowest_shared;
    } else if (found.lowest_registers > 0) {
      found.lowest = std::max(found.lowest_shared, found.lowest_registers);
    }
    found.in_range = found.lowest > 0 && found.lowest <= found.highest;
    found.divisor = found.in_range ? found.lowest : 1;
    found.piece = divider.piece(method, found.divisor);
    return found;
  };
  plan.filters_over_sms = candidate(Method::filters_over_sms);
  plan.map_over_sms = candidate(Method::map_over_sms);

  // Step 4, to the letter: "If D1 is smaller than D2 [...] otherwise", so a tie goes to method 2.
  // The paper argues that "both methods can be used because they both satisfy the requirements",
  // which is not so after a divisor was set to 1; it compares them all the same, and so do we.
  const bool smaller =
      divider.amounts(Method::filters_over_sms, plan.filters_over_sms.divisor).bytes <
      divider.amounts(Method::map_over_sms, plan.map_over_sms.divisor).bytes;
  plan.method = options.only.value_or(smaller ? Method::filters_over_sms : Method::map_over_sms);
  std::int64_t divisor = plan.chosen().divisor;
  plan.decision = plan.chosen().in_range ? Decision::smallest_in_range : Decision::set_to_one;

  if (!plan.chosen().in_range && plan.chosen().lowest_shared != 1) {
    // (If step 4 chose it, the larger does not fit either.) 2.2 says to divide again
    // until the total in flight is larger than V_s, but not how. We keep the method that step 4
    // chose and take the fewest pieces that fit, as step 3 prefers the smaller divisor: fewer and
    // larger pieces also put the most bytes in flight, so if these do not reach V_s, none do. First
    // the method's own divisor; if no value of it fits, because an SM's share alone is too much,
    // the share is cut as well.
    plan.decision = Decision::divided_again;
    const auto fits = [&](std::int64_t own, std::int64_t share_pieces) {
      const Amounts amounts = divider.amounts(plan.method, own, share_pieces);
      return fits_shared(amounts) && fits_registers(amounts);
    };
    const std::int64_t most = divider.most(plan.method);
    const std::int64_t share = divider.share(plan.method);
    divisor = smallest(most, [&](std::int64_t own) { return fits(own, 1); });
    if (divisor == 0) {
      divisor = smallest(most, [&](std::int64_t own) { return fits(own, share); });
      if (divisor == 0) {
        throw std::invalid_argument("single-channel problem: one row of outputs (" +
                                    counted(problem.K, "row") + " of " + with_commas(problem.Wx) +
                                    " cells) and one filter do not fit on an SM of " + gpu.name);
      }
      plan.share_pieces =
          smallest(share, [&](std::int64_t pieces) { return fits(divisor, pieces); });
    }
  }

  (plan.method == Method::filters_over_sms ? plan.P : plan.Q) = divisor;
  plan.piece = divider.piece(plan.method, divisor, plan.share_pieces);
  // 2.2, steps 2 to 4. FMAs hide nothing if there is no next piece to wait for.
  if (plan.piece.pieces > 1 && plan.piece.fma >= plan.n_fma) {
    plan.hiding = Hiding::prefetch;
  } else if (plan.piece.in_flight >= plan.volume.whole_bytes) {
    plan.hiding = Hiding::volume;
  }
  return plan;
}

std::string explain(const Plan& plan) {
  const Problem& problem = plan.problem;
  std::string text = plan.gpu.name + ": map " + with_commas(problem.Wx) + " x " +
                     with_commas(problem.Wy) + ", " + counted(problem.M, "filter") + " of " +
                     std::to_string(problem.K) + "x" + std::to_string(problem.K) + ", input " +
                     with_commas(plan.input_bytes) + " bytes\n";
  text += "to hide the latency of " + with_commas(plan.gpu.latency_cycles) + " cycles\n";
  text += "  N_FMA = " + with_commas(plan.gpu.latency_cycles) + " x " +
          with_commas(plan.gpu.cores_per_sm) + " cores x " +
          (plan.options.fma == gpus::FmaCount::as_printed ? "2, as printed"
                                                          : "1, as the hardware counts") +
          " = " + with_commas(plan.n_fma) + " FMAs per SM\n";
  text += "  V_s = " + with_commas(bytes_per_cycle(plan.gpu)) + " bytes/cycle x " +
          with_commas(plan.gpu.latency_cycles) + " = " + with_commas(plan.volume.bytes) +
          " bytes, in whole warps " + with_commas(plan.volume.threads_per_sm) + " x " +
          with_commas(plan.gpu.sms) + " SMs x 4 = " + with_commas(plan.volume.whole_bytes) + "\n";
  text += "on chip\n";
  text += "  shared memory " + with_commas(plan.shared_bytes) + " bytes per SM";
  if (plan.options.prefetch_in_registers) {
    text += ", registers to prefetch into " + with_commas(plan.register_bytes) + " bytes";
  }
  text += plan.options.quotients == Quotients::rounded_up
              ? "\n  quotients rounded up: what the fullest SM gets\n"
              : "\n  quotients exact, as printed: not a plan to launch\n";
  text += bounds(plan, plan.filters_over_sms);
  text += bounds(plan, plan.map_over_sms);

  const bool first = plan.method == Method::filters_over_sms;
  text += "choice\n";
  if (plan.options.only) {
    text += std::string("  (4) left out: method ") + number(plan.method) + " was asked for\n";
  } else {
    text += "  (4) D1 = " + with_commas(plan.filters_over_sms.piece.bytes) +
            (first ? " < " : " >= ") + "D2 = " + with_commas(plan.map_over_sms.piece.bytes) +
            ": method " + number(plan.method) + ", " + (first ? "Q" : "P") + " = 1\n";
  }
  switch (plan.decision) {
    case Decision::smallest_in_range:
      text +=
          std::string("  decided by step 3: the smallest ") + letter(plan.method) + " in range\n";
      break;
    case Decision::set_to_one:
      text += std::string("  decided by step 3: no ") + letter(plan.method) + " in range, so 1\n";
      break;
    case Decision::divided_again:
      text += std::string("  decided by 2.2: no ") + letter(plan.method) +
              " in range, and 1 does not fit: divided again, fewest pieces that fit\n";
      break;
  }
  text += "plan\n";
  text += "  " + division(plan) + ": " + counted(plan.piece.pieces, "piece") + " per SM\n";
  text += "  a piece: " + on_chip(plan, plan.piece) + "\n";
  text += "  " + with_commas(plan.piece.bytes) + " bytes on chip, " + with_commas(plan.piece.fma) +
          " FMAs, " + with_commas(plan.piece.in_flight) + " bytes in flight\n";
  text += "  " + std::to_string(plan.blocks_per_sm) + " blocks per SM of " +
          std::to_string(plan.threads_per_block) + " threads";
  if (plan.loads_per_thread > 1) {
    text += "; V_s takes " + with_commas(plan.loads_per_thread) +
            " 4-byte loads in flight from each thread";
  }
  text += "\n";
  switch (plan.hiding) {
    case Hiding::prefetch:
      text += "  latency hidden by prefetch: FMAs of a piece >= N_FMA\n";
      break;
    case Hiding::volume:
      text += "  latency hidden by volume: bytes in flight >= V_s\n";
      break;
    case Hiding::neither: {
      text += "  latency shows: ";
      if (plan.piece.fma < plan.n_fma) {
        text += "FMAs of a piece < N_FMA";
      } else {
        text += "FMAs of a piece >= N_FMA, but there is no next piece to prefetch";
      }
      text += ", and bytes in flight < V_s\n";
      const Candidate& other = first ? plan.map_over_sms : plan.filters_over_sms;
      if (other.piece.bytes <= plan.shared_bytes &&
          other.piece.in_flight >= plan.volume.whole_bytes) {
        text += std::string("  (method ") + number(other.method) + " would reach V_s with " +
                with_commas(other.piece.in_flight) + " bytes in flight; step 4 does not look)\n";
      }
      break;
    }
  }
  return text;
}

std::string explain(const gpus::GpuFigures& gpu) {
  require_usable(gpu);
  const VolumeToHideLatency volume = volume_to_hide_latency(gpu);
  std::string text = gpu.name + "\n";
  const auto line = [&](const std::string& what, const std::string& value) {
    text += "  " + what + std::string(what.size() < 36 ? 36 - what.size() : 1, ' ') + value + "\n";
  };
  line("Global memory latency (cycles)", with_commas(gpu.latency_cycles));
  line("Bandwidth (GB/s)", plain(gpu.bandwidth_gb_s));
  line("Clock (MHz)", plain(gpu.clock_mhz));
  line("SMs", with_commas(gpu.sms));
  line("Transmission rate (bytes/cycle)", with_commas(bytes_per_cycle(gpu)));
  line("Data requirement (bytes)", with_commas(volume.bytes));
  line("Thread requirement/SM",
       with_commas(volume.threads_per_sm) + " of " + with_commas(gpu.threads_per_sm) +
           (volume.threads_per_sm > gpu.threads_per_sm ? ", too few" : ""));
  line("Warp requirement/SM", with_commas(volume.warps_per_sm));
  line("Data requirement/SM (bytes)", with_commas(volume.bytes_per_sm));
  line("V_s, of all SMs (bytes)", with_commas(volume.whole_bytes));
  line("N_FMA, 2 FMAs/core/cycle as printed",
       with_commas(gpus::fma_to_hide_latency(gpu, gpus::FmaCount::as_printed)));
  line("N_FMA, 1 as the hardware counts",
       with_commas(gpus::fma_to_hide_latency(gpu, gpus::FmaCount::as_hardware)));
  text += "sources\n";
  for (const gpus::FigureSource& source : gpu.sources) {
    line(source.figure, source.source + (source.inferred ? " (inferred)" : ""));
  }
  return text;
}

bool same_division(const Plan& a, const Plan& b) {
  return a.method == b.method && a.P == b.P && a.Q == b.Q && a.share_pieces == b.share_pieces;
}

}  // namespace halo::single_channel_adaptive
