// Values in host memory that end where they should: what reads past the last of them is found.
#pragma once

#include <cstddef>
#include <functional>
#include <span>

namespace halo {

/// A copy of some values, behind which memory that nobody may read begins at once.
class GuardedValues {
 public:
  /// Holds `values` over and over, `count` cells in all. Throws std::bad_alloc.
  GuardedValues(std::span<const float> values, std::size_t count);
  ~GuardedValues();
  GuardedValues(const GuardedValues&) = delete;
  GuardedValues& operator=(const GuardedValues&) = delete;

  const float* data() const { return data_; }
  std::size_t size() const { return count_; }

  /// Calls `use`, which may read the values; whether it read beyond the last of them, up to 64 KiB. It gets
  /// zeros there and goes on. One at a time in the program.
  bool reads_beyond(const std::function<void()>& use);

 private:
  std::size_t count_;
  std::size_t bytes_;  // of all, with the guard
  unsigned char* memory_;
  unsigned char* guard_;  // the end of the values
  float* data_;
};

}  // namespace halo
