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

}  // namespace halo
