// Single instructions, one form each, on a warp whose lanes hold chosen values: what comes out is compared with what is
// computed here in another way, or with what an H200 answered.
#include <array>
#include <bit>
#include <cfenv>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "common/simt/machine/grid.hpp"
#include "common/simt/ptx/parse.hpp"
#include "tests/catch.hpp"

using namespace simt;

namespace {

using U32 = std::uint32_t;
using U64 = std::uint64_t;
using S32 = std::int32_t;
using S64 = std::int64_t;

struct Nobody final : machine::Observer {
  std::uint32_t access(const machine::WarpAccess&) override { return 0; }
  void fault(const machine::WarpAccess&, int, const std::string& what) override { FAIL(what); }
  void barrier(const machine::Block&, std::uint32_t) override {}
};

constexpr std::size_t kLanes = 32;
using Values = std::vector<U64>;  // a lane each

// A PTX text that names its operands a0, a1, ... and its results d0, d1, ..., and their types ("f32", "pred").
class Form {
 public:
  Form(std::string text, std::vector<std::string> to, std::vector<std::string> from,
       const std::string& variables = "")
      : to_(std::move(to)), from_(std::move(from)) {
    std::string body, loads, stores;
    for (std::size_t i = 0; i < from_.size(); ++i) {
      const std::string a = "a" + std::to_string(i), type = register_of(from_[i]);
      const std::string at = "[pi+" + std::to_string(8 * i) + "]";
      body += ".reg ." + type + " " + a + ";\n";
      if (type == "pred") {
        body += ".reg .b32 p" + a + ";\n";
        loads += "ld.global.b32 p" + a + ", " + at + "; setp.ne.u32 " + a + ", p" + a + ", 0;\n";
      } else {
        loads += "ld.global." + type + " " + a + ", " + at + ";\n";
      }
    }
    for (std::size_t i = 0; i < to_.size(); ++i) {
      const std::string d = "d" + std::to_string(i), type = register_of(to_[i]);
      const std::string at = "[po+" + std::to_string(8 * i) + "]";
      body += ".reg ." + type + " " + d + ";\n";
      if (type == "pred") {
        body += ".reg .b32 p" + d + ";\n";
        stores += "selp.b32 p" + d + ", 1, 0, " + d + "; st.global.b32 " + at + ", p" + d + ";\n";
      } else {
        stores += "st.global." + type + " " + at + ", " + d + ";\n";
      }
    }
    module_ = ptx::parse(".version 9.0\n.target sm_90\n.address_size 64\n" + variables +
                             "\n.visible .entry k(.param .u64 in, .param .u64 out) {\n"
                             ".reg .b64 pi, po;\n.reg .b32 t;\n" +
                             body +
                             "ld.param.u64 pi, [in]; ld.param.u64 po, [out]; mov.u32 t, %tid.x;\n"
                             "mad.wide.u32 pi, t, " +
                             std::to_string(8 * from_.size()) + ", pi; mad.wide.u32 po, t, " +
                             std::to_string(8 * to_.size()) + ", po;\n" + loads + text + "\n" +
                             stores + "ret;\n}\n",
                         "form.ptx");
    code_ = machine::decode(*module_, *module_->function("k"), {});
  }

  // The results of up to 32 lanes: by result, then by lane. Operands by lane: {a0, a1, ...}.
  std::vector<Values> operator()(const std::vector<Values>& lanes) const {
    memory::Arena arena(std::size_t{1} << 22);
    const std::uint64_t in = arena.allocate(lanes.size() * from_.size() * 8 + 8, "in");
    const std::uint64_t out = arena.allocate(lanes.size() * to_.size() * 8, "out");
    for (std::size_t lane = 0; lane < lanes.size(); ++lane) {
      REQUIRE(lanes[lane].size() == from_.size());
      std::memcpy(arena.host(in) + lane * from_.size() * 8, lanes[lane].data(), from_.size() * 8);
    }
    std::memset(arena.host(out), 0, lanes.size() * to_.size() * 8);
    Nobody nobody;
    machine::Grid grid;
    grid.code = code_.get();
    grid.threads = {static_cast<unsigned>(lanes.size())};
    grid.parameters.resize(16);
    std::memcpy(grid.parameters.data(), &in, 8);
    std::memcpy(grid.parameters.data() + 8, &out, 8);
    grid.arena = &arena;
    grid.observer = &nobody;
    REQUIRE(machine::run(grid).empty());
    std::vector<Values> results(to_.size(), Values(lanes.size()));
    for (std::size_t lane = 0; lane < lanes.size(); ++lane) {
      for (std::size_t i = 0; i < to_.size(); ++i) {
        std::memcpy(&results[i][lane], arena.host(out) + (lane * to_.size() + i) * 8, 8);
      }
    }
    return results;
  }
  U64 of(const Values& operands) const { return (*this)({operands})[0][0]; }

 private:
  static std::string register_of(const std::string& type) {
    if (type == "pred" || type == "f32" || type == "f64") return type;
    if (type.ends_with("x2") || type == "tf32") return type.starts_with("e") ? "b16" : "b32";
    if (type.ends_with("64")) return "b64";
    return type.ends_with("32") ? "b32" : "b16";
  }

  std::vector<std::string> to_, from_;
  std::unique_ptr<const ptx::Module> module_;
  std::unique_ptr<const machine::Code> code_;
};

// "add.s32" of as many operands as there are types, to the first type.
Form form(const std::string& opcode, const std::string& to, const std::vector<std::string>& from) {
  std::string text = opcode + " d0";
  for (std::size_t i = 0; i < from.size(); ++i) text += ", a" + std::to_string(i);
  return Form(text + ";", {to}, from);
}

U64 bits(float value) { return std::bit_cast<U32>(value); }
U64 bits(double value) { return std::bit_cast<U64>(value); }
float as_float(U64 value) { return std::bit_cast<float>(static_cast<U32>(value)); }
double as_double(U64 value) { return std::bit_cast<double>(value); }

constexpr U64 kNan = 0x7fff'ffff;

struct Case {
  std::string opcode, to;
  std::vector<std::string> from;
  Values operands;
  U64 expected;
};
void check(const std::vector<Case>& cases) {
  for (const Case& one : cases) {
    std::string text = one.opcode;
    for (const U64 operand : one.operands) text += " " + std::to_string(operand);
    INFO(text);
    CHECK(form(one.opcode, one.to, one.from).of(one.operands) == one.expected);
  }
}

// Floats of every kind: special ones, small, large, and of any bits.
std::vector<U64> some_floats(std::size_t count) {
  std::mt19937_64 engine(1);
  std::vector<U64> all = {0,           0x8000'0000, 1,           0x807f'ffff, 0x80'0000,
                          0x3f80'0000, 0xbf80'0000, 0x7f7f'ffff, 0xff7f'ffff, 0x7f80'0000,
                          0xff80'0000, 0x7fc0'0000, 0x3f80'0001, 0x4b80'0000};
  while (all.size() < count) {
    const auto word = static_cast<U32>(engine());
    all.push_back(all.size() % 2 == 0 ? word : (word & 0x807f'ffff) | (110 + word % 30) << 23);
  }
  return all;
}
std::vector<U64> some_doubles(std::size_t count) {
  std::mt19937_64 engine(2);
  std::vector<U64> all = {0,
                          U64{1} << 63,
                          1,
                          0x000f'ffff'ffff'ffff,
                          0x0010'0000'0000'0000,
                          bits(1.0),
                          bits(-1.0),
                          bits(std::numeric_limits<double>::max()),
                          bits(std::numeric_limits<double>::infinity())};
  while (all.size() < count) {
    const U64 word = engine();
    all.push_back(all.size() % 3 == 0 ? word & 0xffef'ffff'ffff'ffff
                                      : (word & 0x800f'ffff'ffff'ffff) | (1000 + word % 50) << 52);
  }
  return all;
}

// The processor's own answer in a rounding mode; volatile, so that it is computed between the two calls.
template <class T, class Operation>
T rounded(int mode, T a, T b, T c, Operation operation) {
  volatile T x = a, y = b, z = c;
  std::fesetround(mode);
  volatile T result = operation(x, y, z);
  std::fesetround(FE_TONEAREST);
  return result;
}

struct Mode {
  std::string name;
  int its;
};
const Mode kModes[] = {
    {".rn", FE_TONEAREST}, {".rz", FE_TOWARDZERO}, {".rm", FE_DOWNWARD}, {".rp", FE_UPWARD}};

template <class T, class Operation>
void check_in_all_modes(const std::string& opcode, const std::string& type, std::size_t operands,
                        const std::vector<U64>& values, Operation operation) {
  const auto value = [](U64 its) {
    if constexpr (sizeof(T) == 4) return as_float(its);
    if constexpr (sizeof(T) == 8) return as_double(its);
  };
  for (const Mode& mode : kModes) {
    const Form its =
        form(opcode + mode.name + "." + type, type, std::vector<std::string>(operands, type));
    for (std::size_t first = 0; first < values.size(); ++first) {
      std::vector<Values> lanes;
      for (std::size_t lane = 0; lane < kLanes; ++lane) {
        const U64 all[] = {values[first], values[(first * 7 + lane) % values.size()],
                           values[(first + lane * 5 + 3) % values.size()]};
        lanes.emplace_back(all, all + operands);
      }
      const Values results = its(lanes)[0];
      for (std::size_t lane = 0; lane < kLanes; ++lane) {
        Values of = lanes[lane];
        of.resize(3);
        const T expected =
            rounded<T>(mode.its, value(of[0]), value(of[1]), value(of[2]), operation);
        INFO(opcode << mode.name << "." << type << " of " << of[0] << " " << of[1] << " " << of[2]);
        if (std::isnan(expected)) {
          CHECK(std::isnan(value(results[lane])));
          if (sizeof(T) == 4) CHECK(results[lane] == kNan);
        } else {
          CHECK(results[lane] == bits(expected));
        }
      }
    }
  }
}

}  // namespace

TEST_CASE("forms: whole numbers at their ends") {
  check({
      {"add.s32", "s32", {"s32", "s32"}, {0x7fff'ffff, 1}, 0x8000'0000},
      {"add.sat.s32", "s32", {"s32", "s32"}, {0x7fff'ffff, 1}, 0x7fff'ffff},
      {"sub.sat.s32", "s32", {"s32", "s32"}, {0x8000'0000, 1}, 0x8000'0000},
      {"mul.hi.s32", "s32", {"s32", "s32"}, {0x8000'0000, 0x8000'0000}, 0x4000'0000},
      {"mul.hi.u32", "u32", {"u32", "u32"}, {0xffff'ffff, 0xffff'ffff}, 0xffff'fffe},
      {"mul.hi.u64", "u64", {"u64", "u64"}, {~U64{0}, ~U64{0}}, ~U64{1}},
      {"mul.hi.s64", "s64", {"s64", "s64"}, {~U64{0}, 2}, ~U64{0}},
      {"mul.wide.s16", "s32", {"s16", "s16"}, {0x8000, 0x8000}, 0x4000'0000},
      {"mad.wide.u32", "u64", {"u32", "u32", "u64"}, {~0u, ~0u, 5}, 0xffff'fffe'0000'0006},
      {"mul24.lo.s32", "s32", {"s32", "s32"}, {0xff'ffff, 3}, 0xffff'fffd},
      {"mul24.hi.u32", "u32", {"u32", "u32"}, {0xff'ffff, 0xff'ffff}, 0xffff'fe00},
      {"div.s32", "s32", {"s32", "s32"}, {0x8000'0000, ~0u}, 0x8000'0000},
      {"rem.s32", "s32", {"s32", "s32"}, {0x8000'0000, ~0u}, 0},
      {"div.s64", "s64", {"s64", "s64"}, {U64{1} << 63, ~U64{0}}, U64{1} << 63},
      // As an H200 answers.
      {"div.u32", "u32", {"u32", "u32"}, {7, 0}, ~0u},
      {"rem.u32", "u32", {"u32", "u32"}, {7, 0}, ~0u},
      {"rem.s64", "s64", {"s64", "s64"}, {7, 0}, ~U64{0}},
      {"abs.s32", "s32", {"s32"}, {0x8000'0000}, 0x8000'0000},
      {"sad.s32", "s32", {"s32", "s32", "s32"}, {~0u, 2, 10}, 13},
      {"dp4a.s32.u32", "s32", {"b32", "b32", "b32"}, {0xff80'0102, 0x0102'0304, 100}, U32(-146)},
      {"dp2a.hi.u32.u32", "u32", {"b32", "b32", "b32"}, {0x0003'0002, 0x0504'0000, 1}, 24},
      {"min.relu.s32", "s32", {"s32", "s32"}, {5, ~0u}, 0},
      {"add.u16x2", "u32", {"b32", "b32"}, {0xffff'0001, 0x0001'ffff}, 0},
      {"max.s16x2", "u32", {"b32", "b32"}, {0xffff'0001, 0x0001'ffff}, 0x0001'0001},
  });
}

TEST_CASE("forms: shifts and fields beyond their width") {
  check({
      {"shl.b32", "b32", {"b32", "u32"}, {1, 32}, 0},
      {"shl.b16", "b16", {"b16", "u32"}, {0xffff, 15}, 0x8000},
      {"shr.u32", "u32", {"u32", "u32"}, {0x8000'0000, 31}, 1},
      {"shr.u32", "u32", {"u32", "u32"}, {0x8000'0000, 32}, 0},
      {"shr.s32", "s32", {"s32", "u32"}, {0x8000'0000, 99}, ~0u},
      {"shr.s64", "s64", {"s64", "u32"}, {U64{1} << 63, 64}, ~U64{0}},
      {"shf.l.wrap.b32", "b32", {"b32", "b32", "u32"}, {0x8000'0000, 1, 33}, 3},
      {"shf.l.clamp.b32", "b32", {"b32", "b32", "u32"}, {0x8000'0000, 1, 33}, 0x8000'0000},
      {"shf.r.wrap.b32", "b32", {"b32", "b32", "u32"}, {0x8000'0000, 1, 31}, 3},
      {"shf.r.clamp.b32", "b32", {"b32", "b32", "u32"}, {0x8000'0000, 1, 40}, 1},
      {"bfe.u32", "u32", {"u32", "u32", "u32"}, {0xabcd'1234, 8, 8}, 0x12},
      {"bfe.u32", "u32", {"u32", "u32", "u32"}, {0xabcd'1234, 264, 8}, 0x12},  // mod 256
      {"bfe.u64", "u64", {"u64", "u32", "u32"}, {0xabcd'1234, 264, 8}, 0},     // not so: H200
      {"bfe.s32", "s32", {"s32", "u32", "u32"}, {0x0000'f000, 12, 4}, ~0u},
      {"bfe.s32", "s32", {"s32", "u32", "u32"}, {0x8000'0000, 30, 9}, U32(-2)},
      {"bfe.s32", "s32", {"s32", "u32", "u32"}, {0x8000'0000, 40, 4}, ~0u},
      {"bfe.s32", "s32", {"s32", "u32", "u32"}, {~0u, 40, 0}, 0},
      {"bfi.b32", "b32", {"b32", "b32", "u32", "u32"}, {0xff, 0, 28, 8}, 0xf000'0000},
      {"bfi.b32", "b32", {"b32", "b32", "u32", "u32"}, {0xff, 7, 32, 8}, 7},
      {"bfi.b64", "b64", {"b64", "b64", "u32", "u32"}, {~U64{0}, 0, 0, 64}, ~U64{0}},
      {"bfind.u32", "u32", {"u32"}, {0}, ~0u},
      {"bfind.s32", "u32", {"s32"}, {~0u}, ~0u},
      {"bfind.s32", "u32", {"s32"}, {0xffff'fffd}, 1},
      {"bfind.shiftamt.u64", "u32", {"u64"}, {1}, 63},
      {"clz.b32", "u32", {"b32"}, {0}, 32},
      {"clz.b64", "u32", {"b64"}, {1}, 63},
      {"popc.b64", "u32", {"b64"}, {~U64{0}}, 64},
      {"brev.b32", "b32", {"b32"}, {0x0000'0003}, 0xc000'0000},
      {"cnot.b32", "b32", {"b32"}, {0}, 1},
      {"prmt.b32", "b32", {"b32", "b32", "b32"}, {0x3322'1180, 0x7766'5544, 0x7408}, 0x7744'80ff},
      {"prmt.b32.f4e", "b32", {"b32", "b32", "b32"}, {0x3322'1100, 0x7766'5544, 3}, 0x6655'4433},
      {"prmt.b32.b4e", "b32", {"b32", "b32", "b32"}, {0x3322'1100, 0x7766'5544, 1}, 0x6677'0011},
      {"prmt.b32.ecr", "b32", {"b32", "b32", "b32"}, {0x3322'1100, 0, 1}, 0x1111'1100},
      {"vabsdiff2.u32.u32.u32", "u32", {"u32", "u32", "u32"}, {0xffff'0001, 3, 9}, 0xffff'0002},
      {"vabsdiff2.u32.s32.s32.add", "u32", {"u32", "u32", "u32"}, {0xffff'0001, 3, 9}, 12},
      {"bmsk.clamp.b32", "b32", {"u32", "u32"}, {28, 99}, 0xf000'0000},
      {"bmsk.wrap.b32", "b32", {"u32", "u32"}, {33, 34}, 0x6},
      {"szext.clamp.s32", "s32", {"s32", "u32"}, {0x18, 5}, 0xffff'fff8},
      {"szext.wrap.u32", "u32", {"u32", "u32"}, {0xff, 36}, 0xf},
      {"fns.b32", "b32", {"b32", "u32", "s32"}, {0b1011'0010, 2, 2}, 5},
      {"fns.b32", "b32", {"b32", "u32", "s32"}, {0b1011'0010, 6, U32(-3)}, 1},
      {"fns.b32", "b32", {"b32", "u32", "s32"}, {0b1011'0010, 2, 0}, ~0u},
  });
  // Each table of three inputs is the expression that it is written from.
  for (const auto& [table, expected] :
       std::vector<std::pair<std::string, U64>>{{"0x96", 0b1001'0110}, {"0xe8", 0b1110'1000}}) {
    const Form lop("lop3.b32 d0, a0, a1, a2, " + table + ";", {"b32"}, {"b32", "b32", "b32"});
    CHECK(lop.of({0xf0, 0xcc, 0xaa}) == expected);
  }
}

TEST_CASE("forms: a carry goes from one instruction to the next") {
  // 128 bits in four words: against __int128.
  __extension__ using Wide = unsigned __int128;
  const Form add(
      "add.cc.u32 d0, a0, a2; addc.cc.u32 d1, a1, a3; addc.u32 d2, 0, 0;\n"
      "sub.cc.u32 d3, a0, a2; subc.cc.u32 d4, a1, a3; subc.u32 d5, 0, 0;\n"
      "sub.cc.u32 d6, a0, a2; subc.cc.u32 d6, a1, a3; addc.u32 d6, 0, 0;",
      {"u32", "u32", "u32", "u32", "u32", "u32", "u32"}, {"u32", "u32", "u32", "u32"});
  const Form multiply(
      "mul.lo.u32 d0, a0, a2; mul.hi.u32 d1, a0, a2;\n"
      "mad.lo.cc.u32 d1, a0, a3, d1; madc.hi.u32 d2, a0, a3, 0;\n"
      "mad.lo.cc.u32 d1, a1, a2, d1; madc.hi.cc.u32 d2, a1, a2, d2; addc.u32 d3, 0, 0;\n"
      "mad.lo.cc.u32 d2, a1, a3, d2; madc.hi.u32 d3, a1, a3, d3;",
      {"u32", "u32", "u32", "u32"}, {"u32", "u32", "u32", "u32"});
  std::mt19937_64 engine(3);
  for (int i = 0; i < 40; ++i) {
    const U64 a = i % 4 == 0 ? ~U64{0} >> i : engine(), b = i % 3 == 0 ? ~U64{0} : engine();
    const Values operands = {a & ~0u, a >> 32, b & ~0u, b >> 32};
    const std::vector<Values> sums = add({operands});
    CHECK((sums[1][0] << 32 | sums[0][0]) == a + b);
    CHECK(sums[2][0] == U64{a + b < a});
    CHECK((sums[4][0] << 32 | sums[3][0]) == a - b);
    CHECK(sums[5][0] == (a < b ? 0xffff'ffff : 0));
    // A subtraction that does not borrow carries, for an addition behind it.
    CHECK(sums[6][0] == (a < b ? 0u : 1u));
    const std::vector<Values> product = multiply({operands});
    const Wide all = Wide{a} * b;
    for (int word = 0; word < 4; ++word) {
      CHECK(product[static_cast<std::size_t>(word)][0] == static_cast<U32>(all >> 32 * word));
    }
  }
}

TEST_CASE("forms: floats are rounded as the processor does in every mode") {
  const std::vector<U64> values = some_floats(48);
  const auto run = [&](const std::string& opcode, std::size_t operands, auto operation) {
    check_in_all_modes<float>(opcode, "f32", operands, values, operation);
  };
  run("add", 2, [](float a, float b, float) { return a + b; });
  run("sub", 2, [](float a, float b, float) { return a - b; });
  run("mul", 2, [](float a, float b, float) { return a * b; });
  run("div", 2, [](float a, float b, float) { return a / b; });
  run("fma", 3, [](float a, float b, float c) { return std::fma(a, b, c); });
  run("rcp", 1, [](float a, float, float) { return 1.0f / a; });
  run("sqrt", 1, [](float a, float, float) { return std::sqrt(a); });
}

TEST_CASE("forms: doubles are rounded as the processor does in every mode") {
  const std::vector<U64> values = some_doubles(40);
  const auto run = [&](const std::string& opcode, std::size_t operands, auto operation) {
    check_in_all_modes<double>(opcode, "f64", operands, values, operation);
  };
  run("add", 2, [](double a, double b, double) { return a + b; });
  run("sub", 2, [](double a, double b, double) { return a - b; });
  run("mul", 2, [](double a, double b, double) { return a * b; });
  run("div", 2, [](double a, double b, double) { return a / b; });
  run("fma", 3, [](double a, double b, double c) { return std::fma(a, b, c); });
  run("rcp", 1, [](double a, double, double) { return 1.0 / a; });
  run("sqrt", 1, [](double a, double, double) { return std::sqrt(a); });
}

TEST_CASE("forms: subnormal numbers, NaN and negative zero") {
  const U64 inf = 0x7f80'0000, minus_zero = 0x8000'0000;
  check({
      {"add.f32", "f32", {"f32", "f32"}, {1, 1}, 2},
      {"add.ftz.f32", "f32", {"f32", "f32"}, {1, 1}, 0},
      {"add.ftz.f32", "f32", {"f32", "f32"}, {0x8000'0001, minus_zero}, minus_zero},
      {"mul.ftz.f32", "f32", {"f32", "f32"}, {0x0080'0000, bits(0.5f)}, 0},
      {"add.rm.f32", "f32", {"f32", "f32"}, {bits(1.0f), bits(-1.0f)}, minus_zero},
      {"add.f32", "f32", {"f32", "f32"}, {inf, 0xff80'0000}, kNan},
      {"add.f32", "f32", {"f32", "f32"}, {0xffc0'1234, 0}, kNan},
      {"mul.sat.f32", "f32", {"f32", "f32"}, {bits(2.0f), bits(3.0f)}, bits(1.0f)},
      {"mul.sat.f32", "f32", {"f32", "f32"}, {minus_zero, bits(3.0f)}, 0},
      {"fma.rn.sat.f32", "f32", {"f32", "f32", "f32"}, {inf, 0, 0}, 0},
      // 3 * 5 + 1, and a sum that is too small to stay.
      {"mad.f32", "f32", {"f32", "f32", "f32"}, {bits(3.0f), bits(5.0f), bits(1.0f)}, bits(16.0f)},
      {"mad.f32", "f32", {"f32", "f32", "f32"}, {0, 0, 1}, 0},
      {"min.f32", "f32", {"f32", "f32"}, {kNan, bits(3.0f)}, bits(3.0f)},
      {"min.f32", "f32", {"f32", "f32"}, {0, minus_zero}, minus_zero},
      {"max.f32", "f32", {"f32", "f32"}, {minus_zero, 0}, 0},
      {"max.NaN.f32", "f32", {"f32", "f32"}, {kNan, bits(3.0f)}, kNan},
      {"min.xorsign.abs.f32", "f32", {"f32", "f32"}, {bits(-3.0f), bits(2.0f)}, bits(-2.0f)},
      {"abs.ftz.f32", "f32", {"f32"}, {0x8000'0001}, 0},
      {"neg.f32", "f32", {"f32"}, {0}, minus_zero},
      {"copysign.f32", "f32", {"f32", "f32"}, {minus_zero, bits(2.0f)}, bits(-2.0f)},
      {"testp.subnormal.f32", "pred", {"f32"}, {1}, 1},
      {"testp.normal.f32", "pred", {"f32"}, {0}, 1},  // H200
      {"testp.notanumber.f64", "pred", {"f64"}, {0x7ff8'0000'0000'0000}, 1},
      // Of doubles a NaN keeps what it carries.
      {"add.f64", "f64", {"f64", "f64"}, {0x7ff0'0000'0000'0005, 0}, 0x7ff8'0000'0000'0005},
      {"sub.f64", "f64", {"f64", "f64"}, {0, 0xfff8'0000'0000'0007}, 0xfff8'0000'0000'0007},
  });
}

TEST_CASE("forms: approximations are within the bounds of the manual") {
  const auto within = [](const std::string& opcode, double a, double expected, double relative) {
    INFO(opcode << " of " << a);
    const double got = as_float(form(opcode, "f32", {"f32"}).of({bits(static_cast<float>(a))}));
    CHECK(std::abs(got - expected) <= relative * std::abs(expected) + 1e-30);
  };
  constexpr double kUlp = 0x1p-23;
  for (const double a : {0.001, 0.7, 1.0, 3.14, 10.5}) {
    within("ex2.approx.ftz.f32", a, std::exp2(static_cast<float>(a)), 2 * kUlp);
    within("ex2.approx.f32", -a, std::exp2(static_cast<float>(-a)), 2 * kUlp);
    within("rcp.approx.f32", a, 1 / static_cast<double>(static_cast<float>(a)), kUlp);
    within("rsqrt.approx.f32", a, 1 / std::sqrt(static_cast<double>(static_cast<float>(a))),
           0x1p-22);
    within("tanh.approx.f32", a, std::tanh(static_cast<float>(a)), 0x1p-10);
  }
  for (const double a : {0.5, 1.0, 2.0, 3.0}) {
    within("sin.approx.f32", a, std::sin(a), 0x1p-18);
    within("cos.approx.f32", a, std::cos(a), 0x1p-18);
    within("lg2.approx.f32", a + 1.5, std::log2(a + 1.5), 0x1p-20);
  }
  check({{"ex2.approx.f32", "f32", {"f32"}, {bits(-1000.0f)}, 0},
         {"ex2.approx.f32", "f32", {"f32"}, {bits(1000.0f)}, 0x7f80'0000},
         {"rcp.approx.f32", "f32", {"f32"}, {0x8000'0000}, 0xff80'0000},
         {"div.approx.f32", "f32", {"f32", "f32"}, {bits(1.0f), bits(0x1.8p126f)}, 0},
         {"sin.approx.f32", "f32", {"f32"}, {0x7f80'0000}, kNan}});
}

TEST_CASE("forms: conversions to whole numbers saturate, and round as they say") {
  const U64 half = bits(2.5f), minus = bits(-2.5f);
  check({
      {"cvt.rni.s32.f32", "s32", {"f32"}, {half}, 2},
      {"cvt.rzi.s32.f32", "s32", {"f32"}, {minus}, U32(-2)},
      {"cvt.rmi.s32.f32", "s32", {"f32"}, {minus}, U32(-3)},
      {"cvt.rpi.s32.f32", "s32", {"f32"}, {half}, 3},
      {"cvt.rpi.s32.f32", "s32", {"f32"}, {1}, 1},
      {"cvt.rpi.ftz.s32.f32", "s32", {"f32"}, {1}, 0},
      {"cvt.rzi.s32.f32", "s32", {"f32"}, {bits(3e9f)}, 0x7fff'ffff},
      {"cvt.rzi.u32.f32", "u32", {"f32"}, {bits(-1.0f)}, 0},
      {"cvt.rzi.u8.f32", "u32", {"f32"}, {bits(300.0f)}, 255},
      {"cvt.rzi.s8.f32", "u32", {"f32"}, {bits(-300.0f)}, 0xffff'ff80},
      // What an H200 makes of NaN.
      {"cvt.rzi.s32.f32", "s32", {"f32"}, {kNan}, 0},
      {"cvt.rzi.u64.f32", "u64", {"f32"}, {kNan}, U64{1} << 63},
      {"cvt.rzi.u32.f64", "u32", {"f64"}, {0x7ff8'0000'0000'0000}, 0x8000'0000},
      {"cvt.sat.u8.s32", "u32", {"s32"}, {U32(-5)}, 0},
      {"cvt.sat.s8.s32", "u32", {"s32"}, {1000}, 127},
      {"cvt.s8.s32", "u32", {"s32"}, {0x1ff}, ~0u},
      {"cvt.u64.s32", "u64", {"s32"}, {~0u}, ~U64{0}},
      {"cvt.pack.sat.s16.s32", "b32", {"s32", "s32"}, {0x12345, U32(-0x12345)}, 0x7fff'8000},
  });
}

TEST_CASE("forms: conversions to floats, in every mode") {
  const Mode modes[] = {
      {".rn", FE_TONEAREST}, {".rz", FE_TOWARDZERO}, {".rm", FE_DOWNWARD}, {".rp", FE_UPWARD}};
  std::mt19937_64 engine(4);
  for (const Mode& mode : modes) {
    const Form from_s64 = form("cvt" + mode.name + ".f32.s64", "f32", {"s64"});
    const Form from_u64 = form("cvt" + mode.name + ".f64.u64", "f64", {"u64"});
    const Form from_f64 = form("cvt" + mode.name + ".f32.f64", "f32", {"f64"});
    for (int i = 0; i < 60; ++i) {
      const U64 word = engine() >> i % 40;
      volatile S64 whole = static_cast<S64>(word);
      volatile U64 natural = word;
      volatile double wide = std::ldexp(static_cast<double>(word), i % 200 - 180);
      std::fesetround(mode.its);
      volatile auto a = static_cast<float>(whole);
      volatile auto b = static_cast<double>(natural);
      volatile auto c = static_cast<float>(wide);
      std::fesetround(FE_TONEAREST);
      INFO("cvt" << mode.name << " of " << word);
      CHECK(from_s64.of({word}) == bits(float{a}));
      CHECK(from_f64.of({bits(double{wide})}) == bits(float{c}));
      if (word >> 63 == 0) CHECK(from_u64.of({word}) == bits(double{b}));
    }
  }
  check({
      {"cvt.sat.f32.f32", "f32", {"f32"}, {bits(1.5f)}, bits(1.0f)},
      {"cvt.sat.f32.f32", "f32", {"f32"}, {kNan}, 0},
      {"cvt.ftz.f64.f32", "f64", {"f32"}, {1}, 0},
      {"cvt.rni.f32.f32", "f32", {"f32"}, {bits(-0.5f)}, 0x8000'0000},
      {"cvt.rna.tf32.f32", "b32", {"f32"}, {0x3f80'1000}, 0x3f80'2000},
      {"cvt.rn.tf32.f32", "b32", {"f32"}, {0x3f80'1000}, 0x3f80'0000},
  });
}

TEST_CASE("forms: half precision is rounded once, to the nearest even") {
  // 1 + 2^-11 + 2^-24: a float in between would be a tie.
  check({
      {"cvt.rn.f16.f32", "b16", {"f32"}, {bits(1.0f + 0x1p-11f)}, 0x3c00},
      {"cvt.rn.f16.f32", "b16", {"f32"}, {bits(1.0f + 0x3p-11f)}, 0x3c02},
      {"cvt.rz.f16.f32", "b16", {"f32"}, {bits(65536.0f)}, 0x7bff},
      {"cvt.rn.f16.f32", "b16", {"f32"}, {bits(65520.0f)}, 0x7c00},
      {"cvt.rn.f16.f32", "b16", {"f32"}, {bits(0x1p-25f)}, 0},
      {"cvt.rn.f16.f32", "b16", {"f32"}, {bits(0x1.8p-25f)}, 1},
      {"cvt.rn.f16.f64", "b16", {"f64"}, {bits(1.0 + 0x1p-11 + 0x1p-40)}, 0x3c01},
      {"cvt.f32.f16", "f32", {"f16"}, {0x0001}, bits(0x1p-24f)},
      {"cvt.rn.bf16.f32", "b16", {"f32"}, {0x3f80'8000}, 0x3f80},
      {"cvt.rn.relu.f16.f32", "b16", {"f32"}, {bits(-1.0f)}, 0},
      {"cvt.rn.f16x2.f32", "b32", {"f32", "f32"}, {bits(1.0f), bits(2.0f)}, 0x3c00'4000},
      {"cvt.rn.satfinite.e4m3x2.f32", "b16", {"f32", "f32"}, {bits(1000.0f), bits(-1.0f)}, 0x7eb8},
      {"cvt.rn.f16x2.e5m2x2", "b32", {"b16"}, {0x3cbc}, 0x3c00'bc00},
      {"add.f16", "b16", {"f16", "f16"}, {0x3c00, 0x1000}, 0x3c00},
      {"add.f16", "b16", {"f16", "f16"}, {0x0001, 0x0001}, 0x0002},
      {"add.ftz.f16", "b16", {"f16", "f16"}, {0x0001, 0x0001}, 0},
      {"mul.f16x2", "b32", {"f16x2", "f16x2"}, {0x4000'7bff, 0x4200'4000}, 0x4600'7c00},
      {"mul.sat.f16", "b16", {"f16", "f16"}, {0x4000, 0x4000}, 0x3c00},
      // (1 + 2^-10)^2 + 2^-11 = 1 + 2^-9 + 2^-11 + 2^-20: just above a tie, which a product rounded first would miss.
      {"fma.rn.f16", "b16", {"f16", "f16", "f16"}, {0x3c01, 0x3c01, 0x1000}, 0x3c03},
      {"fma.rn.relu.bf16", "b16", {"bf16", "bf16", "bf16"}, {0x3f80, 0xbf80, 0}, 0},
      {"min.f16", "b16", {"f16", "f16"}, {0x7e00, 0x3c00}, 0x3c00},
      {"max.NaN.bf16", "b16", {"bf16", "bf16"}, {0x7fc0, 0x3f80}, 0x7fff},
      {"neg.f16x2", "b32", {"f16x2"}, {0x3c00'8000}, 0xbc00'0000},
      {"setp.lt.f16", "pred", {"f16", "f16"}, {0x8001, 0}, 1},
      {"setp.lt.ftz.f16", "pred", {"f16", "f16"}, {0x8001, 0}, 0},
      {"set.gt.f16x2.f16x2", "b32", {"f16x2", "f16x2"}, {0x4000'3c00, 0x3c00'3c00}, 0x3c00'0000},
  });
  const Form both("setp.gt.bf16x2 d0|d1, a0, a1;", {"pred", "pred"}, {"bf16x2", "bf16x2"});
  const std::vector<Values> holds = both({{0x3f80'4000, 0x3f80'3f80}});
  CHECK(holds[0][0] == 1);
  CHECK(holds[1][0] == 0);
}

TEST_CASE("forms: comparisons with every relation, and combined") {
  const struct {
    std::string name;
    bool less, equal, greater, unordered;
  } relations[] = {{"eq", false, true, false, false}, {"ne", true, false, true, false},
                   {"lt", true, false, false, false}, {"le", true, true, false, false},
                   {"gt", false, false, true, false}, {"ge", false, true, true, false},
                   {"equ", false, true, false, true}, {"neu", true, false, true, true},
                   {"ltu", true, false, false, true}, {"leu", true, true, false, true},
                   {"gtu", false, false, true, true}, {"geu", false, true, true, true},
                   {"num", true, true, true, false},  {"nan", false, false, false, true}};
  for (const auto& one : relations) {
    INFO(one.name);
    const Values results =
        form("setp." + one.name + ".f32", "pred", {"f32", "f32"})({{bits(-1.0f), bits(1.0f)},
                                                                   {0x8000'0000, 0},
                                                                   {bits(2.0f), bits(1.0f)},
                                                                   {kNan, bits(1.0f)}})[0];
    CHECK(results == Values{one.less, one.equal, one.greater, one.unordered});
  }
  const Form pair("setp.lt.and.s32 d0|d1, a0, a1, !a2;", {"pred", "pred"}, {"s32", "s32", "pred"});
  const std::vector<Values> both = pair({{~0u, 0, 0}, {~0u, 0, 1}, {1, 0, 0}, {1, 0, 1}});
  CHECK(both[0] == Values{1, 0, 0, 0});
  CHECK(both[1] == Values{0, 0, 1, 0});
  check({
      {"setp.lo.u32", "pred", {"u32", "u32"}, {~0u, 0}, 0},
      {"setp.lt.ftz.f32", "pred", {"f32", "f32"}, {0, 1}, 0},
      {"set.lt.u32.f32", "u32", {"f32", "f32"}, {0, bits(1.0f)}, ~0u},
      {"set.ge.f32.s32", "f32", {"s32", "s32"}, {0, 0}, bits(1.0f)},
      {"slct.b32.s32", "b32", {"b32", "b32", "s32"}, {7, 8, ~0u}, 8},
      {"slct.b32.f32", "b32", {"b32", "b32", "f32"}, {7, 8, 0x8000'0000}, 7},
      {"selp.b64", "b64", {"b64", "b64", "pred"}, {7, 8, 0}, 8},
  });
}

TEST_CASE("forms: a lane whose predicate does not hold keeps what it had") {
  const Form guarded("mov.b32 d0, 5; @!a1 add.s32 d0, a0, 1; @a1 cvt.rn.f32.s32 d1, a0;",
                     {"b32", "f32"}, {"s32", "pred"});
  const std::vector<Values> results = guarded({{10, 0}, {10, 1}, {20, 0}});
  CHECK(results[0] == Values{11, 5, 21});
  CHECK(results[1] == Values{0, bits(10.0f), 0});
}

TEST_CASE("forms: parts of registers, and addresses of every space") {
  const Form parts(
      "{ .reg .b32 x, y; .reg .b16 h, k; mov.b64 {x, y}, a0; mov.b64 d0, {y, x};\n"
      "mov.b32 {h, k}, x; mov.b32 d1, {k, h}; }",
      {"b64", "b32"}, {"b64"});
  const std::vector<Values> swapped = parts({{0x1122'3344'5566'7788}});
  CHECK(swapped[0][0] == 0x5566'7788'1122'3344);
  CHECK(swapped[1][0] == 0x7788'5566);
  const Form spaces(
      "{ .reg .b64 x; mov.u64 x, s; add.u64 x, x, a0; cvta.shared.u64 x, x;\n"
      "isspacep.shared d0, x; isspacep.global d1, x; isspacep.global d2, pi;\n"
      "cvta.to.shared.u64 x, x; sub.u64 d3, x, a0; }",
      {"pred", "pred", "pred", "u64"}, {"u64"}, ".shared .align 4 .b8 s[64];");
  const std::vector<Values> where = spaces({{12}});
  CHECK(where[0][0] == 1);
  CHECK(where[1][0] == 0);
  CHECK(where[2][0] == 1);
  CHECK(where[3][0] == 0);
}

TEST_CASE("forms: a clock grows with every look at it") {
  const Form clock("mov.u32 d0, %clock; mov.u64 d1, %clock64; mov.u32 d2, %clock;",
                   {"u32", "u64", "u32"}, {});
  const std::vector<Values> seen = clock(std::vector<Values>(2));
  CHECK(seen[0][0] < seen[1][0]);
  CHECK(seen[1][0] < seen[2][0]);
}

TEST_CASE("forms: lanes with the same value are found, and one is elected") {
  const Form match("match.all.sync.b32 d0|d1, a0, -1; match.any.sync.b32 d2, a0, -1;",
                   {"b32", "pred", "b32"}, {"b32"});
  std::vector<Values> lanes(kLanes, Values{7});
  CHECK(match(lanes)[0] == Values(kLanes, 0xffff'ffff));
  lanes[3] = {8};
  const std::vector<Values> results = match(lanes);
  CHECK(results[0] == Values(kLanes, 0));
  CHECK(results[1] == Values(kLanes, 0));
  CHECK(results[2][3] == 8);
  const Form elect("elect.sync d0|d1, -1;", {"b32", "pred"}, {});
  Values chosen(kLanes, 0);
  chosen[0] = 1;
  CHECK(elect(std::vector<Values>(kLanes))[1] == chosen);
  // As CUDA's own headers have it: nobody asks which lane it is.
  const Form only("elect.sync _|d0, -1;", {"pred"}, {});
  CHECK(only(std::vector<Values>(kLanes))[0] == chosen);
}

namespace {

// Operands of mma by the tables of PTX ISA 9.7.14.5, for matrices of small whole numbers, which all types hold.
struct Matrices {
  int m, n, k;
  std::vector<int> a, b, c;
  Matrices(int rows, int columns, int depth) : m(rows), n(columns), k(depth) {
    std::mt19937 engine(5);
    const auto fill = [&](std::vector<int>& all, int count) {
      for (int i = 0; i < count; ++i) all.push_back(static_cast<int>(engine() % 9));
    };
    fill(a, m * k);
    fill(b, k * n);
    fill(c, m * n);
  }
  int product(int row, int column) const {
    int sum = c[static_cast<std::size_t>(row * n + column)];
    for (int i = 0; i < k; ++i) {
      sum += a[static_cast<std::size_t>(row * k + i)] * b[static_cast<std::size_t>(i * n + column)];
    }
    return sum;
  }
};
U64 half_of(int value) {
  if (value == 0) return 0;
  const int exponent = 31 - std::countl_zero(static_cast<unsigned>(value));
  return static_cast<U64>((exponent + 15) << 10 | ((value << 10 >> exponent) & 1023));
}
U64 brain_of(int value) { return bits(static_cast<float>(value)) >> 16; }

}  // namespace

TEST_CASE("forms: mma multiplies matrices of every type") {
  const struct {
    std::string types;
    int depth, per;  // elements in a register
    U64 (*element)(int);
    bool is_whole;
  } cases[] = {
      {"f32.f16.f16.f32", 16, 2, &half_of, false},
      {"f32.bf16.bf16.f32", 8, 2, &brain_of, false},
      {"f32.tf32.tf32.f32", 8, 1, [](int v) { return bits(static_cast<float>(v)); }, false},
      {"s32.u8.s8.s32", 32, 4, [](int v) { return static_cast<U64>(v); }, true}};
  for (const auto& one : cases) {
    INFO(one.types);
    const Matrices all(16, 8, one.depth);
    const int a_registers = 16 * one.depth / 32 / one.per, b_registers = a_registers / 2;
    std::string text = "mma.sync.aligned.m16n8k" + std::to_string(one.depth) + ".row.col." +
                       one.types + " {d0, d1, d2, d3}";
    std::vector<std::string> from;
    for (const int count : {a_registers, b_registers, 4}) {
      std::string operand;
      for (int i = 0; i < count; ++i) {
        operand += (operand.empty() ? "a" : ", a") + std::to_string(from.size());
        from.push_back("b32");
      }
      text += ", {" + operand + "}";
    }
    std::vector<Values> lanes;
    for (int lane = 0; lane < 32; ++lane) {
      Values its;
      const int group = lane / 4, in_group = lane % 4, width = 32 / one.per;
      const auto pack = [&](auto element_at) {
        U64 word = 0;
        for (int j = 0; j < one.per; ++j) word |= one.element(element_at(j)) << width * j;
        its.push_back(word);
      };
      for (int i = 0; i < a_registers; ++i) {
        pack([&](int j) {
          const int row = group + i % 2 * 8, column = i / 2 * 4 * one.per + in_group * one.per + j;
          return all.a[static_cast<std::size_t>(row * all.k + column)];
        });
      }
      for (int i = 0; i < b_registers; ++i) {
        pack([&](int j) {
          const int row = i * 4 * one.per + in_group * one.per + j;
          return all.b[static_cast<std::size_t>(row * all.n + group)];
        });
      }
      for (int i = 0; i < 4; ++i) {
        const int row = group + i / 2 * 8, column = in_group * 2 + i % 2;
        const int c = all.c[static_cast<std::size_t>(row * all.n + column)];
        its.push_back(one.is_whole ? static_cast<U64>(c) : bits(static_cast<float>(c)));
      }
      lanes.push_back(its);
    }
    const std::vector<Values> results = Form(text + ";", {"b32", "b32", "b32", "b32"}, from)(lanes);
    for (int lane = 0; lane < 32; ++lane) {
      for (int i = 0; i < 4; ++i) {
        const int expected = all.product(lane / 4 + i / 2 * 8, lane % 4 * 2 + i % 2);
        CHECK(results[static_cast<std::size_t>(i)][static_cast<std::size_t>(lane)] ==
              (one.is_whole ? static_cast<U64>(expected) : bits(static_cast<float>(expected))));
      }
    }
  }
}

TEST_CASE("forms: sums of tensor cores are cut off, and never a negative zero") {
  // Every A is a0 and every B is a1; only lane 0 counts. 2^25 * 1 + 1: the product of 2^25 has 25 places behind it.
  const Form mma(
      "mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32 {d0, d1, d2, d3}, {a0, a0}, {a1}, "
      "{a2, a2, a2, a2};",
      {"f32", "f32", "f32", "f32"}, {"b32", "b32", "f32"});
  const auto of = [&](float a, float b, float c) {
    return mma(std::vector<Values>(kLanes, {bits(a), bits(b), bits(c)}))[0][0];
  };
  CHECK(of(1, 1, 0x1p-24f) == bits(4.0f));
  CHECK(of(-1, 1, -0x1.8p-22f) == bits(-4.0f));  // to nearest it would be -4 - 2^-21
  CHECK(of(-0x1p-80f, 0x1p-80f, 0) == 0);
}

TEST_CASE("forms: matrices go through shared memory in every layout") {
  const std::string shared = ".shared .align 128 .b8 s[2048];";
  // Each lane stores 16 bytes; lane l of matrix i then holds elements 2 (l mod 4) of row l / 4, or of that column.
  const std::string store =
      "{ .reg .b32 x, y; mov.u32 x, %laneid; shl.b32 x, x, 4; mov.u32 y, s; add.u32 x, x, y;\n"
      "st.shared.v4.b32 [x], {a0, a1, a2, a3}; bar.warp.sync -1;\n";
  std::vector<Values> lanes;
  for (U64 lane = 0; lane < kLanes; ++lane) {
    Values words;
    for (U64 i = 0; i < 4; ++i) words.push_back((lane * 8 + 2 * i + 1) << 16 | (lane * 8 + 2 * i));
    lanes.push_back(words);
  }
  const std::vector<std::string> four(4, "b32");
  const Form plain(store + "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {d0, d1, d2, d3}, [x]; }",
                   four, four, shared);
  const Form turned(
      store + "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {d0, d1, d2, d3}, [x]; }", four, four,
      shared);
  const std::vector<Values> as_it_is = plain(lanes), transposed = turned(lanes);
  for (U64 matrix = 0; matrix < 4; ++matrix) {
    for (U64 lane = 0; lane < kLanes; ++lane) {
      const U64 at = matrix * 64 + lane / 4 * 8 + lane % 4 * 2;
      CHECK(as_it_is[matrix][lane] == ((at + 1) << 16 | at));
      const U64 low = matrix * 64 + lane % 4 * 2 * 8 + lane / 4;
      CHECK(transposed[matrix][lane] == ((low + 8) << 16 | low));
    }
  }
  const Form turn("movmatrix.sync.aligned.m8n8.trans.b16 d0, a0;", {"b32"}, {"b32"});
  std::vector<Values> one;
  for (U64 lane = 0; lane < kLanes; ++lane) one.push_back({as_it_is[0][lane]});
  CHECK(turn(one)[0] == transposed[0]);
}

TEST_CASE("forms: wmma multiplies what it loads, and stores it") {
  // A by rows, B by columns: D = A B with A[i][k] = i and B[k][j] = j is 16 i j.
  const Form wmma(
      "{ .reg .b32 x, y, s0; .reg .b32 fa<8>, fb<8>; .reg .f32 fc<8>; mov.u32 s0, s;\n"
      "mov.u32 x, %laneid; shl.b32 y, x, 4; add.u32 y, y, s0;\n"
      "st.shared.v4.b32 [y], {a0, a0, a0, a0}; bar.warp.sync -1;\n"
      "wmma.load.a.sync.aligned.row.m16n16k16.shared.f16 {fa0,fa1,fa2,fa3,fa4,fa5,fa6,fa7}, [s0], "
      "16;\n"
      "wmma.load.b.sync.aligned.col.m16n16k16.shared.f16 {fb0,fb1,fb2,fb3,fb4,fb5,fb6,fb7}, [s0], "
      "16;\n"
      "mov.f32 fc0, 0f3F800000; mov.f32 fc1, fc0; mov.f32 fc2, fc0; mov.f32 fc3, fc0;\n"
      "mov.f32 fc4, fc0; mov.f32 fc5, fc0; mov.f32 fc6, fc0; mov.f32 fc7, fc0;\n"
      "wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32 {fc0,fc1,fc2,fc3,fc4,fc5,fc6,fc7},\n"
      "{fa0,fa1,fa2,fa3,fa4,fa5,fa6,fa7}, {fb0,fb1,fb2,fb3,fb4,fb5,fb6,fb7},\n"
      "{fc0,fc1,fc2,fc3,fc4,fc5,fc6,fc7}; bar.warp.sync -1;\n"
      "wmma.store.d.sync.aligned.col.m16n16k16.shared.f32 [s0], {fc0,fc1,fc2,fc3,fc4,fc5,fc6,fc7}, "
      "16;\n"
      "bar.warp.sync -1; shl.b32 y, x, 2; add.u32 y, y, s0; ld.shared.f32 d0, [y+128];\n"
      "ld.shared.f32 d1, [y+896]; }",
      {"f32", "f32"}, {"b32"}, ".shared .align 128 .b8 s[1024];");
  std::vector<Values> lanes;
  for (int lane = 0; lane < 32; ++lane) {
    lanes.push_back({half_of(lane / 2) << 16 | half_of(lane / 2)});  // a row is two lanes' 16 bytes
  }
  const std::vector<Values> results = wmma(lanes);
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    // By columns: element 32 + lane is row lane mod 16 of column 2 + lane / 16.
    const auto row = static_cast<float>(lane % 16);
    CHECK(results[0][lane] == bits(16 * row * static_cast<float>(2 + lane / 16) + 1));
    CHECK(results[1][lane] == bits(16 * row * static_cast<float>(14 + lane / 16) + 1));
  }
}

TEST_CASE("a jump by an index goes to the label of that number", "[simt]") {
  const Form jump(
      "many: .branchtargets zero, one, two;\n"
      "brx.idx a0, many;\n"
      "zero: mov.u32 d0, 10; bra.uni done;\n"
      "one: mov.u32 d0, 11; bra.uni done;\n"
      "two: mov.u32 d0, 12;\n"
      "done:",
      {"u32"}, {"u32"});
  std::vector<Values> lanes;
  for (U64 lane = 0; lane < kLanes; ++lane) lanes.push_back({lane % 3});
  const std::vector<Values> results = jump(lanes);
  for (std::size_t lane = 0; lane < kLanes; ++lane) CHECK(results[0][lane] == 10 + lane % 3);
}

TEST_CASE("halves and floats are added atomically, one or two at a time", "[simt]") {
  // Four lanes at a time add to one word, from 1 and 2 on.
  const std::string set =
      "{ .reg .b32 x, y; mov.u32 x, s; mov.u32 y, %tid.x; and.b32 y, y, 28; add.u32 x, x, y;\n"
      "st.shared.b32 [x], a1; bar.warp.sync -1;\n";
  const std::string get = " bar.warp.sync -1; ld.shared.b32 d0, [x]; }";
  const std::string variables = ".shared .align 4 .b8 s[32];";
  const struct {
    const char* type;
    U64 begin, add, sum;
  } cases[] = {{"f16x2", 0x4000'3c00, 0x3c00'3800, 0x4600'4200},  // 1 + 4 * 0.5, 2 + 4 * 1
               {"bf16x2", 0x4000'3f80, 0x3f80'3f00, 0x40c0'4040}};
  for (const auto& one : cases) {
    const std::string name = std::string("add.noftz.") + one.type;
    const Form red(set + "red.shared." + name + " [x], a0;" + get, {"b32"}, {"b32", "b32"},
                   variables);
    const std::vector<Values> results = red(std::vector<Values>(kLanes, {one.add, one.begin}));
    for (std::size_t lane = 0; lane < kLanes; ++lane) CHECK(results[0][lane] == one.sum);
  }
  // libcu++ names the operation first.
  const Form ordered(set + "red.add.release.cta.shared.f32 [x], a0;" + get, {"b32"}, {"b32", "b32"},
                     variables);
  CHECK(ordered(std::vector<Values>(kLanes, {0x3f80'0000, 0x4000'0000}))[0][5] == 0x40c0'0000);
  const Form single(set + ".reg .b16 h; cvt.u16.u32 h, a0; red.shared.add.noftz.f16 [x], h;" + get,
                    {"b32"}, {"b32", "b32"}, variables);
  CHECK(single(std::vector<Values>(kLanes, {0x3c00, 0xffff'4000}))[0][5] == 0xffff'4600);
}

namespace {

// "add{.u32|.s32} %r1" is two texts; registers in braces, as vectors have them, stay.
std::vector<std::string> expanded(const std::string& text) {
  for (std::size_t open = text.find('{'); open != text.npos; open = text.find('{', open + 1)) {
    const std::size_t close = text.find('}', open);
    const std::string inside = text.substr(open + 1, close - open - 1);
    if (inside.find('%') != inside.npos && inside.find('|') == inside.npos) continue;
    std::vector<std::string> all;
    for (std::size_t from = 0; from <= inside.size();) {
      const std::size_t to = std::min(inside.find('|', from), inside.size());
      const std::string chosen = inside.substr(from, to - from);
      const std::string one = text.substr(0, open) + chosen + text.substr(close + 1);
      const std::vector<std::string> further = expanded(one);
      all.insert(all.end(), further.begin(), further.end());
      from = to + 1;
    }
    return all;
  }
  return {text};
}

// A kernel of one instruction.
std::unique_ptr<ptx::Module> module_of(std::string text) {
  const bool is_parameter =
      text.starts_with("ld") && text.substr(0, text.find(' ')).find(".param") != text.npos;
  const std::string address = "[%A]";
  if (const std::size_t at = text.find(address); at != text.npos) {
    text.replace(at, address.size(), is_parameter ? "[p]" : "[%d9]");
  }
  return ptx::parse(
      ".version 9.0\n.target sm_90a\n.address_size 64\n"
      ".visible .entry k(.param .align 16 .b8 p[64]) {\n.reg .pred %p<20>; .reg .b8 %c<20>;\n"
      ".reg .b16 %h<20>; .reg .b32 %r<40>; .reg .b64 %d<40>; .reg .b128 %q<10>;\n"
      ".reg .f32 %f<40>; .reg .f64 %e<40>;\n" +
          text + ";\nret;\n}\n",
      "form.ptx");
}

// What is said of an instruction that is not known; empty: it is.
std::string refusal_of(const std::string& text) {
  try {
    const auto module = module_of(text);
    machine::decode(*module, *module->function("k"), {});
    return {};
  } catch (const std::exception& error) {
    return error.what();
  }
}

constexpr const char* kPtxForms =
#include "tests/simt/ptx_forms.inc"
    ;

}  // namespace

TEST_CASE("what ptxas takes for sm_90a is known", "[simt]") {
  std::istringstream lines(kPtxForms);
  int known = 0;
  for (std::string line; std::getline(lines, line);) {
    if (line.empty()) continue;
    for (const std::string& one : expanded(line)) {
      INFO(one);
      CHECK(refusal_of(one).empty());
      ++known;
    }
  }
  CHECK(known > 4000);
}

TEST_CASE("modifiers are known in any order, as ptxas takes them", "[simt]") {
  const auto ordered = [](const std::string& form, const std::string& operands) {
    const auto module = module_of(form + " " + operands);
    machine::order_modifiers(*module);
    return module->function("k")->body.front().form();
  };
  for (const auto& [form, known, operands] : {
           std::array{"add.f32.ftz.rn", "add.rn.ftz.f32", "%f1, %f2, %f3"},
           {"ld.v4.nc.global.f32", "ld.global.nc.v4.f32", "{%f1, %f2, %f3, %f4}, [%d1]"},
           {"ld.cg.global.u32", "ld.global.cg.u32", "%r1, [%d1]"},
           {"cvt.f32.u32.rn", "cvt.rn.f32.u32", "%f1, %r1"},
           {"atom.global.add.relaxed.gpu.u32", "atom.relaxed.gpu.global.add.u32",
            "%r1, [%d1], %r2"},
           {"mma.aligned.sync.m16n8k16.row.col.s32.u8.u8.s32.satfinite",
            "mma.sync.aligned.m16n8k16.row.col.satfinite.s32.u8.u8.s32",
            "{%r1, %r2, %r3, %r4}, {%r5, %r6}, {%r7}, {%r1, %r2, %r3, %r4}"},
           {"ldmatrix.sync.aligned.m8n8.x4.trans.b16.shared",
            "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16", "{%r1, %r2, %r3, %r4}, [%r5]"},
           {"cp.async.shared.global.cg", "cp.async.cg.shared.global", "[%r1], [%d1], 16"},
       }) {
    CHECK(ordered(form, operands) == known);
  }
  // Their own order is kept.
  CHECK(ordered("cvt.u32.f32.rn", "%f1, %r1") == "cvt.u32.f32.rn");
  CHECK(ordered("cp.async.global.cg.shared", "[%r1], [%d1], 16") == "cp.async.global.cg.shared");
  CHECK(ordered("add.f32.rn.rn", "%f1, %f2, %f3") == "add.f32.rn.rn");
}

TEST_CASE("what is not known is refused by its name", "[simt]") {
  for (const std::string text :
       {"multimem.ld_reduce.weak.global.add.u32 %r1, [%d1]",
        "clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 "
        "[%r1], "
        "[%r2]",
        "tcgen05.fence::before_thread_sync", "vadd.u32.u32.u32.sat %r1, %r2, %r3",
        "vmad.s32.s32.s32.shr7 %r1, %r2, %r3, %r4", "sured.b.add.1d.u32.trap [%d1, {%r1}], %r1",
        "mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f16 {%f1, %f2, %f3, %f4, %f5, %f6, %f7, %f8}, "
        "{%r1, %r2}, {%r3, %r4}, {%r1, %r2, %r3, %r4}"}) {
    const std::string form = text.substr(0, text.find(' '));
    CHECK(refusal_of(text) == form + ": this form is not known");
  }
  CHECK(refusal_of("vadd.s32.s32.s32 %r1.h1, %r2, %r3, %r4") ==
        "vadd.s32.s32.s32: a result in the upper half of a register");
  CHECK(refusal_of("add.u32 %r1.b0, %r2, %r3") == "add.u32: a result goes to a register");
  CHECK(refusal_of("add.u32 %r1, %r2.b0, %r3") == "add.u32: a part of a register");
}

TEST_CASE("seldom instructions answer as an H200 does", "[simt]") {
  struct Answer {
    Values operands;
    U64 result;
  };
  const struct {
    const char* text;
    const char* to;
    std::vector<std::string> from;
    std::vector<Answer> answers;
  } all[] = {
      {"fma.rn.oob.f16 d0,a0,a1,a2;",
       "b16",
       {"b16", "b16", "b16"},
       {{{0xffe1, 0xfff7, 0x2c6a}, 0x0},
        {{0x101c, 0x317d, 0x3cd0}, 0x3cd0},
        {{0x3ad9, 0x971a, 0x8574}, 0x966b},
        {{0xbdc0, 0x18d, 0x1d}, 0x821e}}},
      {"fma.rn.oob.relu.bf16x2 d0,a0,a1,a2;",
       "b32",
       {"b32", "b32", "b32"},
       {{{0xfffffff7, 0xb1fdb65d, 0x9738}, 0x7fff0000},
        {{0x7f807f80, 0xb35335fd, 0xfffffff7}, 0x7fff7fff},
        {{0xba7d6d99, 0xffffffff, 0x7fff}, 0x7fff7fff},
        {{0x3af03bc4, 0x1d433, 0x5c8c47d2}, 0x5c8c0000},
        {{0xd7403026, 0x50e1f14d, 0xb3ffbd2e}, 0x0}}},
      {"cvt.rmi.bf16.bf16 d0,a0;",
       "b16",
       {"b16"},
       {{{0x33ae}, 0x0}, {{0xb917}, 0xbf80}, {{0xc5f9}, 0xc5f9}}},
      {"cvt.rz.satfinite.f16x2.f32 d0,a0,a1;",
       "b32",
       {"f32", "f32"},
       {{{0x7f800001, 0xf128b11a}, 0x7ffffbff},
        {{0x406ac786, 0x7f7fffff}, 0x43567bff},
        {{0x7f800001, 0x3f800000}, 0x7fff3c00}}},
      {"cvt.rn.satfinite.relu.bf16x2.f32 d0,a0,a1;",
       "b32",
       {"f32", "f32"},
       {{{0xbfd46cb6, 0x821b088d}, 0x0},
        {{0x3c8890aa, 0x4038faa4}, 0x3c894039},
        {{0xa927d6d4, 0xc3388000}, 0x0}}},
      {"cvt.rna.satfinite.tf32.f32 d0,a0;",
       "b32",
       {"f32"},
       {{{0x7f800001}, 0x7f7fe000},
        {{0x7f800001}, 0x7f7fe000},
        {{0xffc12345}, 0xffc10000},
        {{0x3fba61e4}, 0x3fba6000},
        {{0x3062449e}, 0x30624000},
        {{0xbba7f495}, 0xbba80000}}},
      {"cvt.ftz.f32.bf16 d0,a0;",
       "f32",
       {"b16"},
       {{{0xffff}, 0x7fffffff},
        {{0x1b}, 0x0},
        {{0x5}, 0x0},
        {{0xffe8}, 0x7fffffff},
        {{0x35d5}, 0x35d50000},
        {{0xe66f}, 0xe66f0000},
        {{0xb1ff}, 0xb1ff0000}}},
      {"cvt.rn.ftz.bf16.f32 d0,a0;",
       "b16",
       {"f32"},
       {{{0x7fffff}, 0x0},
        {{0x80000001}, 0x8000},
        {{0x7f7fffff}, 0x7f80},
        {{0x3d22a142}, 0x3d23},
        {{0x4f000000}, 0x4f00}}},
      {"cvt.pack.sat.s4.s32.b32 d0,a0,a1,a2;",
       "b32",
       {"b32", "b32", "b32"},
       {{{0x21bb2, 0xb0c0bd6a, 0x18}, 0x1878},
        {{0x9978da5d, 0xa849b543, 0x80000001}, 0x188},
        {{0xb6a73504, 0x7ba1a7a4, 0xa323716a}, 0x23716a87}}},
      {"cvt.pack.sat.u2.s32.b32 d0,a0,a1,a2;",
       "b32",
       {"b32", "b32", "b32"},
       {{{0x22b90, 0xffffffeb, 0x27}, 0x27c},
        {{0x25, 0x23d90d8b, 0x2825f}, 0x2825ff},
        {{0x5b8ad69c, 0x6, 0xfffffff3}, 0xffffff3f}}},
      {"vadd4.s32.u32.s32.sat d0,a0,a1,a2;",
       "b32",
       {"b32", "b32", "b32"},
       {{{0x11, 0x7cb6726c, 0xbfc637c3}, 0x7cb6727d},
        {{0xffff, 0x2a2c, 0x9ea22c75}, 0x7f7f},
        {{0x1, 0x384dba6c, 0x775c}, 0x384dba6d}}},
      {"vsub2.u32.u32.u32.add d0,a0,a1,a2;",
       "b32",
       {"b32", "b32", "b32"},
       {{{0x610b2d1e, 0x1ce2, 0x9}, 0x7150},
        {{0x5b486831, 0xffffffe9, 0x7d1ec8e7}, 0x7d1d8c78},
        {{0x47a11ced, 0xe718, 0x80000000}, 0x7fff7d76}}},
      {"vavrg4.s32.s32.s32 d0,a0,a1,a2;",
       "b32",
       {"b32", "b32", "b32"},
       {{{0x3089c, 0x20, 0x7f807f80}, 0x204de},
        {{0x969b5117, 0x14, 0xbc9a34c6}, 0xcbcd2916},
        {{0xffffffda, 0x949414ad, 0xe22eb8a0}, 0xc9c90ac3}}},
      {"vabsdiff2.u32.s32.u32.sat d0,a0,a1,a2;",
       "b32",
       {"b32", "b32", "b32"},
       {{{0x630b2601, 0x36783f63, 0xbcd73055}, 0x2c931962},
        {{0xab933e0d, 0xffffffe3, 0x11}, 0xffffc1d6},
        {{0xda465e47, 0xa, 0x256eb152}, 0x25ba5e3d}}},
      {"vset4.s32.s32.ge.add d0,a0,a1,a2;",
       "b32",
       {"b32", "b32", "b32"},
       {{{0x80808080, 0x1, 0x5ec9a727}, 0x5ec9a727},
        {{0x10000, 0xba67d52d, 0x1a}, 0x1c},
        {{0xc95a8432, 0xff80ff80, 0xed882c0}, 0xed882c2}}},
      {"vset2.u32.s32.lt.add d0,a0,a1,a2;",
       "b32",
       {"b32", "b32", "b32"},
       {{{0x3ac83757, 0xfffffffb, 0xe3141d99}, 0xe3141d99},
        {{0xd6e8bdaf, 0x42f0ae2f, 0x6aa5936d}, 0x6aa5936d},
        {{0xb49afe4d, 0xc7489b84, 0xfab7ae54}, 0xfab7ae54}}},
      {"vmad.s32.s32.s32.po d0,a0,a1,a2;",
       "b32",
       {"b32", "b32", "b32"},
       {{{0xf37fb2a3, 0xffffffd9, 0x29f33478}, 0x117efda4},
        {{0xa2ec6055, 0xfffffff3, 0xb8103b4e}, 0x720f56fe},
        {{0x3ed5f2de, 0x7cb3295f, 0x35d5e134}, 0x245a8f97}}},
      {"vabsdiff.s32.s32.s32.min d0,a0,a1,a2;",
       "b32",
       {"b32", "b32", "b32"},
       {{{0xffffffff, 0xff00ff, 0x2}, 0x2},
        {{0x7fff, 0xbf3329b5, 0x7f7f7f7f}, 0x40cd564a},
        {{0x25d83059, 0xbc6ab722, 0xff00ff}, 0xff00ff}}},
      {"vadd.s32.s32.s32.max d0,a0,a1,a2;",
       "b32",
       {"b32", "b32", "b32"},
       {{{0xa38fc264, 0x3a44c399, 0xbe89dede}, 0xddd485fd},
        {{0xb7183daa, 0x9d5aa4a4, 0xffffffed}, 0x5472e24e},
        {{0x3b45352a, 0x26, 0x988da269}, 0x3b453550}}},
      {"vshl.u32.u32.u32.clamp.min d0,a0.b3,a1.b0,a2;",
       "b32",
       {"b32", "b32", "b32"},
       {{{0xffffffd8, 0xe2a4671, 0xe1ed150a}, 0xe1ed150a},
        {{0x6624119d, 0x64b88329, 0x3ed5f2de}, 0x3ed5f2de},
        {{0xfefc889d, 0xfffffff1, 0x41b158cd}, 0x41b158cd}}},
      {"vshr.s32.u32.u32.wrap.add d0,a0,a1,a2;",
       "b32",
       {"b32", "b32", "b32"},
       {{{0x33d0bf5f, 0x5456029b, 0x68c757fd}, 0x68c75803},
        {{0x23, 0xcee1f96b, 0x31023e2e}, 0x31023e2e},
        {{0xaed12f17, 0xc0e3938c, 0xb7f73585}, 0xb8022297}}},
      {"vmin4.s32.u32.s32 d0.b20,a0.b7120,a1.b0123,a2;",
       "b32",
       {"b32", "b32", "b32"},
       {{{0xcb9c8f87, 0x27f2, 0x6f2b990}, 0x68fb9cb},
        {{0xffffffec, 0x10c31, 0xffffffe5}, 0xffffffff},
        {{0x1, 0xbee1e80a, 0x73ef4b18}, 0x73004b00}}},
      {"fns.b32 d0,a0,a1,a2;",
       "b32",
       {"b32", "b32", "b32"},
       {{{0x34934e1e, 0x23, 0x80000000}, 0x0},
        {{0x80000001, 0xcbc9, 0x80000000}, 0x0},
        {{0x37bbb, 0xdac71729, 0x11316}, 0xffffffff},
        {{0x13, 0x34293, 0xfffffffc}, 0xffffffff},
        {{0xffffffdd, 0x3dd93c6c, 0x2}, 0xffffffff}}},
  };
  for (const auto& one : all) {
    INFO(one.text);
    const Form its(one.text, {one.to}, one.from);
    for (const Answer& answer : one.answers) CHECK(its.of(answer.operands) == answer.result);
  }
}

// Of sparse A a quad's first lane has the words of its row, the second those of the row eight below.
TEST_CASE("a sparse product is that of the whole matrix", "[simt]") {
  std::mt19937 random(halo::test::seed());
  std::vector<Values> sparse, whole;
  constexpr U32 kGroups[] = {0b0100, 0b1000, 0b1001, 0b1100, 0b1101, 0b1110};
  U32 a[16][16], places[16], b[32][8], c[16][8];
  for (auto& row : a) {
    for (U32& one : row) one = random() & 255;
  }
  for (auto& row : b) {
    for (U32& one : row) one = random() & 255;
  }
  for (auto& row : c) {
    for (U32& one : row) one = static_cast<U32>(random());
  }
  U32 dense[16][32] = {};
  for (int row = 0; row < 16; ++row) {
    places[row] = 0;
    for (int group = 0; group < 8; ++group) {
      const U32 its = kGroups[random() % 6];
      places[row] |= its << 4 * group;
      dense[row][4 * group + static_cast<int>(its & 3)] = a[row][2 * group];
      dense[row][4 * group + static_cast<int>(its >> 2)] = a[row][2 * group + 1];
    }
  }
  const auto word = [](const U32* from) {
    return U64{from[0] | from[1] << 8 | from[2] << 16 | from[3] << 24};
  };
  for (int lane = 0; lane < 32; ++lane) {
    const int row = lane / 4, in_quad = lane % 4;
    U32 column[32];
    for (int k = 0; k < 32; ++k) column[k] = b[k][row];
    const Values right = {word(column + 4 * in_quad), word(column + 16 + 4 * in_quad)};
    const Values start = {c[row][2 * in_quad], c[row][2 * in_quad + 1], c[row + 8][2 * in_quad],
                          c[row + 8][2 * in_quad + 1]};
    Values one = {word(a[row] + 4 * in_quad), word(a[row + 8] + 4 * in_quad)};
    one.insert(one.end(), right.begin(), right.end());
    one.insert(one.end(), start.begin(), start.end());
    one.push_back(in_quad == 0 ? places[row] : in_quad == 1 ? places[row + 8] : random());
    sparse.push_back(one);
    Values other = {word(dense[row] + 4 * in_quad), word(dense[row + 8] + 4 * in_quad),
                    word(dense[row] + 16 + 4 * in_quad), word(dense[row + 8] + 16 + 4 * in_quad)};
    other.insert(other.end(), right.begin(), right.end());
    other.insert(other.end(), start.begin(), start.end());
    whole.push_back(other);
  }
  const std::vector<std::string> four(4, "b32");
  const Form product(
      "mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 "
      "{d0, d1, d2, d3}, {a0, a1}, {a2, a3}, {a4, a5, a6, a7}, a8, 0;",
      four, std::vector<std::string>(9, "b32"));
  const Form same(
      "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 "
      "{d0, d1, d2, d3}, {a0, a1, a2, a3}, {a4, a5}, {a6, a7, a8, a9};",
      four, std::vector<std::string>(10, "b32"));
  CHECK(product(sparse) == same(whole));
}
