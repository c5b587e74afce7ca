// Device memory. Addresses of the device lie in a range that the host cannot touch; the engine reaches the same pages by
// a second mapping.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>

namespace simt::memory {

struct Allocation {
  std::uint64_t begin = 0;
  std::uint64_t bytes = 0;
  std::string name;
  bool is_freed = false;
  bool is_open = false;  // host code may touch it, at the same address
  bool is_sparse = false;
  std::uint64_t end() const { return begin + bytes; }
};

/// What host code may do with open memory.
enum class HostAccess : std::uint8_t { none, reads, all };

class Arena {
 public:
  /// Reserves so many bytes of addresses. Throws std::system_error where that fails.
  explicit Arena(std::size_t bytes);
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  /// At a multiple of 256, with room behind it that belongs to nobody. If it is open, host code may touch it too, and it
  /// has its pages to itself. Throws std::bad_alloc if the arena is full.
  std::uint64_t allocate(std::size_t bytes, const std::string& name, bool is_open = false);
  /// The same for kernels, of addresses apart: what they take moves nothing of what host code asks for.
  std::uint64_t allocate_for_kernel(std::size_t bytes, const std::string& name);
  /// Memory that reads as `values`, over and over, or as zeros if there are none, and of which only the pages cost
  /// anything that are written. It begins at, and has to itself, multiples of kSparseUnit; once it is freed its addresses
  /// are used again.
  std::uint64_t allocate_sparse(std::size_t bytes, std::span<const std::byte> values,
                                bool is_open = false);
  static constexpr std::uint64_t kSparseUnit = 1 << 18;
  /// Addresses alone, of which nothing belongs to anybody until it is given.
  std::uint64_t reserve_range(std::size_t bytes, std::uint64_t alignment);
  /// Makes a part of it memory, one with what lies beside it; and nobody's again, with nothing in it.
  void give_range(std::uint64_t begin, std::size_t bytes, const std::string& name);
  void take_range(std::uint64_t begin, std::size_t bytes);
  /// Memory of the host's own, outside of the arena, that kernels may touch as well.
  void lend(std::uint64_t begin, std::size_t bytes, const std::string& name);
  /// False if no allocation begins there. Its addresses are not given out again while others can be.
  bool free(std::uint64_t address);
  /// The allocation that holds this address, or had it; null if it never belonged to one.
  const Allocation* find(std::uint64_t address) const;
  /// The same, or else the one that is nearest; null if there is none.
  const Allocation* nearest(std::uint64_t address) const;
  /// Whether the page belongs to memory that host code may touch, and for how long what.
  bool is_open(std::uint64_t page) const;
  void let_host(std::uint64_t page, std::size_t bytes, HostAccess access);
  std::uint64_t begin() const { return begin_; }
  bool contains(std::uint64_t address) const { return address - begin_ < bytes_; }
  /// Where the engine finds the byte of an allocation's address.
  std::byte* host(std::uint64_t address) const {
    return contains(address) ? alias_ + (address - begin_) : reinterpret_cast<std::byte*>(address);
  }

 private:
  std::uint64_t reserve(std::size_t bytes, std::uint64_t alignment, std::uint64_t from,
                        std::uint64_t limit) const;
  void put_back(std::uint64_t begin, std::size_t bytes);

  std::uint64_t begin_ = 0;
  std::size_t bytes_ = 0;
  std::byte* alias_ = nullptr;
  int file_ = -1;  // of the pages, where they must be a file's
  std::uint64_t next_ = 0;
  std::uint64_t of_kernels_ = 0;  // where their addresses begin
  std::uint64_t next_of_kernels_ = 0;
  std::map<std::uint64_t, Allocation> allocations_;  // by where they end
};

}  // namespace simt::memory
