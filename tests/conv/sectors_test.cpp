// The arithmetic of sectors against counting them one by one.
#include "common/conv/sectors.hpp"

#include <set>
#include <stdexcept>

#include "tests/catch.hpp"

using halo::conv::sectors_touched;

// Known at compile time, so that a stage can state its traffic as a constant.
static_assert(sectors_touched(0, 32) == 4);

TEST_CASE("sectors are counted as if byte by byte", "[sectors]") {
  for (std::int64_t first = 0; first < 80; ++first) {
    for (std::int64_t end = first; end < 120; ++end) {
      std::set<std::int64_t> sectors;
      for (std::int64_t byte = 4 * first; byte < 4 * end; ++byte) sectors.insert(byte / 32);
      REQUIRE(sectors_touched(first, end) == static_cast<std::int64_t>(sectors.size()));
    }
  }
}

TEST_CASE("empty ranges touch nothing, even before the array", "[sectors]") {
  CHECK(sectors_touched(5, 5) == 0);
  CHECK(sectors_touched(9, 4) == 0);
  CHECK(sectors_touched(-4, -4) == 0);
  CHECK(sectors_touched(-2, -8) == 0);
}

TEST_CASE("a range that begins before the array is a mistake", "[sectors]") {
  CHECK_THROWS_AS(sectors_touched(-1, 1), std::invalid_argument);
  CHECK_THROWS_AS(sectors_touched(-8, -4), std::invalid_argument);
}

TEST_CASE("indices beyond 2^31 floats are counted", "[sectors]") {
  const std::int64_t first = (std::int64_t{1} << 33) + 7;
  CHECK(sectors_touched(first, first + 1) == 1);
  CHECK(sectors_touched(first, first + 2) == 2);
}
