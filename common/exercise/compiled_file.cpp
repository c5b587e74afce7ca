#include "common/exercise/compiled_file.hpp"

#include "common/process/process.hpp"

namespace halo {

namespace fs = std::filesystem;

std::vector<std::string> object_command(const std::vector<std::string>& words,
                                        const fs::path& source, const fs::path& object) {
  std::vector<std::string> command;
  for (const std::string& word : words) {
    if (word.ends_with(".a")) continue;
    command.push_back(word == "{source}"    ? source.string()
                      : word == "{program}" ? object.string()
                                            : word);
  }
  const fs::path folder = object.has_parent_path() ? object.parent_path() : fs::path(".");
  command.insert(command.begin() + 1, {"-c", "--keep", "--keep-dir", folder.string()});
  return command;
}

std::vector<std::string> link_command(const std::vector<std::string>& words, const fs::path& object,
                                      const fs::path& program) {
  std::vector<std::string> command;
  for (const std::string& word : words) {
    command.push_back(word == "{source}"    ? object.string()
                      : word == "{program}" ? program.string()
                                            : word);
  }
  return command;
}

// Of nvcc's two it is the host's: code of the device is executed by nothing but the simulator.
fs::path preprocessed_of(const fs::path& source, const fs::path& object) {
  return object.parent_path() / (source.stem().string() + ".cpp4.ii");
}

fs::path written_after(const fs::path& source, const fs::path& object) {
  return object.parent_path() / (source.stem().string() + ".cudafe1.cpp");
}

fs::path toolkit_of(const fs::path& nvcc) { return nvcc.parent_path().parent_path(); }

std::vector<std::string> symbols_command(const fs::path& object) {
  // A sandbox wants the program's path.
  const fs::path nm = on_path("nm");
  // Left to find out what kind of file it is, nm loads every plug-in for linkers: of LLVM's, 100 MB, twenty times what it does.
  return {nm.empty() ? "/usr/bin/nm" : nm.string(), "-P", "--target=elf64-little", object.string()};
}

}  // namespace halo
