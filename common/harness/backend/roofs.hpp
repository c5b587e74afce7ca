// The kernels that measure what a GPU can do at most, apart from the copy (copy.hpp). They compute
// nothing that anybody needs.
#pragma once

#include <cstdint>

namespace halo {

/// Multiply-adds in registers: enough threads for `multiprocessors` of them, each with independent
/// chains, no memory. `sink` is one float of device memory that is never written in practice. Starts
/// the kernel on the calling thread's default stream. Returns the launch's CUDA error code.
int launch_multiply_adds(float* sink, int multiprocessors, int turns);
/// Operations of one such launch, two for a multiply-add.
double multiply_add_flops(int multiprocessors, int turns);

/// A kernel of one thread that does nothing. Returns as above.
int launch_nothing();

/// One thread watches two clocks for about `nanoseconds`: seen[0] gets the cycles of the
/// multiprocessor, seen[1] the nanoseconds that passed (device memory). Returns as above.
int launch_clock_probe(std::uint64_t* seen, std::uint64_t nanoseconds);

}  // namespace halo
