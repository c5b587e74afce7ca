#include "common/grader/grade.hpp"

#include <stdexcept>
#include <utility>

#include "common/data/file.hpp"

namespace halo::grader {

namespace {

using json::Value;

constexpr std::pair<GradedCase::Kind, const char*> kKinds[] = {
    {GradedCase::Kind::correctness, "correctness"},
    {GradedCase::Kind::safety, "safety"},
    {GradedCase::Kind::budget, "budget"},
};
constexpr std::pair<Outcome, const char*> kOutcomes[] = {
    {Outcome::good, "passed"}, {Outcome::bad, "failed"}, {Outcome::not_run, "not run"}};

template <class Pairs, class First>
const char* word_of(const Pairs& pairs, First first) {
  for (const auto& [value, word] : pairs) {
    if (value == first) return word;
  }
  return "";
}
template <class Pairs>
auto value_of(const Pairs& pairs, const std::string& word) {
  for (const auto& [value, known] : pairs) {
    if (word == known) return value;
  }
  throw json::Error("\"" + word + "\" is not a word of a grade");
}

template <class Parts>
double sum_of(const Parts& parts, double (*of)(const typename Parts::value_type&)) {
  double sum = 0;
  for (const auto& part : parts) sum += of(part);
  return sum;
}

Value to_json(const GradedCase& one) {
  return Value::object({{"name", one.name},
                        {"kind", to_string(one.kind)},
                        {"hidden", one.hidden},
                        {"points", one.points},
                        {"most", one.most},
                        {"outcome", word_of(kOutcomes, one.outcome)},
                        {"message", one.message},
                        {"seconds", one.seconds}});
}

GradedCase case_from(const Value& json) {
  GradedCase one;
  json.at("name").get_to(one.name);
  one.kind = value_of(kKinds, json.get<std::string>("kind"));
  json.at("hidden").get_to(one.hidden);
  json.at("points").get_to(one.points);
  json.at("most").get_to(one.most);
  one.outcome = value_of(kOutcomes, json.get<std::string>("outcome"));
  json.at("message").get_to(one.message);
  json.at("seconds").get_to(one.seconds);
  return one;
}

}  // namespace

const char* to_string(GradedCase::Kind kind) { return word_of(kKinds, kind); }

double ExerciseGrade::points() const {
  return sum_of(cases, [](const GradedCase& one) { return one.points; });
}
double ExerciseGrade::most() const {
  return sum_of(cases, [](const GradedCase& one) { return one.most; });
}
double Grade::points() const {
  return sum_of(exercises, [](const ExerciseGrade& one) { return one.points(); });
}
double Grade::most() const {
  return sum_of(exercises, [](const ExerciseGrade& one) { return one.most(); });
}

Value to_json(const Grade& grade) {
  Value exercises = Value::array();
  for (const ExerciseGrade& exercise : grade.exercises) {
    Value cases = Value::array();
    for (const GradedCase& one : exercise.cases) cases.push_back(to_json(one));
    exercises.push_back(Value::object({{"name", exercise.name},
                                       {"title", exercise.title},
                                       {"points", exercise.points()},
                                       {"most", exercise.most()},
                                       {"refusal", exercise.refusal},
                                       {"remarks", exercise.remarks},
                                       {"time", exercise.time},
                                       {"cases", std::move(cases)}}));
  }
  return Value::object({{"student", grade.student},
                        {"points", grade.points()},
                        {"most", grade.most()},
                        {"error", grade.error},
                        {"sandbox", grade.sandbox},
                        {"seed", grade.seed},
                        {"version", grade.version},
                        {"seconds", grade.seconds},
                        {"exercises", std::move(exercises)}});
}

Grade grade_from_json(const Value& json) {
  Grade grade;
  json.at("student").get_to(grade.student);
  json.at("error").get_to(grade.error);
  json.at("sandbox").get_to(grade.sandbox);
  json.at("seed").get_to(grade.seed);
  json.at("version").get_to(grade.version);
  json.at("seconds").get_to(grade.seconds);
  for (const Value& of : json.at("exercises").elements()) {
    ExerciseGrade& exercise = grade.exercises.emplace_back();
    of.at("name").get_to(exercise.name);
    of.at("title").get_to(exercise.title);
    of.at("refusal").get_to(exercise.refusal);
    of.at("remarks").get_to(exercise.remarks);
    exercise.time = of.get_or("time", std::string());
    for (const Value& one : of.at("cases").elements()) exercise.cases.push_back(case_from(one));
  }
  return grade;
}

Feedback parse_feedback(const std::string& word) {
  if (word == "full") return Feedback::full;
  if (word == "kind") return Feedback::kind;
  if (word == "score") return Feedback::score;
  throw std::runtime_error("feedback: " + data::quoted(word) + " is not one of full, kind, score");
}

Grade for_student(Grade grade, Feedback feedback) {
  for (ExerciseGrade& exercise : grade.exercises) {
    exercise.remarks.clear();
    if (feedback == Feedback::score) {
      GradedCase sum;
      sum.name = "all cases";
      sum.points = exercise.points();
      sum.most = exercise.most();
      sum.outcome = sum.points == sum.most ? Outcome::good : Outcome::bad;
      for (const GradedCase& one : exercise.cases) sum.seconds += one.seconds;
      exercise.cases = {sum};
      continue;
    }
    for (GradedCase& one : exercise.cases) {
      if (feedback == Feedback::kind) one.message.clear();
    }
  }
  return grade;
}

}  // namespace halo::grader
