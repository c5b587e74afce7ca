#include "common/cli/browser.hpp"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "common/process/process.hpp"

namespace halo {

void open_in_browser(const std::string& page) {
  const bool can_open = isatty(STDOUT_FILENO) == 1 && (std::getenv("DISPLAY") != nullptr ||
                                                       std::getenv("WAYLAND_DISPLAY") != nullptr);
  if (!can_open) return;
  if (!run_program({"xdg-open", page}).good()) {
    std::fprintf(stderr, "halo: no browser was opened (xdg-open): open that file\n");
  }
}

}  // namespace halo
