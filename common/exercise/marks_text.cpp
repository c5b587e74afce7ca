#include "common/exercise/marks_text.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>

#include "common/report/text.hpp"

namespace halo {

namespace {

constexpr std::size_t kIndent = 2;
constexpr std::size_t kWordWidth = 11;    // "correct    "
constexpr std::size_t kVerdictWidth = 9;  // "NOT RUN  "
constexpr std::size_t kPointsWidth = 12;  // "12 of 40    "
constexpr std::size_t kBeforeWords = kIndent + kWordWidth + kVerdictWidth + kPointsWidth;

// Letters on the screen: those of UTF-8 count once.
std::size_t letters_of(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  }));
}

std::string padded(const std::string& text, std::size_t width) {
  const std::size_t letters = letters_of(text);
  return text + std::string(letters < width ? width - letters : 1, ' ');
}

// One line of the terminal: what is too long ends in dots.
std::string clipped(const std::string& text, const TableOptions& options) {
  const auto width = static_cast<std::size_t>(std::max(options.width, 0));
  if (width == 0 || letters_of(text) <= width) return text;
  std::size_t end = 0;
  for (std::size_t letters = 0; end < text.size(); ++end) {
    if ((static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) continue;
    if (letters++ == width - 3) break;
  }
  return text.substr(0, end) + "...";
}

std::size_t lines_in(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

// What begins at the margin, with all that is indented below it: it is told whole or not at all.
std::vector<std::string> parts_of(const std::string& text) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    if (parts.empty() || !line.starts_with(' ')) parts.emplace_back();
    parts.back() += line + "\n";
  }
  return parts;
}

std::string one_or_more(std::size_t count, const std::string& word) {
  return std::to_string(count) + " " + word + (count == 1 ? "" : "s");
}

const char* word_of(Category category) {
  switch (category) {
    case Category::correctness:
      return "correct";
    case Category::safety:
      return "safe";
    default:
      return "budget";
  }
}

// For people: three digits behind the point tell all that a budget asks.
std::string brief(double value) { return figure_text(std::round(value * 1000) / 1000); }

// "bytes per output 9.25, at most 9.6".
std::string budget_words(const BudgetLine& line) {
  return line.what + " " + brief(line.counted) + ", at most " + brief(line.allowed);
}

// What a category has to say in its line.
std::string category_words(const std::vector<const CaseMark*>& cases, Category category) {
  std::size_t good = 0, bad = 0;
  for (const CaseMark* one : cases) {
    good += one->outcome == Outcome::good ? 1 : 0;
    bad += one->outcome == Outcome::bad ? 1 : 0;
  }
  if (good == 0 && bad == 0) {
    return cases.front()->message.empty() ? "not run" : cases.front()->message;
  }
  if (good < cases.size()) {
    std::string text = std::to_string(good) + " of " + one_or_more(cases.size(), "case");
    const std::size_t left_out = cases.size() - good - bad;
    return left_out == 0 ? text : text + ", " + std::to_string(left_out) + " not run";
  }
  std::string text;
  if (category == Category::budget) {
    for (const CaseMark* one : cases) {
      for (const BudgetLine& line : one->budget)
        text += (text.empty() ? "" : "\n" + std::string(kBeforeWords, ' ')) + budget_words(line);
    }
  }
  return text.empty() ? one_or_more(cases.size(), "case") : text;
}

std::string category_line(const Marks& marks, Category category, const TableOptions& options) {
  std::vector<const CaseMark*> cases;
  for (const CaseMark& one : marks.cases) {
    if (one.category == category) cases.push_back(&one);
  }
  if (cases.empty()) return "";
  const auto any = [&](Outcome outcome) {
    return std::any_of(cases.begin(), cases.end(),
                       [&](const CaseMark* one) { return one->outcome == outcome; });
  };
  const Outcome outcome = any(Outcome::bad)       ? Outcome::bad
                          : any(Outcome::not_run) ? Outcome::not_run
                                                  : Outcome::good;
  const Cell verdict = outcome_cell(outcome, "PASS", "FAIL");
  const std::string points = points_text(marks.points(category), marks.most(category));
  const std::string before = std::string(kIndent, ' ') + padded(word_of(category), kWordWidth);
  return before + paint(verdict.text, verdict.tone, options) +
         std::string(kVerdictWidth - verdict.text.size(), ' ') + padded(points, kPointsWidth) +
         wrapped(category_words(cases, category), options, std::string(kBeforeWords, ' '),
                 kBeforeWords) +
         "\n";
}

// Why there are fewer points than the lines above have.
std::string withheld_line(const Marks& marks, const TableOptions& options) {
  if (marks.withheld() <= 0) return "";
  const std::string before =
      std::string(kIndent, ' ') + padded("withheld", kWordWidth + kVerdictWidth);
  return before + padded("-" + points_text(marks.withheld()), kPointsWidth) +
         wrapped(why_withheld(marks), options, std::string(kBeforeWords, ' '), kBeforeWords) + "\n";
}

std::string words_of_key(std::string key) {
  std::replace(key.begin(), key.end(), '_', ' ');
  return key;
}

// What was said, what is true, and what the student's own kernel does.
std::string answer_words(const Judged& one) {
  const Question& question = one.question;
  std::string text = "\"" + words_of_key(question.key) + "\"";
  if (!one.said) return text + " is " + brief(question.answer);
  text += one.right()
              ? ": you said " + figure_text(*one.said) + ", which is right"
              : ": you said " + figure_text(*one.said) + ", it is " + brief(question.answer);
  const std::string counted = brief(question.counted);
  if (question.counted < 0 || (one.right() && counted == brief(question.answer))) return text;
  return text + " (yours: " + counted + ")";
}

std::string predictions_text(const Marks& marks, const MarksScreen& screen,
                             const TableOptions& options) {
  const std::vector<Judged>& all = screen.predictions;
  if (all.empty()) return "";
  std::size_t right = 0, unanswered = 0;
  for (const Judged& one : all) {
    right += one.right() ? 1 : 0;
    unanswered += one.said ? 0 : 1;
  }
  const std::string before =
      std::string(kIndent, ' ') + padded("predicted", kWordWidth + kVerdictWidth);
  std::string words = std::to_string(right) + " of " + std::to_string(all.size()) + " right";
  if (unanswered > 0 && !marks.passed()) {
    words += ", " + std::to_string(unanswered) + " open: " + screen.predictions_file;
  }
  std::string text = clipped(before + words, options) + "\n";
  for (const Judged& one : all) {
    // After the pass all is told, before it only what was asked for. What is right needs no words, but
    // for the first time.
    const bool told =
        marks.passed() ? !one.said || one.fresh || !one.right() : one.said && one.fresh;
    if (told) text += clipped(std::string(kIndent + 2, ' ') + answer_words(one), options) + "\n";
  }
  return text;
}

std::string budget_faults(const CaseMark& mark, const TableOptions& options) {
  std::string text;
  for (const BudgetLine& line : mark.budget) {
    if (line.met) continue;
    std::string words =
        "  " + line.what + ": counted " + brief(line.counted) + ", at most " + brief(line.allowed);
    if (line.predicted >= 0) words += ", usual " + brief(line.predicted);
    text += wrapped(words, options, "    ") + "\n";
    if (!line.file.empty()) {
      text +=
          quoted_line(line.file, line.line, brief(line.of_line) + " of it from this line", options);
    }
  }
  return text;
}

// The row that says most of a case: the one of its name; of what is not safe, the first with a finding.
const Row* row_of(const Marks& marks, const CaseMark& mark) {
  const auto tells = [&](const Row& row) {
    return row.variant == mark.name ||
           (mark.category == Category::safety && row.hazards.outcome == Outcome::bad);
  };
  const auto row = std::find_if(marks.faults.begin(), marks.faults.end(), tells);
  return row == marks.faults.end() ? nullptr : &*row;
}

// What a message says without its advice.
std::string without_advice(const std::string& message) {
  return message.substr(0, std::min(message.find(". "), message.find('\n')));
}

// Whether it is the finding that a case of safety fails by.
bool fails_by(const CaseMark& mark, const Hazard& finding) {
  return mark.category == Category::safety &&
         mark.message.starts_with(finding.message.substr(0, finding.message.find(" at ")));
}

struct Failure {
  std::vector<std::string> parts;
  std::size_t fewest = 2;  // that say what is wrong, and where
};

// The first failure, in full.
Failure failure_of(const Marks& marks, const CaseMark& mark, const TableOptions& options) {
  const Row* row = mark.category == Category::budget ? nullptr : row_of(marks, mark);
  Failure failure;
  if (row == nullptr || row->variant != mark.name) {
    // The row's findings say what they say, with their advice.
    const bool is_told =
        row != nullptr && std::any_of(row->hazards.findings.begin(), row->hazards.findings.end(),
                                      [&](const Hazard& one) { return fails_by(mark, one); });
    const std::string words = is_told          ? ""
                              : row == nullptr ? mark.message
                                               : without_advice(mark.message);
    const std::string name = mark.name + (words.empty() ? "" : ": ");
    failure.parts.push_back(paint("FAIL", Tone::bad, options) + "  " +
                            paint(name, Tone::strong, options) +
                            wrapped(words, options, "      ", 6 + letters_of(name)) + "\n");
    ++failure.fewest;
  }
  if (mark.category == Category::budget) {
    failure.parts.back() += budget_faults(mark, options);
    return failure;
  }
  for (const Row& one : marks.faults) {
    const bool is_bad = one.check.outcome == Outcome::bad || one.hazards.outcome == Outcome::bad;
    if (row == nullptr && is_bad) row = &one;
  }
  if (row == nullptr) return failure;
  Row told = *row;
  told.printed = {};  // by itself, below
  std::stable_partition(told.hazards.findings.begin(), told.hazards.findings.end(),
                        [&](const Hazard& one) { return fails_by(mark, one); });
  std::string faults = all_faults({told}, options);
  faults.erase(0, faults.find_first_not_of('\n'));
  for (std::string& part : parts_of(faults)) failure.parts.push_back(std::move(part));
  return failure;
}

// Where the finding is that a case fails by; of one without any, what it says of whatever problem.
std::string cause_of(const Marks& marks, const CaseMark& mark) {
  const auto place = [](const Hazard& one) {
    return one.kind + " " + one.file + ":" + std::to_string(one.line);
  };
  for (const Row& row : marks.faults) {
    if (mark.category == Category::correctness && row.variant == mark.name &&
        !row.hazards.findings.empty()) {
      return place(row.hazards.findings.front());
    }
    for (const Hazard& one : row.hazards.findings) {
      if (fails_by(mark, one)) return place(one);
    }
  }
  const std::size_t of_problem = mark.message.find(": ");
  return of_problem == std::string::npos ? mark.name : mark.message.substr(of_problem);
}

// The other failures, a sentence each: advice was given for the first.
std::vector<std::string> others_of(const Marks& marks, const CaseMark& told,
                                   const TableOptions& options) {
  std::vector<std::string> others;
  std::size_t alike = 0;
  for (const CaseMark& mark : marks.cases) {
    if (mark.outcome != Outcome::bad || &mark == &told) continue;
    if (cause_of(marks, mark) == cause_of(marks, told)) {
      ++alike;
      continue;
    }
    const std::string words =
        "also  " + mark.name + (mark.message.empty() ? "" : ": ") + without_advice(mark.message);
    others.push_back(wrapped(words, options, "      ") + "\n");
  }
  if (alike > 0) {
    others.insert(others.begin(), "also  " + one_or_more(alike, "case") + " with the same cause\n");
  }
  return others;
}

}  // namespace

std::string points_text(double points) {
  if (points < 0) return "-" + points_text(-points);
  // Never more than there is: 89.96 is not 90.
  const double tenths = std::floor(points * 10 + 1e-6) / 10;
  return tenths == std::floor(tenths) ? fixed(tenths, 0) : fixed(tenths, 1);
}

std::string points_text(double points, double most) {
  if (points < 0) return points_text(points);  // taken off
  return points_text(points) + " of " + points_text(most);
}

std::string why_withheld(const Marks& marks) {
  return "the budget is not met: at most " + points_text(kShareWithoutBudget * marks.most()) +
         " of " + points_text(marks.most()) + " points count";
}

std::string render_marks(const Marks& marks, const MarksScreen& screen,
                         const TableOptions& options) {
  // ---- The head: what, how much ----
  std::string score = points_text(marks.points(), marks.most()) + " points";
  if (screen.attempt > 0) score += ", attempt " + std::to_string(screen.attempt);
  if (marks.backend == "gpu") score += ", on the GPU";
  const std::string passed = marks.passed() ? "PASSED  " : "";
  const auto width = static_cast<std::size_t>(options.width > 0 ? options.width : 80);
  const std::size_t taken = passed.size() + score.size();
  TableOptions room = options;
  room.width = static_cast<int>(std::max<std::size_t>(width, taken + 12) - taken - 2);
  const std::string title = clipped(screen.title, room);
  std::string head = paint(title, Tone::strong, options) +
                     std::string(padded(title, width - taken).size() - title.size(), ' ') +
                     paint(passed, Tone::good, options) + score + "\n";
  for (const Category category : {Category::correctness, Category::safety, Category::budget}) {
    head += category_line(marks, category, options);
  }
  head += withheld_line(marks, options);
  if (!screen.time.empty()) {
    head += std::string(kIndent, ' ') + padded("time", kBeforeWords - kIndent) +
            wrapped(screen.time, options, std::string(kBeforeWords, ' '), kBeforeWords) + "\n";
  }
  head += predictions_text(marks, screen, options);

  // ---- The end: what else, what now ----
  std::string end;
  for (const std::string& note : screen.notes) end += wrapped(note, options) + "\n";
  if (!screen.next.empty()) end += wrapped("next: " + screen.next, options) + "\n";

  // ---- Why: the first failure, then the others ----
  const auto failed = std::find_if(marks.cases.begin(), marks.cases.end(),
                                   [](const CaseMark& one) { return one.outcome == Outcome::bad; });
  const auto prints = std::find_if(marks.faults.begin(), marks.faults.end(),
                                   [](const Row& row) { return row.printed.total > 0; });
  const std::string printed =
      prints == marks.faults.end() ? "" : printed_text(prints->printed, "", options);
  if (failed == marks.cases.end()) return head + printed + end;
  const Failure failure = failure_of(marks, *failed, options);
  std::vector<std::string> others = others_of(marks, *failed, options);

  const std::string all_of_it = screen.all_of_it.empty() ? "" : " (" + screen.all_of_it + ")";
  std::size_t left = std::numeric_limits<std::size_t>::max();
  if (screen.lines > 0) {
    const auto lines = static_cast<std::size_t>(screen.lines);
    left = lines - std::min(lines, lines_in(head + end));
  }
  const auto take = [&](const std::vector<std::string>& parts, std::size_t kept_free,
                        std::size_t fewest) {
    std::string text;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const std::size_t its = lines_in(parts[i]);
      const std::size_t more = i + 1 < parts.size() ? 1 : 0;
      // What is left out takes a line too.
      if (i >= fewest && its + more + kept_free > std::max<std::size_t>(left, 1)) {
        left -= std::min<std::size_t>(left, 1);
        return std::pair(text, parts.size() - i);
      }
      text += parts[i];
      left -= std::min(left, its);
    }
    return std::pair(text, std::size_t{0});
  };
  // Two lines for the others, if there are any.
  auto [why, cut] = take(failure.parts, std::min<std::size_t>(others.size(), 2), failure.fewest);
  if (cut > 0) why += "... and " + one_or_more(cut, "part") + " more" + all_of_it + "\n";
  const auto [also, cases] = take(others, 0, 0);
  why += also;
  if (cases > 0) {
    why += "also  " + one_or_more(cases, also.empty() ? "case" : "more case") + all_of_it + "\n";
  }
  return head + why + printed + end;
}

}  // namespace halo
