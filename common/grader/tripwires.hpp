// Looks at what was handed in before it runs, and says what has no place there. The sandbox and the judge keep what
// they keep without it: it is here to refuse what nobody writes by mistake, and to show a human the rest.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace halo::grader {

/// A student's file, and what the compiler made of it.
struct CompiledFile {
  std::string name;         // as the compiler was called with
  std::string text;         // as it was handed in
  std::string translated;   // by simcc --keep; empty: the compiler did not get so far
  std::string symbols;      // of the object, as symbols_command() says them; empty: there is none
  std::string root;         // the repository, whose headers are included
  bool is_program = false;  // with a main of its own
};

struct Tripped {
  std::string refusal;               // one line, with the line in the file; empty: it may run
  std::vector<std::string> remarks;  // for a human, a line each
};

/// Bytes of a translation; what is larger is refused.
inline constexpr std::uintmax_t kMostTranslation = std::uintmax_t{32} << 20;

/// Whatever is there is looked at, the text alone too.
Tripped look_at(const CompiledFile& compiled);

/// The commands that make a program in two steps, of the words of compilers.json, so that the object can be looked
/// at. The first leaves translation_of(object) as well.
std::vector<std::string> object_command(const std::vector<std::string>& words,
                                        const std::filesystem::path& source,
                                        const std::filesystem::path& object);
std::vector<std::string> link_command(const std::vector<std::string>& words,
                                      const std::filesystem::path& object,
                                      const std::filesystem::path& program);
std::filesystem::path translation_of(const std::filesystem::path& source,
                                     const std::filesystem::path& object);
/// Prints the object's symbols.
std::vector<std::string> symbols_command(const std::filesystem::path& object);

}  // namespace halo::grader
