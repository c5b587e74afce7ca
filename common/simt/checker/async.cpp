// The async proxy (PTX ISA 8.2.5): wgmma and copies in bulk read shared memory by a way of its own, past what ordinary
// stores have left behind no fence of proxies, and go on reading until they are waited for.
#include <algorithm>
#include <bit>

#include "common/simt/checker/block_check.hpp"

namespace simt::checker {
namespace {

constexpr unsigned kGroupThreads = 128;

}  // namespace

BlockCheck::Exact BlockCheck::exact(const Written& its) {
  return {its.block,           thread_of(its.place), moment_of(its.place),
          cell_site(its.site), Act::store,           15};
}

// Whether it comes before what one of these threads does now; of several warps one of each.
bool BlockCheck::comes_before(const Exact& earlier, unsigned first, unsigned threads) {
  for (; threads > 32; first += 32, threads -= 32) {
    if (!comes_before(earlier, first, 32)) return false;
  }
  for (unsigned i = 0; i < threads; ++i) {
    const Ordered order = ordered(earlier, first + i);
    if (order == Ordered::yes || order == Ordered::without_acquire) return true;
  }
  return false;
}

// ---- Fences of proxies ----

void BlockCheck::proxy_fence(unsigned warp, std::uint32_t lanes, unsigned of) {
  if (async_ == nullptr) return;
  advance();
  for (std::uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
    const unsigned thread = warp * 32 + static_cast<unsigned>(std::countr_zero(rest));
    const Clock known = threads_.empty() ? 0 : threads_[thread].known;
    async_->fences[thread].push_back({now_, since_, warp_since_[warp], known, of});
  }
  for (const unsigned one : {kOfShared, kOfGlobal, kOfBarriers}) {
    if ((of & one) != 0) async_->fenced_before[one] = std::max(async_->fenced_before[one], since_);
  }
}

// A store that went the ordinary way: whether a fence lies between it and what one of these threads does now. It may be
// the fence of who stored, behind the store, or of who reads, or of anybody between two barriers.
bool BlockCheck::is_fenced(const Exact& store, unsigned first, unsigned threads, unsigned of) {
  if (store.block == id_ && store.moment < async_->clean_before[of]) return true;
  const auto its = checker_.there_.find(store.block);
  if (its != checker_.there_.end()) {
    for (const Async::Fence& one : its->second->async_->fences[store.thread]) {
      if (one.moment <= store.moment || (one.of & of) == 0) continue;
      const Exact fence{store.block, store.thread, one.moment, store.site, Act::store, 15};
      if (comes_before(fence, first, threads)) return true;
      break;  // further ones come later
    }
  }
  for (unsigned reader = first; reader < first + threads; ++reader) {
    const auto& own = async_->fences[reader];
    const auto found = std::find_if(own.rbegin(), own.rend(),
                                    [&](const Async::Fence& one) { return (one.of & of) != 0; });
    if (found == own.rend()) continue;
    const Async::Fence& last = *found;
    const bool is_own = store.block == id_;
    if (is_own &&
        (store.moment < last.since || (store.thread == reader && store.moment < last.moment) ||
         (store.thread / 32 == reader / 32 && store.moment < last.warp_since))) {
      return true;
    }
    if (last.known != 0 && comes_after(last.known, store)) return true;
  }
  return false;
}

// ---- What is written ----

void BlockCheck::note_written(const Access& access, BlockCheck& writer) {
  if (async_ == nullptr) return;
  const Site& site = checker_.launch_.sites[static_cast<std::size_t>(access.site)];
  const bool is_sent = site.sends && access.act == Act::store && site.is_bulk;
  const bool sets_up = site.is_barrier && access.act == Act::store;
  const bool arrives = site.sends && access.act == Act::atomic;
  if ((site.is_barrier && !sets_up) || (arrives && !site.is_bulk)) return;
  const auto bytes = static_cast<unsigned>(access.lanes.bytes);
  for (std::uint32_t rest = access.lanes.mask; rest != 0; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    const std::uint64_t begin = address_of(access, lane);
    const unsigned thread = access.warp * 32 + static_cast<unsigned>(lane);
    const Written its{writer.id_, place_of(writer.now_, thread), access.site};
    Written before;
    for (std::uint64_t word = begin / 4; word * 4 < begin + bytes; ++word) {
      if (word >= async_->written.size()) break;
      Written& last = async_->written[word];
      if ((is_sent || arrives) && last.block != 0 && last != before) {
        before = last;
        writer.judge_fence(exact(last), Space::shared, word * 4, access.site, thread);
      }
      if (!arrives) last = its;
    }
    if (arrives) continue;
    if (!async_->readings.empty()) overwritten(begin, begin + bytes, access.site, writer, thread);
  }
}

// Whether a copy between shared memories is, to a thread that has heard so from who waited for its barrier.
bool BlockCheck::is_over(std::int32_t copy, const Thread& to) {
  return copy != 0 && checker_.order_.has(to.known, -copy, 0, 0);
}

// Of what may still be read.
void BlockCheck::overwritten(std::uint64_t begin, std::uint64_t end, std::int32_t site,
                             BlockCheck& writer, unsigned thread) {
  for (Async::Reading& one : async_->readings) {
    bool is_met = false;
    for (const Piece& piece : one.pieces) is_met |= piece.begin < end && begin < piece.end;
    if (!is_met) continue;
    const bool is_over =
        (!writer.threads_.empty() && writer.is_over(one.copy, writer.threads_[thread])) ||
        std::any_of(one.waits.begin(), one.waits.end(), [&](const Async::Wait& wait) {
          for (std::uint32_t rest = wait.lanes; rest != 0; rest &= rest - 1) {
            const unsigned waiter = wait.warp * 32 + static_cast<unsigned>(std::countr_zero(rest));
            const Exact its{id_, waiter, wait.moment, cell_site(one.site), Act::load, 15};
            if (writer.comes_before(its, thread, 1)) return true;
          }
          return false;
        });
    if (!is_over) {
      Finding finding;
      const bool is_product = one.lane < 0;
      // One of its own warps is to wait itself.
      const bool is_own = is_product && &writer == this && thread / kGroupThreads == one.warp / 4;
      const bool is_waited =
          std::any_of(one.waits.begin(), one.waits.end(),
                      [&](const Async::Wait& wait) { return !is_own || wait.warp == thread / 32; });
      finding.hazard = is_waited    ? Hazard::race
                       : is_product ? Hazard::unfinished_product
                                    : Hazard::unfinished_copy;
      finding.site = site;
      finding.other_site = one.site;
      finding.array = checker_.name_of(Space::shared, begin);
      finding.what = "writes " + finding.array + ", which";
      finding.detail = is_waited    ? "has been read, without a barrier between, by"
                       : is_product ? "a wgmma may still read that was asked for by"
                                    : "a copy in bulk may still read that was asked for by";
      finding.party = {writer.block_, thread};
      const int first = std::max(one.lane, 0);
      finding.other = {block_, one.warp * 32 + static_cast<unsigned>(first)};
      finding.address = begin;
      finding.count = 1;
      finding.remedy = is_waited       ? Remedy::block
                       : is_product    ? Remedy::none
                       : one.copy != 0 ? Remedy::bulk_sent
                                       : Remedy::bulk_source;
      const std::lock_guard lock(checker_.mutex_);
      checker_.findings_.add(std::move(finding));
    }
    // The write stands for it.
    std::vector<Piece> rest;
    for (const Piece& piece : one.pieces) {
      if (piece.begin >= end || begin >= piece.end) {
        rest.push_back(piece);
        continue;
      }
      if (piece.begin < begin) rest.push_back({piece.begin, begin});
      if (end < piece.end) rest.push_back({end, piece.end});
    }
    one.pieces = std::move(rest);
  }
  std::erase_if(async_->readings, [](const Async::Reading& one) { return one.pieces.empty(); });
}

// ---- What is read ----

void BlockCheck::async_read(std::span<const Piece> pieces, std::int32_t site, unsigned warp,
                            int lane, std::optional<std::uint32_t> group) {
  if (async_ == nullptr) return;
  const bool is_product = lane < 0;
  const unsigned first = warp * 32 + static_cast<unsigned>(std::max(lane, 0));
  const unsigned threads = is_product ? kGroupThreads : 1;
  for (const Piece& piece : pieces) {
    if (checker_.launch_.looks_for_uninitialised &&
        !storage_->initialised.all(piece.begin, piece.end - piece.begin)) {
      std::uint64_t at = piece.begin;
      while (storage_->initialised.all(at, 1)) ++at;
      Finding finding;
      finding.hazard = Hazard::uninitialized_shared_read;
      finding.site = site;
      finding.array = checker_.name_of(Space::shared, at);
      finding.what = std::string(is_product ? "multiplies " : "copies ") + finding.array +
                     ", of which bytes were never written";
      finding.party = {block_, first};
      finding.address = at;
      finding.count = 1;
      const std::lock_guard lock(checker_.mutex_);
      checker_.findings_.add(std::move(finding));
    }
    if (!checker_.launch_.looks_for_races) continue;
    Written before;
    for (std::uint64_t word = piece.begin / 4; word * 4 < piece.end; ++word) {
      const Written& its = async_->written[word];
      if (its.block == 0 || its == before) continue;
      before = its;
      judge_read(its, word * 4, site, first, threads);
    }
  }
  if (!checker_.launch_.looks_for_races) return;
  if (!group) {
    const std::lock_guard lock(checker_.mutex_);
    copy_ = ++checker_.copies_;
  }
  // The same once more stands for the earlier one.
  for (Async::Reading& one : async_->readings) {
    if (one.site != site || one.warp != warp || one.lane != lane ||
        !std::equal(one.pieces.begin(), one.pieces.end(), pieces.begin(), pieces.end())) {
      continue;
    }
    one.group = group.value_or(UINT32_MAX);
    one.copy = copy_;
    one.waits.clear();
    return;
  }
  async_->readings.push_back(
      {{pieces.begin(), pieces.end()}, site, warp, lane, group.value_or(UINT32_MAX), copy_, {}});
}

// What the async proxy reads, and this one has written last.
void BlockCheck::judge_read(const Written& its, std::uint64_t address, std::int32_t site,
                            unsigned first, unsigned threads) {
  const Exact store = exact(its);
  const bool is_sent = this->is_sent(store);
  const bool goes_on = fillings_ != 0 && filling_[address / 4].site >= 0;
  const bool is_before = !goes_on && comes_before(store, first, threads);
  if (is_before && (is_sent || is_fenced(store, first, threads, kOfShared))) return;
  Finding finding;
  finding.hazard = is_before ? Hazard::missing_proxy_fence
                   : is_sent ? Hazard::unfinished_copy
                             : Hazard::race;
  finding.site = its.site;
  finding.other_site = site;
  finding.array = checker_.name_of(Space::shared, address);
  finding.what = "writes " + finding.array + ", which";
  finding.detail = is_before ? "the async proxy reads, with no fence of proxies between, for"
                   : is_sent ? "the async proxy reads before the copy's barrier was waited for, for"
                             : "the async proxy reads, without a barrier between, for";
  finding.party = party(store);
  finding.other = {block_, first};
  finding.address = address;
  finding.count = 1;
  finding.remedy = is_before ? Remedy::none : is_sent ? Remedy::bulk_load : Remedy::block;
  const std::lock_guard lock(checker_.mutex_);
  checker_.findings_.add(std::move(finding));
}

// A copy in bulk that the thread asks for touches what comes before, and went the ordinary way: memory that it writes, or
// reads past caches, and its barrier.
void BlockCheck::judge_fence(const Exact& store, Space space, std::uint64_t address,
                             std::int32_t site, unsigned thread) {
  const Site* const its = site_of(store);
  if (its == nullptr || its->is_bulk || its->sends || store.thread == kNoThread) return;
  if (async_ == nullptr || !checker_.launch_.looks_for_races) return;
  if (its->is_barrier &&
      checker_.launch_.sites[static_cast<std::size_t>(site)].is_of_barrier_object) {
    return;
  }
  const unsigned of = its->is_barrier          ? kOfBarriers
                      : space == Space::shared ? kOfShared
                                               : kOfGlobal;
  if (!comes_before(store, thread, 1) || is_fenced(store, thread, 1, of)) return;
  Finding finding;
  finding.hazard = its->is_barrier ? Hazard::missing_fence : Hazard::missing_proxy_fence;
  finding.site = static_cast<std::int32_t>(store.site);
  finding.other_site = site;
  finding.array = checker_.name_of(space, address);
  finding.what = (its->is_barrier ? "sets up " : "writes ") + finding.array + ", which";
  finding.detail = std::string(its->is_barrier          ? "a copy in bulk arrives at"
                               : space == Space::shared ? "a copy in bulk overwrites"
                                                        : "the async proxy reads") +
                   ", with no fence of proxies between, for";
  finding.party = party(store);
  finding.other = {block_, thread};
  finding.address = address;
  finding.count = 1;
  finding.remedy = its->is_barrier ? Remedy::barrier_in_memory : Remedy::none;
  const std::lock_guard lock(checker_.mutex_);
  checker_.findings_.add(std::move(finding));
}

// ---- What is on its way ----

void BlockCheck::start_bulk(Piece piece, std::int32_t site, const BlockCheck& by, unsigned thread) {
  if (!checker_.launch_.looks_for_races) return;
  filling_.resize(checker_.launch_.shared_bytes / 4 + 1);
  for (std::uint64_t word = piece.begin / 4; word * 4 < piece.end; ++word) {
    Filling& its = filling_[word];
    fillings_ += its.site < 0 ? 1 : 0;
    its = {site, thread, false, by.block_};
  }
}

void BlockCheck::landed(Piece piece) {
  for (std::uint64_t word = piece.begin / 4; word * 4 < piece.end && word < filling_.size();
       ++word) {
    if (filling_[word].site < 0) continue;
    filling_[word] = {};
    --fillings_;
  }
}

// ---- What is waited for ----

void BlockCheck::products_waited(unsigned warp, std::uint32_t before) {
  if (async_ == nullptr || async_->readings.empty()) return;
  advance();
  for (Async::Reading& one : async_->readings) {
    if (one.lane < 0 && one.warp / 4 == warp / 4 && one.group < before) {
      one.waits.push_back({now_, warp, ~0u});
    }
  }
}

void BlockCheck::stores_waited(unsigned warp, int lane, std::uint32_t before) {
  if (async_ == nullptr || async_->readings.empty()) return;
  advance();
  for (Async::Reading& one : async_->readings) {
    if (one.lane == lane && one.warp == warp && one.group < before) {
      one.waits.push_back({now_, warp, 1u << lane});
    }
  }
}

// All threads have met: what was waited for is over, and what was stored before a fence is seen.
void BlockCheck::async_barrier() {
  if (async_ == nullptr) return;
  std::erase_if(async_->readings, [](const Async::Reading& one) { return !one.waits.empty(); });
  for (std::size_t of = 0; of < async_->clean_before.size(); ++of) {
    async_->clean_before[of] = std::max(async_->clean_before[of], async_->fenced_before[of]);
  }
}

// A block ends, and its shared memory with it.
void BlockCheck::async_end() {
  if (async_ == nullptr) return;
  for (const Async::Reading& one : async_->readings) {
    if (one.lane < 0 || !one.waits.empty()) continue;
    if (std::any_of(threads_.begin(), threads_.end(),
                    [&](const Thread& thread) { return is_over(one.copy, thread); })) {
      continue;
    }
    report(Hazard::unfinished_copy, one.site, one.warp * 32 + static_cast<unsigned>(one.lane),
           "copies from shared memory of a block that ends before the copy was waited for", -1, {},
           one.copy != 0 ? Remedy::bulk_sent : Remedy::bulk_source);
  }
}

}  // namespace simt::checker
