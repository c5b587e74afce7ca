#include "common/conv/accuracy.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <stdexcept>

namespace halo::conv {

namespace {

constexpr std::size_t kWorstKept = 5;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

bool is_worse(const Failure& a, const Failure& b) {
  if (a.share != b.share) return a.share > b.share;
  return a.index < b.index;
}

// ", 1.04 times the bound", where that says anything.
std::string times_the_bound(double share) {
  constexpr double kMostTold = 1000;
  if (share < 1.01) return ", just over it";
  char text[40] = "";
  if (share < kMostTold) std::snprintf(text, sizeof text, ", %.3g times it", share);
  return text;
}

std::string describe(const Failure& failure) {
  char text[240];
  const auto index = static_cast<long long>(failure.index);
  const double found = failure.found;
  switch (failure.fault) {
    case Fault::missing:
      std::snprintf(text, sizeof text, "output[%lld]: never written, expected %.9g", index,
                    failure.expected);
      break;
    case Fault::stray:
      std::snprintf(text, sizeof text,
                    "output[%lld]: written (%.9g), although it must be left alone", index, found);
      break;
    case Fault::wrong:
      if (failure.bound == 0) {
        std::snprintf(text, sizeof text, "output[%lld]: found %.9g, expected exactly %.9g", index,
                      found, failure.expected);
      } else {
        std::snprintf(text, sizeof text,
                      "output[%lld]: found %.9g, expected %.9g, off by %.3g, bound %.3g%s", index,
                      found, failure.expected, std::fabs(found - failure.expected), failure.bound,
                      times_the_bound(failure.share).c_str());
      }
      break;
  }
  return text;
}

}  // namespace

double gamma(std::int64_t terms) {
  if (terms < 0 || terms >= (std::int64_t{1} << 24)) {
    throw std::invalid_argument("gamma: the number of terms must be in [0, 2^24), got " +
                                std::to_string(terms));
  }
  const double lu = static_cast<double>(terms) * kUnitRoundoff;
  return lu / (1 - lu);
}

double error_bound(std::int64_t terms, double scale) {
  if (scale == 0) return 0;
  return gamma(terms) * scale + static_cast<double>(terms) * 0x1p-150;
}

double transform_error(double largest_input, double filter_sum) {
  constexpr double kGrowth = 860;
  return kGrowth * kUnitRoundoff * largest_input * filter_sum;
}

namespace {

constexpr double kTf32 = 0x1p-10;

double products_bound(double lost, std::int64_t roundings, double scale) {
  if (scale == 0) return 0;
  constexpr double kGrown = (1 + kTf32) * (1 + kTf32);
  return (lost + gamma(roundings) * kGrown) * scale + static_cast<double>(roundings) * 0x1p-150;
}

}  // namespace

double transform_split_error(double largest_input, double filter_sum) {
  return 10 * kTf32 * kTf32 * largest_input * filter_sum;
}

double tf32_bound(std::int64_t terms, double scale) {
  return products_bound(2 * kTf32 + kTf32 * kTf32, 2 * terms, scale);
}

double tf32_split_bound(std::int64_t terms, double scale) {
  return products_bound(3 * kTf32 * kTf32 * (1 + kTf32) * (1 + kTf32), 6 * terms, scale);
}

float poison() { return std::bit_cast<float>(kPoisonBits); }

float unset() { return std::bit_cast<float>(kUnsetBits); }

bool is_poison(float value) { return std::bit_cast<std::uint32_t>(value) == kPoisonBits; }

void Comparison::judge(std::int64_t index, float found, double expected, double bound) {
  ++compared;
  const double error = std::fabs(static_cast<double>(found) - expected);
  if (error <= bound) {
    note(index, bound > 0 ? error / bound : 0);
    return;
  }
  // Here too if the error is NaN.
  const double share = error > bound ? error / bound : kInfinity;
  const Fault fault = is_poison(found) ? Fault::missing : Fault::wrong;
  record({index, fault, found, expected, bound, share});
}

void Comparison::judge_run(std::int64_t first, std::span<const float> found, const double* expected,
                           const double* bound) {
  // An error that is less than worst_share of its bound changes nothing but the count: to see that
  // this is so for a whole run takes no division and no branch. The factor is for the rounding of
  // the product. (Where worst_share is 0 the errors are as large, and the lower index counts.)
  const double share = std::min(worst_share, 1.0) * (1 - 0x1p-50);
  int unremarkable = 0;
  for (std::size_t k = 0; k < found.size(); ++k) {
    unremarkable += std::fabs(static_cast<double>(found[k]) - expected[k]) <= share * bound[k];
  }
  const bool is_lower = worst_index < 0 || (worst_share == 0 && first < worst_index);
  if (!is_lower && unremarkable == static_cast<int>(found.size())) {
    compared += unremarkable;
    return;
  }
  for (std::size_t k = 0; k < found.size(); ++k) {
    judge(first + static_cast<std::int64_t>(k), found[k], expected[k], bound[k]);
  }
}

void Comparison::judge_bits_run(std::int64_t first, std::span<const float> found,
                                const float* expected) {
  if (found.empty()) return;
  if (std::memcmp(found.data(), expected, found.size_bytes()) == 0) {
    compared += static_cast<std::int64_t>(found.size());
    note(first, 0);
    return;
  }
  for (std::size_t k = 0; k < found.size(); ++k) {
    const std::int64_t index = first + static_cast<std::int64_t>(k);
    ++compared;
    if (std::bit_cast<std::uint32_t>(found[k]) == std::bit_cast<std::uint32_t>(expected[k])) {
      note(index, 0);
    } else {
      record({index, is_poison(found[k]) ? Fault::missing : Fault::wrong, found[k], expected[k], 0,
              kInfinity});
    }
  }
}

void Comparison::judge_equal_run(std::int64_t first, std::span<const float> found,
                                 const float* expected) {
  if (found.empty()) return;
  int equal = 0;
  for (std::size_t k = 0; k < found.size(); ++k) equal += found[k] == expected[k];
  if (equal == static_cast<int>(found.size())) {
    compared += equal;
    note(first, 0);
    return;
  }
  for (std::size_t k = 0; k < found.size(); ++k) {
    const std::int64_t index = first + static_cast<std::int64_t>(k);
    const bool is_missing = is_poison(found[k]);
    const bool both_nan = std::isnan(found[k]) && std::isnan(expected[k]);
    ++compared;
    if (found[k] == expected[k] || (both_nan && !is_missing)) {
      note(index, 0);
    } else {
      record(
          {index, is_missing ? Fault::missing : Fault::wrong, found[k], expected[k], 0, kInfinity});
    }
  }
}

void Comparison::judge_untouched(std::int64_t index, float found) {
  ++compared;
  if (!is_poison(found)) record({index, Fault::stray, found, 0, 0, kInfinity});
}

// The worst so far; of equals the one that comes first in the array.
void Comparison::note(std::int64_t index, double share) {
  if (worst_index >= 0 && share < worst_share) return;
  if (worst_index >= 0 && share == worst_share && index > worst_index) return;
  worst_share = share;
  worst_index = index;
}

void Comparison::record(const Failure& failure) {
  ++failed;
  if (failure.fault == Fault::missing) ++missing;
  if (failure.fault == Fault::stray) ++stray;
  if (first_failure < 0 || failure.index < first_failure) first_failure = failure.index;
  note(failure.index, failure.share);
  const auto place = std::lower_bound(worst.begin(), worst.end(), failure, is_worse);
  if (worst.size() == kWorstKept) {
    if (place == worst.end()) return;
    worst.pop_back();
  }
  worst.insert(std::lower_bound(worst.begin(), worst.end(), failure, is_worse), failure);
}

void Comparison::move_by(std::int64_t cells) {
  if (worst_index >= 0) worst_index += cells;
  if (first_failure >= 0) first_failure += cells;
  for (Failure& failure : worst) failure.index += cells;
}

void Comparison::merge(const Comparison& other) {
  compared += other.compared;
  failed += other.failed;
  missing += other.missing;
  stray += other.stray;
  if (other.first_failure >= 0 && (first_failure < 0 || other.first_failure < first_failure)) {
    first_failure = other.first_failure;
  }
  if (other.worst_index >= 0) note(other.worst_index, other.worst_share);
  worst.insert(worst.end(), other.worst.begin(), other.worst.end());
  std::sort(worst.begin(), worst.end(), is_worse);
  if (worst.size() > kWorstKept) worst.resize(kWorstKept);
}

std::string Comparison::describe() const {
  if (compared == 0) return "FAIL: no output was compared";
  char text[200];
  if (failed == 0) {
    std::snprintf(text, sizeof text, "pass: %lld outputs, worst error %.3g of its bound",
                  static_cast<long long>(compared), worst_share);
    return text;
  }
  std::snprintf(text, sizeof text, "FAIL: %lld of %lld outputs are wrong",
                static_cast<long long>(failed), static_cast<long long>(compared));
  std::string result = text;
  if (missing > 0) result += ", " + std::to_string(missing) + " never written";
  if (stray > 0) result += ", " + std::to_string(stray) + " written that must be left alone";
  // A line that says enough where only one is told.
  result += "; first at index " + std::to_string(first_failure) + "\n  The worst:";
  for (const Failure& failure : worst) result += "\n  " + halo::conv::describe(failure);
  return result;
}

}  // namespace halo::conv
