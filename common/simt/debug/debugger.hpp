// Stops a thread of a kernel at a line, and tells an editor or a terminal of it: a server of the Debug Adapter Protocol on
// the Unix socket that SIMT_DEBUG names, where somebody listens. The program waits at its first launch until it is told to
// go on. Steps of a kernel that is debugged are replaced by one that looks who comes there; others cost nothing. It is a
// library of its own, compiled and loaded for those who debug.
#pragma once

#include <string>
#include <vector>

#include "common/simt/machine/grid.hpp"
#include "common/simt/simt.hpp"

namespace simt::debug {

/// A launch: what it names must outlive Debugger::end().
struct Launch {
  std::string name;  // of the kernel
  const ptx::Module& module;
  machine::Code& code;
  const machine::Addresses& addresses;
  const machine::Grid& grid;
};

class Debugger {
 public:
  /// `modules`: all that are loaded. The first time it waits until somebody has said where to stop.
  virtual void begin(const Launch& launch, const std::vector<const ptx::Module*>& modules) = 0;
  virtual void end() = 0;
  /// What is wrong has been done, just now: one of the two threads stops there.
  virtual void found(const Finding& finding) = 0;

 protected:
  ~Debugger() = default;
};

/// The name of the library beside libcudart, and of its function that makes the debugger: once, for whoever listens on the
/// socket. It ends the process where nobody does.
inline constexpr const char* kLibrary = "libsimt-debug.so";
inline constexpr const char* kMaker = "simt_debugger";
using Maker = Debugger*(const char* socket);

}  // namespace simt::debug
