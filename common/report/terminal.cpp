#include "common/report/terminal.hpp"

#include <unistd.h>

#include <cstdlib>
#include <stdexcept>

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

Progress::Progress()
    : on_(isatty(STDERR_FILENO) == 1 && !dumb_terminal()),
      next_(std::chrono::steady_clock::now() + std::chrono::milliseconds(500)) {}

Progress::~Progress() { clear(); }

void Progress::show(const std::string& text) {
  if (!on_) return;
  const auto now = std::chrono::steady_clock::now();
  if (now < next_) return;
  next_ = now + std::chrono::milliseconds(100);
  const std::string line = whole_.empty() ? text : whole_ + ": " + text;
  std::fprintf(stderr, "\r\033[K%.100s", line.c_str());
  std::fflush(stderr);
  shown_ = true;
}

void Progress::clear() {
  if (!shown_) return;
  std::fputs("\r\033[K", stderr);
  std::fflush(stderr);
  shown_ = false;
}

}  // namespace halo
