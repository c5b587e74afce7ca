// Runs a program, gathers what it says and tells how it ended.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace halo {

struct Ended {
  bool started = false;  // false: the program could not be executed; `err` says why
  int status = -1;       // exit status; -1 if a signal ended it
  int signal = 0;        // the signal that ended it; 0 if it ended by itself
  std::string out;       // its stdout
  std::string err;       // its stderr

  bool good() const { return started && signal == 0 && status == 0; }
};

/// Ctrl-C or SIGTERM came while a program ran; the program has ended too.
struct Interrupted {
  int signal;
};

/// Runs command[0] (looked up on PATH) with the other words as arguments, in this working
/// directory, with an empty standard input. `tick` is called about ten times a second with the
/// stdout so far. Throws Interrupted, and std::runtime_error if no process can be made.
Ended run_program(const std::vector<std::string>& command,
                  const std::function<void(const std::string& out)>& tick = {});

/// "exit status 3", "signal 11 (Segmentation fault)", or why it was not started.
std::string how_it_ended(const Ended& ended);

/// The last line that is not blank; empty if there is none.
std::string last_line(const std::string& text);

}  // namespace halo
