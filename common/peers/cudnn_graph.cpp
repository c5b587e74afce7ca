// cuDNN's graph API, called as it is (the backend API, in C): a graph of one convolution, the engines
// that cuDNN's heuristics name for it, each with its choice of knobs, and a plan for each of them. The
// rules of the comparison are in cudnn.hpp.
//
// Which plans take part: those that the heuristics A, B and FALLBACK give, in this order, each once,
// less those that note tensor cores, inputs converted to a shorter type, or sums in reduced
// precision; the first ten of the rest that can be made. Plans that are compiled at run time are made
// as long as that takes no more than 1.5 seconds a layer.
#include <cuda_runtime.h>
#include <cudnn.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "common/peers/cudnn.hpp"
#include "common/peers/libraries.hpp"

namespace halo::peers {

namespace {

// The numbers by which a call says which array is which.
constexpr std::array<std::int64_t, 3> kArrayIds = {'x', 'w', 'y'};

// CUDNN_NUMERICAL_NOTE_STRICT_NAN_PROP, which older headers don't have.
constexpr int kStrictNanPropagation = 9;

// A descriptor of the backend API. After the first error the calls that follow do nothing, and
// `status` is that error.
class Descriptor {
 public:
  explicit Descriptor(cudnnBackendDescriptorType_t type) {
    status_ = cudnnBackendCreateDescriptor(type, &descriptor_);
  }
  ~Descriptor() {
    if (descriptor_ != nullptr) cudnnBackendDestroyDescriptor(descriptor_);
  }
  Descriptor(Descriptor&& other) noexcept { *this = std::move(other); }
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    std::swap(status_, other.status_);
    return *this;
  }

  cudnnStatus_t status() const { return status_; }
  cudnnBackendDescriptor_t get() const { return descriptor_; }

  template <typename T>
  void set(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type, const T* values,
           std::int64_t count = 1) {
    if (status_ != CUDNN_STATUS_SUCCESS) return;
    status_ = cudnnBackendSetAttribute(descriptor_, name, type, count, values);
  }
  // Takes over the other's error, if it has one.
  void set(cudnnBackendAttributeName_t name, const Descriptor& other) {
    if (status_ == CUDNN_STATUS_SUCCESS) status_ = other.status_;
    set(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, &other.descriptor_);
  }
  void finalize() {
    if (status_ == CUDNN_STATUS_SUCCESS) status_ = cudnnBackendFinalize(descriptor_);
  }

  // Up to `most` values; none after an error.
  template <typename T>
  std::vector<T> get(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
                     std::int64_t most) const {
    std::vector<T> values(static_cast<std::size_t>(most));
    std::int64_t count = 0;
    if (status_ != CUDNN_STATUS_SUCCESS ||
        cudnnBackendGetAttribute(descriptor_, name, type, most, &count, values.data()) !=
            CUDNN_STATUS_SUCCESS) {
      count = 0;
    }
    values.resize(static_cast<std::size_t>(std::clamp<std::int64_t>(count, 0, most)));
    return values;
  }
  std::int64_t number(cudnnBackendAttributeName_t name) const {
    const auto values = get<std::int64_t>(name, CUDNN_TYPE_INT64, 1);
    return values.empty() ? -1 : values[0];
  }
  // How many values there are, or more.
  std::int64_t count(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type) const {
    std::int64_t count = 0;
    if (status_ != CUDNN_STATUS_SUCCESS ||
        cudnnBackendGetAttribute(descriptor_, name, type, 0, &count, nullptr) !=
            CUDNN_STATUS_SUCCESS) {
      return 0;
    }
    return count;
  }
  // Descriptors are copied into such as the caller made.
  std::vector<Descriptor> get(cudnnBackendAttributeName_t name, cudnnBackendDescriptorType_t type,
                              std::int64_t most) const {
    std::vector<Descriptor> made;
    std::vector<cudnnBackendDescriptor_t> bare;
    for (std::int64_t i = 0; i < most; ++i) {
      made.emplace_back(type);
      bare.push_back(made.back().descriptor_);
    }
    std::int64_t count = 0;
    if (status_ != CUDNN_STATUS_SUCCESS ||
        cudnnBackendGetAttribute(descriptor_, name, CUDNN_TYPE_BACKEND_DESCRIPTOR, most, &count,
                                 bare.data()) != CUDNN_STATUS_SUCCESS) {
      count = 0;
    }
    made.erase(made.begin() + std::clamp<std::int64_t>(count, 0, most), made.end());
    return made;
  }

 private:
  cudnnBackendDescriptor_t descriptor_ = nullptr;
  cudnnStatus_t status_ = CUDNN_STATUS_SUCCESS;
};

Descriptor make_tensor(std::int64_t id, const std::array<std::int64_t, 4>& sizes) {
  const std::array<std::int64_t, 4> strides = {sizes[1] * sizes[2] * sizes[3], sizes[2] * sizes[3],
                                               sizes[3], 1};
  const cudnnDataType_t type = CUDNN_DATA_FLOAT;
  const std::int64_t alignment = 16;  // the most that any engine asks for; ours have 256
  Descriptor tensor(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
  tensor.set(CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, &id);
  tensor.set(CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, &type);
  tensor.set(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, CUDNN_TYPE_INT64, &alignment);
  tensor.set(CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, sizes.data(), 4);
  tensor.set(CUDNN_ATTR_TENSOR_STRIDES, CUDNN_TYPE_INT64, strides.data(), 4);
  tensor.finalize();
  return tensor;
}

Descriptor make_convolution(const conv::ConvLayer& layer) {
  const std::array<std::int64_t, 2> padding = {layer.padding_h(), layer.padding_w()};
  const std::array<std::int64_t, 2> stride = {layer.stride_h(), layer.stride_w()};
  const std::array<std::int64_t, 2> dilation = {layer.dilation_h(), layer.dilation_w()};
  const std::int64_t dimensions = 2;
  const cudnnDataType_t type = CUDNN_DATA_FLOAT;
  const cudnnConvolutionMode_t mode = CUDNN_CROSS_CORRELATION;
  Descriptor convolution(CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);
  convolution.set(CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, &type);
  convolution.set(CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_TYPE_CONVOLUTION_MODE, &mode);
  convolution.set(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, CUDNN_TYPE_INT64, &dimensions);
  convolution.set(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, CUDNN_TYPE_INT64, padding.data(), 2);
  convolution.set(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, CUDNN_TYPE_INT64, padding.data(), 2);
  convolution.set(CUDNN_ATTR_CONVOLUTION_DILATIONS, CUDNN_TYPE_INT64, dilation.data(), 2);
  convolution.set(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, CUDNN_TYPE_INT64, stride.data(), 2);
  convolution.finalize();
  return convolution;
}

// The graph of one convolution. It copies what it needs of the descriptors it is made from.
Descriptor make_graph(cudnnHandle_t handle, const conv::ConvLayer& layer) {
  const Descriptor input = make_tensor(kArrayIds[0], {layer.N(), layer.C(), layer.H(), layer.W()});
  const Descriptor filters =
      make_tensor(kArrayIds[1], {layer.K(), layer.filter_channels(), layer.R(), layer.S()});
  const Descriptor output = make_tensor(kArrayIds[2], {layer.N(), layer.K(), layer.P(), layer.Q()});
  const Descriptor convolution = make_convolution(layer);
  const float one = 1.0f;
  const float zero = 0.0f;
  Descriptor operation(CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR);
  operation.set(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X, input);
  operation.set(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W, filters);
  operation.set(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y, output);
  operation.set(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC, convolution);
  operation.set(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA, CUDNN_TYPE_FLOAT, &one);
  operation.set(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA, CUDNN_TYPE_FLOAT, &zero);
  operation.finalize();
  Descriptor graph(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
  graph.set(CUDNN_ATTR_OPERATIONGRAPH_OPS, operation);
  graph.set(CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE, &handle);
  graph.finalize();
  return graph;
}

// An engine with its choice of knobs, as one heuristic gives it.
struct Configuration {
  explicit Configuration(Descriptor of) : descriptor(std::move(of)) {
    const std::vector<Descriptor> engines =
        descriptor.get(CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_BACKEND_ENGINE_DESCRIPTOR, 1);
    if (engines.empty()) return;
    const Descriptor& engine = engines[0];
    name = "eng" + std::to_string(engine.number(CUDNN_ATTR_ENGINE_GLOBAL_INDEX));
    for (const Descriptor& knob :
         descriptor.get(CUDNN_ATTR_ENGINECFG_KNOB_CHOICES, CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR,
                        CUDNN_KNOB_TYPE_COUNTS)) {
      const auto type = knob.get<cudnnBackendKnobType_t>(CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE,
                                                         CUDNN_TYPE_KNOB_TYPE, 1);
      if (type.empty()) continue;
      name += "_k" + std::to_string(type[0]) + "=" +
              std::to_string(knob.number(CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE));
    }
    numerical = engine.get<cudnnBackendNumericalNote_t>(CUDNN_ATTR_ENGINE_NUMERICAL_NOTE,
                                                        CUDNN_TYPE_NUMERICAL_NOTE,
                                                        CUDNN_NUMERICAL_NOTE_TYPE_COUNT);
    behavior = engine.get<cudnnBackendBehaviorNote_t>(
        CUDNN_ATTR_ENGINE_BEHAVIOR_NOTE, CUDNN_TYPE_BEHAVIOR_NOTE, CUDNN_BEHAVIOR_NOTE_TYPE_COUNT);
  }

  bool notes_any_of(std::initializer_list<cudnnBackendNumericalNote_t> notes) const {
    return std::any_of(numerical.begin(), numerical.end(), [&](cudnnBackendNumericalNote_t note) {
      return std::find(notes.begin(), notes.end(), note) != notes.end();
    });
  }
  bool is_shortened() const {
    return notes_any_of({CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS,
                         CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION});
  }
  bool is_true_fp32() const {
    return !is_shortened() && !notes_any_of({CUDNN_NUMERICAL_NOTE_TENSOR_CORE});
  }
  // Sums of products, whose bound is TF32's.
  bool is_tf32() const {
    return !is_shortened() && notes_any_of({CUDNN_NUMERICAL_NOTE_TENSOR_CORE}) &&
           !notes_any_of({CUDNN_NUMERICAL_NOTE_FFT, CUDNN_NUMERICAL_NOTE_WINOGRAD,
                          CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_4x4,
                          CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_6x6,
                          CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_13x13});
  }

  // "FFT, runtime compilation", or "no notes".
  std::string notes() const {
    std::string text;
    const auto add = [&text](const std::string& note) {
      if (!text.empty()) text += ", ";
      text += note;
    };
    for (const cudnnBackendNumericalNote_t note : numerical) {
      switch (static_cast<int>(note)) {
        case CUDNN_NUMERICAL_NOTE_TENSOR_CORE:
          add("tensor cores");
          break;
        case CUDNN_NUMERICAL_NOTE_FFT:
          add("FFT");
          break;
        case CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC:
          add("nondeterministic");
          break;
        case CUDNN_NUMERICAL_NOTE_WINOGRAD:
          add("Winograd");
          break;
        case CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_4x4:
          add("Winograd tile 4x4");
          break;
        case CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_6x6:
          add("Winograd tile 6x6");
          break;
        case CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_13x13:
          add("Winograd tile 13x13");
          break;
        case kStrictNanPropagation:
          add("strict NaN propagation");
          break;
        default:
          add("numerical note " + std::to_string(note));
      }
    }
    for (const cudnnBackendBehaviorNote_t note : behavior) {
      add(note == CUDNN_BEHAVIOR_NOTE_RUNTIME_COMPILATION
              ? "runtime compilation"
              : "behavior note " + std::to_string(note));
    }
    return text.empty() ? "no notes" : text;
  }

  Descriptor descriptor;
  std::string name;  // as cuDNN's own tools write it, "eng70_k2=12_k18=0"; empty: it can't be read
  std::vector<cudnnBackendNumericalNote_t> numerical;
  std::vector<cudnnBackendBehaviorNote_t> behavior;
};

class PlanWay final : public CudnnWay {
 public:
  PlanWay(cudnnHandle_t handle, Configuration configuration)
      : handle_(handle), configuration_(std::move(configuration)) {}

  std::string name() const override { return configuration_.name; }
  std::string mathematics() const override {
    return (configuration_.is_true_fp32() ? "float without tensor cores, "
                                          : "tensor cores in TF32, ") +
           configuration_.notes();
  }

  cudnnStatus_t prepare(std::size_t& workspace_bytes) override {
    plan_.set(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, configuration_.descriptor);
    plan_.finalize();
    if (plan_.status() != CUDNN_STATUS_SUCCESS) return plan_.status();
    const std::int64_t bytes = plan_.number(CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE);
    if (bytes < 0) return CUDNN_STATUS_NOT_SUPPORTED;
    workspace_bytes = static_cast<std::size_t>(bytes);
    return CUDNN_STATUS_SUCCESS;
  }

  cudnnStatus_t run(const LayerArrays& arrays, void* workspace, std::size_t) override {
    const std::array<const void*, 3> pointers = {arrays.input, arrays.filters, arrays.output};
    Descriptor pack(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
    pack.set(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, pointers.data(), 3);
    pack.set(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, CUDNN_TYPE_INT64, kArrayIds.data(), 3);
    pack.set(CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, &workspace);
    pack.finalize();
    if (pack.status() != CUDNN_STATUS_SUCCESS) return pack.status();
    return cudnnBackendExecute(handle_, plan_.get(), pack.get());
  }

 private:
  cudnnHandle_t handle_;
  Configuration configuration_;
  Descriptor plan_{CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR};
};

std::vector<Descriptor> ask(const Descriptor& graph, cudnnBackendHeurMode_t mode) {
  Descriptor heuristic(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
  heuristic.set(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, graph);
  heuristic.set(CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, &mode);
  heuristic.finalize();
  return heuristic.get(
      CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_BACKEND_ENGINECFG_DESCRIPTOR,
      heuristic.count(CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_TYPE_BACKEND_DESCRIPTOR));
}

}  // namespace

namespace {

// Those that take part, and how the row calls them.
CudnnWays list_plans_that(bool (Configuration::*take_part)() const, const std::string& are,
                          cudnnHandle_t handle, const conv::ConvLayer& layer) {
  CudnnWays listed;
  const Descriptor graph = make_graph(handle, layer);
  std::set<std::string> seen;
  for (const cudnnBackendHeurMode_t mode :
       {CUDNN_HEUR_MODE_A, CUDNN_HEUR_MODE_B, CUDNN_HEUR_MODE_FALLBACK}) {
    for (Descriptor& descriptor : ask(graph, mode)) {
      Configuration configuration(std::move(descriptor));
      if (configuration.name.empty() || !seen.insert(configuration.name).second) continue;
      if (!(configuration.*take_part)()) continue;
      listed.ways.push_back(std::make_unique<PlanWay>(handle, std::move(configuration)));
    }
  }
  listed.considered = "; of the " + std::to_string(seen.size()) +
                      " plans that cuDNN's heuristics name " + std::to_string(listed.ways.size()) +
                      " are " + are;
  return listed;
}

}  // namespace

CudnnWays list_plans(cudnnHandle_t handle, const conv::ConvLayer& layer) {
  return list_plans_that(&Configuration::is_true_fp32, "float throughout", handle, layer);
}

CudnnWays list_tf32_plans(cudnnHandle_t handle, const conv::ConvLayer& layer) {
  return list_plans_that(&Configuration::is_tf32, "sums of products in TF32", handle, layer);
}

void use_cudnn_tf32(Conv2dVariant& variant) {
  const auto list = [](cudnnHandle_t handle, const conv::ConvLayer& layer) {
    CudnnWays listed = list_tf32_plans(handle, layer);
    CudnnWays older = list_tf32_algorithms(handle, layer);
    for (auto& way : older.ways) {
      listed.ways.insert(listed.ways.begin(), std::move(way));
    }
    listed.considered = " of both interfaces" + listed.considered;
    listed.most += static_cast<int>(older.ways.size());
    return listed;
  };
  const auto cudnn =
      std::make_shared<CudnnPeer>(list, try_tf32, "its ways in TF32 takes this layer");
  variant.launches([cudnn](const Conv2dCall& call) {
    return cudnn->launch(call.layer, {call.input, call.filters, call.output});
  });
  variant.version = "cuDNN " + cudnn_version();
  variant.tells([cudnn](const conv::ConvLayer& layer) { return cudnn->detail(layer); });
}

void use_cudnn_graph(Conv2dVariant& variant) {
  const auto cudnn = std::make_shared<CudnnPeer>(list_plans, try_true_fp32,
                                                 "its graph API's plans takes this layer");
  variant.launches([cudnn](const Conv2dCall& call) {
    return cudnn->launch(call.layer, {call.input, call.filters, call.output});
  });
  variant.version = "cuDNN " + cudnn_version();
  variant.tells([cudnn](const conv::ConvLayer& layer) { return cudnn->detail(layer); });
}

}  // namespace halo::peers
