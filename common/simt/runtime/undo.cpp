#include "common/simt/runtime/undo.hpp"

#include <algorithm>
#include <cstring>

#include "common/simt/runtime/coverage.hpp"
#include "common/simt/runtime/device_memory.hpp"
#include "common/simt/runtime/machine.hpp"
#include "common/simt/runtime/regions.hpp"
#include "common/simt/runtime/reserve.hpp"

namespace simt {
namespace {

// How much of the piece that begins at `offset` there is: variables may end within it.
std::size_t bytes_at(std::size_t offset, std::size_t most) {
  if (offset < kArenaBytes) return most;
  return std::min(most, program_regions().device.bytes - (offset - kArenaBytes));
}

}  // namespace

void Undo::begin_launch() {
  if (marks_ == nullptr) {
    const std::size_t pieces = (kArenaBytes + program_regions().device.bytes) / kPieceBytes + 1;
    marks_ = static_cast<std::atomic<std::uint32_t>*>(
        reserve_addresses(pieces * sizeof(*marks_), "running launches again"));
  }
  kept_mark_ += 2;  // the number below it: somebody is about to keep the piece
}

void Undo::keep(std::size_t piece) {
  std::atomic<std::uint32_t>& mark = marks_[piece];
  std::uint32_t seen = mark.load(std::memory_order_acquire);
  if (seen + 1 < kept_mark_ && mark.compare_exchange_strong(seen, kept_mark_ - 1)) {
    const std::size_t offset = piece * kPieceBytes;
    Piece& copy = pieces_.emplace_back();
    copy.number = piece;
    std::memcpy(copy.bytes, reinterpret_cast<const void*>(global_address(offset)),
                bytes_at(offset, kPieceBytes));
    if (offset < kArenaBytes) std::memcpy(copy.map, g_word_map + offset / 4, sizeof copy.map);
    mark.store(kept_mark_, std::memory_order_release);
    return;
  }
  while (mark.load(std::memory_order_acquire) != kept_mark_) {
  }
}

void Undo::put_back() {
  for (const Piece& copy : pieces_) {
    const std::size_t offset = copy.number * kPieceBytes;
    std::memcpy(reinterpret_cast<void*>(global_address(offset)), copy.bytes,
                bytes_at(offset, kPieceBytes));
    if (offset < kArenaBytes) std::memcpy(g_word_map + offset / 4, copy.map, sizeof copy.map);
  }
  for (const std::uint32_t pc : blocks_) {
    g_block_reached[pc >> 2] &= static_cast<std::uint8_t>(~kBlockReached);
  }
  forget();
}

void Undo::forget() {
  constexpr std::size_t kFewPieces = 1 << 14;
  pieces_.clear();
  if (pieces_.capacity() > kFewPieces) pieces_.shrink_to_fit();
  blocks_.clear();
}

}  // namespace simt
