// Exercises in a temporary repository, with small shell scripts in place of the compiler and the checks.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "common/exercise/marks.hpp"
#include "tests/cli/fake_build.hpp"

namespace halo::test {

/// The exercise that most tests have.
inline constexpr const char* kTile = "04_tile_and_halo";

class FakeCourse {
 public:
  /// Without exercises. A file with the word BROKEN does not compile.
  FakeCourse();

  FakeBuild build;
  const std::filesystem::path& root() const { return root_; }

  /// An exercise that was begun, with all its files and a solution. Its check finds a file right that has the word RIGHT.
  std::filesystem::path add(const std::string& name, const std::string& title);
  /// The student's file of an exercise.
  std::filesystem::path source(const std::string& name) const;
  std::filesystem::path file(const std::string& name, const std::string& of) const;
  /// What the check of an exercise does instead of judging: a shell script; it tells on descriptor 3.
  void set_check(const std::string& name, const std::string& body, bool on_the_host = false);
  /// A file of what a check tells: head, cases and faults of these marks.
  std::filesystem::path told(const std::string& name, const Marks& marks) const;
  /// What the compiler does instead: $1 is the source, $3 the object, of which linking makes a copy.
  void set_compiler(const std::string& body);
  std::size_t compilations() const;
  /// The words of the last call of any check.
  std::string check_words() const;
  std::filesystem::path progress() const { return root_ / "exercises" / "progress.json"; }

  /// As build.halo, in the repository.
  Ended halo(const std::vector<std::string>& args,
             const std::vector<std::string>& environment = {}) const {
    return build.halo(args, environment, root_);
  }

 private:
  std::filesystem::path root_;
};

void write_text(const std::filesystem::path& file, const std::string& text);

/// Two questions and four cases: all good, or two bad and one not run.
Marks right_marks(const std::string& exercise);
Marks wrong_marks(const std::string& exercise);

}  // namespace halo::test
