// Every form of mask, and what is said about the others.
#include "common/data/mask.hpp"

#include <cmath>
#include <filesystem>
#include <numeric>

#include "common/conv/inputs.hpp"
#include "common/data/signal.hpp"
#include "tests/data/files.hpp"

using namespace halo;
using data::read_mask;
using test::Approx;
using test::contains;
using test::error_of;

namespace {

std::string mask_refusal(const std::string& spec) {
  const std::string message = error_of([&] { read_mask(spec); });
  CHECK_THAT(message, contains("mask " + data::quoted(spec) + ": "));
  return message;
}

double sum(const std::vector<float>& mask) {
  return std::accumulate(mask.begin(), mask.end(), 0.0);
}

}  // namespace

TEST_CASE("box:W averages", "[mask]") {
  CHECK(read_mask("box:1") == std::vector<float>{1});
  CHECK(read_mask("box:9") == std::vector<float>(9, 1 / 9.0f));
  CHECK(read_mask("box:1023").size() == 1023);
}

TEST_CASE("gaussian:W is a normalised bell with sigma W/6", "[mask]") {
  for (const int width : {1, 3, 9, 31, 1023}) {
    const std::vector<float> mask = read_mask("gaussian:" + std::to_string(width));
    REQUIRE(mask.size() == static_cast<std::size_t>(width));
    CHECK(sum(mask) == Approx(1).epsilon(1e-6));
    for (int j = 0; j < width; ++j) {
      CHECK(mask[j] == mask[width - 1 - j]);
      const double x = (j - width / 2) / (width / 6.0);
      CHECK(mask[j] / mask[width / 2] == Approx(std::exp(-x * x / 2)).epsilon(1e-6));
    }
  }
  CHECK(read_mask("gaussian:31") != read_mask("gaussian:31:5"));
}

TEST_CASE("gaussian:W:SIGMA has the sigma that is given", "[mask]") {
  const std::vector<float> mask = read_mask("gaussian:31:2.5");
  CHECK(mask[15 + 5] / mask[15] == Approx(std::exp(-2.0)).epsilon(1e-6));  // 5 is two sigma
  CHECK(read_mask("gaussian:31:5") == read_mask("gaussian:31:5.0"));
  CHECK(read_mask("gaussian:31:5e0") == read_mask("gaussian:31:5.0"));
  // However narrow: one weight is left.
  const std::vector<float> narrow = read_mask("gaussian:5:1e-300");
  CHECK(narrow == std::vector<float>{0, 0, 1, 0, 0});
  // However wide: a box.
  CHECK(read_mask("gaussian:5:1e300") == read_mask("box:5"));
}

TEST_CASE("random:W is the adversarial mask of the seed", "[mask]") {
  CHECK(read_mask("random:9", 7) == conv::adversarial_mask(conv::Problem1d(9, 9), 7));
  CHECK(read_mask("random:9", 7) == read_mask("random:9", 7));
  CHECK(read_mask("random:9", 7) != read_mask("random:9", 8));
}

TEST_CASE("weights can be written out", "[mask]") {
  CHECK(read_mask("0.3,0.2,0.8") == std::vector<float>{0.3f, 0.2f, 0.8f});
  CHECK(read_mask("-1,+2,.5e-3") == std::vector<float>{-1, 2, 0.0005f});
  CHECK(read_mask("5") == std::vector<float>{5});
  CHECK(read_mask("-2.5E1") == std::vector<float>{-25});
}

TEST_CASE("a mask can come from a file", "[mask]") {
  const test::Folder folder;
  const std::vector<float> weights = {0.25f, -3, 7};
  data::write_signal(folder / "m.npy", {{weights}, 0});
  CHECK(read_mask(folder / "m.npy") == weights);
  if (data::has_sound()) {
    data::write_signal(folder / "m.wav", {{weights}, 48000});
    CHECK(read_mask(folder / "m.wav") == weights);
  }
  data::write_signal(folder / "two.npy", {{weights, weights}, 0});
  CHECK_THAT(mask_refusal(folder / "two.npy"), contains("2 channels, a mask has one"));
  data::write_signal(folder / "even.npy", {{{1, 2}}, 0});
  CHECK_THAT(mask_refusal(folder / "even.npy"), contains("must be odd, got 2: use 1 or 3"));
  data::write_signal(folder / "long.npy", {{std::vector<float>(1025, 1.0f)}, 0});
  CHECK_THAT(mask_refusal(folder / "long.npy"), contains("at most 1023, got 1025"));
  CHECK_THAT(mask_refusal(folder.write("bad.npy", "\x93NUMPY")), contains("truncated"));
}

TEST_CASE("a file that is named like another form is reached by its path", "[mask]") {
  const test::Folder folder;
  const auto here = std::filesystem::current_path();
  std::filesystem::current_path(folder.path());
  data::write_signal("m.npy", {{{1, 2, 3}}, 0});
  std::filesystem::rename("m.npy", "box:9");
  const auto by_form = read_mask("box:9");
  const auto by_path = read_mask("./box:9");
  std::filesystem::current_path(here);
  CHECK(by_form.size() == 9);
  CHECK(by_path == std::vector<float>{1, 2, 3});
}

TEST_CASE("widths that cannot be are refused in one line", "[mask]") {
  for (const std::string kind : {"box", "gaussian", "random"}) {
    CHECK_THAT(mask_refusal(kind + ":8"), contains("must be odd, got 8: use 7 or 9"));
    CHECK_THAT(mask_refusal(kind + ":0"), contains("at least 1, got 0"));
    CHECK_THAT(mask_refusal(kind + ":-3"), contains("at least 1, got -3"));
    CHECK_THAT(mask_refusal(kind + ":1025"), contains("at most 1023, got 1025"));
    CHECK_THAT(mask_refusal(kind + ":4294967299"), contains("at most 1023"));
    for (const std::string text : {"", "x", "9x", "9.0", " 9", "99999999999999999999"}) {
      INFO(text);
      CHECK_THAT(mask_refusal(kind + ":" + text), contains("'" + text + "' is not a width"));
    }
  }
}

TEST_CASE("sigmas that cannot be are refused in one line", "[mask]") {
  for (const std::string text : {"", "0", "-1", "x", "1x", "nan", "inf", "1e999", "2:3"}) {
    INFO(text);
    CHECK_THAT(mask_refusal("gaussian:9:" + text), contains("'" + text + "' is not a sigma"));
  }
}

TEST_CASE("lists that cannot be are refused in one line", "[mask]") {
  CHECK_THAT(mask_refusal("1,2"), contains("must be odd, got 2"));
  CHECK_THAT(mask_refusal("1,,3"), contains("weight 2, '', is not a number"));
  CHECK_THAT(mask_refusal("1,2,"), contains("weight 3, '', is not a number"));
  CHECK_THAT(mask_refusal("1,2-3,4"), contains("weight 2, '2-3'"));
  CHECK_THAT(mask_refusal("1,1e300,4"), contains("weight 2, '1e300'"));
  CHECK_THAT(mask_refusal("1,+-2,4"), contains("weight 2"));
}

TEST_CASE("anything else is taken for a file, and the forms are named", "[mask]") {
  CHECK_THAT(mask_refusal("box"), contains("did you mean box:9?"));
  CHECK_THAT(mask_refusal("guassian:31"),
             contains("no such file") && contains("did you mean gaussian:31?"));
  CHECK_THAT(mask_refusal("guassian:31"), contains("gaussian:W"));
  CHECK_THAT(mask_refusal("1,nan,3"), contains("no such file"));
  CHECK_THAT(mask_refusal(""), contains("it is empty"));
  CHECK_THAT(mask_refusal("no/such/file.npy"), contains("box:W"));
}
