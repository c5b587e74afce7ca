#include "common/cli/passed_on.hpp"

#include <algorithm>

#include "common/harness/course.hpp"
#include "common/harness/program_options.hpp"

namespace halo {
namespace {

// Whether another family has an option of that name too: then it must say whose this help is.
bool is_shared(const ProgramOption& option) {
  return std::count_if(program_options().begin(), program_options().end(),
                       [&](const ProgramOption& other) { return other.name == option.name; }) > 1;
}

}  // namespace

bool is_of_a_trace(const std::string& option) {
  return option != "--output" && option != "--no-peers" && option != "--no-times" &&
         option != "--no-trials" && option != "--strict" && option != "--show-output";
}

PassedOn::PassedOn(CommandLine& line, For command) {
  for (const ProgramOption& option : program_options()) {
    if (command == For::bench && !option.bench) continue;
    if (command == For::trace && !is_of_a_trace(option.name)) continue;
    const std::string of = joined(option.families);
    const std::string help = (is_shared(option) ? of + ": " : "") + option.help;
    const auto known = std::find_if(options_.begin(), options_.end(),
                                    [&](const One& one) { return one.name == option.name; });
    if (known == options_.end()) {
      options_.push_back({option.name, option.unit, option.families, help, {}, false});
      continue;
    }
    known->help += ". " + help;
    known->families.insert(known->families.end(), option.families.begin(), option.families.end());
  }
  // What all stages have, then a heading for each family, then what several share.
  std::vector<std::string> groups = {"Of all stages"};
  for (const CourseStage& stage : course()) {
    const std::string group = "Of " + stage.family;
    if (std::find(groups.begin(), groups.end(), group) == groups.end()) groups.push_back(group);
  }
  groups.push_back("Of several families");
  const auto group_of = [&](const One& one) {
    return one.families.empty()       ? groups.front()
           : one.families.size() == 1 ? "Of " + one.families.front()
                                      : groups.back();
  };
  std::vector<One*> listed;
  for (One& one : options_) listed.push_back(&one);
  const auto place = [&](const One* one) {
    return std::find(groups.begin(), groups.end(), group_of(*one));
  };
  std::stable_sort(listed.begin(), listed.end(),
                   [&](const One* a, const One* b) { return place(a) < place(b); });
  for (One* const option : listed) {
    One& one = *option;
    line.group(group_of(one));
    if (one.unit.empty()) {
      line.flag(one.name, one.on, one.help);
    } else {
      line.option(one.name, one.unit, one.value, one.help);
    }
  }
}

PassedOptions PassedOn::given() const {
  PassedOptions all;
  for (const One& one : options_) {
    if (one.on || !one.value.empty()) all.emplace_back(one.name, one.value);
  }
  return all;
}

std::vector<FamilyOption> PassedOn::of_families() const {
  std::vector<FamilyOption> all;
  for (const One& one : options_) {
    if ((one.on || !one.value.empty()) && !one.families.empty()) {
      all.push_back({one.name, one.families});
    }
  }
  return all;
}

}  // namespace halo
