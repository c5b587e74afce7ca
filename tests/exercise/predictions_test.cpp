// What a student says before the first run.
#include "common/exercise/predictions.hpp"

#include <stdexcept>

#include "tests/catch.hpp"

using namespace halo;
using test::contains;

namespace {

constexpr const char* kFile =
    "# Answer before you run anything.\n"
    "\n"
    "# How many cells does a block\n"
    "# of 256 load?\n"
    "cells_per_block =\n"
    "# Bytes an output\n"
    "bytes = 9.25  # I think\n"
    "sectors=1,024\r\n"
    "barriers = many\n"
    "what is this\n"
    "bytes = 3\n";

Judged judged(double answer, double tolerance, std::optional<double> said) {
  return {{"key", answer, tolerance, -1}, said, false};
}

}  // namespace

TEST_CASE("answers, open questions and lines that say nothing") {
  const Predictions all = parse_predictions(kFile, "predictions.txt");
  REQUIRE(all.lines.size() == 4);
  CHECK(all.lines[0].key == "cells_per_block");
  CHECK(all.lines[0].question == "How many cells does a block of 256 load?");
  CHECK_FALSE(all.lines[0].said);
  CHECK(all.lines[1].question == "Bytes an output");
  CHECK(all.find("bytes")->said == 9.25);
  CHECK(all.find("sectors")->said == 1024);
  CHECK(all.find("sectors")->question.empty());
  CHECK_FALSE(all.find("barriers")->said);
  CHECK(all.find("nothing") == nullptr);
  REQUIRE(all.faults.size() == 3);
  CHECK(all.faults[0] == "predictions.txt:9: 'many' is no number: write 264, 1,024 or 9.25");
  CHECK_THAT(all.faults[1], contains("predictions.txt:10: ") && contains("what is this"));
  CHECK_THAT(all.faults[2], contains("predictions.txt:11: bytes is answered twice"));
  CHECK(parse_predictions("", "x").lines.empty());
}

TEST_CASE("an answer is written into its line, and nothing else changes") {
  CHECK(with_prediction("# a\nx =\n\ny = 1  # so\n", "x", 264) == "# a\nx = 264\n\ny = 1  # so\n");
  CHECK(with_prediction("x=\r\ny=\r\n", "y", 0.5) == "x=\r\ny= 0.5\r\n");
  CHECK(with_prediction("x = 3 # so", "x", 12345) == "x = 12345  # so");
  CHECK(with_prediction("x =\nx =\n", "x", 1) == "x = 1\nx =\n");
  CHECK_THROWS_AS(with_prediction("# x = 1\nx\n", "x", 2), std::invalid_argument);
}

TEST_CASE("a file with keys as they were spelled before is read and answered") {
  const std::string old = "requests_a_block = 9\nbytes_an_output_17 =\n";
  const Predictions all = parse_predictions(old, "predictions.txt");
  CHECK(all.find("requests_per_block")->said == 9);
  CHECK(all.find("bytes_per_output_17") != nullptr);
  CHECK(with_prediction(old, "bytes_per_output_17", 8.25) ==
        "requests_a_block = 9\nbytes_an_output_17 = 8.25\n");
  CHECK(current_key("idle_threads") == "idle_threads");
}

TEST_CASE("figures as people write them") {
  CHECK(parse_figure(" 1,024 ") == 1024);
  CHECK(parse_figure("-1,024,000.5") == -1'024'000.5);
  CHECK(parse_figure("+2.5e2") == 250);
  CHECK(parse_figure("-1") == -1);
  for (const char* none :
       {"", " ", "nan", "inf", "12 cells", "0x10", "1e999", "9,25", "0,125", "1,02,400", ",024"}) {
    CAPTURE(none);
    CHECK_FALSE(parse_figure(none));
  }
  CHECK(figure_text(264) == "264");
  CHECK(figure_text(1024) == "1,024");
  CHECK(figure_text(9.25) == "9.25");
  CHECK(figure_text(1.0 / 3) == "0.333333");
}

TEST_CASE("an answer is right within its tolerance") {
  CHECK(judged(264, 0, 264).right());
  CHECK_FALSE(judged(264, 0, 263.999).right());
  CHECK(judged(9.25, 0.25, 9.5).right());
  CHECK_FALSE(judged(264, 0, {}).right());
}
