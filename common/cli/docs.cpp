// `halo docs`: the pages as a site, built and opened.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "common/cli/commands.hpp"
#include "common/process/process.hpp"

namespace halo {
namespace {

// A browser has somewhere to open a window, and somebody is there to look at it.
bool can_open() {
  return isatty(STDOUT_FILENO) == 1 &&
         (std::getenv("DISPLAY") != nullptr || std::getenv("WAYLAND_DISPLAY") != nullptr);
}

}  // namespace

int run_docs(const BuildFolder& build, bool open) {
  const std::string script = (build.source() / "docs" / "site" / "make_site.py").string();
  const Ended made = run_program({"python3", script, "--out", (build.path() / "docs").string()});
  if (!made.started) throw CannotRun("the site is made by python3, which was not found");
  if (made.status == 77) throw CannotRun(last_line(made.err));
  if (made.status != 0) {
    std::fputs(made.err.c_str(), stderr);
    if (made.err.empty())
      std::fprintf(stderr, "halo: make_site.py: %s\n", how_it_ended(made).c_str());
    return 1;
  }
  std::fputs(made.out.c_str(), stdout);  // its first page
  if (!open || !can_open()) return 0;
  const std::string page = last_line(made.out);
  const Ended opened = run_program({"xdg-open", page});
  if (!opened.good())
    std::fprintf(stderr, "halo: no browser was opened (xdg-open): open that file\n");
  return 0;
}

}  // namespace halo
