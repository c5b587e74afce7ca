#include "common/simt/checker/order.hpp"

#include <algorithm>

namespace simt::checker {
namespace {

std::size_t slot_of(std::uint32_t a, std::uint32_t b, std::size_t slots) {
  return (a * 0x9e3779b1u ^ b * 0x85ebca6bu) >> 7 & (slots - 1);
}

}  // namespace

Clock Order::join(Clock a, Clock b) {
  if (a == b || b == 0) return a;
  if (a == 0) return b;
  // Who polls joins the same again and again.
  Clock newest = a;
  for (int i = 0; i < 4 && newest != 0; ++i) {
    if (nodes_[newest].b == b) return a;
    newest = nodes_[newest].a;
  }
  if (is_full()) return a;
  Joined& recent = joined_[slot_of(a, b, kRecent)];
  if (recent.a != a || recent.b != b) recent = {a, b, add({a, b, 0, {}})};
  return recent.both;
}

Clock Order::with(Clock a, const Point& point) {
  if (is_full()) return a;
  const Clock clock = add({a, 0, 0, point});
  const std::int32_t last = std::max({point.barrier, point.warp, point.own});
  Points& its = points_[point.block];
  if (its.empty() || its.back().first < last) its.emplace_back(last, clock);
  return clock;
}

Clock Order::add(const Node& node) {
  if (joined_.empty()) {
    joined_.resize(kRecent);
    answers_.resize(kRecent);
  }
  nodes_.push_back(node);
  return static_cast<Clock>(nodes_.size() - 1);
}

// The first clock with a point of the block behind this moment; as many as there are if none has.
Clock Order::first_after(std::int32_t block, std::int32_t moment) const {
  const auto found = points_.find(block);
  if (found != points_.end()) {
    const Points& its = found->second;
    const auto first =
        std::upper_bound(its.begin(), its.end(), moment,
                         [](std::int32_t at, const auto& point) { return at < point.first; });
    if (first != its.end()) return first->second;
  }
  return static_cast<Clock>(nodes_.size());
}

// Looks at what a clock is made of, but for clocks before the first, which were made too early to be it.
template <class Is>
Order::Found Order::find(Clock clock, Clock first, Is is) {
  if (clock < first) return Found::no;
  ++question_;
  open_.assign(1, clock);
  while (!open_.empty()) {
    Node& node = nodes_[open_.back()];
    open_.pop_back();
    if (node.seen == question_) continue;
    node.seen = question_;
    if (is(node.point)) return Found::yes;
    if (steps_left_ == 0) return Found::given_up;
    --steps_left_;
    // What was joined last is looked at first.
    if (node.a >= first) open_.push_back(node.a);
    if (node.b >= first) open_.push_back(node.b);
  }
  return Found::no;
}

bool Order::has(Clock clock, std::int32_t block, unsigned thread, std::int32_t moment) {
  if (clock == 0) return false;
  const std::uint32_t who = static_cast<std::uint32_t>(block) << 10 ^ thread;
  Answer& recent = answers_[slot_of(clock, who, kRecent)];
  if (recent.clock != clock || recent.block != block || recent.thread != thread) {
    recent = {clock, block, thread};
  }
  if (moment < recent.before) return true;
  if (moment >= recent.not_from) return is_full();
  const Found found = find(clock, first_after(block, moment), [&](const Point& p) {
    return p.block == block &&
           (moment < p.barrier ||
            (p.thread / 32 == thread / 32 &&
             (moment < p.warp || ((p.lanes & lane_of(thread)) != 0 && moment < p.own))));
  });
  if (found == Found::yes) recent.before = moment + 1;
  if (found == Found::no) recent.not_from = moment;
  return found != Found::no || is_full();
}

bool Order::has_barrier_after(Clock clock, std::int32_t block, std::int32_t moment) {
  if (clock == 0) return false;
  const Found found = find(clock, first_after(block, moment),
                           [&](const Point& p) { return p.block == block && moment < p.barrier; });
  return found != Found::no || is_full();
}

bool Order::has_any_after(Clock clock, std::int32_t block, std::int32_t moment) {
  if (clock == 0) return false;
  const Found found = find(clock, first_after(block, moment), [&](const Point& p) {
    return p.block == block && (moment < p.barrier || moment < p.warp || moment < p.own);
  });
  return found == Found::yes;
}

void Order::clear() {
  if (nodes_.size() == 1) return;
  nodes_.assign(1, Node{});
  nodes_.shrink_to_fit();
  points_.clear();
  joined_.clear();
  answers_.clear();
  question_ = 0;
  steps_left_ = kMostSteps;
}

}  // namespace simt::checker
