// The simulated GPU's memory: addresses, the map of what may be touched and what was written.
#include "common/simt/runtime/device_memory.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <memory>
#include <set>
#include <span>
#include <thread>
#include <vector>

#include "tests/catch.hpp"

namespace memory = simt::device_memory;

namespace {

constexpr std::size_t kPlenty = std::size_t{1} << 40;

std::uintptr_t address_of(const void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer); }

// What the callbacks look at.
bool is_allocated(const void* pointer) {
  const std::uintptr_t offset = address_of(pointer) - simt::g_arena_base;
  return simt::g_word_map[offset / 4] >> (4 + offset % 4) & 1;
}
bool is_initialised(const void* pointer) {
  const std::uintptr_t offset = address_of(pointer) - simt::g_arena_base;
  return simt::g_word_map[offset / 4] >> (offset % 4) & 1;
}

// A block that frees itself.
struct Block {
  explicit Block(std::size_t bytes) : begin(static_cast<char*>(memory::allocate(bytes, kPlenty))) {
    REQUIRE(begin != nullptr);
  }
  ~Block() { memory::release(begin); }
  char* begin;
};

}  // namespace

TEST_CASE("nothing on the host is device memory") {
  int local = 0;
  static int global = 0;
  const auto heap = std::make_unique<int>(0);
  CHECK_FALSE(memory::contains(nullptr));
  CHECK_FALSE(memory::contains(&local));
  CHECK_FALSE(memory::contains(&global));
  CHECK_FALSE(memory::contains(heap.get()));
  CHECK_FALSE(memory::contains(reinterpret_cast<void*>(&is_allocated)));
  CHECK_FALSE(memory::is_live_range(&local, 1));
  // Marks of host memory are no marks, and no crash.
  memory::mark_initialised(&local, sizeof(local));
}

TEST_CASE("sparse memory holds its values over and over, and costs what is touched") {
  const std::size_t page = memory::sparse_bytes();
  std::vector<int> values(1021 * page / sizeof(int));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<int>(i);
  const std::size_t bytes = (std::size_t{8} << 30) - 100;
  auto* const block =
      static_cast<int*>(memory::allocate_sparse(bytes, std::as_bytes(std::span(values)), kPlenty));
  REQUIRE(block != nullptr);
  const std::size_t last = bytes / sizeof(int) - 1;
  for (const std::size_t i :
       {std::size_t{0}, values.size() - 1, values.size(), std::size_t{1} << 30, last}) {
    CHECK(block[i] == static_cast<int>(i % values.size()));
    CHECK(is_allocated(block + i));
    CHECK(is_initialised(block + i));
  }
  // Short values would be more pieces than the system keeps apart.
  CHECK(memory::allocate_sparse(bytes, std::as_bytes(std::span(values).first(page / sizeof(int))),
                                kPlenty) == nullptr);
  const auto* const end = reinterpret_cast<const char*>(block) + bytes;
  CHECK(is_allocated(end - 1));
  CHECK_FALSE(is_allocated(end));
  CHECK_FALSE(is_allocated(reinterpret_cast<const char*>(block) - 1));
  // A write is one page's own.
  block[1000] = -1;
  CHECK(block[1000 + values.size()] == 1000);
  CHECK(memory::written_parts(block).empty());
  memory::note_written({address_of(block + 1000) / page, 5});
  const auto parts = memory::written_parts(block);
  REQUIRE(parts.size() == 1);
  CHECK(parts[0].begin / page == 1000 * sizeof(int) / page);
  CHECK(parts[0].end - parts[0].begin == page);
  CHECK(memory::release(block));
  CHECK_FALSE(is_allocated(block));
  CHECK_FALSE(is_allocated(end - 1));
  CHECK_FALSE(is_initialised(block));
}

TEST_CASE("sparse memory without values is not initialised until it is written") {
  const std::size_t bytes = std::size_t{8} << 30;
  // Its addresses are used again: there are not so many.
  for (int turn = 0; turn < 20; ++turn) {
    auto* const block = static_cast<char*>(memory::allocate_sparse(bytes, {}, kPlenty));
    REQUIRE(block != nullptr);
    CHECK(memory::written_parts(block).empty());
    const std::size_t place = (std::size_t{5} << 30) + 4;
    CHECK(is_allocated(block + place));
    CHECK_FALSE(is_initialised(block + place));
    memory::mark_initialised(block + place, 8);
    memory::note_written({address_of(block + place) / memory::sparse_bytes()});
    const auto parts = memory::written_parts(block);
    REQUIRE(parts.size() == 1);
    CHECK(parts[0].begin == place);
    CHECK(parts[0].end == place + 8);
    CHECK(memory::release(block));
  }
  CHECK(memory::allocate_sparse(bytes, {}, bytes - 1) == nullptr);
}

TEST_CASE("exactly the bytes asked for may be touched") {
  for (const std::size_t bytes : {1, 2, 3, 4, 5, 7, 255, 256, 257, 1000, 4096, 100003}) {
    Block block(bytes);
    CAPTURE(bytes);
    CHECK(address_of(block.begin) % 256 == 0);
    CHECK(memory::contains(block.begin));
    bool inside = true;
    for (std::size_t i = 0; i < bytes; ++i) inside = inside && is_allocated(block.begin + i);
    CHECK(inside);
    // Guards on both sides.
    bool outside = true;
    for (std::size_t i = 1; i <= 4096; ++i) {
      outside =
          outside && !is_allocated(block.begin - i) && !is_allocated(block.begin + bytes + i - 1);
    }
    CHECK(outside);
    CHECK(memory::is_live_range(block.begin, bytes));
    CHECK_FALSE(memory::is_live_range(block.begin, bytes + 1));
    CHECK_FALSE(memory::is_live_range(block.begin - 1, 1));
    CHECK(memory::is_live_range(block.begin + bytes - 1, 1));
    CHECK_FALSE(memory::is_live_range(block.begin + bytes, 1));
    CHECK_FALSE(memory::is_live_range(block.begin + 1, ~std::size_t{0}));
  }
}

TEST_CASE("new memory holds NaNs and counts as unwritten") {
  Block block(1001);
  bool poisoned = true, unwritten = true;
  for (int i = 0; i < 1001; ++i) {
    poisoned = poisoned && block.begin[i] == static_cast<char>(0xff);
    unwritten = unwritten && !is_initialised(block.begin + i);
  }
  CHECK(poisoned);
  CHECK(unwritten);
  float value = 0;
  std::memcpy(&value, block.begin, sizeof(value));
  CHECK(value != value);
}

TEST_CASE("bytes are marked one by one") {
  Block block(64);
  for (std::size_t begin = 0; begin < 12; ++begin) {
    for (std::size_t bytes = 0; bytes < 20; ++bytes) {
      memory::poison(block.begin, 64);
      memory::mark_initialised(block.begin + begin, bytes);
      bool right = true;
      for (std::size_t i = 0; i < 64; ++i) {
        right = right && is_allocated(block.begin + i) &&
                is_initialised(block.begin + i) == (i >= begin && i < begin + bytes);
      }
      CAPTURE(begin, bytes);
      CHECK(right);
    }
  }
  // Poison again takes the marks and the values away, only where asked.
  std::memset(block.begin, 1, 64);
  memory::mark_initialised(block.begin, 64);
  memory::poison(block.begin + 5, 6);
  for (int i = 0; i < 64; ++i) {
    const bool taken = i >= 5 && i < 11;
    CAPTURE(i);
    CHECK(is_initialised(block.begin + i) == !taken);
    CHECK(block.begin[i] == static_cast<char>(taken ? 0xff : 1));
  }
}

TEST_CASE("a copy of unwritten bytes is unwritten") {
  Block from(64), to(64);
  for (std::size_t shift = 0; shift < 4; ++shift) {
    for (std::size_t bytes = 0; bytes < 24; ++bytes) {
      memory::poison(from.begin, 64);
      memory::poison(to.begin, 64);
      for (int i = 0; i < 64; i += 3) memory::mark_initialised(from.begin + i, 1);
      memory::mark_initialised(to.begin, 64);
      memory::copy_initialised(to.begin + shift, from.begin + 4, bytes);
      bool right = true;
      for (std::size_t i = 0; i < 64; ++i) {
        const bool copied = i >= shift && i < shift + bytes;
        right = right && is_allocated(to.begin + i) &&
                is_initialised(to.begin + i) == (!copied || (i - shift + 4) % 3 == 0);
      }
      CAPTURE(shift, bytes);
      CHECK(right);
    }
  }
  // What comes from elsewhere has been written.
  int host = 0;
  memory::poison(to.begin, 64);
  memory::copy_initialised(to.begin, &host, 4);
  CHECK(is_initialised(to.begin + 3));
  CHECK_FALSE(is_initialised(to.begin + 4));
}

TEST_CASE("freed memory stays forbidden and its address is not used again") {
  const std::size_t before = memory::bytes_in_use();
  auto* first = static_cast<char*>(memory::allocate(10000, kPlenty));
  REQUIRE(first != nullptr);
  CHECK(memory::bytes_in_use() == before + 10000);
  CHECK_FALSE(memory::release(first + 1));
  CHECK_FALSE(memory::release(nullptr));
  CHECK(memory::release(first));
  CHECK_FALSE(memory::release(first));
  CHECK(memory::bytes_in_use() == before);
  CHECK_FALSE(is_allocated(first));
  CHECK_FALSE(is_allocated(first + 9999));
  CHECK_FALSE(memory::is_live_range(first, 1));
  std::set<void*> places = {first};
  for (int i = 0; i < 100; ++i) {
    void* next = memory::allocate(10000, kPlenty);
    REQUIRE(next != nullptr);
    CHECK(places.insert(next).second);
    CHECK(memory::release(next));
  }
}

TEST_CASE("the nearest allocation is found") {
  Block low(1000), high(1000);
  REQUIRE(low.begin < high.begin);
  const auto begin_of = [](const void* pointer) {
    const auto found = memory::nearest(pointer);
    REQUIRE(found);
    return found->begin;
  };
  CHECK(begin_of(low.begin) == address_of(low.begin));
  CHECK(begin_of(low.begin + 999) == address_of(low.begin));
  CHECK(begin_of(low.begin + 1000) == address_of(low.begin));
  CHECK(begin_of(low.begin + 5000) == address_of(low.begin));
  CHECK(begin_of(high.begin - 1) == address_of(high.begin));
  CHECK(begin_of(high.begin + 100000) == address_of(high.begin));
  const auto found = memory::nearest(high.begin + 4);
  CHECK(found->size == 1000);
  CHECK_FALSE(found->freed);
  CHECK(found->serial == memory::nearest(low.begin)->serial + 1);
  memory::release(high.begin);
  CHECK(memory::nearest(high.begin + 4)->freed);
}

TEST_CASE("the capacity of the GPU is a limit") {
  const std::size_t used = memory::bytes_in_use();
  CHECK(memory::allocate(1001, used + 1000) == nullptr);
  void* block = memory::allocate(1000, used + 1000);
  REQUIRE(block != nullptr);
  CHECK(memory::allocate(1, used + 1000) == nullptr);
  memory::release(block);
  CHECK(memory::allocate(0, kPlenty) == nullptr);
  CHECK(memory::allocate(simt::kArenaBytes + 1, kPlenty) == nullptr);
  CHECK(memory::allocate(~std::size_t{0}, ~std::size_t{0}) == nullptr);
}

TEST_CASE("threads of the host may allocate at once") {
  std::vector<std::thread> threads;
  std::vector<std::vector<char*>> blocks(4);
  for (auto& mine : blocks) {
    threads.emplace_back([&mine] {
      for (int i = 0; i < 200; ++i) {
        mine.push_back(static_cast<char*>(memory::allocate(100 + i, kPlenty)));
        if (i % 3 == 0) {
          memory::release(mine.back());
          mine.pop_back();
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::set<char*> all;
  for (const auto& mine : blocks) {
    for (char* block : mine) {
      REQUIRE(block != nullptr);
      CHECK(all.insert(block).second);
    }
  }
  char* end = nullptr;
  for (char* block : all) {
    CHECK(block >= end);
    end = block + memory::nearest(block)->size;
    CHECK(memory::release(block));
  }
}

namespace {

// What happens once all addresses have been used, in a process that ends with it. Returns the number
// of the step that went wrong, or 0.
int use_addresses_again() {
  auto* kept = static_cast<char*>(memory::allocate(1000, kPlenty));
  std::memset(kept, 7, 1000);
  memory::release(memory::allocate(1000, kPlenty));
  memory::use_up_addresses(std::size_t{1} << 20);
  void* highest = nullptr;
  int turns = 0;
  for (bool again = false; !again; ++turns) {
    void* block = memory::allocate(1, kPlenty);
    if (block == nullptr) return 1;
    again = block < highest;
    highest = block;
    if (!is_allocated(block) || is_initialised(block)) return 2;
    if (memory::nearest(block)->begin != address_of(block)) return 3;
    if (!memory::release(block) || is_allocated(block)) return 4;
    if (turns > 100) return 5;
  }
  if (turns < 3) return 6;
  // Large blocks fit between the live ones, and do not touch them.
  constexpr std::size_t kLarge = std::size_t{1} << 24;
  auto* first = static_cast<char*>(memory::allocate(kLarge, kPlenty));
  auto* second = static_cast<char*>(memory::allocate(kLarge, kPlenty));
  if (first == nullptr || second == nullptr) return 7;
  const auto apart = [](const char* a, std::size_t a_bytes, const char* b, std::size_t b_bytes) {
    return a + a_bytes < b || b + b_bytes < a;
  };
  if (!apart(first, kLarge, second, kLarge) || !apart(first, kLarge, kept, 1000)) return 8;
  if (!is_allocated(second + kLarge - 1) || is_allocated(second + kLarge)) return 9;
  if (kept[0] != 7 || kept[999] != 7 || !memory::is_live_range(kept, 1000)) return 10;
  return 0;
}

}  // namespace

TEST_CASE("addresses are used again only when all have been used") {
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) _exit(use_addresses_again());
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  REQUIRE(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
}
