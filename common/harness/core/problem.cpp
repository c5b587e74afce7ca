#include "common/harness/core/problem.hpp"

namespace halo {

std::vector<float> repeated(std::span<const float> values, std::int64_t size) {
  const auto wanted = static_cast<std::size_t>(size);
  std::vector<float> all;
  all.reserve(wanted);
  while (all.size() < wanted) {
    const std::span<const float> more =
        values.first(values.size() < wanted - all.size() ? values.size() : wanted - all.size());
    all.insert(all.end(), more.begin(), more.end());
  }
  return all;
}

Dataset::Dataset(std::vector<InputValues> inputs, bool exact)
    : inputs_(std::move(inputs)), exact_(exact) {}

std::span<const float> Dataset::first_input(conv::Layout layout) const {
  if (layout == conv::Layout::nchw) return inputs_.front().values;
  const auto [found, is_new] = arranged_.try_emplace(layout);
  if (is_new) found->second = arrange(layout);
  return found->second;
}

Judge Dataset::judge_copy() const {
  return [this](std::int64_t first, std::span<const float> outputs) {
    conv::Comparison comparison;
    comparison.judge_bits_run(first, outputs,
                              &inputs_.front().values[static_cast<std::size_t>(first)]);
    return comparison;
  };
}

std::vector<float> Dataset::arrange(conv::Layout) const { return inputs_.front().values; }

std::int64_t call_bytes(const AnyProblem& problem) {
  std::int64_t floats = problem.output_size();
  for (const std::int64_t size : problem.input_sizes()) floats += size;
  return floats * static_cast<std::int64_t>(sizeof(float));
}

Value down_and_across(int down, int across) {
  if (down == across) return std::int64_t{down};
  return std::to_string(down) + "x" + std::to_string(across);
}

}  // namespace halo
