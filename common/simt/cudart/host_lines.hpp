// Where host code called the runtime: for the names of allocations and the lines of findings. Needs the program's debug
// information (-g, or nvcc -Xcompiler -g).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace simt::cudart {

struct HostLine {
  std::string file;  // empty: not known
  int line = 0;
  std::uintptr_t caller = 0;  // the return address that told it
};

/// Return addresses of the functions that led to the runtime, the innermost first, and few of them.
std::vector<std::uintptr_t> callers_of_runtime();
/// While work is done later than it was asked for, those that asked for it.
class CallersOf {
 public:
  explicit CallersOf(const std::vector<std::uintptr_t>& callers);
  ~CallersOf();
  CallersOf(const CallersOf&) = delete;
  CallersOf& operator=(const CallersOf&) = delete;

 private:
  const std::vector<std::uintptr_t>* before_;
};

/// The library that this code is of is the runtime's too: to be said once, when it is loaded.
void leave_out_frames_of(const void* code);

/// The innermost line that is the program's and not of the toolkit's headers.
HostLine line_of_call(const std::vector<std::uintptr_t>& callers);

/// The variable whose address is the first argument of the call in that line: "input" of
/// `check(cudaMalloc(&input, bytes))`. Empty if the source cannot be read or says something else. Which of several calls
/// in a line it is `all` tell: the callers of all such calls.
using AllCallers = std::function<std::vector<std::vector<std::uintptr_t>>()>;
std::string variable_in_call(const std::vector<std::uintptr_t>& callers, const AllCallers& all);

/// A line of another process, and the variable in it, in place of this process's own.
struct ToldPlace {
  HostLine line;
  std::string variable;
};
/// Gives the place a number, from 1 on.
void tell_place(std::uint64_t number, ToldPlace place);
/// What the runtime is asked from now on it is asked there; 0: nowhere that was told.
void set_place(std::uint64_t number);

/// What the name of a table of virtual functions begins with.
inline constexpr std::string_view kTable = "vtable for ";
/// A variable of host code: "table". Empty: none is known.
struct HostVariable {
  std::string name;
  std::uintptr_t begin = 0;
  std::size_t bytes = 0;
  bool is_shadow = false;  // of a variable of the device
};
/// That lies there.
HostVariable host_variable_at(std::uintptr_t address);
/// One of the other process's.
void tell_host_variable(HostVariable its);

}  // namespace simt::cudart
