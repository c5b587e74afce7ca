// Whether an access conflicts with what a word has seen, and what is kept of the two.
#include <algorithm>
#include <unordered_set>

#include "common/simt/checker/block_check.hpp"

namespace simt::checker {
namespace {

// Accesses that are kept, of one word and of all.
constexpr std::size_t kMostOfWord = 4096, kFewOfWord = 64;
constexpr std::size_t kMostOfAll = std::size_t{1} << 24;

}  // namespace

// What races with no other such access.
bool BlockCheck::is_plain_atomic(const Exact& one) const {
  const Site* const site = site_of(one);
  return one.act == Act::atomic && one.bytes == 15 && site != nullptr &&
         site->scope != Scope::block && !site->sends && !site->is_barrier;
}

// Of atomics, or loads, that only others surround the last of each thread stands for all of its own that are like it.
void BlockCheck::tidy(Words& words, Word& word) const {
  const std::size_t had = word.all.size();
  std::unordered_set<std::uint64_t> later;
  for (std::size_t i = had; i-- > 0;) {
    Exact& one = word.all[i];
    const std::uint32_t like = (is_strong(one) ? 16u : 0u) | one.bytes;
    const std::uint64_t whose =
        static_cast<std::uint64_t>(one.block) << 32 | like << 24 | (one.thread & 0xff'ffff);
    one.is_before = !later.insert(whose).second;
  }
  std::erase_if(word.all, [](const Exact& one) { return one.is_before; });
  words.accesses -= had - word.all.size();
  word.tidy = word.all.size();
}

// Two that change one element, each by a load and a store.
bool BlockCheck::is_one_change(const Exact& a, const Exact& b) const {
  const Site *its = site_of(a), *other = site_of(b);
  return its != nullptr && other != nullptr && its->change >= 0 && its->change == other->change;
}

// Where order is by barriers alone, of many that do the same two lanes of a warp, or two blocks that never meet, stand for
// all.
bool BlockCheck::some_stand_for_all() const {
  return !checker_.launch_.hands_on || checker_.launch_.by_barriers;
}

// Of a lane of the same warp, between the same barriers.
bool BlockCheck::is_alike(const Exact& one, const Exact& now) const {
  return one.act == now.act && one.bytes == now.bytes && one.site == now.site &&
         one.block == now.block && one.thread / 32 == now.thread / 32 &&
         one.moment >= std::max(since_, warp_since_[now.thread / 32]);
}

void BlockCheck::judge(Words& words, Word& word, const Exact& now, const Doing& doing, int lane) {
  // Thousands of lanes may poll one lock, or read one count: what each does again there is nothing to any other.
  const bool is_plain = !(doing.is_shared && checker_.launch_.has_clusters) &&
                        !checker_.launch_.by_barriers && is_plain_atomic(now);
  const bool is_one_more =
      (word.is_of_atomics && is_plain) || (word.is_of_loads && now.act == Act::load &&
                                           !some_stand_for_all() && word.all.size() < kMostOfWord);
  if (is_one_more && word.all.size() < 2 * word.tidy) {
    word.all.push_back(now);
    ++words.accesses;
    return;
  }
  const Site& site = doing.site;
  if (keep_quiet(words, word, now, site)) return;
  if ((word.is_of_atomics || word.is_of_loads) && word.all.size() > word.tidy) tidy(words, word);
  const Met met = meet(word, now, site, doing.is_shared);
  if (met.is_told()) tell(word, now, met, doing, lane);
  keep(words, word, now, site, met.before != 0);
  word.is_of_atomics =
      is_plain && std::all_of(word.all.begin(), word.all.end(),
                              [&](const Exact& one) { return is_plain_atomic(one); });
  word.is_of_loads = std::all_of(word.all.begin(), word.all.end(),
                                 [](const Exact& one) { return one.act == Act::load; });
  word.tidy = word.all.size();
}

// Keeps what conflicts with nothing, where that is seen without a look at each. Whether it is.
bool BlockCheck::keep_quiet(Words& words, Word& word, const Exact& now, const Site& site) {
  if (now.act == Act::atomic || site.strength != Strength::weak) return false;
  // Whom a word belongs to conflicts with nobody: threads that count in parts of a word of their own, as CUB's sorts do.
  const auto is_own = [&](const Exact& one) {
    return one.thread == now.thread && one.block == now.block && !is_sent(one);
  };
  if (std::all_of(word.all.begin(), word.all.end(), is_own)) {
    const std::size_t had = word.all.size();
    std::erase_if(word.all, [&](const Exact& one) {
      return (one.bytes & ~now.bytes) == 0 && (now.act == Act::store || one.act == Act::load);
    });
    word.all.push_back(now);
    words.accesses += word.all.size() - had;
    word.is_of_atomics = word.is_of_loads = false;
    return true;
  }
  if (!word.is_of_loads || now.act != Act::load || !some_stand_for_all()) return false;
  const auto is_one_more = [&](const Exact& one) { return is_alike(one, now); };
  const auto first = std::find_if(word.all.begin(), word.all.end(), is_one_more);
  return first != word.all.end() && std::any_of(first + 1, word.all.end(), is_one_more);
}

// How many of the first accesses the thread has seen by an atomic of its own on this very word, whose result it uses: updates
// among them need no fence.
std::size_t BlockCheck::seen_of(const Word& word, const Exact& now) const {
  if (!word.is_updated || threads_.empty() || is_strong(now)) return 0;
  for (std::size_t i = word.all.size(); i-- > 1;) {
    const Exact& one = word.all[i];
    if (one.act != Act::atomic || one.block != now.block || one.thread != now.thread) continue;
    const Site* const its = site_of(one);
    if (its == nullptr || its->returns) return i;
  }
  return 0;
}

BlockCheck::Met BlockCheck::meet(Word& word, const Exact& now, const Site& site, bool is_shared) {
  Met met;
  const std::size_t seen = seen_of(word, now);
  // Who asks what an atomic of its own block has left has nothing to fear of it, and a latch is asked often.
  const bool is_asked = now.act == Act::load && is_strong(now);
  for (std::size_t i = 0; i < word.all.size(); ++i) {
    Exact& one = word.all[i];
    const bool is_same = one.block == now.block && one.thread == now.thread;
    const bool is_earlier = one.block == now.block && one.moment < since_;
    if (one.act == Act::load && now.act == Act::load) {
      // Many may read a word.
      one.is_before = is_same || is_earlier;
      met.before += one.is_before ? 1 : 0;
      continue;
    }
    if (is_asked && one.act == Act::atomic && one.block == now.block) {
      one.is_before = is_same || is_earlier;
      continue;
    }
    // A read stands for reads alone.
    met.before += now.act == Act::load ? 0 : 1;
    // libcu++ ends a pipeline's barriers in the last thread to quit, and what its warp has done there is ordered by a match
    // only. Whoever comes to a barrier that has ended is told.
    const bool meets = (one.bytes & now.bytes) != 0 && !(is_same && !is_sent(one)) &&
                       !(site.ends_barrier && is_of_barrier(one));
    if (meets && !are_strong(one, now, is_shared)) {
      one.is_before = meet_weak(one, now, i < seen, is_shared, met);
      continue;
    }
    one.is_before = (is_same && !is_sent(one)) || is_earlier;
    if (meets) meet_strong(word, one, now, is_shared, met);
  }
  return met;
}

// Of two that race unless something orders them. Whether the earlier one comes before, then.
bool BlockCheck::meet_weak(const Exact& one, const Exact& now, bool is_seen, bool is_shared,
                           Met& met) {
  // The blocks of a cluster share their memory in one order, whoever runs them.
  if (one.block != now.block && !is_shared) checker_.order_matters_ = true;
  const Ordered order = is_seen && is_strong(one) ? Ordered::yes : ordered(one, now.thread);
  if (order == Ordered::yes) {
    look_for_fence(one, now, met);
    return true;
  }
  if (order == Ordered::without_acquire) {
    take_first(met.lacks_acquire, one);
    return true;
  }
  // What a thread has read before a barrier it has read when a store behind that is seen: look-back without fences, as CUB
  // compacts arrays in place.
  const bool is_read = one.act == Act::load && now.act == Act::store;
  if (order == Ordered::if_fenced && is_read &&
      checker_.order_.has_barrier_after(threads_[now.thread].hoped, one.block, one.moment)) {
    return true;
  }
  met.lacks_fence |= order == Ordered::if_fenced;
  take_first(met.conflict[static_cast<std::size_t>(one.act)], one);
  return false;
}

// Of two that do not race, since both are strong.
void BlockCheck::meet_strong(const Word& word, const Exact& one, const Exact& now, bool is_shared,
                             Met& met) {
  if (!is_shared && one.block != now.block && (one.act != Act::atomic || now.act != Act::atomic)) {
    checker_.order_matters_ = true;
  }
  if (one.act == Act::atomic || now.act == Act::atomic) {
    // A store beside atomics that take no lock.
    const auto takes_lock = [&](const Exact& its) {
      const Site* const site = site_of(its);
      return its.act == Act::atomic && (site == nullptr || site->uses_old);
    };
    const bool is_mixed = one.act != now.act && one.act != Act::load && now.act != Act::load &&
                          !takes_lock(one) && !takes_lock(now);
    if (is_mixed && ordered(one, now.thread) == Ordered::no) take_first(met.mixed, one);
    return;
  }
  const Exact*& conflict = met.conflict[static_cast<std::size_t>(one.act)];
  // Of two changes of one element one is lost, however strong their loads and stores are.
  if (one.act == Act::store && is_one_change(one, now) && ordered(one, now.thread) == Ordered::no) {
    return take_first(conflict, one);
  }
  const Site* const site = site_of(now);
  const bool takes_value = now.act == Act::load && one.act == Act::store && is_volatile(one) &&
                           is_volatile(now) && site->reading == Reading::kept && !site->asks;
  if (takes_value && !has_read(word, one, now)) {
    const Ordered order = ordered(one, now.thread);
    const bool is_of_lock = !threads_.empty() && comes_after(threads_[now.thread].locked, one);
    if (order == Ordered::no || (order == Ordered::if_fenced && !is_of_lock)) {
      return take_first(met.old, one);
    }
  }
  switch (ordered_by_locks(one, now)) {
    case Ordered::if_fenced:
      // Who opens a lock by a store has taken it by an atomic, which has read what the one before left.
      if (has_read(word, one, now)) return;
      met.lacks_fence = true;
      return take_first(conflict, one);
    case Ordered::without_acquire:
      if (!has_read(word, one, now)) take_first(met.lacks_acquire, one);
      return;
    case Ordered::no:
      if (now.act == Act::store) take_first(met.mixed, one);
      return;
    case Ordered::yes:
      return look_for_fence(one, now, met);
  }
}

// Whether the thread has read what was stored there, or something later: it reads nothing older again, fence or not. For who
// stores there an atomic has.
bool BlockCheck::has_read(const Word& word, const Exact& stored, const Exact& now) const {
  if (stored.act != Act::store || now.act == Act::atomic) return false;
  const bool by_any = now.act == Act::load;
  return std::any_of(&stored + 1, word.all.data() + word.all.size(), [&](const Exact& its) {
    return (its.act == Act::atomic || (by_any && its.act == Act::load)) && is_strong(its) &&
           (now.bytes & ~its.bytes) == 0 && its.block == now.block &&
           (its.thread == now.thread || its.moment < since_);
  });
}

// Of those that are told of, the first in the order of the grid.
void BlockCheck::take_first(const Exact*& kept, const Exact& one) const {
  if (kept == nullptr || party(one) < party(*kept)) kept = &one;
}

void BlockCheck::look_for_fence(const Exact& one, const Exact& now, Met& met) const {
  if (one.act == Act::atomic || now.act == Act::atomic || one.thread == kNoThread) return;
  const bool by_barrier = one.block == now.block && one.moment < since_;
  if (!by_barrier && was_unfenced(one, now)) take_first(met.unfenced, one);
}

void BlockCheck::keep(Words& words, Word& word, const Exact& now, const Site& site,
                      bool some_before) {
  const std::size_t had = word.all.size();
  // What comes before this access, and which it stands for, can be forgotten: whoever conflicts with the one
  // conflicts with the other.
  const auto stands_for = [&](const Exact& one) {
    if ((one.bytes & ~now.bytes) != 0) return false;
    if (now.act == Act::load && one.act != Act::load) return false;
    if (now.act == Act::store && site.strength == Strength::weak) return true;
    return now.act == Act::atomic || site.strength != Strength::weak ? is_strong(one) : true;
  };
  if (some_before) {
    std::erase_if(word.all, [&](const Exact& one) { return one.is_before && stands_for(one); });
  }
  const bool is_exact = checker_.launch_.hands_on;
  unsigned own = 0;
  if (some_stand_for_all() && now.act != Act::store) {
    unsigned blocks = 0;
    std::int32_t other = 0;
    std::erase_if(word.all, [&](const Exact& one) {
      if (one.act != now.act || one.bytes != now.bytes || one.site != now.site) return false;
      if (one.block == now.block) {
        own += is_alike(one, now) ? 1u : 0u;
        return false;
      }
      if (is_exact) return false;
      if (one.block == other) return true;
      other = one.block;
      return ++blocks > 2;
    });
  }
  if (own < 2) {
    const std::size_t most = is_exact && words.accesses < kMostOfAll ? kMostOfWord : kFewOfWord;
    if (word.all.size() >= most) {
      word.all.erase(word.all.begin() + static_cast<std::ptrdiff_t>(most / 2), word.all.end() - 1);
    }
    word.all.push_back(now);
    word.is_updated |= now.act == Act::atomic;
  }
  words.accesses += word.all.size() - had;
}

}  // namespace simt::checker
