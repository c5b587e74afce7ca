#include "common/exercise/hidden_cases.hpp"

#include <algorithm>
#include <stdexcept>

#include "common/data/file.hpp"

namespace halo {

namespace {

// More would be a slip of the pen, and take for ever.
constexpr int kMostDrawn = 100;
constexpr int kMostPoints = 1000;

HiddenCase hidden_case_from(const json::Value& json) {
  HiddenCase one;
  one.name = json.get<std::string>("name");
  if (one.name.empty()) throw std::runtime_error("a hidden case has no name");
  const auto wrong = [&](const std::string& what) {
    return std::runtime_error("hidden case \"" + one.name + "\": " + what);
  };
  for (const json::Member& member : json.members()) {
    const bool known = member.name == "name" || member.name == "points" ||
                       member.name == "problems" || member.name == "draw" ||
                       member.name == "budget";
    if (!known) throw wrong("unknown word " + data::quoted(member.name));
  }
  one.points = json.get<double>("points");
  if (!(one.points > 0 && one.points <= kMostPoints)) {
    throw wrong("its points are not above 0 and at most " + std::to_string(kMostPoints));
  }
  one.problems = {};
  if (const json::Value* const problems = json.find("problems")) {
    for (const json::Value& problem : problems->elements()) {
      one.problems.push_back(problem.get<std::vector<long long>>());
    }
  }
  one.drawn = json.get_or("draw", 0);
  if (one.drawn < 0 || one.drawn > kMostDrawn) {
    throw wrong("\"draw\" is not 0 to " + std::to_string(kMostDrawn));
  }
  if (one.problems.empty() && one.drawn == 0) throw wrong("it has no problems");
  one.is_budget = json.get_or("budget", false);
  // Those that are drawn are small, and of a small problem edges are what costs.
  if (one.is_budget && one.drawn > 0) throw wrong("problems of a budget are not drawn");
  return one;
}

}  // namespace

std::vector<HiddenCase> hidden_cases_from(const json::Value& cases) {
  std::vector<HiddenCase> all;
  for (const json::Value& one : cases.elements()) {
    all.push_back(hidden_case_from(one));
    const auto same = [&](const HiddenCase& other) { return other.name == all.back().name; };
    if (std::count_if(all.begin(), all.end(), same) > 1) {
      throw std::runtime_error("two hidden cases are called \"" + all.back().name + "\"");
    }
  }
  return all;
}

std::vector<HiddenCase> read_hidden_cases(const std::filesystem::path& file,
                                          const std::string& exercise) {
  try {
    const json::Value json = json::Value::parse(data::read_file(file.string()));
    for (const json::Value& one : json.at("exercises").elements()) {
      if (one.get<std::string>("name") != exercise) continue;
      const json::Value* const hidden = one.find("hidden");
      return hidden == nullptr ? std::vector<HiddenCase>{} : hidden_cases_from(*hidden);
    }
  } catch (const std::runtime_error& error) {
    const std::string said = error.what();
    const bool is_named = said.find(file.string()) != std::string::npos;
    throw std::runtime_error(is_named ? said : file.string() + ": " + said);
  }
  throw std::runtime_error(file.string() + ": exercise " + exercise + " is not in it");
}

}  // namespace halo
