// How an instruction of a warp reaches memory: its lanes' addresses, sorted by what memory they are in, checked, told to
// the observer, and found.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

#include "common/simt/machine/decode.hpp"
#include "common/simt/machine/grid.hpp"

namespace simt::machine {

using Addresses64 = std::array<std::uint64_t, kLanes>;

inline constexpr int kAddress = 3;  // of an address in Step::from

/// Where the lanes of an access find their bytes.
struct Places {
  std::byte* first = nullptr;           // of consecutive lanes: the first one's
  std::array<std::byte*, kLanes> each;  // of others

  std::byte* of(const memory::WarpAddresses& lanes, std::size_t lane) const {
    return first != nullptr ? first + (lanes.address[lane] - lanes.least) : each[lane];
  }
};

/// Lanes of an access whose addresses are in one memory; their addresses are now those that they have there.
struct Part {
  Window window;
  std::uint32_t lanes;
  const Block* owner;       // of shared memory; null where the cluster has no such block
  bool is_foreign = false;  // and the instruction reaches only its own block's
};
Part first_part(Window named, Warp& warp, Addresses64& addresses, std::uint32_t open);

/// False, and told, if a lane may not touch what it names.
bool describe_and_find(Warp& warp, WarpAccess& access, Addresses64& addresses, const Part& part,
                       Places& places);

WarpAccess::Space space_of(Window window);
inline bool is_of_shared(Window window) {
  return window == Window::shared || window == Window::cluster;
}

/// Of an atomic that names its memory the bytes that ptxas has a lane load first; 0: none.
int loaded_by_atomic(const ptx::Instruction& one);

/// What a lane may read from this generic address on, to the end of the piece of memory that holds it.
[[gnu::visibility("default")]] std::span<const std::byte> readable(Warp& warp, int lane,
                                                                   std::uint64_t address);

/// Addresses as a step has them: a register, of 64 or 32 bits, and an offset.
template <class Address = std::uint64_t>
Addresses64 addresses_of(Warp& warp, std::uint32_t slot, std::int64_t offset) {
  const Address* const base = warp.values<const Address>(slot);
  Addresses64 addresses;
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    addresses[lane] = base[lane] + static_cast<std::uint64_t>(offset);
  }
  return addresses;
}

/// Calls move(places, lanes, owner) for the given lanes of each memory. False once a lane may not
/// touch what it names: it is faulty then. `copied`: WarpAccess.
template <class Move>
bool access(const Step* step, Warp& warp, WarpAccess::Kind kind, Window named, int bytes,
            Addresses64& addresses, std::uint32_t lanes, Move move,
            std::span<const std::uint64_t> copied = {}) {
  bool has_sent = false;
  while (lanes != 0) {
    const Part part = first_part(named, warp, addresses, lanes);
    lanes &= ~part.lanes;
    // Lanes of other memories keep their addresses for their turn.
    Addresses64 copy;
    if (lanes != 0) copy = addresses;
    Addresses64& its = lanes != 0 ? copy : addresses;
    WarpAccess told{space_of(part.window),
                    kind,
                    {its, part.lanes, bytes},
                    step,
                    &warp,
                    part.owner,
                    has_sent,
                    copied};
    has_sent |= told.is_sent();
    Places places;
    if (!describe_and_find(warp, told, its, part, places)) return false;
    const bool is_told = told.space != WarpAccess::Space::local || part.window == Window::local;
    if (is_told) {
      warp.faulty |= warp.block->grid->observer->access(told);
    } else {
      warp.faulty |= warp.block->grid->observer->parameter(told);
    }
    if (!warp.undefined->empty()) warp.begin_to_follow();
    if (told.is_counted() && told.space == WarpAccess::Space::global) ++warp.global_requests;
    if (warp.faulty != 0) return false;
    move(places, told.lanes, part.owner);
  }
  return true;
}

/// The same for a step that has one address, for all active lanes.
template <class Address = std::uint64_t, class Move>
const Step* access(const Step* step, Warp& warp, WarpAccess::Kind kind, int bytes, Move move) {
  Addresses64 addresses = addresses_of<Address>(warp, step->from[kAddress], step->offset);
  if (is_of_shared(step->window)) {
    // These have 32 bits, in which a sum may have gone round.
    for (std::uint64_t& one : addresses) one &= 0xffff'ffff;
  }
  return access(step, warp, kind, step->window, bytes, addresses, warp.active,
                [&](const Places& places, const memory::WarpAddresses& its, const Block*) {
                  move(places, its);
                })
             ? step + 1
             : nullptr;
}

/// red.async [a], b, [mbarrier]: `run` on memory of a block of the cluster, whose bytes arrive at a barrier there.
void build_async_reduction(Decoder& decoder, const ptx::Instruction& one, Execute run);

Window window_named(const Decoder& decoder, const ptx::Instruction& one,
                    const ptx::Operand& address);
Order order_of(const ptx::Instruction& one, Order usual);
Scope scope_of(const ptx::Instruction& one);

}  // namespace simt::machine
