// Division of whole numbers, upwards.
#pragma once

#include <cstdint>

namespace halo {

/// The least whole number that is not less than a / b. 0 <= a, 0 < b.
constexpr std::int64_t quotient_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

/// The least multiple of `to` that is not less than `number`.
constexpr std::int64_t rounded_up(std::int64_t number, std::int64_t to) {
  return quotient_up(number, to) * to;
}

}  // namespace halo
