#include "common/exercise/marks.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "common/data/file.hpp"
#include "common/json/json.hpp"
#include "common/report/json.hpp"

namespace halo {

namespace {

using Json = json::Value;

constexpr int kFormat = 2;
// What a check tells is not believed: a name fits a line, and no text has bytes that a terminal obeys.
constexpr std::size_t kLongestName = 120;
constexpr std::size_t kLongestMessage = 1000;

std::string name_from(const Json& json, const char* name) {
  return data::printable(json.get<std::string>(name), kLongestName);
}

std::string optional_name_from(const Json& json, const char* name, std::size_t most) {
  return data::printable(json.get_or(name, std::string()), most);
}

// JSON has no NaN and no infinity: they come as null, which is no number.
double finite_from(const Json& json, const char* name) {
  const auto value = json.get<double>(name);
  if (!std::isfinite(value)) throw std::runtime_error("\"" + std::string(name) + "\" is no number");
  return value;
}

double figure_from(const Json& json, const char* name) {
  const double value = finite_from(json, name);
  if (value < 0) throw std::runtime_error("\"" + std::string(name) + "\" is negative");
  return value;
}

// A figure that need not be known: negative.
double optional_figure_from(const Json& json, const char* name) {
  return json.find(name) ? figure_from(json, name) : -1;
}

void add_known(Json& json, const char* name, double value) {
  if (value >= 0) json[name] = value;
}

const char* outcome_word(Outcome outcome) {
  if (outcome == Outcome::good) return "PASS";
  return outcome == Outcome::bad ? "FAIL" : "NOT RUN";
}

Outcome outcome_from(const std::string& word) {
  for (const Outcome outcome : {Outcome::good, Outcome::bad, Outcome::not_run}) {
    if (word == outcome_word(outcome)) return outcome;
  }
  throw std::runtime_error("unknown outcome " + data::quoted(word));
}

Category category_from(const std::string& word) {
  for (const Category category : {Category::correctness, Category::safety, Category::budget}) {
    if (word == to_string(category)) return category;
  }
  throw std::runtime_error("unknown category " + data::quoted(word));
}

Json budget_to_json(const BudgetLine& line) {
  Json json = Json::object({{"what", line.what},
                            {"counted", line.counted},
                            {"allowed", line.allowed},
                            {"met", line.met}});
  add_known(json, "predicted", line.predicted);
  if (!line.problem.empty()) json["problem"] = line.problem;
  if (line.file.empty()) return json;
  json["file"] = line.file;
  json["line"] = line.line;
  json["of_line"] = line.of_line;
  return json;
}

BudgetLine budget_from_json(const Json& json) {
  BudgetLine line;
  line.what = name_from(json, "what");
  line.counted = figure_from(json, "counted");
  line.allowed = figure_from(json, "allowed");
  line.met = json.get<bool>("met");
  line.predicted = optional_figure_from(json, "predicted");
  if (const Json* const problem = json.find("problem")) {
    line.problem = problem->get<std::vector<long long>>();
  }
  if (json.find("file") == nullptr) return line;
  line.file = name_from(json, "file");
  line.line = json.get<int>("line");
  line.of_line = figure_from(json, "of_line");
  return line;
}

Question question_from_json(const Json& json) {
  Question question;
  question.key = name_from(json, "key");
  question.answer = finite_from(json, "answer");
  question.tolerance = figure_from(json, "tolerance");
  question.counted = optional_figure_from(json, "counted");
  return question;
}

CaseMark case_from_json(const Json& json) {
  CaseMark mark;
  mark.name = name_from(json, "case");
  mark.category = category_from(json.get<std::string>("category"));
  mark.points = figure_from(json, "points");
  mark.most = figure_from(json, "most");
  if (mark.points > mark.most) throw std::runtime_error("a case has more points than there are");
  mark.outcome = outcome_from(json.get<std::string>("outcome"));
  mark.message = optional_name_from(json, "message", kLongestMessage);
  mark.seconds = figure_from(json, "seconds");
  mark.hidden = json.get_or("hidden", false);
  if (const Json* const budget = json.find("budget")) {
    for (const Json& line : budget->elements()) mark.budget.push_back(budget_from_json(line));
  }
  return mark;
}

void hear_head(const Json& json, Marks& marks) {
  if (json.get<int>("marks") != kFormat) {
    throw std::runtime_error("it is of another version of Halo: build it again");
  }
  marks.exercise = name_from(json, "exercise");
  marks.backend = name_from(json, "backend");
  marks.seed = json.get<std::uint64_t>("seed");
  marks.on_the_host = json.get<bool>("on_the_host");
  marks.questions.clear();
  for (const Json& question : json.at("questions").elements()) {
    marks.questions.push_back(question_from_json(question));
  }
}

double sum(const std::vector<CaseMark>& cases, double CaseMark::*figure, const Category* category) {
  double all = 0;
  for (const CaseMark& one : cases) {
    if (category == nullptr || one.category == *category) all += one.*figure;
  }
  return all;
}

}  // namespace

const char* to_string(Category category) {
  switch (category) {
    case Category::correctness:
      return "correctness";
    case Category::safety:
      return "safety";
    default:
      return "budget";
  }
}

double Marks::points(Category category) const { return sum(cases, &CaseMark::points, &category); }
double Marks::most(Category category) const { return sum(cases, &CaseMark::most, &category); }
double Marks::points() const { return sum(cases, &CaseMark::points, nullptr) - withheld(); }
double Marks::most() const { return sum(cases, &CaseMark::most, nullptr); }

double Marks::withheld() const {
  const bool is_met = std::all_of(cases.begin(), cases.end(), [](const CaseMark& one) {
    return one.category != Category::budget || one.outcome == Outcome::good;
  });
  if (is_met) return 0;
  return std::max(0.0, sum(cases, &CaseMark::points, nullptr) - kShareWithoutBudget * most());
}

bool Marks::passed() const {
  return !cases.empty() && std::all_of(cases.begin(), cases.end(), [](const CaseMark& one) {
    return one.outcome == Outcome::good;
  });
}

std::string marks_head_line(const Marks& marks) {
  Json questions = Json::array();
  for (const Question& question : marks.questions) {
    Json json = Json::object(
        {{"key", question.key}, {"answer", question.answer}, {"tolerance", question.tolerance}});
    add_known(json, "counted", question.counted);
    questions.push_back(json);
  }
  return Json::object({{"marks", kFormat},
                       {"exercise", marks.exercise},
                       {"backend", marks.backend},
                       {"seed", marks.seed},
                       {"questions", questions},
                       {"on_the_host", marks.on_the_host}})
      .dump();
}

std::string case_line(const CaseMark& mark) {
  Json json = Json::object({{"case", mark.name},
                            {"category", to_string(mark.category)},
                            {"points", mark.points},
                            {"most", mark.most},
                            {"outcome", outcome_word(mark.outcome)},
                            {"seconds", mark.seconds}});
  if (!mark.message.empty()) json["message"] = mark.message;
  if (mark.hidden) json["hidden"] = true;
  for (const BudgetLine& line : mark.budget) json["budget"].push_back(budget_to_json(line));
  return json.dump();
}

std::string fault_line(const Row& row) { return row_line(row); }

void hear_marks(const std::string& line, const std::string& origin, Marks& marks) {
  try {
    const Json json = Json::parse(line);
    if (json.find("marks")) {
      hear_head(json, marks);
    } else if (json.find("case")) {
      marks.cases.push_back(case_from_json(json));
    } else {
      const Told told = told_from_json(line, origin);
      if (told.kind == Told::Kind::row) marks.faults.push_back(told.row);
    }
  } catch (const std::runtime_error& error) {
    const std::string said = error.what();
    throw std::runtime_error(
        said.starts_with(origin) ? said : origin + ": not what a check tells: " + said);
  }
}

}  // namespace halo
