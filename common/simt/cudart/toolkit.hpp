// The CUDA toolkit that simcc works with.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace simt {

/// Of the environment; empty if there is none.
std::string variable(const char* name);

/// Where PATH would have a program of this name, in its order, there or not.
std::vector<std::filesystem::path> on_path(const char* program);

/// A folder as a CUDA toolkit's, of links to the one that is here, but for the runtime library, which is ours: nvcc that is
/// started there, and build systems that ask it for its folder, find no other. It is made where there is none, beside our
/// library or else in the user's cache, for each place of the library and each nvcc. `nvcc` is the one that is wanted; empty:
/// the first of CUDA 13 or newer that is found. Throws std::runtime_error.
std::filesystem::path simulated_toolkit(const std::filesystem::path& library_folder,
                                        const std::string& nvcc);

}  // namespace simt
