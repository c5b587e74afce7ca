// What was handed in: a file, a folder or an archive, of which only the files of exercises are taken. All of it is a stranger's:
// no name in it is ever the name of a file here.
#pragma once

#include <cstdint>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

namespace halo::grader {

/// An exercise of which something may be handed in.
struct Wanted {
  std::string exercise;     // 04_tile_and_halo
  std::string file;         // tile_and_halo.cu
  std::string beside = {};  // another file that is taken with it, from the same folder; empty: none
};

/// What there is of one exercise.
struct HandedIn {
  std::string exercise;
  std::filesystem::path source;  // the copy of the student's file; empty: see refusal
  std::filesystem::path beside;  // and of the one beside it; empty: there is none
  std::string refusal;           // why its file was not taken, one line; else empty
};

/// A submission that nothing can be taken of, by the fault of who handed it in: what() is one line.
class Refused : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// No submission unpacks to more than this, which is far above a copy of the whole course.
struct SubmissionLimits {
  std::uint64_t packed = 256u << 20;    // bytes of an archive
  std::uint64_t unpacked = 1u << 30;    // bytes of all in it
  std::uint64_t ratio = 200;            // unpacked to packed, once
  std::uint64_t rated_from = 16 << 20;  // so many bytes are unpacked
  std::uint64_t file = 1 << 20;         // bytes of a file that is taken
  std::size_t files = 50'000;           // in the archive or the folder, folders among them
  std::size_t depth = 24;               // folders
  std::size_t name = 1024;              // bytes of a path; what is longer is left
};

/// Copies what `from` holds of these exercises to `to`, an empty private folder, as NN_name/name.cu and what is wanted beside it. Of an exercise it takes
/// the .cu file of its name, wherever that lies, or the only one in a folder of the exercise's name, or one whose name ends with it,
/// as platforms rename it; the file in exercises/NN_name before all others, and of a copy of the whole course nothing else. A file
/// handed in by itself is of the exercise that its name ends with or, where one exercise is wanted only, of that one. In a folder without any of these, the one archive that lies there is opened instead.
///
/// Returns what there is, in the order of `wanted`, without those of which there is nothing. Throws Refused, and
/// data::NotWritten.
std::vector<HandedIn> take_submission(const std::filesystem::path& from,
                                      const std::vector<Wanted>& wanted,
                                      const std::filesystem::path& to,
                                      const SubmissionLimits& limits = {});

/// Puts files that lie loose into a new folder, where they are taken as take_submission() takes them. Throws data::DataError.
void put_together(const std::vector<std::filesystem::path>& files, const std::filesystem::path& to,
                  const SubmissionLimits& limits = {});

/// What its grade depends on of a submission, as a SHA-256: equal ones are graded alike. No archive is opened for that.
/// Throws Refused for what cannot be read.
std::string submission_digest(const std::filesystem::path& from,
                              const SubmissionLimits& limits = {});

/// "meyer" of meyer.tar.gz: the name of a file or folder without the ending of a submission.
std::string submission_name(const std::filesystem::path& from);

/// Whether it has an archive's name.
bool is_archive_name(const std::string& file);

/// Whether archives can be opened; else what to install.
std::string why_no_archives();

}  // namespace halo::grader
