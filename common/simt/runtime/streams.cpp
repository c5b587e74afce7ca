#include "common/simt/runtime/streams.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <deque>
#include <mutex>
#include <unordered_map>

#include "common/simt/runtime/device_memory.hpp"
#include "common/simt/runtime/findings.hpp"
#include "common/simt/runtime/program_image.hpp"
#include "common/simt/runtime/reserve.hpp"

namespace simt {
namespace streams {

std::atomic<bool> host_may_be_early{false};

namespace {

constexpr Number kLast = (1u << 28) - 1;  // no more fit into a word

struct Stream {
  bool non_blocking = false;
  bool live = true;
  Number last = 0;  // its last operation
  Clock clock;      // of others that its next one comes after
  // If its next one is an early kernel, operations from here on may not have ended then; 0: all have.
  Number early_from = 0;
};

struct State {
  std::mutex mutex;
  bool orders = false;     // there are events or streams: operations have numbers and clocks
  bool remembers = false;  // and words remember who touched them
  bool only_early =
      false;  // only since there are early kernels, until the host has waited for them
  bool ordered_before = false;
  bool shares_memory = false;
  int running = 0;  // operations
  Number next = 1;
  Number all_known = 1;  // the host has waited for all operations before this one
  Clock host;            // by stream: and for these
  std::vector<Stream> streams{Stream{}};
  std::vector<int> unused;  // numbers of streams that are gone and waited for
  Clock gone;  // blocking streams that were destroyed: the default stream waits for them
  struct Known {
    int stream;
    Party party;
  };
  std::deque<Known> operations;  // from number all_known on
  std::uint64_t generation = 0;

  std::mutex pages_mutex;
  std::atomic<Page*>* arena_pages = nullptr;  // by page of the arena
  std::unordered_map<std::uintptr_t, std::unique_ptr<Page>> other_pages;
  std::vector<std::unique_ptr<Page>> given_back;  // an operation may still look at them
};

State& state() {
  static State& the_state = *new State;
  return the_state;
}

Number at(const Clock& clock, int stream) {
  return static_cast<std::size_t>(stream) < clock.size() ? clock[stream] : 0;
}

void raise(Clock& clock, int stream, Number number) {
  if (clock.size() <= static_cast<std::size_t>(stream)) clock.resize(stream + 1, 0);
  clock[stream] = std::max(clock[stream], number);
}

void join(Clock& into, const Clock& from) {
  if (into.size() < from.size()) into.resize(from.size(), 0);
  for (std::size_t i = 0; i < from.size(); ++i) into[i] = std::max(into[i], from[i]);
}

// What the legacy default stream and the blocking ones wait for without being told.
void wait_implicitly(State& s, int stream) {
  Stream& own = s.streams[stream];
  if (own.non_blocking) return;
  if (stream != kLegacyDefault) {
    const Stream& legacy = s.streams[kLegacyDefault];
    if (at(own.clock, kLegacyDefault) == legacy.last) return;
    raise(own.clock, kLegacyDefault, legacy.last);
    join(own.clock, legacy.clock);
    return;
  }
  join(own.clock, s.gone);
  s.gone.clear();
  for (int other = 1; other < static_cast<int>(s.streams.size()); ++other) {
    const Stream& blocking = s.streams[other];
    if (!blocking.live || blocking.non_blocking || blocking.last <= at(own.clock, other)) continue;
    raise(own.clock, other, blocking.last);
    join(own.clock, blocking.clock);
  }
}

Number add_operation(State& s, int stream, Party party) {
  wait_implicitly(s, stream);
  const Number number = s.next++;
  s.streams[stream].last = number;
  s.operations.push_back({stream, std::move(party)});
  host_may_be_early = s.shares_memory;
  if (s.next > kLast) s.orders = s.remembers = false;
  return number;
}

Clock clock_of(State& s, int stream) {
  wait_implicitly(s, stream);
  Clock clock = s.streams[stream].clock;
  raise(clock, stream, s.streams[stream].last);
  return clock;
}

void forget_all(State& s) {
  host_may_be_early = false;
  s.all_known = s.next;
  s.host.clear();
  s.gone.clear();
  s.operations.clear();
  for (int i = 0; i < static_cast<int>(s.streams.size()); ++i) {
    Stream& stream = s.streams[i];
    stream.clock.clear();
    stream.last = 0;
    if (!stream.live && i != kLegacyDefault &&
        std::find(s.unused.begin(), s.unused.end(), i) == s.unused.end()) {
      s.unused.push_back(i);
    }
  }
  if (s.only_early) {
    s.only_early = s.remembers = false;
    s.orders = s.ordered_before;
  }
}

void forget_if_all_known(State& s) {
  for (std::size_t i = 0; i < s.streams.size(); ++i) {
    if (s.streams[i].last > at(s.host, static_cast<int>(i))) return;
  }
  forget_all(s);
}

int stream_of(const State& s, Number number) { return s.operations[number - s.all_known].stream; }

Page* page_at(std::uintptr_t address) {
  State& s = state();
  const std::uintptr_t index = address / kPageBytes;
  if (device_memory::contains(reinterpret_cast<const void*>(address))) {
    std::atomic<Page*>& known = s.arena_pages[(address - g_arena_base) / kPageBytes];
    if (Page* const page = known.load(std::memory_order_acquire)) return page;
    const std::lock_guard lock(s.pages_mutex);
    if (Page* const page = known.load(std::memory_order_acquire)) return page;
    Page* const page = new Page;
    known.store(page, std::memory_order_release);
    return page;
  }
  const std::lock_guard lock(s.pages_mutex);
  std::unique_ptr<Page>& page = s.other_pages[index];
  if (!page) page = std::make_unique<Page>();
  return page.get();
}

// The page of words that some operation has touched, or nullptr.
Page* known_page_at(std::uintptr_t address) {
  State& s = state();
  if (!device_memory::contains(reinterpret_cast<const void*>(address))) return nullptr;
  return s.arena_pages[(address - g_arena_base) / kPageBytes].load(std::memory_order_acquire);
}

std::string name_of_stream(const State& s, int stream) {
  if (stream == kLegacyDefault) return "the default stream";
  return s.streams[stream].non_blocking ? "a non-blocking stream" : "another stream";
}

}  // namespace

const char* verb(Touch touch) {
  return touch == Touch::reads ? "reads" : touch == Touch::writes ? "writes" : "updates";
}

namespace {

void remember(State& s) {
  s.only_early = false;
  if (s.remembers || s.next > kLast) return;
  device_memory::initialise();
  constexpr std::size_t kBytes = kArenaBytes / kPageBytes * sizeof(std::atomic<Page*>);
  if (s.arena_pages == nullptr) {
    s.arena_pages =
        static_cast<std::atomic<Page*>*>(reserve_addresses(kBytes, "the order of streams"));
  }
  s.orders = s.remembers = true;
}

}  // namespace

void use_events() {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  s.orders = s.ordered_before = s.next <= kLast;
}

bool host_knows(const Clock& clock) {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  for (std::size_t i = 0; i < clock.size(); ++i) {
    if (clock[i] >= s.all_known && clock[i] > at(s.host, static_cast<int>(i))) return false;
  }
  return true;
}

void share_memory() {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  remember(s);
  s.shares_memory = true;
}

void forget(std::uintptr_t address, std::size_t bytes) {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  if (s.arena_pages == nullptr) return;
  const std::lock_guard pages(s.pages_mutex);
  const std::size_t first = (address - g_arena_base) / kPageBytes;
  const std::size_t last = (address + bytes - 1 - g_arena_base) / kPageBytes;
  for (std::size_t i = first; i <= last; ++i) {
    if (Page* const page = s.arena_pages[i].exchange(nullptr)) s.given_back.emplace_back(page);
  }
  if (s.running == 0) s.given_back.clear();
}

void remember_from_the_start() {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  remember(s);
}

int create(bool non_blocking) {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  remember(s);
  int stream = static_cast<int>(s.streams.size());
  if (s.unused.empty()) {
    s.streams.emplace_back();
  } else {
    stream = s.unused.back();
    s.unused.pop_back();
  }
  s.streams[stream] = Stream{non_blocking, true, 0, {}};
  return stream;
}

void destroy(int stream) {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  if (!s.streams[stream].non_blocking) join(s.gone, clock_of(s, stream));
  s.streams[stream].live = false;
  if (s.streams[stream].last == 0) s.unused.push_back(stream);
}

int of_this_thread() {
  thread_local constinit int stream = -1;
  thread_local constinit std::uint64_t generation = 0;
  State& s = state();
  std::uint64_t now = 0;
  {
    const std::lock_guard lock(s.mutex);
    now = s.generation;
  }
  if (stream < 0 || generation != now) {
    stream = create(false);
    generation = now;
  }
  return stream;
}

void reset() {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  forget_all(s);
  s.streams.assign(1, Stream{});
  s.unused.clear();
  ++s.generation;
}

Clock record(int stream) {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  if (!s.orders) return {};
  if (stream == kLegacyDefault) add_operation(s, stream, {});  // which the blocking ones wait for
  return clock_of(s, stream);
}

void wait(int stream, const Clock& clock) {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  if (!s.orders) return;
  wait_implicitly(s, stream);
  join(s.streams[stream].clock, clock);
  s.streams[stream].early_from = 0;
  if (stream == kLegacyDefault) add_operation(s, stream, {});
}

void host_waited_for(const Clock& clock) {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  if (!s.orders) return;
  join(s.host, clock);
  forget_if_all_known(s);
}

void host_waited_for(int stream) {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  if (!s.orders) return;
  join(s.host, clock_of(s, stream));
  forget_if_all_known(s);
}

void host_waited_for_all() {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  if (s.orders) forget_all(s);
}

Operation::Operation(int stream, const std::string& name, std::uintptr_t program_counter, Kind kind)
    : stream_(stream) {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  if (kind == Kind::early_kernel && !s.remembers) {
    s.ordered_before = s.orders;
    remember(s);
    s.only_early = s.remembers;
  }
  if (!s.orders) return;
  remembers_ = s.remembers;
  number_ = add_operation(s, stream, {name, name_of_stream(s, stream), program_counter});
  ++s.running;
  known_ = s.streams[stream].clock;
  join(known_, s.host);
  all_before_ = s.all_known;
  Number& early_from = s.streams[stream].early_from;
  if (early_from < s.all_known) early_from = 0;
  if (kind == Kind::early_kernel) early_from_ = early_from;
  if (kind == Kind::copy) {
    early_from = 0;
  } else if (kind == Kind::kernel || early_from == 0) {
    early_from = number_;
  }
}

void Operation::waits_before_next() {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  if (number_ != 0 && s.streams[stream_].early_from != 0) s.streams[stream_].early_from = number_;
}

bool Operation::is_on_its_stream(Number other) const {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  return other >= s.all_known && other < s.next && stream_of(s, other) == stream_;
}

Operation::~Operation() {
  if (number_ == 0) return;
  State& s = state();
  const std::lock_guard lock(s.mutex);
  if (--s.running == 0) s.given_back.clear();
}

bool Operation::comes_after(Number other, bool has_waited) const {
  if (other < all_before_ || other == number_) return true;
  State& s = state();
  const std::lock_guard lock(s.mutex);
  if (other < s.all_known || other >= s.next) return true;
  const int stream = stream_of(s, other);
  if (stream == stream_) return has_waited || early_from_ == 0 || other < early_from_;
  return other <= at(known_, stream);
}

bool Toucher::comes_after(Number other) {
  if (other < operation_.all_before_ || other == own_) return true;
  if (!waited_) return operation_.comes_after(other, false);
  Number& known = known_before_[other % 16];
  if (other == known) return true;
  if (!operation_.comes_after(other, true)) return false;
  known = other;
  return true;
}

bool Toucher::ask(std::uint32_t entry, unsigned mask, Touch its) {
  if ((entry & mask) == 0 || comes_after(entry >> 4)) return true;
  report_(entry >> 4, its);
  return false;
}

void Toucher::touch_any(std::uintptr_t address, std::size_t bytes, Touch touch) {
  const Number own = own_;
  // Adds this operation's bytes to an entry of a word, or takes it over.
  const auto enter = [own](std::atomic<std::uint32_t>& entry, unsigned mask) {
    const std::uint32_t old = entry.load(std::memory_order_relaxed);
    const std::uint32_t now = own << 4 | mask | (old >> 4 == own ? old & 15 : 0);
    if (old != now) entry.store(now, std::memory_order_relaxed);
  };
  while (bytes > 0) {
    const std::uintptr_t index = address / kPageBytes;
    if (index != page_index_) {
      page_ = page_at(address);
      page_index_ = index;
    }
    const unsigned first = address % 4;
    const auto size = static_cast<unsigned>(std::min<std::size_t>(4 - first, bytes));
    const unsigned mask = ((1u << size) - 1) << first;
    const std::size_t number = address % kPageBytes / 4;
    Page::Word& word = page_->words[number];
    bool in_order = ask(word.writer.load(std::memory_order_relaxed), mask, Touch::writes);
    if (touch != Touch::updates) {
      in_order &= ask(word.updater.load(std::memory_order_relaxed), mask, Touch::updates);
    }
    const std::uint32_t reader = word.reader.load(std::memory_order_relaxed);
    if (touch == Touch::reads) {
      if (reader >> 4 != own && reader != 0 && !comes_after(reader >> 4)) {
        const std::lock_guard lock(page_->mutex);
        auto& more = page_->more;
        std::erase_if(more, [&](const auto& one) { return comes_after(one.number); });
        auto known = std::find_if(more.begin(), more.end(),
                                  [&](const auto& one) { return one.number == reader >> 4; });
        if (known == more.end()) known = more.insert(more.end(), Page::Readers{reader >> 4, {}});
        known->words[number / 64] |= std::uint64_t{1} << number % 64;
        page_->has_more = true;
      }
      // Who reads too early is to be met by every thread that does: what is found then depends on none.
      if (in_order) enter(word.reader, mask);
    } else {
      ask(reader, mask, Touch::reads);
      if (page_->has_more.load(std::memory_order_relaxed)) {
        const std::lock_guard lock(page_->mutex);
        for (const Page::Readers& one : page_->more) {
          if ((one.words[number / 64] >> number % 64 & 1) != 0 && one.number != reader >> 4 &&
              !comes_after(one.number)) {
            report_(one.number, Touch::reads);
          }
        }
      }
      enter(touch == Touch::writes ? word.writer : word.updater, mask);
    }
    address += size;
    bytes -= size;
  }
}

Party party(Number operation) {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  if (operation < s.all_known || operation >= s.next) return {};
  return s.operations[operation - s.all_known].party;
}

namespace {

std::string place(const SourceLine& line) {
  return line.line == 0 ? "" : " at " + line.file + ":" + std::to_string(line.line);
}

SourceLine line_of(std::uintptr_t program_counter) {
  return program_counter == 0 ? SourceLine{} : ProgramImage::get().line_of(program_counter);
}

Finding finding_at(SourceLine line, SourceLine other) {
  if (line.line == 0) std::swap(line, other);
  Finding finding;
  finding.kind = hazard_name(Hazard::unordered_streams);
  finding.file = line.file;
  finding.line = line.line;
  finding.other_file = other.file;
  finding.other_line = other.line;
  finding.count = 1;
  return finding;
}

}  // namespace

Finding too_early(const std::string& does, const std::string& array, std::uintptr_t program_counter,
                  Number other, Touch its, std::uint64_t times) {
  const bool is_host = does.starts_with("The host");
  const Party earlier = party(other);
  const SourceLine there = line_of(earlier.program_counter);
  Finding finding = finding_at(line_of(program_counter), there);
  finding.array = array;
  finding.count = times;
  finding.message =
      does + " " + array + ", and nothing orders that after " + earlier.name + " on " +
      earlier.stream + ", which " + verb(its) + " it" + place(there) + ". " +
      (is_host ? "Let the host wait first, with cudaDeviceSynchronize, cudaStreamSynchronize or "
                 "cudaEventSynchronize."
               : advice(Hazard::unordered_streams));
  return finding;
}

Finding unjoined_finding(Number operation) {
  const Party last = party(operation);
  const SourceLine there = line_of(last.program_counter);
  Finding finding = finding_at(there, {});
  finding.message = "Nothing waits for " + last.name + ", which was put on " + last.stream +
                    place(there) +
                    ": what comes next on the default stream does not, so it may read "
                    "what is not there yet. " +
                    advice(Hazard::unordered_streams);
  return finding;
}

Number not_waited_for(std::uintptr_t address, std::size_t bytes, bool writes, Touch& its) {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  if (!s.remembers || s.all_known == s.next) return 0;
  const auto pending = [&](std::uint32_t entry, unsigned mask) {
    const Number number = entry >> 4;
    return (entry & mask) != 0 && number >= s.all_known && number < s.next &&
           number > at(s.host, stream_of(s, number));
  };
  while (bytes > 0) {
    Page* const page = known_page_at(address);
    const unsigned first = address % 4;
    const auto size = static_cast<unsigned>(std::min<std::size_t>(4 - first, bytes));
    const unsigned mask = ((1u << size) - 1) << first;
    if (page != nullptr) {
      const Page::Word& word = page->words[address % kPageBytes / 4];
      for (const Touch one : {Touch::writes, Touch::updates, Touch::reads}) {
        if (one == Touch::reads && !writes) break;
        const auto& entry = one == Touch::writes    ? word.writer
                            : one == Touch::updates ? word.updater
                                                    : word.reader;
        const std::uint32_t last = entry.load();
        if (!pending(last, mask)) continue;
        its = one;
        return last >> 4;
      }
    }
    address += size;
    bytes -= size;
  }
  return 0;
}

std::vector<Number> unjoined() {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  std::vector<Number> last;
  if (!s.remembers) return last;
  const Clock joined = clock_of(s, kLegacyDefault);
  for (int i = 1; i < static_cast<int>(s.streams.size()); ++i) {
    const Number number = s.streams[i].last;
    if (number > at(joined, i) && number > at(s.host, i)) last.push_back(number);
  }
  return last;
}

}  // namespace streams
}  // namespace simt
