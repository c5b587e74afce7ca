// Runs programs, gathers what they say and tells how they ended.
#pragma once

#include <filesystem>
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

/// Ctrl-C or SIGTERM came while a program ran; all that ran have ended too.
struct Interrupted {
  int signal;
};

/// What is done with a line that a program told (see common/report/row_stream.hpp); `whole` is false for a
/// last line without an end.
using Listener = std::function<void(const std::string& line, bool whole)>;

/// A program that was started, to be watched beside others.
class Running {
 public:
  /// Whom it takes with it when it is ended: nobody, or all that it has started (a compiler's parts, a
  /// student's endless loop).
  enum class Alone { yes, no };

  /// Starts command[0] (looked up on PATH) with the other words as arguments, in this working
  /// directory, with an empty standard input. With a listener it is given a pipe to tell lines.
  /// Throws std::system_error if no process can be made.
  explicit Running(const std::vector<std::string>& command, Listener listener = {},
                   Alone alone = Alone::yes);
  /// Ends the program if it still runs.
  ~Running();
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

  bool has_ended() const { return has_ended_; }
  /// Its number, for as long as it has not ended.
  int process() const { return child_; }
  /// Ends it at once, if it still runs; how it ended is told as always.
  void end();
  /// What it said so far; how it ended once it has.
  const Ended& ended() const { return ended_; }

 private:
  friend void watch(const std::vector<Running*>& programs);
  enum End { kOut, kErr, kTold, kEnds };

  void pass_on(int signal);
  void read_end(int which);
  void finish();

  std::string name_;
  Listener listener_;
  int child_ = -1;
  bool has_group_ = false;
  int ends_[kEnds] = {-1, -1, -1};
  int failure_ = -1;  // carries errno if exec fails; closed by a successful exec
  bool has_ended_ = false;
  std::string told_;  // a line that has not ended
  Ended ended_;
};

/// Waits for news of these programs (those that are null are left out), at most a tenth of a second. Throws
/// Interrupted once all have ended that a stop signal was passed on to.
void watch(const std::vector<Running*>& programs);

/// Runs a program to its end. `tick` is called about ten times a second with the stdout so far.
/// Throws as Running and watch do.
Ended run_program(const std::vector<std::string>& command,
                  const std::function<void(const std::string& out)>& tick = {});

/// "exit status 3", "signal 11 (Segmentation fault)", or why it was not started.
std::string how_it_ended(const Ended& ended);

/// Where the program of this name is, in the folders of PATH; empty: in none.
std::filesystem::path on_path(const std::string& program);

/// The last line that is not blank; empty if there is none.
std::string last_line(const std::string& text);

}  // namespace halo
