#include "common/network/digits.hpp"

#include <algorithm>

#include "common/data/array.hpp"

namespace halo::network {

namespace {

data::Array read_cells(const std::string& path, const std::vector<std::int64_t>& cells) {
  data::Array array = data::read_array(path);
  std::vector<std::int64_t> rest(array.shape.begin() + 1, array.shape.end());
  if (rest != cells) throw data::DataError("cannot use " + data::quoted(path) + ": wrong shape");
  return array;
}

std::vector<int> whole(const std::vector<float>& values) {
  return std::vector<int>(values.begin(), values.end());
}

}  // namespace

TestDigits read_test_digits(const std::string& folder) {
  TestDigits digits;
  digits.pictures = read_cells(folder + "/test_pictures.npy", {8, 8}).values;
  // As digits/train.py: a division in float.
  for (float& pixel : digits.pictures) pixel /= 255.0f;
  digits.labels = whole(read_cells(folder + "/test_labels.npy", {}).values);
  digits.predictions = whole(read_cells(folder + "/test_predictions.npy", {}).values);
  digits.logits = read_cells(folder + "/test_logits.npy", {10}).values;
  if (digits.pictures.size() != digits.count() * 64 ||
      digits.predictions.size() != digits.count() || digits.logits.size() != digits.count() * 10) {
    throw data::DataError("cannot use the test digits of " + data::quoted(folder) +
                          ": its files hold different numbers of pictures");
  }
  return digits;
}

int answer(const float* values, int count) {
  return static_cast<int>(std::max_element(values, values + count) - values);
}

}  // namespace halo::network
