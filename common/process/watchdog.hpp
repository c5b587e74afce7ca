// What a process and all that it started have taken, as /proc tells it.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace halo {

/// The processes below this one, children's children too.
std::vector<pid_t> processes_below(pid_t process);

struct Usage {
  std::uint64_t memory =
      0;  // bytes: of their own, shared with nobody, or in files that are only in memory
  double processor = 0;  // seconds
  int threads = 0;
  std::uint64_t unnamed = 0;  // bytes of open files that no folder names any more
};
Usage usage_of(const std::vector<pid_t>& processes);

/// What processes may still take of this machine's memory, in bytes; 0 if it does not say.
std::uint64_t available_memory();

struct FolderUsage {
  std::uint64_t bytes = 0;
  std::uint64_t files = 0;
};
/// Of all that lies in it; `most` files are looked at.
FolderUsage usage_of_folder(const std::string& folder, std::uint64_t most);

/// What the threads of some processes do, for Patience.
struct Activity {
  std::map<pid_t, double> threads;  // processor seconds of each that is there
  double processor = 0;             // of all, also those that have ended
  bool sleeps = false;              // none runs, waits for a processor, or for a disk
};
/// Of these processes but those of the sandbox itself, which look round all the time.
Activity activity_of(const std::vector<pid_t>& processes);

}  // namespace halo
