#include "common/simt/runtime/device_memory.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <set>

namespace simt {

// No user-space address is within kArenaBytes above this one, so that nothing seems to be device
// memory before there is any.
std::uintptr_t g_arena_base = std::uintptr_t{1} << 63;
std::uint8_t* g_word_map = nullptr;

namespace device_memory {

namespace {

constexpr std::size_t kMapBytes = kArenaBytes / 4;
constexpr std::size_t kBaseAlignment = std::size_t{1} << 21;
constexpr std::size_t kSmallestGuard = 64 * 1024;
constexpr std::size_t kLargestGuard = 16 * 1024 * 1024;
// From here on it is worth asking whether the machine has the memory at all.
constexpr std::size_t kLargeAllocation = std::size_t{256} << 20;

// Mappings of a sparse block: Linux lets a process have 65,530.
constexpr std::size_t kMostPieces = 10'000;

constexpr std::uint8_t kAllocated = 0xf0;  // all four bytes of a word
constexpr std::uint8_t kWritten = 0x0f;

struct Arena {
  std::mutex mutex;
  std::once_flag once;
  std::size_t page = 4096;
  bool map_is_writable = true;                 // or only where there are allocations
  std::uintptr_t frontier = 0;                 // all above it has never been handed out
  std::map<std::uintptr_t, Allocation> live;   // by begin
  std::map<std::uintptr_t, Allocation> freed;  // for messages, until the addresses are used again
  std::size_t in_use[4] = {};                  // by kind
  std::set<std::uintptr_t> written;            // pages of sparse blocks, by their numbers
  int serial = 0;
};

// Never destroyed: programs free device memory from destructors of static objects.
Arena& arena() {
  static Arena& the_arena = *new Arena;
  return the_arena;
}

std::uintptr_t round_up(std::uintptr_t value, std::uintptr_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}
std::uintptr_t round_down(std::uintptr_t value, std::uintptr_t multiple) {
  return value / multiple * multiple;
}

MemoryKind counted_as(MemoryKind kind) {
  return kind == MemoryKind::managed ? MemoryKind::device : kind;
}

// A row too far in a matrix should still hit no neighbour, so large blocks get wide guards.
std::size_t guard_for(std::size_t bytes) {
  return std::clamp(bytes / 4, kSmallestGuard, kLargestGuard);
}

// Addresses without memory behind them. Even where the system promises no more memory than it has,
// it lets a program reserve what it may not touch.
void* reserve(std::size_t bytes, int protection) {
  void* start =
      mmap(nullptr, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return start == MAP_FAILED ? nullptr : start;
}

[[noreturn]] void reservation_failed(std::size_t bytes) {
  std::fprintf(
      stderr,
      "simt: cannot reserve %zu GiB of addresses for the simulated GPU's memory (%s): raise "
      "the limit on address space (ulimit -v unlimited)\n",
      bytes >> 30, std::strerror(errno));
  std::exit(2);
}

void initialise_once(Arena& a) {
  a.page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  void* memory = reserve(kArenaBytes + kBaseAlignment, PROT_NONE);
  if (memory == nullptr) reservation_failed(kArenaBytes);
  // Reading a page of the map that was never written costs no memory. Where the system counts every
  // writable page as promised, the map is made writable piece by piece.
  void* map = reserve(kMapBytes, PROT_READ | PROT_WRITE);
  if (map == nullptr) {
    a.map_is_writable = false;
    map = reserve(kMapBytes, PROT_READ);
    if (map == nullptr) reservation_failed(kMapBytes);
  }
  g_word_map = static_cast<std::uint8_t*>(map);
  g_arena_base = round_up(reinterpret_cast<std::uintptr_t>(memory), kBaseAlignment);
  a.frontier = g_arena_base;
}

std::uint8_t* map_of(std::uintptr_t address) { return g_word_map + (address - g_arena_base) / 4; }

// What the machine could still give, or 0 if it does not say.
std::size_t available_memory() {
  std::FILE* file = std::fopen("/proc/meminfo", "r");
  if (file == nullptr) return 0;
  char line[256];
  unsigned long long kib = 0;
  while (std::fgets(line, sizeof(line), file) != nullptr) {
    if (std::sscanf(line, "MemAvailable: %llu kB", &kib) == 1) break;
  }
  std::fclose(file);
  return static_cast<std::size_t>(kib) * 1024;
}

// A place for `bytes` with guards on both sides, or 0. New addresses first; once they have run out,
// the first gap between live blocks.
std::uintptr_t find_place(Arena& a, std::size_t bytes, std::size_t alignment) {
  const std::size_t guard = guard_for(bytes);
  const std::uintptr_t end = g_arena_base + kArenaBytes;
  const std::uintptr_t fresh = round_up(a.frontier + guard, alignment);
  if (fresh < end && end - fresh >= bytes + guard) {
    // The next block keeps this block's guard free too.
    a.frontier = fresh + round_up(bytes, a.page) + guard;
    return fresh;
  }
  std::uintptr_t free_from = g_arena_base;
  const auto fits = [&](std::uintptr_t free_to) -> std::uintptr_t {
    const std::uintptr_t begin = round_up(free_from + a.page, alignment);
    return begin < free_to && free_to - begin >= bytes + a.page ? begin : 0;
  };
  for (const auto& [begin, allocation] : a.live) {
    if (const std::uintptr_t place = fits(begin)) return place;
    free_from = begin + allocation.size;
  }
  return fits(end);
}

using Blocks = std::map<std::uintptr_t, Allocation>;

// The last block that begins at or before the address, or nullptr.
const Allocation* block_before(const Blocks& blocks, std::uintptr_t address) {
  const auto after = blocks.upper_bound(address);
  return after == blocks.begin() ? nullptr : &std::prev(after)->second;
}

bool holds(const Allocation& block, std::uintptr_t address, std::size_t bytes) {
  const std::uintptr_t offset = address - block.begin;
  return offset < block.size && bytes <= block.size - offset;
}

std::size_t distance(const Allocation& block, std::uintptr_t address) {
  if (address < block.begin) return block.begin - address;
  const std::uintptr_t last = block.begin + block.size - 1;
  return address > last ? address - last : 0;
}

// Forgets freed blocks that the new one covers.
void forget_freed(Arena& a, std::uintptr_t begin, std::size_t bytes) {
  const Allocation* before = block_before(a.freed, begin);
  auto it = before != nullptr && before->begin + before->size > begin ? a.freed.find(before->begin)
                                                                      : a.freed.upper_bound(begin);
  while (it != a.freed.end() && it->first < begin + bytes) it = a.freed.erase(it);
}

// Calls word(first, count) for the map bytes of whole words and byte(map byte, index) for the rest.
template <typename Word, typename Byte>
void for_range(std::uintptr_t address, std::size_t bytes, Word word, Byte byte) {
  for (; bytes > 0 && address % 4 != 0; ++address, --bytes) byte(map_of(address), address % 4);
  word(map_of(address), bytes / 4);
  address += bytes / 4 * 4;
  for (bytes %= 4; bytes > 0; ++address, --bytes) byte(map_of(address), address % 4);
}

// Says that a block, no longer live, may not be touched. As a rule no other block has its bytes in the
// same pages of the map; then these pages are given back, or a program that allocates and frees small
// blocks for long would fill the machine's memory with empty pages.
void clear_map(const Arena& a, const Allocation& block) {
  const auto map_address = [](std::uintptr_t address) {
    return reinterpret_cast<std::uintptr_t>(map_of(address));
  };
  const std::uintptr_t first = map_address(block.begin);
  const std::uintptr_t last = map_address(block.begin + block.size + 3);
  const std::uintptr_t first_page = round_down(first, a.page);
  const std::uintptr_t end_page = round_up(last, a.page);
  const Allocation* before = block_before(a.live, block.begin);
  const auto after = a.live.upper_bound(block.begin);
  const bool alone =
      (before == nullptr || map_address(before->begin + before->size + 3) <= first_page) &&
      (after == a.live.end() || map_address(after->first) >= end_page);
  if (!alone ||
      madvise(reinterpret_cast<void*>(first_page), end_page - first_page, MADV_DONTNEED) != 0) {
    std::memset(reinterpret_cast<void*>(first), 0, last - first);
  }
}

bool in_arena(std::uintptr_t address, std::size_t bytes) {
  const std::uintptr_t offset = address - g_arena_base;
  return offset < kArenaBytes && bytes <= kArenaBytes - offset;
}

// Puts values behind whole pages of addresses, over and over: a page costs memory once it is written.
class Repeated {
 public:
  explicit Repeated(std::span<const std::byte> values) : bytes_(values.size()) {
    file_ = memfd_create("simt", MFD_CLOEXEC);
    if (file_ < 0) return;
    for (std::size_t done = 0; done < bytes_;) {
      const ssize_t written = write(file_, values.data() + done, bytes_ - done);
      if (written <= 0) {
        close(file_);
        file_ = -1;
        return;
      }
      done += static_cast<std::size_t>(written);
    }
  }
  ~Repeated() {
    if (file_ >= 0) close(file_);
  }
  Repeated(const Repeated&) = delete;
  Repeated& operator=(const Repeated&) = delete;

  bool put(std::uintptr_t begin, std::size_t bytes) const {
    for (std::size_t at = 0; file_ >= 0 && at < bytes; at += bytes_) {
      if (mmap(reinterpret_cast<void*>(begin + at), std::min(bytes_, bytes - at),
               PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED | MAP_NORESERVE, file_,
               0) == MAP_FAILED) {
        return false;
      }
    }
    return file_ >= 0;
  }

 private:
  std::size_t bytes_;
  int file_;
};

// New addresses without memory in place of the old: gives the memory back, and the promise of it.
void put_nothing(std::uintptr_t begin, std::size_t bytes, int protection) {
  mmap(reinterpret_cast<void*>(begin), bytes, protection,
       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
}

void allow_all(std::uintptr_t begin, std::size_t bytes, bool initialised) {
  for_range(
      begin, bytes,
      [&](std::uint8_t* map, std::size_t words) {
        std::memset(map, initialised ? 0xff : kAllocated, words);
      },
      [&](std::uint8_t* map, std::size_t i) {
        *map |= static_cast<std::uint8_t>((initialised ? 0x11u : 0x10u) << i);
      });
}

// The part of a sparse block that has whole pages of the map to itself.
std::size_t whole_pages(const Arena& a, std::size_t bytes) { return round_down(bytes, 4 * a.page); }

void release_sparse(Arena& a, const Allocation& block) {
  const std::size_t whole = whole_pages(a, block.size);
  put_nothing(reinterpret_cast<std::uintptr_t>(map_of(block.begin)), whole / 4,
              PROT_READ | PROT_WRITE);
  for_range(
      block.begin + whole, block.size - whole,
      [](std::uint8_t* map, std::size_t words) { std::memset(map, 0, words); },
      [](std::uint8_t* map, std::size_t i) { *map &= static_cast<std::uint8_t>(~(0x11u << i)); });
  a.written.erase(a.written.lower_bound(block.begin / a.page),
                  a.written.lower_bound((block.begin + block.size - 1) / a.page + 1));
  // It is so large that its addresses are used again at once.
  if (block_before(a.live, UINTPTR_MAX) == nullptr ||
      block_before(a.live, UINTPTR_MAX)->begin < block.begin) {
    a.frontier = std::min(a.frontier, block.begin);
  }
}

void clear_initialised(std::uintptr_t address, std::size_t bytes) {
  for_range(
      address, bytes,
      [](std::uint8_t* map, std::size_t words) {
        for (std::size_t i = 0; i < words; ++i) map[i] &= static_cast<std::uint8_t>(~kWritten);
      },
      [](std::uint8_t* map, std::size_t i) { *map &= static_cast<std::uint8_t>(~(1u << i)); });
}

}  // namespace

void initialise() {
  Arena& a = arena();
  std::call_once(a.once, initialise_once, std::ref(a));
}

void* allocate(std::size_t bytes, std::size_t capacity, std::uintptr_t program_counter,
               MemoryKind kind) {
  initialise();
  Arena& a = arena();
  const std::lock_guard lock(a.mutex);
  if (bytes == 0 || bytes > kArenaBytes) return nullptr;
  std::size_t& in_use = a.in_use[static_cast<int>(counted_as(kind))];
  const bool counts = kind != MemoryKind::pinned;
  if (counts && (bytes > capacity || in_use > capacity - bytes)) return nullptr;
  if (bytes >= kLargeAllocation) {
    const std::size_t available = available_memory();
    // The map takes a quarter more.
    if (available != 0 && bytes > available / 5 * 4) {
      std::fprintf(stderr,
                   "simt: this machine has %zu MiB of memory left, too little for %zu MiB of "
                   "simulated GPU memory: choose a smaller problem\n",
                   available >> 20, bytes >> 20);
      return nullptr;
    }
  }
  const std::uintptr_t begin = find_place(a, bytes, a.page);
  if (begin == 0) return nullptr;
  void* pointer = reinterpret_cast<void*>(begin);
  if (mprotect(pointer, round_up(bytes, a.page), PROT_READ | PROT_WRITE) != 0) return nullptr;
  if (!a.map_is_writable) {
    const std::uintptr_t first =
        round_down(reinterpret_cast<std::uintptr_t>(map_of(begin)), a.page);
    const std::uintptr_t last =
        round_up(reinterpret_cast<std::uintptr_t>(map_of(begin + bytes + 3)), a.page);
    if (mprotect(reinterpret_cast<void*>(first), last - first, PROT_READ | PROT_WRITE) != 0) {
      return nullptr;
    }
  }
  forget_freed(a, begin, bytes);
  std::memset(pointer, 0xff, bytes);
  allow_all(begin, bytes, false);
  a.live[begin] = Allocation{begin, bytes, false, ++a.serial, program_counter, kind};
  in_use += bytes;
  return pointer;
}

std::size_t sparse_bytes() {
  initialise();
  return arena().page;
}

void* allocate_sparse(std::size_t bytes, std::span<const std::byte> values, std::size_t capacity,
                      std::uintptr_t program_counter) {
  initialise();
  Arena& a = arena();
  const std::lock_guard lock(a.mutex);
  std::size_t& in_use = a.in_use[static_cast<int>(MemoryKind::device)];
  if (bytes == 0 || bytes > kArenaBytes || bytes > capacity || in_use > capacity - bytes ||
      values.size() % a.page != 0 || !a.map_is_writable ||
      (!values.empty() && bytes / values.size() > kMostPieces)) {
    return nullptr;
  }
  const std::uintptr_t begin = find_place(a, bytes, 4 * a.page);
  if (begin == 0) return nullptr;
  void* const pointer = reinterpret_cast<void*>(begin);
  const std::size_t in_pages = round_up(bytes, a.page);
  const std::size_t whole = whole_pages(a, bytes);
  const std::vector<std::byte> map_values(
      std::size_t{512} * a.page, std::byte{values.empty() ? kAllocated : std::uint8_t{0xff}});
  const bool is_there =
      (values.empty() ? mprotect(pointer, in_pages, PROT_READ | PROT_WRITE) == 0
                      : Repeated(values).put(begin, in_pages)) &&
      Repeated(map_values).put(reinterpret_cast<std::uintptr_t>(map_of(begin)), whole / 4);
  if (!is_there) {
    put_nothing(begin, in_pages, PROT_NONE);
    put_nothing(reinterpret_cast<std::uintptr_t>(map_of(begin)), whole / 4, PROT_READ | PROT_WRITE);
    return nullptr;
  }
  // A huge page for each word that is touched would be a thousand times as much.
  madvise(pointer, in_pages, MADV_NOHUGEPAGE);
  forget_freed(a, begin, bytes);
  allow_all(begin + whole, bytes - whole, !values.empty());
  Allocation block{begin, bytes, false, ++a.serial, program_counter};
  block.sparse = true;
  a.live[begin] = block;
  in_use += bytes;
  return pointer;
}

void note_written(const std::set<std::uintptr_t>& pages) {
  Arena& a = arena();
  const std::lock_guard lock(a.mutex);
  for (const std::uintptr_t page : pages) {
    const Allocation* const block = block_before(a.live, (page + 1) * a.page - 1);
    if (block != nullptr && block->sparse) a.written.insert(page);
  }
}

std::vector<Part> written_parts(const void* pointer) {
  Arena& a = arena();
  const std::lock_guard lock(a.mutex);
  std::vector<Part> parts;
  const auto found = a.live.find(reinterpret_cast<std::uintptr_t>(pointer));
  if (found == a.live.end()) return parts;
  const Allocation& block = found->second;
  const std::uintptr_t end = block.begin + block.size;
  for (auto page = a.written.lower_bound(block.begin / a.page);
       page != a.written.end() && *page * a.page < end; ++page) {
    for (std::uintptr_t at = *page * a.page; at < std::min((*page + 1) * a.page, end); ++at) {
      if ((*map_of(at) >> at % 4 & 1) == 0) continue;
      const std::size_t offset = at - block.begin;
      if (parts.empty() || parts.back().end != offset) parts.push_back({offset, offset});
      ++parts.back().end;
    }
  }
  return parts;
}

bool release(void* pointer) {
  Arena& a = arena();
  const std::lock_guard lock(a.mutex);
  const auto it = a.live.find(reinterpret_cast<std::uintptr_t>(pointer));
  if (it == a.live.end()) return false;
  Allocation block = it->second;
  a.live.erase(it);
  a.in_use[static_cast<int>(counted_as(block.kind))] -= block.size;
  put_nothing(block.begin, round_up(block.size, a.page), PROT_NONE);
  if (block.sparse) {
    release_sparse(a, block);
    return true;
  }
  clear_map(a, block);
  block.freed = true;
  a.freed[block.begin] = block;
  return true;
}

bool is_live_range(const void* pointer, std::size_t bytes) {
  Arena& a = arena();
  const std::lock_guard lock(a.mutex);
  const auto address = reinterpret_cast<std::uintptr_t>(pointer);
  const Allocation* block = block_before(a.live, address);
  return block != nullptr && holds(*block, address, bytes);
}

std::optional<Allocation> live_at(const void* pointer) {
  Arena& a = arena();
  const std::lock_guard lock(a.mutex);
  const auto address = reinterpret_cast<std::uintptr_t>(pointer);
  const Allocation* block = block_before(a.live, address);
  if (block == nullptr || !holds(*block, address, 1)) return std::nullopt;
  return *block;
}

void mark_initialised(const void* pointer, std::size_t bytes) {
  const auto address = reinterpret_cast<std::uintptr_t>(pointer);
  if (bytes == 0 || !in_arena(address, bytes)) return;
  for_range(
      address, bytes,
      [](std::uint8_t* map, std::size_t words) {
        for (std::size_t i = 0; i < words; ++i) map[i] |= kWritten;
      },
      [](std::uint8_t* map, std::size_t i) { *map |= static_cast<std::uint8_t>(1u << i); });
}

void copy_initialised(const void* to, const void* from, std::size_t bytes) {
  auto target = reinterpret_cast<std::uintptr_t>(to);
  auto source = reinterpret_cast<std::uintptr_t>(from);
  if (bytes == 0 || !in_arena(target, bytes)) return;
  if (!in_arena(source, bytes)) {  // a __device__ or __constant__ variable is always initialised
    mark_initialised(to, bytes);
    return;
  }
  if (target % 4 == 0 && source % 4 == 0) {
    std::uint8_t* target_map = map_of(target);
    const std::uint8_t* source_map = map_of(source);
    const std::size_t words = bytes / 4;
    for (std::size_t i = 0; i < words; ++i) {
      target_map[i] =
          static_cast<std::uint8_t>((target_map[i] & kAllocated) | (source_map[i] & kWritten));
    }
    target += words * 4;
    source += words * 4;
    bytes %= 4;
  }
  for (; bytes > 0; ++target, ++source, --bytes) {
    const unsigned bit = *map_of(source) >> (source % 4) & 1u;
    std::uint8_t& map = *map_of(target);
    map = static_cast<std::uint8_t>((map & ~(1u << (target % 4))) | bit << (target % 4));
  }
}

void poison(void* pointer, std::size_t bytes) {
  const auto address = reinterpret_cast<std::uintptr_t>(pointer);
  if (bytes == 0 || !in_arena(address, bytes)) return;
  std::memset(pointer, 0xff, bytes);
  clear_initialised(address, bytes);
}

std::optional<Allocation> nearest(const void* pointer) {
  Arena& a = arena();
  const std::lock_guard lock(a.mutex);
  const auto address = reinterpret_cast<std::uintptr_t>(pointer);
  const Allocation* best = nullptr;
  const auto consider = [&](const Allocation& block) {
    if (best == nullptr || distance(block, address) < distance(*best, address)) best = &block;
  };
  for (const Blocks* blocks : {&a.live, &a.freed}) {
    if (const Allocation* before = block_before(*blocks, address)) consider(*before);
    const auto after = blocks->upper_bound(address);
    if (after != blocks->end()) consider(after->second);
  }
  return best != nullptr ? std::optional(*best) : std::nullopt;
}

int last_serial() {
  Arena& a = arena();
  const std::lock_guard lock(a.mutex);
  return a.serial;
}

std::vector<Allocation> live_after(int serial) {
  Arena& a = arena();
  const std::lock_guard lock(a.mutex);
  std::vector<Allocation> blocks;
  if (a.serial == serial) return blocks;
  for (const auto& [begin, block] : a.live) {
    if (block.serial > serial) blocks.push_back(block);
  }
  std::sort(blocks.begin(), blocks.end(),
            [](const Allocation& x, const Allocation& y) { return x.serial < y.serial; });
  return blocks;
}

void set_name(const void* pointer, const std::string& name) {
  Arena& a = arena();
  const std::lock_guard lock(a.mutex);
  const auto address = reinterpret_cast<std::uintptr_t>(pointer);
  const auto after = a.live.upper_bound(address);
  if (after == a.live.begin()) return;
  Allocation& block = std::prev(after)->second;
  if (holds(block, address, 1)) block.given_name = name;
}

std::size_t bytes_in_use() {
  Arena& a = arena();
  const std::lock_guard lock(a.mutex);
  return a.in_use[static_cast<int>(MemoryKind::device)];
}

void use_up_addresses(std::size_t left) {
  initialise();
  Arena& a = arena();
  const std::lock_guard lock(a.mutex);
  a.frontier = std::max(a.frontier, g_arena_base + kArenaBytes - left);
}

}  // namespace device_memory
}  // namespace simt
