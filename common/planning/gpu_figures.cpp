#include "common/planning/gpu_figures.hpp"

#include <cmath>
#include <stdexcept>

#include "common/conv/quotient.hpp"
#include "common/gpus/gpu.hpp"

namespace halo::planning {

namespace {

constexpr int kWarp = 32;
constexpr int kWord = 4;  // bytes of a float

// What a figure is called whose fact has another name.
std::string figure_of(const std::string& fact) {
  if (fact == "base_clock_mhz" || fact == "boost_clock_mhz") return "clock_mhz";
  if (fact == "shared_per_block_optin") return "shared_per_block";
  return fact;
}

GpuFigures figures_of(const gpus::Gpu& gpu) {
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
  for (const gpus::Source& source : gpu.sources) {
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
      known.push_back(figures_of(*gpus::find(key)));
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

std::int64_t bytes_per_cycle(const GpuFigures& gpu) {
  // Whole bytes, as the paper: 484e9 / 1480e6 = 327.03 is its "roughly 327".
  return static_cast<std::int64_t>(std::floor(gpu.bandwidth_gb_s * 1000 / gpu.clock_mhz));
}

std::int64_t fma_to_hide_latency(const GpuFigures& gpu, FmaCount count) {
  const std::int64_t per_core = count == FmaCount::as_printed ? 2 : 1;
  return per_core * gpu.cores_per_sm * gpu.latency_cycles;
}

VolumeToHideLatency volume_to_hide_latency(const GpuFigures& gpu) {
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

}  // namespace halo::planning
