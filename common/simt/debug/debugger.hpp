// Stops a thread of a kernel at a line, and tells an editor or a terminal of it: a server of the Debug Adapter Protocol on
// the Unix socket that SIMT_DEBUG names, where somebody listens. The program waits at its first launch until it is told to
// go on. Steps of a kernel that is debugged are replaced by one that looks who comes there; others cost nothing.
#pragma once

#include <memory>
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
  /// Null unless SIMT_DEBUG asks for it; the same each time. Ends the process where nobody listens.
  static Debugger* asked_for();

  /// `modules`: all that are loaded. The first time it waits until somebody has said where to stop.
  void begin(const Launch& launch, const std::vector<const ptx::Module*>& modules);
  void end();
  /// What is wrong has been done, just now: one of the two threads stops there.
  void found(const Finding& finding);

 private:
  struct State;
  explicit Debugger(std::unique_ptr<State> state);
  ~Debugger();
  std::unique_ptr<State> state_;
};

}  // namespace simt::debug
