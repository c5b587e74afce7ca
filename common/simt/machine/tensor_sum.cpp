#include "common/simt/machine/tensor_sum.hpp"

namespace simt::tensor {

// Loops of kWide turns, of which vector code is made.
#if defined(__x86_64__)
[[gnu::target_clones("avx2", "default")]]
#endif
void add_products(const std::array<float, kWide>& start, const Factors& left, const Factors& right,
                  unsigned depth, int places, Sums& sums) {
  std::int32_t product[kMostProducts][kWide], tops[kMostProducts][kWide];
  std::int32_t own[kWide], own_top[kWide], top[kWide], all[kWide] = {};
  for (int i = 0; i < kWide; ++i) {
    const auto bits = std::bit_cast<std::uint32_t>(start[static_cast<std::size_t>(i)]);
    const std::uint32_t stored = bits >> kFloatPlaces & 255;
    const std::uint32_t fraction = (bits & 0x7f'ffff) | (stored != 0 ? 0x80'0000u : 0u);
    own[i] = static_cast<std::int32_t>(fraction << (kKeptPlaces - kFloatPlaces));
    own_top[i] = fraction != 0 ? static_cast<std::int32_t>(std::max(stored, 1u)) - 127 : kNoTop;
    top[i] = own_top[i];
  }
  for (unsigned k = 0; k < depth; ++k) {
    const std::int32_t value = left.value[k * left.stride], its_top = left.top[k * left.stride];
    const std::int32_t* const values = right.value + k * right.stride;
    const std::int32_t* const its_tops = right.top + k * right.stride;
    for (int i = 0; i < kWide; ++i) {
      product[k][i] = value * values[i];
      tops[k][i] = its_top + its_tops[i];
      top[i] = top[i] > tops[k][i] ? top[i] : tops[k][i];
    }
  }
  const int up = kKeptPlaces - 2 * kFactorPlaces;
  const int less = kKeptPlaces - places;
  for (unsigned k = 0; k < depth; ++k) {
    for (int i = 0; i < kWide; ++i) {
      const std::int32_t distance = top[i] - tops[k][i] + less;
      const std::int32_t shift = distance < 31 ? distance : 31;
      const std::int32_t magnitude = product[k][i] < 0 ? -product[k][i] : product[k][i];
      const std::int32_t part = magnitude << up >> shift;
      all[i] += product[k][i] < 0 ? -part : part;
    }
  }
  for (int i = 0; i < kWide; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const std::int32_t part = own[i] >> std::min(top[i] - own_top[i] + less, 31);
    sums.value[at] = std::int64_t{all[i]} + (std::signbit(start[at]) ? -part : part);
    sums.top[at] = top[i];
  }
}

}  // namespace simt::tensor
