// The GPUs that a simulated program can believe it runs on: published figures, for programs that ask
// for device properties, for launch limits and for the occupancy calculator. The counters do not
// depend on the model.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace simt {

struct GpuModel {
  const char* key;   // as SIMT_GPU names it
  const char* name;  // as cudaDeviceProp names it
  int major;         // compute capability
  int minor;
  int multiprocessors;
  int fp32_lanes;  // per multiprocessor: fused multiply-adds a cycle
  int clock_khz;   // boost
  int memory_clock_khz;
  int memory_bus_bits;
  double bandwidth_gb_s;     // 1e9 bytes a second, published
  std::size_t memory_bytes;  // as sold; a driver keeps some of it
  int l2_bytes;
  int shared_per_multiprocessor;  // bytes
  int shared_per_block;           // bytes, without asking
  int shared_per_block_optin;     // bytes, with cudaFuncAttributeMaxDynamicSharedMemorySize
  int shared_reserved_per_block;  // bytes that the system takes from each block's share
  int shared_granularity;         // bytes: a block's share is rounded up to a multiple
  int registers_per_multiprocessor;
  int threads_per_multiprocessor;
  int blocks_per_multiprocessor;
  int fp64_ratio;  // fp32 throughput / fp64 throughput
  int copy_engines;
};

// Limits that all these models share.
inline constexpr unsigned kWarpSize = 32;
inline constexpr int kMaxThreadsPerBlock = 1024;
inline constexpr int kMaxBlockExtent[3] = {1024, 1024, 64};
inline constexpr unsigned kMaxGridExtent[3] = {2147483647u, 65535u, 65535u};
inline constexpr int kConstantBytes = 65536;
inline constexpr int kRegistersPerBlock = 65536;
inline constexpr int kPitchAlignment = 512;

// All models, the default first.
const std::vector<GpuModel>& gpu_models();

// The model of this name (exactly as `key`), or nullptr.
const GpuModel* find_gpu(const std::string& key);

// The model that SIMT_GPU names (default h200), read at the first call. An unknown name is one line
// on stderr that lists the names, and exit status 2.
const GpuModel& current_gpu();

}  // namespace simt
