// What the peers of cuDNN share: the opened library and its descriptors; for convolution layers, the
// ways in which it can compute one, and the choice among them. Private to the peers.
//
// What keeps the comparison fair to both sides:
// - True fp32. cuDNN's default may round the factors to TF32, with 10 bits behind the point:
//   NVIDIA_TF32_OVERRIDE=0 is set before the library starts (forbid_tf32), the eight algorithms run with
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

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/conv/layer.hpp"
#include "common/peers/plan.hpp"

namespace halo::peers {

/// "9.14.0".
std::string cudnn_version();

/// The error code of a launch.
int code_of(cudnnStatus_t status);

/// The opened library, on the thread's default stream, without TF32.
class CudnnHandle {
 public:
  CudnnHandle() = default;
  ~CudnnHandle();
  CudnnHandle(const CudnnHandle&) = delete;
  CudnnHandle& operator=(const CudnnHandle&) = delete;

  /// Opens it for the CUDA context in use, unless that was done before. Returns a CUDA error code;
  /// cudaErrorNotSupported if cuDNN can't be started: problem() then says why.
  int open();
  cudnnHandle_t get() const { return handle_; }
  /// Empty after an open that succeeded.
  const std::string& problem() const { return problem_; }

 private:
  cudnnHandle_t handle_ = nullptr;
  std::uint64_t context_ = 0;
  std::string problem_;
};

/// One for all peers that live at the same time: to open the library takes time and memory.
std::shared_ptr<CudnnHandle> shared_cudnn();

/// The descriptor of a tensor of floats with four dimensions.
class CudnnTensor {
 public:
  CudnnTensor() = default;
  CudnnTensor(const CudnnTensor&) = delete;
  CudnnTensor& operator=(const CudnnTensor&) = delete;
  ~CudnnTensor() {
    if (tensor_ != nullptr) cudnnDestroyTensorDescriptor(tensor_);
  }

  /// Once only. Sizes and strides, in cells, of the dimensions that cuDNN calls n, c, h and w.
  cudnnStatus_t make(const std::array<int, 4>& sizes, const std::array<int, 4>& strides);
  /// With w in neighbouring cells, then h, c and n.
  cudnnStatus_t make(const std::array<int, 4>& sizes);
  cudnnTensorDescriptor_t get() const { return tensor_; }

 private:
  cudnnTensorDescriptor_t tensor_ = nullptr;
};

/// The descriptor of ReLU.
class CudnnRelu {
 public:
  CudnnRelu() = default;
  CudnnRelu(const CudnnRelu&) = delete;
  CudnnRelu& operator=(const CudnnRelu&) = delete;
  ~CudnnRelu() {
    if (activation_ != nullptr) cudnnDestroyActivationDescriptor(activation_);
  }

  /// Once only. Without `relu` it is of the identity.
  cudnnStatus_t make(bool relu, cudnnNanPropagation_t nans);
  cudnnActivationDescriptor_t get() const { return activation_; }

 private:
  cudnnActivationDescriptor_t activation_ = nullptr;
};

/// The descriptors of one layer, in NCHW: cross-correlation, in CUDNN_FMA_MATH unless said.
class CudnnLayer {
 public:
  CudnnLayer() = default;
  CudnnLayer(const CudnnLayer&) = delete;
  CudnnLayer& operator=(const CudnnLayer&) = delete;
  ~CudnnLayer();

  /// Once only.
  cudnnStatus_t make(const conv::ConvLayer& layer, cudnnMathType_t math = CUDNN_FMA_MATH);
  cudnnTensorDescriptor_t input() const { return input_.get(); }
  cudnnFilterDescriptor_t filters() const { return filters_; }
  cudnnConvolutionDescriptor_t convolution() const { return convolution_; }
  cudnnTensorDescriptor_t output() const { return output_.get(); }
  /// Read back from the descriptor that is used.
  cudnnMathType_t math() const;
  cudnnStatus_t workspace(cudnnHandle_t handle, cudnnConvolutionFwdAlgo_t algorithm,
                          std::size_t& bytes) const;

 private:
  CudnnTensor input_;
  cudnnFilterDescriptor_t filters_ = nullptr;
  cudnnConvolutionDescriptor_t convolution_ = nullptr;
  CudnnTensor output_;
};

/// "IMPLICIT_GEMM".
std::string name_of(cudnnConvolutionFwdAlgo_t algorithm);
/// "CUDNN_FMA_MATH".
std::string name_of(cudnnMathType_t math);

/// The arrays of one call, in device memory.
struct LayerArrays {
  const float* input = nullptr;    // [N][C][H][W]
  const float* filters = nullptr;  // [K][C][R][S]
  float* output = nullptr;         // [N][K][P][Q]
  // For a way that adds a bias to each channel of the output, and ReLU: network.hpp.
  const float* bias = nullptr;  // [K]
  bool relu = false;
};

/// One of cuDNN's ways to compute one layer: alpha 1, beta 0, cross-correlation, float throughout.
/// Which of the arrays it reads is the same for all ways of a peer.
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
  int most = 10;           // of the ways, so many are made ready
};
using ListCudnnWays = std::function<CudnnWays(cudnnHandle_t handle, const conv::ConvLayer& layer)>;

/// The eight forward algorithms (cudnn_algorithms.cpp), and the plans of the graph API
/// (cudnn_graph.cpp).
CudnnWays list_algorithms(cudnnHandle_t handle, const conv::ConvLayer& layer);
CudnnWays list_plans(cudnnHandle_t handle, const conv::ConvLayer& layer);

/// The same two for TF32: those of the eight that are sums of products, in CUDNN_DEFAULT_MATH; and the plans
/// that note tensor cores, but no transform, no inputs of a shorter type and no sums in reduced precision.
CudnnWays list_tf32_algorithms(cudnnHandle_t handle, const conv::ConvLayer& layer);
CudnnWays list_tf32_plans(cudnnHandle_t handle, const conv::ConvLayer& layer);

/// Tries the ways of one layer for their accuracy: returns a CUDA error code, and says in `fault` why
/// one can't take part. It may write to the output it was made with.
using TryAccuracy =
    std::function<int(CudnnWay& way, void* workspace, std::size_t bytes, std::string& fault)>;
using MakeTryAccuracy = std::function<TryAccuracy(
    cudnnHandle_t handle, const conv::ConvLayer& layer, const LayerArrays& arrays)>;

/// By Fp32Sample, on the layer itself. Of arrays with a bias, one of zeros takes the place.
TryAccuracy try_true_fp32(cudnnHandle_t handle, const conv::ConvLayer& layer,
                          const LayerArrays& arrays);
/// The same with TF32's error.
TryAccuracy try_tf32(cudnnHandle_t handle, const conv::ConvLayer& layer, const LayerArrays& arrays);

/// What was chosen for one layer.
struct CudnnChoice {
  std::unique_ptr<CudnnWay> way;  // null: none
  DeviceMemory workspace;
  std::size_t workspace_bytes = 0;
  int timed = 0;           // ways that took part
  std::string considered;  // "" or "of 36 ..."
  std::string left_out;    // "; left out: ..." for each that would have been faster
};

/// A peer: opens the library, and keeps the choice for the last layer; also when the device was begun anew in between:
/// then nothing else is made ready, and none of the others' kernels are loaded.
class CudnnPeer {
 public:
  /// `none` ends the sentence "cuDNN 9.14.0, none of its ..." of a layer that it does not take.
  CudnnPeer(ListCudnnWays list, MakeTryAccuracy make_try_accuracy, std::string none);
  CudnnPeer(const CudnnPeer&) = delete;
  CudnnPeer& operator=(const CudnnPeer&) = delete;

  /// Returns a CUDA error code; cudaErrorNotSupported, with nothing launched, if there is no way.
  int launch(const conv::ConvLayer& layer, const LayerArrays& arrays);
  /// Of the last layer, or only if that is `layer`.
  std::string detail() const;
  std::string detail(const conv::ConvLayer& layer) const;

 private:
  int choose(const conv::ConvLayer& layer, const LayerArrays& arrays, CudnnChoice& choice);
  int choose_again(CudnnWays& listed, CudnnChoice& choice) const;
  std::string describe(const CudnnChoice* choice) const;

  ListCudnnWays list_;
  MakeTryAccuracy make_try_accuracy_;
  std::string none_;
  std::shared_ptr<CudnnHandle> handle_ = shared_cudnn();
  LastPlan<conv::ConvLayer, CudnnChoice> choices_;
  // What was chosen last, and for what.
  struct Chosen {
    conv::ConvLayer layer;
    std::string way;
    int timed;
    std::string left_out;
  };
  std::optional<Chosen> chosen_;
  std::string problem_;  // why cuDNN can't be used at all; else empty
};

}  // namespace halo::peers
