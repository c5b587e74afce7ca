// What the families of transforms, pooling and softmax differ in beside their mathematics: how a problem
// is told, and which ones are run. Private to the harness.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "common/harness/operation.hpp"

namespace halo {

// AnyFamily (operation_any.hpp), with its type.
template <class Given>
struct OperationFamily {
  std::string name;
  std::string label_help;
  std::string example;
  std::function<Given(const std::string& label)> parse;
  std::vector<Given> simulated;
  std::vector<Given> measured;
  std::function<std::vector<Given>(const std::string& set)> published;
};
template <class Given>
OperationFamily<Given> operation_family();
template <>
OperationFamily<conv::Transform> operation_family();
template <>
OperationFamily<conv::PoolingLayer> operation_family();
template <>
OperationFamily<conv::Softmax> operation_family();

// What stands before a problem's label: "layer 55-128-3-96".
const char* word_for(const conv::Transform&);
const char* word_for(const conv::PoolingLayer&);
const char* word_for(const conv::Softmax&);

// A row's problem: N, C, H, W, from; N, C, H, W, R, S, stride, padding, kind, rounding; N, C.
Problem problem_of(const conv::Transform& transform);
Problem problem_of(const conv::PoolingLayer& layer);
Problem problem_of(const conv::Softmax& softmax);

}  // namespace halo
