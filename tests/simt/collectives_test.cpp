// Cooperative groups and CUB's reductions: what they return, in whose order, and what they cost.
#include "kernels/collectives.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "common/simt/simulator.hpp"
#include "launches.hpp"
#include "markers.hpp"
#include "tests/catch.hpp"

namespace {

using collectives::kTileThreads;
using collectives::Table;
using Row = std::vector<double>;

constexpr const char* kFile = "collectives.cu";

// What `figures` returns; its kernels must raise nothing.
template <typename Figures, typename... Arguments>
Table clean(Figures figures, Arguments... arguments) {
  simt::simulator()->take_launches();
  Table rows = figures(arguments...);
  for (const simt::Launch& launch : simt::simulator()->take_launches()) {
    for (const simt::Finding& f : launch.findings) {
      FAIL_CHECK(f.kind << " " << f.file << ":" << f.line << ": " << f.message);
    }
  }
  return rows;
}

// The sum that a tree of adjacent pairs gives, as cub::WarpReduce forms it.
float tree_sum(std::vector<float> values) {
  for (std::size_t offset = 1; offset < values.size(); offset *= 2) {
    for (std::size_t i = 0; i + offset < values.size(); ++i) values[i] += values[i + offset];
  }
  return values[0];
}

std::vector<float> inverses(int first, int count) {
  std::vector<float> values;
  for (int i = 0; i < count; ++i) values.push_back(1.0f / static_cast<float>(first + i));
  return values;
}

simt::Launch run(const std::string& name) {
  for (const collectives::Case& one : collectives::cases()) {
    if (one.name != name) continue;
    return last_launch_of([&] { REQUIRE(one.run() == 0); });
  }
  throw std::runtime_error("no case " + name);
}

}  // namespace

TEST_CASE("a block knows its threads", "[collectives]") {
  const Table rows = clean(collectives::block_figures);
  REQUIRE(rows.size() == 48);
  for (int t = 0; t < 48; ++t) {
    const double x = t % 4, y = t / 4 % 2, z = t / 8;
    const Row expected = {static_cast<double>(t), 48,    0, 2, 0, x, y, z, 4, 2, 6,
                          4.0 * 48 + t,           6 * 48};
    CHECK(rows[static_cast<std::size_t>(t)] == expected);
  }
}

TEST_CASE("tiles of every size", "[collectives]") {
  const int size = GENERATE(1, 2, 4, 8, 16, 32);
  const int threads = size == 32 ? 64 : kTileThreads;
  const Table rows = size == 32 ? clean(collectives::tile_figures_of_warps)
                                : clean(collectives::tile_figures, size);
  REQUIRE(rows.size() == static_cast<std::size_t>(threads));
  for (int t = 0; t < threads; ++t) {
    const int first = t / size * size, rank = t % size, v = 100 + t;
    const auto of = [&](int r) { return 100 + first + r; };
    int ballot = 0, same = 0;
    bool any = false, all = true;
    for (int r = 0; r < size; ++r) {
      ballot |= (of(r) % 3 == 0) << r;
      any |= of(r) == 105;
      all &= of(r) < 164;
      same |= (of(r) / 2 == v / 2) << r;
    }
    const unsigned bits = static_cast<unsigned>(ballot), equal = static_cast<unsigned>(same);
    // With butterflies every lane adds up the same tree, its own half first.
    std::vector<float> tree = inverses(100 + first, size);
    for (int half = size / 2; half > 0; half /= 2) {
      std::vector<float> next = tree;
      for (int r = 0; r < size; ++r) {
        next[static_cast<std::size_t>(r)] += tree[static_cast<std::size_t>(r ^ half)];
      }
      tree = next;
    }
    const int one = of(1 % size);
    const Row expected = {
        static_cast<double>(rank),
        static_cast<double>(size),
        static_cast<double>(t / size),
        static_cast<double>(threads / size),
        static_cast<double>(bits),
        static_cast<double>(any),
        static_cast<double>(all),
        static_cast<double>(one),
        static_cast<double>(rank >= 1 ? v - 1 : v),
        static_cast<double>(rank + 1 < size ? v + 1 : v),
        static_cast<double>(size > 1 ? of(rank ^ 1) : v),
        static_cast<double>(equal),
        one + 0.5,
        2.0 * one,
        3.0 * one,
        4.0 * one,
        static_cast<double>(size * (of(0) + of(size - 1)) / 2),
        static_cast<double>(of(0)),
        static_cast<double>(of(size - 1)),
        tree[static_cast<std::size_t>(rank)],
    };
    INFO("tile of " << size << ", thread " << t);
    CHECK(rows[static_cast<std::size_t>(t)] == expected);
  }
}

TEST_CASE("tiles of tiles", "[collectives]") {
  const Table rows = clean(collectives::nested_figures);
  REQUIRE(rows.size() == 64);
  for (int t = 0; t < 64; ++t) {
    const Row expected = {static_cast<double>(t % 4), static_cast<double>(t % 16 / 4), 4,
                          4.0 * (100 + t / 4 * 4) + 6};
    CHECK(rows[static_cast<std::size_t>(t)] == expected);
  }
}

TEST_CASE("the lanes that take a branch together", "[collectives]") {
  const Table rows = clean(collectives::coalesced_figures);
  REQUIRE(rows.size() == 48);
  for (int t = 0; t < 48; ++t) {
    const int lane = t % 32, alive = t < 32 ? 32 : 16;
    const Row& row = rows[static_cast<std::size_t>(t)];
    INFO("thread " << t);
    if (lane % 3 != 0) {
      CHECK(row[0] == -1);
      continue;
    }
    const int size = (alive + 2) / 3, rank = lane / 3, last = 3 * (size - 1);
    int odd = 0;
    for (int r = 0; r < size; ++r) odd |= (3 * r % 2) << r;
    const int tiles = (size + 3) / 4;
    const Row expected = {
        static_cast<double>(rank),
        static_cast<double>(size),
        static_cast<double>(odd),
        1,
        static_cast<double>(last < 30),
        static_cast<double>(last),
        static_cast<double>(rank ? lane - 3 : lane),
        static_cast<double>(lane < last ? lane + 3 : lane),
        3.0 * size * (size - 1) / 2,
        static_cast<double>(rank % 4),
        static_cast<double>(std::min(4, size - rank / 4 * 4)),
        static_cast<double>(rank / 4),
        static_cast<double>(tiles),
        static_cast<double>(rank / 4 * 12),
    };
    CHECK(row == expected);
  }
}

TEST_CASE("one function for groups of any kind", "[collectives]") {
  const Table rows = clean(collectives::group_sums);
  REQUIRE(rows.size() == 64);
  const auto sum = [](int first, int count) { return count * (2 * (100 + first) + count - 1) / 2; };
  CHECK(rows[0][0] == sum(0, 64));
  for (int first : {0, 32}) CHECK(rows[static_cast<std::size_t>(first)][1] == sum(first, 32));
  for (int first = 0; first < 64; first += 8) {
    CHECK(rows[static_cast<std::size_t>(first)][2] == sum(first, 8));
  }
}

TEST_CASE("CUB's reductions over a block, its last warp not whole", "[collectives]") {
  const Table rows = clean(collectives::block_reductions);
  REQUIRE(rows.size() == 1);
  const Row& got = rows[0];
  const auto sum = [](int count) { return count * (200 + count - 1) / 2; };
  CHECK(got[0] == sum(kTileThreads));
  CHECK(got[1] == sum(50));
  CHECK(got[2] == 100 + kTileThreads - 1);
  CHECK(got[3] == 132);
  float total = tree_sum(inverses(100, 32));
  total += tree_sum(inverses(132, 32));
  total += tree_sum(inverses(164, 16));
  CHECK(got[4] == total);
  CHECK(got[5] == 6 * sum(kTileThreads));
  CHECK(got[6] == 100);
  CHECK(got[7] == sum(30));
}

TEST_CASE("CUB's reductions over logical warps", "[collectives]") {
  const Table rows = clean(collectives::warp_reductions);
  REQUIRE(rows.size() == 64);
  for (int t = 0; t < 64; t += 8) {
    const Row& got = rows[static_cast<std::size_t>(t)];
    if (t % 32 == 0) CHECK(got[0] == tree_sum(inverses(100 + t, 32)));
    CHECK(got[1] == 107 + t);
    CHECK(got[2] == 5 * (100 + t) + 10);
  }
}

TEST_CASE("groups and collectives order what they say and no more", "[collectives]") {
  struct Planted {
    const char* name;
    const char* kind;
    const char* array;
  };
  const Planted planted = GENERATE(values<Planted>({
      {"tile_without_sync", "race", "cells"},
      {"tile_too_small", "race", "cells"},
      {"storage_used_again", "race", "storage"},
      {"barrier_of_a_branch", "divergent_barrier", ""},
  }));
  const std::string name = planted.name;
  const simt::Launch launch = run(name);
  INFO(name);
  REQUIRE(launch.findings.size() == 1);
  const simt::Finding& f = launch.findings[0];
  INFO(f.file << ":" << f.line << " " << f.message);
  CHECK(f.kind == planted.kind);
  CHECK(f.array == planted.array);
  CHECK(is_kernel_file(f.file, kFile));
  const int bug = line_of(kFile, "BUG " + name), other = line_of(kFile, "OTHER " + name);
  CHECK((f.line == bug || f.line == other));
  CHECK((f.other_line == bug || f.other_line == other));
}

TEST_CASE("used in order, groups and collectives raise nothing", "[collectives]") {
  const std::string name =
      GENERATE("tile_with_sync", "storage_used_again_after_barrier", "warp_storage_used_again");
  INFO(name);
  CHECK(run(name).findings.empty());
}

TEST_CASE("a block's reduction costs shared memory on the caller's lines", "[collectives]") {
  const simt::Launch launch = run("storage_used_again_after_barrier");
  CHECK(launch.shared_bytes == 16);
  // Of two reductions lane 0 of each warp stores; each reduction has a barrier, and one is between them.
  CHECK(launch.counters.shared_store_requests == 4);
  CHECK(launch.counters.shared_store_wavefronts == 4);
  CHECK(launch.counters.barriers == 3);
  CHECK(launch.counters.global_load_requests == 0);
  for (const simt::LineCounters& line : launch.lines) CHECK(is_kernel_file(line.file, kFile));
}
