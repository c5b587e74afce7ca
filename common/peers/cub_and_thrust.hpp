// The calls of CUB and Thrust behind two GPU peers, each in a unit of its own: they take long to
// compile, and nvcc need not read the harness. Private to the peers.
//
// Both compute, for first <= i < last and with halo = (width - 1) / 2,
//     output[i] = sum over j of mask[j] * input[i - halo + j],   cells beyond the ends are zero,
// from input[n], mask[width], output[n] in device memory, on the thread's default stream. They
// return a CUDA error code and do not wait.
#pragma once

#include <cstddef>
#include <string>

namespace halo::peers {

/// thrust_transform.cu
int thrust_transform(const float* input, const float* mask, float* output, int n, int width,
                     int first, int last);

/// cub_segmented_reduce.cu. With temporary == nullptr it only says how many bytes are wanted there.
int cub_segmented_reduce(void* temporary, std::size_t& temporary_bytes, const float* input,
                         const float* mask, float* output, int n, int width, int first, int last);

/// "CUB 3.0.1"; Thrust, which comes with it, has the same number.
std::string cub_version();

/// CUB's version and which of its two ways was built.
std::string cub_segmented_reduce_detail();

}  // namespace halo::peers
