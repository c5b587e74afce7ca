// A terminal of 80 columns and 24 lines with a program in it, for what people see and press.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace halo::test {

class Terminal {
 public:
  explicit Terminal(const std::vector<std::string>& command);
  /// Kills the program if it still runs.
  ~Terminal();
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  /// Waits until this is written that was not there when an earlier call ended, until the screen has the other text
  /// too, and then until the program waits and nothing more comes. Returns the screen as it then is.
  std::string wait_for(const std::string& text, const std::string& on_screen = "");
  void press(const std::string& keys);
  void signal(int number);
  /// Waits for the program's end: its exit status, or 128 and the signal.
  int end();
  /// Whether the terminal waits for whole lines and shows what is typed, as one does.
  bool is_as_before() const;
  /// All that was written since the screen was last cleared, without colours.
  std::string screen() const;

 private:
  bool read_some(int milliseconds);
  bool is_asleep() const;

  int master_ = -1;
  int slave_ = -1;
  pid_t child_ = -1;
  std::string written_;
  std::size_t from_ = 0;  // of what wait_for has not looked at
};

}  // namespace halo::test
