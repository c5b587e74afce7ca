#include "common/simt/machine/warp.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <utility>

#include "common/simt/machine/grid.hpp"

namespace simt::machine {
namespace {

// The state is noted at every so many jumps back, and looked for in the few that follow.
constexpr std::uint32_t kNotedEvery = 64;
constexpr std::uint32_t kLookedFor = 8;
// Whoever counts his attempts never has the same state twice: then so many are enough; fewer where the loop asks for what
// others write.
constexpr std::uint32_t kPatience = 1 << 20;
constexpr std::uint32_t kPatienceOfPolls = 1 << 14;
// The same of who sleeps between: how long he has waited changes each time.
constexpr std::uint32_t kPatienceOfSleeps = 1 << 16;
// Who gives others a turn does so at another place each time, by chance, fewer than so many steps behind the jump: at one
// and the same place he may always hold the lock that they wait for. Loops are long and short.
constexpr std::array<std::uint32_t, 5> kPlaces{1, 4, 16, 8, 64};

bool is_jump_back(const Step* step) { return step->target != nullptr && step->target <= step; }

// Whether a loop asks for what others may write meanwhile.
bool polls(const Step* jump_back) {
  return std::any_of(jump_back->target, jump_back,
                     [](const Step& one) { return one.order != Order::weak; });
}

bool polls_around(const Step* step, const Step* end) {
  const Step* const jump_back = std::find_if(
      step, end, [&](const Step& one) { return one.target != nullptr && one.target <= step; });
  return jump_back != end && polls(jump_back);
}

// Of lanes that are not active the value as it was.
template <class T>
void put_back(const std::byte* before, const Warp& warp, T* to) {
  const T* const its = reinterpret_cast<const T*>(before);
#pragma GCC ivdep
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    to[lane] = warp.lanes[lane] != 0 ? to[lane] : its[lane];
  }
}

constexpr std::size_t kWidest = 16;  // bytes of a value
__extension__ using Wide = unsigned __int128;

}  // namespace

const Step* for_active_lanes(Execute run, const Step* step, Warp& warp, std::size_t bytes) {
  alignas(64) std::byte before[kLanes * kWidest];
  std::memcpy(before, warp.registers + step->to, kLanes * bytes);
  const std::uint32_t active = std::exchange(warp.active, kAllLanes);
  const Step* const next = run(step, warp);
  warp.active = active;
  switch (bytes) {
    case 1:
      put_back(before, warp, warp.values<std::uint8_t>(step->to));
      break;
    case 2:
      put_back(before, warp, warp.values<std::uint16_t>(step->to));
      break;
    case 16:
      put_back(before, warp, warp.values<Wide>(step->to));
      break;
    case 4:
      put_back(before, warp, warp.values<std::uint32_t>(step->to));
      break;
    default:
      put_back(before, warp, warp.values<std::uint64_t>(step->to));
      break;
  }
  return next;
}

void Warp::begin(std::uint32_t its_lanes, const Step* first) {
  live = its_lanes;
  active = 0;
  others.assign(1, {first, its_lanes});
  epochs = {};
  cluster_phase = {};
  at_cluster = 0;
  owes_wait = 0;
  copy_group = {};
  copies.clear();
  bulk_group = {};
  stores.clear();
  product = nullptr;
  has_product = false;
  product_group = 0;
  awaited_ = last_spin_ = 0;
  place_ = static_cast<std::uint32_t>(linear(block->index, block->grid->blocks)) * kLanes + index;
  turns_ = 0;
  sleeps_ = 0;
  faulty = 0;
  instructions = lane_instructions = since_ = global_requests = products = exchanged = waits = 0;
  undefined->clear();
  allocated = {};
  are_parted = false;
  if (block->grid->code->called.empty()) return;  // and nobody is in a function
  for (std::vector<Activation>& its : activations) its.clear();
  frames = {};
  depths = {};
}

void Warp::activate(std::uint32_t mask) {
  // Four lanes at a time.
  static constexpr auto kWords = [] {
    std::array<std::array<std::int32_t, 4>, 16> words{};
    for (std::size_t bits = 0; bits < 16; ++bits) {
      for (std::size_t i = 0; i < 4; ++i) words[bits][i] = (bits >> i & 1) != 0 ? -1 : 0;
    }
    return words;
  }();
  lane_instructions += (instructions - since_) * static_cast<unsigned>(std::popcount(active));
  since_ = instructions;
  active = mask;
  for (std::size_t i = 0; i < kLanes / 4; ++i) {
    std::memcpy(&lanes[4 * i], kWords[mask >> 4 * i & 15].data(), 16);
  }
}

const Step* Warp::leave(const Step* at, Group::State state, std::uint32_t awaited,
                        std::uint32_t threads) {
  others.push_back({at, active, state, awaited, threads});
  return choose();
}

const Step* Warp::end() {
  live &= ~active;
  return choose();
}

const Step* Warp::end_faulty(const Step* at, std::uint32_t lanes) {
  live &= ~faulty;
  lanes &= ~faulty;
  faulty = 0;
  // A guard may have sent some on.
  for (const Group& one : others) lanes &= ~one.lanes;
  if (lanes == 0) return choose();
  activate(lanes);
  return at;
}

void Warp::part(std::uint32_t some) {
  if (!are_parted) company.fill(kAllLanes);
  are_parted = true;
  each_lane(some, [&](std::size_t lane) { company[lane] &= some; });
}

const Step* Warp::arrive(const Step* at) {
  if (others.empty() && !are_parted) return at;
  for (std::uint32_t open = active; open != 0;) {
    const auto first = static_cast<std::size_t>(std::countr_zero(open));
    const std::uint32_t lanes = are_parted ? open & company[first] : open;
    others.push_back({at, lanes});
    open &= ~lanes;
  }
  return choose();
}

const Step* Warp::split(const Step* taken, std::uint32_t takers, const Step* next) {
  const std::uint32_t stayers = active & ~takers;
  others.push_back({taken, takers});
  if (stayers != 0) others.push_back({next, stayers});
  return choose();
}

std::uint32_t Warp::depth_of(const Group& group) const {
  return depths[static_cast<std::size_t>(std::countr_zero(group.lanes))];
}

// Other companies come together only for what the lanes of a mask do together.
bool Warp::are_of_one(const Group& a, const Group& b) const {
  if (!are_parted || (a.awaited != 0 && a.awaited == b.awaited)) return true;
  const auto company_of = [&](const Group& one) {
    return company[static_cast<std::size_t>(std::countr_zero(one.lanes))];
  };
  return company_of(a) == company_of(b);
}

const Step* Warp::choose() {
  if (others.size() == 1 && others.front().state == Group::State::ready) {
    // The commonest case: all lanes are at one place.
    last_first_ = false;
    limit = kNowhere;
    const Group only = others.front();
    others.clear();
    if (active != only.lanes) activate(only.lanes);
    return only.at;
  }
  // Lanes at one place that wait for each other are one group, which may be complete now.
  for (std::size_t i = 0; i < others.size(); ++i) {
    Group& one = others[i];
    if (one.state != Group::State::in_warp) continue;
    std::uint32_t there = 0;
    for (const Group& other : others) {
      if (other.at == one.at && other.state == Group::State::in_warp) there |= other.lanes;
    }
    if ((one.awaited & live & ~there) != 0) {
      meet_apart(one);
      continue;
    }
    for (Group& other : others) {
      if (other.at == one.at && other.state == Group::State::in_warp &&
          other.awaited == one.awaited) {
        other.state = Group::State::ready;
      }
    }
  }
  Group first;
  std::uint32_t depth = 0;
  for (const Group& one : others) {
    if (one.state != Group::State::ready) continue;
    const std::uint32_t its = depth_of(one);
    const bool is_before = its != depth ? (its > depth) != last_first_
                                        : (one.at < first.at) != last_first_ && one.at != first.at;
    if (first.at != nullptr && !is_before) continue;
    first = one;
    depth = its;
  }
  last_first_ = false;
  limit = kNowhere;
  if (first.at == nullptr) {
    activate(0);
    return nullptr;
  }
  std::uint32_t mask = 0;
  const auto meets = [&](const Group& one) {
    return one.state == Group::State::ready && depth_of(one) == depth && are_of_one(one, first);
  };
  std::erase_if(others, [&](const Group& one) {
    if (one.at != first.at || !meets(one)) return false;
    mask |= one.lanes;
    return true;
  });
  for (const Group& one : others) {
    if (one.at >= first.at && meets(one)) limit = std::min(limit, one.at);
  }
  // Behind what they do together companies part again.
  const auto lane = static_cast<std::size_t>(std::countr_zero(mask));
  if (are_parted && (mask & ~company[lane]) != 0) limit = first.at + 1;
  activate(mask);
  return first.at;
}

void Warp::set_aside(const Step* at, std::uint32_t some, Group::State state,
                     std::uint32_t awaited) {
  others.push_back({at, some, state, awaited});
  if (state == Group::State::ready) limit = std::min(limit, at);
  activate(active & ~some);
}

std::uint64_t sum_of_words(const std::byte* data, std::size_t bytes) {
  // FNV-1a on words: equal states have equal sums, and that is what counts. Several sums at a time, of which none waits for
  // another's product.
  std::array<std::uint64_t, 4> sums;
  sums.fill(0xcbf2'9ce4'8422'2325);
  const auto add = [&](std::uint64_t& sum, std::size_t at, std::size_t count) {
    std::uint64_t word = 0;
    std::memcpy(&word, data + at, count);
    sum = (sum ^ word) * 0x100'0000'01b3;
  };
  std::size_t at = 0;
  for (; at + 8 * sums.size() <= bytes; at += 8 * sums.size()) {
    for (std::size_t i = 0; i < sums.size(); ++i) add(sums[i], at + 8 * i, 8);
  }
  for (; at + 8 <= bytes; at += 8) add(sums[0], at, 8);
  if (at < bytes) add(sums[0], at, bytes - at);
  std::uint64_t all = 0;
  for (const std::uint64_t sum : sums) all = all * 31 + sum;
  return all;
}

std::uint64_t Warp::state_of_registers() const {
  return sum_of_words(registers, block->grid->code->registers.size());
}

// Of the registers that the last steps before a jump back have written. Of a loop that counts they are others each time,
// and the whole state, which may be long, need not be looked at.
std::uint64_t Warp::state_before(const Step* jump_back) const {
  constexpr std::ptrdiff_t kSteps = 8;
  constexpr std::size_t kBytes = kLanes * sizeof(std::uint32_t);
  const std::size_t all = block->grid->code->registers.size();
  std::uint64_t sum = 0;
  for (const Step* one = jump_back - std::min(kSteps, jump_back - jump_back->target);
       one < jump_back; ++one) {
    if (one->to < all)
      sum = sum * 31 + sum_of_words(registers + one->to, std::min(kBytes, all - one->to));
  }
  return sum;
}

void Warp::begin_to_count() {
  jumps_back_ = 0;
  watched_jump_ = nullptr;
}

// True if the lanes that jump back were here in the same state a moment ago: only others can change what comes.
bool Warp::goes_round(const Step* from) {
  ++jumps_back_;
  // A loop within the one that asks has most of the jumps.
  const bool is_poll = jumps_back_ >= kPatienceOfPolls &&
                       jumps_back_ % kPatienceOfPolls <= kLookedFor && polls(from);
  if (is_poll) ++waits;
  if (jumps_back_ % kNotedEvery == 0) {
    watched_jump_ = from;
    watched_lanes_ = active;
    noted_ = state_of_registers();
    noted_before_ = state_before(from);
    return jumps_back_ >= kPatience || is_poll;
  }
  if (is_poll) return true;
  if (from != watched_jump_ || active != watched_lanes_ || jumps_back_ % kNotedEvery > kLookedFor ||
      state_before(from) != noted_before_ || state_of_registers() != noted_) {
    return false;
  }
  if (awaited_ != noted_) ++waits;
  awaited_ = noted_;
  return true;
}

const Step* Warp::jump(const Step* from, const Step* target) {
  if (target > from || !goes_round(from)) return target;
  if (std::any_of(others.begin(), others.end(),
                  [](const Group& one) { return one.state == Group::State::ready; })) {
    // Not again before other warps had a turn: those may be in vain as well, and wait for them.
    others.push_back({target, active, Group::State::in_vain});
    last_first_ = true;
    begin_to_count();
    return choose();
  }
  // Nobody else of the warp can go on: perhaps one of another warp, for which these lanes wait.
  const std::uint64_t state = state_of_registers();
  long_jumps = jumps_back_ >= kPatienceOfPolls ? jumps_back_ : 0;
  const Step* const at = undefined->empty() ? linger(target) : target;
  if (at == nullptr || limit == nullptr) return at;
  if (state == last_spin_ || long_jumps != 0) advanced = false;
  last_spin_ = state;
  others.push_back({at, active});
  activate(0);
  return nullptr;
}

// Goes on to where the lanes give others a turn this time.
const Step* Warp::linger(const Step* step) {
  place_ = place_ * 1664525 + 1013904223;  // Numerical Recipes' generator
  const std::uint32_t steps = (place_ >> 16) % kPlaces[turns_++ % kPlaces.size()];
  for (std::uint32_t i = 0; i < steps && !is_jump_back(step); ++i) {
    const Step* const at = step;
    const std::uint32_t lanes_at = active;
    step = execute(at);
    if (step == nullptr && faulty != 0) step = end_faulty(at, lanes_at);
    if (step == nullptr || limit == nullptr) break;
    if (step >= limit) step = arrive(step);
    if (step == nullptr) break;
  }
  return step;
}

void Warp::note_sleep(const Step* step) {
  const std::uint64_t state = state_of_registers();
  const std::vector<Step>& steps = block->grid->code->steps;
  if (state != last_spin_ && ++sleeps_ < kPatience &&
      (sleeps_ < kPatienceOfSleeps || !polls_around(step, steps.data() + steps.size()))) {
    advanced = true;
  }
  last_spin_ = state;
}

void Warp::release(std::uint32_t barrier) {
  std::uint32_t released = 0;
  for (Group& one : others) {
    if (one.state != Group::State::in_block || one.awaited != barrier) continue;
    one.state = Group::State::ready;
    one.awaited = 0;
    released |= one.lanes;
  }
  if (!are_parted) return;
  each_lane(released, [&](std::size_t lane) { company[lane] |= released; });
}

// The loop that runs looks at nothing but the limit.
void Warp::begin_to_follow() {
  if (limit == nullptr) return;
  kept_limit_ = limit;
  limit = nullptr;
}

// As run(), while there are values that nobody has written.
const Step* Warp::follow(const Step* step) {
  for (;;) {
    if (limit == nullptr) limit = kept_limit_;
    if (step >= limit) step = arrive(step);
    if (step == nullptr || undefined->empty()) return step;
    const Step* const at = step;
    const std::uint32_t lanes_at = active;
    undefined->pass(*at, *this);
    step = execute(at);
    if (limit == nullptr) limit = kept_limit_;
    if (step == nullptr && faulty != 0) step = end_faulty(at, lanes_at);
    if (step == nullptr) return nullptr;
  }
}

void Warp::run() {
  long_jumps = 0;
  begin_to_count();
  // What was tried in vain is tried again, and is no advance by itself.
  advanced = std::any_of(others.begin(), others.end(), [](const Group& one) {
    return one.state == Group::State::ready || one.state == Group::State::in_vain;
  });
  for (Group& one : others) {
    const bool is_again = one.state == Group::State::polling || one.state == Group::State::in_vain;
    if (is_again) one.state = Group::State::ready;
  }
  const Step* step = choose();
  if (!undefined->empty()) step = follow(step);
  while (step != nullptr) {
    const Step* const at = step;
    const std::uint32_t lanes_at = active;
    step = execute(at);
    if (step == nullptr && faulty != 0) {
      step = end_faulty(at, lanes_at);
      if (!undefined->empty()) step = follow(step);
    }
    if (step >= limit) step = undefined->empty() ? arrive(step) : follow(step);
  }
  // If those that went round are all that could go on, as at the end of the last turn, nothing has advanced.
  const auto is = [&](Group::State state) {
    return std::any_of(others.begin(), others.end(),
                       [&](const Group& one) { return one.state == state; });
  };
  if (!is(Group::State::in_vain) || is(Group::State::ready)) return;
  const std::uint64_t state = state_of_registers();
  if (state == last_spin_) advanced = false;
  last_spin_ = state;
}

}  // namespace simt::machine
