// A module of PTX, as nvcc writes it: what parse() makes of the text, with names resolved and nothing
// interpreted. PTX ISA 9.0 names the parts; sections below are that document's.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace simt::ptx {

/// The fundamental and packed types of 5.2.
enum class Type : std::uint8_t {
  none,
  pred,
  b8,
  b16,
  b32,
  b64,
  b128,
  u8,
  u16,
  u32,
  u64,
  s8,
  s16,
  s32,
  s64,
  f16,
  f16x2,
  bf16,
  bf16x2,
  tf32,
  f32,
  f32x2,
  f64,
  texref,
  samplerref,
  surfref,
};

/// "f32"; without the dot. Type::none for a word that is no type.
Type type_of(std::string_view word);
std::string_view name_of(Type type);
/// Of one value; 0 for a predicate and for none.
[[gnu::visibility("default")]] int bytes_of(Type type);
/// Of a special register: %clock64, %globaltimer and the like have 64 bits, all others 32.
Type special_type(std::string_view name);

/// The state spaces of 5.1 in which a variable can be declared.
enum class Space : std::uint8_t { reg, global, constant, shared, local, param };

/// Line and column of a source file; where it was inlined, the function's name and the place of the call.
struct Location {
  int file = 0;  // number in Module::files; 0: nowhere
  int line = 0;
  int column = 0;
  int function = -1;    // in Module::inlined_functions
  int inlined_at = -1;  // in Module::locations
};

/// Of a variable's initial value: the address of a symbol, or a byte of it, stands at `at`.
struct Relocation {
  std::int64_t at;
  std::string symbol;
  std::int64_t addend = 0;
  bool generic = false;  // generic(symbol): its address in the generic space
  int shift = 0;         // mask(symbol): this many bits down, so many bytes of it
  int bytes = 8;
};

struct Variable {
  std::string name;
  Space space = Space::global;
  Type type = Type::none;
  std::int64_t bytes = 0;  // 0: extern __shared__, whose size the launch gives
  int align = 1;
  bool is_extern = false;
  bool is_managed = false;
  std::string initial;  // as many bytes as were named; the rest are zero
  std::vector<Relocation> relocations;
};

/// A register of a function, or a special one (%tid.x), which is known by its name.
struct Register {
  std::string name;
  Type type = Type::none;  // none: special
};

struct Operand {
  enum class Kind : std::uint8_t {
    reg,     // %r1; !%p1 and -%r1 with `negated`; %r1.b0, a part of it, with `name`
    number,  // 1, -4, 0f3F800000
    symbol,  // a variable or a function: name + offset
    address,  // [base + offset], base a register, a symbol or none: parts[0]; parts[1...] of a texture
    vector,  // {a, b}
    list,    // (a, b): arguments of a call
    pair,    // %p1|%p2
    label,   // a place in this function: Function::labels
    sink,    // _
  };
  Kind kind = Kind::sink;
  bool negated = false;
  std::int32_t index = -1;  // of a register in Function::registers, of a label in Function::labels
  std::uint64_t bits = 0;   // of a number
  Type number_type = Type::none;  // f32 or f64 where the text gave the bits of one, else none
  std::int64_t offset = 0;        // of a symbol or an address
  std::string_view name = {};     // of a symbol; of a register's part: "b0"
  std::vector<Operand> parts = {};

  /// The registers that it and its parts name.
  std::vector<std::int32_t> registers() const;
  template <class Visit>
  void each_register(const Visit& visit) const {
    if (kind == Kind::reg && index >= 0) visit(index);
    for (const Operand& part : parts) part.each_register(visit);
  }
  bool names(std::int32_t reg) const;
};

struct Instruction {
  std::string_view opcode;                  // "ld"
  std::vector<std::string_view> modifiers;  // "param", "u64": without their dots, in order
  std::vector<Operand> operands;
  std::int32_t guard = -1;  // @%p1: a predicate register
  bool guard_negated = false;
  std::int32_t location = -1;  // in Module::locations
  int line = 0;                // of the PTX text
  /// Of one that ptxas joins with its neighbours: the bytes of what it makes of them, and how far before this one's
  /// address that begins. The others are not counted, nor is a load that waits where it stood.
  std::uint8_t joined_bytes = 0;
  std::uint8_t joined_before = 0;
  bool is_counted = true;

  bool has(std::string_view modifier) const;
  /// The operand whose registers the instruction writes; null if there is none. (wgmma reads them, too.)
  const Operand* result() const;
  /// The last modifier that is a type: the one that the instruction works in; none if there is none.
  Type type() const;
  /// "ld.param.u64": the opcode with all its modifiers.
  std::string form() const;
};

struct Function {
  std::string name;
  bool is_entry = false;  // a kernel
  bool has_body = false;  // else declared only
  bool no_return = false;
  std::vector<Variable> returns;
  std::vector<Variable> parameters;
  std::vector<Variable> variables;  // its own: local, shared, and .param of calls
  std::vector<Register> registers;
  std::vector<Instruction> body;
  std::vector<std::int32_t>
      labels;  // of each the instruction that it stands before; -1: of a prototype
  std::set<std::int32_t> kept_loops;  // what .pragma "nounroll" stands before
  /// Lists of labels for brx.idx, by name.
  std::map<std::string, std::vector<std::int32_t>, std::less<>> targets;
  // 0 where the text does not say.
  int max_threads[3] = {0, 0, 0};       // .maxntid
  int required_threads[3] = {0, 0, 0};  // .reqntid
  int min_blocks = 0;                   // .minnctapersm
  int required_cluster[3] = {0, 0, 0};  // .reqnctapercluster
  bool explicit_cluster = false;

  const Variable* variable(std::string_view name) const;
  /// Whether an operand names this symbol.
  bool uses(std::string_view symbol) const;
};

struct Module;

/// Where a variable lies that comes behind `end` bytes of others.
std::uint64_t place_behind(std::uint64_t end, int align);
/// Of each parameter of a function where it lies among them, and behind these how many bytes all have.
[[gnu::visibility("default")]] std::vector<std::uint64_t> parameter_places(
    const Function& function);

/// Where the shared variables lie that a kernel and what it calls use: the kernel's own first, in the order of their
/// declaration. Memory that the launch asks for lies behind them.
struct SharedPlaces {
  std::map<std::string, std::uint64_t, std::less<>> at;
  std::uint64_t static_bytes = 0;
};
SharedPlaces shared_places(const Module& module, const Function& kernel);
/// The function and what it may call, in the order of the module.
std::vector<const Function*> reachable(const Module& module, const Function& function);

/// A symbol as the source has it; one that C++ did not make stays as it is.
std::string demangled(const std::string& symbol);
/// Of a name in C++ what stands behind its namespaces and functions: "table<a::b>" of "c::table<a::b>".
std::string_view without_scope(std::string_view name);
/// Of a variable its name alone: "tile" of _ZZ6kernelPfE4tile.
[[gnu::visibility("default")]] std::string variable_name(std::string symbol);

/// Owns the text: names in operands and instructions are pieces of it.
struct Module {
  std::string text;
  std::string version;  // "9.0"
  std::string target;   // "sm_90"
  /// nvcc -rdc=true: ptxas did not know where shared variables lie, nvlink placed them.
  bool is_linked = false;
  bool is_debug = false;  // nvcc -G: nothing is optimised
  std::vector<Variable> variables;
  std::deque<Function> functions;  // those with a body replace declarations of the same name
  std::vector<std::string> files = {""};
  std::vector<Location> locations;
  std::vector<std::string> inlined_functions;

  const Function* function(std::string_view name) const;
  const Variable* variable(std::string_view name) const;
};

}  // namespace simt::ptx
