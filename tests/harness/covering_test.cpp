#include "common/harness/core/covering.hpp"

#include <algorithm>

#include "tests/catch.hpp"

using namespace halo;

namespace {

// Whether these two levels meet in one of them.
bool meet(const std::vector<Levels>& all, std::size_t a, int i, std::size_t b, int j) {
  return std::any_of(all.begin(), all.end(),
                     [&](const Levels& levels) { return levels[a] == i && levels[b] == j; });
}

}  // namespace

TEST_CASE("any two levels of different axes meet in few combinations") {
  const std::vector<int> counts = {3, 7, 4, 2, 5, 1};
  const auto all = covering_combinations(counts, [](const Levels&) { return true; });
  for (std::size_t a = 0; a < counts.size(); ++a) {
    for (std::size_t b = a + 1; b < counts.size(); ++b) {
      for (int i = 0; i < counts[a]; ++i) {
        for (int j = 0; j < counts[b]; ++j) {
          INFO("level " << i << " of axis " << a << ", " << j << " of " << b);
          CHECK(meet(all, a, i, b, j));
        }
      }
    }
  }
  // Each of the 7 with each of the 5 takes 35; all of them would be 840.
  CHECK(all.size() >= 35);
  CHECK(all.size() <= 45);
  CHECK(covering_combinations(counts, [](const Levels&) { return true; }) == all);
}

TEST_CASE("what there cannot be is in no combination, and the rest meets all the same") {
  const std::vector<int> counts = {3, 4, 4, 3};
  // The last level of axis 0 only with a level of axis 3 that is not plain, and never two great ones of 1 and 2.
  const auto is_possible = [](const Levels& levels) {
    return (levels[0] != 2 || levels[3] != 0) && levels[1] + levels[2] < 5;
  };
  const auto all = covering_combinations(counts, is_possible);
  for (const Levels& levels : all) CHECK(is_possible(levels));
  for (int i = 0; i < 4; ++i) {
    for (int j = 0; j < 4; ++j) {
      INFO(i << " and " << j);
      CHECK(meet(all, 1, i, 2, j) == (i + j < 5));
    }
    CHECK(meet(all, 0, 2, 1, i));
  }
  CHECK_FALSE(meet(all, 0, 2, 3, 0));
  CHECK(meet(all, 0, 2, 3, 2));
}

TEST_CASE("where nothing is possible there is no combination") {
  const std::vector<int> counts = {2, 2};
  CHECK(covering_combinations(counts, [](const Levels&) { return false; }).empty());
}
