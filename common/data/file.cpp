#include "common/data/file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "common/data/suggestion.hpp"

namespace halo::data {

namespace {

// What the user can do about a failed system call, in words.
std::string reason_of(int error) {
  switch (error) {
    case ENOENT:
      return "there is no such file or folder; check the path";
    case ENOTDIR:
      return "a part of its path is not a folder; check the path";
    case EACCES:
    case EPERM:
      return "permission denied; check the rights of the file and its folder";
    case EROFS:
      return "it is on a read-only file system; choose another folder";
    case ENOSPC:
    case EDQUOT:
      return "the disk is full; free some space or choose another folder";
    case ELOOP:
      return "its links lead in a circle";
    case ENAMETOOLONG:
      return "the name is too long";
    default:
      return std::strerror(error);
  }
}

// The folder of a path, with the slash; empty for a bare name.
std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? "" : path.substr(0, slash + 1);
}

}  // namespace

std::size_t letter_at(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[at + i]); };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  const std::size_t size = first < 0xc2   ? 0
                           : first < 0xe0 ? 2
                           : first < 0xf0 ? 3
                           : first < 0xf5 ? 4
                                          : 0;
  if (at + size > text.size()) return 0;
  for (std::size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
  }
  // Longer than need be, half of a pair, or beyond the last letter.
  const bool is_none = (first == 0xe0 && byte(1) < 0xa0) || (first == 0xed && byte(1) >= 0xa0) ||
                       (first == 0xf0 && byte(1) < 0x90) || (first == 0xf4 && byte(1) >= 0x90);
  return is_none ? 0 : size;
}

std::string printable(std::string_view text, std::size_t most) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const auto continues = [&](std::size_t i) { return (byte(i) & 0xc0) == 0x80; };
  std::size_t end = text.size();
  if (end > most) {
    end = most;
    while (end > 0 && continues(end)) --end;  // not in the middle of a letter
  }
  std::string result;
  for (std::size_t i = 0, size = 0; i < end; i += std::max<std::size_t>(size, 1)) {
    size = letter_at(text.substr(0, end), i);
    const bool is_control = byte(i) < 0x20 || byte(i) == 0x7f ||
                            (byte(i) == 0xc2 && size == 2 && byte(i + 1) < 0xa0);  // to U+009F
    result += is_control || size == 0 ? "?" : text.substr(i, size);
  }
  return end < text.size() ? result + "..." : result;
}

std::string quoted(std::string_view text) {
  constexpr std::size_t kMost = 300;
  return "'" + printable(text, kMost) + "'";
}

InputFile::InputFile(const std::string& path) : path_(path) {
  if (path.empty()) throw error("the name is empty");
  // Without O_NONBLOCK opening a pipe would wait for a writer.
  descriptor_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor_ < 0) {
    const int why = errno;
    throw error(reason_of(why) + (why == ENOENT ? did_you_mean_path(path) : ""));
  }
  struct stat status;
  std::string reason;
  if (::fstat(descriptor_, &status) != 0) {
    reason = reason_of(errno);
  } else if (S_ISDIR(status.st_mode)) {
    reason = "it is a folder; give a file";
  } else if (!S_ISREG(status.st_mode)) {
    reason = "it is not a regular file; save the data to a file first";
  } else if (status.st_size == 0) {
    reason = "it is empty (0 bytes)";
  }
  if (!reason.empty()) {
    // The destructor does not run for an object whose constructor throws.
    ::close(descriptor_);
    throw error(reason);
  }
  size_ = status.st_size;
}

InputFile::~InputFile() { ::close(descriptor_); }

std::size_t InputFile::read(std::int64_t offset, void* bytes, std::size_t count) const {
  std::size_t done = 0;
  while (done < count) {
    const ssize_t got = ::pread(descriptor_, static_cast<char*>(bytes) + done, count - done,
                                static_cast<off_t>(offset) + static_cast<off_t>(done));
    if (got < 0) {
      if (errno == EINTR) continue;
      throw error(reason_of(errno));
    }
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
  }
  return done;
}

DataError InputFile::error(const std::string& reason) const {
  return DataError("cannot read " + quoted(path_) + ": " + reason);
}

std::string read_file(const std::string& path) {
  constexpr std::int64_t kMost = std::int64_t{64} << 20;
  const InputFile file(path);
  if (file.size() > kMost) throw file.error("it is larger than 64 MiB");
  std::string bytes(static_cast<std::size_t>(file.size()), '\0');
  bytes.resize(file.read(0, bytes.data(), bytes.size()));
  return bytes;
}

OutputFile::OutputFile(const std::string& path) : path_(path), target_(path) {
  if (path.empty()) throw error("the name is empty");
  struct stat status;
  mode_t mode = 0;  // 0: a new file, with what the umask leaves
  if (::lstat(path.c_str(), &status) == 0 && S_ISLNK(status.st_mode)) {
    char* const resolved = ::realpath(path.c_str(), nullptr);
    if (resolved == nullptr) throw error("it is a link to a place that does not exist");
    target_ = resolved;
    std::free(resolved);
  }
  if (::stat(target_.c_str(), &status) == 0) {
    if (S_ISDIR(status.st_mode)) throw error("it is a folder; give a file name");
    if (!S_ISREG(status.st_mode)) throw error("it is not a regular file; give a file name");
    if (::faccessat(AT_FDCWD, target_.c_str(), W_OK, AT_EACCESS) != 0)
      throw error(reason_of(errno));
    mode = status.st_mode & 07777;
  } else if (errno != ENOENT) {
    throw error(reason_of(errno));
  }

  // A short name of our own, since adding to a long one could exceed the file system's limit.
  const std::string stem = folder_of(target_) + ".halo-" + std::to_string(::getpid()) + "-";
  for (int attempt = 0; attempt < 1000 && descriptor_ < 0; ++attempt) {
    temporary_ = stem + std::to_string(attempt) + ".tmp";
    descriptor_ = ::open(temporary_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor_ < 0 && errno != EEXIST) break;
  }
  if (descriptor_ < 0) throw error(reason_of(errno));
  if (mode != 0 && ::fchmod(descriptor_, mode) != 0) {
    const std::string reason = reason_of(errno);
    ::close(descriptor_);
    ::unlink(temporary_.c_str());
    throw error(reason);
  }
}

OutputFile::~OutputFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void OutputFile::write(const void* bytes, std::size_t count) {
  const char* next = static_cast<const char*>(bytes);
  while (count > 0) {
    const ssize_t put = ::write(descriptor_, next, count);
    if (put < 0) {
      if (errno == EINTR) continue;
      throw error(reason_of(errno));
    }
    next += put;
    count -= static_cast<std::size_t>(put);
  }
}

void OutputFile::commit() {
  // Some file systems report a full disk only here.
  const int closed = ::close(descriptor_);
  descriptor_ = -1;
  if (closed != 0) throw error(reason_of(errno));
  if (std::rename(temporary_.c_str(), target_.c_str()) != 0) throw error(reason_of(errno));
  temporary_.clear();
}

NotWritten OutputFile::error(const std::string& reason) const {
  return NotWritten("cannot write " + quoted(path_) + ": " + reason);
}

void write_file(const std::string& path, std::string_view bytes) {
  OutputFile file(path);
  file.write(bytes.data(), bytes.size());
  file.commit();
}

void require_writable(const std::string& path) {
  try {
    OutputFile file(path);
  } catch (const NotWritten& error) {
    throw DataError(error.what());
  }
}

}  // namespace halo::data
