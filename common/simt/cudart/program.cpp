// What programs ask the simulator: simulator.hpp.
#include <algorithm>
#include <mutex>

#include "common/simt/cudart/allocations.hpp"
#include "common/simt/cudart/calls.hpp"
#include "common/simt/cudart/current_gpu.hpp"
#include "common/simt/cudart/recording.hpp"
#include "common/simt/cudart/settings.hpp"
#include "common/simt/cudart/timeline.hpp"
#include "common/simt/report/json.hpp"
#include "common/simt/simulator.hpp"

namespace simt {
namespace {

void poison(float* memory, std::size_t floats, float value) {
  const std::lock_guard lock(cudart::turn());
  const auto begin = reinterpret_cast<std::uint64_t>(memory);
  if (floats == 0 || cudart::block_at(begin) == nullptr) return;
  std::fill_n(reinterpret_cast<float*>(cudart::reach(begin)), floats, value);
  cudart::memory_checker().initialised().forget(begin, floats * sizeof(float));
}

bool set_gpu(const std::string& key) {
  const std::lock_guard lock(cudart::turn());
  const halo::gpus::Gpu* const gpu = halo::gpus::find(key);
  if (gpu == nullptr && !key.empty()) return false;
  set_current_gpu(gpu);
  return true;
}

}  // namespace

void name_allocation(const void* pointer, const std::string& name) {
  const std::lock_guard lock(cudart::turn());
  cudart::give_name(reinterpret_cast<std::uint64_t>(pointer), name);
}

std::vector<Finding> unjoined_work() {
  const std::lock_guard lock(cudart::turn());
  return cudart::timeline::unjoined();
}

}  // namespace simt

extern "C" {

const simt::Simulator* simt_simulator(int version) {
  static constexpr simt::Simulator kAll = {
      .take_launches = &simt::take_launches,
      .trace_launches = &simt::trace_launches,
      .take_coverage = &simt::take_coverage,
      .set_checks = &simt::set_checks,
      .counts = [] { return simt::settings().checks != 0; },
      .searches = [] { return (simt::settings().checks & ~simt::kCheckCounters) != 0; },
      .name_allocation = &simt::name_allocation,
      .allocations_made = &simt::allocations_made,
      .live_allocations = &simt::live_allocations,
      .bytes_copied = &simt::bytes_copied,
      .unjoined_work = &simt::unjoined_work,
      .run_only_blocks = &simt::run_only_blocks,
      .allocate_sparse = &simt::allocate_sparse,
      .sparse_floats = &simt::sparse_floats,
      .written_parts = &simt::written_parts,
      .last_error_detail = &simt::last_error_detail,
      .poison = &simt::poison,
      .set_gpu = &simt::set_gpu,
      .record = &simt::cudart::set_recording,
      .take_recorded = &simt::cudart::take_recorded,
      .replay = &simt::cudart::replay,
  };
  return version == simt::kSimulatorVersion ? &kAll : nullptr;
}

const char* simt_take_launches() {
  thread_local std::string text;
  text = simt::json_of(simt::take_launches());
  return text.c_str();
}

const char* simt_take_coverage() {
  thread_local std::string text;
  text = simt::json_of(simt::take_coverage());
  return text.c_str();
}

void simt_name_allocation(const void* pointer, const char* name) {
  simt::name_allocation(pointer, name);
}

const char* simt_last_error_detail() {
  thread_local std::string text;
  text = simt::last_error_detail();
  return text.c_str();
}

}  // extern "C"
