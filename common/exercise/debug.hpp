// A student's kernel in the simulator, stopped in one thread of the smallest problem that comes out wrong.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "common/exercise/judge.hpp"

namespace halo::exercises {

/// What is asked of a debugging session.
struct DebugOptions {
  std::string program;                 // of the same file, made by nvcc -G
  std::string file;                    // the exercise's file, as the compiler saw it
  std::optional<std::int64_t> block;   // numbered through; else that of the first wrong output
  std::optional<std::int64_t> thread;  // of the block
  int line = 0;                        // to stop at; 0: the first of each kernel
  bool batch = false;                  // tells where it stopped, and ends
  bool dap = false;                    // for an editor, which has started this
};

/// Looks with `check` for the smallest problem that is wrong, says on stderr which it is, and runs it once more, held in
/// this thread for who is at this terminal or has started this process. Returns the exit status: 0, or 2 for something
/// that cannot be done, told in one line.
int debug(const Contract& contract, Check& check, const DebugOptions& options, std::uint64_t seed);

}  // namespace halo::exercises
