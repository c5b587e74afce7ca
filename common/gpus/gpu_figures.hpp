// What plans know of a GPU: a view of the table in gpu.hpp, or figures that were measured. Plain C++: no GPU is asked
// (present_gpu.hpp asks).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace halo::gpus {

/// Where one figure of a GPU comes from.
struct FigureSource {
  std::string figure;  // as the field of GpuFigures is called
  std::string source;
  bool inferred = false;  // not stated by the source for this GPU, nor measured on one
};

/// A GPU, as far as a plan has to know it. Every number is at least 1, except
/// shared_reserved_per_block, which may be 0.
struct GpuFigures {
  std::string key;     // as an option names it: "gtx1080ti"
  std::string name;    // for people
  int capability = 0;  // compute capability: 90 for 9.0
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

/// The GPUs of known latency: GTX 1080 Ti (the paper's), GTX Titan X, V100 and H200.
const std::vector<GpuFigures>& built_in_gpus();

/// The built-in GPU of this key: "gtx1080ti", "gtxtitanx", "v100" or "h200". Throws
/// std::invalid_argument, one line that lists them, for any other.
const GpuFigures& built_in_gpu(std::string_view key);

/// What a block must fit.
struct GpuLimits {
  int sms = 0;
  int shared_per_sm = 0;     // bytes
  int shared_per_block = 0;  // bytes, the most a block may ask for
  int capability = 0;        // compute capability: 90 for 9.0

  bool operator==(const GpuLimits&) const = default;
};

GpuLimits limits_of(const GpuFigures& gpu);

/// Compute capability with which thread block clusters and launches that overlap came.
inline constexpr int kWithClusters = 90;
/// With which tensor cores multiply TF32.
inline constexpr int kWithTf32 = 80;

/// Why a kernel compiled for GPUs of this compute capability (90 for 9.0) and later ones does not run on such a
/// GPU, as the end of a sentence; empty: it does.
std::string too_old(const GpuLimits& gpu, int capability);

/// How many fused multiply-adds a core is taken to do in a cycle by Chang et al. ("Fast convolution kernels on Pascal
/// GPU with high memory efficiency", section 2.2 and Table 1).
enum class FmaCount {
  as_printed,   // 2: the text says "2 FMA operations", Table 1 "Flops/clock cycle/core 2"
  as_hardware,  // 1: it is one FMA, of two floating-point operations
};

/// N_FMA: the FMAs with which an SM's cores are busy for as long as a load takes, so that data
/// prefetched meanwhile arrive in time. 258 x 128 x 2 = 66,048 on a GTX 1080 Ti as printed, 33,024
/// as the hardware counts.
std::int64_t fma_to_hide_latency(const GpuFigures& gpu, FmaCount count);

}  // namespace halo::gpus
