// A student's kernel in the simulator, held by gdb in one thread of the smallest problem that comes out wrong.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/exercise/judge.hpp"

namespace halo::exercises {

/// What is asked of a debugging session.
struct DebugOptions {
  std::string program;                 // of the same file, with debug information
  std::string file;                    // the exercise's file, as the compiler saw it
  std::optional<std::int64_t> block;   // numbered through; else that of the first wrong output
  std::optional<std::int64_t> thread;  // of the block
  int line = 0;                        // to stop at; 0: the first of each kernel
  bool batch = false;                  // tells where it stopped, and ends
};

/// Lines of a CUDA source at which its kernels begin: behind the `{` of each __global__ function.
std::vector<int> kernel_lines(const std::string& text);

/// The commands for gdb that stop in this thread, at these lines of the file.
std::string gdb_commands(const std::string& file, const std::vector<int>& lines, std::int64_t block,
                         std::int64_t thread, bool batch);

/// Looks with `check` for the smallest problem that is wrong, says on stderr which it is, and runs it once more
/// under gdb, on this terminal. Returns the exit status: 0, or 2 for something that cannot be done, told in one
/// line.
int debug(const Contract& contract, Check& check, const DebugOptions& options, std::uint64_t seed);

}  // namespace halo::exercises
