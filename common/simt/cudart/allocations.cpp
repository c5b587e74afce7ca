#include "common/simt/cudart/allocations.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <new>
#include <vector>

#include "common/simt/cudart/current_gpu.hpp"
#include "common/simt/cudart/devices.hpp"
#include "common/simt/cudart/host_access.hpp"
#include "common/simt/cudart/host_lines.hpp"
#include "common/simt/cudart/recording.hpp"
#include "common/simt/cudart/settings.hpp"
#include "common/simt/cudart/textures.hpp"
#include "common/simt/cudart/timeline.hpp"
#include "common/simt/simt.hpp"

namespace simt {

int allocations_made() { return cudart::allocations_made(); }

std::vector<LiveAllocation> live_allocations(int made) {
  std::vector<LiveAllocation> live;
  for (const cudart::Block& block : cudart::blocks()) {
    if (block.serial <= made) continue;
    const cudart::HostLine line = cudart::line_of_call(block.callers);
    live.push_back({block.name(), block.bytes, line.file, line.line});
  }
  return live;
}

}  // namespace simt

namespace simt::cudart {
namespace {

// Addresses, not memory.
constexpr std::size_t kArenaBytes = std::size_t{1} << 40;
constexpr std::size_t kMostCheckerBytes = std::size_t{4} << 30;
// Managed memory of so many bytes is sparse: a program may ask for more than there is, and touch little of it.
constexpr std::size_t kLeastSparse = std::size_t{256} << 20;

struct Blocks {
  std::map<std::uint64_t, Block> live;
  std::map<std::uint64_t, Block> freed;  // the last at each address
  std::map<int, std::size_t> of_device;  // bytes
  std::size_t of_heap = 0;
  std::map<int, GraphMemory> of_graphs;
  int serial = 0;
};
Blocks& all() {
  static Blocks& instance = *new Blocks;
  return instance;
}

bool is_variable(MemoryKind kind) {
  return kind == MemoryKind::variable || kind == MemoryKind::managed_variable ||
         kind == MemoryKind::launch;
}

// Throws std::bad_alloc if the GPU has not so many bytes left.
void expect_room(std::size_t bytes) {
  const std::size_t capacity = current_gpu().memory_bytes;
  if (bytes > capacity || bytes_in_use() > capacity - bytes) throw std::bad_alloc();
}

std::size_t whole_units(std::size_t bytes) {
  constexpr std::size_t kUnit = memory::Arena::kSparseUnit;
  return (bytes + kUnit - 1) / kUnit * kUnit;
}

void add(Block block) {
  watch_host_accesses();
  Blocks& blocks = all();
  if (!is_variable(block.kind)) block.serial = ++blocks.serial;
  if (!is_variable(block.kind) && block.kind != MemoryKind::heap) {
    block.callers = callers_of_runtime();
  }
  block.device = current_device();
  if (block.takes_of_device()) blocks.of_device[block.device] += block.bytes;
  if (block.kind == MemoryKind::heap) blocks.of_heap += block.bytes;
  if (block.kind == MemoryKind::graph) {
    GraphMemory& its = graph_memory();
    its.reserved += block.bytes;
    its.most_reserved = std::max(its.most_reserved, its.reserved);
  }
  blocks.freed.erase(block.begin);
  if (is_recording()) note_allocation(block);
  blocks.live[block.begin] = std::move(block);
}

}  // namespace

std::string Block::name() const {
  if (!given_name.empty()) return given_name;
  const auto all_callers = [] {
    std::vector<std::vector<std::uintptr_t>> callers;
    for (const auto* const table : {&all().live, &all().freed}) {
      for (const auto& [begin, block] : *table) callers.push_back(block.callers);
    }
    return callers;
  };
  if (std::string variable = variable_in_call(callers, all_callers); !variable.empty()) {
    return variable;
  }
  const char* const call = kind == MemoryKind::device       ? "cudaMalloc"
                           : kind == MemoryKind::managed    ? "cudaMallocManaged"
                           : kind == MemoryKind::registered ? "cudaHostRegister"
                                                            : "cudaMallocHost";
  return std::string(call) + " number " + std::to_string(serial);
}

memory::Arena& arena() {
  static memory::Arena& instance = *new memory::Arena(kArenaBytes);
  return instance;
}

checker::Checker& memory_checker(std::size_t worker) {
  static checker::Checker& first =
      *new checker::Checker(arena().begin(), kArenaBytes, kMostCheckerBytes);
  static std::vector<std::unique_ptr<checker::Checker>>& others =
      *new std::vector<std::unique_ptr<checker::Checker>>;
  while (others.size() < worker) {
    others.push_back(std::make_unique<checker::Checker>(
        arena().begin(), kArenaBytes, kMostCheckerBytes / settings().threads, &first));
  }
  return worker == 0 ? first : *others[worker - 1];
}

checker::Undo& memory_undo() {
  static checker::Undo& instance =
      *new checker::Undo(arena(), kArenaBytes, memory_checker().initialised());
  return instance;
}

void mark_written(std::uint64_t address, std::size_t bytes) {
  if (bytes != 0 && arena().contains(address)) memory_checker().initialised().mark(address, bytes);
}

void mark_copied(std::uint64_t to, std::uint64_t from, std::size_t bytes) {
  if (bytes == 0 || !arena().contains(to)) return;
  if (arena().contains(from)) {
    memory_checker().initialised().copy(to, from, bytes);
  } else {
    memory_checker().initialised().mark(to, bytes);
  }
}

std::uint64_t allocate(std::size_t bytes, MemoryKind kind, const std::string& name) {
  Block block{.bytes = bytes,
              .kind = kind,
              .is_sparse = kind == MemoryKind::managed && bytes >= kLeastSparse,
              .given_name = name};
  if (block.takes_of_device()) expect_room(bytes);
  const bool is_of_kernel = kind == MemoryKind::heap || kind == MemoryKind::launch;
  if (kind == MemoryKind::managed || kind == MemoryKind::managed_variable ||
      kind == MemoryKind::pinned) {
    timeline::begin();
  }
  block.begin = is_of_kernel      ? arena().allocate_for_kernel(bytes, name)
                : block.is_sparse ? arena().allocate_sparse(bytes, {}, true)
                                  : arena().allocate(bytes, name, block.is_open_to_host());
  const std::uint64_t begin = block.begin;
  // What host code may touch it may have written.
  if (block.is_sparse) {
    try {
      memory_checker().initialised().mark_sparse(begin, whole_units(bytes));
    } catch (const std::bad_alloc&) {
      // As a limit on the size of files refuses it.
      if (bytes > current_gpu().memory_bytes) {
        arena().free(begin);
        throw;
      }
      mark_written(begin, bytes);
    }
  } else if (block.is_open_to_host() || kind == MemoryKind::variable ||
             kind == MemoryKind::launch) {
    mark_written(begin, bytes);
  }
  add(std::move(block));
  return begin;
}

std::uint64_t allocate_sparse(std::size_t bytes, std::span<const std::byte> values) {
  expect_room(bytes);
  Block block{.bytes = bytes, .is_sparse = true};
  block.begin = arena().allocate_sparse(bytes, values);
  const std::uint64_t begin = block.begin;
  add(std::move(block));
  if (!values.empty()) memory_checker().initialised().mark_sparse(begin, whole_units(bytes));
  return begin;
}

std::uint64_t reserve_addresses(std::size_t bytes, std::size_t alignment) {
  return arena().reserve_range(bytes, alignment);
}

void open_range(std::uint64_t begin, std::size_t bytes, const std::string& name) {
  expect_room(bytes);
  arena().give_range(begin, bytes, name);
  std::map<std::uint64_t, Block>& live = all().live;
  Block opened{.begin = begin, .bytes = bytes, .given_name = name};
  if (const auto behind = live.find(begin + bytes); behind != live.end()) {
    opened.bytes += behind->second.bytes;
    all().of_device[behind->second.device] -= behind->second.bytes;
    live.erase(behind);
  }
  if (const Block* const before = block_at(begin - 1)) {
    opened.begin = before->begin;
    opened.bytes += before->bytes;
    all().of_device[before->device] -= before->bytes;
    live.erase(before->begin);
  }
  add(std::move(opened));
}

void close_range(std::uint64_t begin, std::size_t bytes) {
  std::map<std::uint64_t, Block>& live = all().live;
  const auto found = live.find(block_at(begin)->begin);
  Block first = found->second, last = found->second;
  timeline::forget(begin, bytes);
  arena().take_range(begin, bytes);
  all().of_device[first.device] -= bytes;
  live.erase(found);
  first.bytes = begin - first.begin;
  last.bytes -= first.bytes + bytes;
  last.begin = begin + bytes;
  for (const Block& rest : {first, last}) {
    if (rest.bytes != 0) live[rest.begin] = rest;
  }
}

void lend(void* host, std::size_t bytes) {
  const auto begin = reinterpret_cast<std::uint64_t>(host);
  arena().lend(begin, bytes, "");
  add({.begin = begin, .bytes = bytes, .kind = MemoryKind::registered});
}

bool release(std::uint64_t address) {
  Blocks& blocks = all();
  const auto found = blocks.live.find(address);
  if (found == blocks.live.end()) return false;
  Block& block = found->second;
  if (is_recording()) note_release(address);
  timeline::forget(address, block.bytes);
  free_images(reach(address), block.bytes);
  if (block.is_sparse) {
    memory_checker().initialised().forget_sparse(address, whole_units(block.bytes));
  }
  arena().free(address);
  if (block.takes_of_device()) blocks.of_device[block.device] -= block.bytes;
  if (block.kind == MemoryKind::heap) blocks.of_heap -= block.bytes;
  blocks.freed[address] = std::move(block);
  blocks.live.erase(found);
  return true;
}

const Block* freed_at(std::uint64_t begin) {
  const auto found = all().freed.find(begin);
  return found == all().freed.end() ? nullptr : &found->second;
}

bool is_any_open_to_host() {
  return std::any_of(all().live.begin(), all().live.end(),
                     [](const auto& one) { return one.second.is_open_to_host(); });
}

const Block* block_at(std::uint64_t address) {
  const Blocks& blocks = all();
  auto found = blocks.live.upper_bound(address);
  if (found == blocks.live.begin()) return nullptr;
  --found;
  return address - found->first < found->second.bytes ? &found->second : nullptr;
}

void give_flags(std::uint64_t begin, unsigned flags) { all().live.at(begin).flags = flags; }

void give_name(std::uint64_t address, const std::string& name) {
  const Block* const block = block_at(address);
  if (block != nullptr) all().live.at(block->begin).given_name = name;
}

std::string name_at(std::uint64_t begin) {
  const Blocks& blocks = all();
  for (const auto* const table : {&blocks.live, &blocks.freed}) {
    const auto found = table->find(begin);
    if (found != table->end()) return found->second.name();
  }
  return "";
}

std::vector<Block> blocks() {
  std::map<int, Block> by_serial;
  for (const auto& [begin, block] : all().live) {
    if (block.serial != 0) by_serial[block.serial] = block;
  }
  std::vector<Block> result;
  for (auto& [serial, block] : by_serial) result.push_back(std::move(block));
  return result;
}

void change_words(std::uint32_t (*changed)(std::uint32_t word)) {
  for (const auto& [begin, block] : all().live) {
    if (block.kind == MemoryKind::heap || block.kind == MemoryKind::launch || block.is_sparse) {
      continue;
    }
    std::byte* const bytes = reach(begin);
    for (std::size_t at = 0; at + sizeof(std::uint32_t) <= block.bytes;
         at += sizeof(std::uint32_t)) {
      std::uint64_t pair = 0;
      std::memcpy(&pair, bytes + at / 8 * 8, std::min<std::size_t>(8, block.bytes - at / 8 * 8));
      if (arena().contains(pair)) continue;  // a pointer is no number
      const auto word = static_cast<std::uint32_t>(at % 8 == 0 ? pair : pair >> 32);
      // Pages that nobody has written stay so.
      if (const std::uint32_t other = changed(word); other != word) {
        std::memcpy(bytes + at, &other, sizeof other);
      }
    }
  }
}

std::size_t bytes_in_use() { return all().of_device[current_device()]; }
std::size_t heap_bytes_in_use() { return all().of_heap; }
bool& heap_was_full() {
  static bool was_full = false;
  return was_full;
}
GraphMemory& graph_memory() { return all().of_graphs[current_device()]; }

void take_graph_memory(const void* pointer, bool is_taken) {
  const Block* const block = block_at(pointer);
  if (block == nullptr || block->kind != MemoryKind::graph || block->is_taken == is_taken) return;
  all().live.at(block->begin).is_taken = is_taken;
  GraphMemory& its = graph_memory();
  its.taken += is_taken ? block->bytes : 0 - block->bytes;
  its.most_taken = std::max(its.most_taken, its.taken);
  if (is_taken) memory_checker().initialised().forget(block->begin, block->bytes);
}
int allocations_made() { return all().serial; }

std::byte* reach(std::uint64_t address) { return arena().host(address); }

}  // namespace simt::cudart
