#include "common/gpus/present_gpu.hpp"

#include <cuda_runtime.h>

#include <list>
#include <mutex>
#include <stdexcept>
#include <string>
#include <utility>

#include "common/gpus/gpu.hpp"

namespace halo::gpus {

namespace {

constexpr const char* kNoFigures = "no GPU whose figures could be asked for";
constexpr const char* kNoLimits = "no GPU to plan for";

void require(cudaError_t error, const char* otherwise) {
  if (error == cudaSuccess) return;
  throw std::runtime_error(std::string(otherwise) + ": " + cudaGetErrorString(error));
}

int attribute(cudaDeviceAttr which, int device) {
  int value = 0;
  require(cudaDeviceGetAttribute(&value, which, device), kNoFigures);
  return value;
}

// "GeForce GTX 1080 Ti" of what drivers of different years, and the simulator, call it.
std::string short_name(std::string name) {
  const std::string maker = "NVIDIA ";
  const std::string simulated = " (simulated)";
  if (name.starts_with(maker)) name.erase(0, maker.size());
  if (name.ends_with(simulated)) name.resize(name.size() - simulated.size());
  return name;
}

// The built-in GPU that calls itself so, or nullptr. A part of a GPU (MIG) has another name, and
// fewer SMs.
const GpuFigures* built_in_called(const std::string& device, int sms) {
  std::string name = short_name(device);
  // The same GPU with more memory.
  if (name == "Tesla V100-SXM2-32GB") name = "Tesla V100-SXM2-16GB";
  for (const GpuFigures& figures : built_in_gpus()) {
    if (name == short_name(find(figures.key)->driver_name) && sms == figures.sms) {
      return &figures;
    }
  }
  return nullptr;
}

// The built-in GPU whose latency stands in for that of an unknown one.
const char* nearest_older(int major) {
  if (major >= 9) return "h200";
  if (major >= 7) return "v100";
  return major >= 6 ? "gtx1080ti" : "gtxtitanx";
}

GpuFigures ask() {
  int device = 0;
  require(cudaGetDevice(&device), kNoFigures);
  cudaDeviceProp properties;
  require(cudaGetDeviceProperties(&properties, device), kNoFigures);
  if (const GpuFigures* known = built_in_called(properties.name, properties.multiProcessorCount)) {
    return *known;
  }

  const std::string asked = "cudaDeviceGetAttribute on this one";
  const std::string capability = "compute capability " + std::to_string(properties.major) + "." +
                                 std::to_string(properties.minor) + ", CUDA C++ Programming Guide";
  const GpuFigures& older = built_in_gpu(nearest_older(properties.major));
  GpuFigures gpu;
  gpu.key = "present";
  gpu.name = properties.name;
  gpu.capability = 10 * properties.major + properties.minor;
  gpu.sms = properties.multiProcessorCount;
  gpu.cores_per_sm = cores_per_sm(properties.major, properties.minor);
  gpu.latency_cycles = older.latency_cycles;
  // Two transfers in a cycle of the memory's clock, in kHz; the bus counts in bits.
  gpu.bandwidth_gb_s = 2.0 * attribute(cudaDevAttrMemoryClockRate, device) *
                       attribute(cudaDevAttrGlobalMemoryBusWidth, device) / 8 / 1e6;
  gpu.clock_mhz = attribute(cudaDevAttrClockRate, device) / 1000.0;
  gpu.shared_per_sm = attribute(cudaDevAttrMaxSharedMemoryPerMultiprocessor, device);
  gpu.shared_per_block = attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
  gpu.shared_reserved_per_block = attribute(cudaDevAttrReservedSharedMemoryPerBlock, device);
  gpu.registers_per_sm = attribute(cudaDevAttrMaxRegistersPerMultiprocessor, device);
  gpu.threads_per_sm = attribute(cudaDevAttrMaxThreadsPerMultiProcessor, device);
  gpu.sources = {
      {"sms", asked},
      {"cores_per_sm", capability, true},
      {"latency_cycles", "taken from " + older.name + ", the nearest older one we know", true},
      {"bandwidth_gb_s", "memory clock x 2 x bus, " + asked, true},
      {"clock_mhz", asked},
      {"shared_per_sm", asked},
      {"shared_per_block", asked},
      {"shared_reserved_per_block", asked},
      {"registers_per_sm", asked},
      {"threads_per_sm", asked},
  };
  return gpu;
}

}  // namespace

const GpuFigures& present_gpu() {
  // The present device may be another one than before: the simulator stands for several.
  static std::mutex mutex;
  static std::list<std::pair<GpuLimits, GpuFigures>> known;
  const GpuLimits limits = present_limits();
  const std::lock_guard lock(mutex);
  for (const auto& [of, figures] : known) {
    if (of == limits) return figures;
  }
  return known.emplace_back(limits, ask()).second;
}

GpuLimits present_limits() {
  int device = 0;
  GpuLimits gpu;
  require(cudaGetDevice(&device), kNoLimits);
  const auto ask = [&](int& value, cudaDeviceAttr which) {
    require(cudaDeviceGetAttribute(&value, which, device), kNoLimits);
  };
  ask(gpu.sms, cudaDevAttrMultiProcessorCount);
  ask(gpu.shared_per_sm, cudaDevAttrMaxSharedMemoryPerMultiprocessor);
  ask(gpu.shared_per_block, cudaDevAttrMaxSharedMemoryPerBlockOptin);
  int major = 0, minor = 0;
  ask(major, cudaDevAttrComputeCapabilityMajor);
  ask(minor, cudaDevAttrComputeCapabilityMinor);
  gpu.capability = 10 * major + minor;
  return gpu;
}

}  // namespace halo::gpus
