// halo/convolve.h: layers.
#include <cuda_runtime.h>

#include <cstddef>
#include <optional>
#include <stdexcept>

#include "common/convolve/convolution.hpp"
#include "common/convolve/first_use.hpp"
#include "stages/convolve/library/bias.hpp"
#include "stages/convolve/library/calls.hpp"
#include "stages/convolve/library/convolve.h"
#include "stages/convolve/paper_contenders.hpp"

namespace {

using namespace halo;
using namespace halo::library;
using convolve::Calls;
using convolve::Choice;
using convolve::Epilogue;
using convolve::Products;

// No bytes between or behind the fields: what is there by chance would be a field of a newer version.
static_assert(sizeof(halo_convolve_layer) == sizeof(std::size_t) + 20 * sizeof(int));
static_assert(sizeof(halo_convolve1d_signal) == 3 * sizeof(std::size_t));

int or_one(int value) { return value == 0 ? 1 : value; }

conv::ConvLayer layer_of(const halo_convolve_layer& given) {
  return conv::ConvLayer({.N = given.images,
                          .C = given.channels,
                          .H = given.height,
                          .W = given.width,
                          .K = given.filters,
                          .R = given.filter_height,
                          .S = given.filter_width,
                          .stride_h = or_one(given.stride_h),
                          .stride_w = or_one(given.stride_w),
                          .padding_h = given.padding_h,
                          .padding_w = given.padding_w,
                          .groups = or_one(given.groups),
                          .dilation_h = or_one(given.dilation_h),
                          .dilation_w = or_one(given.dilation_w)});
}

}  // namespace

struct halo_convolve_plan {
  Device device;
  Convolution convolution;
  bool may_add_bias = false;
  bool adds_bias = false;  // itself, before it stores
};

namespace {

// Nothing: no kernel takes the layer.
std::optional<Convolution> convolution(const conv::ConvLayer& layer,
                                       const halo_convolve_layer& given, Epilogue epilogue) {
  try {
    const Products products = given.tensor_cores != 0 ? Products::split_tf32 : Products::fp32;
    return Convolution(layer, convolve::with_papers(products), epilogue,
                       given.measure != 0 ? Choice::measured : Choice::rule,
                       given.filters_change != 0 ? Calls::packing
                       : given.overlap != 0      ? Calls::overlapping
                                                 : Calls::packed);
  } catch (const std::invalid_argument&) {
    return {};
  }
}

halo_convolve_plan planned(const halo_convolve_layer& given) {
  if (given.filters_change != 0 && given.overlap != 0) {
    throw WrongUse(
        "layer.overlap and layer.filters_change: runs overlap where filters are packed once");
  }
  if (given.reserved != 0)
    throw WrongUse("layer.reserved is not 0: set all that you don't name to 0");
  const conv::ConvLayer layer = layer_of(given);
  const Device device = Device::present();
  if (given.bias != 0) {
    if (const auto found = convolution(layer, given, Epilogue::bias_relu)) {
      return {device, *found, true, true};
    }
  }
  const auto found = convolution(layer, given, Epilogue::none);
  if (!found)
    throw NotSupported("no kernel takes this layer on this GPU: use another library for it");
  return {device, *found, given.bias != 0, false};
}

void pack(const halo_convolve_plan& plan, const float* filters, float* packed,
          cudaStream_t stream) {
  plan.device.require_present();
  require_array("filters", filters);
  if (plan.convolution.packed_floats() == 0) return;
  require_array("packed", packed);
  // Kernels pack on this thread's default stream, which waits here, and is waited for.
  const Event before(stream), after;
  before.let_wait(cudaStreamPerThread);
  require(plan.convolution.pack(filters, packed), "pack");
  after.record(cudaStreamPerThread);
  after.let_wait(stream);
}

void run(const halo_convolve_plan& plan, const float* input, const float* packed, const float* bias,
         bool relu, float* output, float* workspace, cudaStream_t stream) {
  plan.device.require_present();
  require_array("input", input);
  require_array("packed", packed);
  require_array("output", output);
  if (plan.convolution.workspace_floats() > 0) require_array("workspace", workspace);
  if (bias == nullptr && !relu) {
    return require(plan.convolution.launch(input, packed, output, workspace, stream), "run");
  }
  if (!plan.may_add_bias) {
    throw WrongUse(
        "run is to add a bias or apply ReLU: set layer.bias to 1 before the plan is made");
  }
  if (plan.adds_bias) {
    return require(plan.convolution.launch(input, packed, bias, relu, output, workspace, stream),
                   "run");
  }
  require(plan.convolution.launch(input, packed, output, workspace, stream), "run");
  require(add_bias(plan.convolution.layer(), bias, relu, output, stream), "run");
}

const halo_convolve_plan& of(const halo_convolve_plan* plan) {
  if (plan == nullptr) throw WrongUse("plan is null: make one with halo_convolve_create");
  return *plan;
}

}  // namespace

extern "C" {

int halo_convolve_create(halo_convolve_plan** plan, const halo_convolve_layer* layer) {
  return guarded("halo_convolve_create", [&] {
    if (plan == nullptr) throw WrongUse("plan is null: it is where the plan is put");
    *plan = nullptr;
    *plan = new halo_convolve_plan(
        planned(given("layer", layer, offsetof(halo_convolve_layer, overlap))));
  });
}

void halo_convolve_destroy(halo_convolve_plan* plan) { delete plan; }

size_t halo_convolve_packed_bytes(const halo_convolve_plan* plan) {
  return plan == nullptr ? 0 : bytes_of(plan->convolution.packed_floats());
}

size_t halo_convolve_workspace_bytes(const halo_convolve_plan* plan) {
  return plan == nullptr ? 0 : bytes_of(plan->convolution.workspace_floats());
}

const char* halo_convolve_kernel(const halo_convolve_plan* plan) {
  return plan == nullptr ? "" : plan->convolution.kernel().c_str();
}

int halo_convolve_pack(const halo_convolve_plan* plan, const float* filters, float* packed,
                       cudaStream_t stream) {
  return guarded("halo_convolve_pack", [&] { pack(of(plan), filters, packed, named(stream)); });
}

int halo_convolve_run(const halo_convolve_plan* plan, const float* input, const float* packed,
                      const float* bias, int relu, float* output, float* workspace,
                      cudaStream_t stream) {
  return guarded("halo_convolve_run", [&] {
    run(of(plan), input, packed, bias, relu != 0, output, workspace, named(stream));
  });
}

int halo_convolve_set_cache_folder(const char* folder) {
  return guarded("halo_convolve_set_cache_folder", [&] {
    if (folder == nullptr) throw WrongUse("folder is null: give a path, or \"\" for none");
    convolve::keep_first_uses_in(folder);
  });
}

}  // extern "C"
