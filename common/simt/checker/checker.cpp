// The launch, its blocks, and what orders their threads.
#include "common/simt/checker/checker.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "common/simt/checker/block_check.hpp"

namespace simt::checker {

// ---- The launch ----

Checker::Checker(std::uint64_t begin, std::size_t bytes, std::size_t most_bytes, Checker* other)
    : pages_(begin, bytes, most_bytes),
      own_initialised_(other == nullptr ? std::make_unique<Initialised>(begin, bytes) : nullptr),
      initialised_(other == nullptr ? own_initialised_.get() : other->initialised_),
      words_(std::make_unique<BlockCheck::Words>()) {}

Checker::~Checker() = default;

void Checker::begin_launch(const Launch& launch) {
  if (launch.shared_bytes != launch_.shared_bytes) spare_.clear();
  launch_ = launch;
  findings_.clear();
  words_->clear();
  variables_.clear();
  unfenced_.clear();
  opened_.clear();
  unfenced_count_ = 0;
  order_.clear();
  copies_ = 0;
  order_matters_ = false;
  ++launch_number_;
  initialised_->is_parallel = launch.is_parallel;
  pages_.begin_launch();
  if (next_owner_ > kMostOwners / 2) {
    pages_.clear();
    spare_.clear();
    next_owner_ = 1;
  }
  first_owner_ = next_owner_;
  blocks_.clear();
}

std::vector<Finding> Checker::end_launch(const LineOf& line_of) {
  constexpr std::size_t kMostSpare = 8;
  if (spare_.size() > kMostSpare) spare_.resize(kMostSpare);
  return findings_.all(line_of);
}

// ---- Several checkers ----

// Of the words behind cells those that were touched in this launch, and of these the ones that were written: all ones.
struct Checker::Touched {
  std::array<std::int32_t, kCellWords> all{}, written{};
};

Checker::Touched Checker::touched(const Cells& cells) const {
  Touched result;
  const std::int32_t first = first_owner_ << kOwnerShift, kept = kept_mark(launch_number_);
  for (std::size_t i = 0; i < kCellWords; ++i) {
    const std::int32_t owner = cells.owner[i];
    const bool is_atomic = (owner & kAtomic) != 0, is_read = (owner & kSecond) != 0;
    // What is kept exactly counts as written, whatever is.
    const bool is_kept = owner == kept;
    const bool is_touched = (owner >= first) | is_kept;
    const bool is_written = is_atomic | ((cells.write[i] != 0) & !is_read) | is_kept;
    result.all[i] = -static_cast<std::int32_t>(is_touched);
    result.written[i] = -static_cast<std::int32_t>(is_touched & is_written);
  }
  return result;
}

bool Checker::have_met(std::span<Checker* const> checkers, std::size_t part, std::size_t parts) {
  std::vector<std::pair<std::size_t, const Checker*>> pages;
  for (const Checker* const one : checkers) {
    for (const std::size_t number : one->pages_.made()) {
      if (number % parts == part) pages.emplace_back(number, one);
    }
  }
  std::sort(pages.begin(), pages.end());
  for (auto begin = pages.begin(); begin != pages.end();) {
    const auto end = std::find_if(begin, pages.end(),
                                  [&](const auto& one) { return one.first != begin->first; });
    const bool is_written = std::any_of(begin, end, [](const auto& one) {
      return one.second->pages_.number(one.first).written_in == one.second->launch_number_;
    });
    std::int32_t met = 0;
    for (std::size_t group = 0; is_written && end - begin > 1 && group < Pages::kGroups; ++group) {
      Touched before;
      for (auto one = begin; one != end; ++one) {
        const Touched its =
            one->second->touched(one->second->pages_.number(one->first).cells[group]);
        for (std::size_t i = 0; i < kCellWords; ++i) {
          met |= (its.all[i] & before.written[i]) | (its.written[i] & before.all[i]);
          before.all[i] |= its.all[i];
          before.written[i] |= its.written[i];
        }
      }
    }
    if (met != 0) return true;
    begin = end;
  }
  return false;
}

std::int32_t Checker::new_owner(std::uint64_t block) {
  const std::lock_guard lock(mutex_);
  if (next_owner_ >= kMostOwners) {
    // More blocks than the cells can tell apart: what the earlier ones did is forgotten.
    pages_.clear();
    spare_.clear();
    blocks_.clear();
    first_owner_ = next_owner_ = 1;
  }
  blocks_.push_back(block);
  return next_owner_++;
}

// ---- The block ----

BlockCheck::BlockCheck(Checker& checker, std::uint64_t block)
    : checker_(checker), block_(block), id_(checker.new_owner(block)) {
  {
    const std::lock_guard lock(checker_.mutex_);
    if (!checker_.spare_.empty()) {
      storage_ = std::move(checker_.spare_.back());
      checker_.spare_.pop_back();
    }
  }
  if (storage_ == nullptr) {
    storage_ = std::make_unique<Storage>(checker_.launch_.shared_bytes);
  } else {
    storage_->initialised.clear();
    storage_->words.clear();
    storage_->unsettle();
  }
  filling_ = std::move(storage_->filling);
  sources_ = std::move(storage_->sources);
  if (checker_.launch_.is_quick) {
    storage_->loaded.clear(checker_.launch_.shared_bytes / 4);
    storage_->stored.clear(checker_.launch_.shared_bytes / 4);
  }
  warp_since_.fill(1);
  const unsigned threads = (checker_.launch_.threads + 31) / 32 * 32;
  if (const std::size_t bytes = checker_.launch_.own_bytes * threads; bytes != 0) {
    if (storage_->own == nullptr || storage_->own->bytes != bytes) {
      storage_->own = std::make_unique<Own>(bytes);
    } else {
      storage_->own->clear();
    }
    own_ = storage_->own.get();
  }
  if (checker_.launch_.hands_on) threads_.resize(threads);
  if (checker_.launch_.is_async) {
    async_ = std::make_unique<Async>(checker_.launch_.shared_bytes, threads);
    const std::lock_guard lock(checker_.mutex_);
    checker_.there_[id_] = this;
  }
}

BlockCheck::~BlockCheck() {
  // The next block finds them empty, with their memory.
  if (fillings_ != 0) filling_.clear();
  if (source_count_ != 0) {
    for (std::vector<Source>& its : sources_) its.clear();
  }
  storage_->filling = std::move(filling_);
  storage_->sources = std::move(sources_);
  const std::lock_guard lock(checker_.mutex_);
  checker_.spare_.push_back(std::move(storage_));
  checker_.there_.erase(id_);
}

void BlockCheck::advance() {
  if (++now_ < kMostMoments) return;
  // As another block of the same place in the grid. What it did before comes before all that its threads do now.
  const Point all{id_, 0, kMostMoments, kMostMoments, kMostMoments};
  for (Thread& one : threads_) {
    for (Clock* const clock :
         {&one.hoped, &one.locked, &one.known, &one.fenced, &one.released[0], &one.released[1]}) {
      *clock = checker_.order_.with(*clock, all);
    }
    one.is_unfenced = false;
  }
  const std::int32_t before = std::exchange(id_, checker_.new_owner(block_));
  if (async_ != nullptr) {
    async_->forget();
    const std::lock_guard lock(checker_.mutex_);
    checker_.there_.erase(before);
    checker_.there_[id_] = this;
  }
  storage_->unsettle();
  now_ = since_ = 1;
  warp_since_.fill(1);
  for (Arrival& one : arrivals_) {
    if (one.moment != 0) one = {1, 1, 1, one.releases};
  }
}

Who BlockCheck::who(unsigned warp, bool is_shared, bool is_weak) const {
  const std::int32_t owner = id_ << kOwnerShift;
  return {owner, is_shared ? owner : checker_.first_owner_ << kOwnerShift, since_ << kThreadBits,
          warp_since_[warp] << kThreadBits,
          checker_.launch_.hands_on && !(checker_.launch_.is_quick && is_weak)};
}

void BlockCheck::barrier() {
  advance();
  since_ = now_;
  storage_->unsettle();
  async_barrier();
  if (threads_.empty()) return;
  const std::lock_guard lock(checker_.mutex_);
  Thread all;
  Order& order = checker_.order_;
  for (unsigned thread = 0; thread < threads_.size(); ++thread) end_unfenced(thread, Scope::gpu);
  for (const Thread& one : threads_) {
    all.hoped = order.join(all.hoped, one.hoped);
    all.locked = order.join(all.locked, one.locked);
    all.known = order.join(all.known, one.known);
    for (int s = 0; s < 2; ++s) all.released[s] = order.join(all.released[s], one.released[s]);
  }
  all.fenced = all.known;  // a barrier keeps accesses behind it
  std::fill(threads_.begin(), threads_.end(), all);
}

void BlockCheck::arrive(unsigned warp, std::uint32_t lanes, bool releases, std::int32_t site) {
  arrival_site_ = site;
  // Loads that need not be looked at are none between an arrival and its wait.
  if (checker_.launch_.is_quick) storage_->unsettle();
  if (threads_.empty()) return;
  advance();
  is_apart_ |= !releases;
  arrivals_.resize(threads_.size());
  for (std::uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
    arrivals_[warp * 32 + static_cast<unsigned>(std::countr_zero(rest))] = {
        since_, warp_since_[warp], now_, releases};
  }
}

// What comes before the barrier of the cluster by this thread, and with it its warp if they arrived together.
Clock BlockCheck::at_arrival(unsigned thread, Clock before) {
  const Arrival& its = arrivals_[thread];
  // It has ended, or never was.
  if (its.moment == 0) {
    return checker_.order_.with(
        before, {id_, thread, since_, warp_since_[thread / 32], now_, lane_of(thread)});
  }
  const unsigned first = thread / 32 * 32, end = std::min(first + 32, checker_.launch_.threads);
  const bool are_together = std::all_of(arrivals_.begin() + first, arrivals_.begin() + end,
                                        [&](const Arrival& one) { return one == its; });
  if (are_together && thread != first) return before;
  return checker_.order_.with(
      before, {id_, thread, its.since, are_together ? its.moment : its.warp_since, its.moment,
               lane_of(thread)});
}

// What the block has done before the barrier of the cluster, but for what comes behind arrivals, or in front of one that
// hands nothing on.
void BlockCheck::forget_touched(bool are_apart) {
  const bool releases = std::all_of(arrivals_.begin(), arrivals_.end(),
                                    [](const Arrival& one) { return one.releases; });
  storage_->unsettle();
  for (Storage::Touched* const its : {&storage_->loaded, &storage_->stored}) {
    if (!are_apart) {
      its->clear(checker_.launch_.shared_bytes / 4);
    } else {
      if (releases) its->all = its->since_arrival;
      std::fill(its->since_arrival.begin(), its->since_arrival.end(), 0);
    }
  }
}

void BlockCheck::meet(std::span<BlockCheck* const> blocks) {
  Checker& checker = blocks.front()->checker_;
  const bool are_apart = std::any_of(blocks.begin(), blocks.end(),
                                     [](const BlockCheck* one) { return one->is_apart_; });
  for (BlockCheck* const one : blocks) {
    if (checker.launch_.is_quick) one->forget_touched(are_apart);
    if (are_apart) {
      one->advance();
    } else {
      one->barrier();
      ++one->meetings_;
    }
  }
  const std::lock_guard lock(checker.mutex_);
  Order& order = checker.order_;
  Thread all;
  for (BlockCheck* const one : blocks) {
    for (unsigned thread = 0; thread < one->threads_.size(); ++thread) {
      one->end_unfenced(thread, Scope::gpu);
    }
    for (unsigned thread = 0; are_apart && thread < one->arrivals_.size(); ++thread) {
      const Thread& its = one->threads_[thread];
      all.hoped = one->at_arrival(thread, order.join(all.hoped, its.hoped));
      all.locked = one->at_arrival(thread, order.join(all.locked, its.locked));
      if (one->arrivals_[thread].releases) {
        all.known = one->at_arrival(thread, order.join(all.known, its.known));
      } else {
        all.known = order.join(all.known, its.released[1]);
      }
      for (int s = 0; s < 2; ++s) all.released[s] = order.join(all.released[s], its.released[s]);
    }
    one->arrivals_.clear();
    one->is_apart_ = false;
    if (are_apart) continue;
    const Thread& its = one->threads_.front();
    const Clock point = order.with(0, {one->id_, 0, one->since_, 0, 0});
    all.hoped = order.join(order.join(all.hoped, its.hoped), point);
    all.locked = order.join(order.join(all.locked, its.locked), point);
    all.known = order.join(order.join(all.known, its.known), point);
    for (int s = 0; s < 2; ++s) all.released[s] = order.join(all.released[s], its.released[s]);
  }
  all.fenced = all.known;
  for (BlockCheck* const one : blocks) std::fill(one->threads_.begin(), one->threads_.end(), all);
}

void BlockCheck::sync_warp(unsigned warp, std::uint32_t lanes, std::uint32_t live) {
  if ((live & ~lanes) == 0 && threads_.empty()) {
    advance();
    warp_since_[warp] = now_;
    storage_->unsettle();
    return;
  }
  std::array<std::uint32_t, 32> all{};
  all[warp] = lanes;
  meet(std::span(all).first(warp + 1));
  if ((live & ~lanes) == 0) warp_since_[warp] = now_;
  storage_->unsettle();
}

void BlockCheck::arrive_at(std::uint32_t number, unsigned warp, std::uint32_t lanes) {
  const std::lock_guard lock(checker_.mutex_);
  advance();
  if (threads_.empty()) threads_.resize((checker_.launch_.threads + 31) / 32 * 32);
  Order& order = checker_.order_;
  Clock& all = arrived_[number];
  all = order.with(all, {id_, warp * 32, since_, warp_since_[warp], now_, lanes});
  for (std::uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
    const unsigned thread = warp * 32 + static_cast<unsigned>(std::countr_zero(rest));
    end_unfenced(thread, Scope::gpu);
    all = order.join(all, threads_[thread].known);
  }
}

void BlockCheck::meet(std::span<const std::uint32_t> lanes, std::optional<std::uint32_t> number) {
  const std::lock_guard lock(checker_.mutex_);
  advance();
  if (threads_.empty()) threads_.resize((checker_.launch_.threads + 31) / 32 * 32);
  Order& order = checker_.order_;
  Thread met;
  const auto for_each = [&](auto visit) {
    for (unsigned warp = 0; warp < lanes.size(); ++warp) {
      for (std::uint32_t rest = lanes[warp]; rest != 0; rest &= rest - 1) {
        visit(threads_[warp * 32 + static_cast<unsigned>(std::countr_zero(rest))]);
      }
    }
  };
  for_each([&](const Thread& one) {
    end_unfenced(static_cast<unsigned>(&one - threads_.data()), Scope::gpu);
  });
  Clock points = number ? std::exchange(arrived_[*number], 0) : 0;
  for (unsigned warp = 0; warp < lanes.size(); ++warp) {
    if (lanes[warp] == 0) continue;
    points = order.with(points, {id_, warp * 32, since_, warp_since_[warp], now_, lanes[warp]});
  }
  for_each([&](const Thread& one) {
    met.hoped = order.join(met.hoped, one.hoped);
    met.locked = order.join(met.locked, one.locked);
    met.known = order.join(met.known, one.known);
    met.fenced = order.join(met.fenced, one.fenced);
    for (int s = 0; s < 2; ++s) met.released[s] = order.join(met.released[s], one.released[s]);
  });
  met.hoped = order.join(met.hoped, points);
  met.locked = order.join(met.locked, points);
  met.known = order.join(met.known, points);
  met.fenced = order.join(met.fenced, points);
  for_each([&](Thread& one) { one = met; });
}

void BlockCheck::fence(unsigned warp, std::uint32_t lanes, Scope scope) {
  if (threads_.empty()) return;
  const std::lock_guard lock(checker_.mutex_);
  advance();
  for (std::uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
    const unsigned thread = warp * 32 + static_cast<unsigned>(std::countr_zero(rest));
    Thread& one = threads_[thread];
    one.fenced = one.known;
    end_unfenced(thread, scope);
    const Clock released = checker_.order_.with(
        one.known, {id_, thread, since_, warp_since_[warp], now_, lane_of(thread)});
    one.released[0] = released;
    if (scope != Scope::block) one.released[1] = released;
  }
}

namespace {

// Beside a barrier's word.
constexpr std::uint64_t kArriving = std::uint64_t{1} << 63;

}  // namespace

void BlockCheck::phase_completed(std::uint64_t barrier) {
  const std::lock_guard lock(checker_.mutex_);
  const auto arriving = shared_variables_.find(barrier / 4 | kArriving);
  if (arriving == shared_variables_.end()) return;
  Order& order = checker_.order_;
  const Variable its = arriving->second;
  shared_variables_.erase(arriving);
  Variable& all = shared_variables_[barrier / 4];
  all.hoped = order.join(all.hoped, its.hoped);
  all.locked = order.join(all.locked, its.locked);
  all.known = order.join(all.known, its.known);
}

// A strong access is how data are handed on: what it reads it takes over before it is made, what it writes it hands on
// after.
void BlockCheck::strong(const Doing& doing, int lane, bool is_before) {
  const Access& access = doing.access;
  const Site& site = doing.site;
  const bool reads = access.act != Act::store;
  // To arrive at a barrier takes nothing over: who waits there does.
  const bool arrives = site.sends || (site.is_barrier && access.act == Act::atomic);
  if (is_before ? !reads || arrives : access.act == Act::load) return;
  // Lanes that arrive at one barrier hand on what they have done at once, with the last of them.
  const std::uint32_t all_lanes = access.lanes.mask;
  const bool together = arrives && access.lanes.least + static_cast<unsigned>(access.lanes.bytes) ==
                                       access.lanes.beyond;
  if (together && all_lanes >> lane != 1) return;
  const unsigned thread = access.warp * 32 + static_cast<unsigned>(lane);
  Thread& own = threads_[thread];
  Order& order = checker_.order_;
  const std::lock_guard lock(checker_.mutex_);
  Variables& all =
      access.space == Space::shared ? doing.memory.shared_variables_ : checker_.variables_;
  // What arrives at a barrier in memory is handed on when all have.
  const std::uint64_t word = address_of(access, lane) / 4 | (arrives ? kArriving : 0);
  const bool is_wide = site.scope != Scope::block && access.space == Space::global;
  if (is_before) {
    const auto found = all.find(word);
    if (found == all.end()) return;
    const Variable& from = found->second;
    own.hoped = order.join(own.hoped, from.hoped);
    if (access.act == Act::atomic) own.locked = order.join(own.locked, from.locked);
    Clock news = is_wide || access.space == Space::shared ? from.known : 0;
    for (const auto& [block, clock] : from.in_block) {
      if (block == id_) news = order.join(news, clock);
    }
    own.known = order.join(own.known, news);
    if (site.strength == Strength::acquire || site.strength == Strength::acquire_release) {
      own.fenced = order.join(own.fenced, news);
    }
    return;
  }
  const std::uint64_t its_lock = access.space == Space::shared ? ~word : word;
  const bool opens = !site.may_lock || has_tried(thread, its_lock, access.site);
  if (!opens) {
    try_lock(thread, its_lock, access.site);
  } else if (checker_.unfenced_count_ != 0) {
    open_lock(thread, its_lock);
  }
  if (!doing.hands_on) return;
  if (opens && checker_.unfenced_count_ != 0) checker_.opened_.insert(its_lock);
  const std::uint32_t lanes = together ? all_lanes : 1u << lane;
  const std::span<Thread> warp = std::span(threads_).subspan(access.warp * 32, 32);
  Clock known = 0, hoped = 0;
  for (std::uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
    const Thread& one = warp[static_cast<std::size_t>(std::countr_zero(rest))];
    known = order.join(known, one.known);
    hoped = order.join(hoped, one.hoped);
  }
  const Point here{id_, thread, since_, warp_since_[access.warp], now_ + 1, lanes};
  if (site.strength == Strength::release || site.strength == Strength::acquire_release ||
      site.sends) {
    // A fence of the access's own.
    const Clock released = order.with(known, here);
    for (std::uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
      Thread& one = warp[static_cast<std::size_t>(std::countr_zero(rest))];
      one.released[0] = released;
      if (site.scope != Scope::block) one.released[1] = released;
    }
  }
  Variable& to = all[word];
  const Clock all_so_far = order.with(hoped, here);
  to.hoped = order.join(to.hoped, all_so_far);
  if (access.act == Act::atomic) to.locked = order.join(to.locked, all_so_far);
  if (access.space == Space::shared || (is_wide && own.released[1] != 0)) {
    to.known = order.join(to.known, own.released[access.space == Space::shared ? 0 : 1]);
  }
  if (copy_ != 0) to.known = order.with(to.known, {-std::exchange(copy_, 0), 0, 1, 1, 1});
  if (access.space == Space::global && own.released[0] != 0) {
    for (auto& [block, clock] : to.in_block) {
      if (block != id_) continue;
      clock = order.join(clock, own.released[0]);
      return;
    }
    to.in_block.emplace_back(id_, own.released[0]);
  }
}

// ---- Locks ----

namespace {

// In a launch; of what comes later nobody is accused.
constexpr std::size_t kMostUnfenced = std::size_t{1} << 20;

std::uint64_t key_of(std::int32_t block, unsigned thread) {
  return static_cast<std::uint64_t>(block) << 32 | thread;
}

}  // namespace

// Whether the thread has taken the lock elsewhere in the text, and made a fence since: now it opens it, though it looks at
// what was there.
bool BlockCheck::has_tried(unsigned thread, std::uint64_t lock, std::int32_t site) {
  if (threads_[thread].is_unfenced) return false;
  const Unfenced* const last = last_try(thread, lock);
  return last != nullptr && last->site != site && !last->is_opened;
}

void BlockCheck::open_lock(unsigned thread, std::uint64_t lock) {
  if (Unfenced* const last = last_try(thread, lock)) last->is_opened = true;
}

// Null if it was of another lock.
BlockCheck::Unfenced* BlockCheck::last_try(unsigned thread, std::uint64_t lock) {
  const auto its = checker_.unfenced_.find(key_of(id_, thread));
  if (its == checker_.unfenced_.end() || its->second.empty()) return nullptr;
  Unfenced& last = its->second.back();
  return last.lock == lock ? &last : nullptr;
}

void BlockCheck::try_lock(unsigned thread, std::uint64_t lock, std::int32_t site) {
  std::vector<Unfenced>& its = checker_.unfenced_[key_of(id_, thread)];
  const bool goes_on = threads_[thread].is_unfenced && its.back().lock == lock;
  if (goes_on || checker_.unfenced_count_ == kMostUnfenced) return;
  constexpr std::int32_t kOpen = std::numeric_limits<std::int32_t>::max();
  its.push_back({lock, site, false, now_ + 1, kOpen, kOpen});
  ++checker_.unfenced_count_;
  threads_[thread].is_unfenced = true;
}

void BlockCheck::end_unfenced(unsigned thread, Scope scope) {
  if (!threads_[thread].is_unfenced) return;
  Unfenced& its = checker_.unfenced_[key_of(id_, thread)].back();
  its.in_block = std::min(its.in_block, now_);
  if (scope == Scope::block) return;
  its.to_all = now_;
  threads_[thread].is_unfenced = false;
}

// Whether both are made with the same lock, the earlier one with no fence behind it. What nobody opens again is no lock, but
// a count of who comes next, say: whether a cell is free says a flag of its own.
bool BlockCheck::was_unfenced(const Exact& one, const Exact& now) const {
  const auto earlier = checker_.unfenced_.find(key_of(one.block, one.thread));
  if (earlier == checker_.unfenced_.end()) return false;
  const auto later = checker_.unfenced_.find(key_of(now.block, now.thread));
  if (later == checker_.unfenced_.end()) return false;
  const auto its =
      std::find_if(earlier->second.rbegin(), earlier->second.rend(),
                   [&](const Unfenced& attempt) { return attempt.begin <= one.moment; });
  if (its == earlier->second.rend() || !checker_.opened_.contains(its->lock)) return false;
  const std::int32_t end = one.block == now.block ? its->in_block : its->to_all;
  const auto takes = [&](const Unfenced& attempt) { return attempt.lock == its->lock; };
  return one.moment < end && std::any_of(later->second.begin(), later->second.end(), takes);
}

// ---- What the machine finds ----

void BlockCheck::report(Hazard hazard, std::int32_t site, unsigned thread, const std::string& what,
                        std::int32_t other_site, Party other, Remedy remedy) {
  Finding finding;
  finding.hazard = hazard;
  finding.site = site;
  finding.other_site = other_site;
  finding.what = what;
  finding.party = {block_, thread};
  finding.other = other;
  finding.count = 1;
  finding.remedy = remedy;
  const std::lock_guard lock(checker_.mutex_);
  checker_.findings_.add(std::move(finding));
}

}  // namespace simt::checker
