// The `halo` script, as far as it goes without building: help, wrong use, and machines that lack
// something.
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "tests/catch.hpp"
#include "tests/cli/fake_build.hpp"

namespace {

using namespace halo;
using namespace halo::test;
namespace fs = std::filesystem;

// Runs ./halo with a build folder that does not exist, and without the compiler that whoever tests has chosen, unless the
// environment names others. It never installs anything.
Ended script(const std::vector<std::string>& args, const std::vector<std::string>& environment = {},
             const fs::path& where = "/") {
  std::vector<std::string> command = {"env",
                                      "-u",
                                      "CXX",
                                      "--chdir=" + where.string(),
                                      "HALO_INSTALL=no",
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
       {"sh",         "env",     "readlink",  "dirname", "cat",   "grep", "id",    "ls",
        "mkdir",      "rm",      "date",      "tail",    "flock", "g++",  "meson", "ninja",
        "pkg-config", "apt-get", "apt-cache", "sed",     "mv",    "ln"}) {
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
    CHECK_THAT(ended.out,
               contains("./halo run [STAGE]") && contains("HALO_BUILD") && contains("Examples:"));
    CHECK_THAT(ended.out, contains("./halo bench [FAMILY]") && contains("./halo report FILE") &&
                              contains("./halo compare A.json B.json"));
    CHECK_THAT(ended.out, contains("./halo try [NN]") && contains("./halo watch [NN]") &&
                              contains("./halo progress"));
    CHECK(ended.err.empty());
    const bool is_of_command = args[0] != "help" && args[0][0] != '-';
    CHECK((last_line(ended.out) == "./halo " + args[0] +
                                       " is not built yet: its first use builds it, and --help "
                                       "shows its options then.") == is_of_command);
  }
}

TEST_CASE("the script knows its commands") {
  const Ended unknown = script({"dance"});
  CHECK(unknown.status == 2);
  CHECK(unknown.out.empty());
  CHECK(lines_of(unknown.err).size() == 1);
  CHECK_THAT(unknown.err, contains("dance") && contains("--help") && contains("compare"));
  // A command that it knows goes on to the set-up.
  for (const std::string command :
       {"bench", "compare", "report", "try", "watch", "hint", "show", "reset", "progress"}) {
    CAPTURE(command);
    CHECK_THAT(script({command}).err, contains("/proc/halo-build"));
  }
  const Ended version = script({"--version"});
  CHECK(version.status == 0);
  CHECK(lines_of(version.out).size() == 1);
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

TEST_CASE("a folder with a name that Meson or nvcc cannot take is named, and nothing is made") {
  FakeBuild scratch;
  for (const std::string name : {"a \"course\"", "a\\course", "Anna's", "Ada, Bob", "a`course"}) {
    const fs::path folder = scratch.path() / name;
    const Ended ended = script({"run"}, {"HALO_BUILD=" + folder.string()});
    CHECK(ended.status == 2);
    CHECK(ended.out.empty());
    CHECK_THAT(ended.err, contains("rename a folder of " + folder.string()));
    CHECK_FALSE(fs::exists(folder));
  }
}

TEST_CASE("a folder that is there and that the script cannot write is one line as well") {
  FakeBuild scratch;
  const fs::path folder = scratch.path() / "other";
  // For anybody, the superuser too: a folder where the log belongs, and nothing to remove it with.
  fs::create_directories(folder / "halo-setup.log");
  std::ofstream(folder / "halo-stamp") << "root=elsewhere\n";
  const Ended ended =
      script({"list"}, {"HALO_BUILD=" + folder.string(), path_without(scratch, {"rm"})});
  CAPTURE(ended.out, ended.err);
  CHECK(ended.status == 2);
  CHECK(ended.out.empty());
  CHECK_THAT(last_line(ended.err), contains("cannot write to " + folder.string()));
}

TEST_CASE("a compiler that is not there is named") {
  FakeBuild scratch;
  const Ended ended = script({"list"}, {"CXX=nosuchcompiler -O2"});
  CHECK(ended.status == 2);
  CHECK(ended.err ==
        "halo: CXX: there is no compiler nosuchcompiler here: unset CXX, or install it\n");
}

namespace {

// A build folder as the script sees it: set up by a Meson that is this script, which finds its name in $3
// or later.
void write_tool(const fs::path& path, const std::string& text) {
  fs::remove(path);
  std::ofstream(path) << "#!/bin/sh\n" << text;
  fs::permissions(path, fs::perms::owner_all);
}

}  // namespace

TEST_CASE("a full disk is named when the set-up fails") {
  FakeBuild scratch;
  const std::string path = path_without(scratch, {"meson"});
  const fs::path build = scratch.path() / "build";
  write_tool(scratch.path() / "path" / "meson",
             "case $1 in --version) echo 1.3.0; exit;; esac\n"
             "ln -s /dev/full '" +
                 (build / "halo-room").string() +
                 "'\n"
                 "echo Traceback; echo '  deep in Python'; exit 1\n");
  const Ended ended = script({"list"}, {"HALO_BUILD=" + build.string(), path});
  CAPTURE(ended.err);
  CHECK(ended.status == 2);
  CHECK_THAT(last_line(ended.err), contains("the disk of " + build.string() + " is full"));
  CHECK_THAT(ended.err, !contains("Traceback"));
}

TEST_CASE(
    "two that set up the same folder wait for each other, and an empty command is built again") {
  FakeBuild scratch;
  const std::string path = path_without(scratch, {"meson", "ninja"});
  const fs::path build = scratch.path() / "build";
  const fs::path counted = scratch.path() / "counted";
  const fs::path said = scratch.path() / "said";
  write_tool(scratch.path() / "path" / "meson",
             "case $1 in --version) echo 1.3.0; exit;; esac\n"
             "echo set up >> '" +
                 counted.string() +
                 "'\n"
                 "cd '" +
                 build.string() +
                 "'; mkdir meson-private || exit 1\n"
                 "until /bin/grep -q 'waiting for it' '" +
                 said.string() +
                 "'; do /bin/sleep 0.05; done\n"
                 ": > build.ninja\n");
  write_tool(scratch.path() / "path" / "ninja",
             "cd '" + build.string() +
                 "'; mkdir -p common/cli\n"
                 "[ -e common/cli/halo-exercise ] && echo 'ninja: no work to do.' && exit\n"
                 "echo 'echo \"I am $1\"' > common/cli/halo-exercise; /bin/chmod +x "
                 "common/cli/halo-exercise\n");
  const auto both = [&](const std::string& command) {
    return run_program({"env", "-u", "CXX", "HALO_BUILD=" + build.string(), "HALO_INSTALL=no", path,
                        "sh", "-c", command, required_variable("HALO_ROOT") + "/halo"});
  };
  std::ofstream(said).close();
  const Ended ended = both("exec 2>>'" + said.string() +
                           "'; \"$0\" list & \"$0\" doctor; a=$?; wait $! && exit $a");
  CAPTURE(ended.out, read_file(said));
  CHECK(ended.status == 0);
  CHECK_THAT(ended.out, contains("I am list") && contains("I am doctor"));
  CHECK(lines_of(read_file(counted)).size() == 1);

  std::ofstream(build / "common" / "cli" / "halo-exercise").close();
  CHECK(both("\"$0\" list").out == "I am list\n");
  // What is built is used while another has the folder.
  const std::string taken = (scratch.path() / "taken").string();
  CHECK(both("flock --no-fork \"$HALO_BUILD\" /bin/sh -c ': >\"$0\"; exec /bin/sleep 600' '" +
             taken + "' >/dev/null 2>&1 &\nuntil [ -e '" + taken +
             "' ]; do /bin/sleep 0.05; done; \"$0\" list; kill $!")
            .out == "I am list\n");
}

TEST_CASE(
    "a checkout with letters and signs in its path is set up once, and what is not of the build "
    "survives") {
  FakeBuild scratch;
  const std::string path = path_without(scratch, {"meson", "ninja"});
  const fs::path counted = scratch.path() / "counted";
  // As Meson does: its log has the folder as it is, and what it knows is in a folder of its own.
  write_tool(scratch.path() / "path" / "meson",
             "case $1 in --version) echo 1.3.0; exit;; esac\n"
             "echo set up >> '" +
                 counted.string() +
                 "'\n"
                 "for last; do before=$folder; folder=$last; done\n"
                 "cd \"$before\" && mkdir meson-private meson-logs || exit 1\n"
                 "printf 'Source dir: %s\\n' \"$last\" > meson-logs/meson-log.txt\n"
                 ": > build.ninja\n");
  write_tool(scratch.path() / "path" / "ninja",
             "cd \"$2\"; mkdir -p common/cli\n"
             "echo 'echo \"I am $1\"' > common/cli/halo-exercise; /bin/chmod +x "
             "common/cli/halo-exercise\n");
  std::size_t set_up = 0;
  for (const char* name : {"p k \u00e9", "a (b) & $HOME #1"}) {
    const fs::path checkout = scratch.path() / name;
    fs::create_directories(checkout / "common" / "cli");
    for (const char* file : {"halo", "common/cli/commands.txt"}) {
      fs::copy_file(fs::path(required_variable("HALO_ROOT")) / file, checkout / file);
    }
    const auto start = [&](const std::string& options) {
      return run_program({"env", "-u", "HALO_BUILD", "-u", "CXX", "HALO_INSTALL=no",
                          "HALO_OPTIONS=" + options, path, (checkout / "halo").string(), "list"});
    };
    const auto list = [&](const std::string& options) {
      const Ended ended = start(options);
      CAPTURE(name, ended.err);
      CHECK(ended.out == "I am list\n");
      return lines_of(read_file(counted)).size();
    };
    CHECK(list("") == ++set_up);
    std::ofstream(checkout / "build" / "letter.txt") << "Dear reader";
    CHECK(list("") == set_up);
    // A folder that Meson was told by hand to set up is taken as it is.
    fs::remove(checkout / "build" / "halo-stamp");
    fs::remove(checkout / "build" / "halo-setup.log");
    CHECK(list("") == set_up);
    // As a command that is running holds it.
    const int stamp = open((checkout / "build" / "halo-stamp").c_str(), O_RDONLY);
    CHECK(flock(stamp, LOCK_SH) == 0);
    const Ended refused = start("-Dother=1");
    require_one_line(refused, 2);
    CHECK_THAT(refused.err, contains("a command is running in") && contains("HALO_BUILD"));
    CHECK(list("") == set_up);
    close(stamp);
    CHECK(list("-Dother=1") == ++set_up);
    CHECK(read_file(checkout / "build" / "letter.txt") == "Dear reader");
  }
}

TEST_CASE("the program of a stage is built with its first command, but not for an exercise") {
  FakeBuild scratch;
  const std::string path = path_without(scratch, {"meson", "ninja"});
  write_tool(scratch.path() / "path" / "meson",
             "case $1 in --version) echo 1.3.0; exit;; esac\n"
             "for last; do before=$folder; folder=$last; done\n"
             ": > \"$before/build.ninja\"\n");
  write_tool(scratch.path() / "path" / "ninja",
             "echo \"$@\" > '" + (scratch.path() / "words").string() +
                 "'\n"
                 "cd \"$2\"; mkdir -p common/cli\n"
                 "echo exit > common/cli/halo-exercise; /bin/chmod +x common/cli/halo-exercise\n");
  const fs::path checkout = scratch.path() / "checkout";
  for (const char* folder : {"common/cli", "stages/04_tile"}) {
    fs::create_directories(checkout / folder);
  }
  for (const char* file : {"halo", "common/cli/commands.txt"}) {
    fs::copy_file(fs::path(required_variable("HALO_ROOT")) / file, checkout / file);
  }
  std::ofstream(checkout / "stages/04_tile/meson.build") << "\n";
  const auto built = [&](const std::vector<std::string>& words) {
    std::vector<std::string> command = {"env",        "-u",
                                        "HALO_BUILD", "-u",
                                        "CXX",        "HALO_INSTALL=no",
                                        path,         (checkout / "halo").string()};
    command.insert(command.end(), words.begin(), words.end());
    const Ended ended = run_program(command);
    CAPTURE(ended.err);
    CHECK(ended.status == 0);
    return read_file(scratch.path() / "words");
  };
  CHECK_THAT(built({"trace", "4"}), contains(" 04_tile-program"));
  CHECK_THAT(built({"trace", "4"}), !contains("-program"));  // perhaps it refuses the words
  fs::remove(checkout / "build/common/cli/halo-exercise");
  CHECK_THAT(built({"trace", "04", "--exercise"}), !contains("-program"));
}

TEST_CASE("a checkout by a Git that writes CRLF has the files as they are, and the script starts") {
  if (!run_program({"git", "--version"}).good()) skip("there is no git here");
  FakeBuild scratch;
  const fs::path root = required_variable("HALO_ROOT");
  const fs::path origin = scratch.path() / "origin";
  const std::vector<std::string> files = {".gitattributes",
                                          "halo",
                                          "common/cli/commands.txt",
                                          "meson.build",
                                          ".clang-format",
                                          "README.md",
                                          "docs/figures/trace_04.png",
                                          "stages/13_network/digits/weights/conv1.bias.npy"};
  for (const std::string& file : files) {
    fs::create_directories((origin / file).parent_path());
    fs::copy_file(root / file, origin / file);
  }
  const fs::path clone = scratch.path() / "clone";
  const Ended made =
      run_program({"env", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1", "sh", "-ec",
                   "git init -q \"$0\" && cd \"$0\" && git add -A &&\n"
                   "git -c user.name=n -c user.email=e@e commit -q -m m &&\n"
                   "git clone -q -c core.autocrlf=true \"$0\" \"$1\"",
                   origin.string(), clone.string()});
  INFO(made.err);
  REQUIRE(made.good());
  for (const std::string& file : files) {
    INFO(file);
    CHECK((read_file(clone / file) == read_file(root / file)));
  }
  const Ended version = run_program({(clone / "halo").string(), "--version"});
  INFO(version.err);
  CHECK(version.good());
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
  // Another project's build, too.
  fs::create_directory(folder / "meson-private");
  CHECK_THAT(script({"run"}, {"HALO_BUILD=" + folder.string()}).err,
             contains("holds something else"));
  CHECK(fs::exists(folder / "meson-private"));
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
  CHECK(doctor.status == 77);
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
  // Not every release has that package: where it is needed is known once there is a compiler.
  CHECK_THAT(ended.err, !contains("libbacktrace-dev"));
}

TEST_CASE("the script works through a link and from any folder") {
  FakeBuild scratch;
  const fs::path link = scratch.path() / "linked";
  fs::create_symlink(required_variable("HALO_ROOT") + "/halo", link);
  const Ended ended =
      run_program({"env", "-u", "CXX", "--chdir=" + scratch.path().string(), "HALO_INSTALL=no",
                   "HALO_BUILD=/proc/halo-build", "./linked", "run"});
  CHECK(ended.status == 2);
  CHECK_THAT(last_line(ended.err), contains("/proc/halo-build"));
}

namespace {

// A checkout on a machine that has all but nvcc, of which there is this release, and Python, whose pip is `pip`: it
// runs with $target being the folder for what it installs. All machines are played, so no network is needed.
class WithPip {
 public:
  WithPip(const std::string& release, const std::string& pip)
      : path_(path_without(scratch_, {"g++", "meson", "ninja"})) {
    fs::create_directories(checkout_ / "common/cli");
    fs::create_directories(checkout_ / "common/simt/cudart");
    for (const char* file : {"halo", "common/cli/commands.txt", "common/simt/cudart/toolkit.txt"}) {
      fs::copy_file(fs::path(required_variable("HALO_ROOT")) / file, checkout_ / file);
    }
    add("g++", "echo 12");
    add("meson",
        "case $1 in --version) echo 1.3.0; exit;; esac\n"
        "echo \"$@\" >>'" +
            (scratch_.path() / "meson-words").string() +
            "'\n"
            "for last; do before=$folder; folder=$last; done\n"
            "echo simcc >\"$before/build.ninja\"\n");
    add("ninja",
        "cd \"$2\"; mkdir -p common/cli\n"
        "for name in exercise develop; do\n"
        "  echo 'echo \"I am $1\"' >common/cli/halo-$name; /bin/chmod +x common/cli/halo-$name\n"
        "done\n");
    add("nvcc", "echo 'Cuda compilation tools, release " + release + ", V" + release + ".1'");
    set_pip(pip);
  }

  void set_pip(const std::string& body) const {
    add("python3",
        "[ \"$3\" != --version ] || exit 0\n"
        "echo \"$@\" >>'" +
            (scratch_.path() / "pip-words").string() +
            "'\n"
            "while [ \"$1\" != --target ]; do shift; done; target=$2\n" +
            body);
  }
  Ended halo(const std::string& command) const {
    return run_program({"env", "-u", "CXX", "HALO_INSTALL=no",
                        "HALO_BUILD=" + (scratch_.path() / "build").string(),
                        "XDG_CACHE_HOME=" + (scratch_.path() / "cache").string(), path_,
                        (checkout_ / "halo").string(), command});
  }

  // Where it belongs.
  fs::path toolkit() const { return scratch_.path() / "cache/halo/nvcc-13.0.88/nvidia/cu13"; }
  std::vector<std::string> pip_words() const {
    return lines_of(read_file(scratch_.path() / "pip-words"));
  }
  std::vector<std::string> meson_words() const {
    return lines_of(read_file(scratch_.path() / "meson-words"));
  }
  fs::path wheels() const { return checkout_ / "common/simt/cudart/toolkit.txt"; }

 private:
  void add(const std::string& name, const std::string& body) const {
    write_tool(scratch_.path() / "path" / name, body);
  }

  FakeBuild scratch_;
  std::string path_;
  fs::path checkout_ = scratch_.path() / "checkout";
};

// What the wheels are, once they are unpacked.
constexpr const char* kInstalls =
    "[ ! -e \"$target\" ] || exit 5\n"
    "mkdir -p \"$target/nvidia/cu13/bin\" \"$target/nvidia/cu13/lib\"\n"
    "echo nvcc >\"$target/nvidia/cu13/bin/nvcc\"\n"
    "echo library >\"$target/nvidia/cu13/lib/libcudart.so.13\"\n";

}  // namespace

TEST_CASE("nvcc is installed once where there is none that the simulator can use") {
  const WithPip machine("12.4", kInstalls);
  CHECK(machine.halo("list").good());
  CHECK(!fs::exists(machine.toolkit()));
  const Ended ended = machine.halo("toolkit");
  CAPTURE(ended.err);
  CHECK(ended.status == 0);
  CHECK(ended.out == "I am toolkit\n");
  CHECK_THAT(ended.err, contains("nvcc 13.0.88 from PyPI: 104 MB to download, 271 MB in") &&
                            contains("NVIDIA's licence") && contains("docs.nvidia.com/cuda/eula"));
  REQUIRE(machine.pip_words().size() == 1);
  CHECK_THAT(machine.pip_words()[0], contains("--require-hashes") &&
                                         contains("--requirement " + machine.wheels().string()));
  // nvcc looks in lib64, and a linker for the name without a version.
  CHECK(read_file(machine.toolkit() / "lib64/libcudart.so") == "library\n");
  REQUIRE(machine.meson_words().size() == 2);
  CHECK_THAT(machine.meson_words()[0], contains("-Dtoolkit= "));
  CHECK_THAT(machine.meson_words()[1], contains("-Dtoolkit=" + machine.toolkit().string() + " "));
  // Nothing of pip's is left.
  for (const auto& entry : fs::directory_iterator(machine.toolkit() / "../../..")) {
    CHECK_THAT(entry.path().filename().string(), !contains(".part"));
  }

  CHECK_THAT(machine.halo("toolkit").err,
             contains("nothing is downloaded: " + machine.toolkit().string()));
  CHECK(machine.halo("list").out == "I am list\n");
  CHECK(machine.pip_words().size() == 1);
  CHECK(machine.meson_words().size() == 2);
}

TEST_CASE("a toolkit that the machine has is used, and nothing is downloaded") {
  const WithPip machine("13.0", "exit 6");
  const Ended ended = machine.halo("toolkit");
  CAPTURE(ended.err);
  CHECK(ended.status == 0);
  CHECK_THAT(ended.err, contains("nothing is downloaded") && contains("path/nvcc"));
  CHECK(machine.pip_words().empty());
  REQUIRE(machine.meson_words().size() == 1);
  CHECK_THAT(machine.meson_words()[0], contains("-Dtoolkit= "));
}

TEST_CASE("a copy that has no tests leaves it to the command to say so") {
  const WithPip machine("13.0", "exit 3\n");
  const Ended ended = machine.halo("test");
  CAPTURE(ended.err);
  CHECK(ended.out == "I am test\n");
}

TEST_CASE("without a network the last line says what to do for nvcc") {
  const WithPip machine("12.4",
                        "echo \"WARNING: Retrying (Retry(total=1)) after connection broken\"\n"
                        "echo 'ERROR: No matching distribution found'; exit 1\n");
  const Ended offline = machine.halo("toolkit");
  CHECK(offline.status == 77);
  CHECK(offline.out.empty());
  CHECK(last_line(offline.err) ==
        "halo: PyPI was not reached: try again with a network, or put nvcc of CUDA 13 on PATH");
  CHECK_THAT(offline.err, !contains("ERROR"));
  CHECK(!fs::exists(machine.toolkit()));

  machine.set_pip("echo 'ERROR: THESE PACKAGES DO NOT MATCH THE HASHES'; exit 1\n");
  const Ended wrong = machine.halo("toolkit");
  CHECK(wrong.status == 2);
  CHECK_THAT(wrong.err, contains("DO NOT MATCH") && contains("nvcc could not be installed"));
  CHECK(!fs::exists(machine.toolkit()));

  machine.set_pip("echo 'ERROR: [Errno 28] No space left on device'; exit 1\n");
  CHECK_THAT(last_line(machine.halo("toolkit").err), contains("the disk of"));
}

TEST_CASE("a download that was interrupted begins anew") {
  const WithPip machine("12.4", std::string(kInstalls) + "kill -9 $PPID\n");
  CHECK(!machine.halo("toolkit").good());
  CHECK(!fs::exists(machine.toolkit()));
  // Half of it is not used.
  CHECK(machine.halo("list").good());
  REQUIRE(machine.meson_words().size() == 1);
  CHECK_THAT(machine.meson_words()[0], contains("-Dtoolkit= "));

  machine.set_pip(kInstalls);
  CHECK(machine.halo("toolkit").status == 0);
  CHECK(fs::exists(machine.toolkit() / "bin/nvcc"));
}
