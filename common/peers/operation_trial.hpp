// Whether a library computes what a transform, a pooling layer or a softmax is: tried on a small problem
// before it takes part. Private to the peers.
//
// What it does at the edges of float (-inf, NaN, subnormal numbers) most libraries do not document. One
// that differs there, and only there, is still worth its time on ordinary numbers: it takes part, and
// its row says so (`differs` of common/harness/core/variant.hpp).
#pragma once

#include <functional>
#include <string>

#include "common/harness/families/pooling.hpp"
#include "common/harness/families/softmax.hpp"
#include "common/harness/families/transform.hpp"

namespace halo::peers {

struct Verdict {
  std::string fault;    // not empty: it computes something else, and what
  std::string differs;  // not empty: with inputs at the edges of float only
};

/// A problem that is like the given one and takes milliseconds: the same windows and categories, and as
/// many images as it takes for every kind of input.
conv::Transform trial_of(const conv::Transform& transform);
conv::PoolingLayer trial_of(const conv::PoolingLayer& layer);
conv::Softmax trial_of(const conv::Softmax& softmax);

/// Calls `call(input, output)`, arrays in device memory, with each kind of input of the problem, which
/// trial_of made, and judges what it wrote. Returns a CUDA error code. If the call returns
/// cudaErrorNotSupported there is no verdict: the check of the real output decides then.
template <class Problem>
int try_operation(const Problem& problem, conv::Layout layout,
                  const std::function<int(const float* input, float* output)>& call,
                  Verdict& verdict);

}  // namespace halo::peers
