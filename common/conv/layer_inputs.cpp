#include "common/conv/layer_inputs.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "common/conv/inputs.hpp"

namespace halo::conv {

namespace {

// Separate streams, so that input and filters of one seed are unrelated.
constexpr std::uint64_t kInputStream = 0x2545f4914f6cdd1du;
constexpr std::uint64_t kFiltersStream = 0xd1342543de82ef95u;
constexpr std::uint64_t kExactInputStream = 0xaf251af3b0f025b5u;
constexpr std::uint64_t kExactFiltersStream = 0xda942042e4dd58b5u;

constexpr int kExactLargestInput = 1000;
constexpr int kExactLargestTap = 16;
// The largest sum that every grouping of its terms leaves exact.
constexpr std::int64_t kExactLargestSum = 1 << 24;

struct Octaves {
  std::uint64_t input;
  std::uint64_t filters;
};

// How many octaves input and filters span, for outputs of L products.
Octaves octaves(std::int64_t terms) {
  // As in 1D: magnitudes below 1, so the bound is less than gamma(L) * L, and the smallest product
  // 2^-octaves of both. It must stand out even if the rounding of the others hides as much of it
  // as it can: twice.
  const double bound = gamma(terms) * static_cast<double>(terms);
  std::uint64_t both = 0;
  while (both < 10 && std::ldexp(1.0, -2 * static_cast<int>(both + 1)) > 2 * bound) ++both;
  if (both > 0) return {both, both};
  // The mean magnitude of an input over k octaves is less than 1.5 / k, of a tap 0.75: the bound is
  // about bound * 1.125 / k. A product with an input of the uppermost octave is at least 1/4.
  // More than 100 octaves would bring numbers too small for a normal float.
  const double enough = 1.3 * 4 * 1.125 * bound;
  return {static_cast<std::uint64_t>(std::clamp(std::ceil(enough), 10.0, 100.0)), 1};
}

// Values of mixed sign with magnitudes in [2^-octaves, 1), spread evenly over the octaves.
std::vector<float> adversarial_values(std::int64_t count, std::uint64_t octaves,
                                      std::uint64_t seed) {
  // The fractions and signs are those of a signal for the widest mask, which spans one octave and
  // has no two equal magnitudes among 2^23 neighbours.
  std::vector<float> values = adversarial_input(Problem1d(count, kMaxMaskWidth), seed);
  if (octaves == 1) return values;
  Random random(seed + 1);
  std::vector<float> scale;
  for (std::uint64_t octave = 0; octave < octaves; ++octave) {
    scale.push_back(std::ldexp(1.0f, -static_cast<int>(octave)));
  }
  for (float& value : values) value *= scale[((random.bits() >> 32) * octaves) >> 32];
  return values;
}

// A whole number in [-largest, largest], not zero.
float nonzero_integer(Random& random, int largest) {
  const auto drawn = static_cast<int>(random.below(2 * static_cast<std::uint64_t>(largest)));
  return static_cast<float>(drawn < largest ? drawn - largest : drawn - largest + 1);
}

struct Largest {
  int input;
  int tap;
};

Largest exact_largest(const ConvLayer& layer) {
  const std::int64_t product = kExactLargestSum / layer.products_per_output();
  const auto root = static_cast<std::int64_t>(std::sqrt(static_cast<double>(product)));
  const auto tap = static_cast<int>(std::min<std::int64_t>(kExactLargestTap, root));
  return {static_cast<int>(std::min<std::int64_t>(kExactLargestInput, product / tap)), tap};
}

// How many of `all` are drawn, the others being repeated.
std::int64_t drawn(int all, int period) {
  if (period < 0) {
    throw std::invalid_argument("a period must be at least 0 (none), got " +
                                std::to_string(period));
  }
  return period == 0 ? all : std::min(period, all);
}

// The values over and over until there are `count`.
std::vector<float> repeated(std::vector<float> values, std::int64_t count) {
  const auto wanted = static_cast<std::size_t>(count);
  if (values.size() == wanted) return values;
  std::vector<float> result;
  result.reserve(wanted);
  while (result.size() < wanted) {
    const std::size_t more = std::min(values.size(), wanted - result.size());
    result.insert(result.end(), values.begin(), values.begin() + static_cast<std::ptrdiff_t>(more));
  }
  return result;
}

}  // namespace

std::vector<float> adversarial_input(const ConvLayer& layer, std::uint64_t seed, Repeat repeat) {
  const std::int64_t image = layer.input_size() / layer.N();
  return repeated(
      adversarial_values(drawn(layer.N(), repeat.images) * image,
                         octaves(layer.products_per_output()).input, seed ^ kInputStream),
      layer.input_size());
}

std::vector<float> adversarial_filters(const ConvLayer& layer, std::uint64_t seed, Repeat repeat) {
  const std::int64_t filter = layer.products_per_output();
  return repeated(adversarial_values(drawn(layer.K(), repeat.filters) * filter,
                                     octaves(filter).filters, seed ^ kFiltersStream),
                  layer.filters_size());
}

std::vector<float> exact_input(const ConvLayer& layer, std::uint64_t seed, Repeat repeat) {
  Random random(seed ^ kExactInputStream);
  const int largest = exact_largest(layer).input;
  const std::int64_t image = layer.input_size() / layer.N();
  std::vector<float> values(static_cast<std::size_t>(drawn(layer.N(), repeat.images) * image));
  for (float& value : values) value = nonzero_integer(random, largest);
  return repeated(std::move(values), layer.input_size());
}

std::vector<float> exact_filters(const ConvLayer& layer, std::uint64_t seed, Repeat repeat) {
  Random random(seed ^ kExactFiltersStream);
  const int largest = exact_largest(layer).tap;
  const std::int64_t filters = drawn(layer.K(), repeat.filters);
  std::vector<float> values;
  values.reserve(static_cast<std::size_t>(filters * layer.products_per_output()));
  const std::int64_t C = layer.filter_channels();
  const std::int64_t R = layer.R();
  const std::int64_t S = layer.S();
  const auto at = [&](std::int64_t k, std::int64_t c, std::int64_t r, std::int64_t s) {
    return static_cast<std::size_t>(((k * C + c) * R + r) * S + s);
  };
  for (std::int64_t k = 0; k < filters; ++k) {
    for (std::int64_t c = 0; c < C; ++c) {
      for (std::int64_t r = 0; r < R; ++r) {
        for (std::int64_t s = 0; s < S; ++s) {
          const std::size_t here = values.size();
          // The places that a mistake would take for this one. Those not drawn yet will look at it
          // in their turn, and the place itself is no mistake.
          std::size_t mistaken[6] = {at(k, c, R - 1 - r, s),
                                     at(k, c, r, S - 1 - s),
                                     at(k, c, R - 1 - r, S - 1 - s),
                                     here,
                                     here,
                                     here};
          if (r < S && s < R) mistaken[3] = at(k, c, s, r);
          if (c > 0) mistaken[4] = at(k, c - 1, r, s);
          if (k > 0) mistaken[5] = at(k - 1, c, r, s);
          const auto is_taken = [&](float value) {
            return std::any_of(std::begin(mistaken), std::end(mistaken), [&](std::size_t place) {
              return place < here && values[place] == value;
            });
          };
          float value;
          do {
            value = nonzero_integer(random, largest);
          } while (largest >= 4 && is_taken(value));  // 4: more numbers than places
          values.push_back(value);
        }
      }
    }
  }
  return repeated(std::move(values), layer.filters_size());
}

}  // namespace halo::conv
