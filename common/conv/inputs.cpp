#include "common/conv/inputs.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <stdexcept>

namespace halo::conv {

namespace {

// Separate streams for the four kinds of data, so that input and mask of one seed are unrelated.
constexpr std::uint64_t kInputStream = 0x9e3779b97f4a7c15u;
constexpr std::uint64_t kMaskStream = 0xbf58476d1ce4e5b9u;
constexpr std::uint64_t kExactInputStream = 0x94d049bb133111ebu;
constexpr std::uint64_t kExactMaskStream = 0xd6e8feb86659fd93u;

constexpr int kExactLargestInput = 1000;
constexpr int kExactLargestTap = 16;
static_assert(std::int64_t{kMaxMaskWidth} * kExactLargestInput * kExactLargestTap <= 1 << 24,
              "sums of the exact data must fit the 24 bits of a float");

// A random permutation of [0, 2^23): each step can be undone.
class Permutation {
 public:
  explicit Permutation(Random& random)
      : factor1_(random.bits() | 1), factor2_(random.bits() | 1), offset_(random.bits()) {}
  std::uint32_t operator()(std::uint64_t i) const {
    std::uint64_t x = (i * factor1_ + offset_) & kLowBits;
    x ^= x >> 11;
    x = (x * factor2_) & kLowBits;
    x ^= x >> 12;
    return static_cast<std::uint32_t>(x);
  }

 private:
  static constexpr std::uint64_t kLowBits = (1u << 23) - 1;
  std::uint64_t factor1_, factor2_, offset_;
};

// The number of octaves that input and mask may each span. The smallest product is then at least
// 4^-octaves, and the error bound of an output less than gamma(W) * W. A product that is missing
// must stand out of the bound even if the rounding of the others hides as much of it as it can:
// twice.
unsigned octaves(int mask_width) {
  const double bound = gamma(mask_width) * mask_width;
  unsigned result = 1;
  while (result < 10 && std::ldexp(1.0, -2 * static_cast<int>(result + 1)) > 2 * bound) ++result;
  return result;
}

static_assert(4.0 * kUnitRoundoff * 2 * kMaxMaskWidth * kMaxMaskWidth < 1,
              "one octave each must be possible with the widest mask");

// Values of mixed sign with magnitudes in [2^-octaves, 1), spread evenly over the octaves. The
// fraction bits come from a permutation, so no two of 2^23 neighbours have the same magnitude.
std::vector<float> adversarial_values(std::int64_t count, int mask_width, std::uint64_t seed) {
  Random random(seed);
  const Permutation fraction(random);
  const std::uint64_t span = octaves(mask_width);
  std::vector<float> values(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < values.size(); ++i) {
    // One draw gives the octave (upper half) and the sign (lowest bit). Put together bit by bit:
    // a billion of them should not take minutes.
    const std::uint64_t drawn = random.bits();
    const auto octave = static_cast<std::uint32_t>(((drawn >> 32) * span) >> 32);
    const auto sign = static_cast<std::uint32_t>(drawn & 1);
    values[i] = std::bit_cast<float>(sign << 31 | (126 - octave) << 23 | fraction(i));
  }
  return values;
}

// A whole number in [-largest, largest], not zero.
float nonzero_integer(Random& random, int largest) {
  const auto drawn = static_cast<int>(random.below(2 * static_cast<std::uint64_t>(largest)));
  return static_cast<float>(drawn < largest ? drawn - largest : drawn - largest + 1);
}

}  // namespace

std::uint64_t Random::below(std::uint64_t count) {
  if (count == 0) throw std::invalid_argument("Random::below: the count must not be 0");
  // Draws from the incomplete last round of [0, 2^64) would favour small results.
  const std::uint64_t rejected = (0 - count) % count;
  std::uint64_t drawn;
  do {
    drawn = bits();
  } while (drawn < rejected);
  return drawn % count;
}

std::vector<float> adversarial_input(const Problem1d& problem, std::uint64_t seed,
                                     std::int64_t period) {
  if (period < 0) {
    throw std::invalid_argument("the period must be at least 0 (none), got " +
                                std::to_string(period));
  }
  const std::int64_t length = problem.length();
  const std::int64_t drawn = period == 0 ? length : std::min(period, length);
  std::vector<float> values = adversarial_values(drawn, problem.mask_width(), seed ^ kInputStream);
  if (drawn == length) return values;
  // One pass over the memory, which a vector of zeros would have taken already.
  std::vector<float> repeated;
  repeated.reserve(static_cast<std::size_t>(length));
  for (std::int64_t start = 0; start < length; start += period) {
    repeated.insert(repeated.end(), values.begin(),
                    values.begin() + std::min(period, length - start));
  }
  return repeated;
}

std::vector<float> adversarial_mask(const Problem1d& problem, std::uint64_t seed) {
  return adversarial_values(problem.mask_width(), problem.mask_width(), seed ^ kMaskStream);
}

std::vector<float> exact_input(const Problem1d& problem, std::uint64_t seed) {
  Random random(seed ^ kExactInputStream);
  std::vector<float> values(static_cast<std::size_t>(problem.length()));
  for (float& value : values) value = nonzero_integer(random, kExactLargestInput);
  return values;
}

std::vector<float> exact_mask(const Problem1d& problem, std::uint64_t seed) {
  Random random(seed ^ kExactMaskStream);
  std::vector<float> values(static_cast<std::size_t>(problem.mask_width()));
  for (std::size_t j = 0; j < values.size(); ++j) {
    const std::size_t mirror = values.size() - 1 - j;
    do {
      values[j] = nonzero_integer(random, kExactLargestTap);
    } while (mirror < j && values[j] == values[mirror]);
  }
  return values;
}

}  // namespace halo::conv
