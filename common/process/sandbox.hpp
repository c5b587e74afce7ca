// Runs programs that nobody trusts: what they may read, write, call and take is limited, and whatever they started
// ends with them. `halo-jail` (jail.cpp) does it; this says which words to put before a program.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace halo {

/// How well a program is kept, the weakest first.
enum class SandboxLevel {
  limits,      // its time, memory and output are limited; it reads what its user may read
  confined,    // it also reads and writes named paths only, or is another user (Landlock, a uid)
  namespaces,  // it also sees no process, no network and no file but its own (bubblewrap)
};
const char* to_string(SandboxLevel level);
/// Throws std::runtime_error, one line, for another word.
SandboxLevel parse_sandbox_level(const std::string& word);

/// What a program and all that it starts may take together. Beyond it everything is ended.
struct SandboxLimits {
  double wall = 7200;  // seconds; what takes so long has had no processor, and is judged by nobody
  double processor = 240;                // seconds
  std::uint64_t memory = 2'000'000'000;  // bytes in use; reserved addresses cost nothing
  std::uint64_t file = 64'000'000;       // bytes of one file
  std::uint64_t written = 256'000'000;   // bytes in its folder
  std::uint64_t printed = 1'000'000;     // bytes; what is more is cut, and nothing is ended
  int processes = 128;                   // with their threads
  int open_files = 64;                   // of each process
};

struct Confinement {
  enum class Profile {
    worker,    // threads, but no other process, no signal to others, no network
    gpu,       // a worker that also reaches NVIDIA's devices, whose driver asks the system for much
    compiler,  // starts other programs; no network
  };
  Profile profile = Profile::worker;
  std::vector<std::string> readable;     // beside the system's programs, libraries and headers
  std::string folder;                    // the one that it may write to, and works in; empty: none
  std::vector<std::string> environment;  // NAME=VALUE; nothing else of ours is handed on
  SandboxLimits limits;
};

class Sandbox {
 public:
  /// Finds by trying the strongest level up to `most` that works here. `jail` is the program halo-jail. From
  /// `confined` on a program reads none of the `secrets`, files or folders. Throws std::runtime_error, one line,
  /// if not even limits work, and data::NotWritten.
  explicit Sandbox(std::filesystem::path jail, SandboxLevel most = SandboxLevel::namespaces,
                   const std::vector<std::string>& secrets = {});

  SandboxLevel level() const { return level_; }
  /// What the level is made of here: "bubblewrap, another user, Landlock, seccomp".
  std::string made_of() const;
  /// Why the next level does not work; empty at the strongest.
  const std::string& why_not_more() const { return why_not_more_; }

  /// The words to put before a program's own. The program's descriptors 0 to 3 are kept, no others.
  std::vector<std::string> words(const Confinement& confinement) const;

 private:
  bool works(const std::vector<std::string>& secrets, const std::string& folder);

  std::filesystem::path jail_;
  SandboxLevel level_ = SandboxLevel::limits;
  std::vector<std::string> means_;  // options of halo-jail
  std::string why_not_more_;
};

/// What one run has besides the words that are the same for all.
struct ConfinedRun {
  std::string report;  // a file for the reason why the program was ended; empty: nobody asks
  std::vector<std::string> readable = {};
  std::string folder = {};
  std::vector<std::string> environment = {};
};
/// The command that runs a program within a sandbox's words; the program's own if there are none.
std::vector<std::string> confined(const std::vector<std::string>& words, const ConfinedRun& run,
                                  const std::vector<std::string>& command);
/// What stands in a report, to be put behind "it ": "took more than 2 GB of memory". Empty: it ended by itself.
std::string reason_in_report(const std::string& report);
/// Whether such a reason is the machine's, and says nothing of the program: it could not be started, or it had no
/// processor for too long.
bool is_machines_fault(const std::string& reason);

}  // namespace halo
