// Accesses of warps, taken apart into words: to cells, to what is initialised, and to words that are kept exactly.
#include <bit>

#include "common/simt/checker/block_check.hpp"

namespace simt::checker {
namespace {

std::uint32_t copy_key(unsigned warp, std::int16_t copy) {
  return warp << 16 | static_cast<std::uint16_t>(copy);
}

bool is_weak(const Access& access, const Site& site) {
  return access.act != Act::atomic && site.strength == Strength::weak;
}

}  // namespace

std::uint32_t BlockCheck::access(const Access& access) {
  const Site& site = checker_.launch_.sites[static_cast<std::size_t>(access.site)];
  const std::uint32_t mask = access.lanes.mask;
  if (mask == 0) return 0;
  const Site::Variable& variable = site.variable_of(access.act);
  if (access.lanes.least < variable.begin || access.lanes.beyond > variable.end) {
    if (const std::uint32_t leaving = leaves_variable(access); leaving != 0) return leaving;
  }
  if (access.space == Space::shared) {
    if (fillings_ != 0) unfinished(access, *this);
    if (access.act != Act::load && async_ != nullptr) note_written(access, *this);
    if (access.act != Act::load || access.lanes.bytes < 4) {
      storage_->unsettle(access.lanes.least, access.lanes.beyond);
    } else if (copies_.empty() && are_settled(access)) {
      return 0;
    }
    if (checker_.launch_.is_quick && is_weak(access, site)) touch(access);
  }
  const bool is_in_sources =
      access.lanes.least < beyond_sources_ && access.lanes.beyond > least_source_;
  if (access.space == Space::global && access.act != Act::load && is_in_sources) unread(access);
  const Doing doing = doing_of(access, *this);
  const bool is_bulk_load = site.is_bulk && access.act == Act::load && !doing.is_shared;
  if ((site.is_as_constant || is_bulk_load) && checker_.launch_.looks_for_races) {
    read_what_was_written(doing);
  }
  if (is_weak(access, site) || !checker_.launch_.hands_on) {
    lanes(doing, mask);
  } else if (!polls_again(doing)) {
    const bool is_done = at_barrier(doing);
    for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
      const int lane = std::countr_zero(rest);
      strong(doing, lane, true);
      if (!is_done) run(doing, lane, 1);
      strong(doing, lane, false);
    }
    // What comes now is behind what has been handed on.
    if (doing.hands_on) advance();
    last_poll_ = poll_of(doing);
  }
  if (site.starts_copy) start_copy(doing);
  return 0;
}

void BlockCheck::hand_on(const Access& access) {
  const Doing doing = doing_of(access, *this);
  if (is_weak(access, doing.site) || !checker_.launch_.hands_on) return;
  for (std::uint32_t rest = access.lanes.mask; rest != 0; rest &= rest - 1) {
    strong(doing, std::countr_zero(rest), true);
    strong(doing, std::countr_zero(rest), false);
  }
  if (doing.hands_on) advance();
}

BlockCheck::Doing BlockCheck::doing_of(const Access& access, BlockCheck& memory) {
  const Site& site = checker_.launch_.sites[static_cast<std::size_t>(access.site)];
  const bool is_shared = access.space == Space::shared;
  return {access,
          site,
          who(access.warp, is_shared, is_weak(access, site)),
          cell_site(access.site),
          is_shared,
          !is_shared && access.act == Act::atomic && site.scope == Scope::block,
          access.act == Act::load || (access.act == Act::atomic && site.uses_old),
          access.act != Act::load,
          access.act != Act::load && !site.only_reads,
          is_shared ? memory.storage_->initialised : *checker_.initialised_,
          memory};
}

// ---- Other blocks of the cluster ----

std::uint32_t BlockCheck::access_of(BlockCheck& owner, const Access& access) {
  if (const std::uint32_t leaving = leaves_variable(access); leaving != 0) return leaving;
  is_there(owner, access);
  if (owner.fillings_ != 0) unfinished(access, owner);
  if (access.act != Act::load) owner.note_written(access, *this);
  owner.storage_->unsettle(access.lanes.least, access.lanes.beyond);
  const Doing doing = doing_of(access, owner);
  const bool is_strong = !is_weak(access, doing.site);
  const bool is_done = is_strong && at_barrier(doing);
  for (std::uint32_t rest = access.lanes.mask; rest != 0; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    if (is_strong) strong(doing, lane, true);
    if (checker_.launch_.looks_for_uninitialised && !is_done) check_initialised(doing, lane, 1);
    const std::uint64_t address = doing.address(lane);
    const int bytes = access.lanes.bytes;
    for (std::uint64_t word = address / 4; checker_.launch_.looks_for_races && !is_done &&
                                           word * 4 < address + static_cast<unsigned>(bytes);
         ++word) {
      if (checker_.launch_.is_quick) owner.touch_of_other(word, access.act);
      const unsigned part = bytes >= 4 ? 15 : ((1u << bytes) - 1) << (address & 3);
      exactly(doing, owner.storage_->cells[group_of(word)], nullptr,
              static_cast<unsigned>(word % kCellWords), lane, part);
    }
    if (is_strong) strong(doing, lane, false);
  }
  if (is_strong && doing.hands_on) advance();
  return 0;
}

// What the block itself has done with plain accesses: a cell does not say who all have read. It is done with, or there is
// more to be looked at.
void BlockCheck::touch_of_other(std::size_t word, Act act) {
  std::int32_t& owner = storage_->cells[group_of(word)].owner[word % kCellWords];
  const bool is_stored = storage_->stored.has(word), is_loaded = storage_->loaded.has(word);
  if (is_stored || (is_loaded && act != Act::load)) {
    checker_.order_matters_ = true;
  } else if (!is_loaded && owner >= 0 && (owner & (kWarps | kLanes)) != 0) {
    owner = 0;
  }
}

void BlockCheck::Storage::Touched::clear(std::size_t words) {
  all.assign(words / 64 + 1, 0);
  since_arrival.assign(words / 64 + 1, 0);
}

void BlockCheck::Storage::Touched::mark(std::uint64_t begin, std::uint64_t end, bool has_arrived) {
  for (std::uint64_t word = begin / 4; word <= (end - 1) / 4; ++word) {
    const std::uint64_t bit = std::uint64_t{1} << word % 64;
    all[word / 64] |= bit;
    if (has_arrived) since_arrival[word / 64] |= bit;
  }
}

void BlockCheck::touch(const Access& access) {
  Storage::Touched& its = access.act == Act::load ? storage_->loaded : storage_->stored;
  const bool has_arrived = !arrivals_.empty();
  const auto bytes = static_cast<std::uint64_t>(access.lanes.bytes);
  if (access.lanes.consecutive || access.lanes.least + bytes == access.lanes.beyond) {
    its.mark(access.lanes.least, access.lanes.beyond, has_arrived);
    return;
  }
  for (std::uint32_t rest = access.lanes.mask; rest != 0; rest &= rest - 1) {
    const std::uint64_t at = address_of(access, std::countr_zero(rest));
    its.mark(at, at + bytes, has_arrived);
  }
}

// Another block's shared memory is there once that block is known to have begun, and until it ends.
void BlockCheck::is_there(BlockCheck& owner, const Access& access) {
  const std::lock_guard lock(checker_.mutex_);
  for (std::uint32_t rest = access.lanes.mask; rest != 0; rest &= rest - 1) {
    const unsigned thread = access.warp * 32 + static_cast<unsigned>(std::countr_zero(rest));
    const Exact begin{owner.id_, 0, 0, 0, Act::store, 0};
    if (!comes_after(threads_[thread].hoped, begin)) {
      report(Hazard::absent_block, access.site, thread,
             "touches shared memory of another block, which may not have begun yet:", -1,
             {owner.block_, kNoThread}, Remedy::block_begin);
    }
  }
  const unsigned last =
      access.warp * 32 + 31 - static_cast<unsigned>(std::countl_zero(access.lanes.mask));
  const Exact visit{id_, last, now_, cell_site(access.site), access.act, 0};
  for (Exact& one : owner.visits_) {
    if (one.block == id_ && one.site == visit.site) {
      one = visit;
      return;
    }
  }
  owner.visits_.push_back(visit);
}

void BlockCheck::end() {
  async_end();
  const std::lock_guard lock(checker_.mutex_);
  for (const Exact& one : visits_) {
    const bool is_known = std::any_of(threads_.begin(), threads_.end(), [&](const Thread& thread) {
      return comes_after(thread.hoped, one);
    });
    if (is_known || one.site == kNoSite) continue;
    Finding finding;
    finding.hazard = Hazard::absent_block;
    finding.site = static_cast<std::int32_t>(one.site);
    finding.what = "touches shared memory of another block, which may have ended:";
    finding.party = party(one);
    finding.other = {block_, kNoThread};
    finding.count = 1;
    finding.remedy = Remedy::block_end;
    checker_.findings_.add(std::move(finding));
  }
}

// ---- Copies that go on ----

// Told of its load first, then of its store.
void BlockCheck::start_copy(const Doing& doing) {
  const Access& access = doing.access;
  const auto bytes = static_cast<unsigned>(access.lanes.bytes);
  if (doing.is_shared) {
    filling_.resize(checker_.launch_.shared_bytes / 4 + 1);
    sources_.resize(checker_.launch_.threads);
  }
  for (std::uint32_t rest = access.lanes.mask; rest != 0; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    Piece& from = from_[static_cast<std::size_t>(lane)];
    if (!doing.is_shared) {
      if (from == Piece{}) from.begin = doing.address(lane);
      from.end = doing.address(lane) + bytes;
      continue;
    }
    if (from != Piece{}) {
      least_source_ = std::min(least_source_, from.begin);
      beyond_sources_ = std::max(beyond_sources_, from.end);
    }
    sources_[doing.thread(lane)].push_back({from.begin, doing.address(lane),
                                            static_cast<unsigned>(from.end - from.begin),
                                            access.site});
    ++source_count_;
    from = {};
    for (unsigned i = 0; i < bytes / 4; ++i) {
      Filling& its = filling_[doing.address(lane) / 4 + i];
      fillings_ += its.site < 0 ? 1 : 0;
      its = {access.site, doing.thread(lane), false, block_};
    }
  }
}

// What is written that a copy may still have to read.
void BlockCheck::unread(const Access& access) {
  const auto bytes = static_cast<unsigned>(access.lanes.bytes);
  for (std::uint32_t rest = access.lanes.mask; rest != 0; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    const std::uint64_t at = address_of(access, lane);
    const Source* its = nullptr;
    unsigned thread = 0;
    for (; thread < sources_.size() && its == nullptr; ++thread) {
      for (const Source& one : sources_[thread]) {
        if (at < one.from + one.bytes && at + bytes > one.from) its = &one;
      }
    }
    if (its == nullptr) continue;
    Finding finding;
    finding.hazard = Hazard::unfinished_copy;
    finding.site = access.site;
    finding.other_site = its->site;
    finding.array = checker_.name_of(access.space, at);
    finding.what = "writes " + finding.array;
    finding.detail = "which an asynchronous copy may not have read yet, started by";
    finding.party = {block_, access.warp * 32 + static_cast<unsigned>(lane)};
    finding.other = {block_, thread - 1};
    finding.address = at;
    finding.count = 1;
    const std::lock_guard lock(checker_.mutex_);
    checker_.findings_.add(std::move(finding));
  }
}

void BlockCheck::unfinished(const Access& access, BlockCheck& memory) {
  for (std::uint32_t rest = access.lanes.mask; rest != 0; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    const std::uint64_t address = address_of(access, lane);
    for (std::uint64_t at = address; at < address + static_cast<unsigned>(access.lanes.bytes);
         at += 4) {
      Filling& its = memory.filling_[at / 4];
      if (its.site < 0) continue;
      its.is_told = true;
      Finding finding;
      finding.hazard = Hazard::unfinished_copy;
      finding.site = access.site;
      finding.other_site = its.site;
      finding.array = checker_.name_of(access.space, at);
      finding.what = std::string(access.act == Act::load ? "reads " : "writes ") + finding.array;
      finding.detail = "while an asynchronous copy fills it, which was started by";
      finding.party = {block_, access.warp * 32 + static_cast<unsigned>(lane)};
      finding.other = {its.block, its.thread};
      finding.address = at;
      finding.count = 1;
      const bool is_bulk = checker_.launch_.sites[static_cast<std::size_t>(its.site)].is_bulk;
      finding.remedy = is_bulk       ? Remedy::bulk_load
                       : its.arrives ? Remedy::copy_at_barrier
                                     : Remedy::none;
      const std::lock_guard lock(checker_.mutex_);
      checker_.findings_.add(std::move(finding));
      break;
    }
  }
}

void BlockCheck::copied(unsigned warp, int lane, std::uint64_t to, unsigned bytes,
                        std::int32_t site, const std::byte* data, const std::byte* memory,
                        bool arrives) {
  const unsigned thread = warp * 32 + static_cast<unsigned>(lane);
  if (thread < sources_.size()) {
    std::vector<Source>& own = sources_[thread];
    const auto its =
        std::find_if(own.begin(), own.end(), [&](const Source& one) { return one.to == to; });
    if (its != own.end()) {
      own.erase(its);
      --source_count_;
    }
    if (source_count_ == 0) {
      least_source_ = UINT64_MAX;
      beyond_sources_ = 0;
    }
  }
  bool is_told = false;
  for (std::uint64_t word = to / 4; word * 4 < to + bytes && word < filling_.size(); ++word) {
    Filling& its = filling_[word];
    if (its.site < 0 || its.thread != thread) continue;
    is_told |= its.is_told;
    if (arrives) {
      its.arrives = true;
      continue;
    }
    its = {};
    --fillings_;
  }
  if (is_told) return;
  // For all others the thread has written them now.
  Storage::Landing& landing = storage_->landing;
  landing.addresses[static_cast<std::size_t>(lane)] = to;
  memory::WarpAddresses its{landing.addresses, 1u << lane, static_cast<int>(bytes)};
  its.least = to;
  its.beyond = to + bytes;
  its.consecutive = true;
  storage_->unsettle(its.least, its.beyond);
  Access access{Space::shared, Act::store, its, site, warp, memory};
  if (checker_.launch_.is_quick) touch(access);
  note_written(access, *this);
  std::memcpy(landing.values.data() + static_cast<unsigned>(lane) * bytes, data, bytes);
  access.values[0] = landing.values.data();
  access.value_bytes = static_cast<int>(bytes);
  lanes(doing_of(access, *this), access.lanes.mask);
}

std::uint32_t BlockCheck::leaves_variable(const Access& access) {
  const Site& site = checker_.launch_.sites[static_cast<std::size_t>(access.site)];
  const Site::Variable& variable = site.variable_of(access.act);
  if (access.space != variable.space || variable.end == UINT64_MAX) return 0;
  // The second address of a store that sends is that of a barrier.
  if (site.sends && access.act == Act::atomic) return 0;
  std::uint32_t leaving = 0;
  for (std::uint32_t rest = access.lanes.mask; rest != 0; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    const std::uint64_t at = address_of(access, lane);
    if (at >= variable.begin && at + static_cast<unsigned>(access.lanes.bytes) <= variable.end)
      continue;
    const auto first = static_cast<std::int64_t>(at - variable.begin);
    Finding finding;
    finding.hazard = Hazard::out_of_bounds;
    finding.site = access.site;
    finding.array =
        variable.array.empty() ? checker_.name_of(access.space, variable.begin) : variable.array;
    finding.what = std::string(access.act == Act::load    ? "reads "
                               : access.act == Act::store ? "writes "
                                                          : "updates ") +
                   std::to_string(access.lanes.bytes) + " bytes outside";
    finding.detail = finding.array + " (" + std::to_string(variable.end - variable.begin) +
                     " bytes), at byte " + std::to_string(first);
    finding.outside = {first, first + access.lanes.bytes,
                       static_cast<std::int64_t>(variable.end - variable.begin), access.lanes.bytes,
                       variable.is_dynamic};
    finding.party = {block_, access.warp * 32 + static_cast<unsigned>(lane)};
    finding.address = at;
    finding.count = 1;
    const std::lock_guard lock(checker_.mutex_);
    checker_.findings_.add(std::move(finding));
    leaving |= 1u << lane;
  }
  return leaving;
}

// Null if there is no room for its cells.
Pages::Page* BlockCheck::page_of(const Doing& doing, std::uint64_t address) {
  Pages::Page* const page = checker_.pages_.at(address);
  if (doing.writes && page != nullptr) page->written_in = checker_.launch_number_;
  return page;
}

void BlockCheck::lanes(const Doing& doing, std::uint32_t mask) {
  const memory::WarpAddresses& its = doing.access.lanes;
  const int first = std::countr_zero(mask);
  if (its.consecutive) {
    neighbours(doing, first, 32 - std::countl_zero(mask) - first);
    return;
  }
  const auto bytes = static_cast<std::uint64_t>(its.bytes);
  // Of lanes that do the same with the same, two stand for all.
  const bool two_will_do = doing.access.act != Act::store && !doing.who.is_exact;
  if (two_will_do && its.least + bytes == its.beyond) {
    const std::uint32_t others = mask & (mask - 1);
    if (others != 0 && bytes >= 4 && !doing.is_narrow) {
      same(doing, first, std::countr_zero(others));
      return;
    }
    run(doing, first, 1);
    if (others != 0) run(doing, std::countr_zero(others), 1);
    return;
  }
  const auto follows = [&](int lane) {
    return lane < 32 && has(mask, lane) && has(mask, lane - 1) &&
           doing.address(lane) == doing.address(lane - 1) + bytes;
  };
  if (bytes >= 4 && !follows(first + 1)) {
    scattered(doing, mask);
    return;
  }
  for (int lane = first; lane < 32;) {
    if (!has(mask, lane)) {
      ++lane;
      continue;
    }
    int end = lane + 1;
    while (follows(end)) ++end;
    run(doing, lane, end - lane);
    lane = end;
  }
}

// Whether nothing of a load of shared memory needs to be looked at.
bool BlockCheck::are_settled(const Access& access) const {
  const std::uint64_t last = (access.lanes.beyond - 1) / Storage::kGroupBytes;
  for (std::uint64_t group = access.lanes.least / Storage::kGroupBytes; group <= last; ++group) {
    if (!storage_->is_settled(group, access.warp)) return false;
  }
  return true;
}

// Lanes that follow one another, with addresses that do; but for what is settled at both ends.
void BlockCheck::neighbours(const Doing& doing, int lane, int count) {
  const Access& access = doing.access;
  const auto bytes = static_cast<std::uint64_t>(access.lanes.bytes);
  if (!doing.is_shared || access.act != Act::load || bytes < 4 || !copies_.empty()) {
    run(doing, lane, count);
    return;
  }
  std::uint64_t begin = access.lanes.least, end = access.lanes.beyond;
  for (std::uint64_t group = begin / Storage::kGroupBytes; storage_->is_settled(group, access.warp);
       ++group) {
    begin = (group + 1) * Storage::kGroupBytes;
  }
  for (std::uint64_t group = (end - 1) / Storage::kGroupBytes;
       storage_->is_settled(group, access.warp); --group) {
    end = group * Storage::kGroupBytes;
  }
  run(doing, lane + static_cast<int>((begin - access.lanes.least) / bytes),
      static_cast<int>((end - begin) / bytes));
}

// Two lanes that stand for all: they do the same with the same words.
void BlockCheck::same(const Doing& doing, int lane, int other) {
  const auto bytes = static_cast<std::size_t>(doing.access.lanes.bytes);
  if (checker_.launch_.looks_for_uninitialised &&
      !is_simply_initialised(doing, doing.address(lane), bytes)) {
    check_initialised(doing, lane, 1);
    if (!copies_.empty()) check_initialised(doing, other, 1);
  }
  if (!checker_.launch_.looks_for_races) return;
  const std::uint64_t address = doing.address(lane);
  Cells* cells = storage_->cells.data();
  Others* others = nullptr;
  std::size_t word = address / 4;
  if (!doing.is_shared) {
    Pages::Page* const page = page_of(doing, address);
    if (page == nullptr) return;
    cells = page->cells.data();
    others = page->others.data();
    word = (address - checker_.pages_.begin()) % Pages::kBytes / 4;
  }
  const std::size_t group = group_of(word);
  if (others != nullptr) others += group;
  const auto first = static_cast<unsigned>(word % kCellWords);
  for (unsigned i = 0; i < bytes / 4; ++i) {
    if (touch_word_twice(cells[group], others, first + i, place_of(now_, doing.thread(lane)),
                         other - lane, doing.cell_site, doing.who, doing.access.act)) {
      continue;
    }
    for (const int its : {lane, other}) {
      if (!touch_word(cells[group], others, first + i, place_of(now_, doing.thread(its)),
                      doing.cell_site, WordShape::whole, doing.who, doing.access.act)) {
        exactly(doing, cells[group], others, first + i, its, 15);
      }
    }
  }
}

// Lanes that follow one another, with addresses that do.
void BlockCheck::run(const Doing& doing, int lane, int count) {
  const int bytes = doing.access.lanes.bytes;
  if (checker_.launch_.looks_for_uninitialised &&
      !is_simply_initialised(doing, doing.address(lane), static_cast<std::size_t>(count * bytes))) {
    check_initialised(doing, lane, count);
  }
  if (!checker_.launch_.looks_for_races) return;
  if (bytes >= 4) {
    const auto each = static_cast<unsigned>(bytes / 4);
    words(doing, doing.address(lane), static_cast<unsigned>(count) * each, lane, 0,
          static_cast<unsigned>(std::countr_zero(each)), WordShape::whole);
    return;
  }
  // Words that are touched whole, and what is before and behind them.
  const int lanes_of_word = 4 / bytes;
  while (count > 0 && doing.address(lane) % 4 != 0) {
    part_of_word(doing, lane);
    ++lane;
    --count;
  }
  const int whole = count / lanes_of_word;
  if (whole > 0) {
    words(doing, doing.address(lane), static_cast<unsigned>(whole), lane,
          static_cast<unsigned>(std::countr_zero(static_cast<unsigned>(lanes_of_word))), 0,
          bytes == 2 ? WordShape::halves : WordShape::bytes);
  }
  for (int i = whole * lanes_of_word; i < count; ++i) part_of_word(doing, lane + i);
}

// The i-th of the words is of the lane (i << up) >> down behind the first.
void BlockCheck::words(const Doing& doing, std::uint64_t address, unsigned words, int lane,
                       unsigned up, unsigned down, WordShape shape) {
  for (unsigned done = 0; done < words;) {
    const std::uint64_t at = address + 4 * std::uint64_t{done};
    unsigned here = words - done;
    Cells* cells = storage_->cells.data();
    Others* others = nullptr;
    auto first = static_cast<unsigned>(at / 4);
    if (!doing.is_shared) {
      const std::uint64_t offset = at - checker_.pages_.begin();
      first = static_cast<unsigned>(offset % Pages::kBytes / 4);
      here = std::min(here, static_cast<unsigned>(Pages::kBytes / 4) - first);
      Pages::Page* const page = page_of(doing, at);
      if (page == nullptr) {
        done += here;
        continue;
      }
      cells = page->cells.data();
      others = page->others.data();
    }
    const auto leave = [&](unsigned i) {
      const std::size_t group = group_of(first + i - done);
      word_lanes(doing, cells[group], others == nullptr ? nullptr : others + group,
                 (first + i - done) % kCellWords, lane + static_cast<int>(i << up >> down), shape);
    };
    if (doing.is_narrow) {
      for (unsigned i = done; i < done + here; ++i) leave(i);
    } else if (here < 3) {
      for (unsigned i = done; i < done + here; ++i) {
        const std::size_t group = group_of(first + i - done);
        const std::int32_t place = place_of(now_, doing.thread(lane) + (i << up >> down));
        if (!touch_word(cells[group], others == nullptr ? nullptr : others + group,
                        (first + i - done) % kCellWords, place, doing.cell_site, shape, doing.who,
                        doing.access.act)) {
          leave(i);
        }
      }
    } else {
      RunResult result;
      // Pages end between threads.
      const std::int32_t place = place_of(now_, doing.thread(lane) + (done << up >> down));
      const Run run{cells, others, first, here, place, up, down, doing.cell_site, shape};
      touch_run(run, doing.who, doing.access.act, result);
      if (result.settled_for_warp != 0) settle(doing, first / kCellWords, result);
      if (!result.is_done) {
        const unsigned skipped = first % kCellWords;
        for (unsigned i = 0; i < here; ++i) {
          const unsigned word = skipped + i;
          if ((result.left[word / kCellWords] >> word % kCellWords & 1) != 0) leave(done + i);
        }
      }
    }
    done += here;
  }
}

// Where it is sure that nothing is to be told either, loads need not be looked at.
void BlockCheck::settle(const Doing& doing, std::uint64_t first_group, const RunResult& result) {
  if (doing.who.is_exact) return;
  for (std::uint32_t groups = result.settled_for_warp; groups != 0; groups &= groups - 1) {
    const int its = std::countr_zero(groups);
    const std::uint64_t group = first_group + static_cast<unsigned>(its);
    const std::uint64_t begin = group * Storage::kGroupBytes;
    if (checker_.launch_.looks_for_uninitialised &&
        !storage_->initialised.all(begin, Storage::kGroupBytes)) {
      continue;
    }
    storage_->settled[group] = has(result.settled, its)
                                   ? Storage::kByAll
                                   : static_cast<std::uint8_t>(doing.access.warp + 1);
  }
}

// Lanes whose addresses have nothing to do with each other; of words, not of parts of them.
void BlockCheck::scattered(const Doing& doing, std::uint32_t mask) {
  const auto bytes = static_cast<std::size_t>(doing.access.lanes.bytes);
  if (checker_.launch_.looks_for_uninitialised) {
    for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
      const int lane = std::countr_zero(rest);
      if (!is_simply_initialised(doing, doing.address(lane), bytes)) {
        check_initialised(doing, lane, 1);
      }
    }
  }
  if (!checker_.launch_.looks_for_races) return;
  if (doing.is_narrow) {
    for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
      const int lane = std::countr_zero(rest);
      words(doing, doing.address(lane), static_cast<unsigned>(bytes / 4), lane, 0,
            static_cast<unsigned>(std::countr_zero(bytes / 4)), WordShape::whole);
    }
    return;
  }
  Each each;
  for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<std::size_t>(std::countr_zero(rest));
    const std::uint64_t address = doing.access.lanes.address[lane];
    if (doing.is_shared) {
      each.cells[lane] = &storage_->cells[group_of(address / 4)];
      each.word[lane] = static_cast<std::uint8_t>(address / 4 % kCellWords);
      continue;
    }
    Pages::Page* const page = page_of(doing, address);
    if (page == nullptr) {
      mask &= ~(rest & -rest);
      continue;
    }
    const std::uint64_t offset = (address - checker_.pages_.begin()) % Pages::kBytes;
    each.cells[lane] = &page->cells[group_of(offset / 4)];
    each.others[lane] = &page->others[group_of(offset / 4)];
    each.word[lane] = static_cast<std::uint8_t>(offset / 4 % kCellWords);
    // Their lines come while the others' are asked for.
    __builtin_prefetch(each.cells[lane], 1);
    __builtin_prefetch(each.cells[lane]->read.data(), 1);
  }
  const auto words_each = static_cast<unsigned>(bytes / 4);
  std::uint32_t left = touch_each(each, mask, words_each, place_of(now_, doing.thread(0)),
                                  doing.cell_site, doing.who, doing.access.act, doing.is_shared);
  for (; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    const auto l = static_cast<std::size_t>(lane);
    Others* const others = doing.is_shared ? nullptr : each.others[l];
    for (unsigned i = 0; i < words_each; ++i) {
      if (!touch_word(*each.cells[l], others, each.word[l] + i, place_of(now_, doing.thread(lane)),
                      doing.cell_site, WordShape::whole, doing.who, doing.access.act)) {
        exactly(doing, *each.cells[l], others, each.word[l] + i, lane, 15);
      }
    }
  }
}

// A lane's bytes, fewer than a word.
void BlockCheck::part_of_word(const Doing& doing, int lane) {
  const std::uint64_t address = doing.address(lane);
  const unsigned bytes = ((1u << doing.access.lanes.bytes) - 1) << (address & 3);
  if (doing.is_shared) {
    exactly(doing, storage_->cells[group_of(address / 4)], nullptr,
            static_cast<unsigned>(address / 4 % kCellWords), lane, bytes);
    return;
  }
  Pages::Page* const page = page_of(doing, address);
  if (page == nullptr) return;
  const std::uint64_t offset = address - checker_.pages_.begin();
  const std::size_t group = group_of(offset % Pages::kBytes / 4);
  exactly(doing, page->cells[group], &page->others[group],
          static_cast<unsigned>(offset / 4 % kCellWords), lane, bytes);
}

// All that lanes do with a word, byte by byte where it is shared among them.
void BlockCheck::word_lanes(const Doing& doing, Cells& cells, Others* others, unsigned word,
                            int lane, WordShape shape) {
  const int parts = shape == WordShape::whole ? 1 : shape == WordShape::halves ? 2 : 4;
  for (int i = 0; i < parts; ++i) {
    exactly(doing, cells, others, word, lane + i, part_of(i, parts));
  }
}

// ---- What is read and nobody has written ----

// True, and done, if nothing is lacking.
bool BlockCheck::is_simply_initialised(const Doing& doing, std::uint64_t address,
                                       std::size_t bytes) {
  if (!copies_.empty() || (doing.reads && !doing.initialised.all(address, bytes))) return false;
  if (doing.writes) doing.initialised.mark(address, bytes);
  return true;
}

void BlockCheck::check_initialised(const Doing& doing, int lane, int count) {
  const auto each = static_cast<std::size_t>(doing.access.lanes.bytes);
  const std::uint64_t address = doing.address(lane);
  const std::size_t bytes = static_cast<std::size_t>(count) * each;
  const bool is_copied = doing.access.act != Act::atomic && !copies_.empty();
  if (doing.reads && (is_copied || !doing.initialised.all(address, bytes))) {
    for (int i = 0; i < count; ++i) uninitialised(doing, lane + i);
  }
  if (!doing.writes) return;
  doing.initialised.mark(address, bytes);
  if (!is_copied) return;
  // What a copy lacks is not there either.
  const Access& access = doing.access;
  for (std::size_t v = 0; v < doing.site.values.size(); ++v) {
    if (doing.site.values[v].copy < 0) continue;
    const auto found = copies_.find(copy_key(access.warp, doing.site.values[v].copy));
    if (found == copies_.end()) continue;
    for (int i = 0; i < count; ++i) {
      const std::uint8_t lacking = found->second[static_cast<std::size_t>(lane + i)];
      for (int b = 0; b < access.value_bytes; ++b) {
        if ((lacking >> b & 1) == 0) continue;
        doing.initialised.forget(doing.address(lane + i) +
                                     v * static_cast<std::size_t>(access.value_bytes) +
                                     static_cast<unsigned>(b),
                                 1);
      }
    }
  }
}

// Tells what of it matters: not what is never used, nor padding that is copied along with a structure. Such a value
// has some bytes that have been written, or is one of several bytes, as nvcc copies padding by itself.
void BlockCheck::uninitialised(const Doing& doing, int lane) {
  const Access& access = doing.access;
  const std::uint64_t address = doing.address(lane);
  const auto bytes = static_cast<unsigned>(access.lanes.bytes);
  const std::uint64_t lacking =
      ~doing.initialised.bits(address, bytes) & ((std::uint64_t{1} << bytes) - 1);
  bool is_told = lacking != 0;
  unsigned told_values = 0;  // a bit each
  if (access.act == Act::load) {
    is_told = false;
    const auto each = static_cast<unsigned>(access.value_bytes);
    for (unsigned v = 0; v * each < bytes; ++v) {
      const Site::Value& value = doing.site.values[v];
      const std::uint64_t all = (std::uint64_t{1} << each) - 1;
      const std::uint64_t its = lacking >> v * each & all & value.used;
      if (value.used == 0) continue;
      // Padding that goes on to memory in pieces.
      const bool is_piece = its != all || (value.is_moved && is_padding(doing, address, lacking));
      if (is_piece && (value.is_moved || (its & value.matters) == 0) && value.copy < 0) continue;
      if (value.copy >= 0 && (is_piece || (each == 1 && bytes > 1))) {
        const std::uint32_t key = copy_key(access.warp, value.copy);
        if (its != 0 || copies_.contains(key)) {
          copies_.try_emplace(key).first->second[static_cast<std::size_t>(lane)] =
              static_cast<std::uint8_t>(its);
        }
        continue;
      }
      is_told |= its != 0;
      told_values |= static_cast<unsigned>(its != 0) << v;
    }
  }
  if (!is_told) return;
  Finding finding;
  finding.hazard =
      doing.is_shared ? Hazard::uninitialized_shared_read : Hazard::uninitialized_global_read;
  finding.site = access.site;
  finding.array = checker_.name_of(access.space, address);
  finding.what = doing.is_shared ? "reads shared memory that its block has not written, in"
                                 : "reads memory that nothing has written, in";
  finding.detail = finding.array;
  finding.party = {block_, doing.thread(lane)};
  finding.address = address;
  finding.count = 1;
  // Where one such read has mattered, the next are told at once.
  const bool may_wait = access.unwritten != nullptr && !told_reads_.contains(access.site);
  std::uint32_t origin = doing.is_shared && &doing.memory == this && !left_at_.empty()
                             ? left_at(address + static_cast<unsigned>(std::countr_zero(lacking)))
                             : 0;
  if (origin == 0) origin = new_origin({std::move(finding)});
  if (!may_wait) return matters(origin);
  for (int v = 0; v < 4; ++v) {
    if ((told_values >> v & 1) != 0) access.unwritten->push_back({lane, v, origin});
  }
}

// ---- What nobody has written, on its way ----

std::uint32_t BlockCheck::new_origin(Unwritten its) {
  origins_.push_back(std::move(its));
  return static_cast<std::uint32_t>(origins_.size());
}

std::uint32_t BlockCheck::left_at(std::uint64_t address) const {
  const auto found = left_at_.find(address / 4);
  return found == left_at_.end() ? 0 : found->second;
}

// Lanes that others have stood for have the same.
void BlockCheck::complete(const Access& access) {
  const std::vector<Access::Unwritten> found = *access.unwritten;
  const bool is_shared = access.space == Space::shared;
  const Initialised& initialised = is_shared ? storage_->initialised : *checker_.initialised_;
  const auto each = static_cast<std::size_t>(access.value_bytes);
  std::array<std::uint32_t, 4> there{};  // of each value the lanes that have it
  for (const Access::Unwritten& one : found) {
    there[static_cast<std::size_t>(one.value)] |= 1u << one.lane;
  }
  for (std::size_t v = 0; v < there.size(); ++v) {
    if (there[v] == 0) continue;
    for (std::uint32_t rest = access.lanes.mask & ~there[v]; rest != 0; rest &= rest - 1) {
      const int lane = std::countr_zero(rest);
      if (initialised.all(address_of(access, lane) + v * each, each)) continue;
      const Access::Unwritten* its = nullptr;
      for (const Access::Unwritten& one : found) {
        if (one.value != static_cast<int>(v)) continue;
        const bool is_same = address_of(access, one.lane) == address_of(access, lane);
        if (its == nullptr || is_same) its = &one;
      }
      access.unwritten->push_back({lane, its->value, its->origin});
    }
  }
}

// Whether what a load lacks lies beside bytes of the same structure that are written: its padding may be a word or two.
bool BlockCheck::is_padding(const Doing& doing, std::uint64_t address,
                            std::uint64_t lacking) const {
  const auto bytes = static_cast<unsigned>(doing.access.lanes.bytes);
  const bool is_vector = bytes > static_cast<unsigned>(doing.access.value_bytes);
  if (is_vector && lacking != (std::uint64_t{1} << bytes) - 1) return true;
  constexpr std::uint64_t kWidest = 16;
  return doing.site.is_covered && doing.initialised.bits(address / kWidest * kWidest, kWidest) != 0;
}

void BlockCheck::leaves_unwritten(std::uint64_t address, std::size_t bytes, std::uint32_t origin) {
  storage_->initialised.forget(address, bytes);
  storage_->unsettle(address, address + bytes);
  for (std::uint64_t word = address / 4; word * 4 < address + bytes; ++word) {
    left_at_[word] = origin;
  }
}

std::uint32_t BlockCheck::meaningless(Hazard hazard, std::int32_t site, unsigned thread,
                                      const std::string& what) {
  Finding finding;
  finding.hazard = hazard;
  finding.site = site;
  finding.what = what;
  finding.party = {block_, thread};
  finding.count = 1;
  return new_origin({std::move(finding)});
}

std::uint32_t BlockCheck::joined(std::uint32_t a, std::uint32_t b) {
  return new_origin({{}, a, b});
}

void BlockCheck::matters(std::uint32_t origin) {
  std::vector<std::uint32_t> rest{origin};
  while (!rest.empty()) {
    Unwritten& its = origins_[rest.back() - 1];
    rest.pop_back();
    for (std::uint32_t* const part : {&its.a, &its.b}) {
      if (const std::uint32_t other = std::exchange(*part, 0); other != 0) rest.push_back(other);
    }
    if (!its.finding) continue;
    told_reads_.insert(its.finding->site);
    const std::lock_guard lock(checker_.mutex_);
    checker_.findings_.add(std::move(*its.finding));
    its.finding.reset();
  }
}

}  // namespace simt::checker
