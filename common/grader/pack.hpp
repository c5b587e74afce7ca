// Copies of the course for others: a student's, without what gives answers away, an instructor's, and the bundles
// that platforms want.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace halo::grader {

struct PackedFile {
  std::string path;  // from the top of the copy
  std::string content;
  bool executable = false;
};
/// In the order of their paths.
using Pack = std::vector<PackedFile>;

/// The course in this folder: the files that git tracks, or those that its MANIFEST names where there is no git. Throws
/// data::DataError, one line, for a folder that has neither, and for files of exercises that are not as git has
/// them (somebody's own answers).
Pack course_files(const std::filesystem::path& root);

/// Whether a student gets this file of the course. The one list of what is left out is behind it (pack.cpp).
bool is_for_students(std::string_view path);

/// What a student gets of a course: the files of is_for_students, each exercise's as it begins, and pages whose links
/// lead to no page that is left out.
Pack student_copy(const Pack& course);
/// Puts into a student's copy whose it is, and the seed of all that its checks draw.
void add_student(Pack& copy, const std::string& student, std::uint64_t seed);

/// The whole course, with a MANIFEST and a first page.
Pack instructor_copy(const Pack& course);

/// The seed of a student's problems and data: the same for the same course seed and id, on any machine.
std::uint64_t seed_of_student(std::uint64_t course_seed, const std::string& student);

/// What a platform runs to grade an assignment.
struct Bundle {
  std::string platform;                // a folder of common/grader/bundles
  std::string assignment;              // the text of the assignment's file
  std::vector<std::string> exercises;  // those of it, by name
};
/// Throws data::DataError, one line.
Pack platform_bundle(const Pack& course, const Bundle& bundle);

/// Writes it to a new folder or, by the target's name, a .zip, .tar.gz, .tgz or .tar, in which all lies in the folder
/// `top` (empty: at the top). Whole or not at all. Throws data::NotWritten, and data::DataError for an
/// archive where libarchive was not found.
void write_pack(const Pack& pack, const std::filesystem::path& target, const std::string& top);

}  // namespace halo::grader
