// The terminal's manners: when to use colour, and progress that never reaches a pipe or a file.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>

#include "common/report/table.hpp"

namespace halo {

// `choice` is auto, always or never. For auto: NO_COLOR, then CLICOLOR_FORCE, then whether `stream`
// is a terminal and TERM is not "dumb". Throws std::invalid_argument for another word.
bool use_color(const std::string& choice, std::FILE* stream);

// Before anything is printed: a standard stream that the caller has closed is opened on nothing, so that
// no file of ours takes its number.
void open_standard_streams();

// Empty, or why not all that was printed has reached standard output: a full disk, a closed stream. For
// the end of a program, which then ends with kNotWritten (rows.hpp).
std::string lost_output();

// The letters of a line: COLUMNS, if it is a number; else what the terminal behind `stream` says; else 80.
// No limit (0) for COLUMNS=0.
int terminal_width(std::FILE* stream);

// How tables are written there: with colour, as wide as it is.
TableOptions table_options(const std::string& color, std::FILE* stream,
                           Format format = Format::terminal);

// What is being done, on stderr. On a terminal one line that is overwritten in place, at most ten
// times a second and not in the first half second; it disappears with the object. A program that
// another one started tells that one (common/report/row_stream.hpp). Elsewhere nothing is shown, or,
// for a command that may be silent for minutes, whole lines.
class Progress {
 public:
  // Off a terminal: nothing, or "halo: TEXT" in a line of its own, the first after two seconds, each next one
  // after twice as long, a minute at most.
  enum class Elsewhere { nothing, lines };

  explicit Progress(Elsewhere elsewhere = Elsewhere::nothing);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  void show(const std::string& text);
  // Before anything else is written: takes the line away. What was written instead is news enough
  // for as long as the next line has to wait.
  void clear();
  // What all that is shown from now on is a part of: stands before it. Empty: of nothing.
  void within(const std::string& whole) { whole_ = whole; }

 private:
  enum class To { nobody, terminal, lines, starter };
  To to_;
  std::string shown_;  // on the terminal
  std::string whole_;
  std::int64_t interval_;  // milliseconds
  std::int64_t next_;      // of the steady clock
};

}  // namespace halo
