#include "common/peers/cudnn.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <utility>

#include "common/peers/stopwatch.hpp"
#include "common/peers/true_fp32.hpp"

namespace halo::peers {

namespace {

constexpr std::size_t kMostWorkspace = std::size_t{1} << 30;

// No more than so many ways are made ready for a layer once this time went by: one that is compiled
// when it is asked for may take seconds.
constexpr int kAlwaysMade = 3;
constexpr double kMostSecondsMaking = 1.5;

// How slow a way may look, when the fastest looks like this, and still be timed. Short calls are
// judged generously: the host's share of them varies by tens of microseconds.
double most_ms(double fastest_ms) {
  return fastest_ms < 1 ? 3 * fastest_ms + 0.05 : 1.25 * fastest_ms;
}
// Calls of a first look, of which the shortest counts: the first may load its kernel, any may meet a
// pause of the host. Long ones are not repeated so often.
constexpr int kLooks = 4;
constexpr double kLongLook = 1;

std::string three_digits(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g", value);
  return text;
}

// One way while it is compared with the others.
struct Entrant {
  std::unique_ptr<CudnnWay> way;
  std::size_t bytes = 0;
  std::string fault;         // not empty: it does not take part
  double milliseconds = -1;  // of the first look, later of the timing
};

// Calls it a failure of the way if the library said no without starting anything. What a kernel left
// behind is another thing: the device has failed, and that is returned.
int refused_or_failed() {
  cudaGetLastError();
  return cudaStreamSynchronize(cudaStreamPerThread);
}

// The expected outputs, and device memory with the data; made when first needed.
struct SampleOnDevice {
  explicit SampleOnDevice(const conv::ConvLayer& layer) : sample(layer) {}

  int upload(const conv::ConvLayer& layer) {
    const std::size_t image_bytes = sample.image().size_bytes();
    const auto images = static_cast<std::size_t>(layer.N());
    const std::size_t bias_bytes = static_cast<std::size_t>(layer.K()) * sizeof(float);
    cudaError_t error = input.allocate(image_bytes * images);
    if (error == cudaSuccess) error = filters.allocate(sample.filters().size_bytes());
    if (error == cudaSuccess) error = bias.allocate(bias_bytes);
    if (error == cudaSuccess) {
      error = cudaMemsetAsync(bias.data(), 0, bias_bytes, cudaStreamPerThread);
    }
    if (error != cudaSuccess) return error;
    error = cudaMemcpyAsync(input.data(), sample.image().data(), image_bytes,
                            cudaMemcpyHostToDevice, cudaStreamPerThread);
    // Twice as many images with each copy.
    auto* const bytes = static_cast<char*>(input.data());
    for (std::size_t done = 1; done < images && error == cudaSuccess;) {
      const std::size_t part = std::min(done, images - done);
      error = cudaMemcpyAsync(bytes + done * image_bytes, bytes, part * image_bytes,
                              cudaMemcpyDeviceToDevice, cudaStreamPerThread);
      done += part;
    }
    if (error == cudaSuccess) {
      error =
          cudaMemcpyAsync(filters.data(), sample.filters().data(), sample.filters().size_bytes(),
                          cudaMemcpyHostToDevice, cudaStreamPerThread);
    }
    return error == cudaSuccess ? cudaStreamSynchronize(cudaStreamPerThread) : error;
  }

  Fp32Sample sample;
  DeviceMemory input;
  DeviceMemory filters;
  DeviceMemory bias;  // zeros
};

}  // namespace

std::string cudnn_version() {
  const std::size_t number = cudnnGetVersion();
  const std::size_t major = number >= 90000 ? 10000 : 1000;  // cuDNN 9 widened the number
  return std::to_string(number / major) + "." + std::to_string(number % major / 100) + "." +
         std::to_string(number % 100);
}

int code_of(cudnnStatus_t status) {
  if (status == CUDNN_STATUS_SUCCESS) return cudaSuccess;
  // An error of a kernel before, if there is one, is nearer to the cause.
  if (const cudaError_t error = cudaGetLastError(); error != cudaSuccess) return error;
  return cudaErrorUnknown;
}

CudnnHandle::~CudnnHandle() {
  if (handle_ != nullptr && context_ == context_number()) cudnnDestroy(handle_);
}

// The handle of a context that is gone is lost with it.
int CudnnHandle::open() {
  const std::uint64_t context = context_number();
  if (handle_ != nullptr && context_ == context) return cudaSuccess;
  // Read by the library when it starts.
  forbid_tf32();
  handle_ = nullptr;
  cudnnStatus_t status = cudnnCreate(&handle_);
  if (status == CUDNN_STATUS_SUCCESS) status = cudnnSetStream(handle_, cudaStreamPerThread);
  if (status != CUDNN_STATUS_SUCCESS) {
    problem_ = std::string("cuDNN could not be started: ") + cudnnGetErrorString(status);
    handle_ = nullptr;
    cudaGetLastError();
    return cudaErrorNotSupported;
  }
  context_ = context;
  problem_.clear();
  return cudaSuccess;
}

std::shared_ptr<CudnnHandle> shared_cudnn() {
  static std::weak_ptr<CudnnHandle> shared;
  std::shared_ptr<CudnnHandle> handle = shared.lock();
  if (handle == nullptr) shared = handle = std::make_shared<CudnnHandle>();
  return handle;
}

cudnnStatus_t CudnnTensor::make(const std::array<int, 4>& sizes,
                                const std::array<int, 4>& strides) {
  const cudnnStatus_t status = cudnnCreateTensorDescriptor(&tensor_);
  if (status != CUDNN_STATUS_SUCCESS) return status;
  return cudnnSetTensor4dDescriptorEx(tensor_, CUDNN_DATA_FLOAT, sizes[0], sizes[1], sizes[2],
                                      sizes[3], strides[0], strides[1], strides[2], strides[3]);
}

cudnnStatus_t CudnnTensor::make(const std::array<int, 4>& sizes) {
  const cudnnStatus_t status = cudnnCreateTensorDescriptor(&tensor_);
  if (status != CUDNN_STATUS_SUCCESS) return status;
  return cudnnSetTensor4dDescriptor(tensor_, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, sizes[0],
                                    sizes[1], sizes[2], sizes[3]);
}

cudnnStatus_t CudnnRelu::make(bool relu, cudnnNanPropagation_t nans) {
  const cudnnStatus_t status = cudnnCreateActivationDescriptor(&activation_);
  if (status != CUDNN_STATUS_SUCCESS) return status;
  return cudnnSetActivationDescriptor(
      activation_, relu ? CUDNN_ACTIVATION_RELU : CUDNN_ACTIVATION_IDENTITY, nans, 0.0);
}

namespace {

// `beyond`: why a way whose relative error is above `most` can't take part.
TryAccuracy try_accuracy(const conv::ConvLayer& layer, const LayerArrays& arrays, double most,
                         const std::string& beyond) {
  return [data = std::shared_ptr<SampleOnDevice>(), layer, of = arrays, most, beyond](
             CudnnWay& way, void* workspace, std::size_t bytes, std::string& fault) mutable -> int {
    float* const output = of.output;
    if (data == nullptr) {
      const auto made = std::make_shared<SampleOnDevice>(layer);
      const int code = made->upload(layer);
      if (code == cudaErrorMemoryAllocation) {
        fault = "there is no memory to try its accuracy in";
        return cudaSuccess;
      }
      if (code != cudaSuccess) return code;
      data = made;
    }
    // All bits set is a NaN: what the way before it wrote must not pass for its own.
    cudaError_t error =
        cudaMemsetAsync(output, 0xFF, static_cast<std::size_t>(layer.output_size()) * sizeof(float),
                        cudaStreamPerThread);
    if (error != cudaSuccess) return error;
    const LayerArrays arrays{data->input.floats(), data->filters.floats(), output,
                             of.bias != nullptr ? data->bias.floats() : nullptr, of.relu};
    if (way.run(arrays, workspace, bytes) != CUDNN_STATUS_SUCCESS) {
      fault = "it refused";
      return refused_or_failed();
    }
    std::vector<float> found(static_cast<std::size_t>(data->sample.count()));
    error =
        cudaMemcpy2DAsync(found.data(), sizeof(float), output,
                          static_cast<std::size_t>(data->sample.step()) * sizeof(float),
                          sizeof(float), found.size(), cudaMemcpyDeviceToHost, cudaStreamPerThread);
    if (error == cudaSuccess) error = cudaStreamSynchronize(cudaStreamPerThread);
    if (error != cudaSuccess) return error;
    const double relative = data->sample.relative_error(found, of.relu);
    if (std::isnan(relative)) {
      fault = "some of its outputs are missing or no numbers";
    } else if (relative > most) {
      fault = "its relative error is " + three_digits(relative) + ", so it is " + beyond;
    }
    return cudaSuccess;
  };
}

}  // namespace

TryAccuracy try_true_fp32(cudnnHandle_t, const conv::ConvLayer& layer, const LayerArrays& arrays) {
  return try_accuracy(layer, arrays, kTrueFp32, "no true fp32");
}

TryAccuracy try_tf32(cudnnHandle_t, const conv::ConvLayer& layer, const LayerArrays& arrays) {
  return try_accuracy(layer, arrays, kTf32, "less than TF32");
}

CudnnPeer::CudnnPeer(ListCudnnWays list, MakeTryAccuracy make_try_accuracy, std::string none)
    : list_(std::move(list)),
      make_try_accuracy_(std::move(make_try_accuracy)),
      none_(std::move(none)) {}

int CudnnPeer::launch(const conv::ConvLayer& layer, const LayerArrays& arrays) {
  CudnnChoice* choice = nullptr;
  const auto make = [&](CudnnChoice& fresh) { return choose(layer, arrays, fresh); };
  if (const int code = choices_.find(layer, make, choice); code != cudaSuccess) return code;
  if (choice->way == nullptr) return cudaErrorNotSupported;
  return code_of(choice->way->run(arrays, choice->workspace.data(), choice->workspace_bytes));
}

std::string CudnnPeer::detail() const { return describe(choices_.last()); }

std::string CudnnPeer::detail(const conv::ConvLayer& layer) const {
  return describe(choices_.last(layer));
}

std::string CudnnPeer::describe(const CudnnChoice* choice) const {
  if (!problem_.empty()) return problem_;
  const std::string library = "cuDNN " + cudnn_version();
  if (choice == nullptr) return library;
  if (choice->way == nullptr) {
    return library + ", none of " + none_ + choice->considered + choice->left_out;
  }
  return library + ", " + choice->way->name() + " (fastest of " + std::to_string(choice->timed) +
         choice->considered + "), " + choice->way->mathematics() + ", workspace " +
         std::to_string(choice->workspace_bytes) + " bytes" + choice->left_out;
}

int CudnnPeer::choose(const conv::ConvLayer& layer, const LayerArrays& arrays,
                      CudnnChoice& choice) {
  const int opened = handle_->open();
  problem_ = handle_->problem();
  if (opened != cudaSuccess) return opened;
  CudnnWays listed = list_(handle_->get(), layer);
  cudaGetLastError();
  if (!listed.problem.empty()) {
    problem_ = listed.problem;
    return cudaErrorNotSupported;
  }
  choice.considered = listed.considered;
  if (chosen_ && chosen_->layer == layer) return choose_again(listed, choice);
  const TryAccuracy try_accuracy = make_try_accuracy_(handle_->get(), layer, arrays);

  // A first look at each, with one workspace for all.
  Stopwatch stopwatch;
  DeviceMemory workspace;
  std::size_t capacity = 0;
  std::vector<Entrant> entrants;
  int made = 0;
  double seconds = 0;
  for (auto& way : listed.ways) {
    if (made == listed.most || (made >= kAlwaysMade && seconds > kMostSecondsMaking)) break;
    Entrant entrant;
    entrant.way = std::move(way);
    const auto begun = std::chrono::steady_clock::now();
    const cudnnStatus_t status = entrant.way->prepare(entrant.bytes);
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begun;
    seconds += taken.count();
    if (status != CUDNN_STATUS_SUCCESS) {
      cudaGetLastError();
      continue;
    }
    ++made;
    if (entrant.bytes > capacity) {
      const bool fits =
          entrant.bytes <= kMostWorkspace && workspace.allocate(entrant.bytes) == cudaSuccess;
      if (!fits) {
        if (workspace.data() == nullptr) capacity = 0;
        choice.left_out += "; left out: " + entrant.way->name() + ", workspace " +
                           std::to_string(entrant.bytes >> 20) + " MiB";
        continue;
      }
      capacity = entrant.bytes;
    }
    const auto run = [&]() -> int {
      return entrant.way->run(arrays, workspace.data(), entrant.bytes) == CUDNN_STATUS_SUCCESS
                 ? cudaSuccess
                 : cudaErrorNotSupported;
    };
    cudaError_t code = cudaSuccess;
    for (int look = 0; look < kLooks && code == cudaSuccess; ++look) {
      const double taken = stopwatch.once(run, code);
      if (look == 1 || (look > 1 && taken < entrant.milliseconds)) entrant.milliseconds = taken;
      if (look >= 1 && taken > kLongLook) break;
    }
    if (code == cudaErrorNotSupported) {
      if (const int failed = refused_or_failed(); failed != cudaSuccess) return failed;
      continue;  // it said no only now
    }
    if (code != cudaSuccess) return code;
    if (const int failed =
            try_accuracy(*entrant.way, workspace.data(), entrant.bytes, entrant.fault);
        failed != cudaSuccess) {
      return failed;
    }
    choice.timed += entrant.fault.empty();
    entrants.push_back(std::move(entrant));
  }

  double fastest = std::numeric_limits<double>::infinity();
  for (const Entrant& entrant : entrants) {
    if (entrant.fault.empty()) fastest = std::min(fastest, entrant.milliseconds);
  }
  Entrant* best = nullptr;
  for (Entrant& entrant : entrants) {
    if (entrant.milliseconds > most_ms(fastest)) continue;
    const auto run = [&]() -> int {
      return code_of(entrant.way->run(arrays, workspace.data(), entrant.bytes));
    };
    cudaError_t code = cudaSuccess;
    entrant.milliseconds = stopwatch.time(run, entrant.milliseconds, code);
    if (code != cudaSuccess) return code;
    if (!entrant.fault.empty()) continue;
    if (best == nullptr || entrant.milliseconds < best->milliseconds) best = &entrant;
  }
  for (const Entrant& entrant : entrants) {
    if (entrant.fault.empty()) continue;
    if (best != nullptr && entrant.milliseconds >= best->milliseconds) continue;
    choice.left_out += "; left out: " + entrant.way->name();
    if (best != nullptr) {
      choice.left_out +=
          ", " + three_digits(entrant.milliseconds / best->milliseconds) + " of this time";
    }
    choice.left_out += ", but " + entrant.fault;
  }
  if (best == nullptr) return cudaSuccess;
  // No more than the one that was chosen needs.
  if (best->bytes < capacity) workspace.release();
  if (best->bytes > 0 && best->bytes < capacity) {
    if (const cudaError_t error = workspace.allocate(best->bytes); error != cudaSuccess)
      return error;
  }
  choice.way = std::move(best->way);
  choice.workspace = std::move(workspace);
  choice.workspace_bytes = best->bytes;
  chosen_ = {layer, choice.way->name(), choice.timed, choice.left_out};
  return cudaSuccess;
}

int CudnnPeer::choose_again(CudnnWays& listed, CudnnChoice& choice) const {
  const auto way = std::find_if(listed.ways.begin(), listed.ways.end(),
                                [&](const auto& one) { return one->name() == chosen_->way; });
  if (way == listed.ways.end()) return cudaErrorNotSupported;
  if ((*way)->prepare(choice.workspace_bytes) != CUDNN_STATUS_SUCCESS) return refused_or_failed();
  if (choice.workspace_bytes > 0) {
    const cudaError_t error = choice.workspace.allocate(choice.workspace_bytes);
    if (error != cudaSuccess) return error;
  }
  choice.way = std::move(*way);
  choice.timed = chosen_->timed;
  choice.left_out = chosen_->left_out;
  return cudaSuccess;
}

}  // namespace halo::peers
