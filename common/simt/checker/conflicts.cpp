// What is told of accesses to a word that conflict.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "common/simt/checker/block_check.hpp"

namespace simt::checker {

std::optional<Hazard> beside_atomic(Reading reading, bool means_last) {
  if (reading == Reading::confirmed) return std::nullopt;
  const bool is_race = reading == Reading::kept || reading == Reading::guard ||
                       (means_last && reading == Reading::plain);
  return is_race ? Hazard::race : Hazard::read_beside_atomic;
}

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

// Whether a thread of that block has handed something on, later, to any of this block.
bool BlockCheck::is_handed_on(const Exact& earlier) {
  if (threads_.empty() || earlier.thread == kNoThread) return false;
  Clock asked = 0;
  return std::any_of(threads_.begin(), threads_.end(), [&](const Thread& one) {
    return one.hoped != std::exchange(asked, one.hoped) &&
           checker_.order_.has_any_after(one.hoped, earlier.block, earlier.moment);
  });
}

// Whether a thread of the block has arrived at a barrier in shared memory behind it: who waits there comes after.
bool BlockCheck::arrives_behind(const Exact& earlier) {
  const auto& sites = checker_.launch_.sites;
  const bool has_barriers =
      std::any_of(sites.begin(), sites.end(), [](const Site& one) { return one.is_barrier; });
  return has_barriers && earlier.thread != kNoThread &&
         std::any_of(shared_variables_.begin(), shared_variables_.end(),
                     [&](const auto& one) { return comes_after(one.second.known, earlier); });
}

// Tells what an access meets in a word, each pair of lines once.
class BlockCheck::Telling {
 public:
  Telling(BlockCheck& block, Word& word, const Exact& now, const Met& met, const Doing& doing,
          int lane)
      : block_(block),
        memory_(doing.memory),
        word_(word),
        now_(now),
        met_(met),
        access_(doing.access),
        lane_(lane),
        is_shared_(doing.is_shared) {}

  void races() {
    const Exact* const load = met_.conflict[static_cast<std::size_t>(Act::load)];
    const Exact* const store = met_.conflict[static_cast<std::size_t>(Act::store)];
    const Exact* const update = met_.conflict[static_cast<std::size_t>(Act::atomic)];
    switch (now_.act) {
      case Act::load:
        if (store != nullptr) write_read(*store, now_);
        if (update != nullptr) atomic_read(*update, now_);
        break;
      case Act::store:
        if (load != nullptr) write_read(now_, *load);
        if (update != nullptr) atomic_write(*update, now_);
        if (store != nullptr) two_writes(*store);
        break;
      case Act::atomic:
        if (load != nullptr) atomic_read(now_, *load);
        if (store != nullptr) atomic_write(now_, *store);
        if (update != nullptr) two_atomics(*update);
        break;
    }
  }

  // Of what does not race: two strong stores without an order, and fences that are missing.
  void orders() {
    const bool is_load = now_.act == Act::load;
    if (met_.mixed != nullptr && !leaves_the_same(*met_.mixed)) {
      const char* const beside = "is also written, and nothing orders the two, by";
      tell(Hazard::unordered_stores, *met_.mixed, now_, "writes ", beside, beside, Remedy::none);
    }
    if (met_.old != nullptr) {
      const char* const did = "is read for its value, and nothing orders the two, by";
      tell(Hazard::unordered_stores, *met_.old, now_, "writes ", did, did, Remedy::announced);
    }
    if (met_.lacks_acquire != nullptr && now_.act != Act::atomic) {
      const Exact& earlier = *met_.lacks_acquire;
      const char* const did = earlier.act == Act::load
                                  ? "has been read, before a flag or lock was passed on, by"
                                  : "has been written, before a flag or lock was passed on, by";
      tell(Hazard::missing_fence, now_, earlier, is_load ? "reads " : "writes ", did, did,
           Remedy::none);
    }
    if (met_.unfenced != nullptr) {
      const Exact& earlier = *met_.unfenced;
      const char* const does =
          is_load ? "is read with the same lock by" : "is written with the same lock by";
      tell(Hazard::missing_fence, earlier, now_, earlier.act == Act::load ? "reads " : "writes ",
           does, does, Remedy::none);
    }
  }

 private:
  // Whichever of the two stores comes last, as where many raise one flag.
  bool leaves_the_same(const Exact& earlier) const {
    return now_.act == Act::store && earlier.act == Act::store &&
           block_.stores_same(now_, earlier, access_, lane_);
  }

  void write_read(const Exact& write, const Exact& read) {
    tell(Hazard::race, write, read, "writes ", "is read, without a barrier between, by",
         "is read by", decides(read) ? Remedy::flag : Remedy::blocks_in_place);
  }

  // Whether a value that was read is there for a branch alone.
  bool decides(const Exact& read) const {
    const Site* const its = block_.site_of(read);
    return its != nullptr && its->decides;
  }

  void atomic_read(const Exact& update, const Exact& read) {
    const Site* const its = block_.site_of(read);
    const Reading reading = its == nullptr ? Reading::plain : its->reading;
    const std::optional<Hazard> hazard = beside_atomic(reading, is_shared_);
    if (!hazard) return;
    tell(*hazard, update, read, "updates atomically ",
         "is read without an atomic, and without a barrier between, by",
         "is read without an atomic by",
         reading == Reading::guard ? Remedy::guard : Remedy::blocks);
  }

  void atomic_write(const Exact& update, const Exact& write) {
    tell(Hazard::race, update, write, "updates atomically ",
         "is written without an atomic, and without a barrier between, by",
         "is written without an atomic by", Remedy::blocks);
  }

  void two_writes(const Exact& store) {
    word_.values_differ |=
        block_.is_one_change(now_, store) || !block_.stores_same(now_, store, access_, lane_);
    const bool is_turned = block_.party(now_) < block_.party(store);
    const Exact& first = is_turned ? now_ : store;
    const Exact& second = is_turned ? store : now_;
    if (word_.values_differ) {
      tell(Hazard::race, first, second, "writes ", "is also written, without a barrier between, by",
           "is also written by", Remedy::blocks);
    } else {
      tell(Hazard::same_value_write, first, second, "writes ", "is also written by",
           "is also written by", Remedy::blocks);
    }
  }

  void two_atomics(const Exact& update) {
    tell(Hazard::race, update, now_, "updates atomically ", "is also updated by",
         "is also updated, by an atomic with the scope of a block, by", Remedy::scope);
  }

  // `within` is said of two threads of a block, `between` of two blocks, and `remedy` is for them.
  void tell(Hazard hazard, const Exact& first, const Exact& second, const char* verb,
            const char* within, const char* between, Remedy remedy) {
    const Hazard told = is_unfinished(hazard, first, second) ? Hazard::unfinished_copy : hazard;
    // Once more of two warps, where lanes of one were told before: what to do is another thing then.
    const unsigned of_warp = first.block == second.block && first.thread / 32 == second.thread / 32;
    const auto key = [&](unsigned of_one) {
      return std::pair(first.site, second.site << 8 | static_cast<unsigned>(told) << 1 | of_one);
    };
    const auto was_told = [&](unsigned of_one) {
      return std::find(word_.told.begin(), word_.told.end(), key(of_one)) != word_.told.end();
    };
    const bool is_again = was_told(1);
    if (was_told(0) || (of_warp == 1 && is_again)) return;
    word_.told.push_back(key(of_warp));
    const std::uint64_t address = address_of(access_, lane_);
    // That a copy has not come yet says more.
    if (is_shared_ && memory_.fillings_ != 0 && memory_.filling_[address / 4].is_told) return;
    if (array_.empty()) array_ = block_.checker_.name_of(access_.space, address);
    const auto place_of_text = [](const Exact& one) {
      return one.site == kNoSite ? -1 : static_cast<std::int32_t>(one.site);
    };
    Finding finding;
    finding.hazard = told;
    finding.site = place_of_text(first);
    finding.other_site = place_of_text(second);
    finding.array = array_;
    finding.what = verb + array_ + ", which";
    finding.party = block_.party(first);
    finding.other = block_.party(second);
    finding.address = address;
    const bool is_between = finding.is_between_blocks();
    finding.detail = is_between ? between : within;
    finding.count = is_again ? 0 : 1;
    finding.remedy = remedy_of(hazard, first, second, is_between, remedy);
    block_.checker_.findings_.add(std::move(finding));
  }

  // What an earlier copy in bulk brings may not be there yet.
  bool is_unfinished(Hazard hazard, const Exact& first, const Exact& second) const {
    const Exact& earlier = &first == &now_ ? second : first;
    return hazard == Hazard::race && block_.is_sent(earlier) && !block_.is_sent(now_) &&
           block_.site_of(earlier)->is_bulk && now_.act != Act::atomic;
  }

  // The most special that fits.
  Remedy remedy_of(Hazard hazard, const Exact& first, const Exact& second, bool is_between,
                   Remedy of_blocks) const {
    if (of_blocks == Remedy::scope || of_blocks == Remedy::guard ||
        of_blocks == Remedy::announced) {
      return of_blocks;
    }
    if (block_.is_of_barrier(first) || block_.is_of_barrier(second)) {
      return Remedy::barrier_in_memory;
    }
    if (block_.is_sent(first) || block_.is_sent(second)) {
      const bool is_bulk = block_.site_of(block_.is_sent(first) ? first : second)->is_bulk;
      return is_unfinished(hazard, first, second) ? Remedy::bulk_load
             : is_bulk                            ? Remedy::bulk_reuse
                                                  : Remedy::arrival;
    }
    const auto stores_in_bulk = [&](const Exact& one) {
      const Site* const its = block_.site_of(one);
      return !is_shared_ && its != nullptr && its->is_bulk && one.act != Act::load;
    };
    if (stores_in_bulk(first) != stores_in_bulk(second)) return Remedy::bulk_store;
    if (met_.lacks_fence && !(is_between && is_shared_)) return Remedy::fence;
    if (hazard == Hazard::race && block_.is_one_change(first, second)) return Remedy::change;
    if (is_between) {
      if (is_shared_) return Remedy::cluster;
      const Exact& earlier = &first == &now_ ? second : first;
      const bool is_of_one = hazard == Hazard::race && block_.is_handed_on(earlier);
      return is_of_one ? Remedy::one_for_all : of_blocks;
    }
    const bool is_one_store = first.site == second.site && first.site != kNoSite &&
                              first.act == Act::store && second.act == Act::store;
    if (is_one_store) return Remedy::one_statement;
    if (!is_shared_) return first.act == Act::atomic ? Remedy::atomics : Remedy::global;
    if (block_.arrives_behind(&first == &now_ ? second : first)) return Remedy::waiting;
    return first.thread / 32 == second.thread / 32 ? Remedy::lanes : Remedy::block;
  }

  BlockCheck& block_;
  const BlockCheck& memory_;  // of shared memory: whose it is
  Word& word_;
  const Exact& now_;
  const Met& met_;
  const Access& access_;
  int lane_;
  bool is_shared_;
  std::string array_;  // its name, once it is needed
};

void BlockCheck::tell(Word& word, const Exact& now, const Met& met, const Doing& doing, int lane) {
  Telling telling(*this, word, now, met, doing, lane);
  telling.races();
  telling.orders();
}

}  // namespace simt::checker
