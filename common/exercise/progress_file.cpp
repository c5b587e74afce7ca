#include "common/exercise/progress_file.hpp"

#include <chrono>
#include <cmath>
#include <ctime>

#include "common/build/builder.hpp"
#include "common/build/compiler_output.hpp"
#include "common/build/errors.hpp"
#include "common/data/file.hpp"
#include "common/exercise/predictions.hpp"
#include "common/json/json.hpp"

namespace halo {
namespace {

namespace fs = std::filesystem;

constexpr const char* kProgressFormat = "halo progress 1";
constexpr const char* kProgressName = "halo progress ";
constexpr std::size_t kLongestDate = 40;
// Another `halo` has the file for milliseconds; one that was stopped has it for ever.
constexpr std::chrono::seconds kPatience(5);

int count_in(const json::Value& record, const char* name) {
  const int count = record.get_or(name, 0);
  if (count < 0) throw json::Error("\"" + std::string(name) + "\" is negative");
  return count;
}

double points_in(const json::Value& record, const char* name) {
  const double points = record.get_or(name, 0.0);
  if (!(points >= 0)) throw json::Error("\"" + std::string(name) + "\" is negative");
  return points;
}

std::string date_in(const json::Value& record, const char* name) {
  return data::printable(record.get_or(name, std::string()), kLongestDate);
}

ExerciseRecord record_from(const json::Value& json) {
  ExerciseRecord record;
  if (!json.is_object()) throw json::Error("an exercise is no object");
  record.attempts = count_in(json, "attempts");
  record.best = points_in(json, "best");
  record.most = points_in(json, "most");
  record.passed = date_in(json, "passed");
  record.seed = json.get_or("seed", std::uint64_t{0});
  record.hints = count_in(json, "hints");
  record.questions = count_in(json, "questions");
  if (const json::Value* const predictions = json.find("predictions")) {
    for (const json::Member& one : predictions->members()) {
      record.predictions.push_back(
          {current_key(one.name), {one.value.get<double>("said"), one.value.get<bool>("right")}});
    }
  }
  record.claims = count_in(json, "claims");
  record.found = date_in(json, "found");
  record.asked_for_solution = date_in(json, "asked_for_solution");
  record.shown_solution = date_in(json, "shown_solution");
  return record;
}

// Into what stands there already: members of another hand stay.
void write_record(json::Value& json, const ExerciseRecord& record) {
  if (!json.is_object()) json = json::Value::object();
  json["attempts"] = record.attempts;
  json["best"] = std::round(record.best * 100) / 100;
  json["most"] = record.most;
  const auto add_date = [&](const char* name, const std::string& date) {
    if (!date.empty()) json[name] = date;
  };
  add_date("passed", record.passed);
  if (record.seed != 0 || json.find("seed") != nullptr) json["seed"] = record.seed;
  json["hints"] = record.hints;
  json["questions"] = record.questions;
  if (!record.predictions.empty()) {
    json::Value predictions = json::Value::object();
    for (const auto& [key, first] : record.predictions) {
      predictions[key] = json::Value::object({{"said", first.said}, {"right", first.right}});
    }
    json["predictions"] = predictions;
  }
  if (record.claims > 0) json["claims"] = record.claims;
  add_date("found", record.found);
  add_date("asked_for_solution", record.asked_for_solution);
  add_date("shown_solution", record.shown_solution);
}

WrongUse not_ours(const fs::path& path, const std::string& what) {
  const std::string name = seen_from_here(path);
  return WrongUse(name + " " + what + ": move it away (mv " + name + " " + name +
                  ".old) to start over; it has been left as it is");
}

// The whole file; a new one if there is none.
json::Value read_whole(const fs::path& path) {
  std::error_code unknown;
  if (fs::status(path, unknown).type() == fs::file_type::not_found) {
    return json::Value::object({{"format", kProgressFormat}, {"exercises", json::Value::object()}});
  }
  std::string text;
  try {
    text = text_of_file(path);
  } catch (const data::DataError& error) {
    throw WrongUse(error.what());
  }
  json::Value whole;
  try {
    whole = json::Value::parse(text);
  } catch (const json::Error&) {
    throw not_ours(path, "is not JSON, or was cut short");
  }
  const json::Value* const format = whole.find("format");
  const std::string said = format && format->is_string() ? format->get<std::string>() : "";
  if (said != kProgressFormat) {
    throw not_ours(path, said.starts_with(kProgressName)
                             ? "is of another version of Halo (" + data::quoted(said) + ")"
                             : "is not Halo's");
  }
  return whole;
}

std::map<std::string, ExerciseRecord> records_in(const fs::path& path, const json::Value& whole) {
  std::map<std::string, ExerciseRecord> records;
  try {
    for (const json::Member& one : whole.at("exercises").members()) {
      records[one.name] = record_from(one.value);
    }
  } catch (const json::Error& error) {
    throw not_ours(path,
                   std::string("has been changed by hand or is damaged (") + error.what() + ")");
  }
  return records;
}

}  // namespace

const FirstSaid* ExerciseRecord::said(const std::string& key) const {
  for (const auto& [known, first] : predictions) {
    if (known == key) return &first;
  }
  return nullptr;
}

ProgressFile::ProgressFile(const fs::path& exercises)
    : folder_(exercises), path_(exercises / "progress.json") {}

std::map<std::string, ExerciseRecord> ProgressFile::read() const {
  return records_in(path_, read_whole(path_));
}

ExerciseRecord ProgressFile::read(const std::string& exercise) const { return read()[exercise]; }

std::string ProgressFile::change(const std::string& exercise,
                                 const std::function<void(ExerciseRecord&)>& change) const {
  FolderLock lock(folder_);
  const auto start = std::chrono::steady_clock::now();
  while (!lock.take()) {
    if (std::chrono::steady_clock::now() - start > kPatience) {
      return "your progress could not be saved: another ./halo holds " + seen_from_here(folder_);
    }
  }
  try {
    json::Value whole = read_whole(path_);
    ExerciseRecord record = records_in(path_, whole)[exercise];
    change(record);
    write_record(whole["exercises"][exercise], record);
    data::write_file(path_.string(), whole.dump(1) + "\n");
  } catch (const std::exception& error) {
    return std::string("your progress could not be saved: ") + error.what();
  }
  return "";
}

std::string date_now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts = {};
  gmtime_r(&now, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

const Exercise* first_not_passed(const Exercises& exercises,
                                 const std::map<std::string, ExerciseRecord>& records) {
  for (const Exercise& exercise : exercises.all()) {
    const auto known = records.find(exercise.name);
    if (known == records.end() || known->second.passed.empty()) return &exercise;
  }
  return nullptr;
}

const Exercise* next_not_passed(const Exercises& exercises,
                                const std::map<std::string, ExerciseRecord>& records,
                                const Exercise& behind) {
  const Exercise* first = nullptr;
  for (const Exercise& exercise : exercises.all()) {
    const auto known = records.find(exercise.name);
    const bool is_open = known == records.end() || known->second.passed.empty();
    if (!is_open || exercise.name == behind.name) continue;
    if (exercise.name > behind.name) return &exercise;
    if (first == nullptr) first = &exercise;
  }
  return first;
}

}  // namespace halo
