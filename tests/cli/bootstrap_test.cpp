// The `halo` script, as far as it goes without building: help, wrong use, and machines that lack
// something.
#include <filesystem>
#include <fstream>

#include "tests/catch.hpp"
#include "tests/cli/fake_build.hpp"

namespace {

using namespace halo;
using namespace halo::test;
namespace fs = std::filesystem;

// Runs ./halo with a build folder that does not exist, unless the environment names another. It
// never installs anything.
Ended script(const std::vector<std::string>& args, const std::vector<std::string>& environment = {},
             const fs::path& where = "/") {
  std::vector<std::string> command = {"env", "--chdir=" + where.string(), "HALO_INSTALL=no",
                                      "HALO_BUILD=/proc/halo-build"};
  command.insert(command.end(), environment.begin(), environment.end());
  command.push_back(required_variable("HALO_ROOT") + "/halo");
  command.insert(command.end(), args.begin(), args.end());
  return run_program(command);
}

// A PATH with links to all the programs that the script uses except `without`.
std::string path_without(const FakeBuild& scratch, const std::vector<std::string>& without) {
  const fs::path folder = scratch.path() / "path";
  fs::create_directory(folder);
  for (const std::string name :
       {"sh", "env", "readlink", "dirname", "cat", "grep", "id", "ls", "mkdir", "rm", "date",
        "tail", "g++", "meson", "ninja", "pkg-config", "apt-get", "apt-cache"}) {
    if (std::find(without.begin(), without.end(), name) != without.end()) continue;
    const Ended found = run_program({"sh", "-c", "command -v " + name});
    if (found.good()) fs::create_symlink(last_line(found.out), folder / name);
  }
  return "PATH=" + folder.string();
}

}  // namespace

TEST_CASE("the script helps before anything is built") {
  for (const std::vector<std::string>& args :
       std::vector<std::vector<std::string>>{{"--help"},
                                             {"-h"},
                                             {"help"},
                                             {"run", "--help"},
                                             {"bench", "--help"},
                                             {"compare", "a", "b", "--help"},
                                             {"report", "--help"},
                                             {"test", "simt", "--help"}}) {
    const Ended ended = script(args);
    CAPTURE(args, ended.err);
    CHECK(ended.status == 0);
    CHECK_THAT(ended.out, contains("./halo run [STAGE]") && contains("HALO_BUILD"));
    CHECK_THAT(ended.out, contains("./halo bench [FAMILY]") && contains("./halo report FILE") &&
                              contains("./halo compare A.json B.json"));
    CHECK(ended.err.empty());
  }
}

TEST_CASE("the script knows its commands") {
  const Ended unknown = script({"dance"});
  CHECK(unknown.status == 2);
  CHECK(unknown.out.empty());
  CHECK(lines_of(unknown.err).size() == 1);
  CHECK_THAT(unknown.err, contains("dance") && contains("--help") && contains("compare"));
  // A command that it knows goes on to the set-up.
  for (const std::string command : {"bench", "compare", "report"}) {
    CAPTURE(command);
    CHECK_THAT(script({command}).err, contains("/proc/halo-build"));
  }
  const Ended none = script({});
  CHECK(none.status == 2);
  CHECK(none.out.empty());
}

TEST_CASE("a folder that the script cannot write is one line and exit status 2") {
  const Ended ended = script({"run"});
  CAPTURE(ended.out, ended.err);
  CHECK(ended.status == 2);
  CHECK(ended.out.empty());
  CHECK_THAT(last_line(ended.err), contains("/proc/halo-build") && contains("HALO_BUILD"));
}

TEST_CASE("the script leaves a folder alone that is not its own") {
  FakeBuild scratch;
  const fs::path folder = scratch.path() / "mine";
  fs::create_directory(folder);
  std::ofstream(folder / "letter.txt") << "Dear reader";
  const Ended ended = script({"run"}, {"HALO_BUILD=" + folder.string()});
  CHECK(ended.status == 2);
  CHECK_THAT(last_line(ended.err), contains("holds something else"));
  CHECK(read_file(folder / "letter.txt") == "Dear reader");
}

TEST_CASE("a machine that lacks something gets the line to type") {
  FakeBuild scratch;
  const std::string path = path_without(scratch, {"meson", "ninja"});
  const Ended ended = script({"run"}, {path});
  CAPTURE(ended.out, ended.err);
  CHECK(ended.status == 2);
  CHECK(ended.out.empty());
  CHECK_THAT(last_line(ended.err), contains("apt-get install") && contains("ninja-build"));
  // doctor says the same, and never offers to install.
  const Ended doctor = script({"doctor"}, {path, "HALO_INSTALL=yes"});
  CHECK(doctor.status == 1);
  CHECK_THAT(doctor.err, contains("ninja-build"));
}

TEST_CASE("a machine without apt-get is told the names") {
  FakeBuild scratch;
  const Ended ended = script({"run"}, {path_without(scratch, {"ninja", "apt-get", "apt-cache"})});
  CHECK(ended.status == 2);
  CHECK_THAT(ended.err, contains("ninja-build") && contains("package manager"));
}

TEST_CASE("a machine without a compiler is told so") {
  FakeBuild scratch;
  const Ended ended = script({"run"}, {path_without(scratch, {"g++"})});
  CAPTURE(ended.err);
  CHECK(ended.status == 2);
  CHECK_THAT(ended.err, contains("g++"));
}

TEST_CASE("the script works through a link and from any folder") {
  FakeBuild scratch;
  const fs::path link = scratch.path() / "linked";
  fs::create_symlink(required_variable("HALO_ROOT") + "/halo", link);
  const Ended ended = run_program({"env", "--chdir=" + scratch.path().string(), "HALO_INSTALL=no",
                                   "HALO_BUILD=/proc/halo-build", "./linked", "run"});
  CHECK(ended.status == 2);
  CHECK_THAT(last_line(ended.err), contains("/proc/halo-build"));
}
