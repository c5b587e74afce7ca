// cuDNN as a peer: the signal is an image of one row, (1, 1, 1, N), the mask a filter (1, 1, 1, W),
// padded by the halo; cross-correlation, alpha 1, beta 0.
//
// What keeps the comparison fair to both sides:
// - CUDNN_FMA_MATH. cuDNN's default may round the factors to TF32, with 10 bits behind the point.
// - Each of its eight forward algorithms that supports the shape in 1 GiB of workspace is timed on
//   the caller's own arrays, as serial calls in a CUDA graph, and the fastest is kept.
// - An algorithm takes part only if it computes the same as all others in the table: sums of
//   products in fp32, within their error bound. That is tried, not assumed (a transform's error does
//   not shrink where the products are small). What is left out for that is named, with its time.
#include <cuda_runtime.h>
#include <cudnn.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "common/conv/inputs.hpp"
#include "common/peers/libraries.hpp"
#include "common/peers/plan.hpp"

namespace halo::peers {

namespace {

constexpr std::size_t kMostWorkspace = std::size_t{1} << 30;
// Cells that an algorithm is tried on for its accuracy: more than one tile of any of them.
constexpr int kTrialCells = 8192;
// Milliseconds beside which the host's share of a call is nothing: no graph is needed.
constexpr double kLong = 100;

using Algorithm = cudnnConvolutionFwdAlgo_t;

constexpr std::array<const char*, CUDNN_CONVOLUTION_FWD_ALGO_COUNT> kAlgorithmNames = {
    "IMPLICIT_GEMM", "IMPLICIT_PRECOMP_GEMM", "GEMM", "DIRECT", "FFT", "FFT_TILING",
    "WINOGRAD",      "WINOGRAD_NONFUSED"};

std::string name_of(cudnnMathType_t math) {
  switch (math) {
    case CUDNN_FMA_MATH:
      return "CUDNN_FMA_MATH";
    case CUDNN_DEFAULT_MATH:
      return "CUDNN_DEFAULT_MATH";
    case CUDNN_TENSOR_OP_MATH:
      return "CUDNN_TENSOR_OP_MATH";
    case CUDNN_TENSOR_OP_MATH_ALLOW_CONVERSION:
      return "CUDNN_TENSOR_OP_MATH_ALLOW_CONVERSION";
  }
  return "an unknown math type";
}

std::string version() {
  const std::size_t number = cudnnGetVersion();
  const std::size_t major = number >= 90000 ? 10000 : 1000;  // cuDNN 9 widened the number
  return std::to_string(number / major) + "." + std::to_string(number % major / 100) + "." +
         std::to_string(number % 100);
}

// The descriptors of one shape.
class Layer {
 public:
  Layer() = default;
  Layer(const Layer&) = delete;
  Layer& operator=(const Layer&) = delete;
  ~Layer() {
    if (input_ != nullptr) cudnnDestroyTensorDescriptor(input_);
    if (filter_ != nullptr) cudnnDestroyFilterDescriptor(filter_);
    if (convolution_ != nullptr) cudnnDestroyConvolutionDescriptor(convolution_);
    if (output_ != nullptr) cudnnDestroyTensorDescriptor(output_);
  }

  // Once only.
  cudnnStatus_t make(const Conv1dShape& shape) {
    first_ = shape.first;
    // Padding by the halo gives every output, no padding those of the report's border.
    const bool all = shape.first == 0 && shape.last == shape.length;
    const bool inner = shape.first == shape.halo() && shape.last == shape.length - shape.halo();
    if (!all && !inner) return CUDNN_STATUS_NOT_SUPPORTED;
    cudnnStatus_t status = cudnnCreateTensorDescriptor(&input_);
    const auto then = [&status](auto&& step) {
      if (status == CUDNN_STATUS_SUCCESS) status = step();
    };
    then([&] { return cudnnCreateFilterDescriptor(&filter_); });
    then([&] { return cudnnCreateConvolutionDescriptor(&convolution_); });
    then([&] { return cudnnCreateTensorDescriptor(&output_); });
    then([&] {
      return cudnnSetTensor4dDescriptor(input_, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, 1, 1, 1,
                                        shape.length);
    });
    then([&] {
      return cudnnSetFilter4dDescriptor(filter_, CUDNN_DATA_FLOAT, CUDNN_TENSOR_NCHW, 1, 1, 1,
                                        shape.mask_width);
    });
    then([&] {
      return cudnnSetConvolution2dDescriptor(convolution_, 0, all ? shape.halo() : 0, 1, 1, 1, 1,
                                             CUDNN_CROSS_CORRELATION, CUDNN_DATA_FLOAT);
    });
    then([&] { return cudnnSetConvolutionMathType(convolution_, CUDNN_FMA_MATH); });
    then([&] {
      return cudnnSetTensor4dDescriptor(output_, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, 1, 1, 1,
                                        shape.last - shape.first);
    });
    return status;
  }

  // Read back from the descriptor that is used.
  cudnnMathType_t math() const {
    cudnnMathType_t math = CUDNN_DEFAULT_MATH;
    cudnnGetConvolutionMathType(convolution_, &math);
    return math;
  }

  cudnnStatus_t workspace(cudnnHandle_t handle, Algorithm algorithm, std::size_t& bytes) const {
    return cudnnGetConvolutionForwardWorkspaceSize(handle, input_, filter_, convolution_, output_,
                                                   algorithm, &bytes);
  }

  cudnnStatus_t run(cudnnHandle_t handle, Algorithm algorithm, void* workspace, std::size_t bytes,
                    const float* input, const float* mask, float* output) const {
    const float one = 1.0f;
    const float zero = 0.0f;
    return cudnnConvolutionForward(handle, &one, input_, input, filter_, mask, convolution_,
                                   algorithm, workspace, bytes, &zero, output_, output + first_);
  }

 private:
  cudnnTensorDescriptor_t input_ = nullptr;
  cudnnFilterDescriptor_t filter_ = nullptr;
  cudnnConvolutionDescriptor_t convolution_ = nullptr;
  cudnnTensorDescriptor_t output_ = nullptr;
  int first_ = 0;
};

// Milliseconds of one of several serial calls. Negative, with the error in `code`, if they fail.
// In a CUDA graph, as the harness does it: a short kernel is over sooner than the host starts the
// next.
class Stopwatch {
 public:
  Stopwatch() {
    cudaEventCreate(&start_);
    cudaEventCreate(&stop_);
  }
  ~Stopwatch() {
    cudaEventDestroy(start_);
    cudaEventDestroy(stop_);
  }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

  double time(const std::function<int()>& call, cudaError_t& code) {
    // The first call may load its kernel, so the second tells how many fit into the time there is.
    double once = 0;
    for (int i = 0; i < 2; ++i) {
      const auto begun = std::chrono::steady_clock::now();
      code = static_cast<cudaError_t>(call());
      if (code == cudaSuccess) code = cudaStreamSynchronize(cudaStreamPerThread);
      if (code != cudaSuccess) return -1;
      const std::chrono::duration<double, std::milli> taken =
          std::chrono::steady_clock::now() - begun;
      once = taken.count();
    }
    if (once > kLong) return once;
    const int calls = std::clamp(static_cast<int>(2.0 / once), 1, 20);

    cudaGraphExec_t graph = capture(call, calls);
    double best = -1;
    for (int round = 0; round < 4 && code == cudaSuccess; ++round) {
      cudaEventRecord(start_, cudaStreamPerThread);
      if (graph != nullptr) {
        code = cudaGraphLaunch(graph, cudaStreamPerThread);
      } else {
        for (int i = 0; i < calls && code == cudaSuccess; ++i) {
          code = static_cast<cudaError_t>(call());
        }
      }
      cudaEventRecord(stop_, cudaStreamPerThread);
      if (code == cudaSuccess) code = cudaEventSynchronize(stop_);
      float taken = 0;
      if (code == cudaSuccess) code = cudaEventElapsedTime(&taken, start_, stop_);
      // The first round also uploads the graph.
      if (round > 0 && (best < 0 || taken < best)) best = taken;
    }
    if (graph != nullptr) cudaGraphExecDestroy(graph);
    return code == cudaSuccess ? best / calls : -1;
  }

 private:
  // Null if the calls can't be captured.
  static cudaGraphExec_t capture(const std::function<int()>& call, int calls) {
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t ready = nullptr;
    if (cudaStreamBeginCapture(cudaStreamPerThread, cudaStreamCaptureModeThreadLocal) ==
        cudaSuccess) {
      bool good = true;
      for (int i = 0; i < calls && good; ++i) good = call() == cudaSuccess;
      good = cudaStreamEndCapture(cudaStreamPerThread, &graph) == cudaSuccess && good;
      if (good && cudaGraphInstantiate(&ready, graph, 0) != cudaSuccess) ready = nullptr;
      if (graph != nullptr) cudaGraphDestroy(graph);
    }
    cudaGetLastError();
    return ready;
  }

  cudaEvent_t start_ = nullptr;
  cudaEvent_t stop_ = nullptr;
};

int code_of(cudnnStatus_t status) {
  if (status == CUDNN_STATUS_SUCCESS) return cudaSuccess;
  // An error of a kernel before, if there is one, is nearer to the cause.
  if (const cudaError_t error = cudaGetLastError(); error != cudaSuccess) return error;
  return cudaErrorUnknown;
}

std::string three_digits(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g", value);
  return text;
}

// What was chosen for one shape.
struct CudnnPlan {
  Layer layer;
  Algorithm algorithm = CUDNN_CONVOLUTION_FWD_ALGO_COUNT;  // COUNT: none
  DeviceMemory workspace;
  std::size_t workspace_bytes = 0;
  int timed = 0;         // algorithms that took part
  std::string left_out;  // those that were faster and inaccurate, or too large: "; left out: ..."
};

class Cudnn {
 public:
  Cudnn() = default;
  Cudnn(const Cudnn&) = delete;
  Cudnn& operator=(const Cudnn&) = delete;
  ~Cudnn() {
    plans_.forget();
    if (handle_ != nullptr && context_ == context_number()) cudnnDestroy(handle_);
  }

  int launch(const Conv1dCall& call) {
    if (call.first >= call.last) return cudaSuccess;
    CudnnPlan* plan = nullptr;
    const auto make = [this, &call](CudnnPlan& fresh) { return choose(call, fresh); };
    if (const int code = plans_.find(call, make, plan); code != cudaSuccess) return code;
    if (plan->algorithm == CUDNN_CONVOLUTION_FWD_ALGO_COUNT) return cudaErrorNotSupported;
    return code_of(plan->layer.run(handle_, plan->algorithm, plan->workspace.data(),
                                   plan->workspace_bytes, call.input, call.mask, call.output));
  }

  std::string detail() const {
    if (!problem_.empty()) return problem_;
    const CudnnPlan* const plan = plans_.last();
    if (plan == nullptr) return "cuDNN " + version();
    const std::string library = "cuDNN " + version() + ", ";
    if (plan->algorithm == CUDNN_CONVOLUTION_FWD_ALGO_COUNT) {
      return library + "none of its eight forward algorithms takes this shape" + plan->left_out;
    }
    return library + kAlgorithmNames[plan->algorithm] + " (fastest of " +
           std::to_string(plan->timed) + "), " + name_of(plan->layer.math()) + ", workspace " +
           std::to_string(plan->workspace_bytes) + " bytes" + plan->left_out;
  }

 private:
  // A handle for the context in use. The old one is lost with its context.
  int open() {
    const std::uint64_t context = context_number();
    if (handle_ != nullptr && context_ == context) return cudaSuccess;
    // Read by the library when it starts: no TF32, whatever a default or a descriptor says.
    setenv("NVIDIA_TF32_OVERRIDE", "0", 1);
    handle_ = nullptr;
    cudnnStatus_t status = cudnnCreate(&handle_);
    if (status == CUDNN_STATUS_SUCCESS) status = cudnnSetStream(handle_, cudaStreamPerThread);
    if (status != CUDNN_STATUS_SUCCESS) {
      problem_ = std::string("cuDNN could not be started: ") + cudnnGetErrorString(status);
      cudaGetLastError();
      return cudaErrorNotSupported;
    }
    context_ = context;
    problem_.clear();
    return cudaSuccess;
  }

  // Tries and times the algorithms on the call's arrays.
  int choose(const Conv1dCall& call, CudnnPlan& plan) {
    if (const int code = open(); code != cudaSuccess) return code;
    if (const cudnnStatus_t status = plan.layer.make(call); status != CUDNN_STATUS_SUCCESS) {
      cudaGetLastError();
      return cudaSuccess;  // a plan without an algorithm: such a shape can't even be described
    }
    if (plan.layer.math() != CUDNN_FMA_MATH) {
      problem_ = "cuDNN did not take CUDNN_FMA_MATH: it would not be true fp32";
      return cudaErrorNotSupported;
    }

    struct Inaccurate {
      int number;
      double milliseconds;
      std::string fault;
    };
    std::vector<Inaccurate> inaccurate;
    double best = -1;
    Stopwatch stopwatch;
    for (int number = 0; number < CUDNN_CONVOLUTION_FWD_ALGO_COUNT; ++number) {
      const auto algorithm = static_cast<Algorithm>(number);
      std::size_t bytes = 0;
      if (plan.layer.workspace(handle_, algorithm, bytes) != CUDNN_STATUS_SUCCESS) {
        cudaGetLastError();
        continue;
      }
      DeviceMemory workspace;
      if (bytes > kMostWorkspace || (bytes > 0 && workspace.allocate(bytes) != cudaSuccess)) {
        plan.left_out += std::string("; left out: ") + kAlgorithmNames[number] + ", workspace " +
                         std::to_string(bytes >> 20) + " MiB";
        continue;
      }
      const auto run = [&]() -> int {
        const cudnnStatus_t status = plan.layer.run(handle_, algorithm, workspace.data(), bytes,
                                                    call.input, call.mask, call.output);
        return status == CUDNN_STATUS_SUCCESS ? cudaSuccess : cudaErrorNotSupported;
      };
      cudaError_t code = cudaSuccess;
      const double milliseconds = stopwatch.time(run, code);
      if (code == cudaErrorNotSupported) {
        // It said no only now. What a kernel left behind is another thing: the device has failed.
        cudaGetLastError();
        code = cudaStreamSynchronize(cudaStreamPerThread);
        if (code == cudaSuccess) continue;
      }
      if (code != cudaSuccess) return code;
      std::string fault;
      if (const int failed = try_accuracy(call, algorithm, fault); failed != cudaSuccess) {
        return failed;
      }
      if (!fault.empty()) {
        inaccurate.push_back({number, milliseconds, fault});
        continue;
      }
      ++plan.timed;
      if (best >= 0 && milliseconds >= best) continue;
      best = milliseconds;
      plan.algorithm = algorithm;
      plan.workspace = std::move(workspace);
      plan.workspace_bytes = bytes;
    }
    for (const Inaccurate& one : inaccurate) {
      if (best >= 0 && one.milliseconds >= best) continue;  // it would not have been chosen anyway
      plan.left_out += std::string("; left out: ") + kAlgorithmNames[one.number] +
                       (best >= 0 ? ", " + three_digits(one.milliseconds / best) + " of this time"
                                  : std::string()) +
                       ", but " + one.fault;
    }
    return cudaSuccess;
  }

  // Tries the algorithm on a shorter signal with the same mask width and border, and says in
  // `fault` if its outputs are no fp32 sums of products: not within their bound, or not exact for
  // whole numbers, whose sums leave nothing to round. An algorithm that does not take the shorter
  // signal has no fault; the check of the whole output decides then.
  int try_accuracy(const Conv1dShape& shape, Algorithm algorithm, std::string& fault) {
    const bool all = shape.first == 0;
    const conv::Problem1d problem(std::min(shape.length, kTrialCells), shape.mask_width,
                                  all ? conv::Border::zero : conv::Border::report);
    Conv1dShape trial;
    trial.length = static_cast<int>(problem.length());
    trial.mask_width = shape.mask_width;
    trial.first = static_cast<int>(problem.first_output());
    trial.last = static_cast<int>(problem.end_output());
    Layer layer;
    std::size_t bytes = 0;
    if (layer.make(trial) != CUDNN_STATUS_SUCCESS ||
        layer.workspace(handle_, algorithm, bytes) != CUDNN_STATUS_SUCCESS) {
      cudaGetLastError();
      return cudaSuccess;
    }
    DeviceMemory workspace;
    DeviceMemory input;
    DeviceMemory mask;
    DeviceMemory output;
    const auto length = static_cast<std::size_t>(trial.length);
    const std::size_t signal_bytes = length * sizeof(float);
    const std::size_t mask_bytes = static_cast<std::size_t>(trial.mask_width) * sizeof(float);
    cudaError_t error = bytes > 0 ? workspace.allocate(bytes) : cudaSuccess;
    if (error == cudaSuccess) error = input.allocate(signal_bytes);
    if (error == cudaSuccess) error = mask.allocate(mask_bytes);
    if (error == cudaSuccess) error = output.allocate(signal_bytes);
    constexpr std::uint64_t kSeed = 1;  // any: what is judged is a method, not a result
    for (const conv::Demand demand : {conv::Demand::exact, conv::Demand::bounded}) {
      if (error != cudaSuccess) break;
      const bool exact = demand == conv::Demand::exact;
      const std::vector<float> cells =
          exact ? conv::exact_input(problem, kSeed) : conv::adversarial_input(problem, kSeed);
      const std::vector<float> taps =
          exact ? conv::exact_mask(problem, kSeed) : conv::adversarial_mask(problem, kSeed);
      std::vector<float> result(length, conv::poison());
      const auto copy = [&error](void* to, const void* from, std::size_t size) {
        if (error == cudaSuccess) {
          error = cudaMemcpyAsync(to, from, size, cudaMemcpyDefault, cudaStreamPerThread);
        }
      };
      copy(input.data(), cells.data(), signal_bytes);
      copy(mask.data(), taps.data(), mask_bytes);
      copy(output.data(), result.data(), signal_bytes);
      if (error != cudaSuccess) break;
      if (layer.run(handle_, algorithm, workspace.data(), bytes, input.floats(), mask.floats(),
                    output.floats()) != CUDNN_STATUS_SUCCESS) {
        cudaGetLastError();
        break;
      }
      copy(result.data(), output.data(), signal_bytes);
      if (error == cudaSuccess) error = cudaStreamSynchronize(cudaStreamPerThread);
      if (error != cudaSuccess) break;
      const conv::Comparison comparison = conv::check(problem, cells, taps, result, demand);
      if (comparison.passed()) continue;
      fault =
          exact ? "whole numbers are not summed exactly"
                : "its error is " + three_digits(comparison.worst_share) + " times the fp32 bound";
    }
    return error;
  }

  cudnnHandle_t handle_ = nullptr;
  std::uint64_t context_ = 0;
  LastPlan<CudnnPlan> plans_;
  std::string problem_;  // why cuDNN can't be used at all; else empty
};

}  // namespace

void use_cudnn(Conv1dVariant& variant) {
  const auto cudnn = std::make_shared<Cudnn>();
  variant.launch = [cudnn](const Conv1dCall& call) { return cudnn->launch(call); };
  variant.version = "cuDNN " + version();
  variant.detail = [cudnn] { return cudnn->detail(); };
}

}  // namespace halo::peers
