#include "common/exercise/exercises.hpp"

#include <algorithm>
#include <cctype>
#include <chrono>
#include <string_view>
#include <system_error>

#include "common/build/compiler_output.hpp"
#include "common/build/errors.hpp"
#include "common/data/file.hpp"
#include "common/data/suggestion.hpp"
#include "common/json/json.hpp"

namespace halo {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLongestTitle = 60;

bool is_exercise_name(const std::string& name) {
  const auto is_digit = [&](std::size_t at) {
    return std::isdigit(static_cast<unsigned char>(name[at])) != 0;
  };
  return name.size() > 3 && is_digit(0) && is_digit(1) && name[2] == '_';
}

// The .cu files of a folder, by name. Hidden ones (an editor's) are none.
std::vector<fs::path> kernels_in(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    const std::string name = entry.path().filename().string();
    if (name.ends_with(".cu") && !name.starts_with(".")) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

// "# 04 · Tile and halo" -> "Tile and halo"; without a README the folder's name in words.
std::string title_of(const fs::path& folder, const std::string& name) {
  std::string words = name.substr(3);
  std::replace(words.begin(), words.end(), '_', ' ');
  words[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(words[0])));
  std::string first;
  try {
    const std::string text = text_of_file(folder / "README.md", true);
    first = text.substr(0, text.find_first_of("\r\n"));
  } catch (const data::DataError&) {
    return words;  // a title is not worth a refusal
  }
  if (!first.starts_with("# ")) return words;
  // Behind the number and whatever stands between.
  std::size_t at = first.find_first_not_of("# 0123456789.:-");
  if (at != std::string::npos && first.compare(at, 2, "\xC2\xB7") == 0) {
    at = first.find_first_not_of(' ', at + 2);
  }
  return at == std::string::npos ? words : data::printable(first.substr(at), kLongestTitle);
}

Exercise exercise_in(const fs::path& folder) {
  const std::string name = folder.filename().string();
  Exercise exercise = {name, name.substr(0, 2), title_of(folder, name), folder, kernels_in(folder)};
  exercise.start = folder / "start.cu";
  const auto is_start = std::erase(exercise.sources, exercise.start);
  if (is_start > 0 && exercise.sources.empty()) {
    exercise.sources = {folder / exercise.file_name()};
  }
  return exercise;
}

fs::path solutions_of(const fs::path& exercise) {
  return exercise.parent_path().parent_path() / "solutions";
}

bool is_meant(const Exercise& exercise, const std::string& typed) {
  return typed == exercise.name || typed == exercise.number || typed == exercise.name.substr(3) ||
         typed == exercise.file_name() ||
         (exercise.number[0] == '0' && typed == exercise.number.substr(1));
}

}  // namespace

fs::path Exercise::source() const {
  if (sources.size() == 1) return sources.front();
  if (sources.empty()) {
    throw WrongUse(path_of(start) + " is missing: take it again from where you have the course");
  }
  throw WrongUse(path_of(folder) + " has more than one .cu file, " +
                 sources[0].filename().string() + " and " + sources[1].filename().string() +
                 ": keep copies under another ending");
}

std::string Exercise::path_of(const fs::path& file) const {
  return file.lexically_relative(folder.parent_path().parent_path()).string();
}

std::string Exercise::start_text() const {
  if (fs::exists(start)) return text_of_file(start);
  throw WrongUse(path_of(start) + " is missing: take it again from where you have the course");
}

std::string Exercise::begin() const {
  std::string made;
  const auto make = [&](const fs::path& from, const fs::path& file) {
    if (fs::exists(file) || !fs::exists(from)) return;
    data::write_file(file.string(), text_of_file(from));
    made += made.empty() ? path_of(file) : ", " + file.filename().string();
  };
  const fs::path own = source();
  make(start, own);
  make(folder / "start_predictions.txt", predictions());
  make(folder / "start_answers.md", answers());
  std::error_code absent;
  const auto later = fs::last_write_time(start, absent) - fs::last_write_time(own, absent);
  // Git writes both at the same time, in any order.
  if (made.empty() && !absent && later > std::chrono::seconds(10)) {
    return path_of(start) + " was saved after " + own.filename().string() +
           ", and only that one is judged: edit " + path_of(own) + "\n";
  }
  if (made.empty()) return "";
  const bool has_task = fs::exists(folder / "README.md");
  return "made for you to edit: " + made + (has_task ? "; the task: README.md beside it" : "") +
         "\n";
}

bool Exercise::has_solution() const { return kernels_in(solutions_of(folder) / name).size() == 1; }

fs::path Exercise::solution() const {
  const fs::path solutions = solutions_of(folder);
  if (!fs::exists(solutions)) {
    throw CannotRun("this copy of the course has no solutions");
  }
  if (has_solution()) return kernels_in(solutions / name).front();
  throw CannotRun("there is no solution of " + name + " in " + seen_from_here(solutions));
}

Exercises::Exercises(const fs::path& root) : folder_(root / "exercises") {
  std::error_code unreadable;
  for (const auto& entry : fs::directory_iterator(folder_, unreadable)) {
    if (!is_exercise_name(entry.path().filename().string()) || !entry.is_directory()) continue;
    Exercise exercise = exercise_in(entry.path());
    (exercise.sources.empty() ? empty_ : all_).push_back(std::move(exercise));
  }
  if (all_.empty() && empty_.empty()) {
    throw WrongUse("there are no exercises in " + seen_from_here(folder_) +
                   (unreadable ? " (" + unreadable.message() + ")" : ""));
  }
  const auto by_name = [](const Exercise& a, const Exercise& b) { return a.name < b.name; };
  std::sort(all_.begin(), all_.end(), by_name);
  std::sort(empty_.begin(), empty_.end(), by_name);
}

fs::path Exercises::usual_assignment() const {
  const fs::path file = folder_.parent_path() / "solutions" / "assignment.json";
  return fs::exists(file) ? file : fs::path();
}

std::string Exercises::seed() const {
  const fs::path file = folder_ / "student.json";
  const std::string text = text_of_file(file, true);
  if (text.empty()) return "";
  try {
    return std::to_string(json::Value::parse(text).get<std::uint64_t>("seed"));
  } catch (const json::Error& error) {
    throw WrongUse(seen_from_here(file) + " cannot be read (" + error.what() +
                   "): take it from your copy of the course again");
  }
}

const Exercise& Exercises::find(const std::string& typed) const {
  const fs::path path = typed;
  const bool is_path = typed.find('/') != std::string::npos;
  std::vector<std::string> names;
  std::string numbers;
  for (const auto* exercises : {&all_, &empty_}) {
    for (const Exercise& exercise : *exercises) {
      // Of a path the part that is its folder: what the course lies in may be called 24_gpu.
      const bool is_it = is_path ? std::find(path.begin(), path.end(), exercise.name) != path.end()
                                 : is_meant(exercise, typed);
      if (is_it) return exercise;
      names.push_back(exercise.name);
      numbers += (numbers.empty() ? "" : " ") + exercise.number;
    }
  }
  throw WrongUse("no exercise '" + typed + "'" + data::did_you_mean(typed, names) + " (there are " +
                 numbers + ": ./halo progress)");
}

std::string text_of_file(const fs::path& path, bool optional, std::int64_t largest) {
  std::error_code unknown;
  const bool is_empty = fs::is_regular_file(path, unknown) && fs::file_size(path, unknown) == 0;
  if (is_empty || (optional && !fs::exists(path, unknown))) return "";
  const data::InputFile file(path.string());
  if (file.size() > largest) throw file.error("it is too large for a text");
  std::string text(static_cast<std::size_t>(file.size()), '\0');
  text.resize(file.read(0, text.data(), text.size()));
  constexpr std::string_view kMark = "\xEF\xBB\xBF";  // some editors begin UTF-8 with it
  return text.starts_with(kMark) ? text.substr(kMark.size()) : text;
}

}  // namespace halo
