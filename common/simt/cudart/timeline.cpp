#include "common/simt/cudart/timeline.hpp"

#include <elf.h>
#include <link.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <string_view>
#include <thread>
#include <utility>

#include "common/simt/checker/hazards.hpp"
#include "common/simt/cudart/allocations.hpp"
#include "common/simt/cudart/calls.hpp"
#include "common/simt/cudart/devices.hpp"
#include "common/simt/cudart/host_access.hpp"
#include "common/simt/cudart/host_lines.hpp"
#include "common/simt/cudart/record.hpp"
#include "common/simt/cudart/recording.hpp"
#include "common/simt/cudart/settings.hpp"
#include "common/simt/cudart/waiting.hpp"

namespace simt::cudart::timeline {
namespace {

// That are kept at a time, and pages that they have touched: what a program does not wait for is forgotten in the end.
constexpr std::size_t kMostOperations = 4096;
constexpr std::size_t kMostPages = std::size_t{1} << 18;

// Whether a loaded object asks for functions of this name: of its dynamic symbols those that it does not have itself come
// first (the GNU hash table begins behind them).
int asks_for(dl_phdr_info* info, std::size_t, void* begin_of_name) {
  const ElfW(Sym)* symbols = nullptr;
  const char* names = nullptr;
  const std::uint32_t* hash = nullptr;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    if (info->dlpi_phdr[i].p_type != PT_DYNAMIC) continue;
    const auto* one =
        reinterpret_cast<const ElfW(Dyn)*>(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
    for (; one->d_tag != DT_NULL; ++one) {
      // Some loaders leave addresses as they are in the file.
      const std::uintptr_t at =
          one->d_un.d_ptr < info->dlpi_addr ? one->d_un.d_ptr + info->dlpi_addr : one->d_un.d_ptr;
      if (one->d_tag == DT_SYMTAB) symbols = reinterpret_cast<const ElfW(Sym)*>(at);
      if (one->d_tag == DT_STRTAB) names = reinterpret_cast<const char*>(at);
      if (one->d_tag == DT_GNU_HASH) hash = reinterpret_cast<const std::uint32_t*>(at);
    }
  }
  if (symbols == nullptr || names == nullptr || hash == nullptr) return 0;
  for (std::uint32_t i = 1; i < hash[1]; ++i) {
    if (std::string_view(names + symbols[i].st_name)
            .starts_with(static_cast<const char*>(begin_of_name))) {
      return 1;
    }
  }
  return 0;
}

bool program_asks_for(const char* begin_of_name) {
  return dl_iterate_phdr(&asks_for, const_cast<char*>(begin_of_name)) != 0;
}

struct Stream {
  bool is_non_blocking = false;
  bool is_live = true;
  Number last = 0;  // its last operation
  Clock clock;      // what its next one comes after
  // Where that is an early kernel, those from here on may not have ended; 0: all have.
  Number early_from = 0;
  int device = 0;
};

struct Known {
  Number number = 0;
  int stream = 0;
  std::string name;
  std::vector<std::uintptr_t> callers;
  Footprint footprint;
  bool is_copy = false;
  Footprint told = {};           // what is written there tells others
  bool lets_next_begin = false;  // an early kernel, before its threads have ended
  bool updates_for_device = false;
};

// Operations that have touched a page, by Touch.
using ByTouch = std::array<std::vector<Number>, kTouches>;

struct State {
  bool remembers = false;
  bool shares_memory = false;
  bool only_early =
      false;  // it remembers since there was an early kernel, until the host has waited
  std::uint64_t waits = 0;  // of the host
  Number last = 0;
  std::vector<Stream> streams{Stream{}};
  std::vector<int> defaults{kLegacyDefault};  // by device
  Clock host;                                 // what it has waited for
  Clock heard;                                // and what has told it something, as far as it goes
  // What came before functions of the program that have run in their turn of a stream, by the thread that put them there:
  // they may have told other threads.
  std::map<std::thread::id, Clock> tasks;
  std::map<Number, Known> open;                        // operations that it has not waited for
  std::size_t pages = 0;                               // that these have touched
  std::unordered_map<std::uint64_t, ByTouch> on_page;  // and which of them each, and how
  // Of the operation that runs: which of its rivals have touched a page in a way that conflicts with its own
  // and what was asked for last.
  std::unordered_map<std::uint64_t, std::vector<Number>> rivals_on;
  std::uint64_t last_key = UINT64_MAX;
  const std::vector<Number>* rivals_there = nullptr;
  std::map<std::uint64_t, memory::HostAccess> closed;   // pages
  std::set<std::tuple<std::string, int, Number>> told;  // of host code: lines and operations
};
State& state() {
  static State& instance = []() -> State& {
    State& made = *new State;
    // A kernel before the first early one is one to remember, too. (The course's programs, which read findings, launch
    // many that are not: they begin at the early one.)
    made.remembers = !is_recording() && (settings().checks & kCheckRaces) != 0 &&
                     (program_asks_for("cudaStreamCreate") ||
                      (!program_reads_findings() && program_asks_for("cudaLaunchKernelEx")));
    return made;
  }();
  return instance;
}

Number at(const Clock& clock, int stream) {
  const auto i = static_cast<std::size_t>(stream);
  return i < clock.size() ? clock[i] : 0;
}
void raise(Clock& clock, int stream, Number number) {
  const auto i = static_cast<std::size_t>(stream);
  if (clock.size() <= i) clock.resize(i + 1, 0);
  clock[i] = std::max(clock[i], number);
}
void join(Clock& into, const Clock& from) {
  for (std::size_t i = 0; i < from.size(); ++i) raise(into, static_cast<int>(i), from[i]);
}
Stream& stream_at(int number) { return state().streams[static_cast<std::size_t>(number)]; }

bool is_default(int stream) { return stream == default_stream(stream_at(stream).device); }

// What a device's default stream and its blocking ones wait for without being told.
void wait_implicitly(int stream) {
  const int first = default_stream(stream_at(stream).device);
  Stream& own = stream_at(stream);
  if (own.is_non_blocking) return;
  const auto all_of = [&](int other) {
    raise(own.clock, other, stream_at(other).last);
    join(own.clock, Clock(stream_at(other).clock));
  };
  if (stream != first) {
    all_of(first);
    return;
  }
  for (int other = 0; other < static_cast<int>(state().streams.size()); ++other) {
    const Stream& its = stream_at(other);
    if (other != first && its.device == own.device && !its.is_non_blocking) all_of(other);
  }
}

Number add(int stream) {
  wait_implicitly(stream);
  return stream_at(stream).last = ++state().last;
}

const char* verb(Touch touch) {
  if (touch == Touch::updates) return "updates";
  return touch == Touch::writes || touch == Touch::tells ? "writes" : "reads";
}

std::string name_of(int stream) {
  if (is_default(stream)) {
    const int device = stream_at(stream).device;
    return device == 0 ? "the default stream"
                       : "the default stream of device " + std::to_string(device);
  }
  return stream_at(stream).is_non_blocking ? "a non-blocking stream" : "another stream";
}

std::string name_of_memory(std::uint64_t address) {
  const Block* const block = block_at(address);
  return block == nullptr ? "memory" : block->name();
}

// ---- Operations that are open ----

const Known* known_operation(Number number) {
  const auto its = state().open.find(number);
  return its == state().open.end() ? nullptr : &its->second;
}

void has_touched(const Known& one) {
  State& s = state();
  for (const auto& [number, page] : one.footprint.pages()) {
    for (std::size_t i = 0; i < page.touched.size(); ++i) {
      if (page.touched[i] != nullptr) s.on_page[number][i].push_back(one.number);
    }
  }
  s.pages += one.footprint.pages().size();
}

// It leaves the open ones.
void is_over(const Known& one) {
  State& s = state();
  for (const auto& [number, page] : one.footprint.pages()) {
    ByTouch& there = s.on_page[number];
    bool is_anyone = false;
    for (std::vector<Number>& all : there) {
      std::erase(all, one.number);
      is_anyone |= !all.empty();
    }
    if (!is_anyone) s.on_page.erase(number);
  }
  s.pages -= one.footprint.pages().size();
}

const ByTouch& operations_on(std::uint64_t page) {
  static const ByTouch none;
  const auto found = state().on_page.find(page);
  return found == state().on_page.end() ? none : found->second;
}

// ---- Pages that are closed to the host ----

// What the host may do with a page, as far as it goes by operations that it has not waited for.
memory::HostAccess allowed(std::uint64_t page) {
  const auto& [reads, writes, updates, polls, tells] = operations_on(page);
  if (!writes.empty() || !updates.empty() || !tells.empty()) return memory::HostAccess::none;
  return reads.empty() ? memory::HostAccess::all : memory::HostAccess::reads;
}

void set_access(std::uint64_t page, memory::HostAccess access) {
  watch_host_accesses();
  arena().let_host(page * Footprint::kPageBytes, Footprint::kPageBytes, access);
  if (access == memory::HostAccess::all) {
    state().closed.erase(page);
  } else {
    state().closed[page] = access;
  }
}

void close_pages(const Footprint& footprint) {
  if (!state().shares_memory) return;
  for (const auto& [page, touched] : footprint.pages()) {
    const std::uint64_t begin = page * Footprint::kPageBytes;
    if (!arena().contains(begin) || !arena().is_open(begin)) continue;
    const memory::HostAccess access = allowed(page);
    const auto found = state().closed.find(page);
    if (found == state().closed.end() || found->second != access) set_access(page, access);
  }
}

void open_pages() {
  const std::map<std::uint64_t, memory::HostAccess> closed = state().closed;
  for (const auto& [page, access] : closed) {
    if (const memory::HostAccess now = allowed(page); now != access) set_access(page, now);
  }
}

// What the host has waited for is over.
void settle() {
  State& s = state();
  const std::size_t before = s.open.size();
  std::erase_if(s.open, [&](const auto& each) {
    const auto& [number, one] = each;
    const bool has_ended = number <= at(s.host, one.stream);
    if (has_ended) is_over(one);
    return has_ended;
  });
  if (s.open.size() != before) open_pages();
  if (s.only_early && s.open.empty()) s.remembers = s.only_early = false;
}

// ---- Findings ----

std::string place_of(const HostLine& line) {
  return line.line == 0 ? "" : " at " + line.file + ":" + std::to_string(line.line);
}

Finding finding_of(const std::string& does, std::uint64_t address, std::pair<std::string, int> line,
                   const Known& other, Touch its, std::uint64_t count, Hazard hazard,
                   const char* what_to_do) {
  const HostLine there = line_of_call(other.callers);
  Finding finding;
  finding.kind = hazard_name(hazard);
  std::tie(finding.file, finding.line) = std::move(line);
  finding.other_file = there.file;
  finding.other_line = there.line;
  finding.array = name_of_memory(address);
  finding.count = count;
  finding.message = does + " " + finding.array + ", and nothing orders that after " + other.name +
                    " on " + name_of(other.stream) + ", which " + verb(its) + " it" +
                    place_of(there) + ". " + what_to_do;
  return finding;
}

std::pair<std::string, int> line_of_caller() {
  const HostLine line = line_of_call(callers_of_runtime());
  return {line.file, line.line};
}

}  // namespace

// ---- Streams ----

namespace {

void remember_from_now_on() {
  state().remembers = (settings().checks & kCheckRaces) != 0;
  state().only_early = false;
}

}  // namespace

void begin() {
  if (is_recording()) return note_shared_memory();
  remember_from_now_on();
  state().shares_memory = true;
}

int create_stream(bool is_non_blocking) {
  if (is_recording()) return note_stream(is_non_blocking);
  State& s = state();
  remember_from_now_on();
  // One that is gone and waited for has its number again.
  std::size_t number = 1;
  while (number < s.streams.size() &&
         (s.streams[number].is_live ||
          s.streams[number].last > at(s.host, static_cast<int>(number)))) {
    ++number;
  }
  if (number == s.streams.size()) s.streams.emplace_back();
  s.streams[number] = {is_non_blocking, true, s.streams[number].last, {}, 0, current_device()};
  return static_cast<int>(number);
}

int default_stream(int device) {
  State& s = state();
  while (static_cast<int>(s.defaults.size()) <= device) {
    s.defaults.push_back(static_cast<int>(s.streams.size()));
    s.streams.emplace_back().device = static_cast<int>(s.defaults.size()) - 1;
  }
  return s.defaults[static_cast<std::size_t>(device)];
}

bool are_in_order(int one, int other) {
  if (one == other) return true;
  const Stream &a = stream_at(one), &b = stream_at(other);
  return a.device == b.device && !a.is_non_blocking && !b.is_non_blocking &&
         (is_default(one) || is_default(other));
}

bool may_be_beside(int stream) {
  if (settings().devices > 1 || !is_default(stream)) return true;
  const std::vector<Stream>& all = state().streams;
  return std::any_of(all.begin(), all.end(),
                     [](const Stream& one) { return one.is_live && one.is_non_blocking; }) ||
         program_asks_for("cudaStreamCreateWith");
}

void destroy_stream(int stream) {
  if (is_recording()) return note_end_of_stream(stream);
  stream_at(stream).is_live = false;
}

// Where it is noted, a clock is the number of the event.
Clock record(int stream) {
  if (is_recording()) return {note_event(stream)};
  if (!state().remembers) return {};
  // Blocking streams wait for an event of the default stream as well.
  if (is_default(stream)) add(stream);
  wait_implicitly(stream);
  stream_at(stream).early_from = 0;
  Clock clock = stream_at(stream).clock;
  raise(clock, stream, stream_at(stream).last);
  return clock;
}

void wait(int stream, const Clock& clock) {
  // Of a graph that is launched for the first time there is nothing to wait for.
  if (is_recording()) return clock.empty() ? void() : note_wait(stream, clock.front());
  if (!state().remembers) return;
  wait_implicitly(stream);
  join(stream_at(stream).clock, clock);
  stream_at(stream).early_from = 0;
  if (is_default(stream)) add(stream);
}

void order_blocking_streams() {
  if (is_recording()) return note_order_of_blocking_streams();
  if (state().remembers) add(default_stream(current_device()));
}

void host_waited_for(const Clock& clock) {
  ++state().waits;
  if (is_recording()) return clock.empty() ? void() : note_host_waits(clock.front());
  if (!state().remembers) return;
  join(state().host, clock);
  settle();
}
void host_waited_for(int stream) {
  waiting::finish_stream(stream);
  host_waited_for(record(stream));
}

namespace {

template <class Is>
void host_waited_for_those(Is is) {
  waiting::finish_all();
  State& s = state();
  ++s.waits;
  if (is_recording()) return note_host_waits_for_all();
  if (!s.remembers) return;
  for (int i = 0; i < static_cast<int>(s.streams.size()); ++i) {
    if (is(stream_at(i))) raise(s.host, i, stream_at(i).last);
  }
  settle();
}

}  // namespace

void host_waited_for_all() {
  host_waited_for_those([](const Stream&) { return true; });
}
void host_waited_for_device(int device) {
  host_waited_for_those([device](const Stream& one) { return one.device == device; });
}

bool is_unfinished(const Clock& clock) {
  return std::ranges::any_of(state().open, [&](const auto& each) {
    const auto& [number, one] = each;
    const auto stream = static_cast<std::size_t>(one.stream);
    return stream < clock.size() && number <= clock[stream];
  });
}
bool is_unfinished(int stream) {
  if (is_recording()) return false;
  wait_implicitly(stream);
  Clock clock = stream_at(stream).clock;
  raise(clock, stream, stream_at(stream).last);
  return is_unfinished(clock);
}

std::uint64_t host_waits() { return state().waits; }

void forget(std::uint64_t address, std::size_t bytes) {
  State& s = state();
  for (auto& [number, one] : s.open) one.footprint.forget(address, bytes);
  const std::uint64_t first = address / Footprint::kPageBytes;
  const std::uint64_t last = (address + bytes + Footprint::kPageBytes - 1) / Footprint::kPageBytes;
  s.closed.erase(s.closed.lower_bound(first), s.closed.lower_bound(last));
}

HostTask::HostTask(int stream) : before_(state().host) {
  if (is_recording()) {
    note_host_task(stream);
    return;
  }
  const Clock clock = record(stream);
  join(state().host, clock);
  join(state().tasks[std::this_thread::get_id()], clock);
  // Pages of what is over for it open.
  const std::map<std::uint64_t, memory::HostAccess> closed = state().closed;
  for (const auto& [page, access] : closed) set_access(page, memory::HostAccess::all);
  for (const auto& [number, one] : state().open) {
    if (one.number > at(state().host, one.stream)) close_pages(one.footprint);
  }
}

HostTask::~HostTask() {
  if (is_recording()) {
    note_end_of_host_task();
    return;
  }
  state().host = std::move(before_);
  for (const auto& [number, one] : state().open) close_pages(one.footprint);
}

// ---- Footprints ----

namespace {

// Reads do not conflict with reads, nor updates with updates.
bool do_conflict(Touch one, Touch other) {
  const auto is_read = [](Touch touch) { return touch == Touch::reads || touch == Touch::polls; };
  if (is_read(one) && is_read(other)) return false;
  return one != Touch::updates || other != Touch::updates;
}

// Calls visit(word, mask) for each word of bits of a range that lies in one page.
template <class Visit>
void for_each_word(std::size_t first, std::size_t bytes, Visit visit) {
  while (bytes != 0) {
    const std::size_t in_word = first % 64, here = std::min(64 - in_word, bytes);
    const std::uint64_t all = here == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << here) - 1;
    visit(first / 64, all << in_word);
    first += here;
    bytes -= here;
  }
}

}  // namespace

void Footprint::add(std::uint64_t address, std::size_t bytes, Touch touch) {
  least_ = std::min(least_, address);
  beyond_ = std::max(beyond_, address + bytes);
  while (bytes != 0) {
    const std::uint64_t number = address / kPageBytes;
    if (number != last_number_) {
      last_ = &pages_[number];
      last_number_ = number;
    }
    std::unique_ptr<Bits>& bits = last_->touched[static_cast<std::size_t>(touch)];
    if (bits == nullptr) bits = std::make_unique<Bits>();
    const std::size_t first = address % kPageBytes, here = std::min(kPageBytes - first, bytes);
    for_each_word(first, here,
                  [&](std::size_t word, std::uint64_t mask) { (*bits)[word] |= mask; });
    address += here;
    bytes -= here;
  }
}

bool Footprint::Page::has(std::size_t first, std::size_t bytes, Touch touch) const {
  const std::unique_ptr<Bits>& bits = touched[static_cast<std::size_t>(touch)];
  if (bits == nullptr) return false;
  std::uint64_t common = 0;
  for_each_word(first, bytes,
                [&](std::size_t word, std::uint64_t mask) { common |= (*bits)[word] & mask; });
  return common != 0;
}

bool Footprint::conflicts(std::uint64_t address, std::size_t bytes, Touch touch, Touch& its) const {
  if (address >= beyond_ || address + bytes <= least_) return false;
  while (bytes != 0) {
    const std::size_t first = address % kPageBytes, here = std::min(kPageBytes - first, bytes);
    const auto found = pages_.find(address / kPageBytes);
    for (const Touch one :
         {Touch::writes, Touch::tells, Touch::updates, Touch::reads, Touch::polls}) {
      if (found == pages_.end() || !do_conflict(one, touch)) continue;
      if (!found->second.has(first, here, one)) continue;
      its = one;
      return true;
    }
    address += here;
    bytes -= here;
  }
  return false;
}

bool Footprint::has(std::uint64_t address, std::size_t bytes, Touch touch) const {
  if (address >= beyond_ || address + bytes <= least_) return false;
  const auto found = pages_.find(address / kPageBytes);
  const std::size_t first = address % kPageBytes;
  return found != pages_.end() &&
         found->second.has(first, std::min(kPageBytes - first, bytes), touch);
}

void Footprint::forget(std::uint64_t address, std::size_t bytes) {
  const auto is_inside = [&](std::uint64_t page) {
    return (page + 1) * kPageBytes > address && page * kPageBytes < address + bytes;
  };
  for (auto& [number, page] : pages_) {
    if (!is_inside(number)) continue;
    const std::uint64_t begin = std::max(address, number * kPageBytes);
    const std::uint64_t end = std::min(address + bytes, (number + 1) * kPageBytes);
    for (std::unique_ptr<Bits>& bits : page.touched) {
      if (bits == nullptr) continue;
      for_each_word(begin % kPageBytes, end - begin,
                    [&](std::size_t word, std::uint64_t mask) { (*bits)[word] &= ~mask; });
    }
  }
}

// ---- Operations ----

Operation::Operation(int stream, std::string name, Kind kind)
    : stream_(stream), is_copy_(kind == Kind::copy), name_(std::move(name)) {
  State& s = state();
  if (kind == Kind::early_kernel && !s.remembers) {
    remember_from_now_on();
    s.only_early = true;
  }
  if (!s.remembers) return;
  number_ = add(stream);
  Number& early_from = stream_at(stream).early_from;
  if (early_from <= at(s.host, stream)) early_from = 0;
  if (kind == Kind::early_kernel) early_from_ = early_from;
  if (kind == Kind::copy) {
    early_from = 0;
  } else if (kind == Kind::kernel || early_from == 0) {
    early_from = number_;
  }
  Clock known = stream_at(stream).clock;
  join(known, s.host);
  for (const auto& [thread, before] : s.tasks) {
    if (thread != std::this_thread::get_id()) join(known, before);
  }
  for (const auto& [number, one] : s.open) {
    const bool is_unordered = one.stream != stream ? one.number > at(known, one.stream)
                                                   : is_early() && one.number >= early_from_;
    if (is_unordered) rivals_.push_back(one.number);
  }
  while (!s.open.empty() && (s.open.size() >= kMostOperations || s.pages > kMostPages)) {
    explain("forgotten",
            "the order of streams: more is pending than is remembered, so the oldest of it is not "
            "looked at any more");
    is_over(s.open.begin()->second);
    s.open.erase(s.open.begin());
  }
  s.rivals_on.clear();
  s.last_key = UINT64_MAX;
  s.open[number_] = {number_, stream, name_, callers_of_runtime(), {}, is_copy_};
}

void Operation::goes_on() {
  state().rivals_on.clear();
  state().last_key = UINT64_MAX;
}

namespace {

// Whether whoever conflicts with `older` conflicts with `newer` too.
bool covers(const Footprint& newer, const Footprint& older) {
  for (const auto& [number, page] : older.pages()) {
    const auto found = newer.pages().find(number);
    if (found == newer.pages().end()) return false;
    const auto& [reads, writes, updates, polls, tells] = found->second.touched;
    for (std::size_t i = 0; i < Footprint::kPageBytes / 64; ++i) {
      const auto word = [&](const std::unique_ptr<Footprint::Bits>& bits) {
        return bits == nullptr ? 0 : (*bits)[i];
      };
      const std::uint64_t written = word(writes);
      if ((word(page.touched[0]) & ~(written | word(reads))) != 0 ||
          (word(page.touched[1]) & ~written) != 0 ||
          (word(page.touched[2]) & ~(written | word(updates))) != 0 ||
          (word(page.touched[3]) & ~(written | word(reads) | word(polls))) != 0 ||
          (word(page.touched[4]) & ~(written | word(tells))) != 0) {
        return false;
      }
    }
  }
  return true;
}

}  // namespace

Operation::~Operation() {
  if (number_ == 0) return;
  State& s = state();
  // Those before it have ended before the next one begins.
  Number& early_from = stream_at(stream_).early_from;
  if (is_early() && !hurries_ && early_from == early_from_) early_from = number_;
  const auto found = s.open.find(number_);
  if (found == s.open.end()) return;
  if (waits_for_host_) {
    s.open.erase(found);
    return;
  }
  Known& its = found->second;
  its.footprint = std::move(footprint_);
  its.told = std::move(told_);
  its.lets_next_begin = lets_next_begin_;
  its.updates_for_device = updates_for_device_;
  has_touched(its);
  // Of a stream that does the same again and again the last is enough.
  auto before = found;
  while (before != s.open.begin() && (before == found || before->second.stream != its.stream)) {
    --before;
  }
  const Known& last = before->second;
  const bool is_covered = before != found && last.stream == its.stream &&
                          last.lets_next_begin <= its.lets_next_begin &&
                          covers(its.footprint, last.footprint);
  if (is_covered) is_over(last);
  close_pages(its.footprint);
  if (is_covered) s.open.erase(before);
}

std::vector<Number> Operation::rivals_on(std::uint64_t page, Touch touch) const {
  std::vector<Number> all;
  for (const Touch its :
       {Touch::reads, Touch::writes, Touch::updates, Touch::polls, Touch::tells}) {
    if (!do_conflict(its, touch)) continue;
    for (const Number one : operations_on(page)[static_cast<std::size_t>(its)]) {
      if (std::binary_search(rivals_.begin(), rivals_.end(), one)) all.push_back(one);
    }
  }
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

void Operation::touch(std::uint64_t address, std::size_t bytes, Touch touch, std::int32_t site,
                      bool has_waited) {
  if (number_ == 0 || bytes == 0) return;
  const std::lock_guard lock(mutex_);
  footprint_.add(address, bytes, touch);
  if (rivals_.empty()) return;
  State& s = state();
  while (bytes != 0) {
    const std::uint64_t page = address / Footprint::kPageBytes;
    const std::size_t here =
        std::min<std::size_t>(bytes, (page + 1) * Footprint::kPageBytes - address);
    if (const std::uint64_t key = page * kTouches + static_cast<std::uint64_t>(touch);
        key != s.last_key) {
      const auto [found, is_new] = s.rivals_on.try_emplace(key);
      if (is_new) found->second = rivals_on(page, touch);
      s.last_key = key;
      s.rivals_there = &found->second;
    }
    for (const Number rival : *s.rivals_there) {
      const Known* const other = known_operation(rival);
      Touch its{};
      if (other == nullptr || (has_waited && other->stream == stream_) ||
          !other->footprint.conflicts(address, here, touch, its)) {
        continue;
      }
      Early& early = early_[{site, touch, rival, its}];
      if (early.count++ == 0) early.address = address;
    }
    address += here;
    bytes -= here;
  }
}

void Operation::tells(std::uint64_t address, std::size_t bytes) {
  if (number_ == 0) return;
  const std::lock_guard lock(mutex_);
  told_.add(address, bytes, Touch::writes);
}

void Operation::asks(std::uint64_t address, std::size_t bytes) {
  if (number_ == 0) return;
  const std::lock_guard lock(mutex_);
  const auto& [reads, writes, updates, polls, tells] =
      operations_on(address / Footprint::kPageBytes);
  for (const auto* const all : {&writes, &updates, &tells}) {
    for (const Number number : *all) {
      const Known* const other = known_operation(number);
      if (other == nullptr || other->stream == stream_) continue;
      Clock& clock = stream_at(stream_).clock;
      if (other->number <= at(clock, other->stream)) continue;
      if (!other->footprint.has(address, bytes, Touch::updates) &&
          !other->footprint.has(address, bytes, Touch::tells) &&
          !(other->is_copy ? other->footprint : other->told).has(address, bytes, Touch::writes)) {
        continue;
      }
      raise(clock, other->stream, other->number);
      state().rivals_on.clear();
      state().last_key = UINT64_MAX;
      std::erase_if(rivals_, [&](const Number rival) {
        const Known* const its = known_operation(rival);
        return its != nullptr && its->stream == other->stream && rival <= number;
      });
    }
  }
}

std::vector<Finding> Operation::findings(const LineOf& line_of) const {
  std::vector<Finding> all;
  for (const auto& [key, early] : early_) {
    const auto& [site, touch, rival, its] = key;
    const Known* const other = known_operation(rival);
    if (other == nullptr) continue;
    const Hazard hazard =
        other->stream == stream_ ? Hazard::unordered_launches : Hazard::unordered_streams;
    // A kernel that lets nobody begin does so at its end: what it did is over, though nothing promises that it is seen.
    const bool is_over = hazard == Hazard::unordered_launches && !other->lets_next_begin;
    all.push_back(finding_of(name_ + " " + verb(touch), early.address,
                             line_of ? line_of(site) : line_of_caller(), *other, its, early.count,
                             hazard, advice(hazard, is_over ? Remedy::launch_over : Remedy::none)));
    all.back().note = is_over;
  }
  return all;
}

std::vector<Finding> unjoined() {
  State& s = state();
  std::vector<Finding> all;
  if (!s.remembers) return all;
  wait_implicitly(kLegacyDefault);
  for (int i = 1; i < static_cast<int>(s.streams.size()); ++i) {
    const Number last = stream_at(i).last;
    if (last <= at(stream_at(kLegacyDefault).clock, i) || last <= at(s.host, i)) continue;
    const Known* const its = known_operation(last);
    if (its == nullptr) continue;
    const HostLine there = line_of_call(its->callers);
    Finding finding;
    finding.kind = hazard_name(Hazard::unordered_streams);
    finding.file = there.file;
    finding.line = there.line;
    finding.count = 1;
    finding.message = "Nothing waits for " + its->name + ", which was put on " + name_of(i) +
                      place_of(there) +
                      ": what comes next on the default stream does not, so it may read what is "
                      "not there yet. " +
                      advice(Hazard::unordered_streams);
    all.push_back(std::move(finding));
  }
  return all;
}

bool host_touches(std::uint64_t address, Touch touch) {
  State& s = state();
  const auto closed = s.closed.find(address / Footprint::kPageBytes);
  if (closed == s.closed.end()) {
    // Another thread of the host, which met the page at the same time, has opened it. Twice in a row is something else.
    thread_local constinit std::uint64_t last = 0;
    return std::exchange(last, address) != address && arena().is_open(address);
  }
  // Whatever a function on a stream raises or signals, host code that reads later may have seen.
  Clock known = s.host;
  for (const auto& [thread, before] : s.tasks) join(known, before);
  for (const auto& [number, one] : s.open) {
    Touch its{};
    const Touch beside = one.updates_for_device && touch == Touch::updates ? Touch::writes : touch;
    if (one.number <= at(known, one.stream) || !one.footprint.conflicts(address, 1, beside, its) ||
        its == Touch::polls) {
      continue;
    }
    const std::pair<std::string, int> line = line_of_caller();
    // A loop of the host would say it for each element.
    if (!s.told.emplace(line.first, line.second, one.number).second) break;
    const bool tells = touch == Touch::reads &&
                       (its == Touch::tells || (its == Touch::updates && !one.updates_for_device));
    // Behind a flag that it has seen raised it may use what the kernel has left before.
    const bool is_told = tells || one.number <= at(s.heard, one.stream);
    if (tells) raise(s.heard, one.stream, one.number);
    Finding finding = finding_of(
        std::string("The host ") + verb(touch), address, line, one, its, 1,
        Hazard::unordered_streams,
        is_told ? advice(Hazard::unordered_streams, Remedy::polled_by_host)
                : "Let the host wait first, with cudaDeviceSynchronize, cudaStreamSynchronize or "
                  "cudaEventSynchronize.");
    finding.note = is_told;
    record_of_host(std::move(finding));
    break;
  }
  set_access(address / Footprint::kPageBytes, memory::HostAccess::all);
  return true;
}

}  // namespace simt::cudart::timeline
