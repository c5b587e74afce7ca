// What one instruction of a warp costs in memory, as Nsight Compute counts it on an H200 (sm_90).
#pragma once

#include <cstdint>
#include <span>

namespace simt::memory {

/// 32 lanes that access so many bytes each at these addresses; `mask` says which lanes do.
struct WarpAddresses {
  std::span<const std::uint64_t, 32> address;
  std::uint32_t mask = 0;
  int bytes = 4;
  bool consecutive = false;  // neighbouring lanes, each behind the one before it
  std::uint64_t least = 0;   // address
  std::uint64_t beyond = 0;  // the end of the last
};

/// Aligned blocks of 32 bytes that are touched, whatever the caches hold.
int sectors(const WarpAddresses& access);
/// Of local memory, by where they are in each lane's own: there 4 bytes of a lane lie beside the same of its neighbours.
int local_sectors(const WarpAddresses& access);
/// Different addresses: requests of constant memory.
int distinct(const WarpAddresses& access);
/// The most lanes that access parts of one word of 4 bytes.
int most_of_a_word(const WarpAddresses& access);
/// Passes through the 32 banks of shared memory, the fewest for as many lanes of this width, and what a GPU calls conflicts.
struct Wavefronts {
  int taken = 0;
  int fewest = 0;
  int conflicts = 0;
};
Wavefronts wavefronts(const WarpAddresses& access, bool is_load);
/// For which of the lanes a compare-and-swap in shared memory works whose word all of them have just loaded: one of each
/// bank, and of 8 bytes one of each half of the warp, unless another has changed that word. Found on an H200.
std::uint32_t swapped(const WarpAddresses& access);

/// Asynchronous copies to shared memory, by both sides: through the first cache (cp.async.ca), past it (.cg), past it with
/// zeros behind what is read, or past it where a register says how much is read or nothing is.
enum class Copy : std::uint8_t { cached, past_cache, past_cache_in_part, past_cache_or_zeros };
/// Where a lane copies from that only fills in zeros.
inline constexpr std::uint64_t kNowhere = ~std::uint64_t{0};
int copied_sectors(Copy way, const WarpAddresses& from, std::span<const std::uint64_t> to);
Wavefronts copied_wavefronts(Copy way, const WarpAddresses& to,
                             std::span<const std::uint64_t> from);

}  // namespace simt::memory
