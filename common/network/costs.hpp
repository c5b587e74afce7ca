// Where the costs of a plan come from: measured on the GPU at hand, or counted from predictions.
#pragma once

#include <memory>
#include <string>

#include "common/harness/backend/backend.hpp"
#include "common/network/plan.hpp"
#include "common/report/terminal.hpp"

namespace halo::network {

class CostSource {
 public:
  virtual ~CostSource() = default;
  virtual std::string unit() const = 0;
  /// One sentence: what a cost is.
  virtual std::string describe() const = 0;
  /// `best`: the cheapest known for the same layer and layout; what is far above need not be exact.
  virtual Price price(const Kernel& kernel, double best) = 0;
  /// Gives back what it holds of the device's memory.
  virtual void release() {}
};

// Counted. A cost is megabytes, of two kinds, from what a kernel is predicted to move: 32 bytes for each
// sector of global memory that it asks for, and 128 / 6 bytes for each pass through shared memory or
// request to constant memory: an SM moves 128 bytes in a cycle there, all SMs of an H200 together about six
// times what its L2 cache gives them. It is a count and not a time: it knows nothing of arithmetic, of
// caches that spare the second reading, of blocks too few to fill a GPU, of what a launch costs. Kernels with over 64 MiB of temporaries are left out.
inline constexpr double kBytesOfSector = 32;
inline constexpr double kBytesOfWavefront = 128.0 / 6;
double counted_bytes(const simt::Counters& counters);
std::unique_ptr<CostSource> counted_costs();

// Measured: microseconds of a call among serial calls, on random data, with arrays that stay where they
// are; the median of 3 rounds of some 2 ms. What takes 10 times as long as the best so far in its first
// call is not called again ("after one call"). Each kernel is measured once on the same problem.
std::unique_ptr<CostSource> measured_costs(Backend& backend);

/// Prices everything that the network could be computed by.
Costs price_network(const Network& network, const MakeCatalogue& make, CostSource& source,
                    Progress& progress);

}  // namespace halo::network
