// Signals that a simulated thread brings about: a division by zero, a stack that is used up, a bad
// pointer in a library function. They end the thread and not the program.
#pragma once

#include <signal.h>

#include <cstdint>

namespace simt {

// Sent to an OS thread, it ends the simulated thread that runs there, if one does, like a crash.
inline constexpr int kEndThread = SIGVTALRM;

struct Crash {
  int signal = 0;
  std::uintptr_t address = 0;          // that could not be accessed
  std::uintptr_t program_counter = 0;  // of the instruction
  std::uintptr_t caller = 0;           // where that returns to if it is in a small function
};

// One per OS thread. While `stack_top` is not 0, a simulated thread runs, whose stack ends there: after
// a crash it goes on in `landing`, at the top of its stack, and everything that was on it is lost.
// Crashes elsewhere end the program as ever.
struct CrashWatch {
  volatile std::uintptr_t stack_top = 0;
  std::uintptr_t stack_low = 0;
  void (*landing)() = nullptr;  // does not return
  Crash crash;
};
extern thread_local constinit CrashWatch crash_watch;

// Called once on each OS thread that runs simulated threads.
void prepare_for_crashes();

// The signals' handlers are ours while one lives, and then the program's again. One at a time.
class CrashHandlers {
 public:
  CrashHandlers();
  ~CrashHandlers();
  CrashHandlers(const CrashHandlers&) = delete;
  CrashHandlers& operator=(const CrashHandlers&) = delete;
};

}  // namespace simt
