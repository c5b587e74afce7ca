// What a program puts on streams (kernels, copies, memsets) and what orders it.
//
// All is done before a call returns, but a GPU does it later: two operations that touch the same bytes
// and of which one writes must be ordered by something, as must an operation and the host. Each stream
// has a clock, which says up to which operation of every other stream its next one comes after: a vector
// clock. Every word that an operation touches remembers the last that wrote and the last that read it,
// so that the next one can ask. Edges: one stream, the legacy default stream and blocking streams,
// events, and what the host has waited for, whichever of its threads it was.
//
// Nothing is remembered in a program that makes no streams, before host and device share memory: until
// then everything is in order.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "common/simt/simt.hpp"

namespace simt {
namespace streams {

using Number = std::uint32_t;             // of an operation, from 1 on
using Clock = std::vector<Number>;        // by stream
inline constexpr int kLegacyDefault = 0;  // the stream that is always there

void remember_from_the_start();  // the program may have streams
int create(bool non_blocking);   // a new stream
void destroy(int stream);
int of_this_thread();  // cudaStreamPerThread
void reset();

// From now on there are events, which the host may wait for.
void use_events();
// From now on host and device share memory.
void share_memory();
// Memory that is given back: nothing touches it any more.
void forget(std::uintptr_t address, std::size_t bytes);

// Everything that is on the stream now, as an event keeps it.
Clock record(int stream);
// What comes on the stream now waits for that.
void wait(int stream, const Clock& clock);
// Whether the host has waited for all that.
bool host_knows(const Clock& clock);
// The host has waited.
void host_waited_for(const Clock& clock);
void host_waited_for(int stream);
void host_waited_for_all();

// An operation as findings name it.
struct Party {
  std::string name;                    // "sum_kernel", "cudaMemcpyAsync"
  std::string stream;                  // "the default stream", "a non-blocking stream"
  std::uintptr_t program_counter = 0;  // in the call that put it there; 0 if unknown
};

// An operation while it runs. An early kernel may begin before the kernel just before it on its stream has
// ended: only what a thread does after it has waited comes after that one.
class Operation {
 public:
  enum class Kind { copy, kernel, early_kernel };
  Operation(int stream, const std::string& name, std::uintptr_t program_counter,
            Kind kind = Kind::copy);
  ~Operation();
  Operation(const Operation&) = delete;
  Operation& operator=(const Operation&) = delete;

  // False: nothing has to be told to it.
  bool remembers() const { return remembers_; }
  // The early kernel waits in all blocks, and lets the next one begin only after that: whatever came before
  // it has ended by then.
  void waits_before_next();
  bool is_on_its_stream(Number other) const;

 private:
  friend class Toucher;
  bool comes_after(Number other, bool has_waited) const;
  Number number_ = 0;
  bool remembers_ = false;
  int stream_ = 0;
  Clock known_;            // by stream: what comes before this
  Number all_before_ = 0;  // and all operations before this one
  Number early_from_ = 0;  // those of its stream from here on may not have ended; 0: all have
};

// What an operation does to bytes. Updates are atomic: they need no order among themselves.
enum class Touch : std::uint8_t { reads, writes, updates };
const char* verb(Touch touch);  // "reads"

// The last operations that touched a word: number * 16 + the bytes touched, or 0. Of several readers that
// nothing orders the others stand in `more`.
struct Page {
  static constexpr std::size_t kWords = 1024;
  struct Word {
    std::atomic<std::uint32_t> writer{0};
    std::atomic<std::uint32_t> reader{0};
    std::atomic<std::uint32_t> updater{0};
  };
  struct Readers {
    Number number;
    std::array<std::uint64_t, kWords / 64> words{};
  };
  std::array<Word, kWords> words;
  std::mutex mutex;
  std::atomic<bool> has_more{false};
  std::vector<Readers> more;
};
inline constexpr std::size_t kPageBytes = Page::kWords * 4;

// What one OS thread touches for an operation.
class Toucher {
 public:
  // Called with an operation that nothing orders before this one, and what that did to the bytes.
  using Report = std::function<void(Number other, Touch its)>;

  Toucher(const Operation& operation, Report report)
      : operation_(operation),
        report_(std::move(report)),
        own_(operation.number_),
        all_before_(operation.all_before_ << 4) {}
  // Whether the thread that touches has waited, as an early kernel's does.
  void set_waited(bool waited) { waited_ = waited; }
  void touch(std::uintptr_t address, std::size_t bytes, Touch touch) {
    if (!touch_simply(address, bytes, touch)) touch_any(address, bytes, touch);
  }

 private:
  // Whole words of the last page that nobody touches but who comes before. What was done before it
  // gives up may be done again.
  bool touch_simply(std::uintptr_t address, std::size_t bytes, Touch touch) {
    if (((address | bytes) & 3) != 0 || address / kPageBytes != page_index_ ||
        (address + bytes - 1) / kPageBytes != page_index_) {
      return false;
    }
    const std::uint32_t now = own_ << 4 | 15;
    const auto quiet = [&](const std::atomic<std::uint32_t>& entry) {
      const std::uint32_t last = entry.load(std::memory_order_relaxed);
      return last < all_before_ || last >> 4 == own_;
    };
    Page::Word* word = &page_->words[address % kPageBytes / 4];
    for (; bytes > 0; bytes -= 4, ++word) {
      std::atomic<std::uint32_t>& entry = touch == Touch::reads    ? word->reader
                                          : touch == Touch::writes ? word->writer
                                                                   : word->updater;
      // This operation has asked already, and nothing was wrong.
      if (entry.load(std::memory_order_relaxed) == now) continue;
      if (!quiet(word->writer) || !quiet(word->updater) || !quiet(word->reader) ||
          page_->has_more.load(std::memory_order_relaxed)) {
        return false;
      }
      entry.store(now, std::memory_order_relaxed);
    }
    return true;
  }
  void touch_any(std::uintptr_t address, std::size_t bytes, Touch touch);
  bool comes_after(Number other);
  bool ask(std::uint32_t entry, unsigned mask, Touch its);  // false: it was reported
  const Operation& operation_;
  Report report_;
  bool waited_ = true;
  Number own_;
  std::uint32_t all_before_;      // as entries of words
  Number known_before_[16] = {};  // some that were found to come before
  Page* page_ = nullptr;
  std::uintptr_t page_index_ = ~std::uintptr_t{0};
};

Party party(Number operation);

// What an operation or the host does too early, as a finding. `does` says it: "cudaMemcpy reads",
// "the host writes". `program_counter` lies in the call or at the access.
Finding too_early(const std::string& does, const std::string& array, std::uintptr_t program_counter,
                  Number other, Touch its, std::uint64_t times);
// The same for a kernel that nothing waits for.
Finding unjoined_finding(Number operation);

// True while the host may touch something too early: it shares memory with the device, and has not
// waited for all operations.
extern std::atomic<bool> host_may_be_early;
// The host touches bytes: the operation for which it should have waited, or 0, and what that did.
Number not_waited_for(std::uintptr_t address, std::size_t bytes, bool writes, Touch& its);

// Operations for which neither the host nor anything on the legacy default stream would wait now: the
// last one of each stream.
std::vector<Number> unjoined();

}  // namespace streams
}  // namespace simt
