// Nine kernels whose counters were read with Nsight Compute on an H200: every figure must be equal.
#include "counted.hpp"
#include "tests/catch.hpp"

TEST_CASE("known answers of an H200", "[known_answers]") {
  const CountedCase one = GENERATE(from_range(known_answers_cases()));
  check_case(one);
}

TEST_CASE("the table of known answers is complete", "[known_answers]") {
  CHECK(known_answers_cases().size() == 9);
}

TEST_CASE("a launch is described", "[known_answers]") {
  const simt::Launch launch = check_case(known_answers_cases()[4]);
  CHECK(std::string(known_answers_cases()[4].name) == "transpose_tile_32");
  CHECK_THAT(launch.kernel, halo::test::contains("known_answers::transpose_tile<32>"));
  CHECK(launch.grid == std::array<unsigned, 3>{16, 8, 1});
  CHECK(launch.block == std::array<unsigned, 3>{32, 8, 1});
  CHECK(launch.shared_bytes == 32 * 32 * sizeof(float));
}
