// What a program puts on streams (kernels, copies, memsets), and what orders it.
//
// All is done before a call returns, but a GPU does it later: two operations that touch the same bytes, of which one
// writes, must be ordered by something, and so must an operation and the host. A stream has a clock: up to which
// operation of every other stream its next one comes after. An operation that the host has not waited for keeps which
// bytes it touched; later ones that are not ordered behind it are compared with that. Memory that host code may touch is
// closed to it as long as such an operation has touched it.
//
// Nothing is remembered in a program that cannot make streams, before it has memory that host and device share. All of
// this is called under turn(), but for Operation::touch.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "common/simt/simt.hpp"

namespace simt::cudart::timeline {

using Number = std::uint32_t;             // of an operation, from 1 on
using Clock = std::vector<Number>;        // by stream
inline constexpr int kLegacyDefault = 0;  // the first device's stream that is always there

/// From now on operations are remembered: there is memory that host and device share.
void begin();
/// Of the current device.
int create_stream(bool is_non_blocking);
/// The one that is always there.
int default_stream(int device);
void destroy_stream(int stream);
/// Whether what comes on one of them waits for what was put on the other before.
bool are_in_order(int one, int other);
/// Whether some stream may be there, or be made, whose work does not wait for what is on this one.
bool may_be_beside(int stream);

/// All that is on the stream now, as an event keeps it.
Clock record(int stream);
/// What comes on the stream now waits for that.
void wait(int stream, const Clock& clock);
/// What is issued to blocking streams later comes after what was issued before: the implicit order of an allocation.
void order_blocking_streams();
/// The host has waited.
void host_waited_for(const Clock& clock);
void host_waited_for(int stream);
void host_waited_for_all();
void host_waited_for_device(int device);
/// How often it has.
std::uint64_t host_waits();
/// Whether there is something there that it has not waited for.
bool is_unfinished(const Clock& clock);
bool is_unfinished(int stream);
/// Memory that is given back.
void forget(std::uint64_t address, std::size_t bytes);

/// While the program's function runs in its turn of a stream, what comes before it there is over for it.
class HostTask {
 public:
  explicit HostTask(int stream);
  ~HostTask();
  HostTask(const HostTask&) = delete;
  HostTask& operator=(const HostTask&) = delete;

 private:
  Clock before_;
};

/// Updates are atomic: they need no order among themselves. Polls and tells are reads and writes that are atomic to the host
/// too, whose own may be.
enum class Touch : std::uint8_t { reads, writes, updates, polls, tells };
inline constexpr std::size_t kTouches = 5;

/// Bytes that were touched, by page.
class Footprint {
 public:
  static constexpr std::size_t kPageBytes = 4096;
  using Bits = std::array<std::uint64_t, kPageBytes / 64>;
  struct Page {
    std::array<std::unique_ptr<Bits>, kTouches> touched;  // by Touch
    /// Whether any of so many bytes from the page's `first` on was.
    bool has(std::size_t first, std::size_t bytes, Touch touch) const;
  };

  void add(std::uint64_t address, std::size_t bytes, Touch touch);
  /// Whether what is done to these bytes conflicts with it, and what that did.
  bool conflicts(std::uint64_t address, std::size_t bytes, Touch touch, Touch& its) const;
  /// Whether any of these bytes, of one page, was touched so.
  bool has(std::uint64_t address, std::size_t bytes, Touch touch) const;
  void forget(std::uint64_t address, std::size_t bytes);
  const std::unordered_map<std::uint64_t, Page>& pages() const { return pages_; }

 private:
  std::unordered_map<std::uint64_t, Page> pages_;
  std::uint64_t last_number_ = UINT64_MAX;
  Page* last_ = nullptr;
  std::uint64_t least_ = UINT64_MAX, beyond_ = 0;
};

/// An operation while it runs. An early kernel may begin before the kernel just before it on its stream has ended: only
/// what a thread does after it has waited comes after that one.
class Operation {
 public:
  enum class Kind : std::uint8_t { copy, kernel, early_kernel };
  /// `name` is the function of the runtime, or the kernel.
  Operation(int stream, std::string name, Kind kind = Kind::copy);
  ~Operation();
  Operation(const Operation&) = delete;
  Operation& operator=(const Operation&) = delete;

  /// False: nothing has to be told to it.
  bool remembers() const { return number_ != 0; }
  /// Threads may run before kernels on its own stream have ended.
  bool is_early() const { return early_from_ != 0; }
  /// Of an early kernel: the next one on its stream may begin before all threads have waited for those before it.
  void hurries() { hurries_ = true; }
  /// Of any kernel: the next one on its stream may begin before all its threads have ended.
  void lets_next_begin() { lets_next_begin_ = true; }
  /// One of its atomics is so to the device only: host code's have to wait.
  void updates_for_device() { updates_for_device_ = true; }
  /// It goes on while the host does: what comes later may know from the host what it has done, and is not compared with it.
  void waits_for_host() { waits_for_host_ = true; }
  /// It goes on after others have run.
  void goes_on();
  /// It will touch the same once more.
  void begin_again() { early_.clear(); }
  /// `site` says where, to findings(). `has_waited`: for what is before it on its stream. Any thread.
  void touch(std::uint64_t address, std::size_t bytes, Touch touch, std::int32_t site = -1,
             bool has_waited = true);
  /// A kernel's threads ask a flag there, or tell others by one. Who asks comes after those on other streams that have
  /// told. Any thread.
  void asks(std::uint64_t address, std::size_t bytes);
  void tells(std::uint64_t address, std::size_t bytes);
  /// What it touched too early. line_of(site) is where; without it the line of the call.
  using LineOf = std::function<std::pair<std::string, int>(std::int32_t site)>;
  std::vector<Finding> findings(const LineOf& line_of = nullptr) const;

 private:
  struct Early {
    std::uint64_t address = 0;
    std::uint64_t count = 0;
  };
  std::vector<Number> rivals_on(std::uint64_t page, Touch touch) const;

  Number number_ = 0;
  int stream_ = kLegacyDefault;
  bool is_copy_;
  std::string name_;
  Number early_from_ =
      0;  // of those on its stream, from here on they may not have ended; 0: all have
  bool hurries_ = false, lets_next_begin_ = false, updates_for_device_ = false;
  bool waits_for_host_ = false;
  std::mutex mutex_;
  Footprint footprint_;
  Footprint told_;
  std::vector<Number> rivals_;  // that nothing orders before it
  std::map<std::tuple<std::int32_t, Touch, Number, Touch>, Early> early_;
};

/// The last operation of each stream that neither the host nor the default stream has waited for: whoever reads its results
/// next reads too early.
std::vector<Finding> unjoined();

/// Host code touches memory that is closed to it: tells if it should have waited, and opens it. False if no operation
/// has closed it.
bool host_touches(std::uint64_t address, Touch touch);

}  // namespace simt::cudart::timeline
