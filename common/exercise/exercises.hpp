// The exercises as they lie in the repository's `exercises` folder, which is the student's own.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace halo {

/// A folder `exercises/NN_name`. Nothing of it but the name need be there or be in order.
struct Exercise {
  std::string name;    // 04_tile_and_halo
  std::string number;  // 04
  std::string title;   // "Tile and halo": the first line of its README.md
  std::filesystem::path folder;
  // The student's .cu files; before there is one, where it will be.
  std::vector<std::filesystem::path> sources;
  std::string check = {};            // the check that it shares with others; empty: one of its name
  std::string contract = {};         // which that check is to go by; empty: it has one only
  std::filesystem::path start = {};  // what the student's .cu file is made from

  /// "tile_and_halo.cu": what the student's file is called, here and where it is handed in.
  std::string file_name() const { return name.substr(3) + ".cu"; }
  /// The student's one .cu file, which may not be made yet. Throws WrongUse, one line that says what to do, if there
  /// can be none or are several.
  std::filesystem::path source() const;
  /// "exercises/04_tile_and_halo/tile_and_halo.cu": as the repository names one of its files.
  std::string path_of(const std::filesystem::path& file) const;
  /// The text of `start`. Throws WrongUse if this copy of the course has none.
  std::string start_text() const;
  /// Makes those of the student's files that are not there: the source, predictions and answers. Returns a line that names
  /// them, or that says that `start` is the one that was edited; else nothing. Throws data::NotWritten.
  std::string begin() const;
  /// Throws CannotRun if this copy of the course has none.
  std::filesystem::path solution() const;

  bool has_solution() const;

  std::filesystem::path hints() const { return folder / "hints.md"; }
  std::filesystem::path predictions() const { return folder / "predictions.txt"; }
  std::filesystem::path answers() const { return folder / "answers.md"; }
};

class Exercises {
 public:
  /// `root`: the repository. Throws WrongUse if it has no exercises.
  explicit Exercises(const std::filesystem::path& root);

  /// By their numbers; those of which somebody has left a folder without .cu are not among them.
  const std::vector<Exercise>& all() const { return all_; }
  const std::filesystem::path& folder() const { return folder_; }

  /// The assignment that comes with the course; empty if this copy has none, as a student's.
  std::filesystem::path usual_assignment() const;
  /// The seed of all that is drawn for the student whose copy this is; empty: it is nobody's own
  /// (student.json). Throws WrongUse for a file that cannot be read.
  std::string seed() const;

  /// The one that is typed as 4, 04, tile_and_halo, 04_tile_and_halo or the path of its folder or a file
  /// in it. Throws WrongUse, which says what was meant.
  const Exercise& find(const std::string& typed) const;

 private:
  std::filesystem::path folder_;
  std::vector<Exercise> all_;
  std::vector<Exercise> empty_;  // without a .cu
};

/// Nobody writes more by hand; what is larger is something else.
inline constexpr std::int64_t kLargestText = 4 << 20;

/// The text of a file, without the mark that UTF-8 may begin with. Throws data::DataError, one line, also where it is larger
/// than that; `optional`: what is not there is empty.
std::string text_of_file(const std::filesystem::path& file, bool optional = false,
                         std::int64_t largest = kLargestText);

}  // namespace halo
