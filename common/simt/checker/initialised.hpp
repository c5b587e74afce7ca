// Which bytes of a range of addresses somebody has written: a bit a byte.
#pragma once

#include <cstddef>
#include <cstdint>

namespace simt::checker {

class Initialised {
 public:
  /// Several threads mark and ask at a time.
  bool is_parallel = false;

  /// For `bytes` of addresses from `begin` on, a multiple of 64; at first none is.
  Initialised(std::uint64_t begin, std::size_t bytes);
  ~Initialised();
  Initialised(const Initialised&) = delete;
  Initialised& operator=(const Initialised&) = delete;

  void mark(std::uint64_t address, std::size_t bytes) {
    const std::uint64_t at = address - begin_;
    if (at % 64 + bytes <= 64) {
      mark_word(at / 64, mask_of(at % 64, bytes));
    } else {
      mark_many(at, bytes);
    }
  }
  void forget(std::uint64_t address, std::size_t bytes);
  /// The same of ranges that begin and end at multiples of 256 KiB, and cost next to nothing.
  void mark_sparse(std::uint64_t address, std::size_t bytes);
  void forget_sparse(std::uint64_t address, std::size_t bytes);
  /// What is copied is as initialised as what it is copied from.
  void copy(std::uint64_t to, std::uint64_t from, std::size_t bytes);

  bool all(std::uint64_t address, std::size_t bytes) const {
    const std::uint64_t at = address - begin_;
    if (at % 64 + bytes <= 64) {
      const std::uint64_t mask = mask_of(at % 64, bytes);
      return (load(at / 64) & mask) == mask;
    }
    std::uint64_t word = at / 64;
    std::uint64_t lacking = ~load(word) & mask_of(at % 64, 64 - at % 64);
    const std::uint64_t end = at + bytes;
    for (++word; word < end / 64; ++word) lacking |= ~load(word);
    if (end % 64 != 0) lacking |= ~load(word) & mask_of(0, end % 64);
    return lacking == 0;
  }
  /// Of up to 64 bytes those that are, a bit each.
  std::uint64_t bits(std::uint64_t address, std::size_t bytes) const;
  /// The 64 bytes from an address on, a multiple of 64: those that are.
  void put(std::uint64_t address, std::uint64_t bits) {
    __atomic_store_n(&words_[(address - begin_) / 64], bits, __ATOMIC_RELAXED);
  }
  /// All of the range counts as not written again.
  void clear();

 private:
  static std::uint64_t mask_of(std::uint64_t first, std::size_t bytes) {
    return (bytes == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bytes) - 1) << first;
  }
  std::uint64_t load(std::uint64_t word) const {
    return __atomic_load_n(&words_[word], __ATOMIC_RELAXED);
  }
  void mark_word(std::uint64_t word, std::uint64_t mask) {
    const std::uint64_t before = load(word);
    if ((before & mask) == mask) return;
    if (is_parallel) {
      __atomic_fetch_or(&words_[word], mask, __ATOMIC_RELAXED);
    } else {
      words_[word] = before | mask;
    }
  }
  void mark_many(std::uint64_t at, std::size_t bytes);
  std::uint64_t begin_;
  std::size_t count_;
  std::uint64_t* words_;
};

}  // namespace simt::checker
