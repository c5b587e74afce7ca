// The simulator as a backend: launches are counted and searched for hazards, never timed.
#include <algorithm>
#include <cstdio>
#include <stdexcept>
#include <utility>

#include "common/conv/accuracy.hpp"
#include "common/harness/backend/cuda.hpp"
#include "common/simt/simulator.hpp"

namespace halo {

namespace {

Hazard to_hazard(const simt::Finding& finding) {
  return {finding.kind,       finding.file,    finding.line,   finding.other_file,
          finding.other_line, finding.block,   finding.thread, finding.array,
          finding.count,      finding.message, finding.remedy, finding.call_file,
          finding.call_line};
}

void add_printed(const simt::Printed& more, simt::Printed& all) {
  const std::size_t room = simt::Printed::kMostLines - all.lines.size();
  all.lines.insert(all.lines.end(), more.lines.begin(),
                   more.lines.begin() + std::min(room, more.lines.size()));
  all.total += more.total;
}

CounterList without_zeros(const simt::Counters& counters) {
  CounterList list;
  for (const simt::CounterField& field : simt::counter_fields()) {
    if (counters.*field.member > 0) list.emplace_back(field.name, counters.*field.member);
  }
  return list;
}

// Of several kernels that share lines, or that are launched again, the sum.
void add_line(const LineCounts& line, std::vector<LineCounts>& all) {
  if (line.counted.empty()) return;
  const auto known = std::find_if(all.begin(), all.end(), [&](const LineCounts& other) {
    return other.file == line.file && other.line == line.line;
  });
  if (known == all.end()) {
    all.push_back(line);
    return;
  }
  for (const auto& [name, value] : line.counted) {
    const auto same =
        std::find_if(known->counted.begin(), known->counted.end(),
                     [&, &name = name](const auto& other) { return other.first == name; });
    if (same != known->counted.end()) {
      same->second += value;
    } else {
      known->counted.emplace_back(name, value);
    }
  }
}

void add_lines(const simt::Launch& launch, Observation& seen) {
  for (const simt::LineCounters& line : launch.lines) {
    add_line({line.file, line.line, without_zeros(line.counters)}, seen.lines);
    if (line.local_sectors > 0) {
      add_line({line.file, line.line, {{"local_sectors", line.local_sectors}}}, seen.lines);
    }
    if (line.fp64_operations > 0) {
      add_line({line.file, line.line, {{"fp64_operations", line.fp64_operations}}},
               seen.fp64_lines);
    }
    if (line.tensor_instructions > 0) {
      add_line({line.file, line.line, {{"tensor_instructions", line.tensor_instructions}}},
               seen.tensor_lines);
    }
  }
}

class SimulatedBackend final : public CudaBackend {
 public:
  explicit SimulatedBackend(const simt::Simulator& simulator) : simulator_(simulator) {}

  std::string name() const override { return "sim"; }
  bool observes() const override { return true; }
  CounterList by_name(const simt::Counters& counters) const override {
    CounterList list;
    for (const simt::CounterField& field : simt::counter_fields()) {
      if (field.is_told(counters)) list.emplace_back(field.name, counters.*field.member);
    }
    return list;
  }
  simt::Coverage take_coverage() override { return simulator_.take_coverage(); }
  std::string not_counted() const override {
    return simulator_.counts() ? "" : "SIMT_CHECKS=none: nothing was counted";
  }
  std::string not_searched() const override {
    return simulator_.searches() ? "" : "SIMT_CHECKS asks for no search";
  }
  bool times() const override { return false; }
  std::string no_time_reason() const override {
    return "no GPU: the simulator counts traffic, its own time says nothing about a GPU's";
  }

  std::unique_ptr<Batch> batch(std::function<int(int)>, int) override {
    throw std::logic_error("the simulator has no time");
  }

  void poison(float* memory, std::size_t count, float with) override {
    simulator_.poison(memory, count, with);
  }
  void name_memory(const void* memory, const std::string& name) override {
    simulator_.name_allocation(memory, name);
  }
  void pass_on_output(bool passes) override { passes_on_output_ = passes; }
  bool be_tiny(bool is_tiny) override { return simulator_.set_gpu(is_tiny ? "tiny" : ""); }
  std::size_t sparse_floats() const override {
    return not_searched().empty() ? simulator_.sparse_floats() : 0;
  }
  float* allocate_sparse(std::size_t count, std::span<const float> values) override {
    float* const memory = simulator_.allocate_sparse(count, values);
    if (memory == nullptr) {
      throw std::runtime_error("there are no addresses for " + std::to_string(count) +
                               " cells of which only some are there");
    }
    return memory;
  }
  std::vector<simt::WrittenPart> written_parts(const float* memory) const override {
    return simulator_.written_parts(memory);
  }
  void run_only_blocks(ChooseBlocks choose) override {
    simulator_.run_only_blocks(std::move(choose));
  }
  // Allocations have their exact size: the simulator itself sees every access beyond them.
  std::size_t guard_cells() const override { return 0; }

 protected:
  void begin_observation() override {
    simulator_.take_launches();
    allocations_before_ = simulator_.allocations_made();
    copied_before_ = simulator_.bytes_copied();
  }
  // A launch is over when the default stream is: what its callers do next waits for no other.
  void after_launch(Observation& seen) override {
    for (const simt::Finding& finding : simulator_.unjoined_work()) {
      seen.hazards.push_back(to_hazard(finding));
    }
  }
  void end_observation(Observation& seen) override {
    for (const simt::Launch& launch : simulator_.take_launches()) {
      if (launch.grid[0] != 0) {
        ++seen.kernels;
        seen.cost.add(Cost(launch.counters));
        seen.cost.add(
            {.launches = 1,
             .blocks = std::uint64_t{1} * launch.grid[0] * launch.grid[1] * launch.grid[2],
             .threads = std::uint64_t{1} * launch.block[0] * launch.block[1] * launch.block[2],
             .shared_bytes = launch.shared_bytes});
        seen.cost.fp64_operations += launch.fp64_operations;
        seen.cost.tensor_instructions += launch.tensor_instructions;
        seen.cost.other += launch.other;
        add_lines(launch, seen);
      }
      add_printed(launch.printed, seen.printed);
      if (passes_on_output_) {
        for (const std::string& line : launch.printed.lines) std::printf("%s\n", line.c_str());
      }
      for (const simt::Finding& finding : launch.findings) {
        // CUDA lets threads end before a barrier, more or less; a stage may not. And a kernel that reads before it
        // waits is right behind one that lets nobody begin early, but a stage's may come after any.
        if (!finding.is_note() || finding.kind == "missed_barrier" ||
            finding.kind == "unordered_launches") {
          seen.hazards.push_back(to_hazard(finding));
        }
      }
    }
    seen.cost.copied_bytes = simulator_.bytes_copied() - copied_before_;
    seen.unfreed = simulator_.live_allocations(allocations_before_);
    for (const simt::LiveAllocation& live : seen.unfreed) seen.cost.unfreed_bytes += live.bytes;
  }
  std::string error_detail() override { return simulator_.last_error_detail(); }

 private:
  const simt::Simulator& simulator_;
  int allocations_before_ = 0;
  std::uint64_t copied_before_ = 0;
  bool passes_on_output_ = false;
};

}  // namespace

std::unique_ptr<Backend> make_simulated_backend(const simt::Simulator& simulator) {
  return std::make_unique<SimulatedBackend>(simulator);
}

}  // namespace halo
