// The rules of common/data/rules, as the build made tables of them (rules_table.py): which of our kernels is fastest on
// which layer, measured on a GPU each. As JSON they took most of the time of a program's first plan. What the fields
// mean says common/convolve/rule.hpp.
#pragma once

#include <span>
#include <string_view>

namespace halo::data {

struct RuleTerm {
  std::string_view name;
  double microseconds;
};
struct RuleModel {
  std::string_view variant;
  int layers;
  double error;
  std::span<const RuleTerm> terms;
};
struct RuleLayer {
  std::string_view layer, variant;
  double us;
};
struct RuleTable {
  std::string_view gpu;
  std::span<const std::string_view> also_for;
  int multiprocessors;
  std::string_view date, command;
  int left_out_layers;
  double left_out_mean, left_out_worst;
  std::string_view left_out_worst_layer;
  std::span<const std::string_view> added;
  std::span<const RuleModel> models;
  std::span<const RuleLayer> layers, packing, overlapping;
};

/// One for each file of common/data/rules, in the order of the build description.
std::span<const RuleTable> convolution_rules();

}  // namespace halo::data
