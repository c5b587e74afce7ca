#include "common/harness/course.hpp"

#include <algorithm>

#include "common/harness/bench_sets.hpp"
#include "tests/catch.hpp"

using namespace halo;

TEST_CASE(
    "The course: families name their stages by number, or by name where two have one number") {
  const std::string lines = stages_by_family();
  CHECK(lines.starts_with("  conv1d: 01 to 05"));
  CHECK(lines.find("\n  conv2d: 06 to 09 and 10_layout_convolution\n") != std::string::npos);
  CHECK(lines.find("\n  transform: 10_layout_transform\n") != std::string::npos);
  CHECK(lines.find("\n  pooling: 11\n") != std::string::npos);
}

TEST_CASE(
    "The course: each set of problems compares the stages that name it, and none names another") {
  const auto stages_of = [](const std::string& family, const std::string& name) {
    for (const BenchSet& set : bench_sets()) {
      if (set.family == family && set.name == name) return set.stages;
    }
    return std::vector<std::string>{};
  };
  CHECK(stages_of("conv2d", "chang_onishi_single") == std::vector<std::string>{"06", "07"});
  CHECK(stages_of("conv2d", "chang_onishi_multi") == std::vector<std::string>{"06", "08"});
  CHECK(stages_of("conv2d", "cuconv") == std::vector<std::string>{"09"});
  CHECK(stages_of("conv2d", "sc16") == std::vector<std::string>{"06", "08", "09", "10"});
  CHECK(stages_of("conv2d", "sc16_sensitivity") == std::vector<std::string>{"10"});
  for (const CourseStage& stage : course()) {
    for (const std::string& name : stage.bench_sets) {
      INFO(stage.name << ": " << name);
      CHECK(std::any_of(bench_sets().begin(), bench_sets().end(), [&](const BenchSet& set) {
        return set.family == stage.family && set.name == name;
      }));
    }
  }
}
