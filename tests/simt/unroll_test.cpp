// Which loops ptxas unrolls. Each expectation is what ptxas 13.0 made of such a loop for sm_90, with and without
// .pragma "nounroll".
#include "common/simt/ptxas/unroll.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "common/simt/ptx/parse.hpp"
#include "tests/catch.hpp"

using namespace simt;

namespace {

// A loop in which lane %r0 begins and %r1 is the bound.
std::vector<ptxas::UnrolledLoop> unrolled(const std::string& body, const std::string& end) {
  const auto module = ptx::parse(
      ".version 9.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u32 n) {\n"
      ".reg .pred %p<4>;\n.reg .b32 %r<40>;\n.reg .b64 %rd<4>;\n.reg .f32 %f<10>;\n"
      "mov.u32 %r0, %tid.x;\nld.param.u32 %r1, [n];\n$L:\n" +
          body + "add.s32 %r0, %r0, 64;\n" + end + "@%p1 bra $L;\nret;\n}\n",
      "k.ptx", false);
  return ptxas::unrolled_loops(*module->function("k"));
}
// The loads of a loop from 0 as written out, so many at each offset, and the numbers that tests compare with.
struct Text {
  std::map<std::int64_t, int> loads;
  std::vector<std::uint64_t> bounds;
  int jumps = 0;
};
Text written_out(int multiplications, int rounds, const std::string& before = "mov.u32 %r0, 0;\n",
                 const std::string& after = "") {
  std::string body;
  for (int i = 0; i < 4; ++i) {
    body += "ld.shared.f32 %f" + std::to_string(i) + ", [%r2+" + std::to_string(1024 * i) + "];\n";
  }
  for (int i = 0; i < multiplications; ++i) body += "fma.rn.f32 %f9, %f1, %f2, %f9;\n";
  const auto module = ptx::parse(
      ".version 9.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u32 n) {\n"
      ".reg .pred %p<4>;\n.reg .b32 %r<40>;\n.reg .f32 %f<10>;\nmov.u32 %r2, %tid.x;\n" +
          before + "$L:\n" + body +
          "add.s32 %r2, %r2, 4;\nadd.s32 %r0, %r0, 2;\nsetp.ne.s32 %p1, " + "%r0, " +
          std::to_string(2 * rounds) + ";\n@%p1 bra $L;\n" + after + "ret;\n}\n",
      "k.ptx", false);
  ptxas::write_out_counted_loops(*module);
  Text text;
  for (const ptx::Instruction& one : module->function("k")->body) {
    if (one.opcode == "ld") ++text.loads[one.operands[1].offset];
    if (one.opcode == "setp") text.bounds.push_back(one.operands[2].bits);
    text.jumps += one.opcode == "bra" ? 1 : 0;
  }
  return text;
}
using Loads = std::map<std::int64_t, int>;

const std::string kLoad =
    "ld.global.f32 %f1, [%rd0];\nadd.f32 %f0, %f0, %f1;\nadd.s64 %rd0, %rd0, 256;\n";
const std::string kUntilBound = "setp.lt.s32 %p1, %r0, %r1;\n";

}  // namespace

TEST_CASE("ptxas unrolls a loop that counts by a constant up to a bound", "[unroll]") {
  const std::vector<ptxas::UnrolledLoop> found = unrolled(kLoad, kUntilBound);
  REQUIRE(found.size() == 1);
  CHECK(found[0].head == 2);
  CHECK(found[0].jump == 7);
  CHECK(found[0].step == 64);
  CHECK(unrolled(kLoad, "setp.ne.s32 %p1, %r0, 0;\n").size() == 1);
  CHECK(unrolled(kLoad, "setp.lt.u32 %p1, %r0, %r1;\n").size() == 1);
  CHECK(unrolled(kLoad + "add.s64 %rd1, %rd1, 1;\n", "setp.lt.u64 %p1, %rd1, %rd2;\n").size() == 1);
  // By what a register holds, whatever it becomes behind the loop.
  const auto of_warp = [](const std::string& end) {
    const auto module = ptx::parse(
        ".version 9.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u32 n) {\n"
        ".reg .pred %p<4>;\n.reg .b32 %r<40>;\n.reg .b64 %rd<4>;\n.reg .f32 %f<10>;\n"
        "mov.u32 %r0, %tid.x;\nld.param.u32 %r1, [n];\n$N:\nmov.u32 %r2, WARP_SZ;\n$L:\n" +
            kLoad + "add.s32 %r0, %r0, %r2;\n" + kUntilBound + "@%p1 bra $L;\n" + end + "ret;\n}\n",
        "k.ptx", false);
    return ptxas::unrolled_loops(*module->function("k"));
  };
  REQUIRE(of_warp("shr.u32 %r2, %r2, 1;\n@%p2 bra $N;\n").size() == 1);
  CHECK(of_warp("")[0].step == 32);
  CHECK(of_warp("shr.u32 %r2, %r2, 1;\n@%p2 bra $L;\n").empty());
  CHECK(unrolled(kLoad + "st.shared.f32 [%r2], %f1;\n", kUntilBound).size() == 1);
  CHECK(unrolled(kLoad + "st.global.f32 [%rd1], %f1;\nadd.s64 %rd1, %rd1, 256;\n", kUntilBound)
            .size() == 1);
  // A store to where nobody knows, where no round loads from there.
  std::string shared = kLoad;
  shared.replace(0, shared.find(";"), "ld.shared.f32 %f1, [%r2]");
  CHECK(unrolled(shared + "mul.wide.u32 %rd1, %r0, 4;\nst.global.f32 [%rd1], %f1;\n", kUntilBound)
            .size() == 1);
}

TEST_CASE("ptxas keeps a loop whose rounds it cannot tell or put together", "[unroll]") {
  CHECK(unrolled(".pragma \"nounroll\";\n" + kLoad, kUntilBound).empty());
  // The counter goes the other way, is another's sum, or the bound changes.
  CHECK(unrolled(kLoad, "setp.gt.s32 %p1, %r0, %r1;\n").empty());
  CHECK(unrolled(kLoad, "add.s32 %r2, %r0, %r1;\nsetp.ne.s32 %p1, %r2, 0;\n").empty());
  CHECK(unrolled(kLoad + "ld.shared.u32 %r1, [%r3];\n", kUntilBound).empty());
  // A store to where nobody knows, an atomic, lanes that meet, a division.
  CHECK(unrolled(kLoad + "mul.wide.u32 %rd1, %r0, 4;\nst.global.f32 [%rd1], %f1;\n", kUntilBound)
            .empty());
  CHECK(unrolled(kLoad + "red.shared.add.u32 [%r2], 1;\n", kUntilBound).empty());
  CHECK(unrolled(kLoad + "bar.sync 0;\n", kUntilBound).empty());
  CHECK(unrolled(kLoad + "div.rn.f32 %f0, %f0, %f1;\n", kUntilBound).empty());
  CHECK(unrolled(kLoad + "ld.volatile.global.f32 %f2, [%rd2];\n", kUntilBound).empty());
  // Ways that part and meet within a round are no hindrance, but two within each other, a store to global memory on one,
  // the counter, or somebody who comes there from elsewhere.
  const std::string skip = "@%p2 bra $M;\nld.global.f32 %f2, [%rd1];\n";
  CHECK(unrolled(kLoad + skip + "$M:\n", kUntilBound).size() == 1);
  CHECK(unrolled(kLoad + skip + "bra.uni $N;\n$M:\nmov.f32 %f2, %f1;\n$N:\n", kUntilBound).size() ==
        1);
  CHECK(unrolled(kLoad + skip + "st.shared.f32 [%r2], %f2;\n$M:\n", kUntilBound).size() == 1);
  CHECK(unrolled(kLoad + skip + "st.global.f32 [%rd1], %f2;\n$M:\n", kUntilBound).empty());
  CHECK(
      unrolled(kLoad + skip + "@%p3 bra $N;\nmov.f32 %f2, %f1;\n$N:\n$M:\n", kUntilBound).empty());
  CHECK(unrolled(kLoad + skip, kUntilBound + "$M:\n").empty());
  CHECK(unrolled(kLoad + skip + "$M:\n", kUntilBound + "@%p3 bra $M;\n").empty());
  // Two loops, or more of one than is unrolled.
  CHECK(unrolled(kLoad + "$M:\n@%p2 bra $M;\n", kUntilBound).empty());
  std::string many;
  for (int i = 0; i < 60; ++i) many += "fma.rn.f32 %f0, %f0, %f1, %f2;\n";
  CHECK(unrolled(kLoad + many, kUntilBound).empty());
  // One that has many loads is kept when it is shorter.
  const auto with_loads = [&](int loads, int sums) {
    std::string body;
    for (int i = 0; i < loads; ++i) {
      body += "ld.global.nc.f32 %f1, [%rd0+" + std::to_string(1024 * i) + "];\n";
    }
    for (int i = 0; i < sums; ++i) body += "fma.rn.f32 %f0, %f1, %f1, %f0;\n";
    return unrolled(body + "add.s64 %rd0, %rd0, 16;\n", kUntilBound).size();
  };
  CHECK(with_loads(1, 41) == 1);
  CHECK(with_loads(6, 34) == 1);
  CHECK(with_loads(6, 38) == 0);
  CHECK(with_loads(12, 20) == 1);
  CHECK(with_loads(12, 24) == 0);
  CHECK(with_loads(13, 17) == 1);
}

TEST_CASE("Of a loop whose rounds ptxas counts all are written out, if they are short",
          "[unroll]") {
  const Text all = written_out(16, 3);
  CHECK(all.jumps == 0);
  CHECK(all.bounds.empty());
  CHECK(all.loads == Loads{{0, 1},
                           {4, 1},
                           {8, 1},
                           {1024, 1},
                           {1028, 1},
                           {1032, 1},
                           {2048, 1},
                           {2052, 1},
                           {2056, 1},
                           {3072, 1},
                           {3076, 1},
                           {3080, 1}});
  // So many rounds as ptxas 13.0 writes out of so many multiplications with four loads.
  CHECK(written_out(8, 52).jumps == 0);
  CHECK(written_out(8, 53).jumps == 1);
  CHECK(written_out(24, 16).jumps == 0);
  CHECK(written_out(24, 17).jumps == 1);
  CHECK(written_out(44, 8).jumps == 0);
  CHECK(written_out(48, 8).jumps == 1);
  CHECK(written_out(84, 4).jumps == 0);
  CHECK(written_out(86, 4).jumps == 1);
}

TEST_CASE("Of a longer one some are put together, and what is left over stands behind it",
          "[unroll]") {
  const auto copies = [](int multiplications, int rounds) {
    int loads = 0;
    for (const auto& [offset, count] : written_out(multiplications, rounds).loads) loads += count;
    return loads / 4;
  };
  const Text some = written_out(32, 17);
  CHECK(some.jumps == 1);
  CHECK(some.bounds == std::vector<std::uint64_t>{30});
  CHECK(some.loads == Loads{{0, 2},    {4, 2},    {8, 1},    {12, 1},   {16, 1},
                            {1024, 2}, {1028, 2}, {1032, 1}, {1036, 1}, {1040, 1},
                            {2048, 2}, {2052, 2}, {2056, 1}, {2060, 1}, {2064, 1},
                            {3072, 2}, {3076, 2}, {3080, 1}, {3084, 1}, {3088, 1}});
  // As ptxas 13.0 does.
  CHECK(copies(8, 64) == 16);
  CHECK(copies(16, 29) == 11);
  CHECK(copies(24, 20) == 10);
  CHECK(copies(36, 15) == 5);
  CHECK(copies(56, 16) == 4);
  CHECK(copies(64, 6) == 3);
  CHECK(copies(66, 6) == 1);
}

TEST_CASE("Rounds that cannot be counted are not written out", "[unroll]") {
  CHECK(written_out(8, 8, "mov.u32 %r0, %tid.y;\n").jumps == 1);
  CHECK(written_out(8, 8, "mov.u32 %r0, 0;\n.pragma \"nounroll\";\n").jumps == 1);
  CHECK(written_out(8, 8, "mov.u32 %r0, 0;\n@%p2 mov.u32 %r0, 4;\n").jumps == 1);
  // Who comes back has the counter of last time, unless it is set again.
  CHECK(written_out(8, 8, "mov.u32 %r0, 0;\n$M:\n", "@%p2 bra $M;\n").jumps == 2);
  CHECK(written_out(8, 8, "$M:\nmov.u32 %r0, 0;\n", "@%p2 bra $M;\n").jumps == 1);
}
