// What a student says before the first run: predictions.txt of an exercise. It has no points: whoever has run a check knows
// the answers, and no file of a student's machine can say when it was written.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/exercise/marks.hpp"

namespace halo {

/// predictions.txt: comments, and `key = number` where a question has been answered.
struct Predictions {
  struct Line {
    std::string key;
    std::string question;        // the comment above it, in one line
    std::optional<double> said;  // nothing: not answered
  };
  std::vector<Line> lines;
  std::vector<std::string>
      faults;  // lines that say nothing: "predictions.txt:5: 'many' is no number"

  const Line* find(const std::string& key) const;
};

/// A question's key as it is spelled today: requests_per_block, which files of before have as requests_a_block.
std::string current_key(std::string key);

/// `origin` names the file in the faults. Keys are as they are spelled today.
Predictions parse_predictions(const std::string& text, const std::string& origin);

/// The same text with this answer to the question; all else stays as it was. Throws std::invalid_argument
/// if it has no such key.
std::string with_prediction(const std::string& text, const std::string& key, double said);

/// A number as a person writes it: 264, 1,024 or 9.25. Nothing if it is none.
std::optional<double> parse_figure(const std::string& text);
/// The same back: at most six digits behind the point.
std::string figure_text(double value);

/// A question beside what was said first.
struct Judged {
  Question question;
  std::optional<double> said;  // nothing: not answered
  bool fresh = false;          // judged by this attempt
  bool right() const;
};

}  // namespace halo
