#include "common/simt/runtime/launch_races.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <tuple>

#include "common/simt/runtime/machine.hpp"
#include "common/simt/runtime/reserve.hpp"

namespace simt {

// What is known of a word, by the kind in the upper bits of `block`:
//   reads, atomics   block and other: the smallest and the largest; place, place of other
//   own              block; place of write, place of read, value
//   shared           number of its record, in `place`
// A place is a program counter and, in the upper four bits, the bytes of the word.
struct Slot {
  std::uint32_t block;
  std::uint32_t place;
  std::uint32_t other;
  std::uint32_t other_place;
};

// The same for those words of a row that `words` has bits for.
//   own      the words that were written; `read` has those that were read, at `other`
//   spread   number of its slots, in `place`
struct Row {
  Slot all;
  std::uint32_t words;
  std::uint32_t read;
  std::uint32_t values[LaunchRaces::kRowWords];  // own: what was written
};

namespace {

enum Kind : std::uint32_t { kEmpty, kReads, kOwn, kAtomics, kShared, kSpread };
constexpr unsigned kKindShift = 29;
constexpr std::uint32_t kBlockMask = (1u << kKindShift) - 1;
constexpr std::uint32_t kPlacePc = 0x0fffffff;
constexpr std::size_t kMostRecords = std::size_t{1} << 22;
constexpr std::uint64_t kMostSteps = 20'000'000;
constexpr std::size_t kMostEvents = std::size_t{1} << 20;
constexpr int kRead = static_cast<int>(AccessClass::read);
constexpr int kWrite = static_cast<int>(AccessClass::write);
constexpr int kAtomic = static_cast<int>(AccessClass::atomic);

std::uint32_t place_of(AccessId id, std::uint8_t bytes) {
  return (access_pc(id) & kPlacePc) | std::uint32_t{bytes} << 28;
}
std::uint8_t place_bytes(std::uint32_t place) { return static_cast<std::uint8_t>(place >> 28); }

// The smaller program counter, all bytes.
std::uint32_t join_places(std::uint32_t a, std::uint32_t b) {
  if (!a || !b) return a | b;
  return std::min(a & kPlacePc, b & kPlacePc) | ((a | b) & ~kPlacePc);
}

// One more block that reads, or updates.
void add_block(Slot& slot, std::uint32_t block, std::uint32_t place) {
  if (const std::uint32_t smallest = slot.block & kBlockMask; block == smallest) {
    slot.place = join_places(slot.place, place);
  } else if (block < smallest) {
    slot.block = (slot.block & ~kBlockMask) | block;
    slot.place = place;
  }
  if (block == slot.other) {
    slot.other_place = join_places(slot.other_place, place);
  } else if (block > slot.other) {
    slot.other = block;
    slot.other_place = place;
  }
}

std::uint32_t value_mask(unsigned bytes) {
  std::uint32_t mask = 0;
  for (unsigned b = 0; b < 4; ++b) {
    if (bytes >> b & 1) mask |= 0xffu << 8 * b;
  }
  return mask;
}

// Another block may write it meanwhile.
std::uint32_t value_at(std::uintptr_t address) {
  return __atomic_load_n(reinterpret_cast<const std::uint32_t*>(address), __ATOMIC_RELAXED);
}

}  // namespace

LaunchRaces::LaunchRaces(std::size_t bytes) {
  const std::size_t entries = bytes / kPageBytes + 1;
  directory_ = static_cast<Entry*>(reserve_addresses(entries * sizeof(Entry), "the race check"));
  for (std::atomic_flag& lock : locks_) lock.clear();
}

bool LaunchRaces::begin(std::uint64_t blocks, const ClusterOrder& order) {
  order_ = order;
  ++launch_;
  pages_.clear();
  slots_.clear();
  records_used_ = 0;
  if (records_.size() > 64) records_.resize(64);
  releases_ = 0;
  taken_over_ = false;
  events_.clear();
  events_of_.clear();
  last_release_.clear();
  steps_left_ = kMostSteps;
  return blocks <= kBlockMask;
}

template <class T, std::size_t each>
T* LaunchRaces::Pool<T, each>::at(std::uint32_t number) {
  if (number >= kChunk * kChunks) return nullptr;
  std::atomic<T*>& chunk = chunks_[number / kChunk];
  T* first = chunk.load(std::memory_order_acquire);
  if (!first) {
    T* fresh = new T[kChunk * each];
    if (chunk.compare_exchange_strong(first, fresh)) {
      first = fresh;
    } else {
      delete[] fresh;
    }
  }
  return first + number % kChunk * each;
}

// The caller holds the page's lock, here and below. Null if there is no more room.
Row* LaunchRaces::rows_of(std::size_t page) {
  Entry& entry = directory_[page];
  if (entry.launch == launch_) return pages_.at(entry.page);
  entry = {launch_, pages_.take()};
  Row* const rows = pages_.at(entry.page);
  for (std::size_t r = 0; rows && r < kPageRows; ++r) rows[r].all.block = 0;
  return rows;
}

Slot* LaunchRaces::spread(Row& row) {
  if (row.all.block >> kKindShift == kSpread) return slots_.at(row.all.place);
  const std::uint32_t number = slots_.take();
  Slot* const slots = slots_.at(number);
  if (!slots) return nullptr;
  const std::uint32_t kind = row.all.block >> kKindShift, block = row.all.block & kBlockMask;
  for (unsigned w = 0; w < kRowWords; ++w) {
    const bool in = row.words >> w & 1, read = row.read >> w & 1;
    slots[w] = {};
    if ((kind == kReads || kind == kAtomics) && in) slots[w] = row.all;
    if (kind != kOwn) continue;
    if (in) {
      slots[w] = {row.all.block, row.all.place, read ? row.all.other : 0, row.values[w]};
    } else if (read) {
      slots[w] = {std::uint32_t{kReads} << kKindShift | block, row.all.other, block, row.all.other};
    }
  }
  row.all = {std::uint32_t{kSpread} << kKindShift, number, 0, 0};
  return slots;
}

LaunchRaces::Record* LaunchRaces::new_record(Slot& slot, std::uintptr_t address) {
  const std::lock_guard lock(records_mutex_);
  if (records_used_ >= kMostRecords) return nullptr;
  const std::size_t number = records_used_++;
  const std::size_t piece = number / kRecordsPerPiece;
  if (records_.capacity() == 0) records_.reserve(kMostRecords / kRecordsPerPiece);
  if (piece == records_.size()) records_.push_back(std::make_unique<Record[]>(kRecordsPerPiece));
  Record& record = records_[piece][number % kRecordsPerPiece];
  record = {};
  record.address = address;
  // What is known moves over. It says nothing of thread and epoch, nor needs to: it is from before its
  // blocks handed on anything.
  const Slot old = slot;
  auto access = [](std::uint32_t block, std::uint32_t place) {
    Access a;
    a.block = block & kBlockMask;
    a.id = make_access_id(0, 1, place & kPlacePc);
    a.bytes = place_bytes(place);
    a.early = true;
    return a;
  };
  switch (old.block >> kKindShift) {
    case kReads:
    case kAtomics: {
      const int c = old.block >> kKindShift == kReads ? kRead : kAtomic;
      record.by_class[c][0] = access(old.block, old.place);
      record.by_class[c][1] = access(old.other, old.other_place);
      break;
    }
    case kOwn:
      record.by_class[kWrite][0] = record.by_class[kWrite][1] = access(old.block, old.place);
      if (old.other) {
        record.by_class[kRead][0] = record.by_class[kRead][1] = access(old.block, old.other);
      }
      record.value = old.other_place;
      record.writer = old.block & kBlockMask;
      record.written = place_bytes(old.place);
      break;
    default:
      break;
  }
  slot.block = std::uint32_t{kShared} << kKindShift;
  slot.place = static_cast<std::uint32_t>(number);
  return &record;
}

void LaunchRaces::enter(Record& record, int access_class, const Access& access,
                        std::uint32_t value) {
  if (access_class == kWrite) {
    if (record.written && !together(record.writer, access.block) &&
        ((value ^ record.value) & value_mask(record.written & access.bytes))) {
      record.values_differ = true;
    }
    const std::uint32_t mask = value_mask(access.bytes);
    record.value = (record.value & ~mask) | (value & mask);
    record.written |= access.bytes;
    record.writer = access.block;
  }
  Access& low = record.by_class[access_class][0];
  Access& high = record.by_class[access_class][1];
  if (!low.id) {
    low = high = access;
    return;
  }
  // What comes after all older ones says all that they say.
  const std::uintptr_t word = record.address;
  if (releases() && leads(low, access, word) && leads(high, access, word)) {
    low = high = access;
    return;
  }
  auto keep = [&](Access& kept, bool is_nearer) {
    if (access.block == kept.block) {
      const std::uint8_t bytes = kept.bytes | access.bytes;
      if (access_pc(access.id) < access_pc(kept.id)) kept = access;
      kept.bytes = bytes;
    } else if (is_nearer) {
      kept = access;
    }
  };
  keep(low, access.block < low.block);
  keep(high, access.block > high.block);
}

// ---- The words of an interval ----

LaunchRaces::Visit::Visit(LaunchRaces& races, std::uint32_t block, std::uint32_t interval)
    : races_(races), block_(block), interval_(interval), handing_on_(false) {
  if (!races_.releases()) return;
  const std::lock_guard lock(races_.events_mutex_);
  handing_on_ = races_.events_of_.count(block) != 0;
}

void LaunchRaces::Visit::leave() {
  if (lock_) lock_->clear(std::memory_order_release);
  lock_ = nullptr;
}

Row* LaunchRaces::Visit::row_at(std::size_t offset) {
  if (const std::size_t page = offset / kPageBytes; page != page_) {
    leave();
    lock_ = &races_.locks_[page % kLocks];
    while (lock_->test_and_set(std::memory_order_acquire)) {
    }
    page_ = page;
    rows_ = races_.rows_of(page);
  }
  return rows_ ? &rows_[offset / (4 * kRowWords) % kPageRows] : nullptr;
}

bool LaunchRaces::Visit::row(std::size_t offset, std::uint32_t words, const WordUse& use) {
  Row* const found = row_at(offset);
  if (!found) return true;
  Row& row = *found;
  constexpr AccessId kMarks = kVolatile | kAfterFence;
  if (handing_on_ || ((use.first[kRead] | use.first[kWrite]) & kMarks)) return false;
  const bool reads = use.first[kRead], writes = use.first[kWrite], updates = use.first[kAtomic];
  const std::uint32_t kind = row.all.block >> kKindShift;
  const bool is_mine = (row.all.block & kBlockMask) == block_;
  const std::uint32_t read = reads ? place_of(use.first[kRead], 15) : 0;
  if (!updates && writes) {
    const std::uint32_t written = place_of(use.first[kWrite], 15);
    if (kind == kReads && is_mine && row.all.other == block_) {
      row.all = {row.all.block, 0, join_places(row.all.place, row.all.other_place), 0};
      row.read = row.words;
      row.words = 0;
    } else if (kind == kEmpty) {
      row.all = {};
      row.words = row.read = 0;
    } else if (kind != kOwn || !is_mine) {
      return false;
    }
    // One place must be true of all.
    row.all.block = std::uint32_t{kOwn} << kKindShift | block_;
    if (row.words && row.words != words && row.all.place != written) return false;
    if (reads && row.read && row.read != words && row.all.other != read) return false;
    row.all.place = join_places(row.all.place, written);
    row.words |= words;
    if (reads) {
      row.all.other = join_places(row.all.other, read);
      row.read |= words;
    }
    const std::uintptr_t address = global_address(offset);
    for (std::uint32_t rest = words; rest; rest &= rest - 1) {
      const auto w = static_cast<unsigned>(std::countr_zero(rest));
      row.values[w] = value_at(address + 4 * w);
    }
    return true;
  }
  if (updates && (reads || writes)) return false;
  if (reads && kind == kOwn && is_mine) {
    if (row.read && row.read != words && row.all.other != read) return false;
    row.all.other = join_places(row.all.other, read);
    row.read |= words;
    return true;
  }
  const std::uint32_t its_kind = reads ? kReads : kAtomics;
  const std::uint32_t place = reads ? read : place_of(use.first[kAtomic], 15);
  if (kind == kEmpty) {
    row.all = {its_kind << kKindShift | block_, place, block_, place};
    row.words = words;
    row.read = 0;
    return true;
  }
  if (kind != its_kind || row.words != words) return false;
  add_block(row.all, block_, place);
  return true;
}

void LaunchRaces::Visit::word(std::size_t offset, const WordUse& use) {
  Row* const row = row_at(offset);
  Slot* const slots = row ? races_.spread(*row) : nullptr;
  if (!slots) return;
  Slot& slot = slots[offset / 4 % kRowWords];
  const std::uintptr_t address = global_address(offset);
  const bool reads = use.first[kRead], writes = use.first[kWrite], updates = use.first[kAtomic];
  const std::uint32_t kind = slot.block >> kKindShift;
  const bool is_mine = races_.together(slot.block & kBlockMask, block_);
  const AccessId marks = kVolatile | kAfterFence;
  const bool plain = !handing_on_ && !((use.first[kRead] | use.first[kWrite]) & marks);
  if (plain) [[likely]] {
    // The kinds of word that need no record.
    if (!updates && (kind == kEmpty ? writes : kind == kOwn && is_mine)) {
      if (writes || kind == kEmpty) slot.block = std::uint32_t{kOwn} << kKindShift | block_;
      if (writes) {
        slot.place = join_places(slot.place, place_of(use.first[kWrite], use.bytes[kWrite]));
        slot.other_place = value_at(address);
      }
      if (reads) {
        slot.other = join_places(slot.other, place_of(use.first[kRead], use.bytes[kRead]));
      }
      return;
    }
    if (!updates && writes && kind == kReads && is_mine && races_.together(slot.other, block_)) {
      std::uint32_t read = join_places(slot.place, slot.other_place);
      if (reads) read = join_places(read, place_of(use.first[kRead], use.bytes[kRead]));
      slot = {std::uint32_t{kOwn} << kKindShift | block_,
              place_of(use.first[kWrite], use.bytes[kWrite]), read, value_at(address)};
      return;
    }
    const int one = !updates && !writes ? kRead : !reads && !writes ? kAtomic : -1;
    if (one >= 0) {
      const std::uint32_t its_kind = one == kRead ? kReads : kAtomics;
      const std::uint32_t place = place_of(use.first[one], use.bytes[one]);
      if (kind == kEmpty) {
        slot = {its_kind << kKindShift | block_, place, block_, place};
        return;
      }
      if (kind == its_kind) {
        add_block(slot, block_, place);
        return;
      }
    }
  }
  Record* record = nullptr;
  if (kind == kShared) {
    // The vector of pieces never moves.
    record = &races_.records_[slot.place / kRecordsPerPiece][slot.place % kRecordsPerPiece];
  } else {
    record = races_.new_record(slot, address);
  }
  if (!record) return;
  for (const int c : {kRead, kWrite, kAtomic}) {
    if (!use.first[c]) continue;
    Access access{block_, interval_, use.first[c], use.bytes[c], !handing_on_};
    races_.enter(*record, c, access, c == kWrite ? value_at(address) : 0);
  }
}

// ---- What is handed on from block to block ----

void LaunchRaces::release(std::uintptr_t word, std::uint32_t block, std::uint32_t interval,
                          AccessId id, std::uint32_t fenced, const LaneClock& clock) {
  const std::lock_guard lock(events_mutex_);
  if (events_.size() >= kMostEvents) return;
  const auto number = static_cast<std::uint32_t>(events_.size());
  events_.push_back({word, block, interval, id, fenced, clock.warp});
  events_of_[block].push_back(number);
  Released& released = last_release_.try_emplace(word, Released{number, block}).first->second;
  released.last = number;
  if (released.only_by != block) released.only_by = UINT32_MAX;
  releases_.fetch_add(1, std::memory_order_release);
}

bool LaunchRaces::acquire(std::uintptr_t word, std::uint32_t block, std::uint32_t interval,
                          AccessId id) {
  const std::lock_guard lock(events_mutex_);
  const auto released = last_release_.find(word);
  if (released == last_release_.end() || events_.size() >= kMostEvents) return false;
  std::vector<std::uint32_t>& own = events_of_[block];
  // Who polls learns something only when there is something new.
  for (auto it = own.rbegin(); it != own.rend() && *it > released->second.last; ++it) {
    const Event& e = events_[*it];
    if (!e.fenced && e.word == word && access_thread(e.id) == access_thread(id)) return false;
  }
  if (released->second.only_by == block) return false;
  taken_over_ = true;
  own.push_back(static_cast<std::uint32_t>(events_.size()));
  events_.push_back({word, block, interval, id, 0, {}});
  return true;
}

// In both, `on_word`: the access is to the word by which it is handed on, and may be that very store or
// load.
bool LaunchRaces::covered(const Access& access, const Event& release, bool on_word) {
  if (access.early || access.interval < release.interval) return true;
  if (access.interval > release.interval) return false;
  const unsigned thread = access_thread(access.id), by = access_thread(release.id);
  if (thread == by) {
    return access_epoch(access.id) <= (on_word ? access_epoch(release.id) : release.fenced);
  }
  return thread >> 5 == by >> 5 && access_epoch(access.id) <= release.warp[thread & 31];
}

bool LaunchRaces::follows(const Access& access, const Event& acquire, bool on_word) {
  if (access.early || access.interval < acquire.interval) return false;
  if (access.interval > acquire.interval) return true;
  const unsigned thread = access_thread(access.id), by = access_thread(acquire.id);
  if (thread == by) return access_epoch(access.id) + on_word > access_epoch(acquire.id);
  return thread >> 5 == by >> 5;
}

bool LaunchRaces::leads(const Access& from, const Access& to, std::uintptr_t word) {
  return together(from.block, to.block) || leads_by_events(from, to, word);
}

bool LaunchRaces::handed_on(std::uint64_t from, std::uint32_t from_interval, AccessId from_id,
                            std::uint64_t to, std::uint32_t to_interval, AccessId to_id,
                            std::uintptr_t word) {
  if (!releases()) return false;
  const Access a{static_cast<std::uint32_t>(from), from_interval, from_id, 15, false};
  const Access b{static_cast<std::uint32_t>(to), to_interval, to_id, 15, false};
  return leads_by_events(a, b, word);
}

bool LaunchRaces::leads_by_events(const Access& from, const Access& to, std::uintptr_t word) {
  const std::lock_guard lock(events_mutex_);
  const auto start = events_of_.find(from.block), end = events_of_.find(to.block);
  if (start == events_of_.end() || end == events_of_.end()) return false;
  // Directly: by a word that one of them stored and the other read later.
  std::unordered_map<std::uintptr_t, std::uint32_t> handed;
  std::uint32_t first = UINT32_MAX;
  for (const std::uint32_t number : start->second) {
    const Event& e = events_[number];
    if (!e.fenced || !covered(from, e, e.word == word)) continue;
    handed.try_emplace(e.word, number);
    first = std::min(first, number);
  }
  if (handed.empty()) return false;
  std::uint32_t last = 0;
  for (const std::uint32_t number : end->second) {
    const Event& e = events_[number];
    if (e.fenced || !follows(to, e, e.word == word)) continue;
    last = std::max(last, number);
    const auto found = handed.find(e.word);
    if (found != handed.end() && found->second < number) return true;
  }
  // By way of others: what happened in between, in order.
  std::set<std::uint32_t> knowing;
  for (std::uint32_t number = first; number <= last; ++number) {
    if (steps_left_ == 0) return true;  // it would take too long to tell: nobody is accused
    --steps_left_;
    const Event& e = events_[number];
    if (e.fenced) {
      if (knowing.count(e.block)) handed.try_emplace(e.word, number);
    } else if (handed.count(e.word) && handed[e.word] < number) {
      if (e.block == to.block && follows(to, e, e.word == word)) return true;
      knowing.insert(e.block);
    }
  }
  return false;
}

bool LaunchRaces::ordered(const Access& a, const Access& b, std::uintptr_t word) {
  return releases() && (leads(a, b, word) || leads(b, a, word));
}

// ---- What is found ----

bool LaunchRaces::order_matters() const {
  if (taken_over_) return true;
  for (std::size_t i = 0; i < records_used_; ++i) {
    const auto& by_class = record(i).by_class;
    for (const auto& [first, second] :
         {std::pair(kWrite, kRead), {kWrite, kWrite}, {kAtomic, kWrite}, {kAtomic, kRead}}) {
      for (const Access& a : by_class[first]) {
        for (const Access& b : by_class[second]) {
          if (a.id && b.id && !together(a.block, b.block) && (a.bytes & b.bytes)) return true;
        }
      }
    }
  }
  return false;
}

void LaunchRaces::report(HazardTable& hazards, std::string (*name_of)(std::uintptr_t)) {
  struct Found {
    HazardRecord record;
    bool values_differ = false;
  };
  struct Place {
    int first_class, second_class;
    std::uint32_t pc, other_pc;
    std::string array;
    auto operator<=>(const Place&) const = default;
  };
  std::map<Place, Found> found;
  for (std::size_t i = 0; i < records_used_; ++i) {
    const Record& record = this->record(i);
    // The first pair of different blocks that nothing orders, smallest blocks first.
    auto look = [&](int first_class, int second_class) {
      for (const Access& a : record.by_class[first_class]) {
        for (const Access& b : record.by_class[second_class]) {
          if (!a.id || !b.id || together(a.block, b.block) || !(a.bytes & b.bytes)) continue;
          if (hands_on(static_cast<AccessClass>(first_class), a.id,
                       static_cast<AccessClass>(second_class), b.id) ||
              ordered(a, b, record.address)) {
            continue;
          }
          const Access *first = &a, *second = &b;
          if (first_class == second_class && b.block < a.block) std::swap(first, second);
          Found& f = found[{first_class, second_class, access_pc(first->id), access_pc(second->id),
                            name_of(record.address)}];
          HazardRecord one;
          one.block = order_.at(first->block);
          one.other_block = order_.at(second->block);
          one.count = 1;
          f.record.add(one);
          f.values_differ |= record.values_differ;
          return true;
        }
      }
      return false;
    };
    // Of a word that is written with different values, or with one value and read, one pair says enough.
    if (record.values_differ ? look(kWrite, kWrite) : look(kWrite, kRead)) continue;
    look(kWrite, record.values_differ ? kRead : kWrite);
    look(kAtomic, kWrite);
    look(kAtomic, kRead);
  }
  for (const auto& [place, f] : found) {
    Hazard hazard = Hazard::race;
    HazardRecord record = f.record;
    std::string verb = place.first_class == kAtomic ? "updates atomically " : "writes ";
    record.prescribe(Remedy::blocks);
    if (place.second_class == kWrite) {
      record.detail =
          place.first_class == kAtomic ? "is written without an atomic by" : "is also written by";
      if (place.first_class == kWrite && !f.values_differ) hazard = Hazard::same_value_write;
    } else {
      record.detail = "is read by";
      if (place.first_class == kAtomic) {
        record.detail = "is read without an atomic by";
        record.beside_atomic = true;
        hazard = Hazard::read_beside_atomic;
      } else {
        record.prescribe(Remedy::blocks_in_place);
      }
    }
    hazards[{hazard, place.pc, place.other_pc, place.array, verb + place.array + ", which"}].add(
        record);
  }
}

}  // namespace simt
