#include "common/data/gpu_figures.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace halo::data {

namespace {

constexpr int kWarp = 32;
constexpr int kWord = 4;  // bytes of a float
constexpr int kKiB = 1024;

std::int64_t quotient_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

std::int64_t whole_warps(std::int64_t threads) { return quotient_up(threads, kWarp) * kWarp; }

constexpr const char* kPaper = "Chang & Onishi, Table 1";
constexpr const char* kGuide =
    "CUDA C++ Programming Guide, Technical Specifications per Compute Capability";

}  // namespace

const std::vector<GpuFigures>& built_in_gpus() {
  static const std::vector<GpuFigures> gpus = {
      {.key = "gtx1080ti",
       .name = "NVIDIA GeForce GTX 1080 Ti",
       .sms = 28,
       .cores_per_sm = 128,
       .latency_cycles = 258,
       .bandwidth_gb_s = 484,
       // The card boosts to 1582 under load; the paper counts in cycles of the base clock.
       .clock_mhz = 1480,
       .shared_per_sm = 96 * kKiB,
       .shared_per_block = 48 * kKiB,
       .shared_reserved_per_block = 0,
       .registers_per_sm = 65536,
       .threads_per_sm = 2048,
       .sources =
           {
               {"sms", kPaper},
               {"cores_per_sm", "Chang & Onishi, section 2.2"},
               {"latency_cycles", "Chang & Onishi, Table 1, measured as Mei & Chu do"},
               {"bandwidth_gb_s", kPaper},
               {"clock_mhz", "Chang & Onishi, Table 1, base clock"},
               {"shared_per_sm", "Chang & Onishi, section 2.2"},
               {"shared_per_block", kGuide},
               {"shared_reserved_per_block", kGuide},
               {"registers_per_sm", kGuide},
               {"threads_per_sm", kGuide},
           }},
      {.key = "gtxtitanx",
       .name = "NVIDIA GeForce GTX TITAN X (Maxwell)",
       .sms = 24,
       .cores_per_sm = 128,
       .latency_cycles = 258,
       .bandwidth_gb_s = 336.5,
       .clock_mhz = 1000,
       .shared_per_sm = 96 * kKiB,
       .shared_per_block = 48 * kKiB,
       .shared_reserved_per_block = 0,
       .registers_per_sm = 65536,
       .threads_per_sm = 2048,
       .sources =
           {
               {"sms", "NVIDIA's product page: 3072 cores, of 128 an SM"},
               {"cores_per_sm",
                "CUDA C++ Programming Guide, throughput of arithmetic instructions"},
               {"latency_cycles", "taken from the GTX 1080 Ti: the paper gives none for this GPU",
                true},
               {"bandwidth_gb_s", "NVIDIA's product page"},
               {"clock_mhz",
                "NVIDIA's product page, base clock, as the paper does for its own GPU"},
               {"shared_per_sm", kGuide},
               {"shared_per_block", kGuide},
               {"shared_reserved_per_block", kGuide},
               {"registers_per_sm", kGuide},
               {"threads_per_sm", kGuide},
           }},
      {.key = "v100",
       .name = "NVIDIA Tesla V100-SXM2-16GB",
       .sms = 80,
       .cores_per_sm = 64,
       .latency_cycles = 375,
       .bandwidth_gb_s = 900,
       .clock_mhz = 1530,
       .shared_per_sm = 96 * kKiB,
       .shared_per_block = 96 * kKiB,
       .shared_reserved_per_block = 0,
       .registers_per_sm = 65536,
       .threads_per_sm = 2048,
       .sources =
           {
               {"sms", "NVIDIA, V100 architecture white paper"},
               {"cores_per_sm", "NVIDIA, V100 architecture white paper"},
               {"latency_cycles",
                "about what Jia et al., Dissecting the Volta GPU (2018), report for a miss in L2; "
                "not measured here",
                true},
               {"bandwidth_gb_s", "NVIDIA, V100 architecture white paper"},
               {"clock_mhz", "NVIDIA, V100 architecture white paper, boost clock"},
               {"shared_per_sm", kGuide},
               {"shared_per_block", kGuide},
               {"shared_reserved_per_block", kGuide},
               {"registers_per_sm", kGuide},
               {"threads_per_sm", kGuide},
           }},
      {.key = "h200",
       .name = "NVIDIA H200",
       .sms = 132,
       .cores_per_sm = 128,
       .latency_cycles = 650,
       .bandwidth_gb_s = 4800,
       .clock_mhz = 1980,
       .shared_per_sm = 228 * kKiB,
       .shared_per_block = 227 * kKiB,
       .shared_reserved_per_block = kKiB,
       .registers_per_sm = 65536,
       .threads_per_sm = 2048,
       .sources =
           {
               {"sms", "cudaGetDeviceProperties on one"},
               {"cores_per_sm", "NVIDIA, H100 architecture white paper: the same SM"},
               {"latency_cycles", "a round number of the order that Hopper GPUs show", true},
               {"bandwidth_gb_s", "NVIDIA, H200 data sheet"},
               {"clock_mhz", "cudaGetDeviceProperties on one: the boost clock"},
               {"shared_per_sm", "cudaGetDeviceProperties on one"},
               {"shared_per_block", "cudaGetDeviceProperties on one: with opt-in"},
               {"shared_reserved_per_block", "cudaGetDeviceProperties on one"},
               {"registers_per_sm", "cudaGetDeviceProperties on one"},
               {"threads_per_sm", "cudaGetDeviceProperties on one"},
           }},
  };
  return gpus;
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

void require_usable(const GpuFigures& gpu) {
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
  volume.threads = whole_warps(quotient_up(volume.bytes, kWord));
  volume.words_per_sm = quotient_up(volume.bytes, std::int64_t{kWord} * gpu.sms);
  volume.threads_per_sm = whole_warps(quotient_up(volume.threads, gpu.sms));
  volume.warps_per_sm = volume.threads_per_sm / kWarp;
  volume.bytes_per_sm = volume.threads_per_sm * kWord;
  volume.whole_bytes = volume.bytes_per_sm * gpu.sms;
  return volume;
}

std::int64_t loads_per_thread(const GpuFigures& gpu) {
  return quotient_up(volume_to_hide_latency(gpu).words_per_sm, kThreadsPerSm);
}

}  // namespace halo::data
