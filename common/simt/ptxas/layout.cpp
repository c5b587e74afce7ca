#include "common/simt/ptxas/layout.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "common/simt/ptxas/jumps.hpp"

namespace simt::ptxas {
namespace {

using ptx::Instruction;
using ptx::Operand;

// Instructions that run one after the other, and the blocks that may follow, by number.
struct BasicBlock {
  std::int32_t begin, end;
  bool falls_through = true;  // into the one that stands behind it
  std::vector<int> next = {}, before = {};
};

// The last place that every way from the root to another goes through (Cooper, Harvey and Kennedy, A Simple, Fast Dominance
// Algorithm).
class Dominators {
 public:
  Dominators(const std::vector<std::vector<int>>& next, int root)
      : above_(next.size(), kNone), number_(next.size(), kNone) {
    std::vector<std::vector<int>> before(next.size());
    std::vector<int> order;
    std::vector<bool> seen(next.size());
    std::vector<std::pair<int, std::size_t>> path{{root, 0}};
    seen[index(root)] = true;
    while (!path.empty()) {
      auto& [place, done] = path.back();
      const std::vector<int>& all = next[index(place)];
      if (done < all.size()) {
        const int to = all[done++];
        before[index(to)].push_back(place);
        if (seen[index(to)]) continue;
        seen[index(to)] = true;
        path.push_back({to, 0});
        continue;
      }
      number_[index(place)] = static_cast<int>(order.size());
      order.push_back(place);
      path.pop_back();
    }
    above_[index(root)] = root;
    for (bool changed = true; changed;) {
      changed = false;
      for (auto it = order.rbegin() + 1; it != order.rend(); ++it) {
        const int its = common(before[index(*it)], root);
        changed |= above_[index(*it)] != its;
        above_[index(*it)] = its;
      }
    }
  }

  // Whether a way leads from the root to the place.
  bool leads_to(int place) const { return above_[index(place)] != kNone; }
  // Whether no way leads to the place but by this one.
  bool dominates(int one, int place) const {
    if (above_[index(place)] == kNone) return true;
    while (place != one && above_[index(place)] != place) place = above_[index(place)];
    return place == one;
  }
  // The last one on all ways to those of the places to which one leads.
  template <class Places>
  int common(const Places& places, int none) const {
    int found = kNone;
    for (int one : places) {
      if (above_[index(one)] == kNone) continue;
      if (found == kNone) found = one;
      while (one != found) {
        int& lower = number_[index(one)] < number_[index(found)] ? one : found;
        lower = above_[index(lower)];
      }
    }
    return found == kNone ? none : found;
  }

 private:
  static constexpr int kNone = -1;
  static std::size_t index(int place) { return static_cast<std::size_t>(place); }
  std::vector<int> above_, number_;
};

bool ends_thread(const Instruction& one) { return one.opcode == "ret" || one.opcode == "exit"; }

bool is_access(const Instruction& one) {
  constexpr std::string_view kAccesses[] = {"ld",  "st",   "atom", "red", "cp",
                                            "tex", "suld", "sust", "call"};
  return !one.has("param") &&
         std::find(std::begin(kAccesses), std::end(kAccesses), one.opcode) != std::end(kAccesses);
}

bool is_arithmetic(const Instruction& one) {
  constexpr std::string_view kArithmetic[] = {"mov", "add",  "sub",  "mul",  "mad", "shl", "shr",
                                              "and", "or",   "xor",  "not",  "neg", "min", "max",
                                              "cvt", "cvta", "setp", "selp", "div", "rem"};
  return std::find(std::begin(kArithmetic), std::end(kArithmetic), one.opcode) !=
         std::end(kArithmetic);
}

bool names(const Instruction& one, std::string_view symbol) {
  return std::any_of(one.operands.begin(), one.operands.end(), [&](const Operand& its) {
    return its.kind == Operand::Kind::symbol && its.name == symbol;
  });
}

class ControlFlow {
 public:
  explicit ControlFlow(const ptx::Function& function) : function_(function) {
    cut();
    connect();
  }

  // Whether all lanes that are at this place of the text have come the same way and go the same way, with no loop from there
  // on.
  bool is_one_way(std::int32_t place) {
    for (std::int32_t i = 0; i < static_cast<std::int32_t>(function_.body.size()); ++i) {
      const Instruction& one = function_.body[static_cast<std::size_t>(i)];
      if (one.opcode == "brx") return false;
      const bool jumps = one.opcode == "bra";
      if (!jumps && !ends_thread(one)) continue;
      if (one.guard >= 0 && !is_for_all(one.guard) && !(jumps && skips_little(i))) return false;
      if (jumps && i > place && target(function_, one) <= i) return false;
    }
    return true;
  }

  std::vector<Passage> laid_out() {
    find_loops();
    std::vector<int> order(blocks_.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int>(i);
    // What nvcc has put before a loop's head, and goes on there, a round ends with.
    for (const Loop& loop : loops_) {
      std::set<int> ends;
      for (int block = loop.head - 1; block > 0; --block) {
        const std::vector<int>& next = at(block).next;
        if (loop.has(block) && std::all_of(next.begin(), next.end(), [&](int to) {
              return to == loop.head || ends.contains(to) || !loop.has(to);
            })) {
          ends.insert(block);
        }
      }
      const auto last =
          std::find_if(order.rbegin(), order.rend(), [&](int block) { return loop.has(block); });
      std::stable_partition(order.begin(), last.base(),
                            [&](int block) { return !ends.contains(block); });
    }
    // Who comes to a place from behind it would be too late to go on with the others.
    for (std::size_t i = 0; i < late_.size() && i < blocks_.size(); ++i) {
      const auto [from, to] = late_[i];
      if (innermost(from) != innermost(to)) continue;
      order.erase(std::find(order.begin(), order.end(), from));
      const auto its = order.insert(std::find(order.begin(), order.end(), to), from);
      for (const int before : at(from).before) {
        if (before < from && !jumps_back(before, from) &&
            std::find(its, order.end(), before) != order.end()) {
          late_.push_back({before, from});
        }
      }
    }
    for (const Loop& loop : loops_) {
      const std::set<int> ways = ways_out(loop);
      if (ways.empty()) continue;
      const auto rest = std::stable_partition(order.begin(), order.end(),
                                              [&](int block) { return !ways.contains(block); });
      const auto first =
          std::find_if(order.begin(), rest, [&](int block) { return loop.has(block); });
      std::rotate(first, rest, order.end());
    }
    for (int block = 1; block < end(); ++block) {
      const std::set<int> way = way_that_ends(block);
      if (way.empty()) continue;
      const auto first = std::find_if(order.begin(), order.end(), [&](int other) {
        return way.contains(other) || jumps_to(other, block);
      });
      std::stable_partition(first, order.end(), [&](int other) { return way.contains(other); });
    }
    // Who has jumped back from one place waits for those who will from another; a loop within another comes first.
    for (auto loop = loops_.rbegin(); loop != loops_.rend(); ++loop) {
      if (loop->jump_back.size() < 2 || loop->jump_back.contains(loop->head)) continue;
      const auto last =
          std::find_if(order.rbegin(), order.rend(), [&](int block) { return loop->has(block); });
      turns_.emplace(*last, &*loop);
    }
    std::vector<Passage> all;
    // A loop may begin where the function does.
    if (order.front() != 0) all.push_back({0, 0, 0});
    for (std::size_t i = 0; i < order.size(); ++i) {
      const BasicBlock& block = at(order[i]);
      const bool is_followed = i + 1 < order.size() && at(order[i + 1]).begin == block.end;
      const auto turns = turns_.equal_range(order[i]);
      const bool goes_on = block.falls_through && (!is_followed || turns.first != turns.second);
      all.push_back({block.begin, block.end, goes_on ? block.end : -1});
      for (auto turn = turns.first; turn != turns.second; ++turn) {
        const Loop& loop = *turn->second;
        all.push_back({block.end, block.end, at(loop.head).begin});
        for (const int from : loop.jump_back) all.back().comers.push_back(at(from).end - 1);
      }
    }
    return all;
  }

 private:
  // All blocks that come back to the first without leaving it.
  struct Loop {
    int head;
    std::set<int> jump_back = {};
    std::vector<bool> blocks = {};
    int size = 0, last = 0;
    bool has(int block) const { return blocks[static_cast<std::size_t>(block)]; }
  };

  const BasicBlock& at(int block) const { return blocks_[static_cast<std::size_t>(block)]; }
  BasicBlock& at(int block) { return blocks_[static_cast<std::size_t>(block)]; }
  const Instruction& last(const BasicBlock& block) const {
    return function_.body[static_cast<std::size_t>(block.end - 1)];
  }
  // Or goes where one only does.
  bool only_ends(int block) const {
    const Instruction& one = function_.body[static_cast<std::size_t>(at(block).begin)];
    if (!function_.is_entry || one.guard >= 0) return false;
    if (one.opcode != "bra" || target(function_, one) <= at(block).begin) return ends_thread(one);
    const auto to = block_at_.find(target(function_, one));
    return to != block_at_.end() && only_ends(to->second);
  }

  void cut() {
    const auto size = static_cast<std::int32_t>(function_.body.size());
    std::set<std::int32_t> begins(function_.labels.begin(), function_.labels.end());
    begins.insert(0);
    for (std::int32_t i = 0; i < size; ++i) {
      const Instruction& one = function_.body[static_cast<std::size_t>(i)];
      if (one.opcode == "bra" || one.opcode == "brx" || ends_thread(one)) begins.insert(i + 1);
    }
    begins.erase(begins.begin(), begins.lower_bound(0));
    begins.erase(begins.lower_bound(size), begins.end());
    for (auto it = begins.begin(); it != begins.end(); ++it) {
      block_at_[*it] = static_cast<int>(blocks_.size());
      blocks_.push_back({*it, std::next(it) == begins.end() ? size : *std::next(it)});
    }
  }

  void connect() {
    const auto go = [&](BasicBlock& from, std::int32_t place) {
      const auto found = block_at_.find(place);
      if (found != block_at_.end()) from.next.push_back(found->second);
    };
    for (BasicBlock& block : blocks_) {
      const Instruction& one = last(block);
      if (one.opcode == "bra" && one.operands[0].kind == Operand::Kind::label) {
        go(block, function_.labels[static_cast<std::size_t>(one.operands[0].index)]);
      } else if (one.opcode == "brx" && one.operands.size() == 2) {
        const auto targets = function_.targets.find(one.operands[1].name);
        if (targets != function_.targets.end()) {
          for (const std::int32_t label : targets->second) {
            go(block, function_.labels[static_cast<std::size_t>(label)]);
          }
        }
      }
      const bool leaves = one.opcode == "bra" || one.opcode == "brx" || ends_thread(one);
      block.falls_through = !leaves || one.guard >= 0;
      if (block.falls_through) go(block, block.end);
    }
    for (std::size_t i = 0; i < blocks_.size(); ++i) {
      // Who only ends does so where he is.
      std::vector<int>& next = blocks_[i].next;
      if (next.size() == 2 && only_ends(next[0]) != only_ends(next[1])) {
        next = {only_ends(next[0]) ? next[1] : next[0]};
      }
      for (const int to : next) at(to).before.push_back(static_cast<int>(i));
    }
  }

  void find_loops() {
    const int size = static_cast<int>(blocks_.size());
    std::vector<std::vector<int>> next;
    for (const BasicBlock& block : blocks_) next.push_back(block.next);
    const Dominators dominators(next, 0);
    std::map<int, Loop> by_head;
    std::vector<int> comers(blocks_.size());
    for (int from = 0; from < size; ++from) {
      for (const int head : at(from).next) {
        ++comers[static_cast<std::size_t>(head)];
        // nvcc may put a loop's head behind its body, as that of one that a vote ends.
        if (dominators.leads_to(from) && dominators.dominates(head, from)) {
          --comers[static_cast<std::size_t>(head)];
          by_head.try_emplace(head, Loop{.head = head}).first->second.jump_back.insert(from);
        } else if (head <= from) {
          // No loop: nvcc has put the way there behind it.
          late_.push_back({from, head});
        }
      }
    }
    has_other_loops_ = !is_without_rounds(by_head, std::move(comers));
    for (auto& [head, loop] : by_head) {
      loop.blocks.resize(blocks_.size());
      std::vector<int> open(loop.jump_back.begin(), loop.jump_back.end());
      open.push_back(head);
      while (!open.empty()) {
        const int block = open.back();
        open.pop_back();
        if (loop.has(block)) continue;
        loop.blocks[static_cast<std::size_t>(block)] = true;
        ++loop.size;
        loop.last = std::max(loop.last, block);
        if (block != head)
          open.insert(open.end(), at(block).before.begin(), at(block).before.end());
      }
      const auto smaller =
          std::find_if(loops_.begin(), loops_.end(),
                       [&, size = loop.size](const Loop& other) { return other.size < size; });
      loops_.insert(smaller, std::move(loop));
    }
  }

  // Whether all rounds are those of these loops, if so many come to each block but by their jumps back.
  bool is_without_rounds(const std::map<int, Loop>& by_head, std::vector<int> comers) const {
    std::vector<int> open;
    std::size_t done = 0;
    for (int block = 0; block < end(); ++block) {
      if (comers[static_cast<std::size_t>(block)] == 0) open.push_back(block);
    }
    for (; !open.empty(); ++done) {
      const int block = open.back();
      open.pop_back();
      for (const int to : at(block).next) {
        const auto loop = by_head.find(to);
        if (loop != by_head.end() && loop->second.jump_back.contains(block)) continue;
        if (--comers[static_cast<std::size_t>(to)] == 0) open.push_back(to);
      }
    }
    return done == blocks_.size();
  }

  bool jumps_back(int from, int to) const {
    return std::any_of(loops_.begin(), loops_.end(), [&](const Loop& one) {
      return one.head == to && one.jump_back.contains(from);
    });
  }
  // Of a block that only jumps, the one before it, if that alone leads there.
  int jump_before(int block) const {
    const bool only_jumps = at(block).end == at(block).begin + 1 && last(at(block)).guard < 0;
    return only_jumps && at(block).before.size() == 1 ? at(block).before.front() : block;
  }
  // The smallest loop that the block is in.
  const Loop* innermost(int block) const {
    const auto found = std::find_if(loops_.rbegin(), loops_.rend(),
                                    [&](const Loop& one) { return one.has(block); });
    return found == loops_.rend() ? nullptr : &*found;
  }
  // The smallest loop that this one is in.
  const Loop* around(const Loop& loop) const {
    const Loop* found = nullptr;
    for (const Loop& one : loops_) {
      if (one.size > loop.size && one.has(loop.head)) found = &one;
    }
    return found;
  }

  // Whether ptxas makes what this jump may skip instructions under a predicate. (Of more than these few sometimes.)
  bool skips_little(std::int32_t jump) const {
    constexpr int kMost = 4;
    std::int32_t end = target(function_, function_.body[static_cast<std::size_t>(jump)]);
    int count = 0;
    for (std::int32_t i = jump + 1; i < end; ++i) {
      const Instruction& one = function_.body[static_cast<std::size_t>(i)];
      if (one.opcode == "bra") {
        if (one.guard >= 0 || target(function_, one) <= i) return false;
        end = std::max(end, target(function_, one));
      } else if (!is_arithmetic(one) || ++count > kMost) {
        return false;
      }
    }
    return end > jump;
  }

  // Whether all lanes that come by have the same in the register, as far as its arithmetic shows.
  bool is_for_all(std::int32_t of) {
    find_writers();
    std::set<std::int32_t> seen;
    std::vector<std::int32_t> open{of};
    while (!open.empty()) {
      const std::int32_t index = open.back();
      open.pop_back();
      if (index < 0 || !seen.insert(index).second) continue;
      const ptx::Register& its = function_.registers[static_cast<std::size_t>(index)];
      if (its.type == ptx::Type::none) {
        if (its.name.starts_with("%ctaid") || its.name.starts_with("%nt") ||
            its.name.starts_with("%nctaid")) {
          continue;
        }
        return false;
      }
      for (const Instruction* const one : writers_[static_cast<std::size_t>(index)]) {
        if (one->opcode == "ld" && one->has("param") && function_.is_entry) continue;
        if (!is_arithmetic(*one)) return false;
        open.push_back(one->guard);
        for (std::size_t i = 1; i < one->operands.size(); ++i) {
          if (one->operands[i].kind == Operand::Kind::reg) open.push_back(one->operands[i].index);
        }
      }
    }
    return true;
  }
  void find_writers() {
    if (!writers_.empty()) return;
    writers_.resize(function_.registers.size());
    for (const Instruction& one : function_.body) {
      if (one.result() == nullptr) continue;
      for (const std::int32_t index : one.result()->registers()) {
        writers_[static_cast<std::size_t>(index)].push_back(&one);
      }
    }
  }

  // Where lanes meet again that have left the loop: at a block, or at the end of the thread or of a round of the loop around.
  const Dominators& meetings_behind(const Loop& left, const Loop* outer) {
    // Nobody comes back to the loop if all rounds are known: then it is the same for all with one around them.
    const std::pair key{outer, has_other_loops_ ? &left : nullptr};
    const auto found = meetings_.find(key);
    if (found != meetings_.end()) return found->second;
    std::vector<std::vector<int>> before(blocks_.size() + 1);
    for (int block = 0; block < end(); ++block) {
      if (!is_in(outer, block)) continue;
      for (const int to : following(block, outer, key.second)) {
        before[static_cast<std::size_t>(to)].push_back(block);
      }
    }
    return meetings_.try_emplace(key, before, end()).first->second;
  }
  int end() const { return static_cast<int>(blocks_.size()); }
  static bool is_in(const Loop* loop, int block) { return loop == nullptr || loop->has(block); }
  // Within the loop around, and not into the one that was left.
  std::vector<int> following(int block, const Loop* outer, const Loop* left) const {
    std::vector<int> all;
    for (const int to : at(block).next) {
      if (outer != nullptr && to == outer->head) {
        all.push_back(end());
      } else if (is_in(outer, to) && (left == nullptr || !left->has(to))) {
        all.push_back(to);
      }
    }
    if (all.empty()) all.push_back(end());
    return all;
  }

  // Of ways out that all end, the one on which lanes wait for each other: the loop's own, but of two the longer one; of two
  // alike that of the jump within the loop, and one step more counts as alike where the jump back is one that nothing guards.
  // (So ptxas 13 does.)
  int end_that_waits(const Loop& loop, const std::set<int>& exits) const {
    int own = end();
    int more = 0;
    for (const int from : loop.jump_back) {
      for (const int to : at(jump_before(from)).next) {
        if (!exits.contains(to)) continue;
        own = to;
        more = jump_before(from) == from ? 0 : 1;
      }
    }
    if (own == end() || exits.size() > 2) return own;
    const int other = *exits.begin() == own ? *exits.rbegin() : *exits.begin();
    return steps_of(own, loop) > steps_of(other, loop) + more ? own : other;
  }
  static constexpr std::size_t kLongWay = 16;
  bool jumps_to(int from, int to) const {
    const std::vector<int>& next = at(from).next;
    return std::find(next.begin(), next.end(), to) != next.end();
  }
  // What one does from this block to the end, if several jump there from ways that meet at another and end there, and that
  // takes more instructions: it is there that lanes wait for each other, and not here.
  std::set<int> way_that_ends(int block) const {
    const std::vector<int>& comers = at(block).before;
    if (!function_.is_entry || comers.size() < 2 || innermost(block) != nullptr) return {};
    const std::set<int> way = way_from(block);
    if (way.size() == kLongWay) return {};
    const auto is_own = [&](int one) {
      const std::vector<int>& its = at(one).before;
      return one == block ||
             std::all_of(its.begin(), its.end(), [&](int from) { return way.contains(from); });
    };
    if (!std::all_of(way.begin(), way.end(), is_own) ||
        std::any_of(comers.begin(), comers.end(),
                    [&](int from) { return way.contains(from) || innermost(from) != nullptr; })) {
      return {};
    }
    std::vector<std::vector<int>> before(blocks_.size() + 1);
    for (int from = 0; from < end(); ++from) {
      for (const int to : following(from, nullptr, nullptr)) {
        if (to != block) before[static_cast<std::size_t>(to)].push_back(from);
      }
    }
    const int meeting = Dominators(before, end()).common(comers, end());
    if (meeting == end() || at(meeting).before.size() < 2 || only_ends(meeting) ||
        cost_of(way) >= cost_of(way_from(meeting)) || !has_access(way)) {
      return {};
    }
    return way;
  }
  // From a block on, without who only ends; of a long way a part.
  std::set<int> way_from(int block) const {
    std::set<int> way;
    std::vector<int> open{block};
    while (!open.empty() && way.size() < kLongWay) {
      const int one = open.back();
      open.pop_back();
      if (only_ends(one) || !way.insert(one).second) continue;
      open.insert(open.end(), at(one).next.begin(), at(one).next.end());
    }
    return way;
  }
  int cost_of(const std::set<int>& way) const {
    int cost = 0;
    for (const int block : way) {
      for (std::int32_t i = at(block).begin; i < at(block).end; ++i) {
        const Instruction& one = function_.body[static_cast<std::size_t>(i)];
        cost += one.opcode == "bra" || ends_thread(one) ? 0 : cost_of(i);
      }
    }
    return cost;
  }
  bool has_access(const std::set<int>& way) const {
    return std::any_of(way.begin(), way.end(), [&](int block) {
      return std::any_of(function_.body.begin() + at(block).begin,
                         function_.body.begin() + at(block).end, is_access);
    });
  }
  // Instructions of a way out, from where others come to it, too, if they do.
  int steps_of(int exit, const Loop& loop) const {
    const auto ends = [&](int block) { return only_ends(block); };
    const std::set<int> way = reached_from({exit}, loop, ends);
    std::vector<int> shared;
    for (const int block : way) {
      if (std::any_of(at(block).before.begin(), at(block).before.end(),
                      [&](int before) { return !way.contains(before) && !loop.has(before); })) {
        shared.push_back(block);
      }
    }
    int steps = 0;
    for (const int block : shared.empty() ? way : reached_from(shared, loop, ends)) {
      for (std::int32_t i = at(block).begin; i < at(block).end; ++i) {
        const Instruction& one = function_.body[static_cast<std::size_t>(i)];
        if (one.opcode == "bra" || ends_thread(one) || repeats(one, loop)) continue;
        steps += cost_of(i);
      }
    }
    return steps;
  }
  // A zero is there already; of another number that is stored a part is cut out first.
  int cost_of(std::int32_t place) const {
    const Instruction& one = function_.body[static_cast<std::size_t>(place)];
    const auto is_number = [](const Instruction& set) {
      return set.opcode == "mov" && set.operands[1].kind == Operand::Kind::number;
    };
    if (is_number(one)) return one.operands[1].bits != 0 ? 1 : 0;
    if (one.opcode != "st" || ptx::bytes_of(one.type()) >= 4 ||
        one.operands[1].kind != Operand::Kind::reg) {
      return 1;
    }
    for (std::int32_t i = place - 1; i >= 0; --i) {
      const Instruction& set = function_.body[static_cast<std::size_t>(i)];
      if (set.result() == nullptr || !set.result()->names(one.operands[1].index)) continue;
      return is_number(set) && set.operands[1].bits != 0 ? 2 : 1;
    }
    return 1;
  }
  // Arithmetic that the loop has done: nvcc does it again for who needs it behind the loop, and ptxas does not.
  bool repeats(const Instruction& one, const Loop& loop) const {
    const auto is_it = [&](const Instruction& other) {
      return other.opcode == one.opcode && other.modifiers == one.modifiers &&
             std::equal(other.operands.begin() + 1, other.operands.end(), one.operands.begin() + 1,
                        one.operands.end(), [](const Operand& a, const Operand& b) {
                          return a.kind == b.kind && a.index == b.index && a.bits == b.bits &&
                                 a.negated == b.negated && a.name == b.name &&
                                 a.offset == b.offset && a.parts.empty() && b.parts.empty();
                        });
    };
    if (!is_arithmetic(one) || one.opcode == "mov" || one.guard >= 0) return false;
    for (int block = 0; block < end(); ++block) {
      if (loop.has(block) && std::any_of(function_.body.begin() + at(block).begin,
                                         function_.body.begin() + at(block).end, is_it)) {
        return true;
      }
    }
    return false;
  }
  // From these on, without the loop that was left and what is not around it; and without those that stop(block).
  template <class Stop>
  std::set<int> reached_from(std::vector<int> open, const Loop& left, const Stop& stop) const {
    std::set<int> reached;
    while (!open.empty()) {
      const int block = open.back();
      open.pop_back();
      if (block == end() || stop(block) || !reached.insert(block).second) continue;
      for (const int to : following(block, around(left), &left)) open.push_back(to);
    }
    return reached;
  }

  // What lanes do between the loop and where all of them have left it; nothing where they go on as the blocks stand.
  std::set<int> ways_out(const Loop& loop) {
    const Loop* const outer = around(loop);
    std::set<int> exits;
    for (int block = 0; block < end(); ++block) {
      if (!loop.has(block)) continue;
      for (const int to : at(block).next) {
        if (!loop.has(to) && is_in(outer, to)) exits.insert(to);
      }
    }
    if (exits.size() < 2 || (outer != nullptr && exits.contains(outer->head))) return {};
    int meeting = meetings_behind(loop, outer).common(exits, end());
    if (meeting == end() || only_ends(meeting)) {
      meeting = end_that_waits(loop, exits);
      if (meeting == end()) return {};
    }
    if (meeting < loop.last) return {};
    const std::set<int> ways = reached_from({exits.begin(), exits.end()}, loop,
                                            [&](int block) { return block == meeting; });
    // Without an access nobody sees who runs it with whom.
    return has_access(ways) ? ways : std::set<int>{};
  }

  const ptx::Function& function_;
  std::vector<BasicBlock> blocks_;
  std::map<std::int32_t, int> block_at_;
  std::vector<Loop> loops_;  // the largest first
  std::vector<std::pair<int, int>>
      late_;                      // blocks, and those they go on to, which stand before them
  bool has_other_loops_ = false;  // whose heads do not come first
  std::map<std::pair<const Loop*, const Loop*>, Dominators> meetings_ = {};
  std::vector<std::vector<const Instruction*>> writers_ = {};  // of each register
  std::multimap<int, const Loop*> turns_ =
      {};  // behind which block lanes meet before the next round
};

constexpr std::int32_t kBegin = -1;  // before the first instruction

bool calls(const ptx::Function& one, std::string_view name) {
  return std::any_of(one.body.begin(), one.body.end(), [&](const Instruction& each) {
    return each.opcode == "call" && names(each, name);
  });
}
bool has_address_taken(const ptx::Module& module, std::string_view name) {
  return std::any_of(module.variables.begin(), module.variables.end(),
                     [&](const ptx::Variable& its) {
                       return std::any_of(
                           its.relocations.begin(), its.relocations.end(),
                           [&](const ptx::Relocation& place) { return place.symbol == name; });
                     }) ||
         std::any_of(module.functions.begin(), module.functions.end(), [&](const auto& one) {
           return std::any_of(one.body.begin(), one.body.end(), [&](const Instruction& each) {
             return each.opcode != "call" && names(each, name);
           });
         });
}

}  // namespace

std::vector<Passage> layout(const ptx::Function& function) {
  const auto size = static_cast<std::int32_t>(function.body.size());
  if (size == 0) return {};
  return ControlFlow(function).laid_out();
}

bool stay_apart(const ptx::Module& module, const ptx::Function& kernel, std::int32_t call) {
  if (!ControlFlow(kernel).is_one_way(call)) return false;
  return std::all_of(module.functions.begin(), module.functions.end(), [&](const auto& one) {
    if (one.is_entry || !one.has_body) return true;
    return !(has_address_taken(module, one.name) || calls(kernel, one.name)) ||
           ControlFlow(one).is_one_way(kBegin);
  });
}

}  // namespace simt::ptxas
