#include "common/gpus/gpu.hpp"

namespace halo::gpus {

namespace {

constexpr std::size_t kGiB = std::size_t{1} << 30;
constexpr int kKiB = 1024;
constexpr int kMiB = 1024 * 1024;

constexpr const char* kPaper = "Chang et al., Table 1";
constexpr const char* kGuide =
    "CUDA C++ Programming Guide, Technical Specifications per Compute Capability";

}  // namespace

const std::vector<Gpu>& all() {
  // Where nothing else is said of the H200: what cudaGetDeviceProperties of CUDA 13.0 said on one.
  static const std::vector<Gpu> gpus = {
      {.key = "h200",
       .name = "NVIDIA H200",
       .driver_name = "NVIDIA H200",
       .major = 9,
       .minor = 0,
       .sms = 132,
       // Cards differ in which SMs are left out. With a block per SM one held 66 clusters of 2 blocks, 30 of 4, 15 of 8
       // and 7 of 16 (cudaOccupancyMaxActiveClusters), as it would with these.
       .sms_of_groups = {18, 18, 18, 18, 18, 18, 16, 8},
       .cores_per_sm = 128,
       .boost_clock_mhz = 1980,
       .memory_clock_mhz = 3201,
       .memory_bus_bits = 6016,
       .bandwidth_gb_s = 4800,
       .latency_cycles = 650,
       .memory_bytes = 150109880320,
       .l2_bytes = 60 * kMiB,
       .shared_per_sm = 228 * kKiB,
       .shared_per_block_optin = 227 * kKiB,
       .shared_reserved_per_block = kKiB,
       .shared_granularity = 128,
       .threads_per_sm = 2048,
       .blocks_per_sm = 32,
       .fp64_ratio = 2,
       .copy_engines = 3,
       .sources = {{"sms", "cudaGetDeviceProperties on one"},
                   {"cores_per_sm", "NVIDIA, H100 architecture white paper: the same SM"},
                   {"latency_cycles", "a round number of the order that Hopper GPUs show", true},
                   {"bandwidth_gb_s", "NVIDIA, H200 data sheet"},
                   {"boost_clock_mhz", "cudaGetDeviceProperties on one: the boost clock"},
                   {"shared_per_sm", "cudaGetDeviceProperties on one"},
                   {"shared_per_block_optin", "cudaGetDeviceProperties on one: with opt-in"},
                   {"shared_reserved_per_block", "cudaGetDeviceProperties on one"},
                   {"registers_per_sm", "cudaGetDeviceProperties on one"},
                   {"threads_per_sm", "cudaGetDeviceProperties on one"}}},
      {.key = "h100",
       .name = "NVIDIA H100 80GB HBM3",
       .driver_name = "NVIDIA H100 80GB HBM3",
       .major = 9,
       .minor = 0,
       .sms = 132,
       .cores_per_sm = 128,
       .boost_clock_mhz = 1980,
       .memory_clock_mhz = 2619,
       .memory_bus_bits = 5120,
       .bandwidth_gb_s = 3350,
       .memory_bytes = 80 * kGiB,
       .l2_bytes = 50 * kMiB,
       .shared_per_sm = 228 * kKiB,
       .shared_per_block_optin = 227 * kKiB,
       .shared_reserved_per_block = kKiB,
       .shared_granularity = 128,
       .threads_per_sm = 2048,
       .blocks_per_sm = 32,
       .fp64_ratio = 2,
       .copy_engines = 3},
      {.key = "a100",
       .name = "NVIDIA A100-SXM4-80GB",
       .driver_name = "NVIDIA A100-SXM4-80GB",
       .major = 8,
       .minor = 0,
       .sms = 108,
       .cores_per_sm = 64,
       .boost_clock_mhz = 1410,
       .memory_clock_mhz = 1593,
       .memory_bus_bits = 5120,
       .bandwidth_gb_s = 2039,
       .memory_bytes = 80 * kGiB,
       .l2_bytes = 40 * kMiB,
       .shared_per_sm = 164 * kKiB,
       .shared_per_block_optin = 163 * kKiB,
       .shared_reserved_per_block = kKiB,
       .shared_granularity = 128,
       .threads_per_sm = 2048,
       .blocks_per_sm = 32,
       .fp64_ratio = 2,
       .copy_engines = 3},
      {.key = "v100",
       .name = "NVIDIA Tesla V100-SXM2-16GB",
       .driver_name = "Tesla V100-SXM2-16GB",
       .major = 7,
       .minor = 0,
       .sms = 80,
       .cores_per_sm = 64,
       .boost_clock_mhz = 1530,
       .memory_clock_mhz = 877,
       .memory_bus_bits = 4096,
       .bandwidth_gb_s = 900,
       .latency_cycles = 375,
       .memory_bytes = 16 * kGiB,
       .l2_bytes = 6 * kMiB,
       .shared_per_sm = 96 * kKiB,
       .shared_per_block_optin = 96 * kKiB,
       .shared_reserved_per_block = 0,
       .shared_granularity = 256,
       .threads_per_sm = 2048,
       .blocks_per_sm = 32,
       .fp64_ratio = 2,
       .copy_engines = 6,
       .sources = {{"sms", "NVIDIA, V100 architecture white paper"},
                   {"cores_per_sm", "NVIDIA, V100 architecture white paper"},
                   {"latency_cycles",
                    "about what Jia et al., Dissecting the Volta GPU (2018), report for a miss in "
                    "L2; not measured here",
                    true},
                   {"bandwidth_gb_s", "NVIDIA, V100 architecture white paper"},
                   {"boost_clock_mhz", "NVIDIA, V100 architecture white paper, boost clock"},
                   {"shared_per_sm", kGuide},
                   {"shared_per_block_optin", kGuide},
                   {"shared_reserved_per_block", kGuide},
                   {"registers_per_sm", kGuide},
                   {"threads_per_sm", kGuide}}},
      {.key = "t4",
       .name = "NVIDIA Tesla T4",
       .driver_name = "Tesla T4",
       .major = 7,
       .minor = 5,
       .sms = 40,
       .cores_per_sm = 64,
       .boost_clock_mhz = 1590,
       .memory_clock_mhz = 5001,
       .memory_bus_bits = 256,
       .bandwidth_gb_s = 320,
       .memory_bytes = 16 * kGiB,
       .l2_bytes = 4 * kMiB,
       .shared_per_sm = 64 * kKiB,
       .shared_per_block_optin = 64 * kKiB,
       .shared_reserved_per_block = 0,
       .shared_granularity = 256,
       .threads_per_sm = 1024,
       .blocks_per_sm = 16,
       .fp64_ratio = 32,
       .copy_engines = 3},
      {.key = "rtx3060",
       .name = "NVIDIA GeForce RTX 3060",
       .driver_name = "NVIDIA GeForce RTX 3060",
       .major = 8,
       .minor = 6,
       .sms = 28,
       .cores_per_sm = 128,
       .boost_clock_mhz = 1777,
       .memory_clock_mhz = 7501,
       .memory_bus_bits = 192,
       .bandwidth_gb_s = 360,
       .memory_bytes = 12 * kGiB,
       .l2_bytes = 3 * kMiB,
       .shared_per_sm = 100 * kKiB,
       .shared_per_block_optin = 99 * kKiB,
       .shared_reserved_per_block = kKiB,
       .shared_granularity = 128,
       .threads_per_sm = 1536,
       .blocks_per_sm = 16,
       .fp64_ratio = 64,
       .copy_engines = 2},
      {.key = "gtx1080ti",
       .name = "NVIDIA GeForce GTX 1080 Ti",
       .driver_name = "NVIDIA GeForce GTX 1080 Ti",
       .major = 6,
       .minor = 1,
       .sms = 28,
       .cores_per_sm = 128,
       .base_clock_mhz = 1480,
       .boost_clock_mhz = 1582,
       .memory_clock_mhz = 5505,
       .memory_bus_bits = 352,
       .bandwidth_gb_s = 484,
       .latency_cycles = 258,
       .latency_clock = Clock::base,  // the paper counts in cycles of the base clock
       .memory_bytes = 11 * kGiB,
       .l2_bytes = 2816 * kKiB,
       .shared_per_sm = 96 * kKiB,
       .shared_per_block_optin = 48 * kKiB,
       .shared_reserved_per_block = 0,
       .shared_granularity = 256,
       .threads_per_sm = 2048,
       .blocks_per_sm = 32,
       .fp64_ratio = 32,
       .copy_engines = 2,
       .sources = {{"sms", kPaper},
                   {"cores_per_sm", "Chang et al., section 2.2"},
                   {"latency_cycles", "Chang et al., Table 1, measured as Mei & Chu do"},
                   {"bandwidth_gb_s", kPaper},
                   {"base_clock_mhz", "Chang et al., Table 1, base clock"},
                   {"shared_per_sm", "Chang et al., section 2.2"},
                   {"shared_per_block_optin", kGuide},
                   {"shared_reserved_per_block", kGuide},
                   {"registers_per_sm", kGuide},
                   {"threads_per_sm", kGuide}}},
      {.key = "gtxtitanx",
       .name = "NVIDIA GeForce GTX TITAN X (Maxwell)",
       .driver_name = "NVIDIA GeForce GTX TITAN X",
       .major = 5,
       .minor = 2,
       .sms = 24,
       .cores_per_sm = 128,
       .base_clock_mhz = 1000,
       .boost_clock_mhz = 1075,
       .memory_clock_mhz = 3505,
       .memory_bus_bits = 384,
       .bandwidth_gb_s = 336.5,
       .latency_cycles = 258,
       .latency_clock = Clock::base,  // the paper counts in cycles of the base clock
       .memory_bytes = 12 * kGiB,
       .l2_bytes = 3 * kMiB,
       .shared_per_sm = 96 * kKiB,
       .shared_per_block_optin = 48 * kKiB,
       .shared_reserved_per_block = 0,
       .shared_granularity = 256,
       .threads_per_sm = 2048,
       .blocks_per_sm = 32,
       .fp64_ratio = 32,
       .copy_engines = 2,
       .sources = {{"sms", "NVIDIA's product page: 3072 cores, of 128 an SM"},
                   {"cores_per_sm",
                    "CUDA C++ Programming Guide, throughput of arithmetic instructions"},
                   {"latency_cycles",
                    "taken from the GTX 1080 Ti: the paper gives none for this GPU", true},
                   {"bandwidth_gb_s", "NVIDIA's product page"},
                   {"base_clock_mhz",
                    "NVIDIA's product page, base clock, as the paper does for its own GPU"},
                   {"shared_per_sm", kGuide},
                   {"shared_per_block_optin", kGuide},
                   {"shared_reserved_per_block", kGuide},
                   {"registers_per_sm", kGuide},
                   {"threads_per_sm", kGuide}}},
      {.key = "gtxtitanblack",
       .name = "NVIDIA GeForce GTX TITAN Black",
       .driver_name = "NVIDIA GeForce GTX TITAN Black",
       .major = 3,
       .minor = 5,
       .sms = 15,
       .cores_per_sm = 192,
       .boost_clock_mhz = 980,
       .memory_clock_mhz = 3500,
       .memory_bus_bits = 384,
       .bandwidth_gb_s = 336,
       .memory_bytes = 6 * kGiB,
       .l2_bytes = 1536 * kKiB,
       .shared_per_sm = 48 * kKiB,
       .shared_per_block_optin = 48 * kKiB,
       .shared_reserved_per_block = 0,
       .shared_granularity = 256,
       .threads_per_sm = 2048,
       .blocks_per_sm = 16,
       .fp64_ratio = 3,
       .copy_engines = 1},
  };
  return gpus;
}

const Gpu& tiny() {
  static const Gpu gpu = [] {
    Gpu made_up = all().front();
    made_up.key = "tiny";
    made_up.name = made_up.driver_name = "a tiny GPU that nobody made";
    made_up.sms = 2;
    // What is planned for gets two times 4 KB; what is not has the 48 KB that it takes for granted.
    made_up.shared_reserved_per_block = kKiB;
    made_up.shared_per_sm = 10 * kKiB;
    made_up.shared_per_block_optin = 8 * kKiB;
    made_up.sources.clear();
    return made_up;
  }();
  return gpu;
}

const Gpu* find(std::string_view key) {
  if (key == tiny().key) return &tiny();
  for (const Gpu& gpu : all()) {
    if (key == gpu.key) return &gpu;
  }
  return nullptr;
}

int cores_per_sm(int major, int minor) {
  switch (major) {
    case 3:
      return 192;
    case 6:
      return minor == 0 ? 64 : 128;
    case 7:
      return 64;
    case 8:
      return minor == 0 ? 64 : 128;
    default:
      return 128;
  }
}

}  // namespace halo::gpus
