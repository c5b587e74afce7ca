// Half precision in registers: f16 and bf16 as 16 bits, two of them as 32.
#pragma once

#include <cstdint>

#include "common/simt/machine/code.hpp"
#include "common/simt/machine/rounding.hpp"

namespace simt::machine {

template <ptx::Type type>
inline constexpr Format kFormat{};
template <>
inline constexpr Format kFormat<ptx::Type::f16> = kF16;
template <>
inline constexpr Format kFormat<ptx::Type::bf16> = kBf16;

/// The step that makes f32 of f16 or bf16.
Execute widening(ptx::Type from);

}  // namespace simt::machine
