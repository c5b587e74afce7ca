// What memory held before a launch, so that it can be run once more.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "common/simt/checker/initialised.hpp"
#include "common/simt/memory/arena.hpp"

namespace simt::checker {

class Undo {
 public:
  /// For `bytes` of addresses from the arena's begin.
  Undo(const memory::Arena& arena, std::size_t bytes, Initialised& initialised);
  ~Undo();
  Undo(const Undo&) = delete;
  Undo& operator=(const Undo&) = delete;

  /// A launch begins; what was kept for the last one is forgotten.
  void begin();
  /// Somebody is about to write there. Several threads may say so at a time.
  void before_write(std::uint64_t address, std::size_t bytes);
  /// Nobody writes any more: memory, and what is known to be initialised, are as they were at begin().
  void put_back();

 private:
  static constexpr std::size_t kPieceBytes = 4096;
  struct Piece {
    std::uint64_t begin;
    std::array<std::byte, kPieceBytes> bytes;
    std::array<std::uint64_t, kPieceBytes / 64> initialised;
  };
  void keep(std::size_t piece);

  const memory::Arena& arena_;
  Initialised& initialised_;
  std::size_t count_;
  std::atomic<std::uint32_t>*
      marks_;  // by piece: kept_: it is kept; one less: somebody is about to
  std::uint32_t kept_ = 0;
  std::mutex mutex_;                            // what follows
  std::vector<std::unique_ptr<Piece>> pieces_;  // the first used_ of them; the others are for later
  std::size_t used_ = 0;
  // Of memory that the host has lent, byte by byte, in the order in which it was written.
  std::vector<std::pair<std::byte*, std::byte>> lent_;
};

}  // namespace simt::checker
