// cuBLAS's matrix product as a fully connected layer, in both layouts.
#include <cublas_v2.h>
#include <cuda_runtime.h>

#include <memory>
#include <string>

#include "common/peers/cublas.hpp"
#include "common/peers/libraries.hpp"

namespace halo::peers {

namespace {

// There is no plan. But what cuBLAS does at the first call of a shape (loading kernels) must not be
// captured.
struct Opened {};

class SgemmPeer {
 public:
  explicit SgemmPeer(conv::Layout layout) : layout_(layout) {}

  // Matrices are written column by column, as in cublas_geam.cpp.
  int launch(const Conv2dCall& call) {
    Opened* opened = nullptr;
    const auto open = [this](Opened&) { return cublas_->open(); };
    if (const int code = opened_.find(call.layer, open, opened); code != cudaSuccess) return code;
    const float one = 1.0f;
    const float zero = 0.0f;
    const int N = call.layer.N();
    const int K = call.layer.K();
    const auto cells = static_cast<int>(call.layer.products_per_output());
    if (layout_ == conv::Layout::nchw) {
      // output [N][K] = input [N][cells] times the transposed of filters [K][cells].
      return code_of(cublasSgemm(cublas_->get(), CUBLAS_OP_T, CUBLAS_OP_N, K, N, cells, &one,
                                 call.filters, cells, call.input, cells, &zero, call.output, K));
    }
    // output [K][N] = filters [K][cells] times input [cells][N].
    return code_of(cublasSgemm(cublas_->get(), CUBLAS_OP_N, CUBLAS_OP_N, N, K, cells, &one,
                               call.input, N, call.filters, cells, &zero, call.output, N));
  }

  std::string detail(const conv::ConvLayer& layer) const {
    if (!cublas_->problem().empty()) return cublas_->problem();
    const std::string library = "cuBLAS " + cublas_version();
    return opened_.last(layer) == nullptr ? library
                                          : library + ", CUBLAS_DEFAULT_MATH, float without TF32";
  }

 private:
  conv::Layout layout_;
  std::shared_ptr<CublasHandle> cublas_ = shared_cublas();
  LastPlan<conv::ConvLayer, Opened> opened_;
};

}  // namespace

void use_cublas(Conv2dVariant& variant) {
  const auto peer = std::make_shared<SgemmPeer>(variant.layout);
  variant.launches([peer](const Conv2dCall& call) { return peer->launch(call); });
  variant.version = "cuBLAS " + cublas_version();
  variant.tells([peer](const conv::ConvLayer& layer) { return peer->detail(layer); });
}

}  // namespace halo::peers
