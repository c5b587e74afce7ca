// Files that are read with every failure named, and written whole or not at all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

namespace halo::data {

/// Every failure of this room: what() is one line that names the file (or the specification) and
/// says what is wrong and what to do.
class DataError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A file that could not be written: a full disk, a folder without the right. Where results were to be
/// written, the exit code is 74.
class NotWritten : public DataError {
 public:
  using DataError::DataError;
};

/// How many bytes the letter has that begins at `at`, as UTF-8 has it; 0: none does.
std::size_t letter_at(std::string_view text, std::size_t at);

/// The text with its control characters and what is not UTF-8 replaced, for a terminal and a message that stays one line, and cut
/// behind `most` bytes.
std::string printable(std::string_view text, std::size_t most = 4000);

/// The same in single quotes, of at most 300 bytes.
std::string quoted(std::string_view text);

/// A regular file, open for reading.
class InputFile {
 public:
  /// Throws DataError if the file is missing, empty, a folder, not a regular file (a pipe would
  /// have no end), or cannot be opened.
  explicit InputFile(const std::string& path);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  const std::string& path() const { return path_; }
  std::int64_t size() const { return size_; }  // bytes
  int descriptor() const { return descriptor_; }

  /// Reads up to `count` bytes at `offset`; returns how many there were. Throws DataError if the
  /// disk fails.
  std::size_t read(std::int64_t offset, void* bytes, std::size_t count) const;

  /// A DataError that begins "cannot read 'path': ".
  DataError error(const std::string& reason) const;

 private:
  std::string path_;
  int descriptor_ = -1;
  std::int64_t size_ = 0;
};

/// A file's bytes, 64 MiB at most. Throws DataError as InputFile does.
std::string read_file(const std::string& path);

/// A file that appears under its name when it is complete. Until commit() the bytes are in a
/// temporary file in the same folder, which vanishes if commit() is not reached.
class OutputFile {
 public:
  /// A symbolic link is followed: the file it points to is replaced. Throws NotWritten if the folder
  /// is missing or cannot be written, or if `path` is a folder, a device or a write-protected file.
  explicit OutputFile(const std::string& path);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  int descriptor() const { return descriptor_; }

  /// Appends; throws NotWritten, for instance if the disk is full.
  void write(const void* bytes, std::size_t count);

  /// Gives the file its name, replacing what had it. Throws NotWritten.
  void commit();

  /// An error that begins "cannot write 'path': ".
  NotWritten error(const std::string& reason) const;

 private:
  std::string path_;       // as the user gave it
  std::string target_;     // links resolved
  std::string temporary_;  // empty: nothing to remove
  int descriptor_ = -1;
};

/// Writes a whole file as OutputFile does.
void write_file(const std::string& path, std::string_view bytes);

/// Throws a DataError with the words that OutputFile would have for this name, and leaves nothing behind: for
/// a complaint before the work instead of after it, when it is the command that is at fault.
void require_writable(const std::string& path);

}  // namespace halo::data
