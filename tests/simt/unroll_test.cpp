// Which loops ptxas unrolls. Each expectation is what ptxas 13.0 made of such a loop for sm_90, with and without
// .pragma "nounroll".
#include "common/simt/machine/unroll.hpp"

#include <string>
#include <vector>

#include "common/simt/ptx/parse.hpp"
#include "tests/catch.hpp"

using namespace simt;

namespace {

// A loop in which lane %r0 begins and %r1 is the bound.
std::vector<machine::UnrolledLoop> unrolled(const std::string& body, const std::string& end) {
  const auto module = ptx::parse(
      ".version 9.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u32 n) {\n"
      ".reg .pred %p<4>;\n.reg .b32 %r<40>;\n.reg .b64 %rd<4>;\n.reg .f32 %f<10>;\n"
      "mov.u32 %r0, %tid.x;\nld.param.u32 %r1, [n];\n$L:\n" +
          body + "add.s32 %r0, %r0, 64;\n" + end + "@%p1 bra $L;\nret;\n}\n",
      "k.ptx", false);
  return machine::loops_unrolled_by_ptxas(*module->function("k"));
}
const std::string kLoad =
    "ld.global.f32 %f1, [%rd0];\nadd.f32 %f0, %f0, %f1;\nadd.s64 %rd0, %rd0, 256;\n";
const std::string kUntilBound = "setp.lt.s32 %p1, %r0, %r1;\n";

}  // namespace

TEST_CASE("ptxas unrolls a loop that counts by a constant up to a bound", "[unroll]") {
  const std::vector<machine::UnrolledLoop> found = unrolled(kLoad, kUntilBound);
  REQUIRE(found.size() == 1);
  CHECK(found[0].head == 2);
  CHECK(found[0].jump == 7);
  CHECK(found[0].step == 64);
  CHECK(unrolled(kLoad, "setp.ne.s32 %p1, %r0, 0;\n").size() == 1);
  CHECK(unrolled(kLoad, "setp.lt.u32 %p1, %r0, %r1;\n").size() == 1);
  CHECK(unrolled(kLoad + "add.s64 %rd1, %rd1, 1;\n", "setp.lt.u64 %p1, %rd1, %rd2;\n").size() == 1);
  CHECK(unrolled(kLoad + "st.shared.f32 [%r2], %f1;\n", kUntilBound).size() == 1);
  CHECK(unrolled(kLoad + "st.global.f32 [%rd1], %f1;\nadd.s64 %rd1, %rd1, 256;\n", kUntilBound)
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
  // Two stretches, or more of one than is unrolled.
  CHECK(unrolled(kLoad + "$M:\n@%p2 bra $M;\n", kUntilBound).empty());
  std::string many;
  for (int i = 0; i < 60; ++i) many += "fma.rn.f32 %f0, %f0, %f1, %f2;\n";
  CHECK(unrolled(kLoad + many, kUntilBound).empty());
}
