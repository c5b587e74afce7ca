// cuDNN's tensor transform, pooling and softmax. What a problem is to cuDNN can be said in more than
// one form: a form is a description of the same arrays with other dimensions, or another mode. All
// that cuDNN takes are timed on the caller's own arrays, as serial calls in a CUDA graph, and the
// fastest is kept. Alpha is 1 and beta 0.
//
// CHWN is no format that cuDNN's documentation names. But [C][H][W][N] is NHWC of C images with N
// channels, and pooling treats images and channels alike; and as a matrix [CHW][N] it is NHWC of one
// image with N channels, of which NCHW is the transposed.
#include <cuda_runtime.h>
#include <cudnn.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "common/peers/cudnn.hpp"
#include "common/peers/libraries.hpp"
#include "common/peers/operation_trial.hpp"
#include "common/peers/stopwatch.hpp"

namespace halo::peers {

namespace {

constexpr float kOne = 1.0f;
constexpr float kZero = 0.0f;

// One form of one problem. Keeps its descriptors.
struct Form {
  std::string name;
  std::function<cudnnStatus_t(cudnnHandle_t, const float* input, float* output)> run;
};

struct FormChoice {
  Form form;             // without run: cuDNN takes none
  std::string differs;   // see operation_trial.hpp
  int timed = 0;         // forms that it takes
  std::string left_out;  // "; left out: ..." for each that it doesn't
};

// A peer of one family: opens the library, and keeps the choice for the last problem.
template <class Problem>
class FormPeer {
 public:
  using List = std::function<std::vector<Form>(const Problem&)>;
  // `settings` is said in each row.
  FormPeer(List list, std::string settings, conv::Layout layout)
      : list_(std::move(list)), settings_(std::move(settings)), layout_(layout) {}

  int launch(const Call<Problem>& call) {
    FormChoice* choice = nullptr;
    const auto make = [&](FormChoice& fresh) { return choose(call, fresh); };
    if (const int code = choices_.find(call.problem, make, choice); code != cudaSuccess) {
      return code;
    }
    if (!choice->form.run) return cudaErrorNotSupported;
    return code_of(choice->form.run(handle_->get(), call.input, call.output));
  }

  std::string detail(const Problem& problem) const {
    if (!handle_->problem().empty()) return handle_->problem();
    const std::string library = "cuDNN " + cudnn_version();
    const FormChoice* const choice = choices_.last(problem);
    if (choice == nullptr) return library;
    if (!choice->form.run) return library + " does not take this problem" + choice->left_out;
    return library + ", " + choice->form.name + " (fastest of " + std::to_string(choice->timed) +
           "), " + settings_ +
           (choice->differs.empty() ? ""
                                    : "; judged on ordinary numbers only: " + choice->differs) +
           choice->left_out;
  }

  std::string differs(const Problem& problem) const {
    const FormChoice* const choice = choices_.last(problem);
    return choice == nullptr ? "" : choice->differs;
  }

 private:
  int choose(const Call<Problem>& call, FormChoice& choice) {
    if (const int code = handle_->open(); code != cudaSuccess) return code;
    Stopwatch stopwatch;
    double best = -1;
    std::vector<Form> forms = list_(call.problem);
    const Problem trial = trial_of(call.problem);
    const std::vector<Form> trial_forms = list_(trial);
    for (std::size_t i = 0; i < forms.size(); ++i) {
      Form& form = forms[i];
      cudnnStatus_t status = CUDNN_STATUS_SUCCESS;
      const auto run = [&]() -> int {
        status = form.run(handle_->get(), call.input, call.output);
        return status == CUDNN_STATUS_SUCCESS ? cudaSuccess : cudaErrorNotSupported;
      };
      cudaError_t code = cudaSuccess;
      // Twice: the first call may load its kernel.
      stopwatch.once(run, code);
      const double look = code == cudaSuccess ? stopwatch.once(run, code) : -1;
      Verdict verdict;
      if (code == cudaErrorNotSupported) {
        // What a kernel left behind is another thing than a no: the device has failed.
        cudaGetLastError();
        if (code = cudaStreamSynchronize(cudaStreamPerThread); code != cudaSuccess) return code;
        verdict.fault = cudnnGetErrorString(status);
      } else if (code != cudaSuccess) {
        return code;
      } else {
        const auto try_it = [&](const float* input, float* output) -> int {
          return trial_forms[i].run(handle_->get(), input, output) == CUDNN_STATUS_SUCCESS
                     ? cudaSuccess
                     : cudaErrorNotSupported;
        };
        const int tried = try_operation<Problem>(trial, layout_, try_it, verdict);
        if (tried != cudaSuccess) return tried;
      }
      if (!verdict.fault.empty()) {
        choice.left_out += "; left out: " + form.name + ", " + verdict.fault;
        continue;
      }
      ++choice.timed;
      const double taken = forms.size() > 1 ? stopwatch.time(run, look, code) : look;
      if (code != cudaSuccess) return code;
      if (best >= 0 && taken >= best) continue;
      best = taken;
      choice.form = std::move(form);
      choice.differs = verdict.differs;
    }
    return cudaSuccess;
  }

  List list_;
  std::string settings_;
  conv::Layout layout_;
  std::shared_ptr<CudnnHandle> handle_ = shared_cudnn();
  LastPlan<Problem, FormChoice> choices_;
};

// The descriptors of an input and an output.
struct Pair {
  CudnnTensor input;
  CudnnTensor output;
};

// A form whose descriptors can't be made is one that cuDNN doesn't take.
Form refused(std::string name, cudnnStatus_t status) {
  return {std::move(name), [status](cudnnHandle_t, const float*, float*) { return status; }};
}

std::array<int, 4> strides_of(const conv::Images& images, conv::Layout layout) {
  const conv::ImagesShape& shape = images.shape();
  const auto stride = [&](std::int64_t n, std::int64_t c, std::int64_t h, std::int64_t w) {
    return static_cast<int>(conv::index_of(shape, layout, n, c, h, w));
  };
  return {stride(1, 0, 0, 0), stride(0, 1, 0, 0), stride(0, 0, 1, 0), stride(0, 0, 0, 1)};
}

std::array<int, 4> sizes_of(const conv::Images& images) {
  return {images.N(), images.C(), images.H(), images.W()};
}

// [C][H][W][N] as NHWC of C images with N channels.
std::array<int, 4> exchanged_sizes(const conv::Images& images) {
  return {images.C(), images.N(), images.H(), images.W()};
}
std::array<int, 4> exchanged_strides(const conv::Images& images) {
  const std::array<int, 4> strides = strides_of(images, conv::Layout::chwn);
  return {strides[1], strides[0], strides[2], strides[3]};
}

// Transforms

Form transform_form(std::string name, const std::array<int, 4>& sizes,
                    const std::array<int, 4>& from, const std::array<int, 4>& to) {
  const auto tensors = std::make_shared<Pair>();
  cudnnStatus_t status = tensors->input.make(sizes, from);
  if (status == CUDNN_STATUS_SUCCESS) status = tensors->output.make(sizes, to);
  if (status != CUDNN_STATUS_SUCCESS) return refused(std::move(name), status);
  return {std::move(name), [tensors](cudnnHandle_t handle, const float* input, float* output) {
            return cudnnTransformTensor(handle, &kOne, tensors->input.get(), input, &kZero,
                                        tensors->output.get(), output);
          }};
}

std::vector<Form> list_transforms(const conv::Transform& transform) {
  const conv::Images& images = transform.images();
  std::vector<Form> forms;
  forms.push_back(transform_form("strides of NCHW and CHWN", sizes_of(images),
                                 strides_of(images, transform.from()),
                                 strides_of(images, transform.to())));
  // One image with N channels; its rows are those of all channels, one after the other.
  const int rows = images.C() * images.H();
  const int cells = rows * images.W();
  const std::array<int, 4> sizes = {1, images.N(), rows, images.W()};
  const int all = static_cast<int>(images.size());
  const std::array<int, 4> nchw = {all, cells, images.W(), 1};
  const std::array<int, 4> nhwc = {all, 1, images.W() * images.N(), images.N()};
  const bool from_nchw = transform.from() == conv::Layout::nchw;
  forms.push_back(transform_form("NCHW and NHWC of one image with N channels", sizes,
                                 from_nchw ? nchw : nhwc, from_nchw ? nhwc : nchw));
  return forms;
}

// Pooling

// Each is another kernel of cuDNN's: CUDNN_NOT_PROPAGATE_NAN is up to twice as fast as CUDNN_PROPAGATE_NAN,
// and gives the same for all numbers. Whoever has the choice would take the faster.
struct PoolingMode {
  std::string name;
  cudnnPoolingMode_t pooling;
  cudnnNanPropagation_t nan;
};

std::vector<PoolingMode> modes_of(const conv::PoolingLayer& layer) {
  std::vector<PoolingMode> modes;
  for (const cudnnNanPropagation_t nan : {CUDNN_PROPAGATE_NAN, CUDNN_NOT_PROPAGATE_NAN}) {
    const std::string name = nan == CUDNN_PROPAGATE_NAN ? "PROPAGATE_NAN" : "NOT_PROPAGATE_NAN";
    if (layer.kind() == conv::Pooling::average) {
      modes.push_back({name, CUDNN_POOLING_AVERAGE_COUNT_EXCLUDE_PADDING, nan});
    } else {
      modes.push_back({name, CUDNN_POOLING_MAX, nan});
      modes.push_back({"MAX_DETERMINISTIC, " + name, CUDNN_POOLING_MAX_DETERMINISTIC, nan});
    }
  }
  return modes;
}

class PoolingDescriptor {
 public:
  PoolingDescriptor() = default;
  PoolingDescriptor(const PoolingDescriptor&) = delete;
  PoolingDescriptor& operator=(const PoolingDescriptor&) = delete;
  ~PoolingDescriptor() {
    if (pooling_ != nullptr) cudnnDestroyPoolingDescriptor(pooling_);
  }

  // Once only.
  cudnnStatus_t make(const conv::PoolingLayer& layer, const PoolingMode& mode) {
    const cudnnStatus_t status = cudnnCreatePoolingDescriptor(&pooling_);
    if (status != CUDNN_STATUS_SUCCESS) return status;
    return cudnnSetPooling2dDescriptor(pooling_, mode.pooling, mode.nan, layer.R(), layer.S(),
                                       layer.padding_h(), layer.padding_w(), layer.stride_h(),
                                       layer.stride_w());
  }
  cudnnPoolingDescriptor_t get() const { return pooling_; }

 private:
  cudnnPoolingDescriptor_t pooling_ = nullptr;
};

// The output has the sizes that the layer says. cuDNN's own (cudnnGetPooling2dForwardOutputDim) are
// those of Rounding::floor; that it takes larger ones, and what it does in windows that reach beyond
// the edge, is not documented: the trial tells.
Form pooling_form(std::string name, const conv::PoolingLayer& layer, const PoolingMode& mode,
                  std::array<int, 4> (*sizes)(const conv::Images&),
                  std::array<int, 4> (*strides)(const conv::Images&)) {
  struct Descriptors : Pair {
    PoolingDescriptor pooling;
  };
  const auto made = std::make_shared<Descriptors>();
  const conv::Images input = layer.input();
  const conv::Images output = layer.output();
  cudnnStatus_t status = made->input.make(sizes(input), strides(input));
  if (status == CUDNN_STATUS_SUCCESS) status = made->output.make(sizes(output), strides(output));
  if (status == CUDNN_STATUS_SUCCESS) status = made->pooling.make(layer, mode);
  if (status != CUDNN_STATUS_SUCCESS) return refused(std::move(name), status);
  return {std::move(name), [made](cudnnHandle_t handle, const float* from, float* to) {
            return cudnnPoolingForward(handle, made->pooling.get(), &kOne, made->input.get(), from,
                                       &kZero, made->output.get(), to);
          }};
}

template <conv::Layout layout>
std::array<int, 4> strides_in(const conv::Images& images) {
  return strides_of(images, layout);
}

std::vector<Form> list_poolings(const conv::PoolingLayer& layer, conv::Layout layout) {
  std::vector<Form> forms;
  for (const PoolingMode& mode : modes_of(layer)) {
    if (layout == conv::Layout::nchw) {
      forms.push_back(pooling_form("NCHW, " + mode.name, layer, mode, sizes_of,
                                   strides_in<conv::Layout::nchw>));
      continue;
    }
    forms.push_back(pooling_form("NHWC with images and channels exchanged, " + mode.name, layer,
                                 mode, exchanged_sizes, exchanged_strides));
    forms.push_back(pooling_form("strides of CHWN, " + mode.name, layer, mode, sizes_of,
                                 strides_in<conv::Layout::chwn>));
  }
  return forms;
}

// Softmax

Form softmax_form(std::string name, const conv::Softmax& softmax, cudnnSoftmaxMode_t mode) {
  const auto tensors = std::make_shared<Pair>();
  const std::array<int, 4> sizes = {softmax.N(), softmax.C(), 1, 1};
  cudnnStatus_t status = tensors->input.make(sizes);
  if (status == CUDNN_STATUS_SUCCESS) status = tensors->output.make(sizes);
  if (status != CUDNN_STATUS_SUCCESS) return refused(std::move(name), status);
  return {std::move(name), [tensors, mode](cudnnHandle_t handle, const float* from, float* to) {
            return cudnnSoftmaxForward(handle, CUDNN_SOFTMAX_ACCURATE, mode, &kOne,
                                       tensors->input.get(), from, &kZero, tensors->output.get(),
                                       to);
          }};
}

// For [N][C] both modes sum over the same cells.
std::vector<Form> list_softmaxes(const conv::Softmax& softmax) {
  return {softmax_form("MODE_INSTANCE", softmax, CUDNN_SOFTMAX_MODE_INSTANCE),
          softmax_form("MODE_CHANNEL", softmax, CUDNN_SOFTMAX_MODE_CHANNEL)};
}

template <class Problem>
void use(Variant<Problem>& variant, typename FormPeer<Problem>::List list, std::string settings) {
  const auto peer =
      std::make_shared<FormPeer<Problem>>(std::move(list), std::move(settings), variant.layout);
  variant.launches([peer](const Call<Problem>& call) { return peer->launch(call); });
  variant.version = "cuDNN " + cudnn_version();
  variant.tells([peer](const Problem& problem) { return peer->detail(problem); });
  variant.also([peer](const Problem& problem, auto& made) {
    made.differs = [peer, problem] { return peer->differs(problem); };
  });
}

}  // namespace

void use_cudnn(TransformVariant& variant) { use(variant, list_transforms, "float"); }

void use_cudnn(PoolingVariant& variant) {
  const conv::Layout layout = variant.layout;
  use(
      variant, [layout](const conv::PoolingLayer& layer) { return list_poolings(layer, layout); },
      "float");
}

void use_cudnn(SoftmaxVariant& variant) {
  use(variant, list_softmaxes, "float, CUDNN_SOFTMAX_ACCURATE");
}

}  // namespace halo::peers
