// What device memory held before a launch, so that it can be run once more (scheduler.cpp).
//
// Whoever is first to write to a piece of memory in a launch keeps a copy of it. Each OS thread that runs
// blocks has an Undo; all share the marks of what has been kept.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace simt {

class Undo {
 public:
  // Before the workers of a launch start, that is to be watched.
  static void begin_launch();

  // The running lane is about to write to the allocated word that the race checks know by `offset`.
  void before_write(std::size_t offset) {
    const std::size_t piece = offset / kPieceBytes;
    if (marks_[piece].load(std::memory_order_acquire) != kept_mark_) keep(piece);
  }
  // A basic block ran for the first time (coverage.hpp).
  void block_reached(std::uint32_t pc) { blocks_.push_back(pc); }

  // No block may be running. Afterwards memory, what is known of it and the coverage are as they were
  // before the launch, as far as this one has kept them.
  void put_back();
  void forget();

 private:
  // Allocations begin at multiples of it: what the host does to one meanwhile stays when another that
  // the launch wrote to is put back.
  static constexpr std::size_t kPieceBytes = 256;
  struct Piece {
    std::size_t number;
    std::uint8_t bytes[kPieceBytes];
    std::uint8_t map[kPieceBytes / 4];  // g_word_map's
  };
  void keep(std::size_t piece);

  // By piece: kept in this launch, or somebody is about to.
  static inline std::atomic<std::uint32_t>* marks_ = nullptr;
  static inline std::uint32_t kept_mark_ = 0;
  std::vector<Piece> pieces_;
  std::vector<std::uint32_t> blocks_;
};

}  // namespace simt
