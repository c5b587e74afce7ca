// The command line of halo-jail, which is written by Sandbox only.
#pragma once

#include <string>
#include <vector>

#include "common/process/sandbox.hpp"

namespace halo {

/// How reasons begin that say nothing of the program: see is_machines_fault.
inline constexpr const char* kTooLong = "ran for more than ";
inline constexpr const char* kNotStarted = "could not be started: ";

struct JailOptions {
  // By which means.
  std::string bubblewrap;  // its path; empty: not by it
  bool own_user = false;   // a uid that nobody else has
  bool landlock = false;
  bool seccomp = false;

  Confinement confinement;
  std::string report;
  std::vector<std::string> command;

  // Of the second halo-jail, which stands within bubblewrap: the socket to the first.
  int line = -1;
};

/// The words behind "halo-jail"; those of the command come last.
std::vector<std::string> to_words(const JailOptions& options);
/// Throws std::runtime_error, one line.
JailOptions jail_options(const std::vector<std::string>& words);

}  // namespace halo
