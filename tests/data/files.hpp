// What the tests of this room share: bytes on disk, messages, disks that are full.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "common/data/file.hpp"
#include "tests/catch.hpp"
#include "tests/folder.hpp"

namespace halo::test {

std::string bytes_of(const std::string& path);

/// The message of the DataError that the function throws, checked to be one line.
template <class Function>
std::string error_of(Function function) {
  try {
    function();
  } catch (const data::DataError& error) {
    const std::string message = error.what();
    CHECK(message.find_first_of("\n\r") == std::string::npos);
    return message;
  }
  return "nothing was thrown";
}

/// While it lives no file may grow beyond `bytes`, as if the disk were full.
class FullDisk {
 public:
  explicit FullDisk(std::size_t bytes);
  ~FullDisk();
  FullDisk(const FullDisk&) = delete;
  FullDisk& operator=(const FullDisk&) = delete;

 private:
  std::uint64_t old_limit_;
  void (*old_handler_)(int);
};

/// While it lives a program that runs as root has the rights of nobody in particular; skips the
/// test where that is not possible. Make it before the folder.
class Unprivileged {
 public:
  Unprivileged();
  ~Unprivileged();
  Unprivileged(const Unprivileged&) = delete;
  Unprivileged& operator=(const Unprivileged&) = delete;

 private:
  bool was_root_;
};

/// `count` bytes of a number, least significant first (or last).
std::string little(std::uint64_t value, int count);
std::string big(std::uint64_t value, int count);

/// A whole NPY file, put together by hand.
std::string npy(const std::string& descr, const std::string& shape, const std::string& values,
                int version = 1, const std::string& order = "False");

/// A whole WAV file of whole-number samples, put together by hand.
std::string wav(int channels, int bits, const std::string& values, int rate = 48000);

}  // namespace halo::test
