// The GPU that a simulated program believes it runs on: what is published of it, for programs that
// ask for device properties, for launch limits and for the occupancy calculator. The counters do not
// depend on it.
#pragma once

#include "common/gpus/gpu.hpp"

namespace simt {

// Limits that all GPUs of the table share.
inline constexpr unsigned kWarpSize = 32;
inline constexpr int kMaxThreadsPerBlock = 1024;
inline constexpr int kMaxBlockExtent[3] = {1024, 1024, 64};
inline constexpr unsigned kMaxGridExtent[3] = {2147483647u, 65535u, 65535u};
inline constexpr int kConstantBytes = 65536;
inline constexpr int kRegistersPerBlock = 65536;
inline constexpr int kPitchAlignment = 512;
inline constexpr int kTexturePitchAlignment = 32;

// The GPU whose key SIMT_GPU is (default h200), read at the first call. An unknown one is one line
// on stderr that lists the keys, and exit status 2.
const halo::gpus::Gpu& current_gpu();

// From now on this one, which must outlive its use; nullptr: that of SIMT_GPU again. For programs that
// try how they divide their work on another GPU. No kernel may be running.
void set_current_gpu(const halo::gpus::Gpu* gpu);

}  // namespace simt
