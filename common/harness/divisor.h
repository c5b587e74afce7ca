// Division by a number that is the same for all threads, worked out once on the host.
//
// A GPU has no instruction that divides whole numbers: for an int nvcc writes some 20 instead, for a long long more than a
// hundred. Where a scheduler has one warp, as in a small layer, each takes four cycles or so, and the first
// load has to wait for all of them. With a factor from the host it is a product and a shift.
#pragma once

#include <exception>

namespace halo {

// (An exception of <stdexcept> has a std::string, which nvcc would read four times for each kernel.)
struct NoDivisor : std::exception {
  const char* what() const noexcept override { return "a divisor is at least 1"; }
};

struct Divisor {
  int value = 0;
  unsigned multiplier = 0;
  int shift = 0;

  constexpr Divisor() = default;
  // 1 <= d < 2^31; else NoDivisor.
  constexpr Divisor(int d) : value(d) {  // NOLINT: where an int stood, this can stand
    if (d < 1) throw NoDivisor();
    int bits = 0;
    while ((1ll << bits) < d) ++bits;
    shift = 31 + bits;
    // Of n < 2^31 the error of the multiplier, less than 1, makes less than 1 / d.
    const unsigned long long power = 1ull << shift, size = static_cast<unsigned>(d);
    multiplier = static_cast<unsigned>((power + size - 1) / size);
  }
  constexpr operator int() const { return value; }  // NOLINT: on the host it is that number
};

#if defined(__CUDACC__)
// For 0 <= n < 2^31.
__device__ inline int operator/(int n, const Divisor& d) {
  const auto whole = static_cast<unsigned>(n);
  return static_cast<int>((1ull * whole * d.multiplier) >> d.shift);
}
__device__ inline int operator%(int n, const Divisor& d) { return n - n / d * d.value; }
#endif

}  // namespace halo
