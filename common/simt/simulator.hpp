// What a program can ask the simulator that it may be running on. The program is built as for a GPU, by nvcc, and links
// nothing for this: where NVIDIA's runtime is loaded, there is no simulator.
//
//   if (const simt::Simulator* const simulator = simt::simulator()) {
//     for (const simt::Launch& launch : simulator->take_launches()) ...
//   }
#pragma once

#if __cplusplus <= 201703L
#error "simt/simulator.hpp needs C++20: compile with -std=c++20"
#else

#include <dlfcn.h>

#include "simt.hpp"  // beside this file, wherever it is installed

namespace simt {

/// The functions of simt.hpp, which says what they do, and two that the host can't do for itself where device memory is
/// not its own.
struct Simulator {
  std::vector<Launch> (*take_launches)();
  void (*trace_launches)(unsigned of_each_kernel);
  Coverage (*take_coverage)();
  void (*set_checks)(const std::string& list);
  bool (*counts)();    // whether SIMT_CHECKS lets anything be counted,
  bool (*searches)();  // and whether anything wrong is searched for
  void (*name_allocation)(const void* pointer, const std::string& name);
  int (*allocations_made)();
  std::vector<LiveAllocation> (*live_allocations)(int made);
  std::uint64_t (*bytes_copied)();
  std::vector<Finding> (*unjoined_work)();
  void (*run_only_blocks)(std::function<std::vector<BlockRange>(std::uint64_t blocks)> choose);
  float* (*allocate_sparse)(std::size_t floats, std::span<const float> values);
  std::size_t (*sparse_floats)();
  std::vector<WrittenPart> (*written_parts)(const float* memory);
  std::string (*last_error_detail)();
  /// Memory of cudaMalloc holds this value everywhere, and counts as not written.
  void (*poison)(float* memory, std::size_t floats, float value);
  /// From now on the GPU is this one, as SIMT_GPU names it, or "tiny", which has little of everything; "": that of SIMT_GPU
  /// again. False if there is none of that name.
  bool (*set_gpu)(const std::string& key);
  /// From now on what the program asks of the device is noted and not done, or no longer (cudart/recording.hpp).
  void (*record)(bool is_on);
  /// What was noted since the last time, and does what another process has noted. replay throws std::runtime_error.
  std::string (*take_recorded)();
  void (*replay)(const std::string& recorded);
};

/// Changes with the structures above: a program and a simulator that do not know the same one do not meet.
inline constexpr int kSimulatorVersion = 4;

/// Null where there is none, as on a GPU.
inline const Simulator* simulator() {
  using Ask = const Simulator* (*)(int);
  static const Simulator* const found = [] {
    const auto ask = reinterpret_cast<Ask>(dlsym(RTLD_DEFAULT, "simt_simulator"));
    return ask != nullptr ? ask(kSimulatorVersion) : nullptr;
  }();
  return found;
}

}  // namespace simt

// What programs in other languages ask, who have no structures of C++. A text stays until this thread's next call.
extern "C" {
/// simt::take_launches(), as JSON: a list of entries as SIMT_REPORT has them, each with the `printed` lines.
const char* simt_take_launches();
/// simt::take_coverage() of kernels that were launched, as the `coverage` of SIMT_REPORT.
const char* simt_take_coverage();
void simt_name_allocation(const void* pointer, const char* name);
const char* simt_last_error_detail();
}

#endif
