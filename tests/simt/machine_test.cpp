// Kernels written in PTX, run by the machine: who runs when, who waits for whom, and what memory then holds.
#include <bit>
#include <cmath>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "common/simt/machine/grid.hpp"
#include "common/simt/ptx/parse.hpp"
#include "tests/catch.hpp"

using namespace simt;
using machine::Dim3;
using machine::WarpAccess;

namespace {

struct Seen final : machine::Observer {
  std::uint32_t access(const WarpAccess& access) override {
    if (access.space == WarpAccess::Space::reserved) ++reserved;
    if (access.space == WarpAccess::Space::local) {
      local_sectors += memory::local_sectors(access.lanes);
    }
    if (access.space != WarpAccess::Space::global) return 0;
    ++requests;
    sectors += memory::sectors(access.lanes);
    return 0;
  }
  void fault(const WarpAccess&, int lane, const std::string& what) override {
    faults.push_back(what + " in lane " + std::to_string(lane));
  }
  void barrier(const machine::Block&, std::uint32_t) override { ++barriers; }
  void meaningless(const machine::Warp&, const machine::Step&, std::uint32_t lanes,
                   const char* what) override {
    meaningless_lanes.emplace_back(what, lanes);
  }
  void end(const machine::Block& block) override {
    phases += block.phases;
    for (const machine::Warp& warp : block.warps) {
      of_warps.push_back(warp.global_requests);
      products += warp.products;
      exchanged += warp.exchanged;
    }
  }

  int requests = 0, sectors = 0, barriers = 0, reserved = 0, local_sectors = 0;
  std::uint64_t phases = 0, products = 0, exchanged = 0;
  std::vector<std::uint64_t> of_warps;  // requests of global memory
  std::vector<std::string> faults;
  std::vector<std::pair<std::string, std::uint32_t>> meaningless_lanes;
};

// A module of one kernel `k` with a parameter, the address of an array of words.
class Kernel {
 public:
  explicit Kernel(const std::string& body, const std::string& variables = "")
      : module_(ptx::parse(
            ".version 9.0\n.target sm_90\n.address_size 64\n" + variables +
                "\n.visible .entry k(.param .u64 a) {\n"
                ".reg .pred %p<10>;\n.reg .f32 %f<2>;\n.reg .b32 %r<40>;\n.reg .b64 %rd<20>;\n"
                "ld.param.u64 %rd1, [a];\n" +
                body + "\n}\n",
            "k.ptx")) {
    code_ = machine::decode(*module_, *module_->function("k"), {});
  }

  // The array after the launch; it begins with zeros.
  std::vector<std::uint32_t> run(Dim3 blocks, Dim3 threads, std::size_t words, Dim3 cluster = {}) {
    memory::Arena arena(std::size_t{1} << 24);
    const std::uint64_t array = arena.allocate(words * 4, "a");
    machine::Grid grid;
    grid.code = code_.get();
    grid.blocks = blocks;
    grid.threads = threads;
    grid.cluster = cluster;
    grid.parameters.resize(8);
    std::memcpy(grid.parameters.data(), &array, 8);
    grid.arena = &arena;
    grid.observer = &seen;
    stuck = machine::run(grid);
    std::vector<std::uint32_t> values(words);
    std::memcpy(values.data(), arena.host(array), words * 4);
    return values;
  }

  Seen seen;
  std::vector<machine::Stuck> stuck;

 private:
  std::unique_ptr<const ptx::Module> module_;
  std::unique_ptr<const machine::Code> code_;
};

// %r1: the thread; %rd2: the address of its word.
const std::string kOwnWord =
    "mov.u32 %r1, %tid.x;\nmul.wide.u32 %rd2, %r1, 4;\nadd.s64 %rd2, %rd1, %rd2;\n";

}  // namespace

TEST_CASE("machine: every thread of every block stores its own word") {
  Kernel kernel(
      "mov.u32 %r1, %ctaid.x;\nmov.u32 %r2, %ntid.x;\nmov.u32 %r3, %tid.x;\n"
      "mad.lo.s32 %r4, %r1, %r2, %r3;\nmul.wide.s32 %rd2, %r4, 4;\nadd.s64 %rd3, %rd1, %rd2;\n"
      "st.global.u32 [%rd3], %r4;\nret;");
  const std::vector<std::uint32_t> values = kernel.run({3}, {40}, 120);
  for (std::uint32_t i = 0; i < 120; ++i) CHECK(values[i] == i);
  CHECK(kernel.seen.requests == 6);
  // Blocks begin at words 0, 40 and 80: 4 + 1 sectors each.
  CHECK(kernel.seen.sectors == 15);
  CHECK(kernel.stuck.empty());
}

TEST_CASE("machine: a register that nobody has set shows in what is made of it") {
  // A sum that its kernel forgot to begin with 0, of two blocks after each other.
  Kernel kernel(kOwnWord +
                "LOOP:\nadd.f32 %f1, %f1, 0f3F800000;\nadd.u32 %r1, %r1, 32;\n"
                "setp.lt.u32 %p1, %r1, 64;\n@%p1 bra LOOP;\nst.global.f32 [%rd2], %f1;\nret;");
  for (const std::uint32_t value : kernel.run({2}, {32}, 32)) {
    CHECK(std::isnan(std::bit_cast<float>(value)));
  }
}

TEST_CASE("machine: so does local memory that nobody has written, in each block") {
  Kernel kernel(kOwnWord +
                ".local .align 4 .b8 depot[8];\nmov.u64 %rd3, depot;\nld.local.u32 %r2, [%rd3];\n"
                "st.local.u32 [%rd3], %r1;\nst.global.u32 [%rd2], %r2;\nret;");
  for (const std::uint32_t value : kernel.run({3}, {32}, 32)) CHECK(value == 0xffffffff);
}

TEST_CASE("machine: only the kernel's own parameters are loaded") {
  for (const char* load :
       {"ld.param.u64 %rd2, [a+8];", "ld.param.u64 %rd2, [a+4];", "ld.param.u64 %rd2, [a+-8];",
        "ld.param.v2.u64 {%rd2, %rd3}, [a];", "ld.param.u32 %r1, [a+1000000];"}) {
    INFO(load);
    CHECK_THROWS_WITH(Kernel(std::string(load) + "\nret;"),
                      halo::test::contains("a load outside the kernel's parameters"));
  }
  CHECK_NOTHROW(Kernel("ld.param.u32 %r1, [a+4];\nld.param.v2.u32 {%r1, %r2}, [a];\nret;"));
}

TEST_CASE("machine: lanes that went different ways meet again") {
  // Odd lanes add 1 and even ones 2; the store behind both is one request.
  Kernel kernel(kOwnWord +
                "and.b32 %r2, %r1, 1;\nsetp.eq.u32 %p1, %r2, 0;\n@%p1 bra EVEN;\n"
                "mov.u32 %r3, 1;\nbra.uni BOTH;\nEVEN:\nmov.u32 %r3, 2;\nBOTH:\n"
                "st.global.u32 [%rd2], %r3;\nret;");
  const std::vector<std::uint32_t> values = kernel.run({1}, {32}, 32);
  for (std::uint32_t i = 0; i < 32; ++i) CHECK(values[i] == 2 - i % 2);
  CHECK(kernel.seen.requests == 1);
}

TEST_CASE("machine: lanes that leave a loop early wait behind it") {
  // Lane i goes round i times, and stores how often.
  Kernel kernel(kOwnWord +
                "mov.u32 %r2, 0;\nLOOP:\nsetp.ge.u32 %p1, %r2, %r1;\n@%p1 bra DONE;\n"
                "add.u32 %r2, %r2, 1;\nbra.uni LOOP;\nDONE:\nst.global.u32 [%rd2], %r2;\nret;");
  const std::vector<std::uint32_t> values = kernel.run({1}, {32}, 32);
  for (std::uint32_t i = 0; i < 32; ++i) CHECK(values[i] == i);
  CHECK(kernel.seen.requests == 1);
}

TEST_CASE("machine: a function may begin with a loop that has several ways out") {
  // Each word is counted to 3; the way out of there adds 100.
  Kernel kernel(kOwnWord +
                    "{\n.param .u64 q;\nst.param.u64 [q], %rd2;\ncall.uni f, (q);\n}\n"
                    "ld.global.u32 %r2, [%rd2];\nadd.u32 %r2, %r2, 1000;\n"
                    "st.global.u32 [%rd2], %r2;\nret;",
                ".func f(.param .u64 p) {\n.reg .pred %p<3>;\n.reg .b32 %r<2>;\n.reg .b64 %rd<2>;\n"
                "AGAIN:\nld.param.u64 %rd1, [p];\nld.global.u32 %r1, [%rd1];\n"
                "add.u32 %r1, %r1, 1;\nst.global.u32 [%rd1], %r1;\n"
                "setp.eq.u32 %p1, %r1, 3;\n@%p1 bra WAY;\n"
                "setp.lt.u32 %p2, %r1, 5;\n@%p2 bra AGAIN;\nbra OUT;\n"
                "WAY:\nadd.u32 %r1, %r1, 100;\nst.global.u32 [%rd1], %r1;\nOUT:\nret;\n}\n");
  CHECK(kernel.run({1}, {32}, 32) == std::vector<std::uint32_t>(32, 1103));
}

TEST_CASE("machine: one jump by an index goes back to two loops") {
  // Rounds of the inner loop count 1, those of the outer one 16 besides: after odd ones of the former the outer one begins anew.
  Kernel kernel(kOwnWord +
                "mov.u32 %r2, 0;\nmov.u32 %r3, 0;\nmov.u32 %r5, 1;\n"
                "OUTER:\nadd.u32 %r3, %r3, 16;\nINNER:\nadd.u32 %r3, %r3, 1;\n"
                "add.u32 %r2, %r2, 1;\nsetp.gt.u32 %p1, %r2, 3;\n@%p1 bra DONE;\n"
                "and.b32 %r4, %r2, 1;\nsetp.ne.u32 %p2, %r4, 0;\n@%p2 bra INDEX;\nbra INNER;\n"
                "INDEX:\nheads: .branchtargets INNER, OUTER;\nbrx.idx %r5, heads;\n"
                "DONE:\nst.global.u32 [%rd2], %r3;\nret;");
  CHECK(kernel.run({1}, {32}, 32) == std::vector<std::uint32_t>(32, 3 * 16 + 4));
}

TEST_CASE("machine: the bound of a loop with several ways out may be a sum of many terms") {
  constexpr int kTerms = 100000;
  std::string sum = ".reg .b32 %c<" + std::to_string(kTerms + 1) + ">;\nmov.u32 %c0, 0;\n";
  for (int i = 1; i <= kTerms; ++i) {
    sum += "add.u32 %c" + std::to_string(i) + ", %c" + std::to_string(i - 1) + ", 1;\n";
  }
  Kernel kernel(kOwnWord + sum +
                "mov.u32 %r2, 0;\nL:\nadd.u32 %r2, %r2, 50000;\n"
                "setp.eq.u32 %p1, %r2, %r1;\n@%p1 bra WAY;\n"
                "setp.lt.u32 %p2, %r2, %c" +
                std::to_string(kTerms) +
                ";\n@%p2 bra L;\n"
                "st.global.u32 [%rd2], %r2;\nret;\nWAY:\nst.global.u32 [%rd2], 1;\nret;");
  CHECK(kernel.run({1}, {32}, 32) == std::vector<std::uint32_t>(32, kTerms));
}

TEST_CASE("machine: a barrier lets the warps of a block pass data on") {
  Kernel kernel(kOwnWord +
                    "mov.u64 %rd3, s;\ncvta.shared.u64 %rd4, %rd3;\nmul.wide.u32 %rd5, %r1, 4;\n"
                    "add.s64 %rd6, %rd4, %rd5;\nst.u32 [%rd6], %r1;\nbar.sync 0;\n"
                    "xor.b32 %r2, %r1, 63;\nshl.b32 %r3, %r2, 2;\nmov.u32 %r4, s;\n"
                    "add.s32 %r5, %r4, %r3;\nld.shared.u32 %r6, [%r5];\n"
                    "st.global.u32 [%rd2], %r6;\nret;",
                ".shared .align 4 .b8 s[256];");
  const std::vector<std::uint32_t> values = kernel.run({1}, {64}, 64);
  for (std::uint32_t i = 0; i < 64; ++i) CHECK(values[i] == (i ^ 63));
  CHECK(kernel.seen.barriers == 1);
}

TEST_CASE("machine: a barrier counts, and tells each thread, whose predicate holds") {
  Kernel kernel(kOwnWord +
                "setp.lt.u32 %p1, %r1, 37;\nmov.u32 %r3, 0;\nbar.red.popc.u32 %r2, %r3, %p1;\n"
                "bar.red.and.pred %p2, 0, !%p1;\nselp.u32 %r4, 1000, 0, %p2;\n"
                "bar.red.or.pred %p3, 0, %p1;\nselp.u32 %r5, 100, 0, %p3;\n"
                "add.u32 %r6, %r2, %r4;\nadd.u32 %r6, %r6, %r5;\nst.global.u32 [%rd2], %r6;\nret;");
  for (const std::uint32_t value : kernel.run({1}, {96}, 96)) CHECK(value == 137);
}

TEST_CASE("machine: who waits for the last block of a grid is let in with it") {
  // Block 0 waits until the last one has set a flag: a grid's barrier in small.
  Kernel kernel(
      "mov.u32 %r1, %ctaid.x;\nsetp.ne.u32 %p1, %r1, 0;\n@%p1 bra OTHERS;\n"
      "WAIT:\nld.volatile.global.u32 %r2, [%rd1];\nsetp.eq.u32 %p2, %r2, 0;\n@%p2 bra WAIT;\n"
      "st.global.u32 [%rd1+4], %r2;\nret;\n"
      "OTHERS:\nsetp.ne.u32 %p3, %r1, 9;\n@%p3 bra DONE;\nmov.u32 %r3, 7;\n"
      "st.volatile.global.u32 [%rd1], %r3;\nDONE:\nret;");
  CHECK(kernel.run({10}, {1}, 2)[1] == 7);
  CHECK(kernel.stuck.empty());
}

TEST_CASE("machine: a lock between the lanes of one warp ends") {
  Kernel kernel(
      "mov.u32 %r9, 0;\nTRY:\natom.global.cas.b32 %r2, [%rd1], 0, 1;\n"
      "setp.ne.u32 %p1, %r2, 0;\n@%p1 bra TRY;\n"
      "ld.volatile.global.u32 %r3, [%rd1+4];\nadd.u32 %r3, %r3, 1;\n"
      "st.volatile.global.u32 [%rd1+4], %r3;\natom.global.exch.b32 %r4, [%rd1], 0;\nret;");
  CHECK(kernel.run({2}, {64}, 2)[1] == 128);
  CHECK(kernel.stuck.empty());
}

TEST_CASE("machine: lanes that part in each round of their wait let other warps run") {
  // Each lane goes round a loop of its own length before it asks; the second warp raises the flag.
  Kernel kernel(kOwnWord +
                "setp.ge.u32 %p1, %r1, 32;\n@%p1 bra RAISE;\nand.b32 %r2, %r1, 3;\n"
                "WAIT:\nmov.u32 %r3, 0;\nCOUNT:\nadd.u32 %r3, %r3, 1;\n"
                "setp.lt.u32 %p2, %r3, %r2;\n@%p2 bra COUNT;\n"
                "ld.volatile.global.u32 %r4, [%rd1+128];\nsetp.eq.u32 %p3, %r4, 0;\n"
                "@%p3 bra WAIT;\nst.global.u32 [%rd2], %r4;\nret;\n"
                "RAISE:\nmov.u32 %r4, 7;\nst.volatile.global.u32 [%rd1+128], %r4;\nret;");
  CHECK(kernel.run({1}, {64}, 33) == std::vector<std::uint32_t>(33, 7));
  CHECK(kernel.stuck.empty());
}

TEST_CASE("machine: a flag that nobody sets, and a barrier that one warp misses, are told") {
  Kernel spins(
      "WAIT:\nld.volatile.global.u32 %r2, [%rd1];\nsetp.eq.u32 %p2, %r2, 0;\n@%p2 bra WAIT;\nret;");
  spins.run({2}, {33}, 1);
  REQUIRE(spins.stuck.size() == 4);
  CHECK(spins.stuck[0].spins);

  Kernel named(kOwnWord +
               "setp.lt.u32 %p1, %r1, 32;\n@%p1 bar.sync 1, 64;\n@!%p1 bar.sync 2, 64;\nret;");
  named.run({1}, {64}, 64);
  REQUIRE(named.stuck.size() == 2);
  CHECK_FALSE(named.stuck[0].spins);
  CHECK(named.stuck[1].thread == 32);
}

TEST_CASE("machine: lanes vote and shuffle among those of their own mask") {
  // The lower half and the upper half are two parties at one instruction.
  Kernel kernel(kOwnWord +
                "setp.lt.u32 %p1, %r1, 16;\nselp.b32 %r2, 65535, -65536, %p1;\n"
                "and.b32 %r3, %r1, 1;\nsetp.eq.u32 %p2, %r3, 0;\n"
                "vote.sync.ballot.b32 %r4, %p2, %r2;\n"
                "shfl.sync.bfly.b32 %r5|%p3, %r1, 15, 31, %r2;\n"
                "shl.b32 %r6, %r5, 26;\nxor.b32 %r7, %r4, %r6;\nst.global.u32 [%rd2], %r7;\nret;");
  const std::vector<std::uint32_t> values = kernel.run({1}, {32}, 32);
  for (std::uint32_t i = 0; i < 32; ++i) {
    const std::uint32_t even = i < 16 ? 0x5555 : 0x5555'0000;
    CHECK(values[i] == (even ^ (i ^ 15) << 26));
  }
}

TEST_CASE("machine: a lane that leaves its array ends there, and the others go on") {
  Kernel beyond(kOwnWord +
                "st.global.u32 [%rd2], %r1;\nadd.u32 %r1, %r1, 7;\n"
                "st.global.u32 [%rd2], %r1;\nret;");
  const std::vector<std::uint32_t> words = beyond.run({1}, {32}, 30);
  CHECK(beyond.seen.faults ==
        std::vector<std::string>{"out_of_bounds in lane 30", "out_of_bounds in lane 31"});
  CHECK(words[29] == 29 + 7);
  // Under a guard those without it go on too.
  Kernel odd(kOwnWord +
             "setp.eq.u32 %p1, %r1, 5;\n@%p1 st.global.u32 [%rd2+2], %r1;\n"
             "st.global.u32 [%rd2], %r1;\nret;");
  const std::vector<std::uint32_t> others = odd.run({1}, {32}, 40);
  CHECK(odd.seen.faults == std::vector<std::string>{"misaligned in lane 5"});
  CHECK(others[4] == 4);
  CHECK(others[5] == 0);
}

TEST_CASE("machine: a loop that only sleeps ends when its count does") {
  Kernel kernel(kOwnWord +
                "mov.u32 %r2, %r1;\nmov.u32 %r3, 1000;\n"
                "$loop:\nsetp.eq.u32 %p1, %r2, 0;\n@%p1 bra $out;\nnanosleep.u32 %r3;\n"
                "add.u32 %r2, %r2, -1;\nbra $loop;\n$out:\nst.global.u32 [%rd2], %r3;\nret;");
  CHECK(kernel.run({1}, {32}, 32) == std::vector<std::uint32_t>(32, 1000));
  CHECK(kernel.stuck.empty());
}

TEST_CASE("machine: a block that meets at its barrier while it waits for another lets that run") {
  // The first block asks for a flag, all of it, round after round; the second one raises it.
  Kernel kernel(
      "mov.u32 %r1, %ctaid.x;\nsetp.ne.u32 %p1, %r1, 0;\n@%p1 bra $raise;\n"
      "$wait:\nbar.sync 0;\nadd.u32 %r3, %r3, 1;\nld.volatile.global.u32 %r2, [%rd1];\n"
      "setp.eq.u32 %p2, %r2, 0;\n@%p2 bra $wait;\nst.global.u32 [%rd1+4], %r2;\nret;\n"
      "$raise:\nst.volatile.global.u32 [%rd1], 7;\nret;");
  CHECK(kernel.run({2}, {64}, 2) == std::vector<std::uint32_t>{7, 7});
  CHECK(kernel.stuck.empty());
}

using Meaningless = std::vector<std::pair<std::string, std::uint32_t>>;

TEST_CASE("machine: a lane that its own mask does not name waits for nobody and goes on") {
  Kernel kernel(kOwnWord +
                "setp.eq.u32 %p1, %r1, 16;\n@%p1 bra $in;\nsetp.gt.u32 %p1, %r1, 16;\n"
                "@%p1 bra $out;\n$in:\nbar.warp.sync 0xffff;\n$out:\n"
                "st.global.u32 [%rd2], 1;\nret;");
  CHECK(kernel.run({1}, {32}, 32) == std::vector<std::uint32_t>(32, 1));
  CHECK(kernel.seen.faults.empty());
  CHECK(kernel.seen.meaningless_lanes == Meaningless{{"foreign_mask", 1u << 16}});
  CHECK(kernel.stuck.empty());
}

TEST_CASE("machine: lanes that their masks do not name see those that the masks name") {
  // How many lanes before its own hold.
  Kernel ballot(kOwnWord +
                "mov.u32 %r2, %lanemask_lt;\nand.b32 %r3, %r1, 1;\nsetp.ne.u32 %p1, %r3, 0;\n"
                "vote.sync.ballot.b32 %r4, %p1, %r2;\npopc.b32 %r5, %r4;\n"
                "st.global.u32 [%rd2], %r5;\nret;");
  const std::vector<std::uint32_t> held = ballot.run({1}, {32}, 32);
  for (std::uint32_t lane = 0; lane < 32; ++lane) CHECK(held[lane] == lane / 2);
  CHECK(ballot.seen.meaningless_lanes == Meaningless{{"foreign_mask", ~0u}});

  // The upper half takes what the lower one has, into the register that it comes from.
  Kernel shuffle(kOwnWord +
                 "add.u32 %r2, %r1, 100;\n"
                 "shfl.sync.up.b32 %r2, %r2, 16, 0, 0xffff;\n"
                 "st.global.u32 [%rd2], %r2;\nret;");
  const std::vector<std::uint32_t> taken = shuffle.run({1}, {32}, 32);
  for (std::uint32_t lane = 0; lane < 32; ++lane) CHECK(taken[lane] == lane % 16 + 100);
  CHECK(shuffle.seen.meaningless_lanes == Meaningless{{"foreign_mask", 0xffff'0000}});
}

TEST_CASE("machine: a shuffle reads zero from a lane that has gone elsewhere, as an H200 does") {
  Kernel kernel(kOwnWord +
                "add.u32 %r2, %r1, 100;\nsetp.ge.u32 %p1, %r1, 8;\n@%p1 bra $out;\n"
                "shfl.sync.down.b32 %r2, %r2, 4, 31, 0xff;\n$out:\n"
                "st.global.u32 [%rd2], %r2;\nret;");
  const std::vector<std::uint32_t> read = kernel.run({1}, {32}, 8);
  for (std::uint32_t lane = 0; lane < 8; ++lane) CHECK(read[lane] == (lane < 4 ? lane + 104 : 0));
  CHECK(kernel.seen.meaningless_lanes == Meaningless{{"undefined_shuffle", 0xf0u}});
}

TEST_CASE("machine: a copy to shared memory is there after its wait, and not before") {
  Kernel kernel(kOwnWord +
                    "add.u32 %r2, %r1, 5;\nst.global.u32 [%rd2], %r2;\nmov.u32 %r3, s;\n"
                    "shl.b32 %r4, %r1, 2;\nadd.u32 %r3, %r3, %r4;\nmov.u32 %r9, 1;\n"
                    "st.shared.u32 [%r3], %r9;\ncp.async.ca.shared.global [%r3], [%rd2], 4;\n"
                    "cp.async.commit_group;\nld.shared.u32 %r5, [%r3];\ncp.async.wait_group 0;\n"
                    "ld.shared.u32 %r6, [%r3];\nmad.lo.u32 %r7, %r6, 100, %r5;\n"
                    "st.global.u32 [%rd2], %r7;\nret;",
                ".shared .align 4 .b8 s[128];");
  const std::vector<std::uint32_t> values = kernel.run({1}, {32}, 32);
  for (std::uint32_t i = 0; i < 32; ++i) CHECK(values[i] == (i + 5) * 100 + 1);
}

TEST_CASE("machine: blocks of a cluster read each other's shared memory behind its barrier") {
  Kernel kernel(
      "mov.u32 %r1, %cluster_ctarank;\nadd.u32 %r2, %r1, 10;\nmov.u64 %rd3, s;\n"
      "cvta.shared.u64 %rd4, %rd3;\nst.u32 [%rd4], %r2;\n"
      "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\n"
      "xor.b32 %r3, %r1, 1;\nmapa.u64 %rd5, %rd4, %r3;\nld.u32 %r4, [%rd5];\n"
      "mov.u32 %r5, %ctaid.x;\nmul.wide.u32 %rd6, %r5, 4;\nadd.s64 %rd6, %rd1, %rd6;\n"
      "st.global.u32 [%rd6], %r4;\nbarrier.cluster.arrive.aligned;\n"
      "barrier.cluster.wait.aligned;\nret;",
      ".shared .align 4 .b8 s[4];");
  const std::vector<std::uint32_t> values = kernel.run({4}, {1}, 4, {2});
  CHECK(values == std::vector<std::uint32_t>{11, 10, 11, 10});
  CHECK(kernel.stuck.empty());
}

TEST_CASE("machine: stores that arrive at a barrier of another block are there when it opens") {
  Kernel kernel(
      "mov.u32 %r1, %cluster_ctarank;\nmov.u32 %r2, bar;\nmbarrier.init.shared.b64 [%r2], 1;\n"
      "fence.mbarrier_init.release.cluster;\nbarrier.cluster.arrive;\nbarrier.cluster.wait;\n"
      "mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 %rd2, [%r2], 4;\n"
      "xor.b32 %r3, %r1, 1;\nmov.u32 %r4, s;\nmapa.shared::cluster.u32 %r5, %r4, %r3;\n"
      "mapa.shared::cluster.u32 %r6, %r2, %r3;\nadd.u32 %r7, %r1, 20;\n"
      "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b32 [%r5], %r7, [%r6];\n"
      "WAIT:\nmbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p1, [%r2], 0;\n"
      "@!%p1 bra WAIT;\nld.shared.u32 %r8, [%r4];\nmul.wide.u32 %rd6, %r1, 4;\n"
      "add.s64 %rd6, %rd1, %rd6;\nst.global.u32 [%rd6], %r8;\n"
      "barrier.cluster.arrive;\nbarrier.cluster.wait;\nret;",
      ".shared .align 8 .b8 bar[8];\n.shared .align 4 .b8 s[4];");
  CHECK(kernel.run({2}, {1}, 2, {2}) == std::vector<std::uint32_t>{21, 20});
  CHECK(kernel.stuck.empty());
  CHECK(kernel.seen.phases == 2);
}

TEST_CASE("machine: a warp counts its products, and what its lanes have of others") {
  Kernel kernel(
      kOwnWord +
      ".reg .f32 %f<5>;\n.reg .f64 %d<3>;\nsetp.lt.u32 %p1, %r1, 5;\n"
      "mov.f32 %f1, 0f3F800000;\nmov.f64 %d1, 0d3FF0000000000000;\n"
      "mul.f32 %f2, %f1, %f1;\n@%p1 fma.rn.f32 %f2, %f1, %f1, %f2;\n"
      "fma.rz.ftz.f32 %f2, %f1, %f1, %f2;\nmul.rn.ftz.f32 %f2, %f1, %f2;\n"
      "fma.rn.sat.f32 %f2, %f1, %f1, %f2;\nmul.f64 %d2, %d1, %d1;\n"
      "add.f32 %f3, %f1, %f2;\ndiv.rn.f32 %f3, %f1, %f2;\nmul.lo.u32 %r2, %r1, %r1;\n"
      "shfl.sync.idx.b32 %r3, %r1, 0, 31, -1;\n@%p1 shfl.sync.up.b32 %r3, %r1, 1, 0, 31;\n"
      "st.global.u32 [%rd2], %r3;\nret;");
  kernel.run({1}, {64}, 64);
  CHECK(kernel.seen.products == 2 * 6 + 1);
  CHECK(kernel.seen.exchanged == 32 * (2 + 1));
}

TEST_CASE("machine: words of local memory lie beside those of neighbouring lanes") {
  // The same word of all lanes is four sectors, two words eight; a word of its own is a sector a lane.
  Kernel kernel(
      kOwnWord +
      ".local .align 8 .b8 depot[128];\nmov.u64 %rd3, depot;\ncvta.local.u64 %rd4, %rd3;\n"
      "st.local.u32 [%rd3], %r1;\nst.local.v2.u32 [%rd3], {%r1, %r1};\n"
      "shl.b32 %r2, %r1, 2;\ncvt.u64.u32 %rd5, %r2;\nadd.s64 %rd6, %rd4, %rd5;\n"
      "st.u32 [%rd6], %r1;\nret;");
  kernel.run({1}, {32}, 32);
  CHECK(kernel.seen.local_sectors == 4 + 8 + 32);
  CHECK(kernel.seen.requests == 0);
}

TEST_CASE(
    "machine: the system's part of shared memory is told, and each warp's requests are known") {
  Kernel kernel(kOwnWord +
                "mov.u32 %r2, %reserved_smem_offset_begin;\nst.shared.u32 [%r2], %r1;\n"
                "setp.gt.u32 %p1, %r1, 31;\n@%p1 bra END;\nst.global.u32 [%rd2], %r1;\n"
                "st.global.u32 [%rd2], %r1;\nEND:\nret;");
  kernel.run({1}, {64}, 64);
  CHECK(kernel.seen.reserved == 2);
  CHECK(kernel.seen.of_warps == std::vector<std::uint64_t>{2, 0});
}
