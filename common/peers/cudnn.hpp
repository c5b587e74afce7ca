// What the peers of cuDNN share: a layer, the ways in which the library can compute it, and the choice
// among them. Private to the peers.
//
// What keeps the comparison fair to both sides:
// - True fp32. cuDNN's default may round the factors to TF32, with 10 bits behind the point:
//   NVIDIA_TF32_OVERRIDE=0 is set before the library starts, the eight algorithms run with
//   CUDNN_FMA_MATH, which is read back, and of the graph API's plans those with a note of tensor
//   cores, converted inputs or sums of reduced precision do not take part.
// - And proof of it: a way takes part only if its errors are those of fp32. For layers that is a
//   relative root mean square error of at most 2^-16 on random data (true_fp32.hpp), tried on the very
//   layer: so Winograd's method and FFTs take part where they are accurate. For signals, where all
//   others are sums of products, it must be one as well (cudnn_algorithms.cpp). What is left out for
//   that is named, with its time.
// - Each way may have 1 GiB of workspace.
// - Each is timed on the caller's own arrays, as serial calls in a CUDA graph, and the fastest is kept.
//   To be done in a fraction of a second a layer, all are first looked at for a few calls; those
//   beyond 3 times the fastest and 50 microseconds are not timed further. (1.25 times where the fastest
//   takes a millisecond or more: then the host's share, which hides differences, is below that.)
// - Nobody asks for the same bits twice: nondeterministic ways take part on both sides.
// - What a way prepares once for a layer, runtime compilation among it, is not timed. All that it does
//   in a call is: offset tables, changes of layout, transforms of filters.
#pragma once

#include <cuda_runtime.h>
#include <cudnn.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "common/conv/layer.hpp"
#include "common/peers/plan.hpp"

namespace halo::peers {

/// "9.14.0".
std::string cudnn_version();

/// The error code of a launch.
int code_of(cudnnStatus_t status);

/// The arrays of one call, in device memory.
struct LayerArrays {
  const float* input = nullptr;    // [N][C][H][W]
  const float* filters = nullptr;  // [K][C][R][S]
  float* output = nullptr;         // [N][K][P][Q]
};

/// One of cuDNN's ways to compute one layer: alpha 1, beta 0, cross-correlation, float throughout.
class CudnnWay {
 public:
  virtual ~CudnnWay() = default;
  virtual std::string name() const = 0;
  /// What a row should say besides: the mathematics that it computes in.
  virtual std::string mathematics() const = 0;
  /// Once, before run: makes it ready and sets the bytes of workspace that it wants.
  virtual cudnnStatus_t prepare(std::size_t& workspace_bytes) = 0;
  virtual cudnnStatus_t run(const LayerArrays& arrays, void* workspace, std::size_t bytes) = 0;
};

/// All the ways for one layer, the most promising first.
struct CudnnWays {
  std::vector<std::unique_ptr<CudnnWay>> ways;
  std::string considered;  // for the row: what they were taken from. May be empty.
  std::string problem;     // not empty: cuDNN must not take part at all, and why
};
using ListCudnnWays = std::function<CudnnWays(cudnnHandle_t handle, const conv::ConvLayer& layer)>;

/// Tries the ways of one layer for their accuracy: returns a CUDA error code, and says in `fault` why
/// one can't take part. It may write to the output it was made with.
using TryAccuracy =
    std::function<int(CudnnWay& way, void* workspace, std::size_t bytes, std::string& fault)>;
using MakeTryAccuracy = std::function<TryAccuracy(
    cudnnHandle_t handle, const conv::ConvLayer& layer, const LayerArrays& arrays)>;

/// By Fp32Sample, on the layer itself.
TryAccuracy try_true_fp32(cudnnHandle_t handle, const conv::ConvLayer& layer,
                          const LayerArrays& arrays);

/// What was chosen for one layer.
struct CudnnChoice {
  std::unique_ptr<CudnnWay> way;  // null: none
  DeviceMemory workspace;
  std::size_t workspace_bytes = 0;
  int timed = 0;           // ways that took part
  std::string considered;  // "" or "of 36 ..."
  std::string left_out;    // "; left out: ..." for each that would have been faster
};

/// A peer: opens the library, and keeps the choice for the last layer.
class CudnnPeer {
 public:
  /// `none` ends the sentence "cuDNN 9.14.0, none of its ..." of a layer that it does not take.
  CudnnPeer(ListCudnnWays list, MakeTryAccuracy make_try_accuracy, std::string none);
  ~CudnnPeer();
  CudnnPeer(const CudnnPeer&) = delete;
  CudnnPeer& operator=(const CudnnPeer&) = delete;

  /// Returns a CUDA error code; cudaErrorNotSupported, with nothing launched, if there is no way.
  int launch(const conv::ConvLayer& layer, const LayerArrays& arrays);
  /// Of the last layer, or only if that is `layer`.
  std::string detail() const;
  std::string detail(const conv::ConvLayer& layer) const;

 private:
  int open();
  int choose(const conv::ConvLayer& layer, const LayerArrays& arrays, CudnnChoice& choice);
  std::string describe(const CudnnChoice* choice) const;

  ListCudnnWays list_;
  MakeTryAccuracy make_try_accuracy_;
  std::string none_;
  cudnnHandle_t handle_ = nullptr;
  std::uint64_t context_ = 0;
  LastPlan<conv::ConvLayer, CudnnChoice> choices_;
  std::string problem_;  // why cuDNN can't be used at all; else empty
};

}  // namespace halo::peers
