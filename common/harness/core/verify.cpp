#include "common/harness/core/verify.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <thread>

#include "common/conv/sectors.hpp"

namespace halo {

namespace {

bool same_place(const Hazard& a, const Hazard& b) {
  return a.kind == b.kind && a.file == b.file && a.line == b.line && a.other_file == b.other_file &&
         a.other_line == b.other_line && a.array == b.array;
}

void add_hazard(Hazards& hazards, const std::string& where, const Hazard& hazard) {
  if (hazards.findings.empty()) hazards.reason = "first with " + where;
  hazards.outcome = Outcome::bad;
  for (Hazard& known : hazards.findings) {
    if (same_place(known, hazard)) {
      const std::uint64_t count = known.count + hazard.count;
      // Where a small problem has one warp only, __syncwarp would do.
      if (hazard.remedy > known.remedy) known = hazard;
      known.count = count;
      return;
    }
  }
  hazards.findings.push_back(hazard);
}

// The first lines say enough: a kernel that prints does so with every problem.
void add_printed(const simt::Printed& more, const std::string& where, Printed& all) {
  constexpr std::size_t kMostLines = 20;
  if (more.total == 0) return;
  if (all.total == 0) {
    all.where = where;
    all.lines.assign(more.lines.begin(),
                     more.lines.begin() + std::min(kMostLines, more.lines.size()));
  }
  all.total += more.total;
}

// A write that nobody may make, beside an array or in one that must be left alone.
void add_stray_write(const Verified& verified, const std::string& array, const std::string& message,
                     Row& row) {
  Hazard hazard;
  hazard.kind = "stray_write";
  hazard.file = verified.source;
  hazard.array = array;
  hazard.count = 1;
  hazard.message = message;
  add_failure(row.check, verified.where, message);
  add_hazard(row.hazards, verified.where, hazard);
}

// Before the launch, on the host.
void add_misread(const Verified& verified, Row& row) {
  Hazard hazard;
  hazard.kind = "out_of_bounds";
  hazard.file = verified.source;
  hazard.array = verified.set_up_misread;
  hazard.count = 1;
  hazard.message = verified.set_up_name + " reads past the end of the " + verified.set_up_misread +
                   " in host memory";
  add_failure(row.check, verified.where, hazard.message);
  add_hazard(row.hazards, verified.where, hazard);
}

// Bit by bit: a NaN that was written must show. Large parts on all cores: that is most of what
// checking an input takes.
bool same_bits(std::span<const float> cells, std::span<const float> values) {
  constexpr std::size_t kCellsOfAThread = std::size_t{1} << 20;
  const std::size_t cores = std::max(1u, std::thread::hardware_concurrency());
  const std::size_t parts = std::clamp<std::size_t>(cells.size() / kCellsOfAThread, 1, cores);
  std::atomic<bool> same = true;
  const auto compare_part = [&](std::size_t part) {
    const std::size_t from = cells.size() * part / parts;
    const std::size_t to = cells.size() * (part + 1) / parts;
    if (std::memcmp(&cells[from], &values[from], (to - from) * sizeof(float)) != 0) same = false;
  };
  std::vector<std::thread> threads;
  for (std::size_t part = 1; part < parts; ++part) threads.emplace_back(compare_part, part);
  compare_part(0);
  for (std::thread& thread : threads) thread.join();
  return same;
}

// Calls visit(first cell, cells, what they should hold) until it returns false. Parts end where the
// values begin again.
template <class Visit>
void for_each_kept_part(const KeptArray& kept, Visit visit) {
  bool wanted = true;
  kept.array->for_each_part([&](std::size_t first, std::span<const float> cells) {
    while (wanted && !cells.empty()) {
      const std::size_t at = first % kept.values.size();
      const std::size_t count = std::min(cells.size(), kept.values.size() - at);
      wanted = visit(first, cells.first(count), kept.values.subspan(at, count));
      first += count;
      cells = cells.subspan(count);
    }
  });
}

void require_unchanged(const Verified& verified, const KeptArray& kept, Row& row) {
  std::ptrdiff_t changed = -1;
  for_each_kept_part(
      kept, [&](std::size_t first, std::span<const float> cells, std::span<const float> values) {
        if (same_bits(cells, values)) return true;
        std::size_t at = 0;
        while (std::memcmp(&cells[at], &values[at], sizeof(float)) == 0) ++at;
        changed = static_cast<std::ptrdiff_t>(first + at);
        return false;
      });
  if (changed < 0) return;
  if (!kept.array->is_sparse()) write(kept);  // for the next launch; of those there is none
  add_stray_write(
      verified, kept.name,
      "the " + kept.name + " was changed, at " + kept.name + "[" + std::to_string(changed) + "]",
      row);
}

// What must be as it was before a launch or a packing, and the cells beside it.
void require_untouched(const Verified& verified, const std::vector<KeptArray>& kept, Row& row) {
  for (const KeptArray& one : kept) require_unchanged(verified, one, row);
  const auto require_no_stray_write = [&](const Array* array, const std::string& name) {
    if (array == nullptr) return;
    const std::string stray = array->stray_write(name);
    if (!stray.empty()) add_stray_write(verified, name, stray, row);
  };
  require_no_stray_write(verified.output, "output");
  for (const KeptArray& one : kept) require_no_stray_write(one.array, one.name);
  require_no_stray_write(verified.workspace, "workspace");
}

void compare(const Verified& verified, const std::vector<KeptArray>& kept, Row& row) {
  conv::Comparison comparison;
  verified.output->for_each_part([&](std::size_t first, std::span<const float> cells) {
    comparison.merge(verified.judge(first, cells));
    if (verified.keep) verified.keep(cells);
  });
  if (!verified.exact) {
    row.check.worst_share = std::max(row.check.worst_share, comparison.worst_share);
  }
  if (!comparison.passed()) {
    std::string text = comparison.describe();
    // Far off it is no question of arithmetic.
    constexpr double kNear = 100;
    if (!verified.arithmetic.empty() && comparison.worst_share < kNear) {
      text += "\n  The bound is that of " + verified.arithmetic +
              "; a kernel that computes otherwise says so (Arithmetic in common/harness/kernel.h)";
    }
    add_failure(row.check, verified.where, text);
  }
  require_untouched(verified, kept, row);
}

double bytes_per_output(const simt::Counters& counters, double outputs) {
  return static_cast<double>(counters.global_load_sectors + counters.global_store_sectors) *
         conv::kSectorBytes / outputs;
}

}  // namespace

void write(const KeptArray& kept) { write(kept, *kept.array, 0); }

void write(const KeptArray& kept, Array& array, std::size_t first) {
  const std::size_t count = kept.array->size();
  for (std::size_t at = 0; at < count; at += kept.values.size()) {
    array.write(kept.values.first(std::min(kept.values.size(), count - at)), first + at);
  }
}

void add_failure(Check& check, const std::string& where, const std::string& what) {
  // The first reason stays.
  if (check.outcome != Outcome::bad) check.reason = where + ": " + what;
  check.outcome = Outcome::bad;
}

namespace {

// The compiler names files from the build folder; readers know them from the project's root.
void name_from_root(const std::string& source, std::string& file) {
  if (file.ends_with("/" + source)) {
    file = source;
    return;
  }
  // Another stage's, or a header.
  for (const char* folder : {"/stages/", "/common/"}) {
    if (const std::size_t at = file.rfind(folder); at != std::string::npos) file.erase(0, at + 1);
  }
}

}  // namespace

void add_seen(const std::string& source, const std::string& where, Observation& launched,
              Row& row) {
  for (Hazard& hazard : launched.hazards) {
    name_from_root(source, hazard.file);
    name_from_root(source, hazard.other_file);
    name_from_root(source, hazard.call_file);
    add_hazard(row.hazards, where, hazard);
  }
  for (LineCounts& line : launched.lines) name_from_root(source, line.file);
  for (LineCounts& line : launched.fp64_lines) name_from_root(source, line.file);
  for (LineCounts& line : launched.tensor_lines) name_from_root(source, line.file);
  add_printed(launched.printed, where, row.printed);
}

namespace {

constexpr const char* kPacked = "packed filters";

// Packs, and again. `values` gets what is packed. False if the device failed.
bool pack(const Verified& verified, Backend& backend, std::vector<float>& values, Row& row) {
  Array& packed = *verified.packed;
  packed.set_name(kPacked);
  values.resize(packed.size());
  if (!verified.pack) {
    packed.read(values);
    return true;
  }
  Verified packing = verified;
  packing.where += ", packing its filters";
  packed.unset();
  std::vector<float> again(values.size());
  for (std::vector<float>* const result : {&values, &again}) {
    Observation seen = backend.run(verified.pack);
    add_seen(packing.source, packing.where, seen, row);
    if (!seen.error.empty()) {
      add_failure(row.check, packing.where, seen.error);
      return false;
    }
    packed.read(*result);
  }
  require_untouched(packing, packing.kept, row);
  const std::string stray = packed.stray_write(kPacked);
  if (!stray.empty()) add_stray_write(packing, kPacked, stray, row);
  if (!same_bits(again, values)) {
    add_failure(row.check, packing.where, "done once more it gives others");
  }
  return true;
}

}  // namespace

bool verify(const Verified& verified, Backend& backend, Row& row, Observation* seen) {
  for (const KeptArray& kept : verified.kept) kept.array->set_name(kept.name);
  verified.output->set_name("output");
  verified.output->poison();
  if (verified.workspace != nullptr) {
    verified.workspace->set_name("workspace");
    verified.workspace->unset();
  }
  if (verified.set_up) {
    const Observation set_up = backend.run(verified.set_up);
    if (!verified.set_up_misread.empty()) add_misread(verified, row);
    if (!set_up.error.empty()) {
      add_failure(row.check, verified.where, verified.set_up_name + ": " + set_up.error);
      return false;
    }
  }
  std::vector<float> packed;
  std::vector<KeptArray> kept = verified.kept;
  if (verified.packed != nullptr) {
    if (!pack(verified, backend, packed, row)) return false;
    kept.push_back({kPacked, verified.packed, packed});
  }
  Observation launched = backend.run(verified.launch);
  add_seen(verified.source, verified.where, launched, row);
  if (seen != nullptr) *seen = launched;
  if (launched.unsupported && verified.unsupported) {
    row.check.reason = verified.unsupported();
    return true;
  }
  if (!launched.error.empty()) {
    add_failure(row.check, verified.where, launched.error);
    return false;
  }
  ++row.check.shapes;
  compare(verified, kept, row);
  return true;
}

void repair(Backend& backend, Row& row) {
  if (!backend.recover()) row.check.reason += "; the device can't be used any more";
}

void settle(const Backend& backend, Row& row) {
  if (row.check.outcome == Outcome::not_run && row.check.shapes > 0) {
    row.check.outcome = Outcome::good;
  }
  if (row.hazards.outcome == Outcome::bad) return;
  if (const std::string reason = backend.not_searched(); !reason.empty()) {
    row.hazards.reason = reason;
  } else if (row.check.shapes > 0) {
    row.hazards.outcome = Outcome::good;
  }
}

void compare_traffic(const Backend& backend, bool finished, const std::function<Cost()>& predict,
                     const std::vector<Observation>& seen, double outputs, const std::string& where,
                     Row& row) {
  Traffic traffic;
  const std::string not_counted = backend.not_counted();
  if (!not_counted.empty() || !finished) {
    traffic.reason = not_counted.empty() ? "the kernel did not finish" : not_counted;
    row.traffic = traffic;
    return;
  }
  const Observation* shown = &seen.front();
  if (predict) {
    const Cost predicted = predict();
    const auto differs = std::find_if(seen.begin(), seen.end(), [&](const Observation& one) {
      return !as_predicted(one.cost, predicted);
    });
    if (differs != seen.end()) shown = &*differs;
    traffic.outcome = differs == seen.end() ? Outcome::good : Outcome::bad;
    traffic.predicted = backend.by_name(predicted);
    traffic.bytes_per_output_predicted = bytes_per_output(predicted, outputs);
    if (!predicted.launches.empty()) {
      traffic.figures.predicted = predicted.launches;
      traffic.figures.fp64_predicted = static_cast<std::int64_t>(predicted.fp64_operations);
      // Most kernels have none, and then nobody is told so.
      if (predicted.tensor_instructions > 0 || shown->cost.tensor_instructions > 0) {
        traffic.figures.tensor_predicted = static_cast<std::int64_t>(predicted.tensor_instructions);
      }
    }
  } else {
    traffic.reason = "nobody predicted it";
  }
  const Cost& counted = shown->cost;
  if (traffic.outcome == Outcome::bad) {
    traffic.reason = where;
    traffic.lines = shown->lines;
  }
  traffic.counted = backend.by_name(counted);
  traffic.bytes_per_output_counted = bytes_per_output(counted, outputs);
  traffic.shared_conflicts =
      static_cast<double>(counted.shared_load_conflicts + counted.shared_store_conflicts);
  if (counted.global_load_requests > 0) {
    traffic.sectors_per_request = static_cast<double>(counted.global_load_sectors) /
                                  static_cast<double>(counted.global_load_requests);
  }
  traffic.figures.counted = counted.launches;
  traffic.figures.fp64_counted = static_cast<std::int64_t>(counted.fp64_operations);
  if (counted.fp64_operations > 0) traffic.figures.fp64_lines = shown->fp64_lines;
  if (counted.tensor_instructions > 0 || traffic.figures.tensor_predicted >= 0) {
    traffic.figures.tensor_counted = static_cast<std::int64_t>(counted.tensor_instructions);
    traffic.figures.tensor_lines = shown->tensor_lines;
  }
  traffic.figures.unfreed_bytes = static_cast<std::int64_t>(counted.unfreed_bytes);
  row.traffic = traffic;
}

}  // namespace halo
