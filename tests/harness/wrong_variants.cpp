#include "tests/harness/wrong_variants.hpp"

#include <bit>
#include <cfloat>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <numeric>

namespace halo::test {

namespace {

// The cell that a tap meets; zero beyond the ends.
float cell(const Conv1dCall& c, int k) { return k >= 0 && k < c.length ? c.input[k] : 0.0f; }

// The product of output `i` at tap `j`.
using Product = float (*)(const Conv1dCall&, int i, int j);

float right_product(const Conv1dCall& c, int i, int j) {
  return cell(c, i - c.halo() + j) * c.mask[j];
}

float sum_of(Product product, const Conv1dCall& c, int i) {
  float sum = 0;
  for (int j = 0; j < c.mask_width; ++j) sum += product(c, i, j);
  return sum;
}

float correct(const Conv1dCall& c, int i) { return sum_of(right_product, c, i); }

Conv1dVariant whole(const std::string& name, const std::function<void(const Conv1dCall&)>& work) {
  Conv1dVariant variant;
  variant.name = name;
  variant.source = "tests/harness/wrong_variants.cpp";
  variant.multiplies_ghosts = true;  // see cell
  variant.launches([work](const Conv1dCall& c) {
    work(c);
    return 0;
  });
  return variant;
}

// A variant from what it does to one output.
Conv1dVariant each(const std::string& name,
                   const std::function<float(const Conv1dCall&, int)>& value) {
  return whole(name, [value](const Conv1dCall& c) {
    for (int i = c.first; i < c.last; ++i) c.output[i] = value(c, i);
  });
}

// A variant from what it adds up.
Conv1dVariant sums(const std::string& name, Product product) {
  return each(name, [product](const Conv1dCall& c, int i) { return sum_of(product, c, i); });
}

void write_all(const Conv1dCall& c) {
  for (int i = c.first; i < c.last; ++i) c.output[i] = correct(c, i);
}

// Rounded to the 8 significant bits of bfloat16.
float coarse(float value) {
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(value) & 0xFFFF0000u);
}

}  // namespace

Conv1dVariant plain_variant() { return each("plain", correct); }

std::vector<Conv1dVariant> wrong_variants() {
  std::vector<Conv1dVariant> all;

  // ---- Wrong with NaN or infinity only ----
  all.push_back(each("swallows a NaN", [](const Conv1dCall& c, int i) {
    const float sum = correct(c, i);
    return std::isnan(sum) ? 0.0f : sum;
  }));
  all.push_back(each("infinities are the largest number", [](const Conv1dCall& c, int i) {
    const float sum = correct(c, i);
    return std::isinf(sum) ? std::copysign(FLT_MAX, sum) : sum;
  }));
  Conv1dVariant silent = plain_variant();
  silent.name = "multiplies ghost cells and does not say so";
  silent.multiplies_ghosts = false;
  all.push_back(silent);

  // ---- Wrong arithmetic ----
  all.push_back(sums("off by one", [](const Conv1dCall& c, int i, int j) {
    return cell(c, i - c.halo() + j + 1) * c.mask[j];
  }));
  all.push_back(sums("flipped mask", [](const Conv1dCall& c, int i, int j) {
    return cell(c, i - c.halo() + j) * c.mask[c.mask_width - 1 - j];
  }));
  all.push_back(sums("last tap forgotten", [](const Conv1dCall& c, int i, int j) {
    return j == c.mask_width - 1 ? 0.0f : right_product(c, i, j);
  }));
  all.push_back(each("middle tap counted twice", [](const Conv1dCall& c, int i) {
    return correct(c, i) + c.input[i] * c.mask[c.halo()];
  }));
  all.push_back(sums("ends wrap round", [](const Conv1dCall& c, int i, int j) {
    const int k = ((i - c.halo() + j) % c.length + c.length) % c.length;
    return c.input[k] * c.mask[j];
  }));
  all.push_back(sums("ends repeat the last cell", [](const Conv1dCall& c, int i, int j) {
    const int k = std::min(std::max(i - c.halo() + j, 0), c.length - 1);
    return c.input[k] * c.mask[j];
  }));
  all.push_back(sums("halo of ceil(w/2)", [](const Conv1dCall& c, int i, int j) {
    return cell(c, i - (c.mask_width + 1) / 2 + j) * c.mask[j];
  }));
  all.push_back(sums("cells cut to int", [](const Conv1dCall& c, int i, int j) {
    return static_cast<float>(static_cast<int>(cell(c, i - c.halo() + j))) * c.mask[j];
  }));
  all.push_back(sums("cells in bfloat16", [](const Conv1dCall& c, int i, int j) {
    return coarse(cell(c, i - c.halo() + j)) * c.mask[j];
  }));
  all.push_back(each("a part in 100,000 too large",
                     [](const Conv1dCall& c, int i) { return correct(c, i) * 1.00001f; }));
  all.push_back(each("adds to what was there",
                     [](const Conv1dCall& c, int i) { return c.output[i] + correct(c, i); }));

  // ---- NaN and infinity ----
  all.push_back(each(
      "all NaN", [](const Conv1dCall&, int) { return std::numeric_limits<float>::quiet_NaN(); }));
  all.push_back(each("one NaN in a thousand", [](const Conv1dCall& c, int i) {
    return i % 1000 == 999 ? std::numeric_limits<float>::quiet_NaN() : correct(c, i);
  }));
  all.push_back(each("infinite at the end", [](const Conv1dCall& c, int i) {
    return i == 4098 ? std::numeric_limits<float>::infinity() : correct(c, i);
  }));

  // ---- Outputs not written, or too many ----
  all.push_back(whole("writes nothing", [](const Conv1dCall&) {}));
  all.push_back(whole("tail of a partial block not written", [](const Conv1dCall& c) {
    const int full = c.length / c.threads * c.threads;
    for (int i = c.first; i < std::min(c.last, full); ++i) c.output[i] = correct(c, i);
  }));
  all.push_back(whole("last output not written", [](const Conv1dCall& c) {
    for (int i = c.first; i < c.last - 1; ++i) c.output[i] = correct(c, i);
  }));
  all.push_back(whole("leaves the borders alone", [](const Conv1dCall& c) {
    for (int i = c.halo(); i < c.length - c.halo(); ++i) c.output[i] = correct(c, i);
  }));
  all.push_back(whole("writes the borders it should leave alone", [](const Conv1dCall& c) {
    for (int i = 0; i < c.length; ++i) c.output[i] = correct(c, i);
  }));
  all.push_back(whole("writes one past the end", [](const Conv1dCall& c) {
    write_all(c);
    c.output[c.length] = 0;
  }));
  all.push_back(whole("writes the whole last block", [](const Conv1dCall& c) {
    const int rounded = (c.length + c.threads - 1) / c.threads * c.threads;
    write_all(c);
    for (int i = c.length; i < rounded; ++i) c.output[i] = 0;
  }));
  all.push_back(whole("writes one before the start", [](const Conv1dCall& c) {
    write_all(c);
    c.output[-1] = 0;
  }));
  all.push_back(whole("writes past the end of the input", [](const Conv1dCall& c) {
    write_all(c);
    const_cast<float*>(c.input)[c.length] = 0;
  }));

  // ---- Inputs changed ----
  all.push_back(whole("clears its first input", [](const Conv1dCall& c) {
    write_all(c);
    const_cast<float*>(c.input)[0] = 0;
  }));
  all.push_back(whole("changes its mask", [](const Conv1dCall& c) {
    write_all(c);
    const_cast<float*>(c.mask)[0] += 1;
  }));

  // ---- Right only sometimes ----
  all.push_back(each("wrong for blocks of 33", [](const Conv1dCall& c, int i) {
    return correct(c, i) + (c.threads == 33 ? 1.0f : 0.0f);
  }));
  all.push_back(each("wrong past the first turn of 1,024 threads",
                     [](const Conv1dCall& c, int i) { return i == 1024 ? 0.5f : correct(c, i); }));
  all.push_back(sums("loads the halo in two steps only", [](const Conv1dCall& c, int i, int j) {
    // The tile holds 2 * threads cells; a wider mask reads zeros.
    const int tile_start = i / c.threads * c.threads - c.halo();
    const int k = i - c.halo() + j;
    return k - tile_start < 2 * c.threads ? right_product(c, i, j) : 0.0f;
  }));
  all.push_back(sums("mask of 15 taps at most", [](const Conv1dCall& c, int i, int j) {
    return j < 15 ? right_product(c, i, j) : 0.0f;
  }));
  all.push_back(sums("missing barrier: the neighbour's warp is not there yet",
                     [](const Conv1dCall& c, int i, int j) {
                       return (i - c.halo() + j) / 32 == i / 32 ? right_product(c, i, j) : 0.0f;
                     }));

  // ---- Something of an earlier call ----
  {
    const auto kept = std::make_shared<std::vector<float>>();
    all.push_back(whole("returns the result of the call before", [kept](const Conv1dCall& c) {
      std::vector<float> now(c.length);
      for (int i = c.first; i < c.last; ++i) now[i] = correct(c, i);
      if (static_cast<int>(kept->size()) != c.length) *kept = now;
      std::copy(kept->begin() + c.first, kept->begin() + c.last, c.output + c.first);
      *kept = now;
    }));
  }
  {
    const auto mask = std::make_shared<std::vector<float>>();
    Conv1dVariant stale = each("keeps the first mask of a width", nullptr);
    stale.also([mask](const Conv1dProblem& problem, auto& made) {
      made.set_up = [mask, width = problem.mask_width](const float* values) {
        if (static_cast<int>(mask->size()) != width) mask->assign(values, values + width);
        return 0;
      };
    });
    stale.launches([mask](const Conv1dCall& c) {
      Conv1dCall changed = c;
      changed.mask = mask->data();
      write_all(changed);
      return 0;
    });
    all.push_back(stale);
  }

  // ---- Errors ----
  Conv1dVariant launch_error = plain_variant();
  launch_error.name = "returns an error";
  launch_error.launches([](const Conv1dCall& c) {
    write_all(c);
    return 9;
  });
  all.push_back(launch_error);
  Conv1dVariant mask_error = plain_variant();
  mask_error.name = "cannot set its mask";
  mask_error.also(
      [](const Conv1dProblem&, auto& made) { made.set_up = [](const float*) { return 13; }; });
  all.push_back(mask_error);
  return all;
}

std::vector<Conv1dVariant> right_variants() {
  std::vector<Conv1dVariant> all = {plain_variant()};
  all.push_back(sums("taps backwards", [](const Conv1dCall& c, int i, int j) {
    return right_product(c, i, c.mask_width - 1 - j);
  }));
  all.push_back(each("fma", [](const Conv1dCall& c, int i) {
    float sum = 0;
    for (int j = 0; j < c.mask_width; ++j) {
      sum = std::fma(cell(c, i - c.halo() + j), c.mask[j], sum);
    }
    return sum;
  }));
  all.push_back(each("pairs of halves", [](const Conv1dCall& c, int i) {
    const std::function<float(int, int)> half = [&](int from, int to) -> float {
      if (to - from == 1) return right_product(c, i, from);
      const int middle = (from + to) / 2;
      return half(from, middle) + half(middle, to);
    };
    return half(0, c.mask_width);
  }));
  all.push_back(each("four sums", [](const Conv1dCall& c, int i) {
    float sums[4] = {};
    for (int j = 0; j < c.mask_width; ++j) sums[j % 4] += right_product(c, i, j);
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
  }));
  all.push_back(each("in double", [](const Conv1dCall& c, int i) {
    double sum = 0;
    for (int j = 0; j < c.mask_width; ++j) {
      sum += static_cast<double>(cell(c, i - c.halo() + j)) * c.mask[j];
    }
    return static_cast<float>(sum);
  }));
  all.push_back(whole("from a padded copy, outputs backwards", [](const Conv1dCall& c) {
    std::vector<float> padded(c.length + 2 * c.halo(), 0.0f);
    std::copy(c.input, c.input + c.length, padded.begin() + c.halo());
    for (int i = c.last; i-- > c.first;) {
      c.output[i] = std::inner_product(c.mask, c.mask + c.mask_width, padded.begin() + i, 0.0f);
    }
  }));
  return all;
}

}  // namespace halo::test
