#include "common/simt/runtime/races.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "common/simt/runtime/cluster.hpp"
#include "common/simt/runtime/launch_races.hpp"
#include "common/simt/runtime/machine.hpp"
#include "common/simt/runtime/reserve.hpp"

namespace simt {

void RaceDetector::access_marked(RaceCell& cell, AccessClass kind, AccessId id, unsigned byte_mask,
                                 std::uintptr_t word_address) {
  // Reads do not meet reads: of a word that many threads copy there are many flights.
  const bool meets = kind == AccessClass::read ? (cell.marks & RaceCell::kFilled) != 0
                                               : (cell.marks & RaceCell::kInFlight) != 0;
  if (meets) meet_flights(cell, kind, id, word_address);
  if (byte_mask == 15 && !(cell.marks & RaceCell::kSplit)) {
    access_whole(cell, kind, id, word_address);
  } else {
    access_bytes(cell, kind, id, byte_mask, word_address);
  }
}

void RaceDetector::access_whole(RaceCell& cell, AccessClass kind, AccessId id,
                                std::uintptr_t word_address) {
  if (conflicts(cell, kind, id)) note_conflict(cell, cell, 0, 4, kind, id, word_address);
  cell.by_class[static_cast<int>(kind)].add(id, *clock);
}

void RaceDetector::access_bytes(RaceCell& cell, AccessClass kind, AccessId id, unsigned byte_mask,
                                std::uintptr_t word_address) {
  cell.marks |= RaceCell::kSplit;
  auto& bytes = bytes_[&cell];
  for (RaceCell& byte : bytes) {
    if (byte.interval != interval) reset(byte);
  }
  const bool whole_word = byte_mask == 15;
  for (unsigned b = 0; b < 4; ++b) {
    if (!(byte_mask >> b & 1)) continue;
    if (conflicts(cell, kind, id) || conflicts(bytes[b], kind, id)) {
      note_conflict(cell, bytes[b], b, 1, kind, id, word_address);
    }
    if (!whole_word) bytes[b].by_class[static_cast<int>(kind)].add(id, *clock);
  }
  if (whole_word) cell.by_class[static_cast<int>(kind)].add(id, *clock);
}

bool hands_on(AccessClass a_class, AccessId a, AccessClass b_class, AccessId b) {
  if (a_class == AccessClass::atomic) std::swap(a_class, b_class), std::swap(a, b);
  if (b_class == AccessClass::atomic) {
    return a_class == AccessClass::read ? (a & kVolatile) != 0 : (a & kAfterFence) != 0;
  }
  if (a_class == AccessClass::write) std::swap(a_class, b_class), std::swap(a, b);
  return a_class == AccessClass::read && (a & kVolatile) && (b & kAfterFence);
}

void RaceDetector::note_conflict(RaceCell& word, RaceCell& cell, unsigned byte, unsigned bytes,
                                 AccessClass kind, AccessId id, std::uintptr_t word_address) {
  Conflict& conflict = conflicts_[&cell];
  conflict.address = word_address + byte;
  auto against = [&](AccessClass other, auto report) {
    const int k = static_cast<int>(other);
    auto unless_meant = [&](AccessId earlier) {
      // Within a warp only atomics do: there a volatile array with fences used to stand for __syncwarp.
      const bool may = kind == AccessClass::atomic || other == AccessClass::atomic ||
                       access_thread(id) >> 5 != access_thread(earlier) >> 5;
      if (!may || !hands_on(kind, id, other, earlier)) report(earlier);
    };
    word.by_class[k].for_each_conflict(id, *clock, unless_meant);
    if (&cell != &word) cell.by_class[k].for_each_conflict(id, *clock, unless_meant);
  };
  bool overwrites = false;
  switch (kind) {
    case AccessClass::read:
      against(AccessClass::write, [&](AccessId w) { conflict.write_read.keep_smaller(w, id); });
      against(AccessClass::atomic, [&](AccessId a) { conflict.atomic_read.keep_smaller(a, id); });
      break;
    case AccessClass::write:
      against(AccessClass::read, [&](AccessId r) { conflict.write_read.keep_smaller(id, r); });
      against(AccessClass::atomic, [&](AccessId a) { conflict.atomic_write.keep_smaller(a, id); });
      against(AccessClass::write, [&](AccessId w) {
        conflict.write_write.keep_smaller(std::min(w, id), std::max(w, id));
        overwrites = true;
      });
      break;
    case AccessClass::atomic:
      against(AccessClass::read, [&](AccessId r) { conflict.atomic_read.keep_smaller(id, r); });
      against(AccessClass::write, [&](AccessId w) { conflict.atomic_write.keep_smaller(id, w); });
      break;
  }
  if (!overwrites) return;
  // The store has not happened yet: memory still holds the other thread's value.
  Overwrite overwrite{&cell, conflict.address, bytes, 0};
  std::memcpy(&overwrite.old_value, reinterpret_cast<const void*>(overwrite.address), bytes);
  overwrites_.push_back(overwrite);
}

void settle_reads_beside_atomics(HazardTable& hazards, const std::set<std::uint32_t>& tests,
                                 const std::set<std::uint32_t>& results) {
  HazardTable races;
  for (auto it = hazards.begin(); it != hazards.end();) {
    HazardKey key = it->first;
    const HazardRecord record = it->second;
    const bool is_test = record.beside_atomic && tests.count(key.other_pc);
    const bool is_race = record.beside_atomic && key.hazard == Hazard::read_beside_atomic &&
                         results.count(key.other_pc);
    if (!is_test && !is_race) {
      ++it;
      continue;
    }
    it = hazards.erase(it);
    if (is_test) continue;
    key.hazard = Hazard::race;
    races[key].add(record);
  }
  merge(hazards, races);
}

void RaceDetector::settle_writes() {
  for (const Overwrite& o : overwrites_) {
    std::uint32_t now = 0;
    std::memcpy(&now, reinterpret_cast<const void*>(o.address), o.bytes);
    if (now != o.old_value) conflicts_[o.cell].values_differ = true;
  }
  overwrites_.clear();
}

void RaceDetector::settle_copy(const void* incoming, std::uintptr_t destination) {
  for (const Overwrite& o : overwrites_) {
    std::uint32_t value = 0;
    std::memcpy(&value, static_cast<const char*>(incoming) + (o.address - destination), o.bytes);
    if (value != o.old_value) conflicts_[o.cell].values_differ = true;
  }
  overwrites_.clear();
}

// ---- Fences, flags and locks ----

void RaceDetector::release(std::uintptr_t word, AccessId id, unsigned fenced, unsigned threads) {
  // Fences before updates all over a large array are nobody's flag: those words share an entry.
  constexpr std::size_t kMostFlags = 1024;
  if (released_.size() >= kMostFlags && !released_.count(word)) word = kAnyWord;
  std::vector<std::uint32_t>& known = released_[word];
  known.resize(threads);
  const unsigned own = access_thread(id);
  clock->tell(own, known);
  known[own] = std::max(known[own], fenced);
}

bool RaceDetector::acquire(std::uintptr_t word, AccessId id, LaneClock& own) {
  if (released_.empty()) return false;
  auto found = released_.find(word);
  if (found == released_.end()) found = released_.find(kAnyWord);
  if (found == released_.end()) return false;
  return own.learn(access_thread(id), found->second);
}

void RaceDetector::note_tests(std::uintptr_t word_address) {
  // The lane's log still has what it did last; far back it is no test of this update.
  constexpr std::ptrdiff_t kNotLongAgo = 64;
  const Hot& hot = simt_hot;
  if (!hot.log_limit) return;
  const Event* const begin = hot.log_limit - kLogEvents;
  const Event* const end = hot.log_next;
  for (const Event* e = end; e != begin && end - e < kNotLongAgo;) {
    --e;
    const EventKind kind = event_kind(e->key);
    if (kind != EventKind::global_load && kind != EventKind::shared_load &&
        kind != EventKind::dshared_load) {
      continue;
    }
    if (word_address + 4 > e->address && word_address < e->address + event_bytes(e->key)) {
      tests_.insert(event_pc(e->key));
      return;
    }
  }
}

// ---- Asynchronous copies ----

std::uint32_t RaceDetector::start_flight(RaceCell& cell, AccessId id, bool writes,
                                         std::size_t offset, std::uintptr_t word_address,
                                         std::uint32_t value) {
  if (flights_.size() >= flights_limit_) forget_landed();
  const std::uint32_t number = flights_started_++;
  flights_.push_back({&cell, offset, word_address, id, number, kNone, value, writes, false, false});
  mark(static_cast<std::uint32_t>(flights_.size() - 1));
  return number;
}

void RaceDetector::mark(std::uint32_t index) {
  Flight& flight = flights_[index];
  RaceCell& cell = *flight.cell;
  if (cell.interval != interval) reset(cell);
  flight.next = cell.marks & RaceCell::kInFlight ? telling(cell, cell.flight) : kNone;
  cell.marks |= RaceCell::kInFlight;
  if (flight.writes) cell.marks |= RaceCell::kFilled;
  cell.flight = index;
}

std::uint32_t RaceDetector::telling(const RaceCell& cell, std::uint32_t index) const {
  // The cell's newest flight may have been forgotten: then its index is another cell's or none.
  while (index < flights_.size() && flights_[index].cell == &cell) {
    const Flight& flight = flights_[index];
    if (!flight.landed || flight.carried) return index;
    index = flight.next;
  }
  return kNone;
}

// A kernel may copy for long without a barrier.
void RaceDetector::forget_landed() {
  std::erase_if(flights_, [](const Flight& f) { return f.landed && !f.carried; });
  for (const Flight& flight : flights_) {
    flight.cell->marks &= static_cast<std::uint8_t>(~(RaceCell::kInFlight | RaceCell::kFilled));
  }
  for (std::uint32_t i = 0; i < flights_.size(); ++i) mark(i);
  flights_limit_ = std::max(kFewFlights, 2 * flights_.size());
}

void RaceDetector::land(std::uint32_t number, AccessId id) {
  // As a rule none between has been forgotten.
  auto found = flights_.begin();
  if (const std::uint32_t guess = number - found->number;
      guess < flights_.size() && flights_[guess].number == number) {
    found += guess;
  } else {
    found = std::lower_bound(flights_.begin(), flights_.end(), number,
                             [this](const Flight& f, std::uint32_t n) {
                               // Numbers may wrap round; flights are never that far apart.
                               return flights_started_ - f.number > flights_started_ - n;
                             });
  }
  Flight& flight = *found;
  flight.landed = true;
  flight.id = id;
  if (flight.carried) return;  // whoever comes near it in this interval meets the flight itself
  // Started in this interval: the word may have been touched as late as now. (Flights of others were
  // met when the later of the two copies started.)
  const AccessClass kind = flight.writes ? AccessClass::write : AccessClass::read;
  if (flight.cell->marks & RaceCell::kSplit) {
    access_bytes(*flight.cell, kind, id, 15, flight.address);
  } else {
    access_whole(*flight.cell, kind, id, flight.address);
  }
}

void RaceDetector::meet_flights(RaceCell& cell, AccessClass kind, AccessId id,
                                std::uintptr_t word_address) {
  for (std::uint32_t i = telling(cell, cell.flight); i != kNone;
       i = telling(cell, flights_[i].next)) {
    const Flight& flight = flights_[i];
    if (!flight.writes && kind == AccessClass::read) continue;
    const bool own = access_thread(flight.id) == access_thread(id);
    if (own && flight.landed) continue;
    if (!own && flight.landed && !unordered(flight.id, id, *clock)) continue;
    Conflict& conflict = conflicts_[&cell];
    conflict.address = word_address;
    if (own || flight.carried) {
      // No barrier could help: the copy was not waited for.
      Pair& pair = !flight.writes              ? conflict.early_source_write
                   : kind == AccessClass::read ? conflict.early_read
                                               : conflict.early_write;
      pair.keep_smaller(id, flight.id);
    } else if (kind == AccessClass::atomic) {
      (flight.writes ? conflict.atomic_write : conflict.atomic_read).keep_smaller(id, flight.id);
    } else if (!flight.writes) {
      conflict.write_read.keep_smaller(id, flight.id);
    } else if (kind == AccessClass::read) {
      conflict.write_read.keep_smaller(flight.id, id);
    } else {
      conflict.write_write.keep_smaller(std::min(flight.id, id), std::max(flight.id, id));
      overwrites_.push_back({&cell, word_address, 4, flight.value});
    }
  }
}

void RaceDetector::carry_flights() {
  std::erase_if(flights_, [](const Flight& f) { return f.landed; });
  for (std::uint32_t i = 0; i < flights_.size(); ++i) {
    Flight& flight = flights_[i];
    flight.carried = true;
    if (flight.offset != kShared) {
      flight.cell = global.cell(flight.offset, interval);
      global.touch(flight.offset);
    }
    mark(i);
  }
}

WordUse RaceDetector::use_of(const RaceCell& cell) const {
  WordUse use;
  for (int c = 0; c < 3; ++c) {
    const AccessRange& range = cell.by_class[c];
    use.first[c] = range.largest ? range.smallest : 0;
    use.bytes[c] = range.largest ? 15 : 0;
  }
  if (!(cell.marks & RaceCell::kSplit)) return use;
  const auto& bytes = bytes_.at(const_cast<RaceCell*>(&cell));
  for (unsigned b = 0; b < 4; ++b) {
    if (bytes[b].interval != interval) continue;
    for (int c = 0; c < 3; ++c) {
      const AccessRange& range = bytes[b].by_class[c];
      if (!range.largest) continue;
      use.first[c] = use.first[c] ? std::min(use.first[c], range.smallest) : range.smallest;
      use.bytes[c] |= static_cast<std::uint8_t>(1u << b);
    }
  }
  return use;
}

void RaceDetector::tell_cluster(HazardTable& hazards) {
  const auto& [cluster, rank, arrives, waits] = in_cluster;
  global.for_each_page([&](std::size_t offset, const RaceCell* cells, std::uint64_t touched) {
    if (offset >= others_shared) return;
    for (std::uint64_t rest = touched; rest; rest &= rest - 1) {
      const auto word = static_cast<unsigned>(std::countr_zero(rest));
      cluster->enter_global(offset + 4 * word, use_of(cells[word]), interval_of_block, rank,
                            arrives, waits, hazards);
    }
  });
}

void RaceDetector::tell_launch() {
  LaunchRaces::Visit visit(*launch_, static_cast<std::uint32_t>(position_), interval_of_block);
  global.for_each_page([&](std::size_t offset, const RaceCell* cells, std::uint64_t touched) {
    if (offset >= others_shared) return;
    constexpr unsigned kWords = LaunchRaces::kRowWords;
    for (unsigned first = 0; first < GlobalCells::kWordsPerPage; first += kWords) {
      const auto words = static_cast<std::uint32_t>(touched >> first);
      if (!words) continue;
      // As a rule all its words are touched alike.
      const RaceCell& model = cells[first + static_cast<unsigned>(std::countr_zero(words))];
      const AccessRange* m = model.by_class;
      bool alike = !(model.marks & RaceCell::kSplit);
      for (std::uint32_t rest = words & (words - 1); rest && alike; rest &= rest - 1) {
        const RaceCell& cell = cells[first + static_cast<unsigned>(std::countr_zero(rest))];
        const AccessRange* r = cell.by_class;
        // (The smallest access of an empty class is all ones.)
        alike = !(cell.marks & RaceCell::kSplit) &&
                !(static_cast<std::uint32_t>(m[0].smallest ^ r[0].smallest) |
                  static_cast<std::uint32_t>(m[1].smallest ^ r[1].smallest) |
                  static_cast<std::uint32_t>(m[2].smallest ^ r[2].smallest));
      }
      const std::size_t row = offset + 4 * first;
      if (alike && visit.row(row, words, use_of(model))) continue;
      for (std::uint32_t rest = words; rest; rest &= rest - 1) {
        const auto word = static_cast<unsigned>(std::countr_zero(rest));
        visit.word(row + 4 * word, use_of(cells[first + word]));
      }
    }
  });
}

void RaceDetector::end_interval(HazardTable& hazards, std::uint64_t block, bool block_ends,
                                std::string (*name_of)(std::uintptr_t address)) {
  settle_writes();
  for (const auto& [cell, conflict] : conflicts_) {
    const std::string array = name_of(conflict.address);
    const bool is_global = space_of(conflict.address) == Space::global;
    auto report = [&](Hazard hazard, const Pair& pair, const char* verb, const char* relation,
                      bool beside_atomic = false) {
      if (!pair.found()) return;
      HazardKey key{hazard, access_pc(pair.first), access_pc(pair.second), array,
                    verb + array + ", which"};
      HazardRecord& record = hazards[key];
      const unsigned first = access_thread(pair.first), second = access_thread(pair.second);
      record.add(block, first, second, relation);
      record.beside_atomic |= beside_atomic;
      record.prescribe(is_global                   ? Remedy::global
                       : first >> 5 == second >> 5 ? Remedy::lanes
                                                   : Remedy::block);
    };
    if (conflict.values_differ) {
      report(Hazard::race, conflict.write_write, "writes ",
             "is also written, without a barrier between, by");
    } else {
      report(Hazard::same_value_write, conflict.write_write, "writes ", "is also written by");
    }
    report(Hazard::race, conflict.write_read, "writes ", "is read, without a barrier between, by");
    report(Hazard::race, conflict.atomic_write, "updates atomically ",
           "is written without an atomic, and without a barrier between, by");
    report(is_global ? Hazard::read_beside_atomic : Hazard::race, conflict.atomic_read,
           "updates atomically ", "is read without an atomic, and without a barrier between, by",
           true);
    report(Hazard::unfinished_copy, conflict.early_read, "reads ",
           "an asynchronous copy may not have filled yet, started by");
    report(Hazard::unfinished_copy, conflict.early_write, "writes ",
           "an asynchronous copy may not have filled yet, started by");
    report(Hazard::unfinished_copy, conflict.early_source_write, "writes ",
           "an asynchronous copy may not have read yet, started by");
  }
  if (in_cluster.cluster && launch_) tell_cluster(hazards);
  if (launch_) tell_launch();
  ++interval_of_block;
  conflicts_.clear();
  if (!released_.empty()) released_.clear();
  if (!bytes_.empty()) bytes_.clear();
  global.end_interval();
  ++interval;
  if (block_ends) {
    flights_.clear();
  } else if (!flights_.empty()) {
    carry_flights();
  }
}

}  // namespace simt
