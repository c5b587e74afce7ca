// Wrong outputs, and what is recognised in them.
#include "common/conv/pattern.hpp"

#include <cmath>
#include <functional>
#include <limits>

#include "common/conv/accuracy.hpp"
#include "tests/catch.hpp"

namespace {

using namespace halo::conv;

// Right outputs in which no two neighbours, rows or columns are alike.
double true_value(std::size_t cell) { return 100 + std::sin(static_cast<double>(cell) * 1.7) * 40; }

class Outputs {
 public:
  explicit Outputs(std::vector<OutputAxis> axes, std::vector<Period> periods = {}) {
    std::int64_t cells = 1;
    for (const OutputAxis& axis : axes) cells *= axis.size;
    all_.axes = std::move(axes);
    all_.periods = std::move(periods);
    for (std::size_t i = 0; i < static_cast<std::size_t>(cells); ++i) {
      all_.expected.push_back(true_value(i));
      all_.bound.push_back(1e-4);
      found_.push_back(static_cast<float>(true_value(i)));
    }
  }
  // What stands in the cells for which `change` has something to say.
  std::string with(const std::function<double(std::size_t cell, double value)>& change) {
    std::vector<float> found = found_;
    for (std::size_t i = 0; i < found.size(); ++i) {
      found[i] = static_cast<float>(change(i, all_.expected[i]));
    }
    all_.found = found;
    return recognise(all_);
  }
  std::string unwritten(const std::function<bool(std::size_t cell)>& is) {
    std::vector<float> found = found_;
    for (std::size_t i = 0; i < found.size(); ++i) {
      if (is(i)) found[i] = poison();
    }
    all_.found = found;
    return recognise(all_);
  }

 private:
  WrongOutputs all_;
  std::vector<float> found_;
};

const std::vector<Period> kBlocks = {{"block", 16}};

}  // namespace

TEST_CASE("right outputs have no pattern") {
  Outputs outputs({{"", "", 50}});
  CHECK(outputs.with([](std::size_t, double value) { return value; }) == "");
}

TEST_CASE("an infinity that is right is not among the wrong outputs") {
  const float infinity = std::numeric_limits<float>::infinity();
  const std::vector<float> found = {-infinity, infinity, -infinity};
  const WrongOutputs outputs{found, {-infinity, -infinity, 1}, {0, 0, 0}, {{"", "", 3}}, {}};
  CHECK_FALSE(is_wrong(outputs, 0));
  CHECK(is_wrong(outputs, 1));
  CHECK(is_wrong(outputs, 2));
}

TEST_CASE("values: unwritten, NaN, zero, shifted, exchanged, multiplied, off by the same") {
  Outputs line({{"", "", 50}});
  const double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK(line.unwritten([](std::size_t) { return true; }) == "no output was written");
  CHECK(
      line.with([&](std::size_t, double) { return nan; }).starts_with("every wrong output is NaN"));
  CHECK(line.with([](std::size_t, double) { return 0; }) == "every wrong output is 0");
  CHECK(line.with([](std::size_t cell, double) { return true_value(cell + 1); }) ==
        "every wrong output is the one that belongs 1 place further on");
  CHECK(line.with([](std::size_t cell, double) { return cell < 2 ? 0 : true_value(cell - 2); }) ==
        "every wrong output is the one that belongs 2 places before");
  // Off by less than is shown: nothing to say.
  CHECK(line.with([](std::size_t, double value) { return value * 1.0001; }) == "");
  CHECK(line.with([](std::size_t, double value) { return 2 * value; }) ==
        "every wrong output is 2 times what it should be");
  CHECK(line.with([](std::size_t, double value) { return value / 9; }) ==
        "every wrong output is 1/9 times what it should be");
  CHECK(line.with([](std::size_t, double value) { return -value; }) ==
        "every wrong output has the wrong sign");
  CHECK(line.with([](std::size_t, double value) { return value + 3; }) ==
        "every wrong output is off by 3");
  CHECK(line.with([](std::size_t cell, double value) {
    return value + std::cos(static_cast<double>(cell * cell));
  }) == "");

  Outputs plane({{"n", "image", 2}, {"p", "row", 7}, {"q", "column", 7}});
  CHECK(plane.with([](std::size_t cell, double) {
    const std::size_t image = cell / 49 * 49;
    return true_value(image + cell % 7 * 7 + (cell - image) / 7);
  }) == "rows and columns are exchanged");
  CHECK(plane.with([](std::size_t cell, double value) {
    return cell / 7 % 7 < 6 ? true_value(cell + 7) : value;
  }) == "every wrong output is the one that belongs 1 place further on along the rows; only the "
        "first 6 rows");
}

TEST_CASE("places: the ends of blocks, what is left after them, one filter or image") {
  Outputs line({{"", "", 50}}, kBlocks);
  const auto wrong_where = [](Outputs& outputs, const std::function<bool(std::size_t)>& is) {
    return outputs.with([&](std::size_t cell, double value) {
      return is(cell) ? value * (2 + std::cos(static_cast<double>(cell * cell))) : value;
    });
  };
  CHECK(wrong_where(line, [](std::size_t cell) { return cell % 16 == 15; }) ==
        "only the last output of each block");
  CHECK(wrong_where(line, [](std::size_t cell) { return cell % 16 < 2; }) ==
        "only the first 2 outputs of each block");
  CHECK(wrong_where(line, [](std::size_t cell) { return cell % 16 == 0 || cell % 16 == 15; }) ==
        "only the first output and the last output of each block");
  // Which are the first and the last of some block too.
  CHECK(wrong_where(line, [](std::size_t cell) { return cell == 0 || cell == 49; }) ==
        "only the first and the last output");
  CHECK(wrong_where(line, [](std::size_t cell) { return cell < 3 || cell >= 48; }) ==
        "only the first 3 and the last 2 outputs");
  CHECK(wrong_where(line, [](std::size_t cell) { return cell >= 48; }) ==
        "only the last 2 outputs: all after the last whole block");
  CHECK(wrong_where(line, [](std::size_t cell) { return cell == 49; }) == "only the last output");
  CHECK(wrong_where(line, [](std::size_t cell) { return cell >= 20 && cell < 30; }) ==
        "only outputs 20 to 29");
  CHECK(line.unwritten([](std::size_t cell) { return cell >= 48; }) ==
        "what is wrong was never written; only the last 2 outputs: all after the last whole block");

  Outputs layer({{"n", "image", 2}, {"k", "filter", 3}, {"p", "row", 4}, {"q", "column", 5}});
  CHECK(wrong_where(layer, [](std::size_t cell) { return cell / 20 % 3 == 1; }) == "only filter 1");
  CHECK(wrong_where(layer, [](std::size_t cell) { return cell / 20 % 3 == 2; }) ==
        "only the last filter");
  CHECK(wrong_where(layer, [](std::size_t cell) { return cell >= 60 && cell % 5 == 4; }) ==
        "only the last image, the last column");
  Outputs arrays({{"array", "array", 2, {"smooth", "slope"}}, {"i", "place", 9}});
  CHECK(wrong_where(arrays, [](std::size_t cell) { return cell >= 9; }) == "only slope");
}

TEST_CASE("a place is told in coordinates where the outputs have some") {
  CHECK(place_of({{"", "", 9}}, 4) == "output[4]");
  CHECK(place_of({{"n", "", 2}, {"k", "", 3}, {"p", "", 4}, {"q", "", 5}}, 60 + 40 + 15 + 2) ==
        "output[n 1, k 2, p 3, q 2]");
  CHECK(place_of({{"array", "", 2, {"smooth", "slope"}}, {"i", "", 5}}, 5 + 3) == "slope[i 3]");
}
