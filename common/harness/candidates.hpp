// What the candidates of all families have in common. Private to the harness.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "common/harness/backend.hpp"
#include "common/harness/verify.hpp"
#include "common/report/rows.hpp"
#include "common/report/terminal.hpp"

namespace halo {

// Sets of arrays that calls of so many bytes must use in turn so that each finds its arrays gone from
// the cache; see Candidate::cold_calls.
int cold_sets(Backend& backend, std::int64_t bytes_of_a_call);

// Sets of one array, each aligned as the first.
class Sets {
 public:
  Sets(Backend& backend, const Array& first, int count);
  float* set(int index) const { return cells_.data() + index * stride_; }
  void write(const KeptArray& kept, int index);

 private:
  std::int64_t stride_;
  Array cells_;
};

// A field of a problem that is there both ways: 2, or "2x1" where they differ.
Value down_and_across(int down, int across);

// Empty, or why the simulator is not asked for so much work, counted in `units`.
std::string too_large_for_simulator(std::int64_t work, const std::string& units = "products");

// Empty, or why the memory of this machine or of its GPU does not hold a problem that needs so many
// bytes there. `what` names it: "length 1,000".
std::string too_large_for_memory(const std::string& what, std::int64_t host_bytes,
                                 std::int64_t device_bytes, Backend& backend);

// The check of a candidate: its trials (empty: none), then its own problem, unless `reason` says why
// it does not run that; the row says what was left out, and why.
void check_candidate(Row& row, Progress& progress, const std::string& reason,
                     const std::function<void()>& trials, const std::function<void()>& problem);

}  // namespace halo
