// What the three families of operations differ in when an input is laid out and an output judged, so that
// one template serves them all. Private to the harness and the peers.
#pragma once

#include <span>
#include <vector>

#include "common/conv/layout.hpp"
#include "common/conv/pooling.hpp"
#include "common/conv/softmax.hpp"

namespace halo {

inline conv::TransformChecker checker_of(const conv::Transform& problem, conv::Layout,
                                         std::span<const float> input) {
  return {problem, input};
}
inline conv::PoolingChecker checker_of(const conv::PoolingLayer& problem, conv::Layout layout,
                                       std::span<const float> input) {
  return {problem, layout, input};
}
inline conv::SoftmaxChecker checker_of(const conv::Softmax& problem, conv::Layout,
                                       std::span<const float> input) {
  return {problem, input};
}

// From the order that make_input gives to the one that is wanted.
template <class Problem>
std::vector<float> arranged(const Problem&, conv::Layout, std::vector<float> input) {
  return input;
}
inline std::vector<float> arranged(const conv::PoolingLayer& problem, conv::Layout layout,
                                   std::vector<float> input) {
  if (layout == conv::Layout::nchw) return input;
  return conv::rearranged(problem.input(), input, conv::Layout::nchw, layout);
}

}  // namespace halo
