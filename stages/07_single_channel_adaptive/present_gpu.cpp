#include "stages/07_single_channel_adaptive/present_gpu.hpp"

#include <cuda_runtime.h>

#include <array>
#include <stdexcept>
#include <string>
#include <utility>

namespace halo::single_channel {

namespace {

void require(cudaError_t error) {
  if (error == cudaSuccess) return;
  throw std::runtime_error(std::string("no GPU whose figures could be asked for: ") +
                           cudaGetErrorString(error));
}

int attribute(cudaDeviceAttr which, int device) {
  int value = 0;
  require(cudaDeviceGetAttribute(&value, which, device));
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

// A part of a GPU (MIG) has another name, and fewer SMs.
constexpr std::array<std::pair<const char*, const char*>, 5> kKnownNames = {{
    {"GeForce GTX 1080 Ti", "gtx1080ti"},
    {"GeForce GTX TITAN X", "gtxtitanx"},
    {"Tesla V100-SXM2-16GB", "v100"},
    {"Tesla V100-SXM2-32GB", "v100"},
    {"H200", "h200"},
}};

// fp32 lanes of an SM; CUDA C++ Programming Guide, throughput of arithmetic instructions.
int cores_of(int major, int minor) {
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

// The built-in GPU whose latency stands in for that of an unknown one.
const char* nearest_older(int major) {
  if (major >= 9) return "h200";
  if (major >= 7) return "v100";
  return major >= 6 ? "gtx1080ti" : "gtxtitanx";
}

GpuFigures ask() {
  int device = 0;
  require(cudaGetDevice(&device));
  cudaDeviceProp properties;
  require(cudaGetDeviceProperties(&properties, device));
  const std::string name = short_name(properties.name);
  for (const auto& [known, key] : kKnownNames) {
    const GpuFigures& figures = built_in_gpu(key);
    if (name == known && properties.multiProcessorCount == figures.sms) return figures;
  }

  const std::string asked = "cudaDeviceGetAttribute on this one";
  const std::string capability = "compute capability " + std::to_string(properties.major) + "." +
                                 std::to_string(properties.minor) + ", CUDA C++ Programming Guide";
  const GpuFigures& older = built_in_gpu(nearest_older(properties.major));
  GpuFigures gpu;
  gpu.key = "present";
  gpu.name = properties.name;
  gpu.sms = properties.multiProcessorCount;
  gpu.cores_per_sm = cores_of(properties.major, properties.minor);
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
  static const GpuFigures figures = ask();
  return figures;
}

}  // namespace halo::single_channel
