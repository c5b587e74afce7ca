#include "common/exercise/hunts.hpp"

#include <algorithm>
#include <set>
#include <sstream>
#include <tuple>

#include "common/build/errors.hpp"
#include "common/data/file.hpp"
#include "common/data/suggestion.hpp"
#include "common/json/json.hpp"
#include "common/report/terminal.hpp"

namespace halo {

namespace {

namespace fs = std::filesystem;

json::Value read_list(const fs::path& file) {
  try {
    return json::Value::parse(text_of_file(file));
  } catch (const json::Error& error) {
    throw WrongUse(seen_from_here(file) + " cannot be read: " + error.what());
  } catch (const data::DataError& error) {
    throw WrongUse(error.what());
  }
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

}  // namespace

Exercise Hunt::as_exercise() const {
  Exercise exercise;
  exercise.name = "hunts/" + name;
  exercise.number = number;
  exercise.title = "hunt " + name.substr(3);
  exercise.folder = file.parent_path();
  exercise.sources = {file};
  exercise.check = "hunts";
  exercise.contract = contract;
  exercise.start = start;
  return exercise;
}

Hunts::Hunts(const fs::path& root) : root_(root) {
  const fs::path folder = root / "exercises" / "hunts";
  if (!fs::exists(folder / "hunts.json")) {
    throw WrongUse("this copy of the course has no hunts: " +
                   seen_from_here(folder / "hunts.json") + " is missing");
  }
  const json::Value list = read_list(folder / "hunts.json");
  try {
    for (const json::Member& kind : list.at("kinds").members()) {
      kinds_.emplace_back(kind.name, kind.value.get<std::string>());
    }
    for (const json::Value& one : list.at("hunts").elements()) {
      Hunt hunt;
      hunt.name = one.get<std::string>("name");
      hunt.number = hunt.name.substr(0, 2);
      hunt.contract = one.get<std::string>("contract");
      hunt.stage = one.get<std::string>("stage");
      hunt.level = one.get<int>("level");
      hunt.symptom = one.get<std::string>("symptom");
      hunt.file = folder / (hunt.name + ".cu");
      hunt.start = folder / "start" / (hunt.name + ".cu");
      hunt.mended = root / "solutions" / "hunts" / (hunt.name + ".cu");
      hunt.claims = folder / (hunt.name + ".claims");
      all_.push_back(std::move(hunt));
    }
  } catch (const json::Error& error) {
    throw WrongUse(seen_from_here(folder / "hunts.json") + " cannot be read: " + error.what());
  }
  std::stable_sort(all_.begin(), all_.end(), [](const Hunt& a, const Hunt& b) {
    return std::tie(a.stage, a.level) < std::tie(b.stage, b.level);
  });
}

const Hunt& Hunts::find(const std::string& typed) const {
  std::vector<std::string> names;
  for (const Hunt& hunt : all_) {
    const std::string short_number = hunt.number.substr(hunt.number.find_first_not_of('0'));
    for (const std::string& name : {hunt.name, hunt.number, short_number, hunt.name.substr(3)}) {
      if (typed == name) return hunt;
    }
    names.push_back(hunt.name.substr(3));
  }
  throw WrongUse("there is no hunt " + data::quoted(typed) + data::did_you_mean(typed, names) +
                 ": ./halo hunt lists them");
}

HuntAnswer Hunts::answer_of(const Hunt& hunt) const {
  const fs::path file = root_ / "solutions" / "hunts" / "answers.json";
  if (!fs::exists(file)) {
    throw CannotRun("this copy of the course has no solutions: fix the file, and ./halo hunt " +
                    hunt.number + " checks it");
  }
  const json::Value list = read_list(file);
  try {
    for (const json::Value& one : list.elements()) {
      if (one.get<std::string>("name") != hunt.name) continue;
      return {one.get<std::string>("kind"), one.get<std::string>("found_by"),
              one.get<std::string>("why"), one.get_or("source", std::string())};
    }
  } catch (const json::Error& error) {
    throw WrongUse(seen_from_here(file) + " cannot be read: " + error.what());
  }
  throw WrongUse(seen_from_here(file) + " says nothing of " + hunt.name);
}

bool Hunts::is_right(const Hunt& hunt, const Claim& claim) const {
  if (claim.kind != answer_of(hunt).kind) return false;
  const std::vector<int> lines = changed_lines(text_of_file(hunt.start), text_of_file(hunt.mended));
  return std::find(lines.begin(), lines.end(), claim.line) != lines.end();
}

std::vector<Claim> parse_claims(const std::string& text) {
  std::vector<Claim> claims;
  for (const std::string& line : lines_of(text)) {
    std::istringstream words(line);
    Claim claim;
    if (words >> claim.line >> claim.kind) claims.push_back(claim);
  }
  return claims;
}

std::string line_of(const Claim& claim) { return std::to_string(claim.line) + " " + claim.kind; }

double share_of_hunt(std::size_t claims) {
  constexpr double kLeast = 0.5, kCost = 0.1;
  return std::max(kLeast, 1 - kCost * static_cast<double>(claims - 1));
}

std::vector<int> changed_lines(const std::string& before, const std::string& after) {
  const std::vector<std::string> a = lines_of(before), b = lines_of(after);
  // How many lines a[i..] and b[j..] have in common, in order.
  std::vector<std::vector<int>> common(a.size() + 1, std::vector<int>(b.size() + 1));
  for (std::size_t i = a.size(); i-- > 0;) {
    for (std::size_t j = b.size(); j-- > 0;) {
      common[i][j] =
          a[i] == b[j] ? common[i + 1][j + 1] + 1 : std::max(common[i + 1][j], common[i][j + 1]);
    }
  }
  std::set<int> changed;
  for (std::size_t i = 0, j = 0; i < a.size() || j < b.size();) {
    if (i < a.size() && j < b.size() && a[i] == b[j]) {
      ++i, ++j;
      continue;
    }
    // Up to where both go on alike.
    const std::size_t first = i;
    while (i < a.size() || j < b.size()) {
      if (i < a.size() && j < b.size() && a[i] == b[j]) break;
      const bool leaves_out =
          i < a.size() && (j == b.size() || common[i + 1][j] >= common[i][j + 1]);
      ++(leaves_out ? i : j);
    }
    for (std::size_t line = first; line < i; ++line) changed.insert(static_cast<int>(line + 1));
    if (first < i) continue;
    // Only put in: between this line and the next.
    if (i > 0) changed.insert(static_cast<int>(i));
    if (i < a.size()) changed.insert(static_cast<int>(i + 1));
  }
  return {changed.begin(), changed.end()};
}

}  // namespace halo
