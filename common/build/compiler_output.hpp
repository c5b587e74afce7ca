// What compilers say through ninja, for people who want to know what to mend.
#pragma once

#include <filesystem>
#include <string>

namespace halo {

struct CompilerOutput {
  /// Errors and warnings with their source lines, and nothing else: no commands. Paths are as seen from the
  /// working folder. Ends with a line's end unless it is empty; at most some sixty lines.
  std::string errors;
  /// Of the files below `stages` only: the warnings of what students write.
  std::string warnings;
  /// The line that says best what went wrong; empty if nothing did.
  std::string mistake;
};

/// `text` is what ninja printed, in the build folder `build`.
CompilerOutput read_compiler_output(const std::string& text, const std::filesystem::path& build);

/// The line by which a compiler tells that this machine has no room, no memory or no process for it; empty: none does. What a
/// file makes it say (#error) does not count.
std::string machines_fault(const std::string& text);

/// A path as it is typed in the working folder, absolute where that is shorter.
std::string seen_from_here(const std::filesystem::path& path);

}  // namespace halo
