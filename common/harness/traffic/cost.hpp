// What one call of a variant costs, all its kernels together: predicted (tally.hpp), or counted.
#pragma once

#include <cstdint>
#include <vector>

#include "common/report/rows.hpp"
#include "common/simt/simt.hpp"

namespace halo {

// What a function of the host did with cells of a type that counts.
struct HostCounts {
  std::uint64_t loads = 0;     // of array cells
  std::uint64_t stores = 0;    // to array cells
  std::uint64_t products = 0;  // multiplications
  std::uint64_t values = 0;    // the most that were held at once outside the arrays
  bool operator==(const HostCounts&) const = default;
};

struct Cost : simt::Counters {
  std::vector<LaunchFigures> launches;    // sorted; none that are alike twice
  std::uint64_t fp64_operations = 0;      // in double precision, conversions too
  std::uint64_t tensor_instructions = 0;  // of warps
  std::uint64_t unfreed_bytes = 0;        // allocated by the call and not freed
  // Nobody predicts these.
  std::uint64_t copied_bytes = 0;  // by the call, with cudaMemcpy and its like
  simt::OtherCounts other;
  HostCounts host;  // of an exercise on the host

  Cost() = default;
  explicit Cost(const simt::Counters& counters) : simt::Counters(counters) {}
  const simt::Counters& counters() const { return *this; }

  /// In any order: when they run costs nothing. None if launches or blocks are 0.
  void add(const LaunchFigures& alike);
  /// The other as well, so often.
  void add(const Cost& other, std::uint64_t times = 1);
  bool operator==(const Cost&) const = default;
};

/// Whether this was counted where that was predicted. A prediction without launches promises counters
/// only.
bool as_predicted(const Cost& counted, const Cost& predicted);

}  // namespace halo
