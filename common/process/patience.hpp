// How long to wait for a program of which nothing is heard. What it takes and does decides, never a clock: on a machine with
// other work a right program is slow, and an endless one takes its processor time all the same.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>

#include "common/process/watchdog.hpp"

namespace halo {

/// Of one program with all that it has started.
class Patience {
 public:
  enum class Lost {
    not_yet,
    computes,  // so long a thread computed, or as many as there are processors
    sleeps,    // so long no thread wanted a processor, whenever it was looked at
    waited,    // it had no chance on this machine: no verdict
  };

  /// Begins now. `seconds`: 0 is for ever. `by_the_clock`: until no verdict is possible; 0: half an hour, more if `seconds`
  /// are many.
  Patience(pid_t process, double seconds, double by_the_clock = 0);

  /// A sign of life: it begins anew.
  void heard();
  /// To be asked about ten times a second; it looks less often itself.
  Lost look();
  /// "gave no sign of life in 20 s of processor time: an endless loop?"
  std::string words(Lost lost) const;

 private:
  using Clock = std::chrono::steady_clock;

  pid_t process_;
  double seconds_;
  double by_the_clock_;
  double interval_;  // between two looks
  Clock::time_point heard_;
  Clock::time_point looked_;
  std::optional<Activity> before_;  // when it was heard of
  double asleep_ = 0;
};

}  // namespace halo
