#include "common/grader/formats.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include "common/data/file.hpp"
#include "common/data/suggestion.hpp"
#include "common/exercise/marks_text.hpp"
#include "common/report/command_line.hpp"

namespace halo::grader {

namespace {

using json::Value;

constexpr std::pair<ResultFormat, const char*> kFormats[] = {
    {ResultFormat::text, "text"},
    {ResultFormat::json, "json"},
    {ResultFormat::gradescope, "gradescope"},
    {ResultFormat::prairielearn, "prairielearn"},
    {ResultFormat::autolab, "autolab"},
    {ResultFormat::submitty, "submitty"},
    {ResultFormat::github, "github"},
    {ResultFormat::junit, "junit"},
};

// Of a message. What students need stands at its beginning.
constexpr std::size_t kLongestMessage = 2000;
// PrairieLearn takes no more, and says no less than "1 MB".
constexpr std::size_t kMostOfPrairieLearn = 1'000'000;
// Of the text for people, with what a command says round it on a screen.
constexpr std::size_t kMostLines = 20;

// No more digits than anybody compares; what is no number is no points.
double round_points(double points) {
  return std::isfinite(points) ? std::round(points * 1e4) / 1e4 : 0;
}

// A share of all points, 0 to 1.
double share(const Grade& grade) {
  const double share = grade.points() / grade.most();  // NaN where there are none
  return std::isfinite(share) ? std::clamp(share, 0.0, 1.0) : 0;
}

bool has_all(const Grade& grade) {
  const auto complete = [](const ExerciseGrade& one) {
    return one.refusal.empty() && !one.cases.empty() &&
           std::all_of(one.cases.begin(), one.cases.end(),
                       [](const GradedCase& of) { return of.outcome == Outcome::good; });
  };
  return grade.error.empty() && !grade.exercises.empty() &&
         std::all_of(grade.exercises.begin(), grade.exercises.end(), complete);
}

// "04", of 04_tile_and_halo.
std::string number_of(const ExerciseGrade& exercise) {
  return exercise.name.substr(0, exercise.name.find('_'));
}
// "04 Tile and halo".
std::string title_of(const ExerciseGrade& exercise) {
  if (exercise.title.empty()) return data::printable(exercise.name, kLongestMessage);
  return data::printable(number_of(exercise) + " " + exercise.title, kLongestMessage);
}

// What there is to say of a case that is not good; one line.
std::string words_of(const ExerciseGrade& exercise, const GradedCase& one,
                     std::size_t most = kLongestMessage) {
  if (one.outcome == Outcome::good) return "";
  if (!exercise.refusal.empty()) return data::printable(exercise.refusal, most);
  if (!one.message.empty()) return data::printable(one.message, most);
  return one.outcome == Outcome::not_run ? "not run" : "failed";
}

// A case that stands for an exercise of which none is known, so that every exercise is in the file.
GradedCase only_case(const ExerciseGrade& exercise) {
  GradedCase one;
  one.name = exercise.refusal.empty() ? "nothing was judged" : "the file";
  return one;
}
// Calls tell(exercise, case, number of the case) for all of them.
template <class Tell>
void for_each_case(const Grade& grade, const Tell& tell) {
  for (const ExerciseGrade& exercise : grade.exercises) {
    if (exercise.cases.empty()) tell(exercise, only_case(exercise), std::size_t{1});
    std::size_t number = 0;
    for (const GradedCase& one : exercise.cases) tell(exercise, one, ++number);
  }
}

// "42 of 90 points", and what kept it from being graded.
std::string summary_of(const Grade& grade) {
  if (!grade.error.empty()) {
    return "not graded: " + data::printable(grade.error, kLongestMessage);
  }
  if (grade.exercises.empty()) return "not graded: no exercise was handed in";
  return points_text(grade.points(), grade.most()) + " points";
}
std::vector<std::string> refusals_of(const Grade& grade) {
  std::vector<std::string> refusals;
  if (!grade.error.empty() || grade.exercises.empty()) refusals.push_back(summary_of(grade));
  for (const ExerciseGrade& exercise : grade.exercises) {
    if (exercise.refusal.empty()) continue;
    refusals.push_back(title_of(exercise) + ": " +
                       data::printable(exercise.refusal, kLongestMessage));
  }
  return refusals;
}

// ---- Text ----

Cell verdict(Outcome outcome) {
  switch (outcome) {
    case Outcome::good:
      return {"PASS", Tone::good};
    case Outcome::bad:
      return {"FAIL", Tone::bad};
    default:
      return {"NOT RUN", Tone::caution};
  }
}

// One exercise: its cases.
Table cases_table(const ExerciseGrade& exercise) {
  Table table;
  table.title = title_of(exercise);
  table.columns = {{"case", false}, {"", false}, {"points", true}};
  for (const GradedCase& one : exercise.cases) {
    table.rows.push_back({{data::printable(one.name, 60) + (one.hidden ? " (hidden)" : "")},
                          verdict(one.outcome),
                          {points_text(one.points, one.most)}});
    // Of a refused file there is one thing to say, below.
    if (one.outcome != Outcome::good && exercise.refusal.empty() && !one.message.empty()) {
      table.notes.push_back({verdict(one.outcome), data::printable(one.name, 60) + ": " +
                                                       data::printable(one.message, 300)});
    }
  }
  if (!exercise.refusal.empty()) {
    table.notes.push_back({{"FAIL", Tone::bad}, data::printable(exercise.refusal, 300)});
  }
  if (!exercise.time.empty()) {
    table.notes.push_back(
        {{"time", Tone::strong}, data::printable(exercise.time, kLongestMessage)});
  }
  return table;
}

// Several: a line each, and the first thing that is wrong in each.
Table exercises_table(const Grade& grade) {
  Table table;
  table.columns = {{"exercise", false}, {"", false}, {"points", true}};
  for (const ExerciseGrade& exercise : grade.exercises) {
    const auto bad =
        std::find_if(exercise.cases.begin(), exercise.cases.end(),
                     [](const GradedCase& one) { return one.outcome != Outcome::good; });
    const bool good =
        exercise.refusal.empty() && bad == exercise.cases.end() && !exercise.cases.empty();
    table.rows.push_back({{title_of(exercise)},
                          verdict(good ? Outcome::good : Outcome::bad),
                          {points_text(exercise.points(), exercise.most())}});
    if (!exercise.time.empty()) {
      table.notes.push_back({{number_of(exercise) + " time", Tone::strong},
                             data::printable(exercise.time, kLongestMessage)});
    }
    if (good) continue;
    std::string words = data::printable(exercise.refusal, 300);
    if (words.empty() && bad != exercise.cases.end()) {
      words = data::printable(bad->name, 60);
      const std::string more = words_of(exercise, *bad, 300);
      if (!more.empty()) words += ": " + more;
    }
    if (!words.empty()) table.notes.push_back({{number_of(exercise), Tone::strong}, words});
  }
  return table;
}

std::string as_text(const Grade& grade, const TableOptions& options) {
  std::string text;
  if (!grade.student.empty()) text = data::printable(grade.student, 100) + ": ";
  text += summary_of(grade) + "\n";
  if (grade.exercises.empty()) return text;
  Table table =
      grade.exercises.size() == 1 ? cases_table(grade.exercises.front()) : exercises_table(grade);
  // A long list of cases leaves room for two of its faults.
  const std::size_t around = table.rows.size() + 4;
  const std::size_t most = std::max<std::size_t>(2, kMostLines > around ? kMostLines - around : 0);
  if (table.notes.size() > most) {
    const std::size_t left_out = table.notes.size() - most;
    table.notes.resize(most);
    table.notes.push_back({{}, "and " + std::to_string(left_out) + " more"});
  }
  return text + "\n" + lay_out(table, options);
}

// ---- Platforms ----

std::string gradescope(const Grade& grade, const FormatOptions& options) {
  Value result = Value::object();
  std::string output = summary_of(grade);
  for (const ExerciseGrade& exercise : grade.exercises) {
    if (exercise.refusal.empty()) continue;
    output += "\n" + title_of(exercise) + ": " + data::printable(exercise.refusal, kLongestMessage);
  }
  Value tests = Value::array();
  for_each_case(
      grade, [&](const ExerciseGrade& exercise, const GradedCase& one, std::size_t number) {
        Value tags = Value::array();
        tags.push_back(exercise.name);
        tags.push_back(to_string(one.kind));
        tests.push_back(Value::object(
            {{"score", round_points(one.points)},
             {"max_score", round_points(one.most)},
             {"status", one.outcome == Outcome::good ? "passed" : "failed"},
             {"name", title_of(exercise) + ": " + data::printable(one.name, kLongestMessage)},
             {"name_format", "text"},
             {"number", number_of(exercise) + "." + std::to_string(number)},
             {"output", words_of(exercise, one)},
             {"output_format", "text"},
             {"tags", std::move(tags)},
             {"visibility",
              !one.hidden ? "visible" : (options.publish_hidden ? "after_published" : "hidden")}}));
      });
  // With cases their sum counts; without any there must be a score.
  if (tests.empty()) result["score"] = 0.0;
  result["execution_time"] = std::llround(std::max(0.0, grade.seconds));
  result["output"] = output;
  result["output_format"] = "text";
  result["test_output_format"] = "text";
  result["test_name_format"] = "text";
  result["visibility"] = "visible";
  result["stdout_visibility"] = "hidden";
  result["tests"] = std::move(tests);
  result["extra_data"] = Value::object({{"sandbox", grade.sandbox},
                                        {"seed", std::to_string(grade.seed)},
                                        {"version", grade.version}});
  return result.dump(1);
}

Value prairielearn_with(const Grade& grade, std::size_t longest, bool with_tests) {
  Value result = Value::object();
  const auto refused = [](const ExerciseGrade& one) { return !one.refusal.empty(); };
  // Nothing of it could be judged: no points, and no attempt lost.
  const bool gradable = grade.error.empty() && !grade.exercises.empty() &&
                        !std::all_of(grade.exercises.begin(), grade.exercises.end(), refused);
  result["gradable"] = gradable;
  result["score"] = gradable ? std::round(share(grade) * 1e6) / 1e6 : 0.0;
  result["message"] = data::printable(summary_of(grade), longest);
  const std::vector<std::string> refusals = refusals_of(grade);
  Value errors = Value::array();
  std::string output;
  for (const std::string& refusal : refusals) {
    if (with_tests) errors.push_back(data::printable(refusal, longest));
    output += data::printable(refusal, longest) + "\n";
  }
  if (!with_tests) output = "too many cases to list\n";
  result["output"] = output;
  if (!gradable) {
    if (!with_tests) errors.push_back("nothing could be judged");
    result["format_errors"] = std::move(errors);
    return result;
  }
  Value tests = Value::array();
  if (with_tests) {
    for_each_case(grade, [&](const ExerciseGrade& exercise, const GradedCase& one, std::size_t) {
      tests.push_back(
          Value::object({{"name", title_of(exercise) + ": " + data::printable(one.name, longest)},
                         {"description", to_string(one.kind)},
                         {"points", round_points(one.points)},
                         {"max_points", round_points(one.most)},
                         {"message", words_of(exercise, one, longest)},
                         {"output", ""}}));
    });
  }
  result["tests"] = std::move(tests);
  return result;
}

std::string prairielearn(const Grade& grade) {
  for (std::size_t longest = kLongestMessage; longest >= 30; longest /= 2) {
    std::string text = prairielearn_with(grade, longest, true).dump(1);
    if (text.size() < kMostOfPrairieLearn) return text;
  }
  return prairielearn_with(grade, 30, false).dump(1);
}

std::string autolab(const Grade& grade, const FormatOptions& options) {
  Value scores = Value::object();
  Value board = Value::array();
  for (const ExerciseGrade& exercise : grade.exercises) {
    scores[exercise.name] = round_points(exercise.points());
    board.push_back(round_points(exercise.points()));
  }
  board.push_back(round_points(grade.points()));
  const Value result =
      Value::object({{"scores", std::move(scores)}, {"scoreboard", std::move(board)}});
  return as_text(grade, options.table) + "\n" + result.dump();
}

std::string submitty(const Grade& grade) {
  std::string message = summary_of(grade);
  for_each_case(grade, [&](const ExerciseGrade& exercise, const GradedCase& one, std::size_t) {
    if (one.outcome == Outcome::good) return;
    message += "\n" + title_of(exercise) + ": " + data::printable(one.name, kLongestMessage);
    const std::string words = words_of(exercise, one);
    if (!words.empty()) message += ": " + words;
  });
  // "fail" would be the validator's own failure, which an instructor has to see to.
  if (!grade.error.empty()) {
    return Value::object({{"status", "fail"}, {"message", message}}).dump(1);
  }
  return Value::object(
             {{"status", "success"},
              {"data", Value::object({{"score", share(grade)},
                                      {"message", message},
                                      {"status", has_all(grade) ? "success" : "failure"}})}})
      .dump(1);
}

// A line for each case that begins with our own words: GitHub's runner obeys lines that begin with "::", and
// in older ones whatever follows "##[".
std::string github(const Grade& grade) {
  const auto harmless = [](std::string words) {
    for (std::size_t at = 0; (at = words.find("##[", at)) != std::string::npos; ++at) {
      words.insert(at + 2, " ");
    }
    return words;
  };
  std::string text;
  for_each_case(grade, [&](const ExerciseGrade& exercise, const GradedCase& one, std::size_t) {
    text += verdict(one.outcome).text;
    text += "  " + points_text(one.points, one.most) + "  " +
            harmless(title_of(exercise) + ": " + data::printable(one.name, kLongestMessage));
    const std::string words = words_of(exercise, one);
    if (!words.empty()) text += ": " + harmless(words);
    text += "\n";
  });
  return text + "Halo: " + harmless(summary_of(grade));
}

// ---- JUnit ----

// Where the UTF-8 letter at `at` ends; `at` itself if there is none that XML may hold.
std::size_t end_of_letter(std::string_view text, std::size_t at) {
  const std::size_t size = data::letter_at(text, at);
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[at + i]); };
  const bool is_control = byte(0) < 0x20 || byte(0) == 0x7f ||
                          (size == 2 && byte(0) == 0xc2 && byte(1) < 0xa0);  // to U+009F
  // U+FFFE and U+FFFF, and the last two of each plane.
  const bool is_none = size >= 3 && (byte(size - 3) & 0xf) == 0xf && byte(size - 2) == 0xbf &&
                       byte(size - 1) >= 0xbe;
  return is_control || is_none ? at : at + size;
}

// For an attribute or text.
std::string xml(std::string_view text) {
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = end_of_letter(text, at);
    const std::string_view letter = text.substr(at, end - at);
    if (text[at] == '\n') {
      result += "&#10;";
    } else if (letter.empty()) {
      result += "\xef\xbf\xbd";  // the replacement character
    } else if (letter == "&") {
      result += "&amp;";
    } else if (letter == "<") {
      result += "&lt;";
    } else if (letter == ">") {
      result += "&gt;";
    } else if (letter == "\"") {
      result += "&quot;";
    } else {
      result += letter;
    }
    at = std::max(end, at + 1);
  }
  return result;
}
std::string attribute(const char* name, std::string_view value) {
  return std::string(" ") + name + "=\"" + xml(value) + "\"";
}
std::string attribute(const char* name, double seconds) {
  return attribute(name, fixed(std::isfinite(seconds) ? std::max(0.0, seconds) : 0, 3));
}
std::string attribute(const char* name, std::size_t count) {
  return attribute(name, std::to_string(count));
}

struct JunitCounts {
  std::size_t tests = 0, failures = 0, errors = 0, skipped = 0;
  std::string attributes() const {
    return attribute("tests", tests) + attribute("failures", failures) +
           attribute("errors", errors) + attribute("skipped", skipped);
  }
};

std::string junit_case(const ExerciseGrade& exercise, const GradedCase& one, JunitCounts& counts) {
  ++counts.tests;
  std::string text = "  <testcase" + attribute("classname", exercise.name) +
                     attribute("name", one.name) + attribute("time", one.seconds) + ">";
  const std::string words = words_of(exercise, one);
  if (!exercise.refusal.empty()) {
    ++counts.errors;
    text += "<error" + attribute("message", words) + attribute("type", "refused") + "/>";
  } else if (one.outcome == Outcome::bad) {
    ++counts.failures;
    text += "<failure" + attribute("message", words) + attribute("type", to_string(one.kind)) +
            ">" + xml(words) + "</failure>";
  } else if (one.outcome == Outcome::not_run) {
    ++counts.skipped;
    text += "<skipped" + attribute("message", words) + "/>";
  }
  return text + "<system-out>" + xml(points_text(one.points, one.most)) +
         " points</system-out></testcase>\n";
}

std::string junit(const Grade& grade) {
  JunitCounts all;
  std::string suites;
  if (!grade.error.empty() || grade.exercises.empty()) {
    all.tests = all.errors = 1;
    suites = " <testsuite name=\"submission\"" + all.attributes() +
             attribute("time", grade.seconds) +
             ">\n  <testcase classname=\"submission\" name=\"graded\" time=\"0.000\"><error" +
             attribute("message", summary_of(grade)) +
             " type=\"not graded\"/></testcase>\n </testsuite>\n";
  }
  for (const ExerciseGrade& exercise : grade.exercises) {
    JunitCounts counts;
    std::string cases;
    double seconds = 0;
    if (exercise.cases.empty()) {
      cases = junit_case(exercise, only_case(exercise), counts);
    }
    for (const GradedCase& one : exercise.cases) {
      cases += junit_case(exercise, one, counts);
      seconds += one.seconds;
    }
    suites += " <testsuite" + attribute("name", title_of(exercise)) + counts.attributes() +
              attribute("time", seconds) + ">\n" + cases + "  <system-out>" +
              xml(points_text(exercise.points(), exercise.most())) +
              " points</system-out>\n </testsuite>\n";
    all.tests += counts.tests;
    all.failures += counts.failures;
    all.errors += counts.errors;
    all.skipped += counts.skipped;
  }
  return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"halo\"" +
         attribute("tests", all.tests) + attribute("failures", all.failures) +
         attribute("errors", all.errors) + attribute("time", grade.seconds) + ">\n" + suites +
         "</testsuites>";
}

}  // namespace

ResultFormat parse_result_format(const std::string& word) {
  std::string words;
  for (const auto& [format, name] : kFormats) {
    if (word == name) return format;
    words += (words.empty() ? "" : ", ") + std::string(name);
  }
  throw UsageError("--format: '" + data::printable(word, 100) + "' is not one of " + words +
                   data::did_you_mean(word, result_formats()));
}

std::vector<std::string> result_formats() {
  std::vector<std::string> words;
  for (const auto& [format, name] : kFormats) words.emplace_back(name);
  return words;
}

std::string text_of(const Grade& grade, ResultFormat format, const FormatOptions& options) {
  const auto text = [&]() -> std::string {
    switch (format) {
      case ResultFormat::text:
        return as_text(grade, options.table);
      case ResultFormat::json:
        return to_json(grade).dump(1);
      case ResultFormat::gradescope:
        return gradescope(grade, options);
      case ResultFormat::prairielearn:
        return prairielearn(grade);
      case ResultFormat::autolab:
        return autolab(grade, options);
      case ResultFormat::submitty:
        return submitty(grade);
      case ResultFormat::github:
        return github(grade);
      case ResultFormat::junit:
        return junit(grade);
    }
    return "";
  };
  std::string result = text();
  if (!result.ends_with('\n')) result += '\n';
  return result;
}

int exit_code(const Grade& grade, ResultFormat format) {
  const bool is_read_by_people =
      format == ResultFormat::text || format == ResultFormat::json || format == ResultFormat::junit;
  if (is_read_by_people && !grade.error.empty()) return kNotGraded;
  return format == ResultFormat::github && !has_all(grade) ? 1 : 0;
}

}  // namespace halo::grader
