// What halo-jail's child does to itself before it becomes the program: from then on it can do less.
#pragma once

#include <sys/types.h>

#include <string>

#include "common/process/jail_options.hpp"

namespace halo {

/// The first descriptor that a program finds behind the usual three; it is handed on if it is open.
inline constexpr int kHandedOn = 3;

/// What a system's compilers and programs need to be read, as far as it is there.
const std::vector<std::string>& system_paths();
/// What a program may read of /dev.
const std::vector<std::string>& harmless_devices();
/// NVIDIA's, which one of Profile::gpu may use too.
std::vector<std::string> gpu_devices();

/// "landlock seccomp", of those that this kernel has and this program was built with. They are tried.
std::string means_here();

/// All descriptors from 3 on will be closed by exec but kHandedOn and `also`.
void close_on_exec(int also = -1);

/// The last steps, and the program. `user` is the one to become, or 0 to stay. Over `line` goes the listener of the filter, and
/// what went wrong, if anything did.
[[noreturn]] void become_confined(const JailOptions& options, uid_t user, int line);

/// Of a call to the system that failed: throws the words, and what errno says.
[[noreturn]] void throw_errno(const std::string& what);

/// As another user, for ever.
bool become_user(uid_t user);

/// What a call that the filter stopped is: "tried to start another program (fork)".
std::string words_of_call(int number);

/// What is said over the line between the program that is confined, and the one that watches it.
struct LineMessage {
  enum class Kind { failed, filter, status, closed } kind = Kind::failed;
  int status = 0;     // as waitpid has it
  int listener = -1;  // of the filter
  std::string text;   // why it failed
};
bool send_on_line(int line, const LineMessage& message);
/// False: nothing is there now. The kind is `closed` once nobody can send any more.
bool receive_from_line(int line, LineMessage& message);

}  // namespace halo
