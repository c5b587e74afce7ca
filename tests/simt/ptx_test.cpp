// What is read of PTX. The texts are what nvcc 13.0 writes, shortened.
#include <cstring>

#include "common/simt/ptx/parse.hpp"
#include "tests/catch.hpp"

namespace {

using namespace simt::ptx;
using Kind = Operand::Kind;

std::unique_ptr<const Module> read(const std::string& text) { return parse(text, "test.ptx"); }

// The function `f` with this body.
std::unique_ptr<const Module> read_body(const std::string& body) {
  return read(".version 9.0\n.target sm_90\n.address_size 64\n.visible .entry f()\n{\n" + body +
              "\n}\n");
}
const Function& function(const Module& module) { return *module.function("f"); }

std::string refusal(const std::string& body) {
  return halo::test::message_of([&] { read_body(body); });
}

}  // namespace

TEST_CASE("an instruction is an opcode, its modifiers, and operands by kind") {
  const auto module = read_body(R"(
    .reg .pred %p<3>;
    .reg .f32 %f<6>;
    .reg .b32 %r<4>;
    .reg .b64 %rd<4>;
    .shared .align 16 .b8 tile[64];
    ld.global.nc.v4.f32 {%f1, %f2, %f3, _}, [%rd1+-16];
    setp.lt.and.s32 %p1|%p2, %r1, -7, !%p0;
    st.shared.f32 [tile+8], 0fBF800000;
    @!%p1 mov.u64 %rd2, tile;
    cp.async.ca.shared.global [%r1], [%rd1], 16, %r2;)");
  const Function& f = function(*module);
  REQUIRE(f.body.size() == 5);

  const Instruction& load = f.body[0];
  CHECK(load.opcode == "ld");
  CHECK(load.form() == "ld.global.nc.v4.f32");
  CHECK(load.type() == Type::f32);
  CHECK(load.has("nc"));
  CHECK_FALSE(load.has("v2"));
  REQUIRE(load.operands.size() == 2);
  CHECK(load.operands[0].kind == Kind::vector);
  REQUIRE(load.operands[0].parts.size() == 4);
  CHECK(f.registers[static_cast<std::size_t>(load.operands[0].parts[1].index)].name == "%f2");
  CHECK(load.operands[0].parts[3].kind == Kind::sink);
  CHECK(load.operands[1].kind == Kind::address);
  CHECK(load.operands[1].offset == -16);
  CHECK(f.registers[static_cast<std::size_t>(load.operands[1].parts[0].index)].type == Type::b64);

  const Instruction& compare = f.body[1];
  CHECK(compare.operands[0].kind == Kind::pair);
  CHECK(compare.operands[0].parts.size() == 2);
  CHECK(static_cast<std::int64_t>(compare.operands[2].bits) == -7);
  CHECK(compare.operands[3].negated);

  const Instruction& store = f.body[2];
  CHECK(store.operands[0].parts[0].kind == Kind::symbol);
  CHECK(store.operands[0].parts[0].name == "tile");
  CHECK(store.operands[0].offset == 8);
  CHECK(store.operands[1].number_type == Type::f32);
  CHECK(store.operands[1].bits == 0xBF800000);

  CHECK(f.body[3].guard_negated);
  CHECK(f.registers[static_cast<std::size_t>(f.body[3].guard)].name == "%p1");
  CHECK(f.body[3].operands[1].kind == Kind::symbol);
  CHECK(f.body[4].operands.size() == 4);
  CHECK(f.uses("tile"));
  CHECK_FALSE(f.uses("tail"));
}

TEST_CASE("what inline assembly declares holds within its braces") {
  const auto module = read_body(R"(
    .reg .b32 %r<3>;
    { .reg .pred p; setp.eq.u32 p, %r1, 0; @p bra DONE; mov.u32 %r2, 1; DONE: }
    { .reg .pred p; setp.eq.u32 p, %r2, 0; @p bra DONE; mov.u32 %r1, 1; DONE: }
    ret;)");
  const Function& f = function(*module);
  REQUIRE(f.body.size() == 7);
  CHECK(f.body[0].operands[0].index != f.body[3].operands[0].index);
  CHECK(f.body[1].guard == f.body[0].operands[0].index);
  const auto target = [&](int i) {
    return f
        .labels[static_cast<std::size_t>(f.body[static_cast<std::size_t>(i)].operands[0].index)];
  };
  CHECK(target(1) == 3);
  CHECK(target(4) == 6);
}

TEST_CASE("a register's type may stand next to .reg") {
  const auto module = read_body("{.reg.b16         h,r;\n.reg .f32 f; cvt.f32.f16 f, h; }");
  const Function& f = function(*module);
  REQUIRE(f.registers.size() == 3);
  CHECK(f.registers[1].type == Type::b16);
  CHECK(f.registers[static_cast<std::size_t>(f.body[0].operands[1].index)].name == "h");
}

TEST_CASE("a label is known wherever it stands in the function") {
  const auto module = read_body(R"(
    .reg .pred %p<2>;
  $L__BB0_1:
    @%p1 bra $L__BB0_3;
    { bra.uni $L__BB0_1; }
  $L__BB0_3:
    ret;)");
  const Function& f = function(*module);
  const auto target = [&](std::size_t i) {
    return f.labels[static_cast<std::size_t>(f.body[i].operands[0].index)];
  };
  CHECK(target(0) == 2);
  CHECK(target(1) == 0);
}

TEST_CASE("registers that the hardware fills need no declaration") {
  const auto module =
      read_body(".reg .b32 %r<2>;\n mov.u32 %r1, %ctaid.x;\n mov.u32 %r1, %laneid;");
  const Function& f = function(*module);
  const Register& block = f.registers[static_cast<std::size_t>(f.body[0].operands[1].index)];
  CHECK(block.name == "%ctaid.x");
  CHECK(block.type == Type::none);
}

TEST_CASE("a line is told with the calls that were inlined there") {
  const auto module = read(R"(
    .version 9.0
    .target sm_90
    .address_size 64
    .visible .entry f()
    {
      .reg .b32 %r<2>;
      .loc 1 20 3
      mov.u32 %r1, 1;
      .loc 2 7 5, function_name $L__info_string0, inlined_at 1 21 10
      mov.u32 %r1, 2;
      .loc 2 3 1, function_name $L__info_string1+0, inlined_at 2 7 5
      mov.u32 %r1, 3;
    }
    .file 1 "kernel.cu"
    .file 2 "h\303\274lfe.cuh", 1700000000, 42
    .section .debug_str
    {
    $L__info_string0:
    .b8 102,105,114,115,116
    .b8 0
    $L__info_string1:
    .b8 115,101,99,111,110,100,0
    })");
  const Function& f = function(*module);
  const auto at = [&](int i) { return module->locations[static_cast<std::size_t>(i)]; };
  const Location inner = at(f.body[2].location);
  CHECK(module->files[static_cast<std::size_t>(inner.file)] == "hülfe.cuh");
  CHECK(inner.line == 3);
  CHECK(module->inlined_functions[static_cast<std::size_t>(inner.function)] == "second");
  const Location middle = at(inner.inlined_at);
  CHECK(middle.line == 7);
  CHECK(module->inlined_functions[static_cast<std::size_t>(middle.function)] == "first");
  const Location outer = at(middle.inlined_at);
  CHECK(module->files[static_cast<std::size_t>(outer.file)] == "kernel.cu");
  CHECK(outer.line == 21);
  CHECK(outer.inlined_at == -1);
}

TEST_CASE("variables have their sizes, alignments and initial values") {
  const auto module = read(R"(
    .version 9.0
    .target sm_90
    .address_size 64
    .extern .shared .align 16 .b8 dynamic[];
    .const .align 4 .f32 mask[2][3] = {{0f3F800000, 0f40000000}, 7};
    .global .align 8 .u64 table[3] = {first, generic(second)+8, 5};
    .global .align 1 .b8 bytes[3] = {0xFF(first), 0xFF00(first), 9};
    .visible .global .attribute(.managed) .align 4 .u32 counter;
    .global .v4 .f32 quad;)");
  CHECK(module->variable("dynamic")->bytes == 0);
  CHECK(module->variable("dynamic")->is_extern);
  CHECK(module->variable("dynamic")->align == 16);

  const Variable& mask = *module->variable("mask");
  CHECK(mask.space == Space::constant);
  CHECK(mask.bytes == 24);
  REQUIRE(mask.initial.size() == 12);
  float second = 0;
  std::memcpy(&second, mask.initial.data() + 4, 4);
  CHECK(second == 2.0f);

  const Variable& table = *module->variable("table");
  REQUIRE(table.relocations.size() == 2);
  CHECK(table.relocations[0].symbol == "first");
  CHECK_FALSE(table.relocations[0].generic);
  CHECK(table.relocations[1].at == 8);
  CHECK(table.relocations[1].symbol == "second");
  CHECK(table.relocations[1].generic);
  CHECK(table.relocations[1].addend == 8);
  CHECK(table.initial[16] == 5);

  const Variable& bytes = *module->variable("bytes");
  REQUIRE(bytes.relocations.size() == 2);
  CHECK(bytes.relocations[0].shift == 0);
  CHECK(bytes.relocations[1].shift == 8);
  CHECK(bytes.relocations[1].bytes == 1);
  CHECK(module->variable("counter")->is_managed);
  CHECK(module->variable("quad")->bytes == 16);
  CHECK(module->variable("quad")->align == 16);
}

TEST_CASE("a variable's name is what the source calls it") {
  CHECK(variable_name("_ZZ6kernelPfE4tile") == "tile");
  CHECK(variable_name("_ZN1a5tableIN1b1cEEE") == "table<b::c>");
  CHECK(variable_name("_Z5tableIN1b1cEE") == "table<b::c>");
  CHECK(variable_name("_ZZ4copyIN1b1cEEvPT_E4tile") == "tile");
  CHECK(variable_name("counter") == "counter");
}

TEST_CASE("a kernel has its parameters and what it asks of a launch") {
  const auto module = read(R"(
    .version 9.0
    .target sm_90
    .address_size 64
    .visible .entry f(
      .param .u64 .ptr .global .align 256 f_param_0,
      .param .align 8 .b8 f_param_1[24]
    )
    .maxntid 256, 2, 1
    .minnctapersm 3
    .explicitcluster
    .reqnctapercluster 4
    { ret; })");
  const Function& f = function(*module);
  REQUIRE(f.parameters.size() == 2);
  CHECK(f.parameters[0].align == 8);
  CHECK(f.parameters[1].bytes == 24);
  CHECK(f.max_threads[1] == 2);
  CHECK(f.min_blocks == 3);
  CHECK(f.explicit_cluster);
  CHECK(f.required_cluster[0] == 4);
  CHECK(f.required_cluster[2] == 1);
}

TEST_CASE("a function is found by its definition, wherever it was declared") {
  const auto module = read(R"(
    .version 9.0
    .target sm_90
    .address_size 64
    .extern .func (.param .b32 retval0) vprintf(.param .b64 a, .param .b64 b);
    .func (.param .b32 retval0) twice(.param .b32 a);
    .visible .entry f() {
      .reg .b32 %r<2>;
      .reg .b64 %rd<2>;
      { .param .b32 param0; st.param.b32 [param0+0], %r1; .param .b32 retval0;
        call.uni (retval0), twice, (param0); ld.param.b32 %r1, [retval0+0]; }
      { prototype_0 : .callprototype (.param .b32 _) _ (.param .b32 _);
        .param .b32 param0; .param .b32 retval0;
        call (retval0), %rd1, (param0), prototype_0; }
    }
    .func (.param .b32 retval0) twice(.param .b32 a) { .reg .b32 %r<1>; ret; })");
  CHECK_FALSE(module->function("vprintf")->has_body);
  CHECK(module->function("twice")->has_body);
  const Instruction& call = function(*module).body[1];
  CHECK(call.operands[0].kind == Kind::list);
  CHECK(call.operands[1].name == "twice");
  CHECK(call.operands[2].parts[0].name == "param0");
  CHECK(function(*module).body[3].operands[1].kind == Kind::reg);
}

TEST_CASE("a jump through a table knows its labels") {
  const auto module = read_body(R"(
    .reg .b32 %r<2>;
    table: .branchtargets A, B;
    brx.idx %r1, table;
  A: ret;
  B: exit;)");
  const Function& f = function(*module);
  const auto& labels = f.targets.at("table");
  REQUIRE(labels.size() == 2);
  CHECK(f.labels[static_cast<std::size_t>(labels[0])] == 1);
  CHECK(f.labels[static_cast<std::size_t>(labels[1])] == 2);
}

TEST_CASE("a part of a register is no mistake of the text") {
  const auto module = read_body(".reg .b32 %r<3>; vadd.s32.u32.u32 %r0, %r1.b1, %r2.h0; ret;");
  const Operand& part = function(*module).body[0].operands[1];
  CHECK(part.kind == Kind::reg);
  CHECK(part.name == "b1");
}

TEST_CASE("a mistake is told with its line") {
  CHECK(refusal("mov.u32 %r1, 1;") == "test.ptx:6: there is no register %r1");
  CHECK(refusal("\n/* two\nlines */ bra NOWHERE;") == "test.ptx:8: there is no label NOWHERE");
  CHECK(refusal(".reg .f33 %f<2>;") == "test.ptx:6: a register without a type");
  CHECK(refusal(".reg .b32 %r<2>; mov.u32 %r1 1;") == "test.ptx:6: expected ; before 1");
  CHECK(refusal(".reg .b32 %r<2>; mov.u32 %r1, 12q;") == "test.ptx:6: this is no number: 12q");
  CHECK(halo::test::message_of([] { read(".version 9.0\n.nonsense"); }) ==
        "test.ptx:2: unknown directive: .nonsense");
  CHECK(halo::test::message_of([] { read(".version 9.0\n.entry f() {"); }) ==
        "test.ptx:2: the text ends within a function");
}

TEST_CASE("braces within braces without an end are a mistake, and do not end the program") {
  const auto deep = [](char open, const std::string& within, char close) {
    constexpr std::size_t kDepth = 200'000;
    return std::string(kDepth, open) + within + std::string(kDepth, close);
  };
  const std::string why = "braces or brackets within others, deeper than 1000";
  CHECK(refusal(deep('{', "", '}')) == "test.ptx:6: " + why);
  CHECK(refusal(".reg .b32 %r<2>; mov.u32 %r1, " + deep('{', "%r1", '}') + ";") ==
        "test.ptx:6: " + why);
  CHECK(refusal(".reg .b32 %r<2>; ld.u32 %r1, " + deep('[', "%r1", ']') + ";") ==
        "test.ptx:6: " + why);
  CHECK(halo::test::message_of([&] {
          read(".version 9.0\n.global .b32 g[4] = " + deep('{', "1", '}') + ";");
        }) == "test.ptx:2: " + why);
}
