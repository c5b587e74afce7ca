// The handwritten digits: the pictures that PyTorch answered.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace halo::network {

/// The pictures that training never saw, with their answers.
struct TestDigits {
  std::vector<float> pictures;   // [count][8][8], 0 ... 1
  std::vector<int> labels;       // what they are
  std::vector<int> predictions;  // what PyTorch says with the same weights
  std::vector<float> logits;     // [count][10], PyTorch's, before the softmax
  std::size_t count() const { return labels.size(); }
};

/// Reads them from the folder. Throws data::DataError in one line.
TestDigits read_test_digits(const std::string& folder);

/// The category with the largest of `count` values.
int answer(const float* values, int count);

}  // namespace halo::network
