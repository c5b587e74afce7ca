// The bounded record of which lane touched what: a launch's Trace (simt.hpp). Of each warp of a block its requests are kept
// until the block ends; of each place in the code those stay of the first warp that came there, of the one in the middle of
// the grid, and of the one whose requests cost most beyond the fewest.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "common/simt/machine/grid.hpp"
#include "common/simt/ptx/module.hpp"
#include "common/simt/simt.hpp"

namespace simt::report {

class TraceLog {
 public:
  enum class Space : std::uint8_t { global, shared, dshared, constant };
  /// The array at an address, and where it begins. Of shared memory by where it is in the block's.
  using ArrayAt = std::function<std::pair<TracedArray, std::uint64_t>(Space, std::uint64_t)>;

  /// All arguments must outlive it. `middle`: the block that stands for the middle of the grid.
  TraceLog(const machine::Grid& grid, const ptx::Module& module, std::uint64_t middle,
           ArrayAt array_at);

  /// By any thread, as machine::Observer has them.
  void access(const machine::WarpAccess& access);
  void end(const machine::Block& block);

  /// After the launch.
  Trace told() const;

 private:
  // A place in the code and what it does there: an instruction may reach several memories.
  struct Key {
    std::int32_t site;
    Space space;
    machine::WarpAccess::Kind kind;
    auto operator<=>(const Key&) const = default;
  };
  struct Cost {
    std::uint32_t taken = 0, fewest = 0;
  };
  struct Request {
    std::uint32_t step = 0;
    Cost cost;
    unsigned bytes = 0;
    std::vector<LaneRun> lanes;
  };
  // Of a warp.
  struct Site {
    std::uint64_t excess = 0, fewest = 0, lanes = 0;  // of all its requests
    std::uint32_t requests = 0;
    std::vector<Request> kept = {};
  };
  struct WarpLog {
    std::map<Key, Site> sites;
    std::size_t kept = 0;
    std::uint32_t steps = 0;
  };
  // What stays of a warp for one place.
  struct Sample {
    bool any = false;
    std::uint64_t block = 0;
    unsigned warp = 0;
    std::uint64_t excess = 0;
    std::uint32_t steps = 0;
    std::vector<Request> requests = {};
  };
  struct Samples {
    Sample first, middle, worst;
    std::uint64_t fewest = 0, requests = 0, lanes = 0;  // of all requests of all warps
  };
  static bool is_earlier(const Sample& a, const Sample& b) {
    return !b.any || std::tie(a.block, a.warp) < std::tie(b.block, b.warp);
  }
  static bool is_worse(const Sample& a, const Sample& b) {
    return !b.any || a.excess > b.excess || (a.excess == b.excess && is_earlier(a, b));
  }
  static Space space_of(const machine::WarpAccess& access);
  static Cost cost_of(Space space, const machine::WarpAccess& access);
  static std::string name_of(const Key& key);
  std::vector<LaneRun> runs_of(Space space, const machine::WarpAccess& access) const;
  void mark(const machine::WarpAccess& access);

  const machine::Grid& grid_;
  const ptx::Module& module_;
  std::uint64_t middle_block_;
  unsigned middle_warp_;
  ArrayAt array_at_;
  std::mutex mutex_;
  std::unordered_map<const machine::Block*, std::vector<WarpLog>> open_;
  std::map<Key, Samples> sites_;
  std::map<const TracedArray*, ArrayMap> maps_;
  // The array that was marked last: the next request mostly goes there as well.
  const TracedArray* marked_ = nullptr;
  std::uint64_t marked_begin_ = 0;
};

}  // namespace simt::report
