#include "common/simt/checker/order.hpp"

namespace simt::checker {

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
  nodes_.push_back({a, b, 0, {}});
  return static_cast<Clock>(nodes_.size() - 1);
}

Clock Order::with(Clock a, const Point& point) {
  if (is_full()) return a;
  nodes_.push_back({a, 0, 0, point});
  return static_cast<Clock>(nodes_.size() - 1);
}

template <class Is>
bool Order::find(Clock clock, Is is) {
  if (clock == 0) return false;
  ++question_;
  open_.assign(1, clock);
  while (!open_.empty()) {
    Node& node = nodes_[open_.back()];
    open_.pop_back();
    if (node.seen == question_) continue;
    node.seen = question_;
    if (is(node.point)) return true;
    if (steps_left_ == 0) return true;
    --steps_left_;
    // What was joined last is looked at first.
    if (node.a != 0) open_.push_back(node.a);
    if (node.b != 0) open_.push_back(node.b);
  }
  return is_full();
}

bool Order::has(Clock clock, std::int32_t block, unsigned thread, std::int32_t moment) {
  return find(clock, [&](const Point& p) {
    return p.block == block &&
           (moment < p.barrier ||
            (p.thread / 32 == thread / 32 &&
             (moment < p.warp || ((p.lanes & lane_of(thread)) != 0 && moment < p.own))));
  });
}

bool Order::has_barrier_after(Clock clock, std::int32_t block, std::int32_t moment) {
  return find(clock, [&](const Point& p) { return p.block == block && moment < p.barrier; });
}

void Order::clear() {
  nodes_.assign(1, Node{});
  nodes_.shrink_to_fit();
  question_ = 0;
  steps_left_ = kMostSteps;
}

}  // namespace simt::checker
