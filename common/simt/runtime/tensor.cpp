#include "common/simt/runtime/tensor.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>

namespace simt {
namespace {

// A number is value * 2^(top - places): `top` is the exponent that it is stored with.
struct Addend {
  std::int32_t value;
  std::int32_t top;
};

constexpr std::uint32_t kInfinity = 0x7f800000;
constexpr std::uint32_t kNan = 0x7fffffff;  // the only one that comes out
constexpr int kInputPlaces = 10;
constexpr int kProductPlaces = 2 * kInputPlaces;
constexpr int kFloatPlaces = 23;
constexpr int kKeptPlaces = 25;  // of a sum, behind the greatest top
constexpr int kNoTop = -1000;

bool is_finite(std::uint32_t bits) { return (bits & kInfinity) != kInfinity; }

// A float whose last `dropped` bits do not count. A zero has no say in the greatest top.
Addend unpack(std::uint32_t bits, int dropped) {
  const std::uint32_t exponent = bits >> kFloatPlaces & 255;
  const std::uint32_t fraction = (bits & 0x7fffff) | (exponent ? 0x800000 : 0);
  const auto magnitude = static_cast<std::int32_t>(fraction >> dropped);
  if (magnitude == 0) return {0, kNoTop};
  return {bits >> 31 ? -magnitude : magnitude, static_cast<int>(exponent ? exponent : 1) - 127};
}

// sum * 2^(top - kKeptPlaces), what does not fit cut off.
float pack(std::int32_t sum, int top) {
  if (sum == 0) return 0;
  const auto magnitude = static_cast<std::uint32_t>(std::abs(sum));
  const int length = std::bit_width(magnitude);
  const int exponent = top - kKeptPlaces + length - 1;
  const std::uint32_t sign = sum < 0 ? 0x80000000 : 0;
  if (exponent > 127) return std::bit_cast<float>(sign | kInfinity);
  // Of the result's last place, and of the sum's.
  const int shift = std::max(exponent, -126) - kFloatPlaces - (top - kKeptPlaces);
  const std::uint32_t fraction = shift > 31  ? 0
                                 : shift > 0 ? magnitude >> shift
                                             : magnitude << -shift;
  const std::uint32_t stored =
      exponent < -126 ? fraction
                      : (static_cast<std::uint32_t>(exponent + 126) << kFloatPlaces) + fraction;
  return std::bit_cast<float>(sign | stored);
}

double tf32(std::uint32_t bits) { return std::bit_cast<float>(bits & 0xffffe000); }

// Where an infinity or a NaN takes part.
float special_sum(float c, const std::uint32_t* a, const std::uint32_t* b, unsigned depth) {
  double sum = c;
  for (unsigned k = 0; k < depth; ++k) sum += tf32(a[k]) * tf32(b[k]);
  return std::isnan(sum) ? std::bit_cast<float>(kNan) : static_cast<float>(sum);
}

}  // namespace

// Lane 4 g + t holds, of A: (g, t), (g + 8, t) and the same four columns on; of B: (t, g) and the same
// four rows on; of C and D: (g, 2 t), (g, 2 t + 1) and the same eight rows on.
//
// The sum is an H200's, bit by bit: products are exact, then all addends, C among them, are brought to
// the greatest exponent and cut off 25 places behind it, and so is their sum where a float ends. The
// exponent of a product is the sum of its factors', also if the product has one more place before the
// point. Zeros have no say.
void multiply_tf32(unsigned depth, MmaRegisters* const lanes[32]) {
  constexpr int kDropped = kFloatPlaces - kInputPlaces;
  std::uint32_t a_bits[16][8], b_bits[8][8];  // row by row of A, column by column of B
  for (unsigned lane = 0; lane < 32; ++lane) {
    const MmaRegisters& its = *lanes[lane];
    const unsigned g = lane / 4, t = lane % 4;
    for (unsigned k = t; k < depth; k += 4) {
      a_bits[g][k] = its.a[k / 4 * 2];
      a_bits[g + 8][k] = its.a[k / 4 * 2 + 1];
      b_bits[g][k] = its.b[k / 4];
    }
  }
  Addend a[16][8], b[8][8];
  struct Line {
    bool finite, zero;
  } a_lines[16], b_lines[8];
  const auto unpack_line = [depth](const std::uint32_t* bits, Addend* line) {
    Line all{true, true};
    for (unsigned k = 0; k < depth; ++k) {
      line[k] = unpack(bits[k], kDropped);
      all.finite = all.finite && is_finite(bits[k]);
      all.zero = all.zero && line[k].value == 0;
    }
    return all;
  };
  for (unsigned row = 0; row < 16; ++row) a_lines[row] = unpack_line(a_bits[row], a[row]);
  for (unsigned column = 0; column < 8; ++column) {
    b_lines[column] = unpack_line(b_bits[column], b[column]);
  }

  for (unsigned lane = 0; lane < 32; ++lane) {
    MmaRegisters& its = *lanes[lane];
    for (unsigned i = 0; i < 4; ++i) {
      const unsigned row = lane / 4 + i / 2 * 8, column = lane % 4 * 2 + i % 2;
      const auto c_bits = std::bit_cast<std::uint32_t>(its.c[i]);
      if (!a_lines[row].finite || !b_lines[column].finite || !is_finite(c_bits)) {
        its.d[i] = special_sum(its.c[i], a_bits[row], b_bits[column], depth);
        continue;
      }
      // Of a tile that is larger than its problem most is zeros. The sum is no negative zero either.
      if (a_lines[row].zero || b_lines[column].zero) {
        its.d[i] = its.c[i] + 0.0f;
        continue;
      }
      Addend all[9];
      all[depth] = unpack(c_bits, 0);
      all[depth].value *= 1 << (kKeptPlaces - kFloatPlaces);
      int top = all[depth].top;
      for (unsigned k = 0; k < depth; ++k) {
        const Addend &x = a[row][k], &y = b[column][k];
        all[k] = {x.value * y.value * (1 << (kKeptPlaces - kProductPlaces)), x.top + y.top};
        top = std::max(top, all[k].top);
      }
      std::int32_t sum = 0;  // less than 9 * 2^27
      for (unsigned k = 0; k <= depth; ++k) {
        const int shift = std::min(top - all[k].top, 31);
        const std::int32_t part = std::abs(all[k].value) >> shift;
        sum += all[k].value < 0 ? -part : part;
      }
      its.d[i] = pack(sum, top);
    }
  }
}

void deal_matrices(unsigned matrices, LoadedMatrices* const lanes[32]) {
  for (unsigned lane = 0; lane < 32; ++lane) {
    for (unsigned i = 0; i < matrices; ++i) {
      lanes[lane]->its[i] = lanes[8 * i + lane / 4]->row[lane % 4];
    }
  }
}

}  // namespace simt
