// The figures of a GPU from which stages 07 and 08 plan, and what Chang & Onishi ("Fast
// convolution kernels on Pascal GPU with high memory efficiency", section 2.2 and Table 1) derive
// from them. Plain C++: no GPU is asked. Whoever has one fills a GpuFigures from its properties and
// from measurements.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace halo::data {

/// Where one figure of a GPU comes from.
struct FigureSource {
  std::string figure;  // as the field of GpuFigures is called
  std::string source;
  bool inferred = false;  // not stated by the source for this GPU, nor measured on one
};

/// A GPU, as far as the planner has to know it. Every number is at least 1, except
/// shared_reserved_per_block, which may be 0.
struct GpuFigures {
  std::string key;   // as an option names it: "gtx1080ti"
  std::string name;  // for people
  int sms = 0;
  int cores_per_sm = 0;    // fp32 lanes
  int latency_cycles = 0;  // of a load from global memory that no cache answers
  double bandwidth_gb_s = 0;
  double clock_mhz = 0;               // the clock in whose cycles latency_cycles counts
  int shared_per_sm = 0;              // bytes
  int shared_per_block = 0;           // bytes; the most a block may ask for
  int shared_reserved_per_block = 0;  // bytes of an SM's share that the system takes for each block
  int registers_per_sm = 0;           // of 4 bytes
  int threads_per_sm = 0;             // most that are resident
  std::vector<FigureSource> sources;  // one for each figure; empty if nobody says
};

/// GTX 1080 Ti (the paper's), GTX Titan X, V100 and H200.
const std::vector<GpuFigures>& built_in_gpus();

/// The built-in GPU of this key: "gtx1080ti", "gtxtitanx", "v100" or "h200". Throws
/// std::invalid_argument, one line that lists them, for any other.
const GpuFigures& built_in_gpu(std::string_view key);

/// Throws std::invalid_argument, in one line, if a figure is below its least (see GpuFigures), not
/// a number or beyond 10^9, or if the SM cannot hold the paper's launch (kThreadsPerSm threads,
/// with kLeastRegisters registers each and shared memory left for both blocks).
void require_usable(const GpuFigures& gpu);

/// The paper's launch (section 4): two blocks an SM, of 512 threads.
inline constexpr int kBlocksPerSm = 2;
inline constexpr int kThreadsPerBlock = 512;
inline constexpr int kThreadsPerSm = kBlocksPerSm * kThreadsPerBlock;

/// Floats of the next piece that a thread keeps in registers. 24 x 512 x 4 bytes are 48 KB, all the
/// shared memory that a block of the paper's GPU can have.
inline constexpr int kAhead = 24;

/// Registers that a thread keeps for its work, of the 64 that an SM with 65,536 has for each of
/// kThreadsPerSm. The paper only says that "the number of required registers [...] must be smaller
/// than that supported" and "its detail is not shown here", so this is ours: the 25 cells of a 5x5
/// window, a sum, and 14 for indices and addresses.
inline constexpr int kWorkRegisters = 40;

/// Fewest registers a thread must be able to have: one to prefetch into.
inline constexpr int kLeastRegisters = kWorkRegisters + 1;

/// How many fused multiply-adds a core is taken to do in a cycle.
enum class FmaCount {
  as_printed,   // 2: the text says "2 FMA operations", Table 1 "Flops/clock cycle/core 2"
  as_hardware,  // 1: it is one FMA, of two floating-point operations
};

/// Bytes that global memory delivers in a cycle, whole ones: 327 on a GTX 1080 Ti.
std::int64_t bytes_per_cycle(const GpuFigures& gpu);

/// N_FMA: the FMAs with which an SM's cores are busy for as long as a load takes, so that data
/// prefetched meanwhile arrive in time. 258 x 128 x 2 = 66,048 on a GTX 1080 Ti as printed, 33,024
/// as the hardware counts.
std::int64_t fma_to_hide_latency(const GpuFigures& gpu, FmaCount count);

/// The other way to hide the latency: so many bytes in flight that memory never pauses. The numbers
/// of the paper's Table 1, in its order. (As on a GTX 1080 Ti:)
struct VolumeToHideLatency {
  std::int64_t bytes = 0;           // bytes_per_cycle * latency: 84,366
  std::int64_t threads = 0;         // one 4-byte load each, whole warps: 21,120
  std::int64_t words_per_sm = 0;    // 4-byte loads an SM, before it is a matter of warps: 754
  std::int64_t threads_per_sm = 0;  // whole warps again: 768
  std::int64_t warps_per_sm = 0;    // 24
  std::int64_t bytes_per_sm = 0;    // 3,072
  std::int64_t whole_bytes = 0;     // V_s as the plan needs it, on all SMs: 86,016
};
VolumeToHideLatency volume_to_hide_latency(const GpuFigures& gpu);

/// Four-byte loads that each of kThreadsPerSm threads must have in flight for that volume: 1 on a
/// GTX 1080 Ti, 3 on an H200.
std::int64_t loads_per_thread(const GpuFigures& gpu);

}  // namespace halo::data
