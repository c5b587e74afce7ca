// The bounded record of which lane touched what (simt.hpp, Trace). A worker keeps the requests of each warp of
// its block; when the block ends, those of the warps that were asked for stay: for each place of the
// code the first warp that came there, the one in the middle of the grid, and the one whose requests cost most
// beyond the fewest.
#pragma once

#include <cstdint>
#include <map>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "common/simt/runtime/machine.hpp"
#include "common/simt/simt.hpp"

namespace simt {

// Addresses of the active lanes of one warp instruction, with the lane each belongs to.
struct WarpAccess {
  std::uint64_t address[kWarpSize];
  unsigned lane[kWarpSize];
  unsigned count = 0;
  unsigned bytes = 0;
};

// What a request takes, and the fewest that as many bytes could take: sectors, wavefronts, or, of constant
// memory, distinct addresses. Atomics of shared memory have none.
struct RequestCost {
  unsigned taken = 0;
  unsigned fewest = 0;
};
RequestCost cost_of(EventKind kind, const WarpAccess& access);  // replay.cpp

// Of one launch, how a warp gets into the trace without being the first or the worst.
struct TracedMiddle {
  std::uint64_t block = 0;
  unsigned warp = 0;
};

// Requests of one warp, those of each place the first few.
class WarpTrace {
 public:
  struct Request {
    std::uint32_t step = 0;
    std::uint64_t site = 0;  // an event's key without its frame: place, kind, bytes
    RequestCost cost;
    WarpAccess access;
  };
  struct Site {
    std::uint64_t excess = 0;  // of all its requests
    std::uint64_t fewest = 0;
    std::uint32_t requests = 0;
    std::vector<std::uint32_t> kept = {};  // among requests()
  };

  void clear();
  void add(std::uint64_t key, const WarpAccess& access);
  const std::unordered_map<std::uint64_t, Site>& sites() const { return sites_; }
  const std::vector<Request>& requests() const { return requests_; }
  std::uint32_t steps() const { return steps_; }

 private:
  static constexpr std::size_t kMostOfSite = 16;
  // Beyond these a warp keeps the first request of each place, of which there are as many as it has code.
  static constexpr std::size_t kMostOfWarp = 1024;

  std::unordered_map<std::uint64_t, Site> sites_;
  std::vector<Request> requests_;
  std::uint32_t steps_ = 0;
};

// What stays of a launch, of one worker or of all.
class LaunchTrace {
 public:
  // The block that the calling worker has just run: its shared memory is still where it was.
  // `first_shared`: where the kernel's own shared arrays begin.
  void take(std::uint64_t block, const WarpTrace* warps, unsigned warp_count,
            const TracedMiddle& middle, std::uintptr_t first_shared);
  void merge(LaunchTrace&& other);
  void clear();
  // With the lines of the program's image; blocks by the grid's shape.
  Trace told(const unsigned grid[3]) const;

 private:
  struct Request {
    std::uint32_t step = 0;
    RequestCost cost;
    std::vector<LaneRun> lanes;
  };
  struct Sample {
    bool any = false;
    std::uint64_t block = 0;
    unsigned warp = 0;
    std::uint64_t excess = 0;   // of this place
    std::uint32_t steps = 0;    // of the whole warp
    std::uint32_t of_site = 0;  // of this place, kept or not
    std::vector<Request> requests;
  };
  struct Samples {
    Sample first, middle, worst;
    std::uint64_t fewest = 0;  // of all requests of all warps
  };
  static bool is_earlier(const Sample& a, const Sample& b) {
    return !b.any || std::tie(a.block, a.warp) < std::tie(b.block, b.warp);
  }
  static bool is_worse(const Sample& a, const Sample& b) {
    return !b.any || a.excess > b.excess || (a.excess == b.excess && is_earlier(a, b));
  }

  std::map<std::uint64_t, Samples> sites_;
};

}  // namespace simt
