// What somebody meant who mistyped a word.
#include "common/data/suggestion.hpp"

#include <filesystem>

#include "tests/catch.hpp"
#include "tests/data/files.hpp"

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

TEST_CASE("a path is meant whichever of its names is mistyped", "[suggestion]") {
  using halo::data::did_you_mean_path;
  const halo::test::Folder folder;
  std::filesystem::create_directories(folder / "submissions/meyer");
  folder.write("submissions/meyer/tile_and_halo.cu", "");
  const std::string meant =
      "; did you mean '" + (folder / "submissions/meyer/tile_and_halo.cu") + "'?";
  for (const char* typed :
       {"submisions/meyer/tile_and_halo.cu", "submissions/meyr/tile_and_halo.cu",
        "submissions/meyer/tile_and_hallo.cu", "Submisions/mejer/tile_and_halo.c"}) {
    CHECK(did_you_mean_path(folder / typed) == meant);
  }
  CHECK(did_you_mean_path(folder / "essays/meyer/tile_and_halo.cu") == "");
  CHECK(did_you_mean_path("") == "");
}
