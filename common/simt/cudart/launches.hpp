// A launch: checked as CUDA checks it, run by the machine, told in the report.
#pragma once

#include <driver_types.h>
#include <vector_types.h>

#include <cstddef>

#include "common/simt/cudart/graphs.hpp"

namespace simt::cudart {

struct Kernel;

struct Launching {
  dim3 grid, block;
  std::size_t dynamic_shared = 0;
  cudaStream_t stream = nullptr;
  void** arguments = nullptr;  // of its parameters, in their order
  bool is_cooperative = false;
  bool may_begin_early = false;    // before the kernel before it on its stream has ended
  bool may_wait_for_host = false;  // it may be kept where it polls what the host may write
  dim3 cluster = {0, 0, 0};        // 0: not given
};

/// `function` as find_kernel() takes it. Returns when all blocks have run. What a kernel does wrong is an error of the
/// calls after this one.
cudaError_t launch(const void* function, const Launching& what);

/// A launch as a node of a graph: the work, which keeps the arguments. Checked as any launch. Throws what
/// Kernel::function() does.
cudaError_t launch_of(const cudaKernelNodeParams& parameters, Work& work, NodeParameters& kept);

/// The kernel is on the GPU from now on. It is told if another waits then for the host, and this one was not there. `by`: the
/// driver's function that loads it; null: its launch by the runtime.
void load(Kernel& kernel, const char* by = nullptr);

/// Whether a kernel can be launched so; what is wrong is said.
cudaError_t check_launch(Kernel& kernel, const Launching& what);

/// Of cudaLaunchKernelExC: what it asks is put into `what`, or refused.
cudaError_t take_attribute(const cudaLaunchAttribute& attribute, Launching& what);

/// Bytes of dynamic shared memory that a launch of it may ask for.
int dynamic_shared_limit(Kernel& kernel);

/// As cudaFuncGetAttributes tells them.
cudaFuncAttributes attributes_of(Kernel& kernel);

/// Blocks that a cluster of it may have.
unsigned int most_cluster_blocks(const Kernel& kernel);

/// Bytes that shared memory is of the first cache of a multiprocessor which runs the kernel: as much as is preferred, and
/// one block needs.
int shared_of_sm(const Kernel& kernel, int of_block);
/// Blocks of so many threads that one multiprocessor holds at a time.
int resident_blocks(Kernel& kernel, int threads, std::size_t dynamic_shared);

}  // namespace simt::cudart
