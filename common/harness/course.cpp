#include "common/harness/course.hpp"

#include <algorithm>

namespace halo {

namespace {

std::string number_of(const CourseStage& stage) { return stage.name.substr(0, 2); }

// How a stage is called: by its number, unless another has it too.
std::string called(const CourseStage& stage) {
  const std::string number = number_of(stage);
  const auto same = std::count_if(course().begin(), course().end(),
                                  [&](const CourseStage& one) { return number_of(one) == number; });
  return same == 1 ? number : stage.name;
}

// Of one family's stages: "01 to 05", "06 to 09 and 10_layout_convolution".
std::string listed(const std::vector<CourseStage>& stages) {
  std::vector<std::string> runs;
  for (std::size_t first = 0; first < stages.size();) {
    std::size_t last = first;
    const auto follows = [&](const CourseStage& next) {
      return called(next).size() == 2 &&
             std::stoi(number_of(next)) == std::stoi(number_of(stages[last])) + 1;
    };
    while (last + 1 < stages.size() && follows(stages[last + 1])) ++last;
    runs.push_back(called(stages[first]) + (last > first ? " to " + called(stages[last]) : ""));
    first = last + 1;
  }
  std::string text;
  for (const std::string& run : runs) {
    const bool is_last = &run == &runs.back();
    text += (text.empty() ? "" : is_last ? " and " : ", ") + run;
  }
  return text;
}

}  // namespace

std::string stages_by_family() {
  std::vector<std::string> families;
  for (const CourseStage& stage : course()) {
    if (std::find(families.begin(), families.end(), stage.family) == families.end()) {
      families.push_back(stage.family);
    }
  }
  std::string text;
  for (const std::string& family : families) {
    std::vector<CourseStage> stages;
    for (const CourseStage& stage : course()) {
      if (stage.family == family) stages.push_back(stage);
    }
    text += "  " + family + ": " + listed(stages) + "\n";
  }
  return text;
}

}  // namespace halo
