#include "common/peers/cublas.hpp"

#include <cstdlib>
#include <utility>

#include "common/peers/libraries.hpp"

namespace halo::peers {

namespace {

// What cuBLAS recommends for Hopper, and more than it does for others. A workspace of its own it
// would allocate again in each graph that a call is captured into.
constexpr std::size_t kWorkspace = std::size_t{32} << 20;

constexpr float kOne = 1.0f;
constexpr float kZero = 0.0f;

// cuBLAS has no plans, but what it does at the first call of a shape (loading kernels) must not be
// captured.
struct Opened {};

}  // namespace

std::string cublas_version() {
  int major = 0;
  int minor = 0;
  int patch = 0;
  cublasGetProperty(MAJOR_VERSION, &major);
  cublasGetProperty(MINOR_VERSION, &minor);
  cublasGetProperty(PATCH_LEVEL, &patch);
  return std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(patch);
}

int code_of(cublasStatus_t status) {
  if (status == CUBLAS_STATUS_SUCCESS) return cudaSuccess;
  // An error of a kernel before, if there is one, is nearer to the cause.
  if (const cudaError_t error = cudaGetLastError(); error != cudaSuccess) return error;
  return status == CUBLAS_STATUS_ALLOC_FAILED ? cudaErrorMemoryAllocation : cudaErrorUnknown;
}

CublasHandle::~CublasHandle() {
  if (handle_ != nullptr && context_ == context_number()) cublasDestroy(handle_);
}

// The handle of a context that is gone is lost with it.
int CublasHandle::open() {
  const std::uint64_t context = context_number();
  if (handle_ != nullptr && context_ == context) return cudaSuccess;
  // Read by the library when it starts: no TF32, whatever a default says.
  setenv("NVIDIA_TF32_OVERRIDE", "0", 1);
  handle_ = nullptr;
  if (const cudaError_t error = workspace_.allocate(kWorkspace); error != cudaSuccess) return error;
  cublasHandle_t handle = nullptr;
  cublasMath_t math = CUBLAS_TF32_TENSOR_OP_MATH;
  cublasStatus_t status = cublasCreate(&handle);
  const auto then = [&status](auto&& step) {
    if (status == CUBLAS_STATUS_SUCCESS) status = step();
  };
  // In this order: to set the stream takes the workspace away.
  then([&] { return cublasSetStream(handle, cudaStreamPerThread); });
  then([&] { return cublasSetWorkspace(handle, workspace_.data(), kWorkspace); });
  then([&] { return cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_HOST); });
  then([&] { return cublasSetMathMode(handle, CUBLAS_DEFAULT_MATH); });
  then([&] { return cublasGetMathMode(handle, &math); });
  problem_.clear();
  if (status != CUBLAS_STATUS_SUCCESS) {
    problem_ = std::string("cuBLAS could not be started: ") + cublasGetStatusString(status);
  } else if (math != CUBLAS_DEFAULT_MATH) {
    problem_ = "cuBLAS did not take CUBLAS_DEFAULT_MATH: it would not be true fp32";
  }
  if (!problem_.empty()) {
    if (handle != nullptr) cublasDestroy(handle);
    cudaGetLastError();
    return cudaErrorNotSupported;
  }
  handle_ = handle;
  context_ = context;
  return cudaSuccess;
}

std::shared_ptr<CublasHandle> shared_cublas() {
  static std::weak_ptr<CublasHandle> shared;
  std::shared_ptr<CublasHandle> handle = shared.lock();
  if (handle == nullptr) shared = handle = std::make_shared<CublasHandle>();
  return handle;
}

namespace {

// A peer that is one call of cuBLAS.
template <class Key>
struct CublasPeer {
  template <class Call>
  int launch(const Key& key, const Call& call) {
    Opened* opened = nullptr;
    const auto make = [this](Opened&) { return handle->open(); };
    if (const int code = seen.find(key, make, opened); code != cudaSuccess) return code;
    return code_of(call(handle->get()));
  }
  std::string detail(const std::string& what) const {
    if (!handle->problem().empty()) return handle->problem();
    return "cuBLAS " + cublas_version() + what;
  }

  std::shared_ptr<CublasHandle> handle = shared_cublas();
  LastPlan<Key, Opened> seen;
};

}  // namespace

// cuBLAS writes matrices column by column: [rows][columns] as we write it is to it a matrix of
// `columns` x `rows`, whose columns are `columns` cells apart.
void use_cublas(TransformVariant& variant) {
  const auto peer = std::make_shared<CublasPeer<conv::Transform>>();
  variant.launch = [peer](const TransformCall& call) {
    const conv::Images& images = call.problem.images();
    const int N = images.N();
    const auto cells = static_cast<int>(images.size() / N);
    const bool from_nchw = call.problem.from() == conv::Layout::nchw;
    const int rows = from_nchw ? N : cells;  // of the input, [rows][columns]
    const int columns = from_nchw ? cells : N;
    return peer->launch(call.problem, [&](cublasHandle_t handle) {
      // With beta = 0 the second matrix is not read.
      return cublasSgeam(handle, CUBLAS_OP_T, CUBLAS_OP_N, rows, columns, &kOne, call.input,
                         columns, &kZero, call.output, rows, call.output, rows);
    });
  };
  variant.version = "cuBLAS " + cublas_version();
  variant.detail = [peer](const conv::Transform&) { return peer->detail(""); };
}

void use_cublas(Conv2dVariant& variant) {
  const auto peer = std::make_shared<CublasPeer<conv::ConvLayer>>();
  const conv::Layout layout = variant.layout;
  variant.launch = [peer, layout](const Conv2dCall& call) {
    const int N = call.layer.N();
    const int K = call.layer.K();
    const auto cells = static_cast<int>(call.layer.products_per_output());
    return peer->launch(call.layer, [&](cublasHandle_t handle) {
      if (layout == conv::Layout::nchw) {
        // output [N][K] = input [N][cells] times the transposed of filters [K][cells].
        return cublasSgemm(handle, CUBLAS_OP_T, CUBLAS_OP_N, K, N, cells, &kOne, call.filters,
                           cells, call.input, cells, &kZero, call.output, K);
      }
      // output [K][N] = filters [K][cells] times input [cells][N].
      return cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, N, K, cells, &kOne, call.input, N,
                         call.filters, cells, &kZero, call.output, N);
    });
  };
  variant.version = "cuBLAS " + cublas_version();
  variant.detail = [peer](const conv::ConvLayer&) {
    return peer->detail(", CUBLAS_DEFAULT_MATH, float without TF32");
  };
}

}  // namespace halo::peers
