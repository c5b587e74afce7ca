// Where in the source an instruction comes from.
#pragma once

#include <cstdint>
#include <string>

#include "common/simt/machine/code.hpp"
#include "common/simt/ptx/module.hpp"

namespace simt::report {

/// A line of device code.
struct DeviceLine {
  std::string file;  // empty: the program was built without -lineinfo
  int line = 0;
};

/// Where a header of the toolkit was inlined, the line that called it.
[[gnu::visibility("default")]] DeviceLine line_of(const ptx::Module& module,
                                                  const ptx::Instruction& instruction);

/// The line of a place in a kernel's code: of a header of the toolkit that was called there the line that called it.
DeviceLine line_of(const ptx::Module& module, const machine::Code& code, std::int32_t site);

/// The line of the kernel that called the function that was inlined there; line 0: it is the kernel's own.
DeviceLine call_of(const ptx::Module& module, const ptx::Instruction& instruction);

/// A header of the CUDA toolkit.
[[gnu::visibility("default")]] bool is_of_toolkit(const std::string& file);
/// One of the toolkit, of the compiler or of the system.
bool is_of_system(const std::string& file);

}  // namespace simt::report
