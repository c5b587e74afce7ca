// What is known of some GPUs, those of the papers and those that one meets. No
// GPU is asked. The simulator stands for one of them; the planners plan for those of known latency.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace halo::gpus {

/// Where one fact of a GPU comes from.
struct Source {
  const char* fact;  // as the field of Gpu is called
  const char* source;
  bool inferred = false;  // not stated by the source for this GPU, nor measured on one
};

/// Whose cycles a latency is counted in.
enum class Clock { base, boost };

struct Gpu {
  const char* key;          // as an option names it: "gtx1080ti"
  const char* name;         // for people
  const char* driver_name;  // as cudaDeviceProp names it; older drivers leave out "NVIDIA "
  int major;                // compute capability
  int minor;
  int sms;  // multiprocessors
  // Those of each group of SMs within which a cluster lies, most first; empty: not known, as if they were one.
  std::vector<int> sms_of_groups = {};
  int cores_per_sm;        // fp32 lanes: fused multiply-adds a cycle
  int base_clock_mhz = 0;  // 0: not looked up
  int boost_clock_mhz;     // what a device says of itself
  int memory_clock_mhz;
  int memory_bus_bits;
  double bandwidth_gb_s;   // 1e9 bytes a second, published
  int latency_cycles = 0;  // of a load from global memory that no cache answers; 0: not known
  Clock latency_clock = Clock::boost;  // the clock of those cycles
  std::size_t memory_bytes;            // as sold; a driver keeps some of it
  int l2_bytes;
  int shared_per_sm;                 // bytes
  int shared_per_block = 48 * 1024;  // bytes, without asking: of every GPU here
  int shared_per_block_optin;        // bytes, with cudaFuncAttributeMaxDynamicSharedMemorySize
  int shared_reserved_per_block;     // bytes of an SM's share that the system takes for each block
  int shared_granularity;            // bytes: a block's share is rounded up to a multiple
  int registers_per_sm = 65536;      // of 4 bytes: of every GPU here
  int threads_per_sm;                // most that are resident
  int blocks_per_sm;                 // most that are resident
  int fp64_ratio;                    // fp32 throughput / fp64 throughput
  int copy_engines;
  /// One for each fact that a plan is made from, where the latency is known. All others come from
  /// NVIDIA's architecture white papers and data sheets, and from the tables "Technical
  /// Specifications per Compute Capability" of the CUDA C++ Programming Guide.
  std::vector<Source> sources = {};

  int latency_clock_mhz() const {
    return latency_clock == Clock::base ? base_clock_mhz : boost_clock_mhz;
  }
};

/// All of them, the one that the simulator stands for by default (H200) first.
const std::vector<Gpu>& all();

/// A GPU that nobody made, "tiny": two multiprocessors with shared memory for next to nothing. What
/// divides its work by what a GPU has is tried on it, where small problems are large. Not among all().
const Gpu& tiny();

/// The GPU of this key, or nullptr; tiny() too.
const Gpu* find(std::string_view key);

/// fp32 lanes of an SM of this compute capability; CUDA C++ Programming Guide, throughput of
/// arithmetic instructions. 128 for one that it does not know.
int cores_per_sm(int major, int minor);

}  // namespace halo::gpus
