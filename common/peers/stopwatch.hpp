// Times calls of a library, to choose among its ways to compute the same. Private to the peers; what
// was chosen is then timed by the harness.
#pragma once

#include <cuda_runtime.h>

#include <functional>

namespace halo::peers {

/// All times are of calls on the thread's default stream, in milliseconds; negative, with the error in
/// `code`, if a call failed. A call returns a CUDA error code.
class Stopwatch {
 public:
  Stopwatch();
  ~Stopwatch();
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

  /// One call by the host's clock, its start and its end included: for a first look.
  double once(const std::function<int()>& call, cudaError_t& code);

  /// One of several serial calls in a CUDA graph, as the harness times them: a short kernel is over
  /// sooner than the host starts the next. (One by one if they can't be captured.) `expected` is what
  /// once said.
  double time(const std::function<int()>& call, double expected, cudaError_t& code);

 private:
  cudaEvent_t start_ = nullptr;
  cudaEvent_t stop_ = nullptr;
};

}  // namespace halo::peers
