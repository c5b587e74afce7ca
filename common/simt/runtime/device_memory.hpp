// Simulated global memory: one reserved range of addresses (the arena) in which every cudaMalloc is
// cut out with its exact size, 256-byte aligned, with guard zones on both sides. Freed blocks stay
// poisoned. A map with one byte for every 4-byte word says what may be touched and what was
// written, so that the check of an access is one load.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace simt {

inline constexpr std::size_t kArenaBytes = std::size_t{1} << 36;  // reserved addresses, not memory

// Set once before the first allocation (device_memory.cpp); read by the access callbacks.
// `g_word_map[(address - g_arena_base) / 4]`: bits 0-3 = byte 0-3 of the word initialised,
// bits 4-7 = byte 0-3 allocated and not freed.
extern std::uintptr_t g_arena_base;
extern std::uint8_t* g_word_map;

// What memory in the arena is: of the device, or of the host and open to the device; or of the heap from
// which malloc takes in kernels.
enum class MemoryKind : std::uint8_t { device, managed, pinned, heap };

struct Allocation {
  std::uintptr_t begin = 0;
  std::size_t size = 0;
  bool freed = false;
  int serial = 0;                      // 1 for the first cudaMalloc of the program
  std::uintptr_t program_counter = 0;  // in the call that allocated it; 0 if unknown
  MemoryKind kind = MemoryKind::device;
  bool sparse = false;  // of allocate_sparse
  std::string given_name = {};

  std::string name() const {
    if (!given_name.empty()) return given_name;
    // Threads take blocks by the thousand, all at one place.
    if (kind == MemoryKind::heap) return "memory of malloc in a kernel";
    const char* const call = kind == MemoryKind::device    ? "cudaMalloc"
                             : kind == MemoryKind::managed ? "cudaMallocManaged"
                                                           : "cudaMallocHost";
    return std::string(call) + " number " + std::to_string(serial);
  }
};

namespace device_memory {

// Reserves the arena and its map. Called by the runtime's start-up; harmless when called again.
void initialise();

// `bytes` > 0. Returns nullptr when `capacity` bytes would be exceeded: of the model GPU's memory, to
// which pinned memory does not count, or of the heap.
// `program_counter` lies in the program's call.
void* allocate(std::size_t bytes, std::size_t capacity, std::uintptr_t program_counter = 0,
               MemoryKind kind = MemoryKind::device);

// The same, of which only pages that are touched cost memory, with their map: it reads as `values`, over
// and over, which count as initialised; without any as zeros, which do not. The values are a multiple of
// sparse_bytes(), and no small part of the whole. Also nullptr where the system has no such memory.
void* allocate_sparse(std::size_t bytes, std::span<const std::byte> values, std::size_t capacity,
                      std::uintptr_t program_counter = 0);
std::size_t sparse_bytes();

// Pages of these numbers (address / sparse_bytes()) were written; those of other memory are forgotten.
void note_written(const std::set<std::uintptr_t>& pages);
// Bytes [begin, end) of the allocation, in order and apart, with all that was noted and nothing that is
// not initialised.
struct Part {
  std::size_t begin = 0;
  std::size_t end = 0;
};
std::vector<Part> written_parts(const void* pointer);

// False if `pointer` is not the start of a live allocation.
bool release(void* pointer);

// True if `pointer` lies in the arena.
inline bool contains(const void* pointer) {
  return reinterpret_cast<std::uintptr_t>(pointer) - g_arena_base < kArenaBytes;
}

// True if all of [pointer, pointer + bytes) is inside one live allocation.
bool is_live_range(const void* pointer, std::size_t bytes);

// The live allocation that holds the address, if one does.
std::optional<Allocation> live_at(const void* pointer);

// Marks bytes as initialised (a copy or a kernel wrote them) or as not (a copy of unwritten bytes).
void mark_initialised(const void* pointer, std::size_t bytes);
void copy_initialised(const void* to, const void* from, std::size_t bytes);

// Fills live bytes with a poison pattern (0xff: a NaN as float) and marks them as not initialised.
void poison(void* pointer, std::size_t bytes);

// The allocation that holds the address, or else the live or freed one nearest to it (for
// messages).
std::optional<Allocation> nearest(const void* pointer);

std::size_t bytes_in_use();

// The serial of the last allocation, and the live ones after a serial, in order.
int last_serial();
std::vector<Allocation> live_after(int serial);
void set_name(const void* pointer, const std::string& name);

// For tests: takes all addresses that were never handed out, but the last `left` bytes, for used.
void use_up_addresses(std::size_t left);

}  // namespace device_memory
}  // namespace simt
