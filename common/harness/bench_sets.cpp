#include "common/harness/bench_sets.hpp"

#include <algorithm>

#include "common/report/command_line.hpp"

namespace halo {

const std::vector<BenchSet>& bench_sets() {
  static const std::vector<BenchSet> all = {
      {"conv2d", "chang_onishi_single", {1}, {"06", "07"}},
      {"conv2d", "chang_onishi_multi", {1}, {"06", "08"}},
      {"conv2d", "cuconv", {1, 8, 16, 32, 64, 128, 256}, {"09"}},
      {"conv2d", "sc16", {}, {"06", "08", "09", "10"}},
      // One layer at many sizes: only what is varied beside it, the layout.
      {"conv2d", "sc16_sensitivity", {}, {"10"}},
      // What Li et al. (SC'16) evaluate, and larger problems of ours.
      {"transform", "sc16"},
      {"transform", "large"},
      {"pooling", "sc16"},
      {"softmax", "sc16"},
      {"softmax", "large"},
  };
  return all;
}

bool has_stage(const BenchSet& set, const std::string& stage) {
  return std::any_of(set.stages.begin(), set.stages.end(),
                     [&](const std::string& number) { return stage.starts_with(number + "_"); });
}

std::string bench_set_names(const std::string& family) {
  std::string names;
  for (const BenchSet& set : bench_sets()) {
    if (set.family == family) names += (names.empty() ? "" : ", ") + set.name;
  }
  return names;
}

void require_bench_set(const std::string& family, const std::string& name) {
  const bool found =
      std::any_of(bench_sets().begin(), bench_sets().end(),
                  [&](const BenchSet& set) { return set.family == family && set.name == name; });
  if (found) return;
  throw UsageError("there is no set '" + name + "' of " + family +
                   " problems; there are: " + bench_set_names(family));
}

}  // namespace halo
