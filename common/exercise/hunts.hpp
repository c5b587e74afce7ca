// The bug hunts as they lie in the repository: kernels with one mistake each, what their users report, and,
// where this copy of the course has solutions, what was wrong.
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "common/exercise/exercises.hpp"

namespace halo {

/// What is wrong with a hunt's kernel, as solutions/hunts/answers.json has it.
struct HuntAnswer {
  std::string kind;      // race
  std::string found_by;  // numbers, or the simulator's finding
  std::string why;
  std::string source;      // the listing that it is from; empty: none
  std::vector<int> lines;  // of the hunt as it was, any of which names the mistake
};

/// What a student holds to be wrong: a line of the hunt as it was, and the kind of the mistake.
struct Claim {
  int line = 0;
  std::string kind;
  bool operator==(const Claim&) const = default;
};

/// The claims of a hunt's file NAME.claims, in the order in which they were made: "34 race" a line. What is no claim is left
/// out. The file is the student's, who may shorten it.
std::vector<Claim> parse_claims(const std::string& text);
std::string line_of(const Claim& claim);

/// What a hunt is worth that was found with the last of so many claims: each wrong one costs a tenth, all of them half.
double share_of_hunt(std::size_t claims);

struct Hunt {
  std::string name;      // 01_signal
  std::string number;    // 01
  std::string contract;  // what its kernel computes, as the check knows it
  std::string stage;     // 02, after which it can be found
  int level = 1;  // 1: read the line; 2: compare shapes; 3: know what threads promise each other
  std::string symptom;           // what its user reports
  std::filesystem::path file;    // the student's, made from `start`
  std::filesystem::path start;   // as it was
  std::filesystem::path claims;  // what the student has claimed; may not be there

  /// As an exercise with this file, for an attempt at mending it.
  Exercise as_exercise() const;
};

class Hunts {
 public:
  /// `root`: the repository. Throws WrongUse, one line, if there are no hunts or their list cannot be read.
  explicit Hunts(const std::filesystem::path& root);

  /// By stage, and within a stage by level.
  const std::vector<Hunt>& all() const { return all_; }
  /// Each kind of mistake and what it means, in the order of the list.
  const std::vector<std::pair<std::string, std::string>>& kinds() const { return kinds_; }

  /// The one that is typed as 7, 07, 07_softmax or softmax. Throws WrongUse, which says what was meant.
  const Hunt& find(const std::string& typed) const;
  /// Whether this copy of the course has solutions.
  bool have_answers() const;
  /// Throws CannotRun if it has none.
  HuntAnswer answer_of(const Hunt& hunt) const;
  /// Whether the claim names the mistake, line and kind together. Throws as answer_of.
  bool is_right(const Hunt& hunt, const Claim& claim) const;

 private:
  std::filesystem::path answers_;
  std::vector<Hunt> all_;
  std::vector<std::pair<std::string, std::string>> kinds_;
};

}  // namespace halo
