#include "common/harness/bench_sets.hpp"

#include <algorithm>

#include "common/harness/course.hpp"
#include "common/report/command_line.hpp"

namespace halo {

namespace {

std::vector<BenchSet> make_sets() {
  std::vector<BenchSet> all = {
      {"conv2d", "chang_onishi_single", {1}},
      {"conv2d", "chang_onishi_multi", {1}},
      {"conv2d", "cuconv", {1, 8, 16, 32, 64, 128, 256}},
      {"conv2d", "sc16"},
      // One layer at many sizes: only what is varied beside it, the layout.
      {"conv2d", "sc16_sensitivity"},
      // For the dispatcher: what its rule chooses on layers that nobody has measured.
      {"conv2d", "unseen", {1, 32}},
      // Groups, depthwise layers and dilation.
      {"conv2d", "sparse", {1, 32}},
      // What Li et al. (SC'16) evaluate, and larger problems of ours.
      {"transform", "sc16"},
      {"transform", "large"},
      {"pooling", "sc16"},
      {"softmax", "sc16"},
      {"softmax", "large"},
  };
  for (BenchSet& set : all) {
    for (const CourseStage& stage : course()) {
      const auto& sets = stage.bench_sets;
      if (stage.family != set.family ||
          std::find(sets.begin(), sets.end(), set.name) == sets.end()) {
        continue;
      }
      set.stages.push_back(stage.name.substr(0, 2));
    }
  }
  return all;
}

}  // namespace

const std::vector<BenchSet>& bench_sets() {
  static const std::vector<BenchSet> all = make_sets();
  return all;
}

bool has_stage(const BenchSet& set, const std::string& stage) {
  // What has no number chooses among the stages' kernels.
  if (stage.find_first_of("0123456789") != 0) return true;
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
