// How a kernel that was compiled for a number is chosen.
#include "common/harness/kernel.h"

#include "tests/catch.hpp"

using namespace halo;

namespace {

template <int kNumber>
int kernel() {
  return kNumber;
}

}  // namespace

TEST_CASE("dispatch: the function compiled for the number, or none") {
  const auto chosen = [](int number) {
    return dispatch<8, 2, 4>(number, [](auto n) { return kernel<n.value>; });
  };
  for (const int number : {8, 2, 4}) CHECK(chosen(number)() == number);
  for (const int number : {0, 3, 16, -8}) CHECK(chosen(number) == nullptr);
}

TEST_CASE("dispatch: what a launch returns, or cudaErrorInvalidConfiguration") {
  const auto launched = [](int number) {
    return dispatch<0, 1, 2>(number, [](auto n) { return 100 + n.value; });
  };
  CHECK(launched(0) == 100);
  CHECK(launched(2) == 102);
  CHECK(launched(3) == 9);
  CHECK(dispatch<64, 128>(128, [](auto n) {
          return dispatch<1, 4>(2, [](auto m) { return decltype(n)::value + m.value; });
        }) == 9);
}

TEST_CASE("dispatch: the last number may stand for all others, if that is said") {
  const auto chosen = [](int number) {
    return dispatch<3, 5, kAnyOther>(number, [](auto n) { return kernel<n.value>; })();
  };
  CHECK(chosen(3) == 3);
  CHECK(chosen(5) == 5);
  for (const int number : {0, 4, 7}) CHECK(chosen(number) == 0);
}
