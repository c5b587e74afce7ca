// What somebody meant who mistyped a word.
#include "common/data/suggestion.hpp"

#include "tests/catch.hpp"

using halo::data::did_you_mean;
using halo::data::nearest;

TEST_CASE("the nearest word is the one that was meant", "[suggestion]") {
  const std::vector<std::string> commands = {"run", "bench", "compare", "report", "test", "list"};
  CHECK(nearest("rnu", commands) == "run");
  CHECK(nearest("RUN", commands) == "run");
  CHECK(nearest("lsit", commands) == "list");
  CHECK(nearest("repotr", commands) == "report");
  CHECK(nearest("comp", commands) == "compare");
  CHECK(nearest("dance", commands) == "");
  CHECK(nearest("r", commands) == "");
  CHECK(nearest("", commands) == "");
  CHECK(nearest(std::string(100'000, 'x'), commands) == "");
  CHECK(nearest("tiled", {"tiled_halo", "warp_tile"}) == "tiled_halo");
  CHECK(nearest("halo", {"warp_tile", "04_conv1d_tiled_halo"}) == "04_conv1d_tiled_halo");
  CHECK(nearest("--lenght", {"--layer", "--length"}) == "--length");
  CHECK(nearest("--list", {"--mask", "--seed"}) == "");
  CHECK(nearest("--", {"--on"}) == "");
  CHECK(did_you_mean("gauss", {"box", "gaussian"}) == "; did you mean gaussian?");
  CHECK(did_you_mean("14", {"01", "04"}) == "");
}
