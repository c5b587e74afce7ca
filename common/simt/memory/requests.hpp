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
/// Passes through the 32 banks of shared memory, and the fewest for as many lanes of this width.
struct Wavefronts {
  int taken = 0;
  int fewest = 0;
};
Wavefronts wavefronts(const WarpAddresses& access, bool is_load);

}  // namespace simt::memory
