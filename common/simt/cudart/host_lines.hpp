// Where host code called the runtime: for the names of allocations and the lines of findings. Needs the program's debug
// information (-g, or nvcc -Xcompiler -g).
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace simt::cudart {

struct HostLine {
  std::string file;  // empty: not known
  int line = 0;
  std::uintptr_t caller = 0;  // the return address that told it
};

/// Return addresses of the functions that led to the runtime, the innermost first, and few of them.
std::vector<std::uintptr_t> callers_of_runtime();

/// The innermost line that is the program's and not of the toolkit's headers.
HostLine line_of_call(const std::vector<std::uintptr_t>& callers);

/// The variable whose address is the first argument of the call in that line: "input" of
/// `check(cudaMalloc(&input, bytes))`. Empty if the source cannot be read or says something else. Which of several calls
/// in a line it is `all` tell: the callers of all such calls.
using AllCallers = std::function<std::vector<std::vector<std::uintptr_t>>()>;
std::string variable_in_call(const std::vector<std::uintptr_t>& callers, const AllCallers& all);

/// The variable of host code that lies there: "table". Empty if none is known.
std::string host_variable_at(std::uintptr_t address);

}  // namespace simt::cudart
