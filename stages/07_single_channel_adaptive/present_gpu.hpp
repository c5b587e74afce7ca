// The figures of the GPU that this program runs on.
#pragma once

#include "stages/07_single_channel_adaptive/planner.hpp"

namespace halo::single_channel {

/// What the device says of itself (SMs, shared memory, registers, threads), and what it does not
/// say (cores of an SM, latency; bandwidth as memory sells it):
///   - for the GPUs of built_in_gpus, known by their names and numbers of SMs (a simulated one
///     too), all figures are the built-in ones;
///   - else the cores follow from the compute capability, the bandwidth from the memory's clock and
///     bus, and the latency is that of the built-in GPU with the nearest older architecture; these
///     are marked as inferred.
/// Asked for once. Throws std::runtime_error, in one line, if there is no device.
const GpuFigures& present_gpu();

}  // namespace halo::single_channel
