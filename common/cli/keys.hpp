// Single keys from the terminal, for a command that redraws one screen.
#pragma once

#include <termios.h>

namespace halo {

/// While it lives, keys come at once and are not shown, if input and output are this terminal's; its old
/// manners come back with the end, however that comes about, and while it is `paused`. Ctrl-C stays a
/// signal.
class Keys {
 public:
  Keys();
  ~Keys();
  Keys(const Keys&) = delete;
  Keys& operator=(const Keys&) = delete;

  /// Whether there is a terminal to read keys from.
  bool any() const { return is_terminal_; }
  /// The next key, or 0 if none comes for so long. Without a terminal it only waits.
  char next(int milliseconds);

  /// For questions that want a whole line, and after a program was stopped (Ctrl-Z) and goes on.
  void pause();
  void resume();

 private:
  bool is_terminal_ = false;
  bool has_gone_ = false;
  termios before_ = {};
};

}  // namespace halo
