// What plans must know of the GPU that this program runs on.
#pragma once

#include "common/gpus/gpu_figures.hpp"

namespace halo::gpus {

/// What the device says of itself (SMs, shared memory, registers, threads), and what it does not
/// say (cores of an SM, latency; bandwidth as memory sells it):
///   - for the GPUs of built_in_gpus, known by their names and numbers of SMs (a simulated one
///     too), all figures are the built-in ones;
///   - else the cores follow from the compute capability, the bandwidth from the memory's clock and
///     bus, and the latency is that of the built-in GPU with the nearest older architecture; these
///     are marked as inferred.
/// Asked for once for each device with other limits. Throws std::runtime_error, in one line, if there is no device.
const GpuFigures& present_gpu();

/// What the device says of its limits, asked for each time. Throws std::runtime_error, in one line,
/// if there is no device.
GpuLimits present_limits();

}  // namespace halo::gpus
