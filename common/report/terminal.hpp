// The terminal's manners: when to use colour, and progress that never reaches a pipe or a file.
#pragma once

#include <chrono>
#include <cstdio>
#include <string>

namespace halo {

// `choice` is auto, always or never. For auto: NO_COLOR, then CLICOLOR_FORCE, then whether `stream`
// is a terminal and TERM is not "dumb". Throws std::invalid_argument for another word.
bool use_color(const std::string& choice, std::FILE* stream);

// One line on stderr that is overwritten in place, at most ten times a second, and only where
// stderr is a terminal. Disappears with the object. Shows nothing in the first half second.
class Progress {
 public:
  Progress();
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  void show(const std::string& text);
  void clear();
  // What all that is shown from now on is a part of: stands before it. Empty: of nothing.
  void within(const std::string& whole) { whole_ = whole; }

 private:
  bool on_;
  bool shown_ = false;
  std::string whole_;
  std::chrono::steady_clock::time_point next_;
};

}  // namespace halo
