// Words that are kept exactly: who has touched them, and whether an access conflicts.
#include <algorithm>
#include <bit>
#include <span>
#include <unordered_set>

#include "common/simt/checker/block_check.hpp"

namespace simt::checker {
namespace {

// Of words that are kept exactly, in a launch: how many, and how many accesses to one and to all of them.
constexpr std::size_t kMostWords = std::size_t{1} << 20;
constexpr std::size_t kMostOfWord = 4096, kFewOfWord = 64;
constexpr std::size_t kMostOfAll = std::size_t{1} << 24;

}  // namespace

std::optional<Hazard> beside_atomic(Reading reading, bool means_last) {
  if (reading == Reading::confirmed) return std::nullopt;
  const bool is_race = reading == Reading::kept || reading == Reading::guard ||
                       (means_last && reading == Reading::plain);
  return is_race ? Hazard::race : Hazard::read_beside_atomic;
}

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
// time: a counter that both have passed is not taken for its lock.
BlockCheck::Ordered BlockCheck::ordered_by_locks(const Exact& earlier, const Exact& now) {
  if (threads_.empty() || earlier.act == Act::atomic || earlier.thread == kNoThread) {
    return Ordered::yes;
  }
  const Ordered order = ordered(earlier, now.thread);
  if (earlier.act == Act::load && order != Ordered::without_acquire) return Ordered::yes;
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

bool BlockCheck::differ_in_size(const Exact& a, const Exact& b) const {
  const Site *its = site_of(a), *other = site_of(b);
  if (its == nullptr || other == nullptr) return false;
  return a.act == Act::atomic && b.act == Act::atomic && its->atomic_bytes != 0 &&
         other->atomic_bytes != 0 && its->atomic_bytes != other->atomic_bytes;
}

// Two strong accesses, each within the other's scope, do not race. In shared memory lanes of a warp with volatile
// accesses alone do: there volatile arrays used to stand for __syncwarp.
bool BlockCheck::are_strong(const Exact& a, const Exact& b, bool is_shared) const {
  if (!is_strong(a) || !is_strong(b)) return false;
  // Whose scope says what else they order.
  if (is_of_barrier(a) && is_of_barrier(b) && a.act != Act::store && b.act != Act::store) {
    return true;
  }
  if (checker_.launch_.mixes_atomics && differ_in_size(a, b)) return false;
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
    judge(words, *its, now, access, lane, is_shared);
    return;
  }
  const std::size_t accesses = words.accesses;
  judge(words, passing, now, access, lane, is_shared);
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

// A load by which memory may still be what it was before the launch. Where nothing orders it after a store, it is a race
// anyway.
void BlockCheck::read_as_constant(const Doing& doing) {
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
      Finding finding;
      finding.hazard = Hazard::race;
      finding.site = access.site;
      finding.other_site = its->site == kNoSite ? -1 : static_cast<std::int32_t>(its->site);
      finding.array = checker_.name_of(access.space, at);
      finding.what = "reads " + finding.array + " by __ldg() or through const __restrict__,";
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
  if (doing.hands_on || doing.site.is_barrier || its.bytes != 4 || its.least + 4 != its.beyond ||
      its.least % 4 != 0) {
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

// Lanes that ask again learn nothing, and are told nothing, where nobody has handed anything on by that word or touched it
// since: the same as exactly() of each, for the many who poll many times.
bool BlockCheck::polls_again(const Doing& doing) {
  if (last_poll_.site != doing.access.site || last_poll_ != poll_of(doing)) return false;
  const std::uint64_t address = doing.access.lanes.least;
  std::size_t place = address / 4;
  const Cells* all_cells = storage_->cells.data();
  if (!doing.is_shared) {
    const Pages::Page* const page = checker_.pages_.at(address);
    if (page == nullptr) return false;
    all_cells = page->cells.data();
    place = (address - checker_.pages_.begin()) % Pages::kBytes / 4;
  }
  const Cells& cells = all_cells[group_of(place)];
  if (cells.owner[place % kCellWords] !=
      kept_mark(doing.is_shared ? id_ : checker_.launch_number_)) {
    return false;
  }
  Words& words = doing.is_shared ? storage_->words : *checker_.words_;
  std::vector<Exact>& all = words[static_cast<std::size_t>(cells.write[place % kCellWords])].all;
  const auto count = static_cast<std::size_t>(std::popcount(doing.access.lanes.mask));
  if (all.size() < count) return false;
  const std::span<Exact> last = std::span(all).last(count);
  std::uint32_t lanes = doing.access.lanes.mask;
  for (const Exact& one : last) {
    const bool is_its = one.block == id_ && one.thread == doing.thread(std::countr_zero(lanes)) &&
                        one.site == doing.cell_site && one.bytes == 15;
    if (!is_its) return false;
    lanes &= lanes - 1;
  }
  if (checker_.launch_.looks_for_uninitialised && !is_simply_initialised(doing, address, 4)) {
    return false;
  }
  for (Exact& one : last) one.moment = now_;
  return true;
}

// ---- Judgement ----

Party BlockCheck::party(const Exact& one) const {
  return {checker_.block_of(one.block), one.thread};
}

// Whether a store brings what an earlier one has left there.
bool BlockCheck::stores_same(const Exact& now, const Exact& earlier, const Access& access,
                             int lane) const {
  // What a copy brings is known when it has come.
  if (access.values[0] == nullptr && site_of(now) != nullptr && site_of(now)->starts_copy) {
    return true;
  }
  if (access.memory == nullptr || access.values[0] == nullptr) return false;
  const auto byte_of = [&](int its, std::uint64_t at) {
    const std::uint64_t offset = at - address_of(access, its);
    const auto size = static_cast<std::uint64_t>(access.value_bytes);
    return access.values[offset / size][static_cast<std::uint64_t>(its) * size + offset % size];
  };
  const std::uint64_t address = address_of(access, lane);
  // An earlier store of a copy that is still on its way: which one comes last is compared.
  if (const Site* const its = site_of(earlier); its != nullptr && its->starts_copy) {
    const auto is_on_its_way = [&](const Source& one) {
      return one.to / 4 <= address / 4 + 3 && address / 4 <= one.to / 4 + 3;
    };
    if (earlier.thread < sources_.size()) {
      const std::vector<Source>& theirs = sources_[earlier.thread];
      if (std::any_of(theirs.begin(), theirs.end(), is_on_its_way)) return true;
    }
  }
  // An earlier lane of the same instruction, whose value is not there yet.
  int other = -1;
  if (earlier.block == id_ && earlier.moment == now_ && earlier.site == now.site &&
      earlier.thread / 32 == access.warp) {
    const int its = static_cast<int>(earlier.thread % 32);
    if (its < lane && has(access.lanes.mask, its)) other = its;
  }
  const auto size = static_cast<std::uint64_t>(access.lanes.bytes);
  const std::uint64_t other_address = other < 0 ? 0 : address_of(access, other);
  for (std::uint64_t i = 0; i < size; ++i) {
    const std::byte its = byte_of(lane, address + i);
    if (other >= 0 && address + i >= other_address && address + i < other_address + size) {
      if (its != byte_of(other, address + i)) return false;
    } else if (its != access.memory[address + i]) {
      return false;
    }
  }
  return true;
}

// What races with no other such access.
bool BlockCheck::is_plain_atomic(const Exact& one) const {
  const Site* const site = site_of(one);
  return one.act == Act::atomic && one.bytes == 15 && site != nullptr &&
         site->scope != Scope::block && !site->sends && !site->is_barrier;
}

// Of atomics that only others surround the last of each thread stands for all of its own.
void BlockCheck::tidy(Words& words, Word& word) {
  const std::size_t had = word.all.size();
  std::unordered_set<std::uint64_t> later;
  for (std::size_t i = had; i-- > 0;) {
    Exact& one = word.all[i];
    one.is_before = !later.insert(static_cast<std::uint64_t>(one.block) << 32 | one.thread).second;
  }
  std::erase_if(word.all, [](const Exact& one) { return one.is_before; });
  words.accesses -= had - word.all.size();
  word.tidy = word.all.size();
}

void BlockCheck::judge(Words& words, Word& word, const Exact& now, const Access& access, int lane,
                       bool is_shared) {
  // Thousands of lanes may poll one lock: what each does again there is nothing to any other.
  const bool is_plain = !(is_shared && checker_.launch_.has_clusters) &&
                        !checker_.launch_.by_barriers && is_plain_atomic(now);
  const bool mixes = checker_.launch_.mixes_atomics;
  const bool are_alike = !mixes || word.all.empty() || !differ_in_size(word.all.back(), now);
  if (word.is_of_atomics && is_plain && are_alike && word.all.size() < 2 * word.tidy) {
    word.all.push_back(now);
    ++words.accesses;
    return;
  }
  const Site& site = checker_.launch_.sites[static_cast<std::size_t>(access.site)];
  // Whom a word belongs to conflicts with nobody: threads that count in parts of a word of their own, as CUB's sorts do.
  const auto is_own = [&](const Exact& one) {
    return one.thread == now.thread && one.block == now.block && !is_sent(one);
  };
  if (now.act != Act::atomic && site.strength == Strength::weak &&
      std::all_of(word.all.begin(), word.all.end(), is_own)) {
    const std::size_t had = word.all.size();
    std::erase_if(word.all, [&](const Exact& one) {
      return (one.bytes & ~now.bytes) == 0 && (now.act == Act::store || one.act == Act::load);
    });
    word.all.push_back(now);
    words.accesses += word.all.size() - had;
    word.is_of_atomics = word.is_of_loads = false;
    return;
  }
  // Where order is by barriers alone, of many that do the same two lanes of a warp, or two blocks that never meet, stand for
  // all.
  const bool is_exact = checker_.launch_.hands_on;
  const bool some_stand_for_all = !is_exact || checker_.launch_.by_barriers;
  const auto is_alike = [&,
                         since = std::max(since_, warp_since_[now.thread / 32])](const Exact& one) {
    return one.act == now.act && one.bytes == now.bytes && one.site == now.site &&
           one.block == now.block && one.moment >= since && one.thread / 32 == now.thread / 32;
  };
  if (word.is_of_loads && some_stand_for_all && now.act == Act::load &&
      site.strength == Strength::weak) {
    const auto first = std::find_if(word.all.begin(), word.all.end(), is_alike);
    if (first != word.all.end() && std::any_of(first + 1, word.all.end(), is_alike)) return;
  }
  if (word.is_of_atomics && word.all.size() > word.tidy) tidy(words, word);
  // Of what it conflicts with the first in the order of the grid, for each kind of pair.
  std::array<const Exact*, 3> conflict{};
  bool lacks_fence = false;
  const Exact* lacks_acquire = nullptr;
  const Exact* unfenced = nullptr;  // the earlier one, made too early in its critical section
  const Exact* mixed = nullptr;     // of two strong stores that nothing orders the earlier one
  const auto is_first = [&](const Exact& a, const Exact* b) {
    return b == nullptr || party(a) < party(*b);
  };
  const auto is_one_change = [&](const Exact& a, const Exact& b) {
    const auto& sites = checker_.launch_.sites;
    if (a.site >= sites.size() || b.site >= sites.size()) return false;
    return sites[a.site].change >= 0 && sites[a.site].change == sites[b.site].change;
  };
  const auto look_for_fence = [&](const Exact& one) {
    if (one.act == Act::atomic || now.act == Act::atomic || one.thread == kNoThread) return;
    const bool by_barrier = one.block == now.block && one.moment < since_;
    if (!by_barrier && was_unfenced(one, now) && is_first(one, unfenced)) unfenced = &one;
  };
  // libcu++ ends a pipeline's barriers in the last thread to quit, and what its warp has done there is ordered by a match
  // only. Whoever comes to a barrier that has ended is told.
  const bool ends_barrier = site.ends_barrier;
  const auto takes_lock = [&](const Exact& one) {
    const Site* const its = site_of(one);
    return one.act == Act::atomic && (its == nullptr || its->uses_old);
  };
  // Updates of this very word that the thread has seen by one of its own, whose result it uses, need no fence.
  std::size_t seen = 0;
  if (word.is_updated && !threads_.empty() && !is_strong(now)) {
    for (std::size_t i = word.all.size(); i-- > 1 && seen == 0;) {
      const Exact& one = word.all[i];
      if (one.act != Act::atomic || one.block != now.block || one.thread != now.thread) continue;
      const Site* const its = site_of(one);
      if (its == nullptr || its->returns) seen = i;
    }
  }
  const std::size_t had = word.all.size();
  std::size_t before = 0;  // how many of them come before this one, at most
  Exact* const all = word.all.data();
  for (std::size_t i = 0; i < had; ++i) {
    Exact& one = all[i];
    if (one.act == Act::load && now.act == Act::load) {
      // Many may read a word.
      one.is_before = one.block == now.block && (one.thread == now.thread || one.moment < since_);
      before += one.is_before ? 1 : 0;
      continue;
    }
    // A read stands for reads alone.
    before += now.act == Act::load ? 0 : 1;
    one.is_before = false;
    const bool is_same = one.block == now.block && one.thread == now.thread && !is_sent(one);
    const bool meets = (one.bytes & now.bytes) != 0 &&
                       (one.act != Act::load || now.act != Act::load) && !is_same &&
                       !(ends_barrier && is_of_barrier(one));
    if (!meets || are_strong(one, now, is_shared)) {
      if (meets && !is_shared && one.block != now.block &&
          (one.act != Act::atomic || now.act != Act::atomic)) {
        checker_.order_matters_ = true;
      }
      const bool is_earlier = is_same || (one.block == now.block && one.moment < since_);
      one.is_before = is_earlier;
      if (!meets || one.act == Act::atomic || now.act == Act::atomic) {
        // A store beside atomics that take no lock.
        const bool is_mixed = meets && one.act != now.act && one.act != Act::load &&
                              now.act != Act::load && !takes_lock(one) && !takes_lock(now);
        if (is_mixed && ordered(one, now.thread) == Ordered::no && is_first(one, mixed)) {
          mixed = &one;
        }
        continue;
      }
      // Of two changes of one element one is lost, however strong their loads and stores are.
      if (one.act == Act::store && is_one_change(one, now) &&
          ordered(one, now.thread) == Ordered::no) {
        if (const Exact*& kept = conflict[static_cast<std::size_t>(one.act)]; is_first(one, kept)) {
          kept = &one;
        }
        continue;
      }
      switch (ordered_by_locks(one, now)) {
        case Ordered::if_fenced:
          lacks_fence = true;
          if (const Exact*& kept = conflict[static_cast<std::size_t>(one.act)];
              is_first(one, kept)) {
            kept = &one;
          }
          break;
        case Ordered::without_acquire:
          if (is_first(one, lacks_acquire)) lacks_acquire = &one;
          break;
        case Ordered::no:
          if (now.act == Act::store && is_first(one, mixed)) mixed = &one;
          break;
        case Ordered::yes:
          look_for_fence(one);
          break;
      }
      continue;
    }
    // The blocks of a cluster share their memory in one order, whoever runs them.
    if (one.block != now.block && !is_shared) checker_.order_matters_ = true;
    const Ordered order = i < seen && is_strong(one) ? Ordered::yes : ordered(one, now.thread);
    if (order == Ordered::yes || order == Ordered::without_acquire) {
      one.is_before = true;
      if (order == Ordered::without_acquire && is_first(one, lacks_acquire)) lacks_acquire = &one;
      if (order == Ordered::yes) look_for_fence(one);
      continue;
    }
    // What a thread has read before a barrier it has read when a store behind that is seen: look-back without fences, as CUB
    // compacts arrays in place.
    const bool is_read = one.act == Act::load && now.act == Act::store;
    if (order == Ordered::if_fenced && is_read &&
        checker_.order_.has_barrier_after(threads_[now.thread].hoped, one.block, one.moment)) {
      one.is_before = true;
      continue;
    }
    lacks_fence |= order == Ordered::if_fenced;
    const Exact*& kept = conflict[static_cast<std::size_t>(one.act)];
    if (is_first(one, kept)) kept = &one;
  }

  std::string array;
  const auto tell = [&](Hazard hazard, const Exact& first, const Exact& second, const char* verb,
                        const char* between, const char* detail, Remedy remedy) {
    const auto key =
        std::pair(first.site, second.site << 2 | static_cast<unsigned>(hazard == Hazard::race));
    if (std::find(word.told.begin(), word.told.end(), key) != word.told.end()) return;
    word.told.push_back(key);
    if (array.empty()) array = checker_.name_of(access.space, address_of(access, lane));
    const auto place_of_text = [](const Exact& one) {
      return one.site == kNoSite ? -1 : static_cast<std::int32_t>(one.site);
    };
    Finding finding;
    finding.hazard = hazard;
    // What an earlier copy in bulk brings may not be there yet.
    const Exact& earlier = &first == &now ? second : first;
    const bool is_unfinished = hazard == Hazard::race && is_sent(earlier) && !is_sent(now) &&
                               site_of(earlier)->is_bulk && now.act != Act::atomic;
    if (is_unfinished) finding.hazard = Hazard::unfinished_copy;
    finding.site = place_of_text(first);
    finding.other_site = place_of_text(second);
    finding.array = array;
    finding.what = verb + array + ", which";
    finding.party = party(first);
    finding.other = party(second);
    finding.address = address_of(access, lane);
    const bool is_between = finding.is_between_blocks();
    const bool is_one_store = first.site == second.site && first.site != kNoSite &&
                              first.act == Act::store && second.act == Act::store;
    finding.detail = is_between ? detail : between;
    finding.count = 1;
    finding.remedy = is_between && is_shared                   ? Remedy::cluster
                     : is_between                              ? remedy
                     : is_one_store                            ? Remedy::one_statement
                     : !is_shared                              ? Remedy::global
                     : first.thread / 32 == second.thread / 32 ? Remedy::lanes
                                                               : Remedy::block;
    if (hazard == Hazard::race && is_one_change(first, second)) finding.remedy = Remedy::change;
    if (lacks_fence && !(is_between && is_shared)) finding.remedy = Remedy::fence;
    if (is_sent(first) || is_sent(second)) {
      const bool is_bulk = site_of(is_sent(first) ? first : second)->is_bulk;
      finding.remedy = is_unfinished ? Remedy::bulk_load
                       : is_bulk     ? Remedy::bulk_reuse
                                     : Remedy::arrival;
    }
    if (is_of_barrier(first) || is_of_barrier(second)) {
      finding.remedy = Remedy::barrier_in_memory;
    }
    if (remedy == Remedy::scope || remedy == Remedy::size || remedy == Remedy::guard) {
      finding.remedy = remedy;
    }
    checker_.findings_.add(std::move(finding));
  };
  const auto write_read = [&](const Exact& write, const Exact& read) {
    tell(Hazard::race, write, read, "writes ", "is read, without a barrier between, by",
         "is read by", Remedy::blocks_in_place);
  };
  const auto atomic_read = [&](const Exact& update, const Exact& read) {
    const auto& sites = checker_.launch_.sites;
    const Reading reading = read.site < sites.size() ? sites[read.site].reading : Reading::plain;
    const std::optional<Hazard> hazard = beside_atomic(reading, is_shared);
    if (!hazard) return;
    tell(*hazard, update, read, "updates atomically ",
         "is read without an atomic, and without a barrier between, by",
         "is read without an atomic by",
         reading == Reading::guard ? Remedy::guard : Remedy::blocks);
  };
  const auto atomic_write = [&](const Exact& update, const Exact& write) {
    tell(Hazard::race, update, write, "updates atomically ",
         "is written without an atomic, and without a barrier between, by",
         "is written without an atomic by", Remedy::blocks);
  };
  const Exact* const load = conflict[static_cast<std::size_t>(Act::load)];
  const Exact* const store = conflict[static_cast<std::size_t>(Act::store)];
  const Exact* const update = conflict[static_cast<std::size_t>(Act::atomic)];
  switch (now.act) {
    case Act::load:
      if (store != nullptr) write_read(*store, now);
      if (update != nullptr) atomic_read(*update, now);
      break;
    case Act::store:
      if (load != nullptr) write_read(now, *load);
      if (update != nullptr) atomic_write(*update, now);
      if (store != nullptr) {
        word.values_differ |= is_one_change(now, *store) || !stores_same(now, *store, access, lane);
        const bool is_turned = party(now) < party(*store);
        const Exact& first = is_turned ? now : *store;
        const Exact& second = is_turned ? *store : now;
        if (word.values_differ) {
          tell(Hazard::race, first, second, "writes ",
               "is also written, without a barrier between, by", "is also written by",
               Remedy::blocks);
        } else {
          tell(Hazard::same_value_write, first, second, "writes ", "is also written by",
               "is also written by", Remedy::blocks);
        }
      }
      break;
    case Act::atomic:
      if (load != nullptr) atomic_read(now, *load);
      if (store != nullptr) atomic_write(now, *store);
      if (update != nullptr && differ_in_size(*update, now)) {
        tell(Hazard::race, *update, now, "updates atomically ",
             "is also updated, by an atomic of another size, by",
             "is also updated, by an atomic of another size, by", Remedy::size);
      } else if (update != nullptr) {
        tell(Hazard::race, *update, now, "updates atomically ", "is also updated by",
             "is also updated, by an atomic with the scope of a block, by", Remedy::scope);
      }
      break;
  }
  if (mixed != nullptr) {
    tell(Hazard::unordered_stores, *mixed, now, "writes ",
         "is also written, and nothing orders the two, by",
         "is also written, and nothing orders the two, by", Remedy::none);
  }
  if (lacks_acquire != nullptr && now.act != Act::atomic) {
    const Exact& earlier = *lacks_acquire;
    const char* const did = earlier.act == Act::load
                                ? "has been read, before a flag or lock was passed on, by"
                                : "has been written, before a flag or lock was passed on, by";
    tell(Hazard::missing_fence, now, earlier, now.act == Act::load ? "reads " : "writes ", did, did,
         Remedy::none);
  }

  if (unfenced != nullptr) {
    const char* const does =
        now.act == Act::load ? "is read with the same lock by" : "is written with the same lock by";
    tell(Hazard::missing_fence, *unfenced, now, unfenced->act == Act::load ? "reads " : "writes ",
         does, does, Remedy::none);
  }

  // What comes before this access, and which it stands for, can be forgotten: whoever conflicts with the one
  // conflicts with the other.
  const auto stands_for = [&](const Exact& one) {
    if ((one.bytes & ~now.bytes) != 0) return false;
    if (now.act == Act::load && one.act != Act::load) return false;
    if (now.act == Act::store && site.strength == Strength::weak) return true;
    return now.act == Act::atomic || site.strength != Strength::weak ? is_strong(one) : true;
  };
  if (before != 0) {
    std::erase_if(word.all, [&](const Exact& one) { return one.is_before && stands_for(one); });
  }
  unsigned own = 0;
  if (some_stand_for_all && now.act != Act::store) {
    unsigned blocks = 0;
    std::int32_t other = 0;
    std::erase_if(word.all, [&](const Exact& one) {
      if (one.act != now.act || one.bytes != now.bytes || one.site != now.site) return false;
      if (one.block == now.block) {
        own += is_alike(one) ? 1u : 0u;
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
  word.is_of_atomics =
      is_plain && std::all_of(word.all.begin(), word.all.end(), [&](const Exact& one) {
        return is_plain_atomic(one) && !(mixes && differ_in_size(one, now));
      });
  word.is_of_loads = std::all_of(word.all.begin(), word.all.end(),
                                 [](const Exact& one) { return one.act == Act::load; });
  word.tidy = word.all.size();
}

}  // namespace simt::checker
