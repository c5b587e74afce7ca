#include "common/gpus/gpu_figures.hpp"

#include <stdexcept>

#include "common/gpus/gpu.hpp"

namespace halo::gpus {

namespace {

// What a figure is called whose fact has another name.
std::string figure_of(const std::string& fact) {
  if (fact == "base_clock_mhz" || fact == "boost_clock_mhz") return "clock_mhz";
  if (fact == "shared_per_block_optin") return "shared_per_block";
  return fact;
}

GpuFigures figures_of(const Gpu& gpu) {
  GpuFigures figures;
  figures.key = gpu.key;
  figures.name = gpu.name;
  figures.capability = 10 * gpu.major + gpu.minor;
  figures.sms = gpu.sms;
  figures.cores_per_sm = gpu.cores_per_sm;
  figures.latency_cycles = gpu.latency_cycles;
  figures.bandwidth_gb_s = gpu.bandwidth_gb_s;
  figures.clock_mhz = gpu.latency_clock_mhz();
  figures.shared_per_sm = gpu.shared_per_sm;
  figures.shared_per_block = gpu.shared_per_block_optin;
  figures.shared_reserved_per_block = gpu.shared_reserved_per_block;
  figures.registers_per_sm = gpu.registers_per_sm;
  figures.threads_per_sm = gpu.threads_per_sm;
  for (const Source& source : gpu.sources) {
    figures.sources.push_back({figure_of(source.fact), source.source, source.inferred});
  }
  return figures;
}

}  // namespace

const std::vector<GpuFigures>& built_in_gpus() {
  static const std::vector<GpuFigures> figures = [] {
    std::vector<GpuFigures> known;
    // The paper's first, as messages list them.
    for (const char* key : {"gtx1080ti", "gtxtitanx", "v100", "h200"}) {
      known.push_back(figures_of(*find(key)));
    }
    return known;
  }();
  return figures;
}

const GpuFigures& built_in_gpu(std::string_view key) {
  std::string keys;
  for (const GpuFigures& gpu : built_in_gpus()) {
    if (gpu.key == key) return gpu;
    keys += (keys.empty() ? "" : ", ") + gpu.key;
  }
  throw std::invalid_argument("no figures of a GPU called '" + std::string(key) + "': there are " +
                              keys);
}

GpuLimits limits_of(const GpuFigures& gpu) {
  return {gpu.sms, gpu.shared_per_sm, gpu.shared_per_block, gpu.capability};
}

std::string too_old(const GpuLimits& gpu, int capability) {
  if (gpu.capability >= capability) return {};
  const auto words = [](int of) { return std::to_string(of / 10) + "." + std::to_string(of % 10); };
  return "it needs compute capability " + words(capability) + ", the GPU has " +
         words(gpu.capability);
}

std::int64_t fma_to_hide_latency(const GpuFigures& gpu, FmaCount count) {
  const std::int64_t per_core = count == FmaCount::as_printed ? 2 : 1;
  return per_core * gpu.cores_per_sm * gpu.latency_cycles;
}

}  // namespace halo::gpus
