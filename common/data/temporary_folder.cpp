#include "common/data/temporary_folder.hpp"

#include <stdlib.h>

#include <cerrno>
#include <cstring>

#include "common/data/file.hpp"

namespace halo::data {

TemporaryFolder::TemporaryFolder(const std::string& name) {
  const char* const asked = std::getenv("TMPDIR");
  const std::string parent = asked == nullptr || *asked == 0 ? "/tmp" : asked;
  std::string path = (std::filesystem::path(parent) / (name + "-XXXXXX")).string();
  if (mkdtemp(path.data()) == nullptr) {
    throw NotWritten("cannot make a folder in " + data::quoted(parent) + " (" +
                     std::strerror(errno) + "): set TMPDIR to a folder that can be written");
  }
  path_ = path;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace halo::data
