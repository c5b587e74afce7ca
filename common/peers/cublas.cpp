#include "common/peers/cublas.hpp"

#include "common/peers/true_fp32.hpp"

namespace halo::peers {

namespace {

// What cuBLAS recommends for Hopper, and more than it does for others. A workspace of its own it
// would allocate again in each graph that a call is captured into.
constexpr std::size_t kWorkspace = std::size_t{32} << 20;

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
  // Read by the library when it starts.
  forbid_tf32();
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

}  // namespace halo::peers
