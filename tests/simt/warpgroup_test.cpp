// wgmma, on a machine of its own: each type, width and way in which its matrices may lie, beside sums worked out here.
#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "common/simt/machine/grid.hpp"
#include "common/simt/ptx/parse.hpp"
#include "tests/catch.hpp"

using namespace simt;

namespace {

using U32 = std::uint32_t;
using U64 = std::uint64_t;

struct Nobody final : machine::Observer {
  std::uint32_t access(const machine::WarpAccess&) override { return 0; }
  void fault(const machine::WarpAccess&, int, const std::string& what) override {
    faults.push_back(what);
  }
  void barrier(const machine::Block&, std::uint32_t) override {}
  std::vector<std::string> faults;
};

constexpr std::size_t kShared = 65536;
constexpr unsigned kThreads = 128;

struct Type {
  std::string name;  // of A and B
  int bytes;
  std::function<U32(int)> bits;  // of a small whole number
};
U32 float_bits(int value) { return std::bit_cast<U32>(static_cast<float>(value)); }
// Of a float with so many places and bits of exponent.
U32 small_float(int value, int places, int exponent_bits) {
  if (value == 0) return 0;
  const U32 whole = float_bits(value);
  const U32 exponent = (whole >> 23 & 255) - 127 + ((1u << (exponent_bits - 1)) - 1);
  const U32 sign = whole >> 31 << (places + exponent_bits);
  return sign | exponent << places | (whole & 0x7f'ffff) >> (23 - places);
}
const std::vector<Type>& types() {
  static const std::vector<Type> all = {
      {"f16", 2, [](int v) { return small_float(v, 10, 5); }},
      {"bf16", 2, [](int v) { return small_float(v, 7, 8); }},
      {"tf32", 4, [](int v) { return float_bits(v) | 0x1fff; }},  // the last bits are not looked at
      {"e4m3", 1, [](int v) { return small_float(v, 3, 4); }},
      {"e5m2", 1, [](int v) { return small_float(v, 2, 5); }},
      {"s8", 1, [](int v) { return static_cast<U32>(v) & 255; }},
      {"u8", 1, [](int v) { return static_cast<U32>(v) & 255; }},
  };
  return all;
}
const Type& type_named(const std::string& name) {
  return *std::find_if(types().begin(), types().end(),
                       [&](const Type& one) { return one.name == name; });
}

// How a matrix lies in shared memory: along k or across, in lines of so many bytes (16: no swizzle).
struct Layout {
  bool is_across = false;
  unsigned width = 128;
};

// Puts lines x depth elements at `begin` of an image, which is a multiple of 1024, and says how.
U64 place(std::vector<std::byte>& image, unsigned begin, const std::vector<U32>& bits, int lines,
          int depth, int bytes, Layout layout) {
  const auto n = static_cast<unsigned>(lines), d = static_cast<unsigned>(depth);
  const auto size = static_cast<unsigned>(bytes);
  const unsigned width = layout.width;
  // Along: eight lines are a block, blocks of lines follow one another. Across: blocks of eight k are `width` bytes wide.
  unsigned leading = 0, stride = 0;
  if (!layout.is_across) {
    stride = width == 16 ? 256 : 8 * width;
    leading = width == 16 ? 128 : 0;
  } else if (width == 16) {
    stride = 256;  // to the next eight lines
    leading = 128;
  } else {
    stride = 8 * width;
    leading = d / 8 * stride;
  }
  for (unsigned line = 0; line < n; ++line) {
    for (unsigned k = 0; k < d; ++k) {
      unsigned row = layout.is_across ? k : line;             // of a block: one of eight
      unsigned along = (layout.is_across ? line : k) * size;  // bytes
      unsigned at = 0;
      if (width == 16) {
        at = layout.is_across ? along / 16 * stride + row / 8 * leading
                              : row / 8 * stride + along / 16 * leading;
        at += row % 8 * 16 + along % 16;
      } else {
        at = row / 8 * stride + row % 8 * width + along / width * leading;
        along %= width;
        const unsigned turned = width == 128 ? row % 8 : width == 64 ? row % 8 / 2 : row % 8 / 4;
        at += (along / 16 ^ turned) * 16 + along % 16;
      }
      std::memcpy(image.data() + begin + at, &bits[line * d + k], size);
    }
  }
  const U64 mode = width == 128 ? 1 : width == 64 ? 2 : width == 32 ? 3 : 0;
  return begin >> 4 | U64{leading >> 4} << 16 | U64{stride >> 4} << 32 | mode << 62;
}

struct Problem {
  std::string a = "f16", b = "f16", d = "f32";
  int columns = 8;
  Layout left, right;
  bool is_left_in_registers = false;
  int sign_a = 1, sign_b = 1;
  bool adds = true;
  unsigned threads = kThreads;
  std::string tail;  // of the form
};

struct Answer {
  std::vector<U32> registers;  // by thread
  std::vector<std::string> faults;
  std::size_t stuck = 0;
};

std::string list(const std::string& name, int count) {
  std::string all = "{";
  for (int i = 0; i < count; ++i) all += (i == 0 ? "" : ", ") + name + std::to_string(i);
  return all + "}";
}

// Runs one product of the matrices in an image; accumulators and A's registers are given by thread.
Answer run(const Problem& its, const std::vector<std::byte>& image, U64 left, U64 right,
           const std::vector<U32>& start, const std::vector<U32>& registers) {
  const int depth = 32 / type_named(its.a).bytes;
  const int results = its.columns / (its.d == "f16" ? 4 : 2);
  std::string text =
      ".version 9.0\n.target sm_90a\n.address_size 64\n"
      ".visible .entry k(.param .u64 in, .param .u64 out, .param .u64 a) {\n"
      ".shared .align 1024 .b8 s[" +
      std::to_string(kShared) +
      "];\n"
      ".reg .b64 pi, po, pa, da, db;\n.reg .b32 t, i, v, at, ";
  for (int i = 0; i < results; ++i) text += "d" + std::to_string(i) + ", ";
  text +=
      "a0, a1, a2, a3;\n.reg .pred p, q;\n"
      "ld.param.u64 pi, [in]; ld.param.u64 po, [out]; ld.param.u64 pa, [a];\n"
      "mov.u32 t, %tid.x;\nmad.wide.u32 po, t, " +
      std::to_string(4 * results) +
      ", po;\n"
      "mad.wide.u32 pa, t, 16, pa;\nmov.u32 i, t;\nmov.u32 at, s;\nmad.lo.u32 at, t, 4, at;\n"
      "mad.wide.u32 pi, t, 4, pi;\n"
      "again: ld.global.b32 v, [pi]; st.shared.b32 [at], v;\n"
      "add.u64 pi, pi, " +
      std::to_string(4 * its.threads) +
      ";\n"
      "add.u32 at, at, " +
      std::to_string(4 * its.threads) +
      ";\n"
      "add.u32 i, i, " +
      std::to_string(its.threads) + ";\nsetp.lt.u32 p, i, " + std::to_string(kShared / 4) +
      ";\n@p bra again;\n"
      "fence.proxy.async.shared::cta;\nbar.sync 0;\n";
  for (int i = 0; i < results; ++i) {
    text += "ld.global.b32 d" + std::to_string(i) + ", [po+" + std::to_string(4 * i) + "];\n";
  }
  for (int i = 0; i < 4; ++i) {
    text += "ld.global.b32 a" + std::to_string(i) + ", [pa+" + std::to_string(4 * i) + "];\n";
  }
  const bool is_half = type_named(its.a).bytes == 2, is_whole = its.d == "s32";
  text += "mov.b64 da, " + std::to_string(left) + ";\nmov.b64 db, " + std::to_string(right) +
          ";\nsetp.eq.u32 q, " + std::to_string(its.adds ? 1 : 0) +
          ", 1;\n"
          "wgmma.fence.sync.aligned;\nwgmma.mma_async.sync.aligned.m64n" +
          std::to_string(its.columns) + "k" + std::to_string(depth) + "." + its.d + "." + its.a +
          "." + its.b + its.tail + " " + list("d", results) + ", " +
          (its.is_left_in_registers ? list("a", 4) : "da") + ", db, q";
  if (!is_whole) text += ", " + std::to_string(its.sign_a) + ", " + std::to_string(its.sign_b);
  if (is_half && !its.is_left_in_registers) text += its.left.is_across ? ", 1" : ", 0";
  if (is_half) text += its.right.is_across ? ", 1" : ", 0";
  text += ";\nwgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n";
  for (int i = 0; i < results; ++i) {
    text += "st.global.b32 [po+" + std::to_string(4 * i) + "], d" + std::to_string(i) + ";\n";
  }
  text += "ret;\n}\n";
  const auto module = ptx::parse(text, "product.ptx");
  const auto code = machine::decode(*module, *module->function("k"), {});
  memory::Arena arena(std::size_t{1} << 22);
  const auto give = [&](const auto& values, const char* name) {
    const std::size_t bytes = std::max<std::size_t>(values.size() * sizeof values[0], 4096);
    const U64 at = arena.allocate(bytes, name);
    std::memcpy(arena.host(at), values.data(), values.size() * sizeof values[0]);
    return at;
  };
  const U64 arguments[3] = {give(image, "in"), give(start, "out"), give(registers, "a")};
  Nobody nobody;
  machine::Grid grid;
  grid.code = code.get();
  grid.threads = {its.threads};
  grid.parameters.resize(sizeof arguments);
  std::memcpy(grid.parameters.data(), arguments, sizeof arguments);
  grid.arena = &arena;
  grid.observer = &nobody;
  Answer answer;
  answer.stuck = machine::run(grid).size();
  answer.faults = nobody.faults;
  answer.registers.resize(start.size());
  std::memcpy(answer.registers.data(), arena.host(arguments[1]), start.size() * 4);
  return answer;
}

// Whole numbers, of which every sum is exact.
void check(const Problem& its) {
  INFO(its.columns << " " << its.d << "." << its.a << "." << its.b << " A "
                   << (its.is_left_in_registers ? "in registers"
                       : its.left.is_across     ? "across"
                                                : "along")
                   << " " << its.left.width << ", B " << (its.right.is_across ? "across" : "along")
                   << " " << its.right.width);
  const Type &a = type_named(its.a), &b = type_named(its.b);
  const int depth = 32 / a.bytes, least = its.a == "u8" || its.b == "u8" ? 0 : -2;
  std::mt19937 engine(7);
  const auto numbers = [&](int count) {
    std::vector<int> all(static_cast<std::size_t>(count));
    for (int& one : all) one = least + static_cast<int>(engine() % 5);
    return all;
  };
  const auto bits_of = [](const std::vector<int>& all, const Type& type) {
    std::vector<U32> bits;
    for (const int one : all) bits.push_back(type.bits(one));
    return bits;
  };
  const std::vector<int> left = numbers(64 * depth), right = numbers(its.columns * depth);
  const std::vector<int> start = numbers(64 * its.columns);
  std::vector<std::byte> image(kShared, std::byte{0x5a});
  const U64 to_left = place(image, 0, bits_of(left, a), 64, depth, a.bytes, its.left);
  const U64 to_right =
      place(image, 16384, bits_of(right, b), its.columns, depth, b.bytes, its.right);
  // A lane has rows lane / 4 and eight further on of its warp's sixteen, and pairs of columns.
  const int per = its.d == "f16" ? 2 : 1, results = its.columns / 2 / per;
  const auto result_at = [&](int thread, int i, int j) {
    const int element = i * per + j, lane = thread % 32;
    const int row = thread / 32 * 16 + lane / 4 + element / 2 % 2 * 8;
    return std::pair(row, element / 4 * 8 + lane % 4 * 2 + element % 2);
  };
  const auto result_bits = [&](int value) {
    return its.d == "s32"   ? static_cast<U32>(value)
           : its.d == "f16" ? small_float(value, 10, 5)
                            : float_bits(value);
  };
  std::vector<U32> given, expected, registers;
  for (int thread = 0; thread < 128; ++thread) {
    for (int i = 0; i < results; ++i) {
      U32 word = 0, wanted = 0;
      for (int j = 0; j < per; ++j) {
        const auto [row, column] = result_at(thread, i, j);
        const int before = start[static_cast<std::size_t>(row * its.columns + column)];
        int sum = 0;
        for (int k = 0; k < depth; ++k) {
          sum += left[static_cast<std::size_t>(row * depth + k)] *
                 right[static_cast<std::size_t>(column * depth + k)];
        }
        sum = sum * its.sign_a * its.sign_b + (its.adds ? before : 0);
        word |= result_bits(before) << 16 * j;
        wanted |= result_bits(sum) << 16 * j;
      }
      given.push_back(word);
      expected.push_back(wanted);
    }
    // Of A: rows lane / 4 and eight further on, four bytes of k, and those behind 16 bytes.
    for (int i = 0; i < 4; ++i) {
      U32 word = 0;
      for (int j = 0; j < 4 / a.bytes; ++j) {
        const int lane = thread % 32, row = thread / 32 * 16 + lane / 4 + i % 2 * 8;
        const int k = (lane % 4 * 4 + i / 2 * 16) / a.bytes + j;
        word |= a.bits(left[static_cast<std::size_t>(row * depth + k)]) << 8 * a.bytes * j;
      }
      registers.push_back(word);
    }
  }
  const Answer answer = run(its, image, to_left, to_right, given, registers);
  CHECK(answer.faults.empty());
  CHECK(answer.stuck == 0);
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (answer.registers[i] == expected[i]) continue;
    if (wrong++ < 4) UNSCOPED_INFO(i << ": " << answer.registers[i] << ", not " << expected[i]);
  }
  CHECK(wrong == 0);
}

}  // namespace

TEST_CASE("wgmma of each width multiplies what lies along k", "[warpgroup]") {
  for (int columns = 8; columns <= 256; columns += 8) {
    Problem its;
    its.columns = columns;
    check(its);
  }
}

TEST_CASE("wgmma of each type multiplies, from memory and from registers", "[warpgroup]") {
  const std::vector<std::array<std::string, 3>> all = {
      {"f32", "f16", "f16"},   {"f16", "f16", "f16"},   {"f32", "bf16", "bf16"},
      {"f32", "tf32", "tf32"}, {"f32", "e4m3", "e4m3"}, {"f32", "e4m3", "e5m2"},
      {"f16", "e5m2", "e5m2"}, {"s32", "s8", "s8"},     {"s32", "u8", "s8"},
      {"s32", "u8", "u8"}};
  for (const auto& [d, a, b] : all) {
    for (const bool in_registers : {false, true}) {
      for (const bool adds : {false, true}) {
        Problem its;
        its.d = d, its.a = a, its.b = b;
        its.columns = 24;
        its.is_left_in_registers = in_registers;
        its.adds = adds;
        check(its);
      }
    }
  }
}

TEST_CASE("wgmma reads matrices with each swizzle, along k and across", "[warpgroup]") {
  for (const unsigned width : {16u, 32u, 64u, 128u}) {
    for (const bool left : {false, true}) {
      for (const bool right : {false, true}) {
        Problem its;
        its.columns = 128;
        its.left = {left, width};
        its.right = {right, width};
        check(its);
        its.is_left_in_registers = true;
        its.left = {};
        check(its);
      }
    }
    Problem its;
    its.a = its.b = "tf32";
    its.left = its.right = {false, width};
    check(its);
  }
}

TEST_CASE("wgmma turns the signs of A and B", "[warpgroup]") {
  for (const int a : {1, -1}) {
    for (const int b : {1, -1}) {
      Problem its;
      its.sign_a = a, its.sign_b = b;
      check(its);
    }
  }
}

TEST_CASE("wgmma stops at a matrix outside shared memory, and without its four warps",
          "[warpgroup]") {
  const std::vector<std::byte> image(kShared);
  const std::vector<U32> start(128 * 4), registers(128 * 4);
  Problem its;
  CHECK(run(its, image, kShared / 16 - 1, 0, start, registers).faults.at(0) == "out_of_bounds");
  its.threads = 96;
  CHECK(run(its, image, 0, 0, start, registers).faults.at(0) == "lacking_warp");
  its.threads = 120;
  CHECK(run(its, image, 0, 0, start, registers).faults.at(0) == "lacking_warp");
}
