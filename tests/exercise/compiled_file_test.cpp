// How a file of an exercise is made a program.
#include "common/exercise/compiled_file.hpp"

#include <filesystem>

#include "common/build/compiler_output.hpp"
#include "tests/catch.hpp"

using namespace halo;

TEST_CASE("a program is made in two steps") {
  const std::vector<std::string> words = {"/cuda/bin/nvcc", "-I",   "R", "{source}", "-o",
                                          "{program}",      "lib.a"};
  CHECK(object_command(words, "a/x.cu", "x.o") ==
        std::vector<std::string>{"/cuda/bin/nvcc", "-c", "--keep", "--keep-dir", ".", "-I", "R",
                                 "a/x.cu", "-o", "x.o"});
  CHECK(link_command(words, "x.o", "p") ==
        std::vector<std::string>{"/cuda/bin/nvcc", "-I", "R", "x.o", "-o", "p", "lib.a"});
  CHECK(preprocessed_of("a/x.cu", "b/x.o") == "b/x.cpp4.ii");
  CHECK(toolkit_of(words[0]) == "/cuda");
}

TEST_CASE("what an empty file lacks is told in the course's words, not in the linker's") {
  const CompilerOutput exercise = read_compiler_output(
      "/usr/bin/ld: libexercise-worker.a(worker.o): in function `main':\n"
      "worker.cpp:(.text+0x48c9): undefined reference to `halo::exercise()'\n"
      "collect2: error: ld returned 1 exit status\n",
      "/");
  CHECK_THAT(exercise.mistake, test::contains("keep the last line of start.cu"));
  CHECK(exercise.errors == exercise.mistake + "\n");
  const CompilerOutput program = read_compiler_output(
      "/usr/bin/ld: /usr/lib/Scrt1.o: in function `_start':\n"
      "(.text+0x17): undefined reference to `main'\n",
      "/");
  CHECK(program.errors == "there is no main(): is the file empty?\n");
}

TEST_CASE("what gold says is told as what ld says") {
  const auto told = [](const std::string& said) {
    return read_compiler_output(said + "\ncollect2: error: ld returned 1 exit status\n", "/")
        .errors;
  };
  CHECK_THAT(told("libexercise-worker.a(worker.o):worker.cpp:function main: error: undefined "
                  "reference to 'halo::exercise()'"),
             test::contains("keep the last line of start.cu"));
  CHECK(told("/usr/lib/Scrt1.o:function _start: error: undefined reference to 'main'") ==
        "there is no main(): is the file empty?\n");
  CHECK_THAT(told("libexercise-worker.a(worker.o):worker.cpp:function start(): error: relocation "
                  "overflow: reference to local symbol 3 in libexercise-worker.a(worker.o)"),
             test::contains("more than 2 GB"));
}

TEST_CASE("a file is named as it is seen from here, whatever its folder is called") {
  const std::string here = std::filesystem::current_path().string();
  for (const std::string folder : {"", "my course/", "halo (1)/"}) {
    for (const std::string place : {"x.cu(40): error: a", "x.cu:40:3: error: a"}) {
      CAPTURE(folder, place);
      CHECK_THAT(read_compiler_output(here + "/" + folder + place + "\n", "/").errors,
                 test::contains(folder + place) && !test::contains(here));
    }
  }
}
