// How a command ends early: each is one line, and an exit code (common/report/rows.hpp).
#pragma once

#include <stdexcept>

namespace halo {

/// Wrong use of the command line, or something that does not compile: one line, exit code 2.
struct WrongUse : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// What was asked for cannot be run here: one line, exit code 77.
struct CannotRun : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The check of an exercise ended without a verdict, which is no pass: one line, exit code 1.
struct NoVerdict : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// As NoVerdict, by the fault of this machine: exit code 74. The same again on another day, or another machine.
struct MachineFault : NoVerdict {
  using NoVerdict::NoVerdict;
};

/// As NoVerdict, by the program's own fault: it ends before it is asked anything, say.
struct NotJudgeable : NoVerdict {
  using NoVerdict::NoVerdict;
};

}  // namespace halo
