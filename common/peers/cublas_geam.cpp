// cuBLAS's matrix transposition as a layout transform: CHWN is [C*H*W][N], NCHW is [N][C*H*W].
#include <cublas_v2.h>
#include <cuda_runtime.h>

#include <memory>
#include <string>

#include "common/peers/cublas.hpp"
#include "common/peers/libraries.hpp"
#include "common/peers/operation_trial.hpp"

namespace halo::peers {

namespace {

// cuBLAS writes matrices column by column: [rows][columns] as we write it is to it a matrix of
// `columns` x `rows`, whose columns are `columns` cells apart.
int geam(cublasHandle_t handle, const conv::Transform& transform, const float* input,
         float* output) {
  const float one = 1.0f;
  const float zero = 0.0f;
  const int N = transform.images().N();
  const auto cells = static_cast<int>(transform.images().size() / N);
  const bool from_nchw = transform.from() == conv::Layout::nchw;
  const int rows = from_nchw ? N : cells;  // of the input, [rows][columns]
  const int columns = from_nchw ? cells : N;
  // With beta = 0 the second matrix is not read.
  return code_of(cublasSgeam(handle, CUBLAS_OP_T, CUBLAS_OP_N, rows, columns, &one, input, columns,
                             &zero, output, rows, output, rows));
}

class GeamPeer {
 public:
  int launch(const ProblemCall<conv::Transform>& call) {
    const auto make = [&](Verdict& verdict) -> int {
      if (const int code = cublas_->open(); code != cudaSuccess) return code;
      const conv::Transform trial = trial_of(call.problem);
      const auto try_it = [&](const float* input, float* output) {
        return geam(cublas_->get(), trial, input, output);
      };
      return try_operation<conv::Transform>(trial, conv::Layout::nchw, try_it, verdict);
    };
    Verdict* verdict = nullptr;
    if (const int code = verdicts_.find(call.problem, make, verdict); code != cudaSuccess) {
      return code;
    }
    if (!verdict->fault.empty()) return cudaErrorNotSupported;
    return geam(cublas_->get(), call.problem, call.input, call.output);
  }

  std::string detail(const conv::Transform& transform) const {
    if (!cublas_->problem().empty()) return cublas_->problem();
    const std::string library = "cuBLAS " + cublas_version();
    const Verdict* const verdict = verdicts_.last(transform);
    if (verdict == nullptr) return library;
    if (!verdict->fault.empty()) return library + " computes something else: " + verdict->fault;
    if (verdict->differs.empty()) return library + ", float";
    return library + ", float; judged on ordinary numbers only: " + verdict->differs;
  }

  std::string differs(const conv::Transform& transform) const {
    const Verdict* const verdict = verdicts_.last(transform);
    return verdict == nullptr ? "" : verdict->differs;
  }

 private:
  std::shared_ptr<CublasHandle> cublas_ = shared_cublas();
  LastPlan<conv::Transform, Verdict> verdicts_;
};

}  // namespace

void use_cublas(TransformVariant& variant) {
  const auto peer = std::make_shared<GeamPeer>();
  variant.launches([peer](const ProblemCall<conv::Transform>& call) { return peer->launch(call); });
  variant.version = "cuBLAS " + cublas_version();
  variant.tells([peer](const conv::Transform& transform) { return peer->detail(transform); });
  variant.also([peer](const conv::Transform& transform, auto& made) {
    made.differs = [peer, transform] { return peer->differs(transform); };
  });
}

}  // namespace halo::peers
