// What `nvcc -G` says of a module's variables: the DWARF (version 2) that stands as data in the text of the PTX. Places in
// the code are lines of that text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "common/simt/ptx/module.hpp"

namespace simt::debug {

struct Type {
  enum class Kind : std::uint8_t {
    unknown,
    boolean,
    character,
    whole,    // with its sign
    natural,  // without
    real,
    pointer,
    reference,
    array,
    structure,
    enumeration,
  };
  struct Member {
    std::string name;
    const Type* type;
    std::uint64_t offset;
  };
  Kind kind = Kind::unknown;
  std::string name;
  std::uint64_t bytes = 0;
  const Type* of = nullptr;  // of a pointer or an array
  std::uint64_t count = 0;   // of an array; 0: as many as the launch gives
  std::vector<Member> members;
  std::vector<std::pair<std::string, std::int64_t>> enumerators;
};

/// Instructions between two lines of the text.
struct Range {
  int behind = 0;
  int until = std::numeric_limits<int>::max();
  bool has(int line) const { return line > behind && line <= until; }
};

/// Where a variable is while the code is in a range.
struct Place {
  Range range;
  std::string name;  // "%r1", or a variable of the PTX; empty: nowhere
  std::uint64_t offset = 0;
};

struct Variable {
  std::string name;
  const Type* type = nullptr;
  Range scope;
  std::vector<Place> places;
  std::string constant;  // its bytes, where it is nowhere
};

/// Inner scopes' variables come behind outer ones'.
struct Function {
  std::string name;
  Range range;
  std::vector<Variable> variables;
  std::vector<Range> inlined;  // of functions that stand in place of their call
};

class DebugInfo {
 public:
  /// Empty for a module that was compiled without -G. Throws std::runtime_error for one that is not as nvcc writes it.
  explicit DebugInfo(const ptx::Module& module);

  /// Null: there is none.
  const Function* function_at(int line) const;
  /// __device__ and __constant__ variables.
  const std::vector<Variable>& globals() const { return globals_; }

 private:
  friend class Unit;
  std::deque<Type> types_;
  std::vector<Function> functions_;
  std::vector<Variable> globals_;
};

}  // namespace simt::debug
