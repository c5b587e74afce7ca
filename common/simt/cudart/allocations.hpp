// Memory that device addresses name: who asked for it, what it is for, and where the engine finds its bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "common/simt/checker/checker.hpp"
#include "common/simt/checker/undo.hpp"
#include "common/simt/memory/arena.hpp"

namespace simt::cudart {

enum class MemoryKind : std::uint8_t {
  device,
  managed,           // host code may touch it
  pinned,            // the host's, open to kernels
  registered,        // the host's own, lent to kernels
  variable,          // __device__, __constant__
  managed_variable,  // __managed__
  heap,              // malloc in a kernel
  launch,            // a launch's own, as long as it runs
  graph,             // there for the launches of a graph
};

struct Block {
  std::uint64_t begin = 0;
  std::size_t bytes = 0;
  MemoryKind kind = MemoryKind::device;
  int device = 0;  // that has it, or used it first
  bool is_sparse = false;
  bool is_taken = false;  // of a graph: between its nodes that allocate it and free it
  unsigned flags = 0;     // of page-locked memory, as cudaHostGetFlags has them
  int serial = 0;         // 1 for the first that the program asked for; 0 of variables
  std::string given_name = {};
  std::vector<std::uintptr_t> callers = {};  // return addresses of the call, the innermost first

  std::string name() const;
  bool is_of_device() const { return kind != MemoryKind::pinned && kind != MemoryKind::registered; }
  /// Managed memory comes and goes, and may be more than a device has.
  bool takes_of_device() const { return is_of_device() && kind != MemoryKind::managed; }
  /// Host code may touch it, and kernels.
  bool is_open_to_host() const {
    return !is_of_device() || kind == MemoryKind::managed || kind == MemoryKind::managed_variable;
  }
};

memory::Arena& arena();
/// What is known of the arena's memory: what has been written, who touches it.
/// Each of several threads that run blocks has a checker of its own.
checker::Checker& memory_checker(std::size_t worker = 0);
/// So that a launch can be run once more.
checker::Undo& memory_undo();

/// The address, zeroed or not as the device would have it. Throws std::bad_alloc when the GPU that is simulated has no
/// such memory left, to which the host's does not count.
std::uint64_t allocate(std::size_t bytes, MemoryKind kind, const std::string& name = "");
/// Memory of which only the pages that are written cost anything, as Arena::allocate_sparse() gives it. It counts as written
/// if it has values. Throws std::bad_alloc.
std::uint64_t allocate_sparse(std::size_t bytes, std::span<const std::byte> values);
/// Addresses that hold nothing until a part of them is opened, which is one allocation with what lies beside it. Throws
/// std::bad_alloc.
std::uint64_t reserve_addresses(std::size_t bytes, std::size_t alignment);
void open_range(std::uint64_t begin, std::size_t bytes, const std::string& name);
void close_range(std::uint64_t begin, std::size_t bytes);
/// Host memory that is registered.
void lend(void* host, std::size_t bytes);
/// False if no live block begins there.
bool release(std::uint64_t address);

/// From now on it is called so. Nothing happens if no live block holds the address.
void give_name(std::uint64_t address, const std::string& name);
/// Of page-locked memory that begins there.
void give_flags(std::uint64_t begin, unsigned flags);
/// The live block that holds the address; null if none does.
const Block* block_at(std::uint64_t address);
inline const Block* block_at(const void* pointer) {
  return block_at(reinterpret_cast<std::uint64_t>(pointer));
}
/// The block that began there and was freed, the last one; null if there was none.
const Block* freed_at(std::uint64_t begin);
/// Whether a live block is open to the host.
bool is_any_open_to_host();
/// The name of a block that is live or was freed; empty if there was none.
std::string name_at(std::uint64_t begin);
/// Live blocks that the program asked for, in that order, and how much memory of the current device is taken.
std::vector<Block> blocks();
/// Changes words of the memory that the host may have given values, all but those of pointers: of live blocks other than
/// kernels' own.
void change_words(std::uint32_t (*changed)(std::uint32_t word));
std::size_t bytes_in_use();
std::size_t heap_bytes_in_use();
/// Whether a kernel has asked for more than is left.
bool& heap_was_full();
/// Of the current device's memory what graphs have, and what their launches have taken of it and not freed; now and at
/// most since that was forgotten.
struct GraphMemory {
  std::size_t reserved = 0, taken = 0, most_reserved = 0, most_taken = 0;
};
GraphMemory& graph_memory();
/// A node of a graph that runs allocates or frees it.
void take_graph_memory(const void* pointer, bool is_taken);
int allocations_made();

/// Bytes of the arena that the host has written, or copied.
void mark_written(std::uint64_t address, std::size_t bytes);
void mark_copied(std::uint64_t to, std::uint64_t from, std::size_t bytes);

/// Where the engine finds the byte of a device address or of one of the host's.
std::byte* reach(std::uint64_t address);
inline std::byte* reach(const void* pointer) {
  return reach(reinterpret_cast<std::uint64_t>(pointer));
}

}  // namespace simt::cudart
