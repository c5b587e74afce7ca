// A file of an exercise, made a program in two steps, so that what the compiler made of it can be looked at before it
// runs.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace halo {

/// A student's file, and what the compiler made of it.
struct CompiledFile {
  std::string name;          // as the compiler was called with
  std::string text;          // as it was handed in
  std::string preprocessed;  // for the host; empty: the compiler did not get so far
  std::string symbols;       // of the object, as symbols_command() says them; empty: there is none
  std::string root;          // the repository, whose headers are included
  std::string toolkit;       // CUDA's, whose headers are too
  bool is_program = false;   // with a main of its own
};

/// What is found in it.
struct Tripped {
  std::string refusal;               // one line, with the line in the file; empty: it may run
  std::vector<std::string> remarks;  // for a human, a line each
};

/// Bytes that the preprocessor makes; what is larger is refused.
inline constexpr std::uintmax_t kMostPreprocessed = std::uintmax_t{32} << 20;

/// The commands that make a program in two steps, of the words of compilers.json, so that the object can be looked
/// at. The first leaves preprocessed_of(object) beside it.
std::vector<std::string> object_command(const std::vector<std::string>& words,
                                        const std::filesystem::path& source,
                                        const std::filesystem::path& object);
std::vector<std::string> link_command(const std::vector<std::string>& words,
                                      const std::filesystem::path& object,
                                      const std::filesystem::path& program);
std::filesystem::path preprocessed_of(const std::filesystem::path& source,
                                      const std::filesystem::path& object);
/// A file that nvcc begins once that one is whole.
std::filesystem::path written_after(const std::filesystem::path& source,
                                    const std::filesystem::path& object);
/// Where the CUDA toolkit is that has this nvcc.
std::filesystem::path toolkit_of(const std::filesystem::path& nvcc);
/// Prints the object's symbols.
std::vector<std::string> symbols_command(const std::filesystem::path& object);

}  // namespace halo
