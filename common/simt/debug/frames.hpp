// Where a thread is, and what its variables hold, while the machine stands still.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "common/simt/debug/dwarf.hpp"
#include "common/simt/machine/code.hpp"
#include "common/simt/machine/grid.hpp"
#include "common/simt/machine/warp.hpp"

namespace simt::debug {

/// What cannot be told: "there is no variable sum here".
class Unknown : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A launch that is debugged. All of it must outlive it.
struct Program {
  const machine::Code& code;
  const machine::Addresses& addresses;
  const DebugInfo& info;
  std::vector<machine::Dim3> threads;  // of a block
};

/// A function that a thread is in.
struct Frame {
  machine::Warp* warp = nullptr;
  int lane = 0;
  std::int32_t site = -1;
  const machine::Body* body = nullptr;
  std::uint32_t base = 0;              // where its frame begins in the thread's local memory
  std::size_t depth = 0;               // of the warp's activations
  const Function* function = nullptr;  // null: it was compiled without -G
};

/// The body that a site is in; null: of a module without -G.
const machine::Body* body_at(const machine::Code& code, std::int32_t site);
/// Of a lane that is at this site: the innermost first.
std::vector<Frame> frames(const Program& program, machine::Warp& warp, int lane, std::int32_t site);

/// What a name or a part of it stands for.
struct Value {
  const Type* type = nullptr;
  std::span<const std::byte> bytes;
  std::string unavailable;  // why there are no bytes: "not in a register here"
};

/// The variables that are visible in a frame, inner ones before outer ones of the same name, which are left out.
std::vector<std::pair<std::string, Value>> locals(const Program& program, const Frame& frame);
std::vector<std::pair<std::string, Value>> globals(const Program& program, const Frame& frame);
/// threadIdx, blockIdx, blockDim, gridDim.
std::vector<std::pair<std::string, Value>> indices(const Program& program, const Frame& frame);

/// name, name[3], name[i], name.x, name->x, *name. Throws Unknown.
Value evaluate(const Program& program, const Frame& frame, const std::string& expression);
/// Elements from `first` on, or members, or what a pointer points to: with the text that stands behind the name.
std::vector<std::pair<std::string, Value>> parts(const Frame& frame, const Value& value,
                                                 std::uint64_t first, std::uint64_t most);
/// How many elements an array has; 0: it is none.
std::uint64_t elements(const Value& value);
bool has_parts(const Value& value);
/// "3.5", "{1, 2, 3, ...}", "0x7f0010"
std::string text_of(const Value& value);

}  // namespace simt::debug
