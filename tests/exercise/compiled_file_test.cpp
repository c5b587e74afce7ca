// How somebody else's file is made a program.
#include "common/exercise/compiled_file.hpp"

#include "tests/catch.hpp"

using namespace halo;

TEST_CASE("a program is made in two steps") {
  const std::vector<std::string> words = {"/cuda/bin/nvcc", "-I",   "R", "{source}", "-o",
                                          "{program}",      "lib.a"};
  CHECK(object_command(words, "a/x.cu", "x.o") == std::vector<std::string>{"/cuda/bin/nvcc", "-c",
                                                                           "--keep", "-I", "R",
                                                                           "a/x.cu", "-o", "x.o"});
  CHECK(link_command(words, "x.o", "p") ==
        std::vector<std::string>{"/cuda/bin/nvcc", "-I", "R", "x.o", "-o", "p", "lib.a"});
  CHECK(preprocessed_of("a/x.cu", "b/x.o") == "b/x.cpp4.ii");
  CHECK(toolkit_of(words[0]) == "/cuda");
}
