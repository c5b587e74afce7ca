// Rounding to TF32, as a peer does it that is not in true fp32.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

namespace halo::test {

// As tensor cores read a float: 10 bits behind the point, rounded to nearest even.
inline float to_tf32(float value) {
  auto bits = std::bit_cast<std::uint32_t>(value);
  bits += 0xFFFu + (bits >> 13 & 1u);
  return std::bit_cast<float>(bits & ~0x1FFFu);
}

inline std::vector<float> to_tf32(std::vector<float> values) {
  for (float& value : values) value = to_tf32(value);
  return values;
}

}  // namespace halo::test
