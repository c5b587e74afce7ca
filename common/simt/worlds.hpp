// nvcc compiles a file twice: for the host, and for the device with __CUDA_ARCH__ defined. The
// simulator compiles it once, so what differs between the two is put together ahead of that.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace simt {

// Joins what `g++ -E` made of one file without (`host`) and with (`device`) __CUDA_ARCH__. Bodies of
// kernels and __device__ functions are the device's, those of host functions the host's. A
// __host__ __device__ function whose bodies differ gets both and decides when it runs. Declarations
// that only one of them has are kept where they belong; of those that differ the device's are taken.
// System headers are always the host's.
std::string join_worlds(std::string_view host, std::string_view device,
                        const std::string& main_file);

// The files of the user, as line markers of preprocessed text name them: no system headers.
std::vector<std::string> user_files(std::string_view preprocessed);

}  // namespace simt
