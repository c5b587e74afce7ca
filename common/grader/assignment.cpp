#include "common/grader/assignment.hpp"

#include <algorithm>
#include <initializer_list>
#include <stdexcept>
#include <string_view>

#include "common/data/file.hpp"
#include "common/json/json.hpp"

namespace halo::grader {

namespace {

using json::Value;

void require_known(const Value& object, std::initializer_list<std::string_view> names) {
  for (const json::Member& member : object.members()) {
    if (std::find(names.begin(), names.end(), member.name) != names.end()) continue;
    std::string all;
    for (const std::string_view name : names) all += (all.empty() ? "" : ", ") + std::string(name);
    throw std::runtime_error("unknown word " + data::quoted(member.name) + ", should be one of " +
                             all);
  }
}

int limit_from(const Value& limits, const char* name) {
  if (limits.find(name) == nullptr) return 0;
  const int limit = limits.get<int>(name);
  if (limit < 1) throw std::runtime_error("\"" + std::string(name) + "\" is not above 0");
  return limit;
}

Assignment::Exercise exercise_from(const Value& json) {
  Assignment::Exercise exercise;
  exercise.name = json.get<std::string>("name");
  try {
    require_known(json, {"name", "hidden"});
    if (const Value* const hidden = json.find("hidden")) {
      exercise.hidden = hidden_cases_from(*hidden);
    }
  } catch (const std::runtime_error& error) {
    throw std::runtime_error("exercise " + data::quoted(exercise.name) + ": " + error.what());
  }
  return exercise;
}

Assignment::Hunt hunt_from(const Value& json) {
  require_known(json, {"name", "points"});
  Assignment::Hunt hunt{json.get<std::string>("name")};
  try {
    hunt.points = json.get<double>("points");
  } catch (const std::runtime_error& error) {
    throw std::runtime_error("hunt " + data::quoted(hunt.name) + ": " + error.what());
  }
  constexpr double kMost = 1000;
  if (hunt.points > 0 && hunt.points <= kMost) return hunt;
  throw std::runtime_error("hunt " + data::quoted(hunt.name) +
                           ": its points are not above 0, or more than 1000");
}

Assignment assignment_from(const Value& json) {
  require_known(json, {"title", "seed", "feedback", "limits", "exercises", "hunts"});
  Assignment assignment;
  assignment.title = json.get_or("title", std::string());
  assignment.seed = json.get_or<std::uint64_t>("seed", 0);
  assignment.feedback = parse_feedback(json.get_or("feedback", std::string("full")));
  if (const Value* const limits = json.find("limits")) {
    require_known(*limits, {"seconds", "memory", "threads"});
    assignment.limits = {limit_from(*limits, "seconds"), limit_from(*limits, "memory"),
                         limit_from(*limits, "threads")};
  }
  for (const Value& one : json.at("exercises").elements()) {
    Assignment::Exercise exercise = exercise_from(one);
    if (assignment.find(exercise.name) != nullptr) {
      throw std::runtime_error("exercise " + data::quoted(exercise.name) + " is there twice");
    }
    assignment.exercises.push_back(std::move(exercise));
  }
  if (const Value* const hunts = json.find("hunts")) {
    for (const Value& one : hunts->elements()) {
      assignment.hunts.push_back(hunt_from(one));
      const std::string& name = assignment.hunts.back().name;
      const auto is_it = [&](const Assignment::Hunt& hunt) { return hunt.name == name; };
      if (std::count_if(assignment.hunts.begin(), assignment.hunts.end(), is_it) > 1) {
        throw std::runtime_error("hunt " + data::quoted(name) + " is there twice");
      }
    }
  }
  if (assignment.exercises.empty()) throw std::runtime_error("it has no exercises");
  return assignment;
}

}  // namespace

const Assignment::Exercise* Assignment::find(const std::string& name) const {
  const auto found = std::find_if(exercises.begin(), exercises.end(),
                                  [&](const Exercise& one) { return one.name == name; });
  return found == exercises.end() ? nullptr : &*found;
}

Assignment read_assignment(const std::filesystem::path& file) {
  const std::string text = data::read_file(file.string());
  try {
    Assignment assignment = assignment_from(Value::parse(text));
    assignment.file = file;
    return assignment;
  } catch (const std::runtime_error& error) {
    throw std::runtime_error(file.string() + ": " + error.what());
  }
}

}  // namespace halo::grader
