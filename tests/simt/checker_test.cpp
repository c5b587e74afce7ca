// The checker is told accesses as the machine would tell them; kernels are written out as what their warps do.
#include "common/simt/checker/checker.hpp"

#include <cstdio>
#include <cstring>
#include <ctime>
#include <map>
#include <memory>

#include "tests/catch.hpp"

using halo::test::contains;
using namespace simt;
using namespace simt::checker;

namespace {

constexpr std::uint64_t kMemory = 0x100000;
constexpr std::size_t kMemoryBytes = 1 << 20;
constexpr std::uint32_t kAll = ~0u;

std::uint32_t lane_bit(int lane) { return 1u << lane; }

using AddressOf = std::function<std::uint64_t(int lane)>;

// As the machine describes them.
memory::WarpAddresses lanes_of(const std::array<std::uint64_t, 32>& addresses, std::uint32_t mask,
                               int bytes) {
  memory::WarpAddresses lanes{addresses, mask, bytes};
  const auto size = static_cast<std::uint64_t>(bytes);
  lanes.least = UINT64_MAX;
  lanes.consecutive = true;
  std::uint64_t next = 0;
  for (std::size_t lane = 0; lane < 32; ++lane) {
    if ((mask >> lane & 1) == 0) continue;
    const bool is_first = lanes.least == UINT64_MAX;
    const bool follows = is_first || ((mask >> (lane - 1) & 1) != 0 && addresses[lane] == next);
    lanes.consecutive = lanes.consecutive && follows;
    next = addresses[lane] + size;
    lanes.least = std::min(lanes.least, addresses[lane]);
    lanes.beyond = std::max(lanes.beyond, next);
  }
  return lanes;
}

// A launch in the making. Memory is there, so that stores can be compared.
class Kernel {
 public:
  Kernel() : memory_(kMemoryBytes) {
    checker.initialised().mark(kMemory, kMemoryBytes);
    launch.name_of = [](Space space, std::uint64_t) {
      return std::string(space == Space::shared ? "tile" : "data");
    };
    launch.shared_bytes = 4096;
    launch.looks_for_uninitialised = false;
  }

  // A place in the text of the kernel.
  int site(const Site& its = {}) {
    sites.push_back(its);
    return static_cast<int>(sites.size() - 1);
  }
  void begin(unsigned threads = 64) {
    launch.threads = threads;
    launch.sites = sites;
    checker.begin_launch(launch);
  }
  BlockCheck& block(unsigned number) {
    auto& its = blocks_[number];
    if (its == nullptr) its = std::make_unique<BlockCheck>(checker, number);
    return *its;
  }
  void end_block(unsigned number) { blocks_.erase(number); }

  bool touch(unsigned number, unsigned warp, int site, Act act, Space space, std::uint32_t mask,
             const AddressOf& address_of, int bytes = 4, int value = -1) {
    std::array<std::uint64_t, 32> addresses{};
    std::vector<std::byte>& shared = shared_[number];
    shared.resize(launch.shared_bytes);
    std::byte* const memory = space == Space::shared ? shared.data() : memory_.data() - kMemory;
    for (int lane = 0; lane < 32; ++lane) {
      addresses[static_cast<std::size_t>(lane)] = address_of(lane);
    }
    // -1: each lane another value.
    std::vector<std::byte> packed(32 * static_cast<std::size_t>(bytes));
    for (int lane = 0; lane < 32; ++lane) {
      const std::uint64_t its =
          value < 0 ? 1000u + number * 1024 + warp * 32 + static_cast<unsigned>(lane)
                    : static_cast<std::uint64_t>(value);
      std::memcpy(packed.data() + lane * bytes, &its, static_cast<std::size_t>(std::min(bytes, 8)));
    }
    Access access{space, act, lanes_of(addresses, mask, bytes), site, warp, memory, {}, bytes};
    if (act == Act::store) access.values[0] = packed.data();
    const bool may = block(number).access(access) == 0;
    for (int lane = 0; lane < 32; ++lane) {
      if ((mask >> lane & 1) == 0 || act != Act::store || !may) continue;
      std::memcpy(memory + address_of(lane), packed.data() + lane * bytes,
                  static_cast<std::size_t>(bytes));
    }
    return may;
  }

  std::vector<Finding> end() {
    blocks_.clear();
    return checker.end_launch([](std::int32_t) { return Line{}; });
  }
  // "race 0>1" for each finding: kind, sites.
  std::string found() {
    std::string text;
    for (const Finding& one : end()) {
      text += (text.empty() ? "" : ", ") + std::string(hazard_name(one.hazard)) + " " +
              std::to_string(one.site);
      if (one.other_site >= 0) text += ">" + std::to_string(one.other_site);
    }
    return text;
  }

  Checker checker{kMemory, kMemoryBytes, std::size_t{1} << 28};
  Launch launch;
  std::vector<Site> sites;

 private:
  std::vector<std::byte> memory_;
  std::map<unsigned, std::vector<std::byte>> shared_;
  std::map<unsigned, std::unique_ptr<BlockCheck>> blocks_;
};

AddressOf words(std::uint64_t base, int step = 1) {
  return [=](int lane) { return base + static_cast<std::uint64_t>(4 * step * lane); };
}
AddressOf one(std::uint64_t address) {
  return [=](int) { return address; };
}

// A kernel of places 0 = store, 1 = load, 2 = atomic, plain all.
struct Plain : Kernel {
  int store = site(), load = site(), atomic = site();
  void shared_store(unsigned block, unsigned warp, const AddressOf& at, std::uint32_t mask = kAll) {
    touch(block, warp, store, Act::store, Space::shared, mask, at);
  }
  void shared_load(unsigned block, unsigned warp, const AddressOf& at, std::uint32_t mask = kAll) {
    touch(block, warp, load, Act::load, Space::shared, mask, at);
  }
  void shared_atomic(unsigned block, unsigned warp, const AddressOf& at,
                     std::uint32_t mask = kAll) {
    touch(block, warp, atomic, Act::atomic, Space::shared, mask, at);
  }
  void global_store(unsigned block, unsigned warp, const AddressOf& at, std::uint32_t mask = kAll,
                    int value = -1) {
    touch(block, warp, store, Act::store, Space::global, mask, at, 4, value);
  }
  void global_load(unsigned block, unsigned warp, const AddressOf& at, std::uint32_t mask = kAll) {
    touch(block, warp, load, Act::load, Space::global, mask, at);
  }
  void global_atomic(unsigned block, unsigned warp, const AddressOf& at,
                     std::uint32_t mask = kAll) {
    touch(block, warp, atomic, Act::atomic, Space::global, mask, at);
  }
};

}  // namespace

TEST_CASE("A tile that is filled, synchronised and read has no race") {
  Plain k;
  k.begin();
  for (unsigned round = 0; round < 3; ++round) {
    for (unsigned warp = 0; warp < 2; ++warp) k.shared_store(0, warp, words(128 * warp));
    k.block(0).barrier();
    for (unsigned warp = 0; warp < 2; ++warp) {
      for (int i = 0; i < 5; ++i) {
        k.shared_load(0, warp, words(128 * warp + 4u * static_cast<unsigned>(i)), kAll >> 1);
      }
      k.shared_load(0, warp, one(64));
    }
    k.block(0).barrier();
  }
  CHECK(k.found() == "");
}

// What has been read so often that it needs no look is still there for whoever writes.
TEST_CASE("A store beside words that warps have read many times is a race, until they meet") {
  const unsigned readers = GENERATE(1u, 3u);
  Plain k;
  k.begin(160);
  k.shared_store(0, 0, words(0));
  k.shared_store(0, 1, words(128));
  k.block(0).barrier();
  for (unsigned i = 0; i < 6; ++i) {
    for (unsigned warp = 0; warp < readers; ++warp) k.shared_load(0, warp, words(4 * i));
  }
  SECTION("another warp's") {
    k.shared_store(0, 4, one(40), 1);
    CHECK(k.found() == "race 0>1");
  }
  SECTION("another lane's") {
    k.shared_store(0, 0, one(40), 1);
    CHECK(k.found() == "race 0>1");
  }
  SECTION("a lane's that has met the others") {
    k.block(0).sync_warp(0, kAll, kAll);
    k.shared_store(0, 0, one(40), 1);
    CHECK(k.found() == (readers == 1 ? "" : "race 0>1"));
  }
  SECTION("the first one's behind a __syncwarp, after which others have read again") {
    k.block(0).sync_warp(0, kAll, kAll);
    k.shared_load(0, 0, words(4));
    k.shared_store(0, 0, one(40), 1);
    CHECK(k.found() == "race 0>1");
  }
  SECTION("behind a barrier") {
    k.block(0).barrier();
    k.shared_store(0, 4, one(40), 1);
    CHECK(k.found() == "");
  }
}

TEST_CASE(
    "Blocks that different checkers have looked at have met if one wrote what another touched") {
  Plain one_of_two, other;
  one_of_two.begin();
  other.begin();
  std::array<Checker*, 2> both = {&one_of_two.checker, &other.checker};
  one_of_two.global_store(0, 0, words(kMemory));
  one_of_two.global_load(0, 0, words(kMemory + 512));
  other.global_load(1, 0, words(kMemory + 512));
  other.global_store(1, 0, words(kMemory + 128));
  CHECK_FALSE(Checker::have_met(both));
  SECTION("read after it was written") { other.global_load(1, 0, words(kMemory + 124), 1); }
  SECTION("written after it was read") { other.global_store(1, 0, words(kMemory + 636), 1); }
  SECTION("written twice") { other.global_store(1, 0, words(kMemory), 1); }
  CHECK(Checker::have_met(both));
}

TEST_CASE("A missing barrier before the tile is read, or written again, is a race") {
  const bool is_first = GENERATE(true, false);
  Plain k;
  k.begin();
  k.shared_store(0, 0, words(0));
  k.shared_store(0, 1, words(128));
  if (is_first) {
    k.block(0).sync_warp(0, kAll, kAll);
  } else {
    k.block(0).barrier();
  }
  k.shared_load(0, 0, words(4));
  if (!is_first) k.shared_store(0, 1, words(128));
  const std::vector<Finding> found = k.end();
  REQUIRE(found.size() == 1);
  CHECK(found[0].hazard == Hazard::race);
  CHECK(found[0].site == k.store);
  CHECK(found[0].other_site == k.load);
  CHECK(found[0].party.thread == 32);
  CHECK(found[0].other.thread == 31);
  CHECK(found[0].remedy == Remedy::block);
  CHECK(found[0].count == 1);
  const std::string text = message(found[0], {2, 1, 1}, {64, 1, 1}, [](std::int32_t site) {
    return Line{"a.cu", 10 + site};
  });
  CHECK(
      text ==
      "thread (32,0,0) of block (0,0,0) writes tile, which is read, without a barrier between, by "
      "thread (31,0,0) at a.cu:11. Put a __syncthreads() between the two, or give each thread its "
      "own element.");
}

TEST_CASE("Of two threads that write by one statement no barrier between is advised") {
  Plain k;
  k.begin();
  k.shared_store(0, 0, words(0));
  k.shared_store(0, 1, words(0));
  const std::vector<Finding> found = k.end();
  REQUIRE(found.size() == 1);
  CHECK(found[0].hazard == Hazard::race);
  CHECK(found[0].site == found[0].other_site);
  CHECK(found[0].remedy == Remedy::one_statement);
}

TEST_CASE("Whoever reads, in whatever order, a writer that is not ordered races with one of them") {
  // Threads of three warps read a word; each thread in turn overwrites it. Only a thread that is the only reader may.
  const std::vector<std::vector<int>> readers = {{0},        {0, 1},      {1, 0},      {0, 33},
                                                 {33, 0},    {0, 33, 70}, {70, 33, 0}, {0, 1, 33},
                                                 {33, 1, 0}, {5, 5, 5}};
  const Space space = GENERATE(Space::shared, Space::global);
  const std::uint64_t at = space == Space::shared ? 16 : kMemory + 16;
  for (const std::vector<int>& its : readers) {
    for (const int writer : {0, 1, 5, 33, 70, 80}) {
      Plain k;
      k.begin(96);
      for (const int reader : its) {
        k.touch(0, static_cast<unsigned>(reader / 32), k.load, Act::load, space,
                lane_bit(reader % 32), one(at));
      }
      k.touch(0, static_cast<unsigned>(writer / 32), k.store, Act::store, space,
              lane_bit(writer % 32), one(at));
      const bool is_alone = std::all_of(its.begin(), its.end(), [&](int r) { return r == writer; });
      INFO("writer " << writer << ", first reader " << its[0] << " of " << its.size());
      const std::vector<Finding> found = k.end();
      REQUIRE(found.size() == (is_alone ? 0 : 1));
      if (is_alone) continue;
      CHECK(found[0].party.thread == static_cast<unsigned>(writer));
      CHECK(std::find(its.begin(), its.end(), static_cast<int>(found[0].other.thread)) !=
            its.end());
      CHECK(found[0].other.thread != static_cast<unsigned>(writer));
    }
  }
}

TEST_CASE("Lanes of a warp are ordered by __syncwarp, and by it alone") {
  const bool syncs = GENERATE(true, false);
  Plain k;
  k.begin(32);
  k.shared_store(0, 0, words(0));
  if (syncs) k.block(0).sync_warp(0, kAll, kAll);
  k.shared_load(0, 0, words(4), kAll >> 1);
  if (syncs) k.block(0).sync_warp(0, kAll, kAll);
  k.shared_store(0, 0, words(0), 0xffff);
  const std::vector<Finding> found = k.end();
  REQUIRE(found.size() == (syncs ? 0 : 1));
  if (!syncs) CHECK(found[0].remedy == Remedy::lanes);
}

TEST_CASE("__syncwarp does not order other warps") {
  Plain k;
  k.begin();
  k.shared_store(0, 0, words(0));
  k.block(0).sync_warp(0, kAll, kAll);
  k.shared_load(0, 0, words(0));
  k.block(0).sync_warp(1, kAll, kAll);
  k.shared_load(0, 1, words(0), 1);
  CHECK(k.found() == "race 0>1");
}

TEST_CASE("A __syncwarp of some lanes orders these, and forgets nobody in between") {
  // Lanes 0 to 30 read; the even ones meet; lane 4 overwrites.
  const bool odd_read = GENERATE(true, false);
  Plain k;
  k.launch.hands_on = true;  // as for every kernel with a mask that is not constant
  k.begin(32);
  k.shared_load(0, 0, one(0), odd_read ? 0x7fffffffu : 0x55555555u);
  k.block(0).sync_warp(0, 0x55555555u, kAll);
  k.shared_store(0, 0, one(0), lane_bit(4));
  const std::vector<Finding> found = k.end();
  REQUIRE(found.size() == (odd_read ? 1 : 0));
  if (odd_read) CHECK(found[0].other.thread == 1);
}

TEST_CASE("A part of a block that meets orders its threads only") {
  Plain k;
  k.launch.hands_on = true;
  k.begin(96);
  k.shared_store(0, 0, words(0));
  const std::array<std::uint32_t, 2> met = {kAll, kAll};
  k.block(0).meet(met);
  k.shared_load(0, 1, words(0));
  k.shared_load(0, 2, one(8), 1);
  const std::vector<Finding> found = k.end();
  REQUIRE(found.size() == 1);
  CHECK(found[0].party.thread == 2);
  CHECK(found[0].other.thread == 64);
}

TEST_CASE("Two lanes of one store on the same word: a race, or a note if they store the same") {
  const int value = GENERATE(-1, 7);
  Plain k;
  k.begin(32);
  k.touch(0, 0, k.store, Act::store, Space::global, 3, one(kMemory), 4, value);
  CHECK(k.found() == (value < 0 ? "race 0>0" : "same_value_write 0>0"));
}

TEST_CASE("Blocks that store one value to one word get a note, with different values a race") {
  Plain k;
  k.begin(32);
  const bool differ = GENERATE(true, false);
  k.global_store(0, 0, one(kMemory + 64), 1, 5);
  k.global_store(1, 0, one(kMemory + 64), 1, 5);
  k.global_store(2, 0, one(kMemory + 64), 1, differ ? 6 : 5);
  CHECK(k.found() == (differ ? "race 0>0" : "same_value_write 0>0"));
}

TEST_CASE("A race between blocks names a thread of each") {
  Plain k;
  k.begin();
  for (unsigned block = 0; block < 3; ++block) {
    for (unsigned warp = 0; warp < 2; ++warp) {
      // In place, with a neighbour: thread i reads i and i + 1 and writes i.
      const std::uint64_t at = kMemory + 256 * block + 128 * warp;
      k.global_load(block, warp, words(at));
      k.block(block).barrier();
      k.global_load(block, warp, words(at + 4));
      k.block(block).barrier();
      k.block(block).barrier();
      k.global_store(block, warp, words(at));
      k.block(block).barrier();
    }
  }
  std::vector<Finding> found = k.end();
  REQUIRE(!found.empty());
  std::erase_if(found, [](const Finding& f) { return !f.is_between_blocks(); });
  REQUIRE(found.size() == 1);
  CHECK(found[0].party == Party{1, 0});
  CHECK(found[0].other == Party{0, 63});
  CHECK(message(found[0], {3, 1, 1}, {64, 1, 1},
                [](std::int32_t) {
                  return Line{"a.cu", 4};
                }) ==
        "race between blocks: thread (0,0,0) of block (1,0,0) writes data, which is read by thread "
        "(63,0,0) of block (0,0,0) at a.cu:4. Nothing orders the blocks of a launch, no barrier "
        "either: write to another array than is read, or make it two launches.");
}

TEST_CASE("Whichever blocks read, a block that writes races with another one") {
  for (const std::vector<unsigned>& readers :
       {std::vector<unsigned>{0}, {0, 1}, {1, 0}, {0, 1, 2}, {2, 1, 0}, {1, 1, 0, 1}}) {
    for (unsigned writer = 0; writer < 4; ++writer) {
      Plain k;
      k.begin(32);
      for (const unsigned reader : readers) k.global_load(reader, 0, words(kMemory));
      k.block(writer).barrier();
      k.global_store(writer, 0, words(kMemory));
      const bool is_alone =
          std::all_of(readers.begin(), readers.end(), [&](unsigned r) { return r == writer; });
      const std::vector<Finding> found = k.end();
      INFO("writer " << writer << ", first reader " << readers[0] << " of " << readers.size());
      REQUIRE(found.size() == (is_alone ? 0 : 1));
      if (is_alone) continue;
      CHECK(found[0].count == 32);
      CHECK(found[0].other.block != writer);
      CHECK(found[0].other.thread == 0);
      CHECK(std::find(readers.begin(), readers.end(), found[0].other.block) != readers.end());
    }
  }
}

TEST_CASE("Launches are ordered") {
  Plain k;
  k.begin(32);
  k.global_store(0, 0, words(kMemory));
  CHECK(k.found() == "");
  k.begin(32);
  k.global_load(1, 0, words(kMemory));
  k.global_load(2, 0, words(kMemory + 64));
  CHECK(k.found() == "");
  k.begin(32);
  k.global_atomic(3, 0, words(kMemory));
  CHECK(k.found() == "");
}

TEST_CASE("Atomics of all blocks and warps do not race with each other") {
  Plain k;
  k.begin();
  for (unsigned block = 0; block < 4; ++block) {
    for (unsigned warp = 0; warp < 2; ++warp) {
      k.shared_atomic(block, warp, [](int lane) { return std::uint64_t{4} * (lane % 7u); });
    }
    k.block(block).barrier();
    k.shared_load(block, 0, words(0), 0x7f);
    k.global_atomic(block, 0, words(kMemory), 0x7f);
  }
  CHECK(k.found() == "");
}

TEST_CASE("Atomics race with plain stores and with plain reads of shared memory") {
  Plain k;
  k.begin();
  k.shared_store(0, 0, one(0), 1);
  k.shared_atomic(0, 1, one(0));
  k.shared_atomic(0, 1, one(4));
  k.shared_load(0, 0, one(4), 1);
  CHECK(k.found() == "race 2>0, race 2>1");
}

TEST_CASE("What a plain read of an updated word is for decides what it is called") {
  const auto reading = GENERATE(Reading::plain, Reading::tested_again, Reading::guard,
                                Reading::confirmed, Reading::kept);
  const Space space = GENERATE(Space::global, Space::shared);
  const bool reads_first = GENERATE(true, false);
  Kernel k;
  Site its;
  its.reading = reading;
  const int atomic = k.site(), load = k.site(its);
  k.begin(64);
  const std::uint64_t at = space == Space::global ? kMemory : 0;
  // Each thread reads, and then updates.
  for (unsigned warp = 0; warp < 2; ++warp) {
    if (reads_first) k.touch(0, warp, load, Act::load, space, kAll, one(at));
    k.touch(0, warp, atomic, Act::atomic, space, kAll, one(at));
    if (!reads_first) k.touch(0, warp, load, Act::load, space, kAll, one(at));
  }
  std::string expected = "read_beside_atomic 0>1";
  if (reading == Reading::confirmed) expected = "";
  if (reading == Reading::kept || reading == Reading::guard ||
      (reading == Reading::plain && space == Space::shared)) {
    expected = "race 0>1";
  }
  CHECK(k.found() == expected);
}

TEST_CASE("Atomics with the scope of a block race between blocks") {
  Kernel k;
  Site narrow;
  narrow.scope = Scope::block;
  const int atomic = k.site(narrow);
  k.begin(64);
  for (unsigned block = 0; block < 2; ++block) {
    for (unsigned warp = 0; warp < 2; ++warp) {
      k.touch(block, warp, atomic, Act::atomic, Space::global, kAll, one(kMemory));
    }
    if (block == 0) {
      CHECK(k.checker.end_launch([](std::int32_t) { return Line{}; }).empty());
    }
  }
  const std::vector<Finding> found = k.end();
  REQUIRE(found.size() == 1);
  CHECK(found[0].remedy == Remedy::scope);
}

TEST_CASE("Volatile accesses of different warps do not race, nor with atomics; plain ones do") {
  Kernel k;
  Site its;
  its.strength = Strength::is_volatile;
  const int store = k.site(its), load = k.site(its), plain = k.site(), atomic = k.site();
  k.begin(64);
  const bool is_plain = GENERATE(true, false);
  k.touch(0, 0, store, Act::store, Space::global, 1, one(kMemory));
  k.touch(1, 0, is_plain ? plain : load, Act::load, Space::global, 1, one(kMemory));
  k.touch(2, 0, atomic, Act::atomic, Space::global, 1, one(kMemory));
  k.touch(3, 0, load, Act::load, Space::global, 1, one(kMemory));
  CHECK(k.found() == (is_plain ? "race 0>2, read_beside_atomic 3>2" : ""));
}

TEST_CASE("Where there is too much order to work out nobody is accused") {
  Order order;
  // What block 1 has handed on, and nobody has taken over, may be anywhere in the history of block 2.
  order.with(0, {1, 0, 0, 0, 5, 1});
  Clock known = 0;
  for (int i = 1; i <= 11'000; ++i) {
    known = order.with(known, {2, 0, 0, 0, i, 1});
    const bool has = order.has(known, 1, 0, 1);
    if (i < 1000) REQUIRE_FALSE(has);
  }
  CHECK(order.has_given_up());
  CHECK(order.has(known, 1, 0, 1));
}

TEST_CASE("What is older than an access is not searched for it") {
  Order order;
  Clock known = 0;
  for (int i = 1; i <= 11'000; ++i) {
    known = order.with(known, {2, 0, 0, 0, i, 1});
    REQUIRE_FALSE(order.has(known, 1, 0, 1));
  }
  const Clock late = order.with(0, {1, 0, 0, 0, 5, 1});
  REQUIRE(order.has(order.join(known, late), 1, 0, 4));
  REQUIRE_FALSE(order.has(order.join(known, late), 1, 0, 5));
  CHECK_FALSE(order.has_given_up());
}

TEST_CASE("Volatile accesses of lanes of a warp race") {
  Kernel k;
  Site its;
  its.strength = Strength::is_volatile;
  const int store = k.site(its), load = k.site(its);
  k.begin(32);
  k.touch(0, 0, store, Act::store, Space::shared, kAll, words(0));
  k.touch(0, 0, load, Act::load, Space::shared, 1, one(64));
  CHECK(k.found() == "race 0>1");
}

namespace {

// Blocks that take a lock, work on a word, and open the lock.
std::vector<Finding> with_lock(bool fences_in, bool fences_out, Scope scope = Scope::gpu) {
  Kernel k;
  k.launch.hands_on = true;
  const int lock = k.site(), load = k.site(), store = k.site(), unlock = k.site();
  k.begin(32);
  for (unsigned block = 0; block < 3; ++block) {
    k.touch(block, 0, lock, Act::atomic, Space::global, 1, one(kMemory));
    if (fences_in) k.block(block).fence(0, 1, scope);
    k.touch(block, 0, load, Act::load, Space::global, 1, one(kMemory + 256));
    k.touch(block, 0, store, Act::store, Space::global, 1, one(kMemory + 256));
    if (fences_out) k.block(block).fence(0, 1, scope);
    k.touch(block, 0, unlock, Act::atomic, Space::global, 1, one(kMemory));
  }
  return k.end();
}

}  // namespace

TEST_CASE("A lock with its fences orders what is done under it") {
  CHECK(with_lock(true, true).empty());
}

TEST_CASE("A lock that is opened without a fence orders nothing, and the advice is a fence") {
  const std::vector<Finding> found = with_lock(false, false);
  REQUIRE(!found.empty());
  for (const Finding& one : found) {
    CHECK(one.hazard == Hazard::race);
    CHECK(one.remedy == Remedy::fence);
  }
}

TEST_CASE("A fence for the block alone does not order other blocks") {
  const std::vector<Finding> found = with_lock(true, true, Scope::block);
  REQUIRE(!found.empty());
  CHECK(found[0].hazard == Hazard::race);
}

TEST_CASE("A lock that is taken without a fence behind it is a note") {
  const std::vector<Finding> found = with_lock(false, true);
  REQUIRE(!found.empty());
  for (const Finding& one : found) CHECK(one.hazard == Hazard::missing_fence);
}

TEST_CASE("Acquiring and releasing accesses need no fence") {
  const auto scope = GENERATE(Scope::gpu, Scope::block);
  Kernel k;
  k.launch.hands_on = true;
  Site acquire, release;
  acquire.strength = Strength::acquire;
  release.strength = Strength::release;
  release.scope = acquire.scope = scope;
  const int store = k.site(), set = k.site(release), wait = k.site(acquire), load = k.site();
  k.begin(32);
  k.touch(0, 0, store, Act::store, Space::global, 1, one(kMemory + 64));
  k.touch(0, 0, set, Act::store, Space::global, 1, one(kMemory));
  k.touch(1, 0, wait, Act::load, Space::global, 1, one(kMemory));
  k.touch(1, 0, load, Act::load, Space::global, 1, one(kMemory + 64));
  CHECK(k.found() == (scope == Scope::gpu ? "" : "race 0>3, race 1>2"));
}

TEST_CASE("What a thread does after it has released is not handed on") {
  Kernel k;
  k.launch.hands_on = true;
  const int set = k.site(), late = k.site(), wait = k.site(), load = k.site();
  k.begin(32);
  k.block(0).fence(0, 1, Scope::gpu);
  k.touch(0, 0, set, Act::atomic, Space::global, 1, one(kMemory));
  k.touch(0, 0, late, Act::store, Space::global, 1, one(kMemory + 64));
  k.touch(1, 0, wait, Act::atomic, Space::global, 1, one(kMemory));
  k.block(1).fence(0, 1, Scope::gpu);
  k.touch(1, 0, load, Act::load, Space::global, 1, one(kMemory + 64));
  CHECK(k.found() == "race 1>3");
}

TEST_CASE("The last block may add up what all threads of the others have left") {
  // Which thread fences, and whether one does, is up to the variant.
  const std::string variant = GENERATE("thread 0 behind the barrier", "all before it", "nobody");
  Kernel k;
  k.launch.hands_on = true;
  const int store = k.site(), ticket = k.site(), load = k.site();
  k.begin(64);
  for (unsigned block = 0; block < 4; ++block) {
    for (unsigned warp = 0; warp < 2; ++warp) {
      k.touch(block, warp, store, Act::store, Space::global, kAll,
              words(kMemory + 256 + 256 * block + 128 * warp));
      if (variant == "all before it") k.block(block).fence(warp, kAll, Scope::gpu);
    }
    k.block(block).barrier();
    if (variant == "thread 0 behind the barrier") k.block(block).fence(0, 1, Scope::gpu);
    k.touch(block, 0, ticket, Act::atomic, Space::global, 1, one(kMemory));
    k.block(block).barrier();
  }
  for (unsigned block = 0; block < 4; ++block) {
    for (unsigned warp = 0; warp < 2; ++warp) {
      k.touch(3, warp, load, Act::load, Space::global, kAll,
              words(kMemory + 256 + 256 * block + 128 * warp));
    }
  }
  CHECK(k.found() == (variant == "nobody" ? "race 0>2" : ""));
}

TEST_CASE("Who was the last to update a counter may reset it") {
  const bool is_last = GENERATE(true, false);
  Kernel k;
  k.launch.hands_on = true;
  const int update = k.site(), reset = k.site();
  k.begin(32);
  const auto count = [&](unsigned block) {
    k.block(block).fence(0, 1, Scope::gpu);
    k.touch(block, 0, update, Act::atomic, Space::global, 1, one(kMemory));
  };
  for (unsigned block = 0; block < 4; ++block) count(block);
  if (!is_last) count(0);
  k.touch(3, 0, reset, Act::store, Space::global, 1, one(kMemory));
  const std::vector<Finding> found = k.end();
  REQUIRE(found.size() == (is_last ? 0 : 1));
  if (!is_last) CHECK(found[0].party.block == 0);
}

TEST_CASE("Look-back hands on from block to block, through those in between") {
  const unsigned forgets = GENERATE(0u, 2u);  // which block does not fence
  Kernel k;
  k.launch.hands_on = true;
  Site flag;
  flag.strength = Strength::is_volatile;
  const int store = k.site(), set = k.site(flag), wait = k.site(flag), load = k.site();
  k.begin(32);
  for (unsigned block = 1; block < 5; ++block) {
    k.touch(block, 0, store, Act::store, Space::global, kAll, words(kMemory + 1024 + 128 * block));
    if (block > 1)
      k.touch(block, 0, wait, Act::load, Space::global, 1, one(kMemory + 4 * (block - 1)));
    if (block != forgets) k.block(block).fence(0, kAll, Scope::gpu);
    k.touch(block, 0, set, Act::store, Space::global, 1, one(kMemory + 4 * block));
  }
  k.block(4).fence(0, kAll, Scope::gpu);
  // Lane 0 has waited; what block 1 and 2 have stored comes with what block 3 has handed on.
  k.touch(4, 0, load, Act::load, Space::global, 1, one(kMemory + 1024 + 128 * 3));
  k.touch(4, 0, load, Act::load, Space::global, 1, one(kMemory + 1024 + 128 * 1));
  CHECK(k.found() == (forgets == 2 ? "race 0>3" : ""));
}

TEST_CASE("What is written behind the unlock is no matter of a fence") {
  Kernel k;
  k.launch.hands_on = true;
  const int lock = k.site(), load = k.site(), unlock = k.site(), late = k.site();
  k.begin(32);
  for (unsigned block = 0; block < 2; ++block) {
    k.touch(block, 0, lock, Act::atomic, Space::global, 1, one(kMemory));
    k.block(block).fence(0, 1, Scope::gpu);
    if (block == 1) k.touch(block, 0, load, Act::load, Space::global, 1, one(kMemory + 64));
    k.block(block).fence(0, 1, Scope::gpu);
    k.touch(block, 0, unlock, Act::atomic, Space::global, 1, one(kMemory));
    if (block == 0) k.touch(block, 0, late, Act::store, Space::global, 1, one(kMemory + 64));
  }
  const std::vector<Finding> found = k.end();
  REQUIRE(found.size() == 1);
  CHECK(found[0].hazard == Hazard::race);
  CHECK(found[0].remedy == Remedy::blocks_in_place);
}

TEST_CASE("A block that hands on again and again forgets nothing by it") {
  Kernel k;
  k.launch.hands_on = true;
  const int store = k.site(), set = k.site(), wait = k.site(), load = k.site();
  k.begin(32);
  k.touch(0, 0, store, Act::store, Space::global, 1, one(kMemory + 64));
  for (int i = 0; i < kMostMoments + 10; ++i) k.block(0).barrier();
  k.block(0).fence(0, 1, Scope::gpu);
  k.touch(0, 0, set, Act::atomic, Space::global, 1, one(kMemory));
  k.touch(1, 0, wait, Act::atomic, Space::global, 1, one(kMemory));
  k.block(1).fence(0, 1, Scope::gpu);
  k.touch(1, 0, load, Act::load, Space::global, 1, one(kMemory + 64));
  k.touch(2, 0, load, Act::load, Space::global, 1, one(kMemory + 64));
  const std::vector<Finding> found = k.end();
  REQUIRE(found.size() == 1);
  CHECK(found[0].other.block == 2);
}

TEST_CASE("Of a word that all threads read again and again no reader is forgotten") {
  const bool reads_strongly = GENERATE(true, false);
  Kernel k;
  k.launch.hands_on = true;
  Site its;
  its.strength = Strength::relaxed;
  const int load = k.site(), again = reads_strongly ? k.site(its) : load, store = k.site(its);
  k.begin(32);
  for (unsigned block = 1; block <= 100; ++block) {
    k.touch(block, 0, load, Act::load, Space::global, 1u << block % 32, one(kMemory));
  }
  for (int round = 0; round < 3; ++round) {
    for (unsigned block = 1; block <= 100; ++block) {
      k.touch(block, 0, again, Act::load, Space::global, kAll, one(kMemory));
    }
  }
  k.touch(0, 0, store, Act::store, Space::global, 1, one(kMemory));
  const std::vector<Finding> found = k.end();
  REQUIRE(found.size() == 1);
  CHECK(found[0].hazard == Hazard::race);
  CHECK(found[0].other.block == 1);
  CHECK(found[0].other.thread == (reads_strongly ? 1 : 0));
}

TEST_CASE("A barrier of the grid, out of barriers, a fence and a counter, orders all of it") {
  const bool fences = GENERATE(true, false);
  Kernel k;
  k.launch.hands_on = true;
  const int store = k.site(), arrive = k.site(), poll = k.site(), load = k.site();
  k.begin(64);
  constexpr unsigned kBlocks = 4;
  for (unsigned round = 0; round < 3; ++round) {
    for (unsigned block = 0; block < kBlocks; ++block) {
      for (unsigned warp = 0; warp < 2; ++warp) {
        k.touch(block, warp, store, Act::store, Space::global, kAll,
                words(kMemory + 1024 + 256 * ((block + round) % kBlocks) + 128 * warp));
      }
      k.block(block).barrier();
      if (fences) k.block(block).fence(0, 1, Scope::gpu);
      k.touch(block, 0, arrive, Act::atomic, Space::global, 1, one(kMemory));
    }
    for (unsigned block = 0; block < kBlocks; ++block) {
      k.touch(block, 0, poll, Act::atomic, Space::global, 1, one(kMemory));
      if (fences) k.block(block).fence(0, 1, Scope::gpu);
      k.block(block).barrier();
      for (unsigned other = 0; other < kBlocks; ++other) {
        k.touch(block, 1, load, Act::load, Space::global, kAll,
                words(kMemory + 1024 + 256 * other));
      }
      // And back.
      k.block(block).barrier();
      if (fences) k.block(block).fence(0, 1, Scope::gpu);
      k.touch(block, 0, arrive, Act::atomic, Space::global, 1, one(kMemory));
    }
    for (unsigned block = 0; block < kBlocks; ++block) {
      k.touch(block, 0, poll, Act::atomic, Space::global, 1, one(kMemory));
      if (fences) k.block(block).fence(0, 1, Scope::gpu);
      k.block(block).barrier();
    }
  }
  const std::vector<Finding> found = k.end();
  CHECK(found.empty() == fences);
  for (const Finding& one : found) CHECK(one.remedy == Remedy::fence);
}

TEST_CASE("A word that was handed on as it should is told when it no longer is") {
  enum class Then { nothing, overwritten, read, passed_back };
  const Then then = GENERATE(Then::nothing, Then::overwritten, Then::read, Then::passed_back);
  Kernel k;
  k.launch.hands_on = true;
  const int store = k.site(), load = k.site(), set = k.site(), wait = k.site();
  k.begin(96);
  const auto touch = [&](unsigned warp, int site, Act act) {
    k.touch(0, warp, site, act, Space::shared, 1, one(64));
  };
  for (int round = 0; round < 2; ++round) {
    const std::uint64_t full = kMemory + 8 * static_cast<unsigned>(round), empty = full + 4;
    touch(0, store, Act::store);
    k.block(0).fence(0, 1, Scope::gpu);
    k.touch(0, 0, set, Act::atomic, Space::global, 1, one(full));
    k.touch(0, 1, wait, Act::atomic, Space::global, 1, one(full));
    k.block(0).fence(1, 1, Scope::gpu);
    touch(1, load, Act::load);
    if (round == 1) break;
    k.block(0).fence(1, 1, Scope::gpu);
    k.touch(0, 1, set, Act::atomic, Space::global, 1, one(empty));
    k.touch(0, 0, wait, Act::atomic, Space::global, 1, one(empty));
    k.block(0).fence(0, 1, Scope::gpu);
  }
  if (then == Then::overwritten) touch(0, store, Act::store);
  if (then == Then::read) touch(2, load, Act::load);
  if (then == Then::passed_back) {
    touch(1, store, Act::store);
    touch(0, load, Act::load);
  }
  CHECK(k.found() == (then == Then::nothing ? "" : "race 0>1"));
}

TEST_CASE("A barrier that many poll races with who sets it up too late, or again too early") {
  const bool in_time = GENERATE(true, false), again = GENERATE(true, false);
  Kernel k;
  k.launch.hands_on = true;
  Site its;
  its.is_barrier = true;
  const int set_up = k.site(its);
  its.strength = Strength::acquire;
  const int poll = k.site(its);
  its.strength = Strength::release;
  const int arrive = k.site(its);
  k.begin(96);
  const auto touch = [&](unsigned warp, int site, Act act, std::uint32_t lanes) {
    k.touch(0, warp, site, act, Space::shared, lanes, one(64), 8);
  };
  touch(0, set_up, Act::store, 1);
  if (in_time) k.block(0).barrier();
  for (int round = 0; round < 3; ++round) {
    touch(1, poll, Act::load, kAll);
    touch(2, arrive, Act::atomic, kAll);
  }
  if (again) touch(0, set_up, Act::store, 1);
  const std::vector<Finding> found = k.end();
  REQUIRE(found.empty() == (in_time && !again));
  // Lanes 0 of both stand for all.
  for (const Finding& one : found) CHECK(std::max(one.party, one.other).thread % 32 == 0);
}

TEST_CASE("A consumer that is not waited for is found, whichever it is") {
  const unsigned forgotten = GENERATE(0u, 1u, 2u, 3u, 9u);  // 9: none
  const bool are_blocks = GENERATE(true, false);
  Kernel k;
  k.launch.hands_on = true;
  const int load = k.site(), set = k.site(), wait = k.site(), store = k.site();
  k.begin(160);
  const std::uint64_t data = kMemory + 512;
  const auto who = [&](unsigned i) { return std::pair(are_blocks ? i : 0, are_blocks ? 0 : i); };
  for (unsigned i = 0; i < 4; ++i) {
    const auto [block, warp] = who(i);
    k.touch(block, warp, load, Act::load, Space::global, 1, one(data));
    k.block(block).fence(warp, 1, Scope::gpu);
    k.touch(block, warp, set, Act::atomic, Space::global, 1, one(kMemory + 4 * i));
  }
  const auto [block, warp] = who(4);
  for (unsigned i = 0; i < 4; ++i) {
    if (i == forgotten) continue;
    k.touch(block, warp, wait, Act::atomic, Space::global, 1, one(kMemory + 4 * i));
  }
  k.block(block).fence(warp, 1, Scope::gpu);
  k.touch(block, warp, store, Act::store, Space::global, 1, one(data));
  const std::vector<Finding> found = k.end();
  REQUIRE(found.size() == (forgotten == 9 ? 0 : 1));
  if (forgotten == 9) return;
  CHECK(found[0].other.block == (are_blocks ? forgotten : 0));
  CHECK(found[0].other.thread == (are_blocks ? 0 : 32 * forgotten));
}

TEST_CASE("Bytes and halves of a word are different places") {
  const int bytes = GENERATE(1, 2);
  const Space space = GENERATE(Space::shared, Space::global);
  const std::uint64_t base = space == Space::shared ? 0 : kMemory;
  const auto packed = [=](std::uint64_t from) {
    return [=](int lane) { return base + from + static_cast<std::uint64_t>(bytes * lane); };
  };
  Plain k;
  k.begin(64);
  SECTION("of neighbours: no race") {
    // Aligned, and shifted; each thread changes its own in place.
    const std::uint64_t shift = GENERATE(0, 1);
    for (unsigned warp = 0; warp < 2; ++warp) {
      const std::uint64_t from =
          shift * static_cast<unsigned>(bytes) + 32u * static_cast<unsigned>(bytes) * warp;
      k.touch(0, warp, k.store, Act::store, space, kAll, packed(from), bytes);
      k.touch(0, warp, k.load, Act::load, space, kAll, packed(from), bytes);
      k.touch(0, warp, k.store, Act::store, space, kAll, packed(from), bytes);
    }
    CHECK(k.found() == "");
  }
  SECTION("of one another: a race of just these") {
    k.touch(0, 0, k.store, Act::store, space, kAll, packed(0), bytes);
    k.touch(0, 0, k.load, Act::load, space, kAll >> 1, packed(static_cast<unsigned>(bytes)), bytes);
    const std::vector<Finding> found = k.end();
    REQUIRE(found.size() == 1);
    CHECK(found[0].party.thread == 1);
    CHECK(found[0].other.thread == 0);
  }
  SECTION("a word over them meets all") {
    k.touch(0, 0, k.store, Act::store, space, 15, packed(0), bytes);
    k.touch(0, 1, k.load, Act::load, space, 1, one(base));
    CHECK(k.found() == "race 0>1");
  }
  SECTION("what is scattered is seen too") {
    k.touch(0, 0, k.store, Act::store, space, 1, one(base + 2), bytes);
    k.touch(0, 1, k.store, Act::store, space, 1, one(base), bytes);
    k.touch(0, 1, k.load, Act::load, space, 2, one(base + 2), bytes);
    CHECK(k.found() == "race 0>1");
  }
}

TEST_CASE("Wide accesses touch each of their words") {
  const int bytes = GENERATE(8, 16);
  Plain k;
  k.begin(32);
  const auto wide = [&](int lane) { return kMemory + static_cast<std::uint64_t>(bytes * lane); };
  k.touch(0, 0, k.store, Act::store, Space::global, kAll, wide, bytes);
  k.touch(0, 0, k.load, Act::load, Space::global, kAll, wide, bytes);
  k.global_load(1, 0, one(kMemory + 5u * static_cast<unsigned>(bytes) + 4), 1);
  const std::vector<Finding> found = k.end();
  REQUIRE(found.size() == 1);
  CHECK(found[0].party == Party{0, 5});
}

TEST_CASE("Memory that nobody has written is told, byte by byte") {
  Plain k;
  k.launch.looks_for_uninitialised = true;
  k.launch.looks_for_races = false;
  k.begin(32);
  k.checker.initialised().forget(kMemory, 4096);
  k.shared_store(0, 0, words(0), 0xffff);
  k.global_store(0, 0, words(kMemory));
  k.checker.initialised().mark(kMemory + 128, 3);
  const bool is_wrong = GENERATE(true, false);
  k.shared_load(0, 0, words(0), is_wrong ? 0x1ffff : 0xffff);
  k.global_load(0, 0, words(kMemory));
  if (is_wrong) {
    k.global_load(0, 0, words(kMemory + 4));
  } else {
    k.touch(
        0, 0, k.load, Act::load, Space::global, 7,
        [](int lane) { return kMemory + 128 + static_cast<unsigned>(lane); }, 1);
  }
  const std::vector<Finding> found = k.end();
  REQUIRE(found.size() == (is_wrong ? 2 : 0));
  if (!is_wrong) return;
  CHECK(found[0].hazard == Hazard::uninitialized_shared_read);
  CHECK(found[0].party.thread == 16);
  CHECK(found[0].count == 1);
  CHECK(found[1].hazard == Hazard::uninitialized_global_read);
  CHECK(found[1].party.thread == 31);
}

TEST_CASE("Shared memory is not initialised again when the next block begins") {
  Plain k;
  k.launch.looks_for_uninitialised = true;
  k.begin(32);
  k.shared_store(0, 0, words(0));
  k.end_block(0);
  k.shared_load(1, 0, words(0));
  CHECK(k.found() == "uninitialized_shared_read 1");
}

TEST_CASE("The padding of a structure may be copied, and is not written by that") {
  Kernel k;
  k.launch.looks_for_uninitialised = true;
  k.launch.looks_for_races = false;
  Site from, to;
  from.values[0].copy = to.values[0].copy = 0;
  const int load = k.site(from), store = k.site(to), use = k.site();
  k.begin(32);
  k.checker.initialised().forget(kMemory, 4096);
  const auto at = [](std::uint64_t base) {
    return [=](int lane) { return base + 8u * static_cast<unsigned>(lane); };
  };
  // An int and a char: three bytes at the end are nobody's.
  for (unsigned i = 0; i < 32; ++i) k.checker.initialised().mark(kMemory + 8 * i, 5);
  k.touch(0, 0, load, Act::load, Space::global, kAll, at(kMemory), 8);
  k.touch(0, 0, store, Act::store, Space::global, kAll, at(kMemory + 1024), 8);
  k.touch(0, 0, use, Act::load, Space::global, kAll, at(kMemory + 1024), 4);
  k.touch(0, 0, use, Act::load, Space::global, kAll, at(kMemory + 1024 + 4), 1);
  SECTION("the rest of the copy is there") { CHECK(k.found() == ""); }
  SECTION("the padding is not") {
    k.touch(0, 0, use, Act::load, Space::global, 1, at(kMemory + 1024 + 6), 1);
    CHECK(k.found() == "uninitialized_global_read 2");
  }
  SECTION("an element of which nothing is there is told even so") {
    k.touch(0, 0, load, Act::load, Space::global, 1, at(kMemory + 2048), 8);
    CHECK(k.found() == "uninitialized_global_read 0");
  }
}

TEST_CASE("An access must stay in the variable that its address comes from") {
  Kernel k;
  Site its;
  its.variable = {Space::shared, 64, 128, false, "tileA"};
  const int load = k.site(its);
  k.begin(32);
  CHECK(k.touch(0, 0, load, Act::load, Space::shared, 0xffff, words(64)));
  CHECK(!k.touch(0, 0, load, Act::load, Space::shared, 0x1ffff, words(64)));
  const std::vector<Finding> found = k.end();
  REQUIRE(found.size() == 1);
  CHECK(message(found[0], {1, 1, 1}, {32, 1, 1}, [](std::int32_t) { return Line{}; }) ==
        "thread (16,0,0) of block (0,0,0) reads 4 bytes outside tileA (64 bytes), at byte 64. One "
        "too far: index 16 of 16 elements, 0 to 15. Guard the access, or fix the index.");
}

TEST_CASE("What to do about an access outside an array depends on how far it goes") {
  const struct {
    Outside outside;
    std::string maker;
    std::string told;
  } cases[] = {
      {{64, 200, 64, 4},
       "",
       "Guard the access with the array's length, or fix the index: it has 16 elements, and the "
       "kernel touches 50."},
      {{64, 68, 64, 4}, "", "One too far: index 16 of 16 elements, 0 to 15. Guard"},
      {{-4, 0, 64, 4}, "", "Index -1 is before the first element"},
      {{-4, 68, 64, 4},
       "",
       "Beyond both ends: the kernel touches -1 to 16 of the elements 0 to 15. Guard the access at "
       "both"},
      {{256, 1024, 256, 4},
       "line 9",
       "Bytes or elements? The allocation at line 9 has 256 bytes, which are 64 elements of 4 "
       "bytes, and 256 are used: sizeof is missing."},
      {{64, 256, 64, 1}, "", "Guard the access"},  // bytes, as meant
      {{16, 64, 16, 4}, "", "Guard the access"},   // a declaration is in elements
      {{32, 40, 32, 4, true},
       "line 57",
       "The launch at line 57 asked for 32 bytes of dynamic shared memory, and this kernel touches "
       "at least 40: fix its third argument (in bytes), its blocks, or the index."},
      {{40, 44, 40, 4, true},
       "",
       "One too far: index 10 of 10 elements, 0 to 9. Or the launch asked for 40 bytes of dynamic "
       "shared memory, and this kernel touches at least 44: its third argument."},
      {{32, 40, 10, 4, true}, "", "Bytes or elements? The launch asked for 10 bytes"},
      {{0, 4, 0, 4, true}, "line 3", "The launch at line 3 asked for no dynamic shared memory"},
  };
  for (const auto& one : cases) {
    CHECK_THAT(advice(one.outside, one.maker), contains(one.told));
  }
  Outside all;
  for (const Outside& one : {Outside{72, 76, 64, 4}, {-8, -4, 64, 4}, {}}) all.join(one);
  CHECK(all.least == -8);
  CHECK(all.end == 76);
}

TEST_CASE(
    "Blocks of a cluster race in each other's shared memory unless the cluster's barrier is "
    "between") {
  const bool meets = GENERATE(false, true);
  Plain k;
  k.launch.has_clusters = k.launch.hands_on = true;
  k.begin(32);
  BlockCheck* const blocks[] = {&k.block(0), &k.block(1)};
  BlockCheck::meet(blocks);
  k.shared_store(0, 0, words(0));
  k.block(0).barrier();
  if (meets) BlockCheck::meet(blocks);
  std::array<std::uint64_t, 32> addresses{};
  for (std::size_t lane = 0; lane < 32; ++lane) addresses[lane] = 4 * lane;
  const Access read{Space::shared, Act::load, lanes_of(addresses, kAll, 4), k.load, 0};
  CHECK(k.block(1).access_of(k.block(0), read) == 0);
  BlockCheck::meet(blocks);
  for (BlockCheck* const one : blocks) one->end();
  CHECK(k.found() == (meets ? "" : "race 0>1"));
}

TEST_CASE("Another block's shared memory is touched between its begin and its end") {
  const bool begins = GENERATE(false, true);
  Plain k;
  k.launch.has_clusters = k.launch.hands_on = true;
  k.begin(32);
  BlockCheck* const blocks[] = {&k.block(0), &k.block(1)};
  if (begins) BlockCheck::meet(blocks);
  const std::array<std::uint64_t, 32> addresses{};
  const Access write{Space::shared, Act::store, lanes_of(addresses, 1, 4), k.store, 0};
  k.block(1).access_of(k.block(0), write);
  if (!begins) BlockCheck::meet(blocks);
  for (BlockCheck* const one : blocks) one->end();
  // Once it was too early, once nobody waits for it.
  CHECK(k.found() == "absent_block 0");
}

TEST_CASE(
    "What a copy fills is not read before its own thread has waited, and a barrier has followed") {
  const int how = GENERATE(0, 1, 2);
  Kernel k;
  Site starts;
  starts.starts_copy = true;
  const int copy = k.site(starts), load = k.site();
  k.begin();
  k.touch(0, 0, copy, Act::store, Space::shared, kAll, words(0));
  if (how == 0) k.block(0).barrier();
  if (how > 0) {
    const std::array<std::byte, 4> data{};
    for (int lane = 0; lane < 32; ++lane) {
      k.block(0).copied(0, lane, static_cast<std::uint64_t>(4 * lane), 4, copy, data.data(),
                        nullptr);
    }
  }
  if (how == 2) k.block(0).barrier();
  k.touch(0, 1, load, Act::load, Space::shared, kAll, words(0));
  const char* const expected[] = {"unfinished_copy 1>0", "race 0>1", ""};
  CHECK(k.found() == expected[how]);
}

TEST_CASE("What a lock hands on needs its fence, volatile or not") {
  const bool has_fence = GENERATE(false, true);
  Kernel k;
  k.launch.hands_on = true;
  Site is_volatile;
  is_volatile.strength = Strength::is_volatile;
  const int store = k.site(is_volatile), lock = k.site(), load = k.site(is_volatile);
  k.begin(32);
  k.touch(0, 0, store, Act::store, Space::global, 1, one(kMemory + 64));
  if (has_fence) k.block(0).fence(0, 1, Scope::gpu);
  k.touch(0, 0, lock, Act::atomic, Space::global, 1, one(kMemory));
  k.touch(1, 0, lock, Act::atomic, Space::global, 1, one(kMemory));
  k.block(1).fence(0, 1, Scope::gpu);
  k.touch(1, 0, load, Act::load, Space::global, 1, one(kMemory + 64));
  CHECK(k.found() == (has_fence ? "" : "race 0>2"));
}

TEST_CASE("Volatile stores that nothing orders are a note, a flag that is read none") {
  const Act other = GENERATE(Act::store, Act::load);
  Kernel k;
  k.launch.hands_on = true;
  Site is_volatile;
  is_volatile.strength = Strength::is_volatile;
  const int first = k.site(is_volatile), second = k.site(is_volatile);
  k.begin(32);
  k.touch(0, 0, first, Act::store, Space::global, 1, one(kMemory));
  k.touch(1, 0, second, other, Space::global, 1, one(kMemory));
  CHECK(k.found() == (other == Act::store ? "unordered_stores 0>1" : ""));
}

TEST_CASE("A block may synchronise more often than its moments can count") {
  Plain k;
  k.begin(32);
  k.global_store(0, 0, words(kMemory));
  k.shared_store(0, 0, words(0));
  for (int i = 0; i < kMostMoments + 10; ++i) k.block(0).barrier();
  k.global_load(0, 0, words(kMemory));
  k.shared_load(0, 0, words(0));
  k.block(0).barrier();
  k.global_store(0, 0, words(kMemory + 4));
  k.shared_store(0, 0, words(4));
  CHECK(k.found() == "");
}

TEST_CASE("Many words that race are all counted") {
  Plain k;
  k.begin(32);
  for (unsigned block = 0; block < 2; ++block) {
    for (unsigned i = 0; i < 1000; ++i) k.global_store(block, 0, words(kMemory + 128 * i));
  }
  const std::vector<Finding> found = k.end();
  REQUIRE(found.size() == 1);
  CHECK(found[0].count == 32000);
}

TEST_CASE("Words one by one are judged as eight at a time, whichever came before") {
#if defined(__x86_64__)
  if (!__builtin_cpu_supports("avx2")) halo::test::skip("no vectors of eight words here");
#endif
  struct Memory {
    std::array<Cells, 32> cells{};
    std::array<Others, 32> others{};
  };
  std::uint32_t state = 1;
  const auto below = [&](std::uint32_t bound) {
    state = state * 1664525u + 1013904223u;
    return (state >> 8) % bound;
  };
  for (const bool is_shared : {true, false}) {
    auto memory = std::make_unique<Memory>();
    // Two blocks take turns; of shared memory there is one.
    std::array<Who, 2> blocks{
        {{1 << kOwnerShift, 1 << kOwnerShift, place_of(1, 0), place_of(1, 0), false},
         {2 << kOwnerShift, 1 << kOwnerShift, place_of(1, 0), place_of(1, 0), false}}};
    std::array<std::int32_t, 2> moments = {1, 1};
    int simple = 0, others = 0;
    for (int i = 0; i < 20'000; ++i) {
      const std::size_t block = is_shared ? 0 : below(2);
      Who& who = blocks[block];
      const std::int32_t now = ++moments[block];
      if (below(8) == 0) who.since = who.warp_since = place_of(now, 0);
      if (below(8) == 0) who.warp_since = place_of(now, 0);
      who.is_exact = below(16) == 0;
      const unsigned words = 3 + below(30), first = below(64 - words), warp = below(2);
      Run run{memory->cells.data(),
              is_shared ? nullptr : memory->others.data(),
              first,
              words,
              place_of(now, warp * 32),
              0,
              0,
              1 + below(4),
              WordShape::whole};
      const Act act = below(8) < 5 ? Act::load : below(2) == 0 ? Act::store : Act::atomic;
      auto after_words = std::make_unique<Memory>(*memory);
      RunResult by_vectors, by_words;
      touch_vectors(run, who, act, by_vectors);
      run.cells = after_words->cells.data();
      if (!is_shared) run.others = after_words->others.data();
      touch_words(run, who, act, by_words);
      REQUIRE(by_vectors.is_done == by_words.is_done);
      const unsigned skipped = first % kCellWords;
      if (below(2) == 0) std::swap(memory, after_words);
      for (unsigned word = skipped; word < skipped + words; ++word) {
        const unsigned bit = 1u << word % kCellWords;
        const bool is_left = (by_words.left[word / kCellWords] & bit) != 0;
        REQUIRE(is_left == ((by_vectors.left[word / kCellWords] & bit) != 0));
        (is_left ? others : simple) += 1;
        // Whoever keeps it exactly: here it begins anew.
        if (is_left) {
          memory->cells[group_of(first - skipped + word)].owner[word % kCellWords] = 0;
        }
      }
    }
    CHECK(simple > 100'000);
    CHECK(others > 1'000);
  }
}

// Prints accesses a second. Not a test: simt_checker_test "[.benchmark]".
TEST_CASE("How fast accesses are checked", "[.benchmark]") {
  Plain k;
  k.launch.shared_bytes = 48 * 1024;
  k.launch.looks_for_uninitialised = true;
  k.begin(256);
  for (unsigned i = 0; i < 384; ++i) k.shared_store(0, 0, words(128 * i));
  BlockCheck& block = k.block(0);
  const auto measure = [&](const char* name, Space space, Act act, const AddressOf& lanes,
                           std::uint64_t step, std::uint64_t range, bool syncs) {
    std::array<std::uint64_t, 32> addresses{}, offsets{};
    for (int lane = 0; lane < 32; ++lane) offsets[static_cast<std::size_t>(lane)] = lanes(lane);
    const memory::WarpAddresses shape = lanes_of(offsets, kAll, 4);
    const int site = act == Act::load ? k.load : act == Act::store ? k.store : k.atomic;
    constexpr int kTimes = 400'000;
    block.barrier();
    const std::clock_t begin = std::clock();
    std::uint64_t at = 0;
    for (int i = 0; i < kTimes; ++i) {
      for (std::size_t lane = 0; lane < 32; ++lane) addresses[lane] = offsets[lane] + at;
      memory::WarpAddresses its = shape;
      its.address = addresses;
      its.least += at;
      its.beyond += at;
      block.access({space, act, its, site, static_cast<unsigned>(i) % 8, nullptr, {}, 4});
      at += step;
      if (at >= range) at = 0;
      if (syncs && i % 8 == 7) block.barrier();
    }
    const double seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
    std::printf("%-36s %7.0f M accesses/s\n", name, 32.0 * kTimes / seconds / 1e6);
  };
  const auto plain = [](std::uint64_t base, std::uint64_t step) {
    return [=](int lane) { return base + step * static_cast<unsigned>(lane); };
  };
  measure("shared, 32 consecutive words: store", Space::shared, Act::store, plain(0, 4), 128, 1024,
          true);
  measure("shared, 32 consecutive words: load", Space::shared, Act::load, plain(0, 4), 128, 1024,
          true);
  measure("shared, shifted by a word: load", Space::shared, Act::load, plain(4, 4), 128, 896, true);
  measure("global, 32 consecutive words: load", Space::global, Act::load, plain(kMemory, 4), 128,
          1 << 19, false);
  measure("global, 32 consecutive words: store", Space::global, Act::store,
          plain(kMemory + (1 << 19), 4), 128 * 8, 1 << 19, true);
  measure("global, strided store", Space::global, Act::store, plain(kMemory + (1 << 19), 4096), 4,
          4096, true);
  measure("shared, uniform load", Space::shared, Act::load, plain(64, 0), 4, 512, true);
  measure("global, uniform load", Space::global, Act::load, plain(kMemory, 0), 4, 512, true);
  CHECK(k.found() == "");
}
