// Races between the blocks of a launch.
//
// When an interval of a block ends, each word of global memory that it touched is entered here, with
// the first place of its code (by thread) that read, wrote or updated it. Nearly all words are only
// read, or touched by one block, or only updated by atomics, and as a rule so are the words beside
// them: a row of 32 words has one entry for all, until they differ; then each has 16 bytes. A word that
// is none of these gets a record, which keeps of each class of access the smallest and the largest
// block. All are sets; but which values meet, who comes last and who waits for whom does depend on which
// block ran first. Where that may be, order_matters() says so, and the launch is run in grid order.
//
// Blocks can hand data on, by a fence and an atomic or volatile store on the one side and an atomic or
// volatile load of the same word on the other. These stores and loads are kept in the order in which
// they happened; of two accesses, one comes before the other if such a chain leads from it to the
// other. A launch in which nobody fences has none.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <set>
#include <unordered_map>
#include <vector>

#include "common/simt/runtime/cluster.hpp"
#include "common/simt/runtime/findings.hpp"
#include "common/simt/runtime/races.hpp"

namespace simt {

class LaunchRaces {
 public:
  // `bytes` of addresses from the start of the device's memory.
  explicit LaunchRaces(std::size_t bytes);
  static constexpr unsigned kRowWords = 32;
  // For each launch of more than one block. Its blocks are numbered by their position in `order`; those
  // of one cluster count as one here. False: there are too many blocks to look.
  bool begin(std::uint64_t blocks, const ClusterOrder& order);

  // Enters the words of one interval. Keeps others out of the neighbourhood of the last one.
  class Visit {
   public:
    // `interval` counts the block's intervals from 0.
    Visit(LaunchRaces& races, std::uint32_t block, std::uint32_t interval);
    ~Visit() { leave(); }
    Visit(const Visit&) = delete;
    // `offset` is the word's in the range.
    void word(std::size_t offset, const WordUse& use);
    // The same for those of a row that `words` has bits for. False if they must come one by one.
    bool row(std::size_t offset, std::uint32_t words, const WordUse& use);

   private:
    struct Row* row_at(std::size_t offset);
    void leave();
    LaunchRaces& races_;
    std::uint32_t block_, interval_;
    bool handing_on_;  // the block has taken part in handing data on
    std::size_t page_ = SIZE_MAX;
    struct Row* rows_ = nullptr;
    std::atomic_flag* lock_ = nullptr;
  };

  // A lane of the block stores to the word after it has fenced in epoch `fenced`, or loads it.
  void release(std::uintptr_t word, std::uint32_t block, std::uint32_t interval, AccessId id,
               std::uint32_t fenced, const LaneClock& clock);
  // True if there was something to take over.
  bool acquire(std::uintptr_t word, std::uint32_t block, std::uint32_t interval, AccessId id);
  // How often something was released.
  std::uint32_t releases() const { return releases_.load(std::memory_order_acquire); }

  // Whether data were handed on from the one access to the other, of two blocks of a cluster.
  bool handed_on(std::uint64_t from, std::uint32_t from_interval, AccessId from_id,
                 std::uint64_t to, std::uint32_t to_interval, AccessId to_id, std::uintptr_t word);

  // After the launch. True if what a block did may have depended on when another ran: it touched what
  // another wrote, or wrote what another touched, or took over what it handed on.
  bool order_matters() const;
  // After the launch. Plain reads beside atomics are not settled yet (races.hpp).
  void report(HazardTable& hazards, std::string (*name_of)(std::uintptr_t));

 private:
  static constexpr std::size_t kPageRows = 2;
  static constexpr std::size_t kPageBytes = 4 * kRowWords * kPageRows;
  static constexpr std::size_t kLocks = 256;
  static constexpr std::size_t kRecordsPerPiece = 256;

  // One access that stands for many.
  struct Access {
    std::uint32_t block = 0;
    std::uint32_t interval = 0;
    AccessId id = 0;         // of thread, epoch and program counter; 0: there is none
    std::uint8_t bytes = 0;  // of the word, all that the block touched
    bool early = false;      // from before the block took part in handing data on
  };
  struct Record {
    std::uintptr_t address = 0;
    Access by_class[3][2];    // smallest and largest block
    std::uint32_t value = 0;  // what the last writer left
    std::uint32_t writer = 0;
    std::uint8_t written = 0;
    bool values_differ = false;
  };
  // A store that hands on, or the load.
  struct Event {
    std::uintptr_t word;
    std::uint32_t block;
    std::uint32_t interval;
    AccessId id;
    std::uint32_t fenced;  // 0: a load
    std::array<std::uint32_t, 32> warp;
  };

  // Room that is taken bit by bit during a launch and used again in the next.
  template <class T, std::size_t each>
  class Pool {
   public:
    static constexpr std::size_t kChunk = 1024, kChunks = 1024;
    std::uint32_t take() { return used_.fetch_add(1, std::memory_order_relaxed); }
    T* at(std::uint32_t number);  // null: there is no more
    void clear() { used_ = 0; }

   private:
    std::atomic<std::uint32_t> used_{0};
    std::unique_ptr<std::atomic<T*>[]> chunks_ { new std::atomic<T*>[ kChunks ]() };
  };

  bool together(std::uint32_t a, std::uint32_t b) const {
    return a == b || (order_.size() > 1 && a / order_.size() == b / order_.size());
  }
  Row* rows_of(std::size_t page);
  struct Slot* spread(Row& row);  // the words of a row, each by itself
  const Record& record(std::size_t number) const {
    return records_[number / kRecordsPerPiece][number % kRecordsPerPiece];
  }
  Record* new_record(Slot& slot, std::uintptr_t address);
  void enter(Record& record, int access_class, const Access& access, std::uint32_t value);
  ClusterOrder order_;
  static bool covered(const Access& access, const Event& release, bool on_word);
  static bool follows(const Access& access, const Event& acquire, bool on_word);
  bool leads_by_events(const Access& from, const Access& to, std::uintptr_t word);
  bool leads(const Access& from, const Access& to, std::uintptr_t word);  // both to this word
  bool ordered(const Access& a, const Access& b, std::uintptr_t word);    // either way

  struct Entry {
    std::uint32_t launch;
    std::uint32_t page;
  };
  Entry* directory_ = nullptr;
  std::uint32_t launch_ = 0;
  Pool<Row, kPageRows> pages_;
  Pool<Slot, kRowWords> slots_;
  std::atomic_flag locks_[kLocks];

  std::mutex records_mutex_;
  std::vector<std::unique_ptr<Record[]>> records_;
  std::size_t records_used_ = 0;

  std::mutex events_mutex_;
  std::atomic<std::uint32_t> releases_{0};
  bool taken_over_ = false;  // by another block, what one released
  std::vector<Event> events_;
  std::unordered_map<std::uint32_t, std::vector<std::uint32_t>> events_of_;  // by block
  struct Released {
    std::uint32_t last;     // number of the event
    std::uint32_t only_by;  // the block, UINT32_MAX: several
  };
  std::unordered_map<std::uintptr_t, Released> last_release_;  // by word
  std::uint64_t steps_left_ = 0;                               // for the search of chains
};

}  // namespace simt
