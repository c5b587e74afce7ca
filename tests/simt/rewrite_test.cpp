// What becomes of accesses as ptxas compiles them. Each expectation is what ptxas 13.0 made of the text for sm_90.
#include "common/simt/ptxas/rewrite.hpp"

#include <initializer_list>
#include <set>
#include <string>
#include <string_view>

#include "common/simt/ptx/parse.hpp"
#include "common/simt/ptxas/unroll.hpp"
#include "tests/catch.hpp"

using namespace simt;

namespace {

// The accesses of a kernel that count after the rules, and its products, in order: "ld.shared.v4.f32; st.shared.f32
// as 16". %r1 is the lane's address in the last variable, 32 bytes apart.
std::string rewritten(const std::string& variables, const std::string& body,
                      bool is_linked = false) {
  const std::string last = variables.substr(0, variables.rfind('['));
  const auto module = ptx::parse(
      ".version 9.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p) {\n"
      ".reg .pred %p<4>;\n.reg .b32 %r<99>;\n.reg .b64 %rd<4>;\n.reg .f32 %f<10>;\n.reg .b16 "
      "%h<4>;\n" +
          variables + "mov.u32 %r0, %tid.x;\nshl.b32 %r2, %r0, 5;\nmov.u32 %r3, " +
          last.substr(last.rfind(' ') + 1) + ";\nadd.u32 %r1, %r3, %r2;\n" + body + "\nret;\n}\n",
      "k.ptx", is_linked);
  ptxas::write_out_counted_loops(*module);
  const ptx::Function& kernel = *module->function("k");
  const ptxas::Rewritten all = ptxas::rewrite(*module, kernel, ptx::shared_places(*module, kernel));
  std::string text;
  const auto add = [&](const ptx::Instruction& one) {
    static const std::set<std::string_view> shown = {"ld", "st", "mul", "sub", "fma", "neg"};
    if (!shown.contains(one.opcode)) return;
    if (!one.is_counted) return;
    text += std::string(text.empty() ? "" : "; ") + (one.guard >= 0 ? "@" : "") + one.form();
    if (one.opcode == "fma") {
      for (const std::size_t i : {1, 2, 3}) {
        const std::int32_t its = one.operands[i].index;
        text += " " + (its < 0 ? "#" : kernel.registers[static_cast<std::size_t>(its)].name);
      }
    }
    if (one.joined_bytes != 0) text += " as " + std::to_string(one.joined_bytes);
  };
  for (const ptx::Instruction& one : kernel.body) {
    const auto found = all.find(&one);
    if (found == all.end()) {
      add(one);
    } else {
      for (const ptx::Instruction& its : found->second) add(its);
    }
  }
  return text;
}

std::string loads(std::initializer_list<int> words, const std::string& base = "%r1") {
  std::string text;
  int i = 0;
  for (const int word : words) {
    text += "ld.shared.f32 %f" + std::to_string(i++) + ", [" + base + "+" +
            std::to_string(4 * word) + "];\n";
  }
  return text;
}

const std::string kTile = ".shared .align 4 .b8 tile[4096];\n";

}  // namespace

TEST_CASE("Neighbours in a shared array are loaded together where the array lies aligned") {
  CHECK(rewritten(kTile, loads({0, 1, 2, 3})) == "ld.shared.v4.f32");
  CHECK(rewritten(kTile, loads({3, 2, 1, 0})) == "ld.shared.v4.f32");
  CHECK(rewritten(kTile, loads({1, 2})) == "ld.shared.f32; ld.shared.f32");
  CHECK(rewritten(kTile, loads({0, 1, 2, 3, 4})) == "ld.shared.v4.f32; ld.shared.f32");
  CHECK(rewritten(kTile, loads({2, 3, 4, 5, 6, 7})) == "ld.shared.v2.f32; ld.shared.v4.f32");
  // Behind 20 bytes, and behind 32.
  CHECK(rewritten(".shared .align 4 .b8 first[20];\n" + kTile,
                  "st.shared.u32 [first], %r0;\n" + loads({0, 1})) ==
        "st.shared.u32; ld.shared.f32; ld.shared.f32");
  CHECK(rewritten(".shared .align 4 .b8 first[32];\n" + kTile,
                  "st.shared.u32 [first], %r0;\n" + loads({0, 1})) ==
        "st.shared.u32; ld.shared.v2.f32");
  // One that nobody uses takes no place.
  CHECK(rewritten(".shared .align 4 .b8 first[20];\n" + kTile, loads({0, 1})) ==
        "ld.shared.v2.f32");
}

TEST_CASE("Where nvlink places variables only their own alignment counts") {
  CHECK(rewritten(kTile, loads({0, 1}), true) == "ld.shared.f32; ld.shared.f32");
  CHECK(rewritten(".shared .align 16 .b8 tile[4096];\n", loads({0, 1}), true) ==
        "ld.shared.v2.f32");
}

TEST_CASE("Addresses that several registers reach are compared") {
  CHECK(rewritten(kTile, "add.u32 %r4, %r1, 8;\n" + loads({0, 1}) +
                             "ld.shared.f32 %f8, [%r4];\nld.shared.f32 %f9, [%r4+4];") ==
        "ld.shared.v4.f32");
  // A register that is set again may be another by then. (ptxas sees that it is not.)
  CHECK(rewritten(kTile, "mov.u32 %r4, %r1;\nadd.u32 %r4, %r4, 8;\n" + loads({0, 1}) +
                             "ld.shared.f32 %f8, [%r4];\nld.shared.f32 %f9, [%r4+4];") ==
        "ld.shared.v2.f32; ld.shared.v2.f32");
}

TEST_CASE("Loads of several rounds are merged where ptxas puts the rounds together") {
  const auto counted = [](int rounds, const std::string& begin, std::initializer_list<int> words,
                          int step) {
    return rewritten(kTile, "mov.u32 %r6, 0;\nadd.u32 %r4, %r1, " + begin +
                                ";\nmov.u32 %r5, %r4;\n$L:\n" + loads(words, "%r5") +
                                "add.u32 %r5, %r5, " + std::to_string(step) +
                                ";\nadd.u32 %r6, %r6, 1;\nsetp.ne.u32 %p0, %r6, " +
                                std::to_string(rounds) + ";\n@%p0 bra $L;");
  };
  CHECK(counted(4, "0", {0}, 4) == "ld.shared.v4.f32");
  CHECK(counted(6, "8", {0}, 4) == "ld.shared.v2.f32; ld.shared.v4.f32");
  CHECK(counted(2, "0", {0, 2}, 4) == "ld.shared.v4.f32");
  // Where no round comes twice, it is known where the pointer begins.
  CHECK(counted(2, "132", {-1, 0}, 256) == "ld.shared.v2.f32; ld.shared.v2.f32");
}

TEST_CASE("Addresses that are worked out in each round are compared as sums of multiples") {
  const auto counted = [](const std::string& address, int rounds) {
    return rewritten(kTile, "mov.u32 %r6, 0;\nand.b32 %r7, %r0, 27;\n$L:\n" + address +
                                "add.u32 %r11, %r3, %r10;\nld.shared.f32 %f0, [%r11];\n"
                                "add.u32 %r6, %r6, 1;\nsetp.ne.u32 %p0, %r6, " +
                                std::to_string(rounds) + ";\n@%p0 bra $L;");
  };
  CHECK(counted("add.u32 %r8, %r2, %r6;\nshl.b32 %r10, %r8, 2;\n", 4) == "ld.shared.v4.f32");
  CHECK(counted("add.u32 %r8, %r7, %r6;\nshl.b32 %r10, %r8, 2;\n", 2) ==
        "ld.shared.f32; ld.shared.f32");
  // What is put together by bits is no sum, even where it is the same number.
  CHECK(rewritten(kTile,
                  "and.b32 %r7, %r0, 28;\nor.b32 %r9, %r2, %r7;\n"
                  "add.u32 %r10, %r3, %r9;\nadd.u32 %r11, %r3, %r2;\n"
                  "add.u32 %r12, %r11, %r7;\nld.shared.f32 %f0, [%r10];\n"
                  "ld.shared.f32 %f1, [%r12];") == "ld.shared.f32; ld.shared.f32");
}

TEST_CASE("The bits of a float are no whole number") {
  CHECK(rewritten(kTile,
                  "cvt.rn.f32.u32 %f8, %r0;\nmul.f32 %f8, %f8, 0f40000000;\n"
                  "cvt.rzi.u32.f32 %r4, %f8;\nadd.u32 %r5, %r3, %r4;\n" +
                      loads({0, 1}, "%r5")) == "mul.f32; ld.shared.f32; ld.shared.f32");
}

TEST_CASE("Of a pointer that a loop moves on it is known what divides where it begins") {
  const auto in_loop = [](const std::string& begin, std::initializer_list<int> words) {
    return rewritten(
        kTile, "add.u32 %r4, %r1, " + begin + ";\nmov.u32 %r5, %r4;\n$L:\n" + loads(words, "%r5") +
                   "add.u32 %r5, %r5, 256;\nsetp.lt.u32 %p0, %r5, 4000;\n@%p0 bra $L;");
  };
  CHECK(in_loop("16", {0, 1, 2, 3}) == "ld.shared.v4.f32");
  // ptxas does not see that four words lie aligned 8 bytes before what 16 divides.
  CHECK(in_loop("8", {-2, -1, 0, 1}) == "ld.shared.v2.f32; ld.shared.v2.f32");
  CHECK(in_loop("4", {-1, 0}) == "ld.shared.f32; ld.shared.f32");
  // From any element on, 32 on in each round, by way of another register.
  CHECK(
      rewritten(kTile, "mov.u32 %r6, %r0;\n$L:\nshl.b32 %r8, %r6, 2;\nadd.u32 %r9, %r3, %r8;\n" +
                           loads({0, 1}, "%r9") +
                           "mov.u32 %r7, %r6;\nshl.b32 %r10, %r7, 2;\nadd.u32 %r11, %r3, %r10;\n" +
                           loads({64, 65}, "%r11") +
                           "add.u32 %r6, %r7, 32;\nsetp.ne.u32 %p0, %r6, 64;\n@%p0 bra $L;") ==
      "ld.shared.f32; ld.shared.f32; ld.shared.f32; ld.shared.f32");
}

TEST_CASE("Halves of words are loaded together, but those that are widened") {
  const auto halves = [](const std::string& which, const std::string& use,
                         const std::string& type = "u16") {
    std::string text, uses;
    int i = 0;
    for (const char half : which) {
      const std::string reg = "%h" + std::to_string(i++);
      text +=
          "ld.shared." + type + " " + reg + ", [%r1+" + std::to_string(2 * (half - '0')) + "];\n";
      uses += use.substr(0, use.find('$')) + reg + use.substr(use.find('$') + 1) + "\n";
    }
    return rewritten(kTile, text + uses);
  };
  const std::string kept = "max.s16 %h0, $, %h0;";
  CHECK(halves("01", kept) == "ld.shared.v2.u16");
  CHECK(halves("12", kept) == "ld.shared.u16; ld.shared.u16");
  CHECK(halves("02", kept) == "ld.shared.u16; ld.shared.u16");
  CHECK(halves("3210", kept) == "ld.shared.v4.u16");
  CHECK(halves("2345", kept) == "ld.shared.v2.u16; ld.shared.v2.u16");
  CHECK(halves("123", kept) == "ld.shared.u16 as 8");
  for (const std::string use : {"cvt.u32.u16 %r9, $;", "add.s16 %h3, $, 1;",
                                "setp.eq.s16 %p0, $, 0;", "shr.u16 %h3, $, 3;"}) {
    CHECK(halves("01", use) == "ld.shared.u16; ld.shared.u16");
  }
  CHECK(halves("01", "cvt.s32.s16 %r9, $;") == "ld.shared.v2.u16");
  CHECK(halves("01", "cvt.s32.s16 %r9, $;", "s16") == "ld.shared.s16; ld.shared.s16");
  CHECK(halves("01", "cvt.rn.f32.u16 %f9, $;") == "ld.shared.v2.u16");
  // Into a whole register, and two bytes that are no half.
  CHECK(rewritten(kTile,
                  "ld.shared.u16 %r6, [%r1];\nld.shared.u16 %r7, [%r1+2];\n"
                  "max.s32 %r8, %r6, %r7;\n") == "ld.shared.u16; ld.shared.u16");
  CHECK(rewritten(kTile, "ld.shared.v2.u8 {%h0, %h1}, [%r1];\nmax.s16 %h2, %h0, %h1;\n") ==
        "ld.shared.v2.u8");
}

TEST_CASE("Vectors join with vectors and single values") {
  CHECK(rewritten(kTile,
                  "ld.shared.v2.f32 {%f0, %f1}, [%r1];\n"
                  "ld.shared.v2.f32 {%f2, %f3}, [%r1+8];\n"
                  "add.f32 %f4, %f0, %f1;\nadd.f32 %f5, %f2, %f3;") == "ld.shared.v4.f32");
  CHECK(rewritten(kTile,
                  "ld.shared.v2.f32 {%f0, %f1}, [%r1];\nadd.f32 %f4, %f0, %f1;\n"
                  "ld.shared.f32 %f2, [%r1+8];\nld.shared.f32 %f3, [%r1+12];") ==
        "ld.shared.v4.f32");
  CHECK(rewritten(kTile,
                  "st.shared.v2.f32 [%r1], {%f0, %f0};\n"
                  "st.shared.f32 [%r1+8], %f0;\nst.shared.f32 [%r1+12], %f0;") ==
        "st.shared.v4.f32");
  CHECK(rewritten(kTile, "st.shared.u16 [%r1], %h0;\nst.shared.u16 [%r1+2], %h1;") ==
        "st.shared.v2.u16");
  const auto halves = [](int count) {
    std::string text;
    for (int i = 0; i < count; ++i) {
      text += "st.shared.u16 [%r1+" + std::to_string(2 * i) + "], %h0;\n";
    }
    return text;
  };
  CHECK(rewritten(kTile, halves(4)) == "st.shared.v4.u16");
  CHECK(rewritten(kTile, halves(8)) == "st.shared.v4.u16; st.shared.v4.u16");
  CHECK(rewritten(kTile, halves(3)) == "st.shared.v2.u16; st.shared.u16");
}

TEST_CASE("Three of four words are loaded as four, but only those that are named are read") {
  CHECK(rewritten(kTile, loads({0, 1, 2})) == "ld.shared.v2.f32 as 16");
  CHECK(rewritten(kTile, loads({3, 0, 1})) == "ld.shared.f32 as 16");
  CHECK(rewritten(kTile, loads({1, 2, 3})) == "ld.shared.f32 as 16");
  CHECK(rewritten(kTile, loads({0, 2})) == "ld.shared.f32; ld.shared.f32");
  CHECK(rewritten(kTile, loads({2, 3, 4})) == "ld.shared.v2.f32; ld.shared.f32");
}

TEST_CASE("Parts of a structure are one access where something says how it lies") {
  const std::string parts = "ld.shared.f32 %f0, [%r1];\nld.shared.v2.u16 {%h0, %h1}, [%r1+4];\n";
  const std::string read = "add.f32 %f9, %f0, %f1;\nadd.u16 %h2, %h0, %h1;\n";
  CHECK(rewritten(kTile, parts + read) == "ld.shared.f32 as 8");
  const std::string global = "ld.global.f32 %f0, [%rd1];\nld.global.v2.u16 {%h0, %h1}, [%rd1+4];\n";
  CHECK(rewritten(kTile, global + read) == "ld.global.f32; ld.global.v2.u16");
  CHECK(rewritten(kTile, global + "ld.global.v2.f32 {%f1, %f2}, [%rd1+8];\n" + read +
                             "add.f32 %f8, %f1, %f2;\n") == "ld.global.f32 as 8; ld.global.v2.f32");
}

TEST_CASE("Variables that lie side by side are reached together, each within its bounds") {
  const std::string two = ".shared .align 4 .b8 most[4];\n.shared .align 4 .b8 least[4];\n";
  CHECK(rewritten(two, "st.shared.u32 [most], %r0;\nst.shared.u32 [least], %r0;") ==
        "st.shared.v2.u32");
  const std::string arrays = ".shared .align 4 .b8 a[12];\n.shared .align 4 .b8 b[12];\n";
  CHECK(rewritten(arrays, "st.shared.u32 [b], %r0;\nst.shared.u32 [a+8], %r0;") ==
        "st.shared.v2.u32");
  // Three of four words, too.
  const std::string one = ".shared .align 4 .b8 one[4];\n";
  CHECK(rewritten(one + two,
                  "ld.shared.f32 %f0, [one];\nld.shared.f32 %f1, [most];\n"
                  "ld.shared.f32 %f2, [least];\n") == "ld.shared.v2.f32 as 16");
  // What leaves its variable stays an access of its own, so that it is found.
  CHECK(rewritten(arrays, "st.shared.u32 [a+12], %r0;\nst.shared.u32 [b-4], %r0;") ==
        "st.shared.u32; st.shared.u32");
}

TEST_CASE("Nothing passes a store, a barrier or a label") {
  CHECK(rewritten(kTile, loads({0}) + "bar.sync 0;\nld.shared.f32 %f9, [%r1+4];") ==
        "ld.shared.f32; ld.shared.f32");
  CHECK(
      rewritten(kTile, loads({0}) + "st.shared.u32 [%r1+64], %r0;\nld.shared.f32 %f9, [%r1+4];") ==
      "ld.shared.f32; st.shared.u32; ld.shared.f32");
  CHECK(rewritten(kTile, loads({0}) + "st.global.u32 [%rd1], %r0;\nld.shared.f32 %f9, [%r1+4];") ==
        "ld.shared.v2.f32; st.global.u32");
}

TEST_CASE("Loads pass a jump around what only computes") {
  const auto around = [](const std::string& arm) {
    return rewritten(kTile, loads({0}) + "setp.lt.f32 %p1, %f0, 0f00000000;\n@%p1 bra past;\n" +
                                arm + "past:\nld.shared.f32 %f9, [%r1+4];");
  };
  CHECK(around("add.f32 %f1, %f2, %f3;\n") == "ld.shared.v2.f32");
  CHECK(around("ld.global.f32 %f1, [%rd1];\n") == "ld.shared.v2.f32; ld.global.f32");
  CHECK(around("@%p2 bra inside;\nadd.f32 %f1, %f2, %f3;\ninside:\nadd.f32 %f1, %f1, %f3;\n") ==
        "ld.shared.v2.f32");
  // What is loaded for some, where all that is loaded is one access of all.
  const auto choice = [](const std::string& before, int some, std::initializer_list<int> all) {
    return rewritten(kTile, before + "setp.lt.u32 %p1, %r0, 3;\n@%p1 bra past;\n" +
                                "ld.shared.f32 %f8, [%r1+" + std::to_string(some) +
                                "];\nmul.f32 %f8, %f8, %f8;\npast:\n" + loads(all));
  };
  CHECK(choice(loads({0, 1, 3}), 8, {4}) == "ld.shared.v2.f32 as 16; mul.f32; ld.shared.f32");
  CHECK(choice(loads({0}), 4, {2, 3}) == "ld.shared.f32 as 16; mul.f32");
  CHECK(choice(loads({0, 1}), 8, {}) == "ld.shared.v2.f32 as 16; mul.f32");
  CHECK(choice(loads({0, 1}), 16, {}) == "ld.shared.v2.f32; ld.shared.f32; mul.f32");
  CHECK(choice(loads({0, 1}), 4, {}) == "ld.shared.v2.f32; mul.f32");
  CHECK(choice("", 0, {1}) == "mul.f32; ld.shared.f32 as 8");
  // Who comes to the jump has not all come the same way.
  const std::string jump = "@%p1 bra past;\nadd.f32 %f3, %f4, %f5;\npast:\n";
  const std::string second = "ld.shared.f32 %f9, [%r1+4];\n";
  CHECK(rewritten(kTile, loads({0}) + "$L:\n" + jump + second +
                             "st.shared.f32 [%r1+4], %f0;\n@%p0 bra $L;\n") ==
        "ld.shared.f32; ld.shared.f32; st.shared.f32");
  CHECK(rewritten(kTile, "@%p0 bra $L;\n" + loads({0}) + "div.rn.f32 %f1, %f0, %f2;\n$L:\n" + jump +
                             second) == "ld.shared.f32; ld.shared.f32");
  // Halves that come by the word are joined as words are.
  const std::string halves = "ld.shared.v2.u16 {%h0, %h1}, [%r1";
  const std::string sum = "];\nadd.u16 %h2, %h0, %h1;\n";
  CHECK(rewritten(kTile, halves + sum + "setp.lt.u32 %p1, %r0, 3;\n@%p1 bra past;\n" +
                             "st.global.u32 [%rd1], %r0;\npast:\n" + halves + "+4" + sum) ==
        "ld.shared.v2.u16 as 8; st.global.u32");
  // Several jumps to one place, as of a && b.
  CHECK(
      around(
          "@%p2 bra past;\nld.global.f32 %f1, [%rd1];\n@%p3 bra past;\nadd.f32 %f1, %f2, %f3;\n") ==
      "ld.shared.v2.f32; ld.global.f32");
  CHECK(around("@%p2 bra past;\nst.shared.f32 [%r1+64], %f3;\n@%p3 bra past;\n") ==
        "ld.shared.f32; st.shared.f32; ld.shared.f32");
  CHECK(around("bra.uni past;\n") == "ld.shared.f32; ld.shared.f32");
  // A call in machine code, or something that others may see.
  CHECK(around("div.rn.f32 %f1, %f2, %f3;\n") == "ld.shared.f32; ld.shared.f32");
  CHECK(around("st.shared.f32 [%r1+64], %f3;\n") == "ld.shared.f32; st.shared.f32; ld.shared.f32");
  CHECK(around("bar.sync 0;\n") == "ld.shared.f32; ld.shared.f32");
}

TEST_CASE("Accesses do not pass what is a call in machine code") {
  const auto past = [](const std::string& step) {
    return rewritten(kTile, loads({0}) + step + "ld.shared.f32 %f9, [%r1+4];\n");
  };
  CHECK(past("div.full.f32 %f1, %f2, %f3;\n") == "ld.shared.v2.f32");
  CHECK(past("div.s32 %r4, %r5, %r6;\n") == "ld.shared.v2.f32");
  for (const std::string call : {"div.rn.f32 %f1, %f2, %f3;\n", "rcp.rn.f32 %f1, %f2;\n",
                                 "sqrt.rn.f32 %f1, %f2;\n", "div.s64 %rd1, %rd2, %rd3;\n"}) {
    CHECK(past(call) == "ld.shared.f32; ld.shared.f32");
    CHECK(rewritten(kTile, "st.shared.f32 [%r1], %f4;\n" + call +
                               "st.shared.f32 [%r1+4], %f5;\n") == "st.shared.f32; st.shared.f32");
  }
}

TEST_CASE("What some lanes store once more where all have stored is stored once") {
  const std::string first = "st.shared.u32 [%r1], 0;\n", load = "ld.global.f32 %f1, [%rd1];\n",
                    again = "st.shared.f32 [%r1], %f1;\n", twice = "; ld.global.f32; st.shared.f32";
  const auto of = [](const std::string& before, const std::string& arm,
                     const std::string& after = "") {
    return rewritten(kTile, before + "@%p1 bra $E;\n" + arm + "$E:\nbar.sync 0;\n" + after);
  };
  CHECK(of(first, load + again) == "st.shared.u32; ld.global.f32");
  CHECK(of("ld.global.f32 %f2, [%rd2];\n" + first, load + again) ==
        "ld.global.f32; st.shared.u32; ld.global.f32");
  CHECK(of(first, "st.global.f32 [%rd2], %f2;\n" + load + again) ==
        "st.shared.u32; st.global.f32; ld.global.f32");
  // As nvcc lays it out, too.
  CHECK(rewritten(kTile, first + "@%p1 bra $A;\nbra.uni $E;\n$A:\n" + load + again + "$E:\n") ==
        "st.shared.u32; ld.global.f32");
  // All that is stored, in the same order, and each of one width.
  const std::string other = "st.shared.u32 [%r1+128], 1;\n",
                    other_again = "st.shared.u32 [%r1+128], 2;\n";
  CHECK(of(first + other, load + again + other_again) ==
        "st.shared.u32; st.shared.u32; ld.global.f32");
  CHECK(of(first + other, load + again) == "st.shared.u32; st.shared.u32" + twice);
  CHECK(of(first + "bar.sync 0;\n" + other, other_again) == "st.shared.u32; st.shared.u32");
  CHECK(of(first, load + again + other_again) == "st.shared.u32" + twice + "; st.shared.u32");
  CHECK(of(first, other_again) == "st.shared.u32; st.shared.u32");
  CHECK(of(first, load + "add.u32 %r1, %r1, 4;\n" + again) == "st.shared.u32" + twice);
  CHECK(of("st.shared.u8 [%r1], %h0;\n", "st.shared.u8 [%r1], %h1;\n") ==
        "st.shared.u8; st.shared.u8");
  // Not past loads, calls in machine code and choices.
  CHECK(of(first + "ld.global.f32 %f2, [%rd2];\n", load + again) ==
        "st.shared.u32; ld.global.f32" + twice);
  CHECK(of(first, "ld.shared.f32 %f1, [%r2];\n" + again) ==
        "st.shared.u32; ld.shared.f32; st.shared.f32");
  CHECK(of(first, load + "div.rn.f32 %f1, %f1, %f2;\n" + again) == "st.shared.u32" + twice);
  CHECK(of(first, load + "setp.lt.f32 %p2, %f1, %f2;\n" + again) == "st.shared.u32" + twice);
  CHECK(of(first, "@%p2 bra $E;\n" + load + again) == "st.shared.u32" + twice);
  // A second time only where ptxas has left the jump before it.
  const std::string next = "$L:\n" + first + "@%p2 bra $M;\n" + load + again + "$M:\n";
  CHECK(rewritten(kTile, "@%p1 bra $L;\nadd.f32 %f2, %f2, %f2;\n" + next) ==
        "st.shared.u32" + twice);
  CHECK(rewritten(kTile, "@%p1 bra $L;\nst.global.f32 [%rd2], %f2;\n" + next) ==
        "st.global.f32; st.shared.u32; ld.global.f32");
  // In a loop with a barrier.
  const auto round = [&](const std::string& barrier) {
    return rewritten(kTile, "$L:\n" + first + "@%p1 bra $E;\n" + load + again + "$E:\n" + barrier +
                                "@%p2 bra $L;\n");
  };
  CHECK(round("bar.sync 0;\n") == "st.shared.u32; ld.global.f32");
  CHECK(round("") == "st.shared.u32" + twice);
}

TEST_CASE("What is loaded behind a jump may have been loaded before it") {
  const auto behind = [](const std::string& before, const std::string& between,
                         const std::string& after) {
    return rewritten(
        kTile, before + "setp.eq.u32 %p1, %r0, 3;\n@%p1 bra $E;\n" + between + after + "$E:\n");
  };
  CHECK(behind(loads({0}), "", loads({1})) == "ld.shared.f32 as 8");
  CHECK(behind(loads({0}), "@%p1 bra $E;\n" + loads({1}) + "@%p1 bra $E;\n", loads({2})) ==
        "ld.shared.f32 as 16");
  CHECK(behind(loads({0, 1}), "", loads({2, 3})) == "ld.shared.v2.f32 as 16");
  CHECK(behind(loads({0}), "st.global.u32 [%rd1], %r0;\n", loads({1})) ==
        "ld.shared.f32 as 8; st.global.u32");
  CHECK(behind(loads({1}), "", loads({2})) == "ld.shared.f32; ld.shared.f32");
  CHECK(behind(loads({0}), "st.shared.u32 [%r2], %r0;\n", loads({1})) ==
        "ld.shared.f32; st.shared.u32; ld.shared.f32");
  CHECK(behind(loads({0}), "add.u32 %r1, %r1, 4;\n", loads({1})) == "ld.shared.f32; ld.shared.f32");
  // In both arms, of which neither comes before the other.
  const auto arms = [](const std::string& before) {
    return rewritten(kTile, before + "setp.eq.u32 %p1, %r0, 3;\n@%p1 bra $E;\n" + loads({1}) +
                                "bra $F;\n$E:\n" + loads({2}) + "$F:\n");
  };
  CHECK(arms(loads({0})) == "ld.shared.f32 as 16");
  CHECK(arms("") == "ld.shared.f32; ld.shared.f32");
  // As nvcc lays them out.
  CHECK(rewritten(kTile, loads({0}) + "setp.eq.u32 %p1, %r0, 3;\n@%p1 bra $E;\nbra.uni $D;\n$E:\n" +
                             loads({1}) + "bra.uni $F;\n$D:\n" + loads({2}) + "$F:\n") ==
        "ld.shared.f32 as 16");
  CHECK(rewritten(kTile,
                  "ld.shared.b64 %rd1, [%r1];\nsetp.eq.u32 %p1, %r0, 3;\n@%p1 bra $E;\n"
                  "ld.shared.b64 %rd2, [%r1+8];\n$E:\n") == "ld.shared.b64 as 16");
  // A round of a loop is not all that comes before what stands behind it.
  CHECK(rewritten(kTile, "$L:\n" + loads({0}) + "setp.eq.u32 %p1, %r0, 3;\n@%p1 bra $L;\n" +
                             loads({1})) == "ld.shared.f32; ld.shared.f32");
}

TEST_CASE("Atomics of global memory are passed by accesses to shared memory") {
  const auto around = [](const std::string& atomic, const std::string& first,
                         const std::string& second) {
    return rewritten(kTile, first + "atom." + atomic + "add.u32 %r4, [%rd1], %r0;\n" + second);
  };
  const std::string first = "st.shared.u32 [tile], %r0;\n";
  CHECK(around("global.", first, "st.shared.u32 [tile+4], %r4;\n") == "st.shared.v2.u32");
  const std::string next = "ld.shared.f32 %f9, [%r1+4];\n";
  CHECK(around("global.", loads({0}), next) == "ld.shared.v2.f32");
  CHECK(around("", loads({0}), next) == "ld.shared.f32; ld.shared.f32");
}

TEST_CASE("Of two values of which one is chosen the later is loaded only where it is") {
  const std::string test = "setp.gt.s32 %p1, %r9, 0;\n";
  const std::string load_x = "ld.global.u32 %r10, [%rd1];\n";
  const std::string load_y = "ld.global.u32 %r9, [%rd2];\n",
                    load_z = "ld.global.u32 %r11, [%rd3];\n";
  const auto chosen = [&](const std::string& before, const std::string& a, const std::string& b,
                          const std::string& after = "") {
    return rewritten(kTile, before + "selp.b32 %r12, " + a + ", " + b + ", %p1;\n" + after);
  };
  const std::string both = "ld.global.u32; ld.global.u32";
  CHECK(chosen(load_x + load_y + load_z + test, "%r10", "%r11") == both + "; @ld.global.u32");
  // What the choice needs is there, and is not needed any more.
  CHECK(chosen(load_x + load_y + test, "%r10", "%r9") == "ld.global.u32; @ld.global.u32");
  CHECK(chosen(load_x + load_y + test, "%r10", "%r9", "st.global.u32 [%rd1], %r9;\n") ==
        both + "; st.global.u32");
  // Both are needed for it, or more than once; the other is a number, or is computed.
  CHECK(chosen(load_x + load_y + "setp.gt.s32 %p1, %r9, %r10;\n", "%r10", "%r9") == both);
  CHECK(chosen(load_x + load_y + test, "%r10", "3") == both);
  CHECK(chosen(load_x + load_y + test + "add.s32 %r13, %r9, 3;\n", "%r10", "%r13") == both);
  CHECK(chosen(load_x + load_y + test, "%r10", "%r9", "st.global.u32 [%rd1], %r10;\n") ==
        both + "; st.global.u32");
  // A store may be of what is loaded.
  CHECK(chosen(load_x + load_y + test + "st.global.u32 [%rd3], %r0;\n", "%r10", "%r9") ==
        both + "; st.global.u32");
  // Of the largest so far what belongs to it.
  CHECK(rewritten(kTile, "mov.u32 %r12, 0;\n$L:\n" + load_y + test + load_x +
                             "selp.b32 %r12, %r10, %r12, %p1;\nsetp.lt.s32 %p2, %r9, %r0;\n"
                             "@%p2 bra $L;\nst.global.u32 [%rd1], %r12;\n") ==
        "ld.global.u32; @ld.global.u32; st.global.u32");
}

TEST_CASE("Of an address of code the lower half is loaded") {
  const std::string load = "ld.global.u64 %rd1, [%rd2];\n";
  const std::string call = "{\nproto: .callprototype ()_ ();\ncall %rd1, (), proto;\n}\n";
  CHECK(rewritten(kTile, load + call) == "ld.global.u64 as 4");
  CHECK(rewritten(kTile, load + call + "st.global.u64 [%rd2], %rd1;\n") ==
        "ld.global.u64; st.global.u64");
}

TEST_CASE("What a register has been loaded with is not loaded again") {
  const std::string again = "ld.global.f32 %f1, [%rd1];\n";
  const std::string ballot = "vote.sync.ballot.b32 %r8, %p1, -1;\n";
  CHECK(rewritten(kTile, again + ballot + "ld.global.f32 %f2, [%rd1];\n") == "ld.global.f32");
  CHECK(rewritten(kTile, again + "bar.warp.sync -1;\nld.global.f32 %f2, [%rd1];\n") ==
        "ld.global.f32; ld.global.f32");
  CHECK(rewritten(kTile, again + "st.global.f32 [%rd2], %f0;\nld.global.f32 %f2, [%rd1];\n") ==
        "ld.global.f32; st.global.f32; ld.global.f32");
  // Where a jump is not taken, but not where others come too.
  CHECK(rewritten(kTile, again + "@%p1 bra $L;\nld.global.f32 %f2, [%rd1];\n$L:\n") ==
        "ld.global.f32");
  CHECK(rewritten(kTile, again + "@%p1 bra $L;\nst.global.f32 [%rd2], %f0;\n$L:\n"
                                 "ld.global.f32 %f2, [%rd1];\n") ==
        "ld.global.f32; st.global.f32; ld.global.f32");
  CHECK(rewritten(kTile, "@%p1 bra $L;\n" + again + "$L:\nld.global.f32 %f2, [%rd1];\n") ==
        "ld.global.f32; ld.global.f32");
  // An address that has changed is another.
  CHECK(rewritten(kTile, again + "add.s64 %rd1, %rd1, 4;\nld.global.f32 %f2, [%rd1];\n") ==
        "ld.global.f32; ld.global.f32");
  CHECK(rewritten(kTile, loads({0}) + "ld.shared.f32 %f9, [%r1];") == "ld.shared.f32");
  CHECK(rewritten(kTile, loads({0}) + "bar.sync 0;\nld.shared.f32 %f9, [%r1];") ==
        "ld.shared.f32; ld.shared.f32");
}

TEST_CASE("What nobody writes is loaded once, past barriers, stores and where ways meet") {
  const std::string load = "ld.global.nc.f32 %f0, [%rd1];\n";
  const auto again = [&](const std::string& between, const std::string& first = "") {
    return rewritten(kTile, first + load + between + "ld.global.nc.f32 %f1, [%rd1];\n");
  };
  CHECK(again("bar.sync 0;\n") == "ld.global.nc.f32");
  CHECK(again("st.global.f32 [%rd2], %f9;\n") == "ld.global.nc.f32; st.global.f32");
  CHECK(again("@%p1 bra $S;\nst.shared.f32 [%r1], %f9;\n$S:\nbar.sync 0;\n") ==
        "ld.global.nc.f32; st.shared.f32");
  // Not where some come that have not loaded it, or come again.
  CHECK(again("$S:\n", "@%p1 bra $S;\n") == "ld.global.nc.f32; ld.global.nc.f32");
  CHECK(again("$S:\nadd.s32 %r5, %r5, 1;\n@%p2 bra $S;\nadd.s64 %rd1, %rd1, 4;\n") ==
        "ld.global.nc.f32; ld.global.nc.f32");
  CHECK(again("add.s64 %rd1, %rd1, 4;\nbar.sync 0;\n") == "ld.global.nc.f32; ld.global.nc.f32");
}

TEST_CASE("A jump to where others go on, from where a loop begins, is no choice") {
  CHECK(rewritten(kTile,
                  "ld.shared.f32 %f1, [%r1];\n@%p1 bra $E;\nst.global.f32 [%rd1], %f1;\n$L:\n"
                  "@%p2 bra $E;\nst.global.f32 [%rd1+4], %f1;\n$E:\nld.shared.f32 %f2, [%r1+4];\n"
                  "add.s32 %r5, %r5, 1;\n@%p1 bra $L;\nst.global.f32 [%rd1+8], %f2;\n") ==
        "ld.shared.f32; st.global.f32; st.global.f32; ld.shared.f32; st.global.f32");
}

TEST_CASE("A load waits for the jump of those who do not need it") {
  // The load of %f1, which all need, comes first where the other has waited.
  const auto of = [](const std::string& between, const std::string& behind = "") {
    return rewritten(kTile, "ld.shared.u8 %h1, [%r1];\nld.global.f32 %f1, [%rd1];\n" + between +
                                "@%p1 bra $E;\nst.global.u8 [%rd2], %h1;\n$E:\n" + behind +
                                "st.shared.f32 [%r1], %f1;\n");
  };
  const std::string stores = "; st.global.u8; ";
  CHECK(of("") == "ld.global.f32; ld.shared.u8" + stores + "st.shared.f32");
  CHECK(of("setp.eq.u16 %p1, %h1, 0;\n") ==
        "ld.shared.u8; ld.global.f32" + stores + "st.shared.f32");
  CHECK(of("", "st.shared.u8 [%r1+4], %h1;\n") ==
        "ld.shared.u8; ld.global.f32" + stores + "st.shared.u8; st.shared.f32");
  CHECK(of("bar.sync 0;\n") == "ld.shared.u8; ld.global.f32" + stores + "st.shared.f32");
  CHECK(of("add.u32 %r1, %r1, 4;\n") == "ld.shared.u8; ld.global.f32" + stores + "st.shared.f32");
  CHECK(of("@%p2 bra $E;\n") == "ld.global.f32; ld.shared.u8" + stores + "st.shared.f32");
  // What is worked out from it goes with it, but no division, no address, nor what others need.
  const auto worked_out = [](const std::string& what, const std::string& behind = "") {
    return rewritten(kTile, "ld.shared.u8 %h1, [%r1];\nld.global.f32 %f1, [%rd1];\n" + what +
                                "@%p1 bra $E;\n$L:\nst.global.u32 [%rd2], %r8;\n"
                                "add.u32 %r5, %r5, 1;\n@%p2 bra $L;\n$E:\n" +
                                behind + "st.shared.f32 [%r1], %f1;\n");
  };
  const std::string sum = "cvt.u32.u16 %r7, %h1;\nadd.u32 %r8, %r7, 3;\n";
  CHECK(worked_out(sum) == "ld.global.f32; ld.shared.u8; st.global.u32; st.shared.f32");
  // Each is looked at once, though all are needed twice: else 40 would take hours.
  std::string twice = "cvt.u32.u16 %r10, %h1;\n";
  for (int k = 10; k < 90; k += 2) {
    const auto name = [](int number) { return "%r" + std::to_string(number); };
    twice += "shr.u32 " + name(k + 1) + ", " + name(k) + ", 7;\nxor.b32 " + name(k + 2) + ", " +
             name(k) + ", " + name(k + 1) + ";\n";
  }
  CHECK(worked_out(twice + "add.u32 %r8, %r90, 3;\n") ==
        "ld.global.f32; ld.shared.u8; st.global.u32; st.shared.f32");
  CHECK(worked_out("cvt.u32.u16 %r7, %h1;\ndiv.u32 %r8, %r7, %r0;\n") ==
        "ld.shared.u8; ld.global.f32; st.global.u32; st.shared.f32");
  CHECK(worked_out("cvt.u32.u16 %r7, %h1;\nmul.wide.u32 %rd2, %r7, 4;\n") ==
        "ld.shared.u8; ld.global.f32; mul.wide.u32; st.global.u32; st.shared.f32");
  CHECK(worked_out(sum, "st.shared.u32 [%r1+64], %r8;\n") ==
        "ld.shared.u8; ld.global.f32; st.global.u32; st.shared.u32; st.shared.f32");
  CHECK(of("cvt.u32.u16 %r7, %h1;\nadd.u32 %r8, %r7, 3;\n") ==
        "ld.shared.u8; ld.global.f32" + stores + "st.shared.f32");
  // Nor past the end of a kernel, which is no jump: there goes only what is loaded itself.
  const auto to_end = [](const std::string& what, const std::string& stored,
                         const std::string& end) {
    return rewritten(kTile, "ld.shared.f32 %f1, [%r1];\nld.global.f32 %f3, [%rd1];\n" + what +
                                "setp.lt.f32 %p1, %f3, 0f00000000;\n@%p1 bra $E;\n$L:\n"
                                "st.global.f32 [%rd2], " +
                                stored + ";\nadd.u32 %r5, %r5, 1;\n@%p2 bra $L;\n$E:\n" + end);
  };
  const std::string early = "ld.shared.f32; ld.global.f32; st.global.f32";
  const std::string late = "ld.global.f32; ld.shared.f32; st.global.f32";
  CHECK(to_end("add.f32 %f2, %f1, %f0;\n", "%f2", "") == early);
  CHECK(to_end("", "%f1", "") == late);
  CHECK(to_end("add.f32 %f2, %f1, %f0;\n", "%f2", "st.global.u32 [%rd2], %r0;\n") ==
        late + "; st.global.u32");
  // It does not go into a loop, nor behind who still has what it loaded.
  CHECK(of("$L:\n", "add.u32 %r5, %r5, 1;\n@%p2 bra $L;\n") ==
        "ld.shared.u8; ld.global.f32" + stores + "st.shared.f32");
  CHECK(rewritten(kTile,
                  "ld.global.nc.f32 %f2, [%rd1];\nld.shared.f32 %f1, [%r1];\n@%p1 bra $E;\n"
                  "st.global.f32 [%rd2], %f2;\n$E:\nld.global.nc.f32 %f3, [%rd1];\n"
                  "st.shared.f32 [%r1], %f1;\nst.shared.f32 [%r1+4], %f3;\n") ==
        "ld.global.nc.f32; ld.shared.f32; st.global.f32; st.shared.v2.f32");
}

TEST_CASE("What no round of a loop changes is loaded before it") {
  const auto loop = [](const std::string& before, const std::string& in_loop) {
    return rewritten(".shared .align 16 .b8 a[1024];\n",
                     "mov.u64 %rd1, p;\nmov.u64 %rd2, p;\n" + before +
                         "@%p1 bra $E;\n$L:\nld.global.nc.f32 %f1, [%rd2];\n" + in_loop +
                         "add.s64 %rd2, %rd2, 4;\nsetp.lt.s32 %p1, %r2, %r0;\n@%p1 bra $L;\n$E:\n");
  };
  const std::string load = "ld.global.u32 %r5, [%rd1];\n", own = "ld.global.nc.f32";
  CHECK(loop("", load) == "ld.global.u32; " + own);
  // What the stretch before has loaded is there.
  CHECK(loop("ld.global.u32 %r6, [%rd1];\n", load) == "ld.global.u32; " + own);
  CHECK(loop("ld.global.u32 %r6, [%rd1+4];\n", load) == "ld.global.u32; ld.global.u32; " + own);
  CHECK(loop("", "ld.volatile.global.u32 %r5, [%rd1];\n") == own + "; ld.volatile.global.u32");
  CHECK(loop("", load + "st.global.u32 [%rd3], %r5;\n") == own + "; ld.global.u32; st.global.u32");
  CHECK(loop("", load + "st.shared.u32 [%r1], %r5;\n") ==
        "ld.global.u32; " + own + "; st.shared.u32");
  CHECK(loop("", load + "add.s64 %rd1, %rd1, 4;\n") == own + "; ld.global.u32");
  CHECK(loop("", "@%p2 bra $M;\n" + load + "$M:\n") == own + "; ld.global.u32");
  CHECK(loop("", load + "bar.sync 0;\n") == own + "; ld.global.u32");
  CHECK(loop("", load + "nanosleep.u32 20;\n") == own + "; ld.global.u32");
}

TEST_CASE("Parts of a wide load that nobody reads are left out") {
  const auto four = [](const std::string& used) {
    std::string body = "ld.global.v4.f32 {%f0, %f1, %f2, %f3}, [%rd1];\n";
    for (const char each : used) body += std::string("st.global.f32 [%rd2], %f") + each + ";\n";
    const std::string text = rewritten(kTile, body);
    return text.substr(0, text.find("; st"));
  };
  CHECK(four("0") == "ld.global.f32");
  CHECK(four("01") == "ld.global.v2.f32");
  CHECK(four("23") == "ld.global.v2.f32");
  CHECK(four("03") == "ld.global.f32; ld.global.f32");
  CHECK(four("12") == "ld.global.f32; ld.global.f32");
  CHECK(four("012") == "ld.global.v4.f32");
  CHECK(four("0123") == "ld.global.v4.f32");
}

TEST_CASE("A product is rounded together with the sums that use it") {
  const auto of = [](const std::string& body) {
    return rewritten(kTile, "mul.f32 %f3, %f0, %f1;\n" + body);
  };
  CHECK(of("sub.f32 %f4, %f2, %f3;\n") == "neg.f32; fma.rn.f32 %f3 %f1 %f2");
  CHECK(of("sub.f32 %f4, %f3, %f2;\n") == "neg.f32; fma.rn.f32 %f0 %f1 %f3");
  CHECK(of("add.f32 %f4, %f3, %f2;\n") == "fma.rn.f32 %f0 %f1 %f2");
  CHECK(of("add.f32 %f4, %f3, %f2;\nsub.f32 %f5, %f2, %f3;\n") ==
        "fma.rn.f32 %f0 %f1 %f2; neg.f32; fma.rn.f32 %f3 %f1 %f2");
  // Of two that meet in a sum, one that nothing else uses, the first before the second; the other one is computed.
  const std::string second = "mul.f32 %f4, %f0, %f2;\n";
  CHECK(of(second + "add.f32 %f5, %f3, %f4;\n") == "mul.f32; fma.rn.f32 %f0 %f1 %f4");
  CHECK(of(second + "sub.f32 %f5, %f4, %f3;\n") == "mul.f32; neg.f32; fma.rn.f32 %f0 %f2 %f4");
  CHECK(of(second + "add.f32 %f5, %f4, %f3;\nsub.f32 %f6, %f4, %f2;\n") ==
        "mul.f32; fma.rn.f32 %f0 %f1 %f4; sub.f32");
  CHECK(of(second + "add.f32 %f5, %f4, %f3;\nsub.f32 %f6, %f3, %f4;\n") ==
        "mul.f32; fma.rn.f32 %f0 %f2 %f3; neg.f32; fma.rn.f32 %f4 %f2 %f3");
  CHECK(of(second + "add.f32 %f5, %f2, %f3;\nadd.f32 %f6, %f2, %f4;\nsub.f32 %f7, %f4, %f3;\n") ==
        "mul.f32; fma.rn.f32 %f0 %f1 %f2; fma.rn.f32 %f0 %f2 %f2; neg.f32; fma.rn.f32 %f0 %f2 %f4");
  // Not where something else reads it, one of the two is rounded by itself, a factor changes, or there is a branch.
  CHECK(of("sub.f32 %f4, %f2, %f3;\nadd.f32 %f5, %f3, %f3;\n") == "mul.f32; sub.f32");
  CHECK(of("sub.f32 %f4, %f2, %f3;\nst.shared.f32 [%r1], %f3;\n") ==
        "mul.f32; sub.f32; st.shared.f32");
  CHECK(of("sub.rn.f32 %f4, %f2, %f3;\n") == "mul.f32; sub.rn.f32");
  CHECK(of("mov.f32 %f0, %f2;\nsub.f32 %f4, %f2, %f3;\n") == "mul.f32; sub.f32");
  CHECK(of("bra.uni next;\nnext:\nsub.f32 %f4, %f2, %f3;\n") == "mul.f32; sub.f32");
  // A load that changes a factor stays behind the sum.
  CHECK(of("ld.shared.f32 %f8, [%r1];\nsub.f32 %f4, %f2, %f3;\nld.shared.f32 %f0, [%r1+4];\n") ==
        "ld.shared.f32; neg.f32; fma.rn.f32 %f3 %f1 %f2; ld.shared.f32");
  // A product with a constant goes anywhere: its register has the other factor, as it was.
  CHECK(rewritten(kTile,
                  "mul.f32 %f3, %f0, 0f40400000;\nbra.uni next;\nnext:\nadd.f32 %f4, %f3, %f2;\n"
                  "add.f32 %f5, %f3, %f1;\n") == "fma.rn.f32 %f3 # %f2; fma.rn.f32 %f3 # %f1");
}
