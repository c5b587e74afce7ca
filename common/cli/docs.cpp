// `halo docs`: the pages as a site, built and opened.
#include <cstdio>

#include "common/cli/browser.hpp"
#include "common/cli/commands.hpp"
#include "common/process/process.hpp"

namespace halo {

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
  if (open) open_in_browser(last_line(made.out));
  return 0;
}

}  // namespace halo
