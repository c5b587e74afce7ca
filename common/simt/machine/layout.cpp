#include "common/simt/machine/layout.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <string_view>
#include <utility>

namespace simt::machine {
namespace {

using ptx::Instruction;
using ptx::Operand;

// Instructions that run one after the other, and the blocks that may follow, by number.
struct BasicBlock {
  std::int32_t begin, end;
  bool falls_through = true;  // into the one that stands behind it
  std::vector<int> next = {}, before = {};
};

bool ends_thread(const Instruction& one) { return one.opcode == "ret" || one.opcode == "exit"; }

bool is_access(const Instruction& one) {
  constexpr std::string_view kAccesses[] = {"ld",  "st",   "atom", "red", "cp",
                                            "tex", "suld", "sust", "call"};
  return !one.has("param") &&
         std::find(std::begin(kAccesses), std::end(kAccesses), one.opcode) != std::end(kAccesses);
}

class ControlFlow {
 public:
  explicit ControlFlow(const ptx::Function& function) : function_(function) {
    cut();
    connect();
  }

  std::vector<Passage> laid_out() {
    find_loops();
    std::vector<int> order(blocks_.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int>(i);
    // Who comes to a place from behind it would be too late to go on with the others.
    for (std::size_t i = 0; i < late_.size() && i < blocks_.size(); ++i) {
      const auto [from, to] = late_[i];
      if (innermost(from) != innermost(to)) continue;
      order.erase(std::find(order.begin(), order.end(), from));
      const auto its = order.insert(std::find(order.begin(), order.end(), to), from);
      for (const int before : at(from).before) {
        if (before < from && std::find(its, order.end(), before) != order.end()) {
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
          std::find_if(order.begin(), rest, [&](int block) { return loop.blocks.contains(block); });
      std::rotate(first, rest, order.end());
    }
    // Who has jumped back from one place waits for those who will from another; a loop within another comes first.
    for (auto loop = loops_.rbegin(); loop != loops_.rend(); ++loop) {
      if (loop->jump_back.size() < 2 || loop->jump_back.contains(loop->head)) continue;
      const auto last = std::find_if(order.rbegin(), order.rend(),
                                     [&](int block) { return loop->blocks.contains(block); });
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
    std::set<int> blocks, jump_back;
  };
  static constexpr int kEnd = -1;  // of the thread, or of a round of the loop around

  const BasicBlock& at(int block) const { return blocks_[static_cast<std::size_t>(block)]; }
  BasicBlock& at(int block) { return blocks_[static_cast<std::size_t>(block)]; }
  const Instruction& last(const BasicBlock& block) const {
    return function_.body[static_cast<std::size_t>(block.end - 1)];
  }
  bool only_ends(int block) const {
    const Instruction& one = function_.body[static_cast<std::size_t>(at(block).begin)];
    return function_.is_entry && ends_thread(one) && one.guard < 0;
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
    std::map<int, Loop> by_head;
    for (int from = 0; from < static_cast<int>(blocks_.size()); ++from) {
      for (const int head : at(from).next) {
        if (head > from) continue;
        std::set<int> blocks{head};
        std::vector<int> open{from};
        while (!open.empty()) {
          const int block = open.back();
          open.pop_back();
          if (!blocks.insert(block).second) continue;
          open.insert(open.end(), at(block).before.begin(), at(block).before.end());
        }
        if (blocks.contains(0) && head != 0) {
          // No loop: nvcc has put the way there behind it.
          late_.push_back({from, head});
          continue;
        }
        Loop& loop = by_head.try_emplace(head, Loop{head, {}, {}}).first->second;
        loop.blocks.merge(blocks);
        loop.jump_back.insert(from);
      }
    }
    for (auto& [head, loop] : by_head) loops_.push_back(std::move(loop));
    std::stable_sort(loops_.begin(), loops_.end(), [](const Loop& a, const Loop& b) {
      return a.blocks.size() > b.blocks.size();
    });
  }

  // The smallest loop that the block is in.
  const Loop* innermost(int block) const {
    const auto found = std::find_if(loops_.rbegin(), loops_.rend(),
                                    [&](const Loop& one) { return one.blocks.contains(block); });
    return found == loops_.rend() ? nullptr : &*found;
  }
  // The smallest loop that this one is in.
  const Loop* around(const Loop& loop) const {
    const Loop* found = nullptr;
    for (const Loop& one : loops_) {
      if (one.blocks.size() > loop.blocks.size() && one.blocks.contains(loop.head)) found = &one;
    }
    return found;
  }

  // Whether all lanes that come by have the same in the register, as far as its arithmetic shows.
  bool is_for_all(std::int32_t index) const {
    std::set<std::int32_t> seen;
    return is_for_all(index, seen);
  }
  bool is_for_all(std::int32_t index, std::set<std::int32_t>& seen) const {
    constexpr std::string_view kArithmetic[] = {"mov", "add",  "sub",  "mul",  "mad", "shl", "shr",
                                                "and", "or",   "xor",  "not",  "neg", "min", "max",
                                                "cvt", "cvta", "setp", "selp", "div", "rem"};
    if (index < 0 || !seen.insert(index).second) return true;
    const ptx::Register& its = function_.registers[static_cast<std::size_t>(index)];
    if (its.type == ptx::Type::none) {
      return its.name.starts_with("%ctaid") || its.name.starts_with("%nt") ||
             its.name.starts_with("%nctaid");
    }
    const auto is_it = [&](const Operand& one) {
      return one.kind == Operand::Kind::reg && one.index == index;
    };
    for (const Instruction& one : function_.body) {
      if (one.operands.empty() || one.opcode == "st") continue;
      const Operand& result = one.operands.front();
      if (!is_it(result) && std::none_of(result.parts.begin(), result.parts.end(), is_it)) continue;
      if (one.opcode == "ld" && one.has("param") && function_.is_entry) continue;
      if (std::find(std::begin(kArithmetic), std::end(kArithmetic), one.opcode) ==
              std::end(kArithmetic) ||
          !is_for_all(one.guard, seen) ||
          !std::all_of(one.operands.begin() + 1, one.operands.end(), [&](const Operand& from) {
            return from.kind != Operand::Kind::reg || is_for_all(from.index, seen);
          })) {
        return false;
      }
    }
    return true;
  }

  // What lanes do between the loop and where all of them have left it.
  std::set<int> ways_out(const Loop& loop) const {
    const Loop* const outer = around(loop);
    const auto is_near = [&](int block) {
      return outer == nullptr || outer->blocks.contains(block);
    };
    std::set<int> exits;
    for (const int block : loop.blocks) {
      for (const int to : at(block).next) {
        if (!loop.blocks.contains(to) && is_near(to)) exits.insert(to);
      }
    }
    if (exits.size() < 2 || (outer != nullptr && exits.contains(outer->head))) return {};
    const auto following = [&](int block) {
      std::vector<int> all;
      for (const int to : at(block).next) {
        if (outer != nullptr && to == outer->head) {
          all.push_back(kEnd);
        } else if (!loop.blocks.contains(to) && is_near(to)) {
          all.push_back(to);
        }
      }
      if (all.empty()) all.push_back(kEnd);
      return all;
    };
    int meeting = where_all_meet(exits, following);
    if (meeting == kEnd || only_ends(meeting)) {
      // Who leaves by the loop's own end waits for the others who do, unless all do so at once.
      meeting = kEnd;
      for (const int block : loop.jump_back) {
        for (const int to : at(block).next) {
          if (exits.contains(to) && !is_for_all(last(at(block)).guard)) meeting = to;
        }
      }
      if (meeting == kEnd) return {};
    }
    if (at(meeting).begin < at(*loop.blocks.rbegin()).begin) return {};
    std::set<int> ways;
    std::vector<int> open(exits.begin(), exits.end());
    while (!open.empty()) {
      const int block = open.back();
      open.pop_back();
      if (block == kEnd || block == meeting || !ways.insert(block).second) continue;
      for (const int to : following(block)) open.push_back(to);
    }
    // Without an access nobody sees who runs it with whom.
    const bool has_access = std::any_of(ways.begin(), ways.end(), [&](int block) {
      return std::any_of(function_.body.begin() + at(block).begin,
                         function_.body.begin() + at(block).end, is_access);
    });
    return has_access ? ways : std::set<int>{};
  }

  // The first block that nobody who begins at one of these can go round, or the end (Cooper, Harvey and Kennedy, A Simple,
  // Fast Dominance Algorithm, on the reverse graph).
  static int where_all_meet(const std::set<int>& begins,
                            const std::function<std::vector<int>(int)>& following) {
    std::map<int, std::vector<int>> next, before;
    std::vector<int> open(begins.begin(), begins.end());
    while (!open.empty()) {
      const int block = open.back();
      open.pop_back();
      if (block == kEnd || next.contains(block)) continue;
      for (const int to : next[block] = following(block)) {
        before[to].push_back(block);
        open.push_back(to);
      }
    }
    // From the end backwards: who is numbered last lies nearest to it.
    std::vector<int> order;
    std::map<int, int> number;
    std::set<int> seen{kEnd};
    std::vector<std::pair<int, std::size_t>> path{{kEnd, 0}};
    while (!path.empty()) {
      auto& [block, done] = path.back();
      const std::vector<int>& all = before[block];
      if (done < all.size()) {
        const int from = all[done++];
        if (seen.insert(from).second) path.push_back({from, 0});
        continue;
      }
      number[block] = static_cast<int>(order.size());
      order.push_back(block);
      path.pop_back();
    }
    std::map<int, int> meeting{{kEnd, kEnd}};
    const auto common = [&](int a, int b) {
      while (a != b) {
        while (number[a] < number[b]) a = meeting[a];
        while (number[b] < number[a]) b = meeting[b];
      }
      return a;
    };
    const auto of_all = [&](const auto& blocks, int none) {
      int found = none;
      bool is_first = true;
      for (const int one : blocks) {
        if (!meeting.contains(one)) continue;
        found = is_first ? one : common(found, one);
        is_first = false;
      }
      return found;
    };
    for (bool changed = true; changed;) {
      changed = false;
      for (auto it = order.rbegin(); it != order.rend(); ++it) {
        if (*it == kEnd) continue;
        const int its = of_all(next[*it], kEnd);
        const auto found = meeting.find(*it);
        if (found != meeting.end() && found->second == its) continue;
        meeting[*it] = its;
        changed = true;
      }
    }
    return of_all(begins, kEnd);
  }

  const ptx::Function& function_;
  std::vector<BasicBlock> blocks_;
  std::map<std::int32_t, int> block_at_;
  std::vector<Loop> loops_;  // the largest first
  std::vector<std::pair<int, int>>
      late_;  // blocks, and those they go on to, which stand before them
  std::multimap<int, const Loop*> turns_ =
      {};  // behind which block lanes meet before the next round
};

}  // namespace

std::vector<Passage> layout(const ptx::Function& function) {
  const auto size = static_cast<std::int32_t>(function.body.size());
  if (size == 0) return {};
  return ControlFlow(function).laid_out();
}

}  // namespace simt::machine
