// A GPU so small that plans for it can be worked out by hand.
#pragma once

#include "common/gpus/gpu_figures.hpp"

namespace halo::test {

// N_FMA = 2 x 2 x 10 = 40 as printed, 20 as the hardware counts. V_s: 8 bytes a cycle x 10 = 80
// bytes, 20 threads, 32 in whole warps, 8 an SM, 32 in whole warps: 32 x 4 SMs x 4 bytes = 512.
// 512 bytes on chip for an SM, 256 for a block, and registers for much more.
inline gpus::GpuFigures small_gpu() {
  gpus::GpuFigures gpu;
  gpu.key = "small";
  gpu.name = "Small";
  gpu.capability = 90;
  gpu.sms = 4;
  gpu.cores_per_sm = 2;
  gpu.latency_cycles = 10;
  gpu.bandwidth_gb_s = 8;
  gpu.clock_mhz = 1000;
  gpu.shared_per_sm = 512;
  gpu.shared_per_block = 256;
  gpu.registers_per_sm = 65536;
  gpu.threads_per_sm = 2048;
  return gpu;
}

}  // namespace halo::test
