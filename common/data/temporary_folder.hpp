// A folder for what is of no use afterwards.
#pragma once

#include <filesystem>
#include <string>

namespace halo::data {

/// A folder in TMPDIR (else /tmp) that is nobody else's, gone with the object.
class TemporaryFolder {
 public:
  /// Called `name` and a few letters; only its owner looks into it. Throws NotWritten (file.hpp), one line that says what
  /// to do.
  explicit TemporaryFolder(const std::string& name);
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace halo::data
