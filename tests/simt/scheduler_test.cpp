// Threads, barriers and warp operations do what CUDA says they do.
#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "common/simt/simulator.hpp"
#include "kernels/scheduling.hpp"
#include "tests/catch.hpp"

namespace {

// No kernel here has a hazard but one, which leaves before a barrier. Checked after each test of this file.
struct NoFindings {
  NoFindings() { simt::simulator()->take_launches(); }
  ~NoFindings() {
    for (const simt::Launch& launch : simt::simulator()->take_launches()) {
      for (const simt::Finding& f : launch.findings) {
        INFO(launch.kernel << ": " << f.kind << " at line " << f.line << ": " << f.message);
        CHECK((f.is_note() || f.kind == "missed_barrier"));
      }
    }
  }
};

unsigned volume(dim3 d) { return d.x * d.y * d.z; }

// The lane from which lane n reads, or n itself, as the CUDA C++ Programming Guide has it.
int source_lane(int n, scheduling::Shuffle kind, int operand, int width) {
  const int first = n / width * width;
  switch (kind) {
    case scheduling::Shuffle::index:
      return first + ((operand % width) + width) % width;
    case scheduling::Shuffle::up:
      return n - operand >= first ? n - operand : n;
    case scheduling::Shuffle::down:
      return n + operand < first + width ? n + operand : n;
    case scheduling::Shuffle::butterfly:
      return ((n - first) ^ operand) < width ? first + ((n - first) ^ operand) : n;
  }
  return -1;
}

template <typename T>
void check_shuffles(T scale) {
  std::vector<T> values(32);
  for (int n = 0; n < 32; ++n) values[n] = static_cast<T>(n + 1) * scale;
  using scheduling::Shuffle;
  for (Shuffle kind : {Shuffle::index, Shuffle::up, Shuffle::down, Shuffle::butterfly}) {
    for (int width : {2, 4, 8, 16, 32}) {
      for (int operand : {0, 1, 2, 3, 5, 8, 15, 16, 31}) {
        // A lane mask that reaches into a later segment is undefined in older guides: left out.
        if (kind == Shuffle::butterfly && operand >= width) continue;
        INFO("kind " << static_cast<int>(kind) << " width " << width << " operand " << operand);
        std::vector<T> want(32);
        for (int n = 0; n < 32; ++n) want[n] = values[source_lane(n, kind, operand, width)];
        CHECK(scheduling::shuffle(values, kind, operand, width) == want);
      }
    }
  }
}

}  // namespace

TEST_CASE("every thread knows where it is", "[scheduler]") {
  NoFindings none;
  struct Shape {
    dim3 grid, block;
  };
  const Shape shape = GENERATE(values<Shape>({
      {dim3(1), dim3(1)},
      {dim3(7), dim3(33)},
      {dim3(3), dim3(1000)},
      {dim3(2, 3, 4), dim3(5, 7, 3)},
      {dim3(1, 5), dim3(1, 1, 64)},
      {dim3(2, 1, 3), dim3(16, 64)},
  }));
  const std::vector<unsigned> out = scheduling::positions(shape.grid, shape.block);
  REQUIRE(out.size() == 6 * volume(shape.grid) * volume(shape.block));
  std::size_t k = 0;
  int wrong = 0;
  for (unsigned bz = 0; bz < shape.grid.z; ++bz) {
    for (unsigned by = 0; by < shape.grid.y; ++by) {
      for (unsigned bx = 0; bx < shape.grid.x; ++bx) {
        for (unsigned tz = 0; tz < shape.block.z; ++tz) {
          for (unsigned ty = 0; ty < shape.block.y; ++ty) {
            for (unsigned tx = 0; tx < shape.block.x; ++tx) {
              for (unsigned want : {tx, ty, tz, bx, by, bz}) wrong += out[k++] != want;
            }
          }
        }
      }
    }
  }
  CHECK(wrong == 0);
  CHECK(scheduling::sizes_seen(shape.grid, shape.block) ==
        std::vector<unsigned>{volume(shape.grid) * volume(shape.block)});
}

TEST_CASE("a launch runs only the blocks that were chosen, until all are again", "[scheduler]") {
  const dim3 grid(2, 3, 2);
  simt::simulator()->take_launches();
  std::uint64_t told = 0;
  simt::simulator()->run_only_blocks([&](std::uint64_t blocks) {
    told = blocks;
    return std::vector<simt::BlockRange>{{1, 3}, {9, 10}};
  });
  CHECK(scheduling::count_blocks(grid, dim3(33)) == std::vector<unsigned>{3});
  CHECK(told == 12);
  simt::simulator()->run_only_blocks([](std::uint64_t) { return std::vector<simt::BlockRange>(); });
  CHECK(scheduling::count_blocks(grid, dim3(33)) == std::vector<unsigned>{0});
  simt::simulator()->run_only_blocks({});
  CHECK(scheduling::count_blocks(grid, dim3(33)) == std::vector<unsigned>{12});
  const std::vector<simt::Launch> launches = simt::simulator()->take_launches();
  REQUIRE(launches.size() == 3);
  CHECK(launches[0].grid == std::array<unsigned, 3>{2, 3, 2});
  CHECK(launches[0].blocks_run == 3);
  CHECK(launches[1].blocks_run == 0);
  CHECK(launches[2].blocks_run == 12);
  for (const simt::Launch& launch : launches) CHECK(launch.findings.empty());
}

TEST_CASE("barriers keep threads in step", "[scheduler]") {
  NoFindings none;
  const int threads = GENERATE(1, 2, 31, 32, 33, 257, 1024);
  const int rounds = 25;
  const std::vector<int> out = scheduling::rotate(threads, rounds);
  REQUIRE(out.size() == static_cast<std::size_t>(threads));
  int wrong = 0;
  for (int t = 0; t < threads; ++t) {
    wrong += out[t] != ((t - rounds) % threads + threads) % threads + rounds;
  }
  CHECK(wrong == 0);
}

TEST_CASE("barriers are counted once a block", "[scheduler]") {
  simt::simulator()->take_launches();
  scheduling::rotate(64, 10);
  const std::vector<simt::Launch> launches = simt::simulator()->take_launches();
  REQUIRE(launches.size() == 1);
  CHECK(launches[0].counters.barriers == 21);
}

TEST_CASE("barriers that vote", "[scheduler]") {
  NoFindings none;
  std::vector<int> bits(100, 0);
  CHECK(scheduling::barrier_votes(bits) == std::vector<int>{0, 0, 0, 0});
  for (int t = 0; t < 100; t += 7) bits[t] = 4;
  CHECK(scheduling::barrier_votes(bits) == std::vector<int>{15, 1, 0, 0});
  std::fill(bits.begin(), bits.end(), -1);
  CHECK(scheduling::barrier_votes(bits) == std::vector<int>{100, 1, 1, 0});
}

TEST_CASE("threads that returned are gone from later barriers", "[scheduler]") {
  NoFindings none;
  const std::vector<int> limits = {200, 100, 63, 40, 0};
  const std::vector<int> out = scheduling::leave_early(150, limits);
  REQUIRE(out.size() == 150);
  for (int t = 0; t < 150; ++t) {
    INFO("thread " << t);
    CHECK(out[t] == std::count_if(limits.begin(), limits.end(), [t](int l) { return t <= l; }));
  }
}

TEST_CASE("shuffles", "[scheduler]") {
  NoFindings none;
  check_shuffles<int>(-3);
  check_shuffles<double>(0.1);
  check_shuffles<long long>(1ll << 40);
  std::vector<float> values(32, 0.25f);
  values[9] = -8.5f;
  CHECK(scheduling::shuffle(values, scheduling::Shuffle::index, 9, 32) ==
        std::vector<float>(32, -8.5f));
  std::vector<unsigned> large(32, 0xffffffffu);
  CHECK(scheduling::shuffle(large, scheduling::Shuffle::up, 3, 32) == large);
}

TEST_CASE("the halves of a warp shuffle apart", "[scheduler]") {
  NoFindings none;
  const std::vector<int> out = scheduling::shuffle_in_halves();
  REQUIRE(out.size() == 32);
  for (int t = 0; t < 32; ++t) CHECK(out[t] == 10 * (t ^ 1) + (t >= 16));
}

TEST_CASE("votes", "[scheduler]") {
  NoFindings none;
  std::vector<int> keys(32);
  for (int t = 0; t < 32; ++t) keys[t] = t * t % 7;
  for (int last : {0, 5, 500}) {
    keys[31] = last;
    const std::vector<unsigned> out = scheduling::votes(keys);
    REQUIRE(out.size() == 160);
    unsigned ballot = 0;
    for (int t = 0; t < 32; ++t) ballot |= static_cast<unsigned>(keys[t] % 2 != 0) << t;
    for (int t = 0; t < 32; ++t) {
      unsigned same = 0;
      for (int s = 0; s < 32; ++s) same |= static_cast<unsigned>(keys[s] == keys[t]) << s;
      CHECK(out[5 * t] == ballot);
      CHECK(out[5 * t + 1] == (last == 5));
      CHECK(out[5 * t + 2] == (last < 100));
      CHECK(out[5 * t + 3] == same);
      CHECK(out[5 * t + 4] == 0xffffffffu);
    }
  }
}

TEST_CASE("one atomic update for the lanes that meet", "[scheduler]") {
  NoFindings none;
  const std::vector<int> out = scheduling::aggregated_increments(96);
  REQUIRE(out.size() == 96);
  std::vector<int> taken;
  for (int t = 0; t < 96; ++t) {
    if (t % 3 == 0) {
      taken.push_back(out[t]);
    } else {
      CHECK(out[t] == -1);
    }
  }
  std::sort(taken.begin(), taken.end());
  for (int i = 0; i < 32; ++i) CHECK(taken[i] == i);
}

TEST_CASE("sums over blocks of any size", "[scheduler]") {
  NoFindings none;
  const int threads = GENERATE(1, 31, 32, 33, 250, 1000, 1024);
  const std::vector<int> out = scheduling::block_sums(5, threads);
  REQUIRE(out.size() == 5);
  for (int b = 0; b < 5; ++b) CHECK(out[b] == threads * (threads - 1) / 2 + b * threads);
}

TEST_CASE("the last block adds up what all blocks wrote", "[scheduler]") {
  NoFindings none;
  for (int i = 0; i < 3; ++i) {  // the counter of blocks returns to zero by itself
    CHECK(scheduling::last_block_sums(200) == std::vector<int>{3 * 199 * 200 / 2 + 200});
  }
}

TEST_CASE("every block runs once", "[scheduler]") {
  NoFindings none;
  CHECK(scheduling::count_blocks(dim3(70000), dim3(1)) == std::vector<unsigned>{70000});
  CHECK(scheduling::count_blocks(dim3(3, 50, 7), dim3(8, 8)) == std::vector<unsigned>{1050});
  CHECK(scheduling::count_blocks(dim3(2), dim3(8, 8, 16)) == std::vector<unsigned>{2});
}

TEST_CASE("large local arrays", "[scheduler]") {
  NoFindings none;
  const std::vector<int> out = scheduling::large_local_arrays(256);
  REQUIRE(out.size() == 256);
  for (int t : {0, 1, 100, 255}) {
    int sum = 0;
    for (int k = 0; k < 4096; ++k) sum += t ^ k;
    CHECK(out[t] == sum);
  }
}

TEST_CASE("each thread has its own arguments", "[scheduler]") {
  NoFindings none;
  const std::vector<int> out = scheduling::private_arguments(96);
  REQUIRE(out.size() == 96);
  for (int t = 0; t < 96; ++t) {
    CHECK(out[t] == 100 + t + 1011 + (t % 3 == 0 ? 1 : t % 3 == 1 ? 10 : 1000));
  }
}

TEST_CASE("atomic functions", "[scheduler]") {
  NoFindings none;
  const std::vector<long long> out = scheduling::atomics();
  const std::vector<long long> want = {
      10,            // int: -7 makes 3
      3,             // -3 makes 0
      0,             // exchanged for 12
      12,            // min -4
      -4,            // max 9
      9,             // and 8
      8,             // or 5 makes 13
      13,            // xor 15 makes 2
      2,             // is not 1: stays 2
      2,             // is 2: becomes 100
      100,           //
      5,             // unsigned: counted up to 6
      6,             // and back to 0
      0,             // counted down to 6
      6,             // max 0xfffffff0
      0xfffffff0ll,  //
      0,             // 64 bits: + 2^40
      1ll << 40,     // is 2^40: becomes 3
      3,             //
      2,             // float: 2 + 1.5
      7,             // twice that
      7,             // double: 7 + 0.25
      29,            // four times that
  };
  CHECK(out == want);
}

TEST_CASE("host variables may have the names of built-ins", "[scheduler]") {
  CHECK(scheduling::host_variables_of_the_same_name() == 42);
}
