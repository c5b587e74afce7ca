#include "common/exercise/hunts.hpp"

#include <algorithm>
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

// The lines that a mend replaces or leaves out; of what it puts between two lines, both of them.
std::vector<int> lines_of_mends(const json::Value& mends) {
  std::vector<int> lines;
  for (const json::Value& mend : mends.elements()) {
    if (mend.find("after") != nullptr) {
      const int after = mend.get<int>("after");
      lines.insert(lines.end(), {after, after + 1});
      continue;
    }
    const int first = mend.get<int>("line"), last = mend.get_or("last", first);
    for (int line = first; line <= last; ++line) lines.push_back(line);
  }
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

Hunts::Hunts(const fs::path& root) : answers_(root / "solutions" / "hunts" / "answers.json") {
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

bool Hunts::have_answers() const { return fs::exists(answers_); }

HuntAnswer Hunts::answer_of(const Hunt& hunt) const {
  if (!have_answers()) {
    throw CannotRun("this copy of the course has no solutions: fix the file, and ./halo hunt " +
                    hunt.number + " checks it");
  }
  const json::Value list = read_list(answers_);
  try {
    for (const json::Value& one : list.elements()) {
      if (one.get<std::string>("name") != hunt.name) continue;
      return {one.get<std::string>("kind"), one.get<std::string>("found_by"),
              one.get<std::string>("why"), one.get_or("source", std::string()),
              lines_of_mends(one.at("mend"))};
    }
  } catch (const json::Error& error) {
    throw WrongUse(seen_from_here(answers_) + " cannot be read: " + error.what());
  }
  throw WrongUse(seen_from_here(answers_) + " says nothing of " + hunt.name);
}

bool Hunts::is_right(const Hunt& hunt, const Claim& claim) const {
  const HuntAnswer answer = answer_of(hunt);
  return claim.kind == answer.kind &&
         std::find(answer.lines.begin(), answer.lines.end(), claim.line) != answer.lines.end();
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

}  // namespace halo
