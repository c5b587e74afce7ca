// For the tests of programs that nvcc builds and that run with our libcudart. SIMCC is the program of this build,
// CUDART_PROGRAMS the folder of the sources.
#pragma once

#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "tests/catch.hpp"
#include "tests/folder.hpp"

struct Outcome {
  int status = -1;
  std::string out;
  std::string err;
};

// A folder of its own for what is built and written.
class Workbench {
 public:
  std::filesystem::path path() const { return folder_.path(); }
  std::string read(const std::string& name) const {
    std::ifstream in(path() / name);
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
  }
  Outcome run(const std::string& command) const {
    const std::string shell =
        "cd '" + folder_.path() + "' && " + command + " > out.txt 2> err.txt < /dev/null";
    const int status = std::system(shell.c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : 255, read("out.txt"), read("err.txt")};
  }
  // ./program of the sources; `options` go to simcc.
  void build(const std::string& sources, const std::string& options = "") const {
    std::string files;
    std::istringstream names(sources);
    for (std::string name; names >> name;) files += " '" CUDART_PROGRAMS "/" + name + "'";
    const Outcome outcome = run("'" SIMCC "' -o program " + options + " " + files);
    INFO(outcome.err);
    REQUIRE(outcome.status == 0);
    CHECK(outcome.err.empty());
  }

 private:
  halo::test::Folder folder_;
};

inline int line_of(const std::string& source, const std::string& marker) {
  std::ifstream file(CUDART_PROGRAMS "/" + source);
  std::string text;
  for (int line = 1; std::getline(file, text); ++line) {
    if (text.ends_with("// " + marker)) return line;
  }
  return 0;
}
