// Every form of filter, and what is said about the others.
#include "common/data/filter.hpp"

#include <numeric>

#include "common/data/array.hpp"
#include "common/data/mask.hpp"
#include "tests/data/files.hpp"

using namespace halo;
using data::Filters;
using data::read_filters;
using test::Approx;
using test::contains;
using test::error_of;

namespace {

std::string filter_refusal(const std::string& spec) {
  const std::string message = error_of([&] { read_filters(spec); });
  CHECK_THAT(message, contains("filter " + data::quoted(spec) + ": "));
  return message;
}

}  // namespace

TEST_CASE("sobel looks to the right and down", "[filter]") {
  const Filters sobel = read_filters("sobel");
  CHECK(sobel.K == 2);
  CHECK(sobel.R == 3);
  CHECK(sobel.S == 3);
  CHECK(sobel.magnitude);
  REQUIRE(sobel.values.size() == 18);
  for (int r = 0; r < 3; ++r) {
    for (int s = 0; s < 3; ++s) {
      CHECK(sobel.values[3 * r + s] == (s - 1) * (r == 1 ? 2 : 1));
      CHECK(sobel.values[9 + 3 * r + s] == (r - 1) * (s == 1 ? 2 : 1));
    }
  }
}

TEST_CASE("box:N averages", "[filter]") {
  const Filters box = read_filters("box:5");
  CHECK(box.K == 1);
  CHECK(box.R == 5);
  CHECK(box.S == 5);
  CHECK_FALSE(box.magnitude);
  CHECK(box.values == std::vector<float>(25, 1 / 25.0f));
  CHECK(read_filters("box:1").values == std::vector<float>{1});
  CHECK(read_filters("box:1023").values.size() == 1023 * 1023);
}

TEST_CASE("gaussian:N is the product of two masks", "[filter]") {
  for (const std::string size : {"1", "3", "5", "31", "5:0.8"}) {
    INFO(size);
    const Filters filters = read_filters("gaussian:" + size);
    const std::vector<float> mask = data::read_mask("gaussian:" + size);
    REQUIRE(filters.K == 1);
    REQUIRE(filters.R == static_cast<int>(mask.size()));
    REQUIRE(filters.S == filters.R);
    for (int r = 0; r < filters.R; ++r) {
      for (int s = 0; s < filters.S; ++s) {
        CHECK(filters.values[r * filters.S + s] == Approx(mask[r] * mask[s]).epsilon(1e-6));
      }
    }
    CHECK(std::accumulate(filters.values.begin(), filters.values.end(), 0.0) ==
          Approx(1).epsilon(1e-6));
  }
  CHECK(read_filters("gaussian:5:0.8").values != read_filters("gaussian:5").values);
}

TEST_CASE("a file holds one filter or several", "[filter]") {
  const test::Folder folder;
  const std::vector<float> values = {1, 2, 3, 4, 5, 6, 7, 8, 9};
  data::write_array(folder / "one.npy", {{1, 9}, values});
  const Filters one = read_filters(folder / "one.npy");
  CHECK(one.K == 1);
  CHECK(one.R == 1);
  CHECK(one.S == 9);
  CHECK(one.values == values);
  data::write_array(folder / "three.npy", {{3, 3, 1}, values});
  const Filters three = read_filters(folder / "three.npy");
  CHECK(three.K == 3);
  CHECK(three.R == 3);
  CHECK(three.S == 1);
  CHECK_FALSE(three.magnitude);
  // A file with the name of a filter, by its path.
  data::write_array(folder / "sobel", {{3, 3}, values});
  CHECK(read_filters(folder / "sobel").values == values);
}

TEST_CASE("what is no filter is refused in words", "[filter]") {
  CHECK_THAT(filter_refusal(""), contains("it is empty; a filter is sobel, gaussian:N"));
  CHECK_THAT(filter_refusal("gauss:5"), contains("did you mean gaussian:5?"));
  CHECK_THAT(filter_refusal("sobbel"), contains("did you mean sobel?"));
  CHECK_THAT(filter_refusal("sharpen"), contains("there is no such file") && contains("box:N"));
  CHECK_THAT(filter_refusal("box"), contains("there is no such file"));
  CHECK_THAT(filter_refusal("box:"), contains("'' is not a size"));
  CHECK_THAT(filter_refusal("box:4"), contains("a size of 4 is even"));
  CHECK_THAT(filter_refusal("box:5x5"), contains("'5x5' is not a size; give an odd whole number"));
  CHECK_THAT(filter_refusal("box:0"), contains("between 1 and 1023"));
  CHECK_THAT(filter_refusal("box:-3"), contains("between 1 and 1023"));
  CHECK_THAT(filter_refusal("box:1025"), contains("between 1 and 1023"));
  CHECK_THAT(filter_refusal("box:99999999999999999999"), contains("is not a size"));
  CHECK_THAT(filter_refusal("gaussian:6"), contains("a size of 6 is even"));
  CHECK_THAT(filter_refusal("gaussian:5:0"), contains("'0' is not a sigma"));
  CHECK_THAT(filter_refusal("gaussian:5:nan"), contains("'nan' is not a sigma"));
  CHECK_THAT(filter_refusal("gaussian:5:"), contains("'' is not a sigma"));
  CHECK_THAT(filter_refusal("sobel:5"), contains("sobel has one size"));

  const test::Folder folder;
  const auto of_shape = [&](const std::vector<std::int64_t>& shape, std::size_t count) {
    data::write_array(folder / "x.npy", {shape, std::vector<float>(count, 1)});
    return filter_refusal(folder / "x.npy");
  };
  CHECK_THAT(of_shape({9}, 9), contains("1 dimensions; filters have two"));
  CHECK_THAT(of_shape({1, 1, 3, 3}, 9), contains("4 dimensions"));
  CHECK_THAT(of_shape({3, 2}, 6), contains("a size of 2 is even"));
  CHECK_THAT(of_shape({5, 4, 3}, 60), contains("a size of 4 is even"));
  CHECK_THAT(of_shape({1, 1025}, 1025), contains("between 1 and 1023"));
  CHECK_THAT(filter_refusal(folder.write("text.npy", "1 2 1\n")),
             contains("it is not an NPY file"));
  CHECK_THAT(filter_refusal(folder.write("none.npy", test::npy("<f4", "(3, 0)", ""))),
             contains("it holds no values"));
  CHECK_THAT(filter_refusal(
                 folder.write("nan.npy", test::npy("<f4", "(1, 1)", test::little(0x7fc00000, 4)))),
             contains("value 0 is NaN"));
  CHECK_THAT(filter_refusal(folder.path()), contains("it is a folder"));
}
