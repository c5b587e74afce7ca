// In what order the code of a kernel lies. Each expectation is where ptxas 13.0 has lanes wait for each other (BSYNC) in
// such code for sm_90.
#include "common/simt/ptxas/layout.hpp"

#include <string>
#include <vector>

#include "common/simt/ptx/parse.hpp"
#include "tests/catch.hpp"

using namespace simt;

namespace {

// The numbers that `mov.u32 %r9, N;` has, in the order of their steps; a meeting place is -1. Each lane has its own %p1
// to %p3, and %r1 is for all.
std::vector<int> order(const std::string& body) {
  const auto module = ptx::parse(
      ".version 9.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u32 n) {\n"
      ".reg .pred %p<5>;\n.reg .b32 %r<10>;\n.reg .b64 %rd<4>;\n"
      "ld.param.u32 %r1, [n];\nld.global.u32 %r2, [%rd1];\n" +
          body + "}\n",
      "k.ptx", false);
  const ptx::Function& kernel = *module->function("k");
  std::vector<int> numbers, seen(kernel.body.size());
  for (const ptxas::Passage& passage : ptxas::layout(kernel)) {
    if (passage.begin == passage.end) numbers.push_back(-1);
    for (std::int32_t i = passage.begin; i < passage.end; ++i) {
      ++seen[static_cast<std::size_t>(i)];
      const ptx::Instruction& one = kernel.body[static_cast<std::size_t>(i)];
      if (one.opcode == "mov") numbers.push_back(static_cast<int>(one.operands[1].bits));
    }
  }
  CHECK(seen == std::vector<int>(kernel.body.size(), 1));
  return numbers;
}

const std::string kTest = "setp.lt.s32 %p1, %r2, 7;\nsetp.gt.s32 %p2, %r2, 90;\n";
const std::string kStore = "st.global.u32 [%rd2], %r9;\n";

}  // namespace

TEST_CASE("what lies between a loop and where all have left it comes first", "[layout]") {
  // while (p1) { if (p2) { store; break; } } work; meet
  CHECK(order("$L:\nmov.u32 %r9, 1;\n" + kTest + "@%p2 bra $X;\nmov.u32 %r9, 2;\n@%p1 bra $L;\n" +
              "mov.u32 %r9, 3;\n" + kStore + "bra $E;\n$X:\nmov.u32 %r9, 4;\n" + kStore +
              "$E:\nmov.u32 %r9, 5;\n" + kStore + "ret;\n") == std::vector<int>{3, 4, 1, 2, 5});
}

TEST_CASE("ways out that touch no memory stay where they are", "[layout]") {
  CHECK(order("$L:\nmov.u32 %r9, 1;\n" + kTest + "@%p2 bra $X;\n@%p1 bra $L;\nbra $E;\n" +
              "$X:\nmov.u32 %r9, 4;\n$E:\nmov.u32 %r9, 5;\n" + kStore + "ret;\n") ==
        std::vector<int>{1, 4, 5});
}

TEST_CASE("who only ends within a loop lets the others wait for each other behind it", "[layout]") {
  CHECK(order("$L:\nmov.u32 %r9, 1;\n" + kTest + "@%p2 bra $R;\n@%p1 bra $L;\nmov.u32 %r9, 3;\n" +
              kStore + "$R:\nret;\n") == std::vector<int>{1, 3});
}

TEST_CASE("who jumps to where one only ends does so in the loop too", "[layout]") {
  CHECK(order("$L:\nmov.u32 %r9, 1;\n" + kTest + "@%p2 bra $X;\n@%p1 bra $L;\nbra $R;\n" +
              "$X:\nmov.u32 %r9, 4;\n" + kStore + "$R:\nret;\n") == std::vector<int>{1, 4});
}

TEST_CASE("of two ways that end the longer one waits, and of two alike the one within the loop") {
  const auto ends = [&](const std::string& own, const std::string& other) {
    return order("@%p3 bra $E;\n$L:\nmov.u32 %r9, 1;\n" + kTest + "@%p2 bra $X;\n@%p1 bra $L;\n" +
                 own + "mov.u32 %r9, 3;\n" + kStore + "ret;\n$X:\nmov.u32 %r9, 4;\n" + other +
                 kStore + "$E:\nret;\n");
  };
  CHECK(ends("", "") == std::vector<int>{3, 1, 4});
  CHECK(ends("neg.s32 %r8, %r9;\n", "") == std::vector<int>{4, 1, 3});
  CHECK(ends("neg.s32 %r8, %r9;\n", "not.b32 %r8, %r9;\n") == std::vector<int>{3, 1, 4});
  // Nor is it longer by what the loop has done, too.
  CHECK(ends("setp.lt.s32 %p4, %r2, 7;\n", "") == std::vector<int>{3, 1, 4});
  // A zero takes no step, and to store a byte of another number takes one more.
  const auto stores = [&](const std::string& own, const std::string& other) {
    return order("$L:\nmov.u32 %r9, 1;\n" + kTest + "@%p2 bra $X;\n@%p1 bra $L;\n" + own +
                 "ret;\n$X:\nmov.u32 %r9, 4;\n" + other + "$E:\nret;\n");
  };
  const std::string byte = "st.global.u8 [%rd2], %r9;\n";
  CHECK(stores("mov.u32 %r9, 3;\nmov.u32 %r8, 0;\n" + kStore, kStore) ==
        std::vector<int>{3, 0, 1, 4});
  CHECK(stores("mov.u32 %r9, 3;\n" + byte, kStore) == std::vector<int>{4, 1, 3});
  CHECK(stores("mov.u32 %r9, 3;\n" + byte, byte) == std::vector<int>{3, 1, 4});
  // What those do, too, who never were in the loop.
  const std::string skipped = "mov.u32 %r9, 2;\n$E:\n";
  CHECK(order("@%p3 bra $E;\n$L:\nmov.u32 %r9, 1;\n" + kTest + "@%p2 bra $X;\n@%p1 bra $L;\n" +
              skipped + kStore + "bra $R;\n$X:\n" + kStore + "$R:\nret;\n") ==
        std::vector<int>{2, 1});
}

TEST_CASE(
    "beside a jump back that nothing guards the loop's own end waits if it is longer by two") {
  const auto ends = [&](const std::string& own) {
    return order("$L:\nmov.u32 %r9, 1;\n" + kTest + "@%p2 bra $X;\n@%p1 bra $E;\nbra.uni $L;\n" +
                 "$E:\nmov.u32 %r9, 3;\n" + own + "bra.uni $R;\n$X:\nmov.u32 %r9, 4;\n" + kStore +
                 "$R:\nret;\n");
  };
  CHECK(ends(kStore) == std::vector<int>{3, 1, 4});
  CHECK(ends(kStore + kStore) == std::vector<int>{3, 1, 4});
  CHECK(ends(kStore + kStore + kStore) == std::vector<int>{4, 1, 3});
}

TEST_CASE("what stands before the head of its loop is the end of a round", "[layout]") {
  CHECK(order("bra.uni $H;\n$B:\nmov.u32 %r9, 1;\n" + kStore + "$H:\nmov.u32 %r9, 2;\n$I:\n" +
              "mov.u32 %r9, 3;\n" + kTest + "@%p2 bra $I;\n@%p1 bra $B;\nmov.u32 %r9, 4;\n" +
              kStore + "ret;\n") == std::vector<int>{2, 3, 1, 4});
}

TEST_CASE("who jumps to a short end from several ways that meet at a longer one goes on at once") {
  const auto ends = [&](const std::string& own, const std::string& other) {
    return order(kTest + "mov.u32 %r9, 1;\n@%p3 bra $M;\n@%p1 bra $X;\n$M:\nmov.u32 %r9, 2;\n" +
                 "@%p3 bra $N;\n@%p2 bra $X;\n$N:\nmov.u32 %r9, 3;\n" + own + "bra.uni $R;\n" +
                 "$X:\nmov.u32 %r9, 4;\n" + other + "$R:\nret;\n");
  };
  CHECK(ends(kStore + kStore, kStore) == std::vector<int>{1, 4, 2, 3});
  CHECK(ends(kStore, kStore + kStore) == std::vector<int>{1, 2, 3, 4});
  // With no other way to that end they wait here.
  CHECK(order(kTest + "@%p1 bra $X;\nmov.u32 %r9, 1;\n" + kStore + "@%p2 bra $X;\n" +
              "mov.u32 %r9, 2;\n" + kStore + kStore + "bra.uni $R;\n$X:\nmov.u32 %r9, 3;\n" +
              kStore + "$R:\nret;\n") == std::vector<int>{1, 2, 3});
}

TEST_CASE("a way out of two loops is one of the outer loop", "[layout]") {
  CHECK(order("$O:\nmov.u32 %r9, 1;\n$I:\nmov.u32 %r9, 2;\n" + kTest + "@%p2 bra $X;\n" +
              "@%p1 bra $I;\nmov.u32 %r9, 3;\n" + kStore + "setp.lt.s32 %p3, %r9, %r2;\n" +
              "@%p3 bra $O;\nbra $E;\n$X:\nmov.u32 %r9, 4;\n" + kStore + "$E:\nmov.u32 %r9, 5;\n" +
              kStore + "ret;\n") == std::vector<int>{4, 1, 2, 3, 5});
}

TEST_CASE("lanes that jump back from several places meet before the next round", "[layout]") {
  CHECK(order("$L:\nmov.u32 %r9, 1;\n" + kTest + "@%p2 bra $C;\nmov.u32 %r9, 2;\n" + kStore +
              "@%p1 bra $L;\nbra $E;\n$C:\nmov.u32 %r9, 3;\n@%p1 bra $L;\n$E:\nmov.u32 %r9, 4;\n" +
              kStore + "ret;\n") == std::vector<int>{1, 2, 3, -1, 4});
}

TEST_CASE("code behind the place that it goes on to is brought before it", "[layout]") {
  CHECK(order(kTest + "@%p1 bra $X;\nmov.u32 %r9, 1;\n" + kStore + "$M:\nmov.u32 %r9, 2;\n" +
              kStore + "ret;\n$X:\nmov.u32 %r9, 3;\n" + kStore + "bra $M;\n") ==
        std::vector<int>{1, 3, 2});
}
