// What the problems of this room need inside: work in parts on several threads, and the complaints
// about dimensions and arrays. Not for use outside this room.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <mutex>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "common/conv/accuracy.hpp"
#include "common/conv/limits.hpp"

namespace halo::conv::internal {

/// Calls work(first, end) for parts of [0, cells), on as many threads as are worth it.
template <class Work>
void in_parts(std::int64_t cells, std::int64_t products_per_cell, Work work) {
  // A thread costs some 20 microseconds to start, and so many products take milliseconds.
  constexpr std::int64_t kProductsPerThread = 1 << 20;
  const std::int64_t cores = std::max(1u, std::thread::hardware_concurrency());
  const std::int64_t most = std::min(cores, std::max<std::int64_t>(cells, 1));
  const std::int64_t parts =
      std::clamp<std::int64_t>(cells * products_per_cell / kProductsPerThread, 1, most);
  std::vector<std::thread> threads;
  for (std::int64_t part = 1; part < parts; ++part) {
    threads.emplace_back(work, cells * part / parts, cells * (part + 1) / parts);
  }
  work(0, cells / parts);
  for (std::thread& thread : threads) thread.join();
}

/// Half-open.
struct Range {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::int64_t size() const { return std::max<std::int64_t>(end - begin, 0); }
};

/// The cells [first, end) of a matrix with rows of `width` cells, block by block of at most
/// most_rows x most_columns: fill(rows, columns) for each block, then run(begin, run_end, at) for each
/// run of neighbours in it that is asked for: they are cell `at` of the block, row by row, and the
/// next ones.
template <class Fill, class Run>
void for_each_block(std::int64_t first, std::int64_t end, std::int64_t width,
                    std::int64_t most_rows, std::int64_t most_columns, Fill fill, Run run) {
  if (first >= end) return;
  const Range all_rows{first / width, (end - 1) / width + 1};
  // A piece of one row needs some of the columns only.
  const Range all_columns =
      all_rows.size() == 1 ? Range{first % width, (end - 1) % width + 1} : Range{0, width};
  for (std::int64_t row = all_rows.begin; row < all_rows.end; row += most_rows) {
    const Range rows{row, std::min(row + most_rows, all_rows.end)};
    for (std::int64_t column = all_columns.begin; column < all_columns.end;
         column += most_columns) {
      const Range columns{column, std::min(column + most_columns, all_columns.end)};
      fill(rows, columns);
      for (std::int64_t i = rows.begin; i < rows.end; ++i) {
        const std::int64_t start = i * width + columns.begin;
        const std::int64_t run_begin = std::max(first, start);
        const std::int64_t run_end = std::min(end, i * width + columns.end);
        if (run_begin >= run_end) continue;
        run(run_begin, run_end, (i - rows.begin) * columns.size() + run_begin - start);
      }
    }
  }
}

/// The verdict on neighbouring outputs, of which judge_part(first, outputs) judges a part: on as many
/// threads as are worth it.
template <class JudgePart>
Comparison judged_in_parts(std::int64_t first, std::span<const float> outputs,
                           std::int64_t products_per_output, JudgePart judge_part) {
  Comparison total;
  std::mutex mutex;
  in_parts(static_cast<std::int64_t>(outputs.size()), products_per_output,
           [&](std::int64_t from, std::int64_t to) {
             const Comparison part =
                 judge_part(first + from, outputs.subspan(static_cast<std::size_t>(from),
                                                          static_cast<std::size_t>(to - from)));
             const std::lock_guard lock(mutex);
             total.merge(part);
           });
  return total;
}

inline constexpr std::int64_t kLargestInt = std::numeric_limits<int>::max();

/// `whose` is "a layer's".
inline void require_at_least(const char* whose, const char* what, std::int64_t found,
                             std::int64_t least) {
  const bool is_small = found < least;
  if (!is_small && found <= kLargestInt) return;
  throw std::invalid_argument(
      std::string(whose) + " " + what + " must be at " + (is_small ? "least " : "most ") +
      std::to_string(is_small ? least : kLargestInt) + ", got " + std::to_string(found));
}

/// The product of numbers from 1 to 2^31 - 1 must be at most kMaxLength.
inline void require_elements(const char* what, const char* letters,
                             std::initializer_list<std::int64_t> factors) {
  std::int64_t product = 1;
  bool fits = true;
  std::string text;
  for (const std::int64_t factor : factors) {
    fits = fits && !__builtin_mul_overflow(product, factor, &product);
    text.append(text.empty() ? "" : " x ").append(std::to_string(factor));
  }
  if (fits && product <= kMaxLength) return;
  throw std::invalid_argument(std::string("the ") + what + " is too large: " + letters + " = " +
                              text + " values, at most " + std::to_string(kMaxLength) +
                              " can be numbered with 32 bits; use a smaller batch or layer");
}

/// `whose` is "the layer"; it has `all` outputs, and these are to be among them.
inline void require_outputs(const char* whose, std::int64_t all, std::int64_t first,
                            std::int64_t count) {
  if (first >= 0 && count <= all && first <= all - count) return;
  throw std::invalid_argument("there are no " + std::to_string(count) + " outputs from output " +
                              std::to_string(first) + " on: " + whose + " has " +
                              std::to_string(all));
}

inline void require_size(const char* what, std::size_t found, std::int64_t wanted) {
  if (found == static_cast<std::size_t>(wanted)) return;
  throw std::invalid_argument(std::string("the ") + what + " has " + std::to_string(found) +
                              " values, the problem needs " + std::to_string(wanted));
}

/// A kind of input: [0, kinds).
inline void require_kind(int kind, int kinds) {
  if (kind >= 0 && kind < kinds) return;
  throw std::invalid_argument("there is no input of kind " + std::to_string(kind) + ": there are " +
                              std::to_string(kinds) + ", from 0 on");
}

/// The largest absolute value; throws at the first value that is not finite.
inline double largest_finite(const char* what, std::span<const float> values) {
  float largest = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    // Not >=: a NaN must not slip through.
    if (!(std::fabs(values[i]) <= std::numeric_limits<float>::max())) {
      throw std::invalid_argument(std::string("the ") + what + " holds " +
                                  (std::isnan(values[i]) ? "NaN" : "infinity") + " at index " +
                                  std::to_string(i) + ": only finite numbers can be convolved");
    }
    largest = std::max(largest, std::fabs(values[i]));
  }
  return largest;
}

}  // namespace halo::conv::internal
