#include "common/report/terminal.hpp"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <stdexcept>

#include "common/report/row_stream.hpp"

namespace halo {

namespace {

bool dumb_terminal() {
  const char* term = std::getenv("TERM");
  return term == nullptr || std::string(term) == "dumb" || std::string(term).empty();
}

// Set and not empty, as no-color.org asks.
bool is_set(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0';
}

}  // namespace

bool use_color(const std::string& choice, std::FILE* stream) {
  if (choice == "always") return true;
  if (choice == "never") return false;
  if (choice != "auto") {
    throw std::invalid_argument("--color: '" + choice + "' is not auto, always or never");
  }
  if (is_set("NO_COLOR")) return false;
  if (is_set("CLICOLOR_FORCE") && std::string(std::getenv("CLICOLOR_FORCE")) != "0") return true;
  return isatty(fileno(stream)) == 1 && !dumb_terminal();
}

void open_standard_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    // Only to be read, so that writing still fails. It becomes the first number that is free: this.
    if (fcntl(stream, F_GETFD) < 0) open("/dev/null", O_RDONLY);
  }
}

std::string lost_output() {
  errno = 0;
  const bool flushed = std::fflush(stdout) == 0;
  if (flushed && std::ferror(stdout) == 0) return {};
  // Of a write that failed long ago the reason is forgotten.
  const std::string reason = errno == EBADF ? "it is closed"
                             : errno != 0   ? std::strerror(errno)
                                            : "";
  return "not all of it could be written to standard output" +
         (reason.empty() ? ": is the disk full?" : ": " + reason);
}

int terminal_width(std::FILE* stream) {
  constexpr int kUsual = 80;
  constexpr int kNarrowest = 20;  // below that nothing can be told
  if (is_set("COLUMNS")) {
    const char* const text = std::getenv("COLUMNS");
    const char* const end = text + std::strlen(text);
    int width = -1;
    if (std::from_chars(text, end, width).ptr == end && width >= 0) {
      return width == 0 ? 0 : std::max(width, kNarrowest);
    }
  }
  winsize size = {};
  if (ioctl(fileno(stream), TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
    return std::max<int>(size.ws_col, kNarrowest);
  }
  return kUsual;
}

TableOptions table_options(const std::string& color, std::FILE* stream, Format format) {
  return {use_color(color, stream), format, terminal_width(stream)};
}

namespace {

constexpr std::int64_t kFirst = 500;   // ms: what is over by then needs no progress
constexpr std::int64_t kRedraw = 100;  // on a terminal, and for another program
// Elsewhere: nobody wonders for two seconds; who has waited for a minute waits for the next as well.
constexpr std::int64_t kFirstLine = 1800;
constexpr std::int64_t kLongest = 60'000;

std::int64_t now() {
  timespec time = {};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return std::int64_t{time.tv_sec} * 1000 + time.tv_nsec / 1'000'000;
}

}  // namespace

Progress::Progress(Elsewhere elsewhere)
    : to_(RowStream::to_starter().open()                   ? To::starter
          : isatty(STDERR_FILENO) == 1 && !dumb_terminal() ? To::terminal
          : elsewhere == Elsewhere::lines                  ? To::lines
                                                           : To::nobody),
      interval_(to_ == To::lines ? kFirstLine : kRedraw),
      next_(now() + (to_ == To::lines     ? kFirstLine
                     : to_ == To::starter ? 0
                                          : kFirst)) {}

Progress::~Progress() { clear(); }

void Progress::show(const std::string& text) {
  if (to_ == To::nobody) return;
  const std::int64_t time = now();
  if (time < next_) return;
  if (to_ == To::lines) interval_ = std::min(2 * interval_, kLongest);
  next_ = time + interval_;
  const std::string line = whole_.empty() ? text : whole_ + ": " + text;
  if (to_ == To::starter) {
    RowStream::to_starter().progress(line);
    return;
  }
  if (to_ == To::lines) {
    std::fprintf(stderr, "halo: %s\n", line.c_str());
    return;
  }
  if (line == shown_) return;
  std::fprintf(stderr, "\r\033[K%.100s", line.c_str());
  std::fflush(stderr);
  shown_ = line;
}

void Progress::clear() {
  if (to_ == To::lines) next_ = now() + interval_;
  if (shown_.empty()) return;
  std::fputs("\r\033[K", stderr);
  std::fflush(stderr);
  shown_.clear();
}

}  // namespace halo
