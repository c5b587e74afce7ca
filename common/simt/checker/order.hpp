// What comes before what, where not barriers say so but fences and the variables by which data are handed on: causality
// order of the PTX memory model (PTX ISA, "Memory Consistency Model"), over points of threads.
#pragma once

#include <cstdint>
#include <vector>

namespace simt::checker {

/// Where threads of a warp are: of their block what lies before the last barrier, of the warp what lies before the last
/// __syncwarp, of themselves what lies before this moment.
struct Point {
  std::int32_t block = 0;
  unsigned thread = 0;                          // one of the warp
  std::int32_t barrier = 0, warp = 0, own = 0;  // moments
  std::uint32_t lanes = 0;                      // which threads
};

/// For Point::lanes.
inline std::uint32_t lane_of(unsigned thread) { return 1u << thread % 32; }

/// A set of points and all that they knew; 0 is the empty one. Never changes.
using Clock = std::uint32_t;

/// The clocks of a launch.
class Order {
 public:
  Clock join(Clock a, Clock b);
  Clock with(Clock a, const Point& point);
  /// Whether this access of a thread comes before. When it takes too long to tell, or there are too many clocks, yes:
  /// nobody is accused.
  bool has(Clock clock, std::int32_t block, unsigned thread, std::int32_t moment);
  /// Whether a barrier of the block does that lies between: whatever thread it was.
  bool has_barrier_after(Clock clock, std::int32_t block, std::int32_t moment);
  bool is_full() const { return nodes_.size() >= kMostNodes; }
  /// Whether has() no longer tells.
  bool has_given_up() const { return steps_left_ == 0 || is_full(); }
  std::size_t size() const { return nodes_.size(); }
  void clear();

 private:
  template <class Is>
  bool find(Clock clock, Is is);
  struct Node {
    Clock a, b;
    std::uint32_t seen;
    Point point;  // block 0: none
  };
  static constexpr std::size_t kMostNodes = std::size_t{1} << 22;
  static constexpr std::uint64_t kMostSteps = 50'000'000;
  std::vector<Node> nodes_ = {Node{}};
  std::vector<Clock> open_;
  std::uint32_t question_ = 0;
  std::uint64_t steps_left_ = kMostSteps;
};

}  // namespace simt::checker
