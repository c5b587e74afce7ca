// What comes before what, where not barriers say so but fences and the variables by which data are handed on: causality
// order of the PTX memory model (PTX ISA, "Memory Consistency Model"), over points of threads.
#pragma once

#include <cstdint>
#include <limits>
#include <unordered_map>
#include <utility>
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
  /// Whether any thread of the block was there at a later moment.
  bool has_any_after(Clock clock, std::int32_t block, std::int32_t moment);
  bool is_full() const { return nodes_.size() >= kMostNodes; }
  /// Whether has() no longer tells.
  bool has_given_up() const { return steps_left_ == 0 || is_full(); }
  std::size_t size() const { return nodes_.size(); }
  void clear();

 private:
  struct Node {
    Clock a, b;  // older ones
    std::uint32_t seen;
    Point point;  // block 0: none
  };
  enum class Found : std::uint8_t { no, yes, given_up };
  Clock add(const Node& node);
  Clock first_after(std::int32_t block, std::int32_t moment) const;
  template <class Is>
  Found find(Clock clock, Clock first, Is is);
  static constexpr std::size_t kMostNodes = std::size_t{1} << 22;
  static constexpr std::uint64_t kMostSteps = 50'000'000;
  std::vector<Node> nodes_ = {Node{}};
  std::vector<Clock> open_;
  // Of each block its points that are behind all before them: how far, and their clocks.
  using Points = std::vector<std::pair<std::int32_t, Clock>>;
  std::unordered_map<std::int32_t, Points> points_;
  // The last of them, by hash: lanes of a warp join the same, and ask of neighbouring words.
  struct Joined {
    Clock a = 0, b = 0, both = 0;
  };
  struct Answer {
    Clock clock = 0;
    std::int32_t block = 0;
    unsigned thread = 0;
    // What the thread did at moments below the one comes before, and from the other on does not.
    std::int32_t before = std::numeric_limits<std::int32_t>::min();
    std::int32_t not_from = std::numeric_limits<std::int32_t>::max();
  };
  static constexpr std::size_t kRecent = std::size_t{1} << 12;
  std::vector<Joined> joined_;
  std::vector<Answer> answers_;
  std::uint32_t question_ = 0;
  std::uint64_t steps_left_ = kMostSteps;
};

}  // namespace simt::checker
