// What the problems of this room need inside: work in parts on several threads, and the complaints
// about arrays. Not for use outside this room.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

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

inline void require_size(const char* what, std::size_t found, std::int64_t wanted) {
  if (found == static_cast<std::size_t>(wanted)) return;
  throw std::invalid_argument(std::string("the ") + what + " has " + std::to_string(found) +
                              " values, the problem needs " + std::to_string(wanted));
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
