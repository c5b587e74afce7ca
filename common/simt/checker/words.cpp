// Words that are kept exactly: who has touched them, and what orders two accesses.
#include <algorithm>
#include <array>
#include <bit>
#include <span>

#include "common/simt/checker/block_check.hpp"

namespace simt::checker {
namespace {

// Of words that are kept exactly, in a launch.
constexpr std::size_t kMostWords = std::size_t{1} << 20;

}  // namespace

// What the cell of a word says.
void BlockCheck::expand(const Cells& cells, const Others* others, unsigned word, bool is_shared,
                        std::vector<Exact>& to) const {
  const std::int32_t owner = cells.owner[word];
  if (owner < who(0, is_shared, true).stale) return;
  const std::uint32_t sites = cells.sites[word];
  const std::uint32_t write_site = sites >> kWriteSiteShift & kSiteMask;
  const std::uint32_t read_site = sites >> kReadSiteShift & kSiteMask;
  const auto shape = static_cast<WordShape>(sites & kShapeMask);
  const auto add = [&](std::int32_t its, std::int32_t place, Act act, std::uint32_t site) {
    if (place == 0) return;
    const int parts = shape == WordShape::whole ? 1 : shape == WordShape::halves ? 2 : 4;
    for (int i = 0; i < parts; ++i) {
      to.push_back({its >> kOwnerShift, thread_of(place) + static_cast<unsigned>(i),
                    moment_of(place), site, act, static_cast<std::uint8_t>(part_of(i, parts))});
    }
  };
  const bool is_atomic = (owner & kAtomic) != 0, is_second = (owner & kSecond) != 0;
  const bool has_other = others != nullptr && (owner & kBlocks) != 0;
  if (has_other) {
    add(others->owner[word], others->place[word], is_atomic ? Act::atomic : Act::load,
        is_atomic ? read_site : write_site);
  }
  if (is_atomic) {
    if (!has_other) add(owner, cells.read[word], Act::atomic, read_site);
    add(owner, cells.write[word], Act::atomic, write_site);
    return;
  }
  add(owner, cells.write[word], is_second ? Act::load : Act::store, write_site);
  add(owner, cells.read[word], Act::load, read_site);
  // Who else has read is not known, if there was no room.
  const bool may_be_more = (owner & (kWarps | kLanes)) != 0 && !is_second;
  if (may_be_more) {
    to.push_back(
        {owner >> kOwnerShift, kNoThread, moment_of(cells.read[word]), read_site, Act::load, 15});
  }
}

BlockCheck::Ordered BlockCheck::ordered(const Exact& earlier, unsigned thread) {
  const bool is_own = earlier.block == id_ || checker_.block_of(earlier.block) == block_;
  if (is_own) {
    if (earlier.block != id_ || earlier.moment < since_ ||
        (earlier.thread == thread && !is_sent(earlier))) {
      return Ordered::yes;
    }
    if (earlier.thread != kNoThread && earlier.thread / 32 == thread / 32 &&
        earlier.moment < warp_since_[thread / 32]) {
      return Ordered::yes;
    }
  }
  if (threads_.empty() || earlier.thread == kNoThread) return Ordered::no;
  const Thread& own = threads_[thread];
  const Order& order = checker_.order_;
  if (comes_after(own.known, earlier)) {
    const bool is_fenced = own.known == own.fenced || comes_after(own.fenced, earlier);
    return is_fenced || order.has_given_up() ? Ordered::yes : Ordered::without_acquire;
  }
  if (!comes_after(own.hoped, earlier)) return Ordered::no;
  // That it would come after, with fences, is a guess then.
  return order.has_given_up() ? Ordered::yes : Ordered::if_fenced;
}

// Of accesses that do not race since they are strong: a volatile value that is handed on by a lock still needs the lock's
// fence, and what others have read may be overwritten behind it only. A cuda::atomic is made to be met by others at any
// time: a counter that both have passed is not taken for its lock, and what a release stores, or an acquire loads, is the flag
// itself.
BlockCheck::Ordered BlockCheck::ordered_by_locks(const Exact& earlier, const Exact& now) {
  if (threads_.empty() || earlier.act == Act::atomic || earlier.thread == kNoThread) {
    return Ordered::yes;
  }
  const Ordered order = ordered(earlier, now.thread);
  const Site* const site = site_of(earlier);
  const bool is_released = site != nullptr && site->strength > Strength::relaxed;
  if (order == Ordered::without_acquire ? is_released : earlier.act == Act::load) {
    return Ordered::yes;
  }
  const bool is_value = is_volatile(earlier) || is_volatile(now);
  const bool is_flag = order == Ordered::if_fenced &&
                       (!is_value || !comes_after(threads_[now.thread].locked, earlier) ||
                        checker_.order_.has_given_up());
  return is_flag ? Ordered::yes : order;
}

bool BlockCheck::comes_after(Clock clock, const Exact& earlier) {
  return checker_.order_.has(clock, earlier.block, earlier.thread, earlier.moment);
}

const Site* BlockCheck::site_of(const Exact& one) const {
  const auto& sites = checker_.launch_.sites;
  return one.site < sites.size() && one.site != kNoSite ? &sites[one.site] : nullptr;
}

// One party sets up a barrier in shared memory, or arrives there.
bool BlockCheck::is_of_barrier(const Exact& one) const {
  const Site* const site = site_of(one);
  return site != nullptr && (site->is_barrier || (site->sends && one.act == Act::atomic));
}

bool BlockCheck::is_sent(const Exact& one) const {
  const Site* const site = site_of(one);
  return site != nullptr && site->sends && one.act == Act::store;
}

bool BlockCheck::is_strong(const Exact& one) const {
  const Site* const site = site_of(one);
  return one.act == Act::atomic || (site != nullptr && site->strength != Strength::weak);
}

bool BlockCheck::is_volatile(const Exact& one) const {
  const Site* const site = site_of(one);
  return site != nullptr && site->strength == Strength::is_volatile;
}

// Two strong accesses, each within the other's scope, do not race, atomics of two sizes neither: PTX promises that one of
// them is over before the other begins. In shared memory lanes of a warp with volatile
// accesses alone do: there volatile arrays used to stand for __syncwarp.
bool BlockCheck::are_strong(const Exact& a, const Exact& b, bool is_shared) const {
  if (!is_strong(a) || !is_strong(b)) return false;
  // Whose scope says what else they order.
  if (is_of_barrier(a) && is_of_barrier(b) && a.act != Act::store && b.act != Act::store) {
    return true;
  }
  const Site *its = site_of(a), *other = site_of(b);
  const bool same_block = a.block == b.block;
  for (const Site* one : {its, other}) {
    if (!same_block && one != nullptr && one->scope == Scope::block) return false;
  }
  const bool same_warp = same_block && a.thread / 32 == b.thread / 32;
  return !is_shared || !same_warp || a.act == Act::atomic || b.act == Act::atomic ||
         (its->strength != Strength::is_volatile && other->strength != Strength::is_volatile);
}

void BlockCheck::exactly(const Doing& doing, Cells& cells, Others* others, unsigned word, int lane,
                         unsigned bytes) {
  const Access& access = doing.access;
  const bool is_shared = doing.is_shared;
  const unsigned thread = doing.thread(lane);
  BlockCheck& memory = doing.memory;
  Words& words = is_shared ? memory.storage_->words : *checker_.words_;
  const std::int32_t mark = kept_mark(is_shared ? memory.id_ : checker_.launch_number_);
  const Exact now{id_, thread, now_, doing.cell_site, access.act, static_cast<std::uint8_t>(bytes)};
  // Other blocks have nothing to do with it, or are seen to.
  const bool is_alone = !checker_.launch_.has_clusters || checker_.launch_.is_quick;
  // What a cell can hold.
  const bool is_usual = bytes == 15 && !doing.is_narrow && &memory == this;
  const auto touch_afresh = [&] {
    cells.owner[word] = cells.write[word] = cells.read[word] = 0;
    cells.sites[word] = 0;
    touch_word(cells, others, word, place_of(now_, thread), now.site, WordShape::whole, doing.who,
               access.act);
  };
  Word* its = nullptr;
  Word& passing = storage_->passing;
  passing.all.clear();
  passing.is_updated = passing.is_of_atomics = passing.is_of_loads = false;
  passing.since = 0;
  if (cells.owner[word] < 0) {
    if (cells.owner[word] == mark) {
      its = &words[static_cast<std::size_t>(cells.write[word])];
      const bool goes_on = its->is_of_atomics && !its->all.empty() &&
                           its->all.back().moment >= since_ && is_plain_atomic(now);
      const bool has_clusters = checker_.launch_.has_clusters;
      if (is_shared && is_alone && !goes_on && (has_clusters || its->since != since_)) {
        // What lies before the barrier is done with.
        const bool is_own = &memory == this, have_met = its->meetings != memory.meetings_;
        std::erase_if(its->all, [&](const Exact& one) {
          if (!has_clusters) return one.moment < since_;
          return have_met || (is_own && one.block == id_ && one.moment < since_);
        });
        its->since = since_;
        if (its->all.empty() && is_usual) {
          its->told.clear();
          its->values_differ = false;
          touch_afresh();
          return;
        }
      }
    } else if (is_usual) {
      touch_afresh();
      return;
    }
  } else {
    memory.expand(cells, others, word, is_shared, passing.all);
    // Of several that have read it, or updated it, the cell names two.
    if (checker_.launch_.is_quick && !passing.all.empty() &&
        (cells.owner[word] & (kBlocks | kWarps | kLanes)) != 0) {
      checker_.order_matters_ = true;
    }
    passing.is_updated = (cells.owner[word] & kAtomic) != 0;
  }
  (its != nullptr ? *its : passing).meetings = memory.meetings_;
  if (its != nullptr) {
    judge(words, *its, now, doing, lane);
    return;
  }
  const std::size_t accesses = words.accesses;
  judge(words, passing, now, doing, lane);
  if (is_usual && is_shared && is_alone && fits_cell(passing)) {
    // Who hands a word on as it should need not leave the cell.
    words.accesses = accesses;
    const bool is_read = passing.all.size() == 2;
    const std::int32_t written = is_read ? cells.write[word] : 0;
    const std::uint32_t sites = is_read ? cells.sites[word] : 0;
    touch_afresh();
    if (is_read) {
      cells.write[word] = written;
      cells.sites[word] |= sites & kSiteMask << kWriteSiteShift;
    }
    return;
  }
  if (words.size() < kMostWords) {
    words.add(passing);
    cells.owner[word] = mark;
    cells.write[word] = static_cast<std::int32_t>(words.size() - 1);
    cells.read[word] = 0;
  } else if (is_usual) {
    // No room: the cell goes on with the last access.
    touch_afresh();
  }
  passing.told.clear();
  passing.values_differ = false;
}

// A load by which memory may still be what it was before the launch, or before an ordinary store of the block. Where
// nothing orders it after a store, it is a race anyway.
void BlockCheck::read_what_was_written(const Doing& doing) {
  const Access& access = doing.access;
  const auto written_page = [&](std::uint64_t at) -> const Pages::Page* {
    const Pages::Page* const page = checker_.pages_.at(at);
    return page != nullptr && page->written_in == checker_.launch_number_ ? page : nullptr;
  };
  // What most lanes read lies in one page or two, where nobody writes.
  if (access.lanes.beyond - access.lanes.least <= Pages::kBytes &&
      written_page(access.lanes.least) == nullptr &&
      written_page(access.lanes.beyond - 1) == nullptr) {
    return;
  }
  std::vector<Exact> in_cell;
  for (std::uint32_t rest = access.lanes.mask; rest != 0; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    const std::uint64_t begin = doing.address(lane);
    const std::uint64_t end = begin + static_cast<unsigned>(access.lanes.bytes);
    for (std::uint64_t at = begin / 4 * 4; at < end; at += 4) {
      const Pages::Page* const page = written_page(at);
      if (page == nullptr) break;
      const std::size_t place = (at - checker_.pages_.begin()) % Pages::kBytes / 4;
      const std::size_t group = group_of(place);
      const auto word = static_cast<unsigned>(place % kCellWords);
      const Cells& cells = page->cells[group];
      const std::vector<Exact>* all = &in_cell;
      in_cell.clear();
      if (cells.owner[word] == kept_mark(checker_.launch_number_)) {
        all = &(*checker_.words_)[static_cast<std::size_t>(cells.write[word])].all;
      } else if (cells.owner[word] >= 0) {
        expand(cells, &page->others[group], word, false, in_cell);
      }
      const auto is_read = [&](const Exact& one) {
        const std::uint64_t first = std::max(begin, at) - at, behind = std::min(end, at + 4) - at;
        const unsigned bytes = (1u << behind) - (1u << first);
        if (one.act == Act::load || (one.bytes & bytes) == 0) return false;
        const Ordered order = ordered(one, doing.thread(lane));
        return order == Ordered::yes || order == Ordered::without_acquire;
      };
      const auto its = std::find_if(all->begin(), all->end(), is_read);
      if (its == all->end()) continue;
      if (doing.site.is_bulk) {
        if (its->block == id_) {
          judge_fence(*its, Space::global, at, access.site, doing.thread(lane));
        }
        continue;
      }
      Finding finding;
      finding.hazard = Hazard::race;
      finding.site = access.site;
      finding.other_site = its->site == kNoSite ? -1 : static_cast<std::int32_t>(its->site);
      finding.array = checker_.name_of(access.space, at);
      finding.what = "reads " + finding.array +
                     (doing.site.is_of_texture ? " by a texture,"
                                               : " by __ldg() or through const __restrict__,");
      finding.detail = "which this launch has written, by";
      finding.party = {block_, doing.thread(lane)};
      finding.other = party(*its);
      finding.address = at;
      finding.count = 1;
      finding.remedy = Remedy::as_constant;
      const std::lock_guard lock(checker_.mutex_);
      checker_.findings_.add(std::move(finding));
      break;
    }
  }
}

// Whether a cell holds as much: an access of the block, or a store and the read that comes after it.
bool BlockCheck::fits_cell(const Word& word) const {
  const auto is_plain = [&](const Exact& one) {
    return one.block == id_ && one.bytes == 15 && one.act != Act::atomic && !is_sent(one);
  };
  if (!word.told.empty() || !is_plain(word.all.back())) return false;
  return word.all.size() == 1 ||
         (word.all.size() == 2 && is_plain(word.all.front()) &&
          word.all.front().act == Act::store && word.all.back().act == Act::load);
}

// Lanes that ask a barrier in shared memory, or arrive there: the same as exactly() of each, for the many who do. They race
// with nobody but who sets it up or ends it. False if one may, or the barrier's words are not kept exactly.
bool BlockCheck::at_barrier(const Doing& doing) {
  const Access& access = doing.access;
  const auto bytes = static_cast<unsigned>(access.lanes.bytes);
  const std::uint64_t address = access.lanes.least;
  if (!(doing.site.is_barrier || doing.site.sends) || doing.site.ends_barrier || !doing.is_shared ||
      access.act == Act::store || !checker_.launch_.looks_for_races ||
      checker_.launch_.by_barriers || address + bytes != access.lanes.beyond || address % 4 != 0 ||
      bytes % 4 != 0) {
    return false;
  }
  Storage& storage = *doing.memory.storage_;
  std::array<Word*, 2> its{};
  const unsigned count = bytes / 4;
  if (count > its.size() || storage.words.accesses >= kMostOfAll) return false;
  const auto is_own = [&](const Exact& one) {
    return one.block == id_ && one.thread / 32 == access.warp &&
           has(access.lanes.mask, static_cast<int>(one.thread % 32));
  };
  const auto is_old = [&](const Exact& one) { return one.block == id_ && one.moment < since_; };
  // Who has set the barrier up.
  const auto comes_after_it = [&](const Exact& store) {
    if (is_old(store)) return true;
    if (is_strong(store) || checker_.unfenced_count_ != 0) return false;
    for (std::uint32_t rest = access.lanes.mask; rest != 0; rest &= rest - 1) {
      if (ordered(store, doing.thread(std::countr_zero(rest))) != Ordered::yes) return false;
    }
    return true;
  };
  for (unsigned i = 0; i < count; ++i) {
    const Cells& cells = storage.cells[group_of(address / 4 + i)];
    const std::size_t word = (address / 4 + i) % kCellWords;
    if (cells.owner[word] != kept_mark(doing.memory.id_)) return false;
    its[i] = &storage.words[static_cast<std::size_t>(cells.write[word])];
    bool is_used = false;
    for (const Exact& one : its[i]->all) {
      const bool is_simple = one.act == Act::store ? comes_after_it(one) : is_strong(one);
      if (!is_simple || !is_of_barrier(one) || one.bytes != 15) return false;
      is_used |= !is_old(one);
    }
    if (!is_used || its[i]->all.size() + 32 >= kMostOfWord) return false;
  }
  if (checker_.launch_.looks_for_uninitialised && !is_simply_initialised(doing, address, bytes)) {
    return false;
  }
  for (Word* const word : std::span(its).first(count)) {
    const std::size_t had = word->all.size();
    std::erase_if(word->all, [&](const Exact& one) {
      // As exactly() has it.
      if (one.moment < since_ && !checker_.launch_.has_clusters) return true;
      const bool is_before = is_own(one) || is_old(one);
      return is_before && (access.act == Act::load ? one.act == Act::load : is_strong(one));
    });
    for (std::uint32_t rest = access.lanes.mask; rest != 0; rest &= rest - 1) {
      const unsigned thread = doing.thread(std::countr_zero(rest));
      word->all.push_back({id_, thread, now_, doing.cell_site, access.act, 15});
    }
    word->is_updated |= access.act == Act::atomic;
    word->is_of_loads = false;
    storage.words.accesses += word->all.size() - had;
  }
  return true;
}

// No poll where it may be more than that.
BlockCheck::Poll BlockCheck::poll_of(const Doing& doing) const {
  const Access& access = doing.access;
  const memory::WarpAddresses& its = access.lanes;
  const auto bytes = static_cast<unsigned>(its.bytes);
  if (doing.hands_on || doing.site.is_barrier || bytes % 4 != 0 || bytes > 16 ||
      its.least % bytes != 0 || its.least + bytes != its.beyond) {
    return {};
  }
  const std::lock_guard lock(checker_.mutex_);
  const Variables& all =
      access.space == Space::shared ? doing.memory.shared_variables_ : checker_.variables_;
  const auto found = all.find(its.least / 4);
  const Thread& first = threads_[doing.thread(std::countr_zero(its.mask))];
  return {.site = access.site,
          .warp = access.warp,
          .lanes = its.mask,
          .address = its.least,
          .since = since_,
          .warp_since = warp_since_[access.warp],
          .hoped = first.hoped,
          .known = first.known,
          .fenced = first.fenced,
          .handed_on = found == all.end() ? 0 : found->second.hoped};
}

// Lanes that ask again learn nothing, and are told nothing, where nobody has handed anything on by those words or touched
// them since: the same as exactly() of each, for the many who poll many times.
bool BlockCheck::polls_again(const Doing& doing) {
  if (last_poll_.site != doing.access.site || last_poll_ != poll_of(doing)) return false;
  const std::uint64_t address = doing.access.lanes.least;
  const auto bytes = static_cast<unsigned>(doing.access.lanes.bytes);
  std::size_t place = address / 4;
  const Cells* all_cells = storage_->cells.data();
  if (!doing.is_shared) {
    const Pages::Page* const page = checker_.pages_.at(address);
    if (page == nullptr) return false;
    all_cells = page->cells.data();
    place = (address - checker_.pages_.begin()) % Pages::kBytes / 4;
  }
  Words& words = doing.is_shared ? storage_->words : *checker_.words_;
  const auto count = static_cast<std::size_t>(std::popcount(doing.access.lanes.mask));
  std::array<std::span<Exact>, 4> last;  // of each word
  const unsigned words_asked = bytes / 4;
  for (unsigned i = 0; i < words_asked; ++i) {
    const Cells& cells = all_cells[group_of(place + i)];
    const std::size_t word = (place + i) % kCellWords;
    if (cells.owner[word] != kept_mark(doing.is_shared ? id_ : checker_.launch_number_)) {
      return false;
    }
    std::vector<Exact>& all = words[static_cast<std::size_t>(cells.write[word])].all;
    if (all.size() < count) return false;
    last[i] = std::span(all).last(count);
    std::uint32_t lanes = doing.access.lanes.mask;
    for (const Exact& one : last[i]) {
      const bool is_its = one.block == id_ && one.thread == doing.thread(std::countr_zero(lanes)) &&
                          one.site == doing.cell_site && one.bytes == 15;
      if (!is_its) return false;
      lanes &= lanes - 1;
    }
  }
  if (checker_.launch_.looks_for_uninitialised && !is_simply_initialised(doing, address, bytes)) {
    return false;
  }
  for (const std::span<Exact> its : std::span(last).first(words_asked)) {
    for (Exact& one : its) one.moment = now_;
  }
  return true;
}

}  // namespace simt::checker
