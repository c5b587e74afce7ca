// What the rules of this room ask of an instruction: registers, the memory that it accesses, what it fixes.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "common/simt/ptx/module.hpp"

namespace simt::ptxas {

using ptx::Instruction;
using ptx::Operand;

std::vector<std::int32_t> written_by(const Instruction& one);
bool writes(const Instruction& one, std::int32_t index);
bool reads(const Instruction& one, std::int32_t index);
/// ld d, [a] and st [a], b.
bool is_load(const Instruction& one);
const Operand& value_of(const Instruction& one);
const Operand& address_of(const Instruction& one);
/// A load or store of that memory, which nobody else may be waiting for, with no word for a cache.
bool is_mergeable(const Instruction& one, std::string_view space);
std::size_t values(const Instruction& one);
const Operand& value(const Instruction& one, std::size_t i);
/// The instruction with these values instead of its own, so many bytes further on.
Instruction with_values(const Instruction& one, std::vector<Operand> its, std::int64_t further);
/// A load in whose place its register takes what the other has loaded.
Instruction as_move(const Instruction& one, const Instruction& other);
/// Nothing of that memory is moved past these.
bool is_fixed(const Instruction& one, std::string_view space);
/// Whether it may read, or write, that memory: what names none may be of any.
bool may_be(const Instruction& one, std::string_view space);
/// Divisions and roots that are a call in machine code.
bool may_be_call(const Instruction& one);

}  // namespace simt::ptxas
